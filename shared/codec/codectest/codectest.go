// Package codectest helps to test functions that answer with a patch.
package codectest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// Apply applies a JSON patch to an object with the library that Karmada applies it with. No patch leaves the object as
// it is; an empty one fails the test, as does one that does not apply.
func Apply(t testing.TB, patch, object []byte) []byte {
	t.Helper()
	if patch == nil {
		return object
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil || len(operations) == 0 {
		t.Fatalf("%s is not a patch: %v", patch, err)
	}
	patched, err := operations.Apply(object)
	if err != nil {
		t.Fatalf("%s does not apply to %s: %v", patch, object, err)
	}
	return patched
}

// Only fails the test if two objects differ in anything but the member at place, numbers compared as they are written.
// It returns what the member is in both: nil where it is missing.
func Only(t testing.TB, before, after []byte, place ...string) (was, is any) {
	t.Helper()
	const marker = "what is at the place"
	b, a := Decode(t, before), Decode(t, after)
	was, is = swap(b, place, marker), swap(a, place, marker)
	if !reflect.DeepEqual(b, a) {
		t.Errorf("more than %q differs:\n%s\n%s", place, before, after)
	}
	return was, is
}

// Decode decodes an object, its numbers as they are written.
func Decode(t testing.TB, data []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	object := map[string]any{}
	if err := d.Decode(&object); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return object
}

// swap puts a value into a place of an object, whose parents it makes, and returns what was there.
func swap(object map[string]any, place []string, value any) any {
	for _, name := range place[:len(place)-1] {
		child, ok := object[name].(map[string]any)
		if !ok {
			child = map[string]any{}
			object[name] = child
		}
		object = child
	}
	last := place[len(place)-1]
	was := object[last]
	object[last] = value
	return was
}
