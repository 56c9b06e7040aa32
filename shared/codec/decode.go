// Package codec turns the raw JSON of a resource into a typed value and, after the value was changed, back into the
// smallest JSON patch (RFC 6902) of that raw JSON.
//
// The typed value is a view: it may know any part of the resource, down to a single field. What it does not know is
// neither decoded nor touched by a patch. JSON is read the way the Kubernetes API server reads it: names are
// case-sensitive, unknown names are ignored, the last of repeated names counts, null leaves a field at its zero value.
package codec

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient accepts the JSON that encoding/json and the Kubernetes API server accept.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// ErrSyntax marks the errors of Decode and Find for input that is not JSON at all.
var ErrSyntax = errors.New("not valid JSON")

// Decode reads raw as a T. The error says where raw does not fit T, or matches ErrSyntax. A json.RawMessage in T is a
// part of raw, and not to be written into.
func Decode[T any](raw []byte) (*T, error) {
	value := new(T)
	if decodeFast(raw, reflect.ValueOf(value).Elem()) {
		return value, nil
	}
	return decodeSlow[T](raw)
}

func decodeSlow[T any](raw []byte) (*T, error) {
	value := new(T)
	if err := json.Unmarshal(raw, value, lenient); err != nil {
		return nil, explain(err)
	}
	return value, nil
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
