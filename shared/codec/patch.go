package codec

import (
	"encoding/json"
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

// newPatch returns the patch that makes a change to raw.
func newPatch(raw []byte, c *change, once bool) ([]byte, error) {
	p := patch{once: once}
	if err := p.add("", raw, c); err != nil {
		return nil, err
	}
	if p.operations == nil {
		return nil, nil
	}
	return json.Marshal(p.operations)
}

type patch struct {
	operations []operation
	// once says that names which are fields are not repeated.
	once bool
}

func (p *patch) append(op, path string, value json.RawMessage) {
	p.operations = append(p.operations, operation{op, path, value})
}

// add appends what brings the place at path from raw, which is nil for a missing place, to its new state.
func (p *patch) add(path string, raw []byte, c *change) error {
	switch {
	case c.members != nil && jsontext.Value(raw).Kind() == '{':
		return p.addMembers(path, raw, c)
	case c.elements != nil:
		return p.addElements(path, raw, c.elements)
	}
	value, err := fresh(c)
	switch {
	case err != nil:
		return err
	case value != nil && raw != nil:
		p.append("replace", path, value)
	case value != nil:
		p.append("add", path, value)
	case raw != nil && c.members == nil:
		p.append("remove", path, nil)
	}
	return nil
}

func (p *patch) addMembers(path string, raw []byte, c *change) error {
	names := make([]string, len(c.members))
	for i, m := range c.members {
		names[i] = m.name
	}
	arrived, err := pick(raw, names, p.once && c.fields)
	if err != nil {
		return err
	}
	for i, m := range c.members {
		if err := p.add(path+"/"+escape(m.name), arrived[i], m.change); err != nil {
			return err
		}
	}
	return nil
}

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
			p.append("remove", at(i), nil)
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
		p.append("add", at(j), value)
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
