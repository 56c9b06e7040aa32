package codec

import (
	"bytes"
	"reflect"
)

// Raw is JSON as it was written, and the T that it stands for.
//
// A Raw in a value that is decoded is decoded in the same pass, if that can be done the fast way; else when it is asked
// for. So what is no T is no error of the value that it is in. Its JSON is a part of the input.
type Raw[T any] struct {
	json  []byte
	value *T
	// once says that of the names that T knows none is repeated in an object.
	once bool
}

// NewRaw returns raw as the JSON of a T.
func NewRaw[T any](raw []byte) *Raw[T] { return &Raw[T]{json: raw} }

// JSON is the JSON as it was written; nil if there is none.
func (r *Raw[T]) JSON() []byte { return r.json }

// IsMissing says whether there is nothing: null is as good as nothing.
func (r *Raw[T]) IsMissing() bool { return len(r.json) == 0 || string(r.json) == "null" }

// Decode returns the T, always the same. For its errors see the function Decode.
func (r *Raw[T]) Decode() (*T, error) {
	if r.value != nil {
		return r.value, nil
	}
	value := new(T)
	v := reflect.ValueOf(value).Elem()
	if decodeFast(r.json, v) {
		r.value, r.once = value, plain(v.Type())
		return value, nil
	}
	var err error
	r.value, err = decodeSlow[T](r.json)
	return r.value, err
}

// Copy returns a T of the caller's own, to change it.
func (r *Raw[T]) Copy() (*T, error) {
	value, err := r.Decode()
	if err != nil {
		return nil, err
	}
	v := reflect.ValueOf(value).Elem()
	if !plain(v.Type()) {
		return Decode[T](r.json)
	}
	copied := new(T)
	copyInto(reflect.ValueOf(copied).Elem(), v)
	return copied, nil
}

// Patch returns the JSON patch that brings the JSON to the state of changed, which is a Copy that was then changed. It
// is nil when nothing changed. Values that did not change stay as they are written.
func (r *Raw[T]) Patch(changed *T) ([]byte, error) {
	original, err := r.Decode()
	if err != nil {
		return nil, err
	}
	c, err := diff(reflect.ValueOf(original).Elem(), reflect.ValueOf(changed).Elem(), "")
	if c == nil || err != nil {
		return nil, err
	}
	return newPatch(r.json, c, r.once)
}

// UnmarshalJSON takes the JSON without looking into it.
func (r *Raw[T]) UnmarshalJSON(data []byte) error {
	*r = Raw[T]{json: bytes.Clone(data)}
	return nil
}

// decodeAt takes the value at i of b, and decodes it if it can. It is a decoding.
func (r *Raw[T]) decodeAt(b []byte, i int) int {
	value := new(T)
	v := reflect.ValueOf(value).Elem()
	end := decodingOf(v.Type())(b, i, v)
	if end >= 0 {
		r.value, r.once = value, plain(v.Type())
	} else if end = skip(b, i); end < 0 {
		return -1
	}
	r.json = b[i:end:end]
	return end
}

// inPlace is what every Raw implements.
type inPlace interface {
	decodeAt(b []byte, i int) int
}

func decodeInPlace(b []byte, i int, v reflect.Value) int {
	return v.Addr().Interface().(inPlace).decodeAt(b, i)
}
