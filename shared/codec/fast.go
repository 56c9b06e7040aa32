package codec

import (
	"encoding/json"
	"reflect"
	"sync"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The fast way to decode is for JSON as clients write it. It gives up, and leaves the value to the library, wherever
// there may be more to it: at repeated or escaped names, numbers that do not fit, types that do not match. So it knows
// no errors; and what it decodes is what the library would.

// decoding decodes the value at i of b into v, which is zero, and returns the place behind it, or -1 to give up.
type decoding func(b []byte, i int, v reflect.Value) int

// decodeFast decodes all of raw into v, which is zero, or gives up and leaves anything in it.
func decodeFast(raw []byte, v reflect.Value) bool {
	i := decodingOf(v.Type())(raw, space(raw, 0), v)
	return i >= 0 && space(raw, i) == len(raw)
}

var (
	decodings sync.Map // reflect.Type to decoding
	making    sync.Mutex
)

func decodingOf(t reflect.Type) decoding {
	if known, ok := decodings.Load(t); ok {
		return known.(decoding)
	}
	making.Lock()
	defer making.Unlock()
	return decodingIn(t, map[reflect.Type]bool{})
}

// decodingIn makes the decoding of a type that is within others. Of a type within itself the inner values are left to
// the library, which limits how deep they go.
func decodingIn(t reflect.Type, others map[reflect.Type]bool) decoding {
	if known, ok := decodings.Load(t); ok {
		return known.(decoding)
	}
	if others[t] {
		return decodeSlowly
	}
	others[t] = true
	made := newDecoding(t, others)
	delete(others, t)
	decodings.Store(t, made)
	return made
}

var (
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	rawValue        = reflect.TypeFor[jsontext.Value]()
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	unmarshalerFrom = reflect.TypeFor[jsonv2.UnmarshalerFrom]()
	textUnmarshaler = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
)

func newDecoding(t reflect.Type, others map[reflect.Type]bool) decoding {
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(reflect.TypeFor[inPlace]()):
		return decodeInPlace
	case t == rawMessage || t == rawValue:
		return decodeRaw
	case t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[time.Duration]():
		return decodeSlowly
	case t.Kind() == reflect.Pointer:
		return pointerDecoding(t, others)
	case t.Kind() == reflect.Interface || pointer.Implements(unmarshalerFrom):
		return decodeSlowly
	case pointer.Implements(unmarshaler):
		return decodeCustom
	case pointer.Implements(textUnmarshaler):
		return decodeSlowly
	}
	switch t.Kind() {
	case reflect.Bool:
		return decodeBool
	case reflect.String:
		return decodeString
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return decodeInt
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return sliceDecoding(t, others)
		}
	case reflect.Map:
		if plainKeys(t) {
			return mapDecoding(t, others)
		}
	case reflect.Struct:
		if plainFields(t) {
			return structDecoding(t, others)
		}
	}
	return decodeSlowly
}

// decodeSlowly leaves a value to the library.
func decodeSlowly(b []byte, i int, v reflect.Value) int {
	end := skip(b, i)
	if end < 0 || jsonv2.Unmarshal(b[i:end], v.Addr().Interface(), lenient) != nil {
		return -1
	}
	return end
}

// decodeCustom lets a type read itself.
func decodeCustom(b []byte, i int, v reflect.Value) int {
	end := skip(b, i)
	if end < 0 || v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(b[i:end:end]) != nil {
		return -1
	}
	return end
}

// decodeRaw does not copy the value: see Decode.
func decodeRaw(b []byte, i int, v reflect.Value) int {
	end := skip(b, i)
	if end >= 0 {
		v.SetBytes(b[i:end:end])
	}
	return end
}

func isNull(b []byte, i int) bool { return i < len(b) && b[i] == 'n' }

func pointerDecoding(t reflect.Type, others map[reflect.Type]bool) decoding {
	decode := decodingIn(t.Elem(), others)
	return func(b []byte, i int, v reflect.Value) int {
		if isNull(b, i) {
			return literal(b, i, "null")
		}
		v.Set(reflect.New(t.Elem()))
		return decode(b, i, v.Elem())
	}
}

func decodeBool(b []byte, i int, v reflect.Value) int {
	switch {
	case isNull(b, i):
		return literal(b, i, "null")
	case i < len(b) && b[i] == 't':
		v.SetBool(true)
		return literal(b, i, "true")
	default:
		return literal(b, i, "false")
	}
}

func decodeString(b []byte, i int, v reflect.Value) int {
	if isNull(b, i) {
		return literal(b, i, "null")
	}
	s, end := text(b, i)
	if end >= 0 {
		v.SetString(string(s))
	}
	return end
}

// text is what a string stands for.
func text(b []byte, i int) ([]byte, int) {
	if i >= len(b) || b[i] != '"' {
		return nil, -1
	}
	end, plain := skipString(b, i)
	if end < 0 {
		return nil, -1
	}
	s := b[i+1 : end-1]
	if plain {
		return s, end
	}
	unquoted, err := jsontext.AppendUnquote(nil, b[i:end])
	if err != nil || !utf8.Valid(s) {
		return nil, -1
	}
	return unquoted, end
}

func decodeInt(b []byte, i int, v reflect.Value) int {
	if isNull(b, i) {
		return literal(b, i, "null")
	}
	start := i
	if i < len(b) && b[i] == '-' {
		i++
	}
	end := digits(b, i)
	if end < 0 || end-i > 18 || end-i > 1 && b[i] == '0' {
		return -1
	}
	if end < len(b) && (b[end] == '.' || b[end]|0x20 == 'e') {
		return -1
	}
	n := int64(0)
	for _, c := range b[i:end] {
		n = 10*n + int64(c-'0')
	}
	if b[start] == '-' {
		n = -n
	}
	if v.OverflowInt(n) {
		return -1
	}
	v.SetInt(n)
	return end
}

func sliceDecoding(t reflect.Type, others map[reflect.Type]bool) decoding {
	decode := decodingIn(t.Elem(), others)
	few := 4
	if t.Elem().Size() > 64 {
		few = 1
	}
	return func(b []byte, i int, v reflect.Value) int {
		if isNull(b, i) {
			return literal(b, i, "null")
		}
		if i >= len(b) || b[i] != '[' {
			return -1
		}
		v.Set(reflect.MakeSlice(t, 0, 0))
		i = space(b, i+1)
		if i < len(b) && b[i] == ']' {
			return i + 1
		}
		for n := 0; ; n++ {
			if n == v.Cap() {
				v.Grow(max(few, n))
			}
			v.SetLen(n + 1)
			if i = decode(b, i, v.Index(n)); i < 0 {
				return -1
			}
			if i = space(b, i); i >= len(b) || b[i] != ',' {
				break
			}
			i = space(b, i+1)
		}
		if i >= len(b) || b[i] != ']' {
			return -1
		}
		return i + 1
	}
}

func mapDecoding(t reflect.Type, others map[reflect.Type]bool) decoding {
	decode := decodingIn(t.Elem(), others)
	return func(b []byte, i int, v reflect.Value) int {
		if isNull(b, i) {
			return literal(b, i, "null")
		}
		v.Set(reflect.MakeMap(t))
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		n := 0
		end := members(b, i, func(quoted []byte, i int) int {
			if decodeString(quoted, 0, key) < 0 {
				return -1
			}
			value.SetZero()
			if i = decode(b, i, value); i >= 0 {
				v.SetMapIndex(key, value)
				n++
			}
			return i
		})
		if n != v.Len() {
			return -1 // a name is there twice
		}
		return end
	}
}

// members passes over an object, its values by what is given.
func members(b []byte, i int, value func(quoted []byte, i int) int) int {
	if i >= len(b) || b[i] != '{' {
		return -1
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		start := i
		var written []byte
		if written, i = name(b, i); i < 0 {
			return -1
		}
		if i = value(b[start:start+len(written)+2], i); i < 0 {
			return -1
		}
		if i = space(b, i); i >= len(b) || b[i] != ',' {
			break
		}
		i = space(b, i+1)
	}
	if i >= len(b) || b[i] != '}' {
		return -1
	}
	return i + 1
}
