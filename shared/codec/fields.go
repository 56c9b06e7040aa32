package codec

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// field is a struct field as JSON has it.
type field struct {
	name     string
	index    []int //  as for reflect.Value.FieldByIndex: it leads through embedded structs
	goType   reflect.Type
	mergeKey string // the patchMergeKey of a list: what its elements are known by

	omitEmpty, omitZero bool // the options of its tag
}

var fieldsByType sync.Map // reflect.Type to []field

// fieldsOf lists the JSON fields of a struct type by name, embedded structs resolved.
func fieldsOf(t reflect.Type) []field {
	if cached, ok := fieldsByType.Load(t); ok {
		return cached.([]field)
	}
	fields := collect(nil, t, nil)
	slices.SortFunc(fields, func(a, b field) int {
		return cmp.Or(strings.Compare(a.name, b.name), len(a.index)-len(b.index))
	})
	// Of fields with one name the outermost counts.
	fields = slices.CompactFunc(fields, func(a, b field) bool { return a.name == b.name })
	fieldsByType.Store(t, fields)
	return fields
}

func collect(fields []field, t reflect.Type, index []int) []field {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(slices.Clone(index), f.Index...)
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case f.Anonymous && name == "" && embedded.Kind() == reflect.Struct:
			fields = collect(fields, embedded, at)
		case !f.IsExported() || name == "-":
		default:
			if name == "" {
				name = f.Name
			}
			fields = append(fields, field{
				name: name, index: at, goType: f.Type, mergeKey: f.Tag.Get("patchMergeKey"),
				omitEmpty: strings.Contains(options, "omitempty"), omitZero: strings.Contains(options, "omitzero"),
			})
		}
	}
	return fields
}

// of returns the field of a struct: its zero value where an embedded pointer on the way to it is nil.
func (f *field) of(v reflect.Value) reflect.Value {
	found, err := v.FieldByIndexErr(f.index)
	if err != nil {
		return reflect.Zero(f.goType)
	}
	return found
}

// omits says whether the field is left out of JSON when it has this value. A struct never is: it may hold members in
// JSON that the type does not know.
func (f *field) omits(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		return f.omitZero && custom(v.Type()) && v.IsZero()
	case reflect.Map, reflect.Slice:
		return (f.omitEmpty || f.omitZero) && v.Len() == 0
	default:
		return (f.omitEmpty || f.omitZero) && v.IsZero()
	}
}
