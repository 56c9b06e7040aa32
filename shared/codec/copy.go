package codec

import (
	"reflect"
	"sync"
)

var plainTypes sync.Map // reflect.Type to bool

// plain says whether values of a type consist of nothing but what copyInto knows how to copy, and no struct in them is
// left to the library.
func plain(t reflect.Type) bool {
	if known, ok := plainTypes.Load(t); ok {
		return known.(bool)
	}
	plainTypes.Store(t, false) // a type that has itself in it is decoded again
	is := isPlain(t)
	plainTypes.Store(t, is)
	return is
}

func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return plain(t.Elem())
	case reflect.Map:
		return plainKeys(t) && plain(t.Elem())
	case reflect.Struct:
		if !plainFields(t) {
			return false
		}
		for f := range t.Fields() {
			if !f.IsExported() || !plain(f.Type) {
				return false
			}
		}
		return true
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Array:
		return false
	default:
		return true
	}
}

func copyInto(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			copyInto(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			if from.Type().Elem().Kind() == reflect.Uint8 {
				reflect.Copy(to, from)
				return
			}
			for i := range from.Len() {
				copyInto(to.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		if !from.IsNil() {
			to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
			for entries := from.MapRange(); entries.Next(); {
				value := reflect.New(from.Type().Elem()).Elem()
				copyInto(value, entries.Value())
				to.SetMapIndex(entries.Key(), value)
			}
		}
	case reflect.Struct:
		for i := range from.NumField() {
			copyInto(to.Field(i), from.Field(i))
		}
	default:
		to.Set(from)
	}
}
