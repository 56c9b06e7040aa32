package codec

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// change is what a function did to one place of the typed value. Exactly one of value, members and elements is set;
// none of them means that the place was taken away.
type change struct {
	value    reflect.Value // the place was written anew
	members  []member      // an object of which these members changed
	elements *elements     // an array of which elements changed
	fields   bool          // members are fields of a struct
}

type member struct {
	name string
	*change
}

// diff returns how after differs from before in the JSON they stand for, or nil. An empty list or map counts as a
// missing one. mergeKey names the JSON field by which the elements of a list are known.
func diff(before, after reflect.Value, mergeKey string) (*change, error) {
	if custom(after.Type()) {
		return diffCustom(before, after)
	}
	switch after.Kind() {
	case reflect.Pointer, reflect.Interface:
		if before.IsNil() || after.IsNil() || before.Elem().Type() != after.Elem().Type() {
			if before.IsNil() && after.IsNil() {
				return nil, nil
			}
			return &change{value: after}, nil
		}
		return diff(before.Elem(), after.Elem(), mergeKey)
	case reflect.Struct:
		return diffStruct(before, after)
	case reflect.Map:
		return diffMap(before, after)
	case reflect.Slice:
		if after.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		return diffSlice(before, after, mergeKey)
	}
	if reflect.DeepEqual(before.Interface(), after.Interface()) {
		return nil, nil
	}
	return &change{value: after}, nil
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// custom holds for types that write their own JSON.
func custom(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface &&
		(t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler))
}

// diffCustom compares what the values marshal to, since two states in memory may stand for one JSON value.
func diffCustom(before, after reflect.Value) (*change, error) {
	b, err := marshal(before)
	if err != nil {
		return nil, err
	}
	a, err := marshal(after)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(a, b) {
		return nil, nil
	}
	var tree [2]any
	for i, data := range [][]byte{b, a} {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&tree[i]); err != nil {
			return nil, err
		}
	}
	value := reflect.ValueOf(&tree).Elem()
	return diff(value.Index(0), value.Index(1), "")
}

func diffStruct(before, after reflect.Value) (*change, error) {
	var members []member
	for _, f := range fieldsOf(after.Type()) {
		value := f.of(after)
		c, err := diff(f.of(before), value, f.mergeKey)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		if f.omits(value) {
			c = &change{}
		}
		members = append(members, member{f.name, c})
	}
	if members == nil {
		return nil, nil
	}
	return &change{members: members, fields: true}, nil
}

func diffMap(before, after reflect.Value) (*change, error) {
	if before.Len() == 0 && after.Len() == 0 {
		return nil, nil
	}
	if after.Type().Key().Kind() != reflect.String || before.Len() == 0 || after.Len() == 0 {
		if reflect.DeepEqual(before.Interface(), after.Interface()) {
			return nil, nil
		}
		return &change{value: after}, nil
	}
	var members []member
	for _, key := range before.MapKeys() {
		if !after.MapIndex(key).IsValid() {
			members = append(members, member{key.String(), &change{}})
		}
	}
	for _, key := range after.MapKeys() {
		c := &change{value: after.MapIndex(key)}
		if old := before.MapIndex(key); old.IsValid() {
			var err error
			if c, err = diff(old, after.MapIndex(key), ""); err != nil {
				return nil, err
			}
		}
		if c != nil {
			members = append(members, member{key.String(), c})
		}
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	if members == nil {
		return nil, nil
	}
	return &change{members: members}, nil
}

// marshal writes v as its type writes itself, with the methods of its pointer where it has one.
func marshal(v reflect.Value) ([]byte, error) {
	if v.CanAddr() && v.Kind() != reflect.Interface {
		v = v.Addr()
	}
	return json.Marshal(v.Interface())
}
