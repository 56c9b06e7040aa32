package codec

import (
	"reflect"
	"slices"
	"strings"
)

// plainKeys says whether the keys of a map are just strings.
func plainKeys(t reflect.Type) bool {
	pointer := reflect.PointerTo(t.Key())
	return t.Key().Kind() == reflect.String &&
		!pointer.Implements(textUnmarshaler) && !pointer.Implements(unmarshaler) && !pointer.Implements(unmarshalerFrom)
}

// plainFields says whether a struct has no more fields than bits to tell which were seen, and no options that only the
// library knows.
func plainFields(t reflect.Type) bool { return len(fieldsOf(t)) <= 64 && plainOptions(t) }

func structDecoding(t reflect.Type, others map[reflect.Type]bool) decoding {
	fields := fieldsOf(t)
	decodings := make([]decoding, len(fields))
	byName := make(map[string]int, len(fields))
	for i, f := range fields {
		decodings[i] = decodingIn(f.goType, others)
		byName[f.name] = i
	}
	find := func(written []byte) int {
		if n, ok := byName[string(written)]; ok {
			return n
		}
		return -1
	}
	if len(fields) <= 8 {
		find = func(written []byte) int {
			return slices.IndexFunc(fields, func(f field) bool { return f.name == string(written) })
		}
	}
	return func(b []byte, i int, v reflect.Value) int {
		if isNull(b, i) {
			return literal(b, i, "null")
		}
		var seen uint64
		return members(b, i, func(quoted []byte, i int) int {
			written := quoted[1 : len(quoted)-1]
			n := find(written)
			switch {
			case n >= 0 && seen&(1<<n) != 0, n < 0 && slices.Contains(written, '\\'):
				return -1
			case n < 0:
				return skip(b, i)
			}
			seen |= 1 << n
			return decodings[n](b, i, reach(v, fields[n].index))
		})
	}
}

// plainOptions says whether the fields of a struct have no options but those that encoding/json knows and that do not
// matter here.
func plainOptions(t reflect.Type) bool {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "", "omitempty", "omitzero":
			case "inline":
				if !f.Anonymous || name != "" {
					return false
				}
			default:
				return false
			}
		}
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if f.Anonymous && name == "" {
			if embedded.Kind() != reflect.Struct || custom(embedded) || !f.IsExported() && f.Type != embedded || !plainOptions(embedded) {
				return false
			}
		}
	}
	return true
}

// reach returns a field of a struct, through embedded pointers, which it sets on the way.
func reach(v reflect.Value, index []int) reflect.Value {
	for _, n := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v
}
