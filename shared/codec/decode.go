// Package codec turns the raw JSON of a resource into a typed value and, after the value was changed, back into the
// smallest JSON patch (RFC 6902) of that raw JSON.
//
// The typed value is a view: it may know any part of the resource, down to a single field. What it does not know is
// neither decoded nor touched by a patch. JSON is read the way the Kubernetes API server reads it: names are
// case-sensitive, unknown names are ignored, the last of repeated names counts, null leaves a field at its zero value.
package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient accepts the JSON that encoding/json and the Kubernetes API server accept.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// ErrSyntax marks the errors of Decode and Find for input that is not JSON at all.
var ErrSyntax = errors.New("not valid JSON")

// Decode reads raw as a T. The error says where raw does not fit T, or matches ErrSyntax.
func Decode[T any](raw []byte) (*T, error) {
	value := new(T)
	if err := json.Unmarshal(raw, value, lenient); err != nil {
		return nil, explain(err)
	}
	return value, nil
}

// Find returns the JSON value behind a path of object member names, or nil where there is none. It reads raw only as
// far as that value; the first of repeated names counts. The error matches ErrSyntax.
func Find(raw []byte, path ...string) ([]byte, error) {
	d := newDecoder(raw)
	defer d.release()
	for _, name := range path {
		found, err := enter(d, name)
		if err != nil {
			return nil, explain(err)
		}
		if !found {
			return nil, nil
		}
	}
	value, err := readValue(d, raw)
	if err != nil {
		return nil, explain(err)
	}
	return value, nil
}

// enter moves d, which stands before a value, to the value of the member called name.
func enter(d *decoder, name string) (bool, error) {
	if d.PeekKind() != '{' {
		return false, d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return false, err
	}
	for d.PeekKind() != '}' {
		quoted, err := d.ReadValue()
		if err != nil {
			return false, err
		}
		if spells(quoted, name) {
			return true, nil
		}
		if err := d.SkipValue(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// pick returns the values of the members called names of an object, nil for those it lacks. The last of repeated names
// counts.
func pick(object []byte, names []string) ([][]byte, error) {
	d := newDecoder(object)
	defer d.release()
	values := make([][]byte, len(names))
	if _, err := d.ReadToken(); err != nil {
		return nil, explain(err)
	}
	for d.PeekKind() != '}' {
		quoted, err := d.ReadValue()
		if err != nil {
			return nil, explain(err)
		}
		i := slices.IndexFunc(names, func(name string) bool { return spells(quoted, name) })
		if i < 0 {
			err = d.SkipValue()
		} else {
			values[i], err = readValue(d, object)
		}
		if err != nil {
			return nil, explain(err)
		}
	}
	return values, nil
}

// decoder is a jsontext.Decoder that can be used again: to make one takes longer than to read what is looked for here.
type decoder struct {
	jsontext.Decoder
	input bytes.Buffer
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func newDecoder(raw []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.reset(raw)
	return d
}

func (d *decoder) reset(raw []byte) {
	d.input = *bytes.NewBuffer(raw)
	d.Reset(&d.input, lenient)
}

func (d *decoder) release() {
	d.reset(nil) // not to hold on to raw
	decoders.Put(d)
}

// readValue returns the value before which d stands as a part of raw, from which d reads. What d itself returns is
// valid only until it reads on.
func readValue(d *decoder, raw []byte) ([]byte, error) {
	value, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	end := d.InputOffset()
	return raw[end-int64(len(value)) : end : end], nil
}

// spells says whether a JSON string stands for s.
func spells(quoted []byte, s string) bool {
	if !bytes.ContainsRune(quoted, '\\') {
		return string(quoted[1:len(quoted)-1]) == s
	}
	unquoted, err := jsontext.AppendUnquote(nil, quoted)
	return err == nil && string(unquoted) == s
}

// explain names the place and what is wrong there, in the terms of JSON.
func explain(err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		return describe(semantic)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends too early", ErrSyntax)
	case errors.As(err, &syntactic):
		return fmt.Errorf("%w: %w, at byte %d", ErrSyntax, syntactic.Err, syntactic.ByteOffset)
	default:
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	}
}

func describe(err *json.SemanticError) error {
	what := "a value that does not fit"
	if err.JSONKind != 0 && err.GoType != nil && !custom(err.GoType) {
		what = found(err.JSONKind) + " where " + wanted(err.GoType) + " is expected"
	}
	if err.JSONPointer != "" {
		what = string(err.JSONPointer) + ": " + what
	}
	if err.Err != nil {
		return fmt.Errorf("%s: %w", what, err.Err)
	}
	return errors.New(what)
}

func found(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"', '0':
		return "a " + kind.String()
	default:
		return kind.String()
	}
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	default:
		return t.Kind().String()
	}
}
