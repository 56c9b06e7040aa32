package codec

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// operation is one step of a JSON patch (RFC 6902, section 4).
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Patch returns the JSON patch that brings raw to the state of changed, where original is what Decode made of raw, and
// changed a copy of it that a function then changed. It is nil when nothing changed. Values that did not change stay as
// they are written in raw.
func Patch[T any](raw []byte, original, changed *T) ([]byte, error) {
	c, err := diff(reflect.ValueOf(original).Elem(), reflect.ValueOf(changed).Elem(), "")
	if c == nil || err != nil {
		return nil, err
	}
	var p patch
	if err := p.add("", raw, c); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, nil
	}
	return json.Marshal(p)
}

type patch []operation

// add appends what brings the place at path from raw, which is nil for a missing place, to its new state.
func (p *patch) add(path string, raw []byte, c *change) error {
	switch {
	case c.members != nil && jsontext.Value(raw).Kind() == '{':
		return p.addMembers(path, raw, c.members)
	case c.elements != nil:
		return p.addElements(path, raw, c.elements)
	}
	value, err := fresh(c)
	switch {
	case err != nil:
		return err
	case value != nil && raw != nil:
		*p = append(*p, operation{"replace", path, value})
	case value != nil:
		*p = append(*p, operation{"add", path, value})
	case raw != nil && c.members == nil:
		*p = append(*p, operation{"remove", path, nil})
	}
	return nil
}

func (p *patch) addMembers(path string, raw []byte, members []member) error {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	arrived, err := pick(raw, names)
	if err != nil {
		return err
	}
	for i, m := range members {
		if err := p.add(path+"/"+escape(m.name), arrived[i], m.change); err != nil {
			return err
		}
	}
	return nil
}

// addElements takes away, then inserts, then changes: so every index is the one that counts at that step.
func (p *patch) addElements(path string, raw []byte, e *elements) error {
	decoded, err := Decode[[]jsontext.Value](raw)
	if err != nil {
		return err
	}
	arrived := *decoded
	at := func(i int) string { return path + "/" + strconv.Itoa(i) }
	kept := make([]bool, len(arrived))
	for j, i := range e.from {
		if e.stays[j] {
			kept[i] = true
		}
	}
	for i := range slices.Backward(arrived) {
		if !kept[i] {
			*p = append(*p, operation{"remove", at(i), nil})
		}
	}
	for j, i := range e.from {
		if e.stays[j] {
			continue
		}
		var value []byte
		if i >= 0 {
			value = arrived[i]
		} else if value, err = marshal(e.value.Index(j)); err != nil {
			return err
		}
		*p = append(*p, operation{"add", at(j), value})
	}
	for j, i := range e.from {
		if e.diffs[j] == nil {
			continue
		}
		if err := p.add(at(j), arrived[i], e.diffs[j]); err != nil {
			return err
		}
	}
	return nil
}

// fresh returns the value to write where there is nothing to keep: of an object no more than what was changed. It is
// nil where there is nothing to write.
func fresh(c *change) (json.RawMessage, error) {
	switch {
	case c.elements != nil:
		return marshal(c.elements.value)
	case c.members != nil:
		written := map[string]json.RawMessage{}
		for _, m := range c.members {
			value, err := fresh(m.change)
			if err != nil {
				return nil, err
			}
			if value != nil {
				written[m.name] = value
			}
		}
		if len(written) == 0 {
			return nil, nil
		}
		return json.Marshal(written)
	case c.value.IsValid():
		return marshal(c.value)
	}
	return nil, nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// escape writes a member name as a part of a JSON pointer (RFC 6901, section 3).
func escape(name string) string { return pointerEscapes.Replace(name) }
