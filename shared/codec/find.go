package codec

import (
	"bytes"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Find returns the JSON value behind a path of object member names, or nil where there is none. It reads raw only as
// far as that value; the first of repeated names counts. The error matches ErrSyntax.
func Find(raw []byte, path ...string) ([]byte, error) {
	if value, ok := findFast(raw, path); ok {
		return value, nil
	}
	return findSlowly(raw, path)
}

func findSlowly(raw []byte, path []string) ([]byte, error) {
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

// findFast finds what Find does, or gives up.
func findFast(raw []byte, path []string) (value []byte, ok bool) {
	i := space(raw, 0)
	for _, wanted := range path {
		if i >= len(raw) || raw[i] != '{' {
			return nil, false
		}
		if i = space(raw, i+1); i < len(raw) && raw[i] == '}' {
			return nil, true
		}
		for {
			var written []byte
			if written, i = name(raw, i); i < 0 || slices.Contains(written, '\\') {
				return nil, false
			}
			if string(written) == wanted {
				break
			}
			if i = skip(raw, i); i < 0 {
				return nil, false
			}
			if i = space(raw, i); i < len(raw) && raw[i] == '}' {
				return nil, true
			}
			if i >= len(raw) || raw[i] != ',' {
				return nil, false
			}
			i = space(raw, i+1)
		}
	}
	end := skip(raw, i)
	if end < 0 {
		return nil, false
	}
	return raw[i:end:end], true
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
// counts. If once says that none of them is repeated, it reads no further than it must, and of an object that it picks
// only the beginning is sure.
func pick(object []byte, names []string, once bool) ([][]byte, error) {
	values := make([][]byte, len(names))
	if pickFast(object, names, values, once) {
		return values, nil
	}
	clear(values)
	d := newDecoder(object)
	defer d.release()
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

// pickFast picks what pick does, or gives up and leaves anything in values.
func pickFast(object []byte, names []string, values [][]byte, once bool) bool {
	missing := len(names)
	end := members(object, space(object, 0), func(quoted []byte, i int) int {
		written := quoted[1 : len(quoted)-1]
		if slices.Contains(written, '\\') {
			return -1
		}
		n := slices.Index(names, string(written))
		if n < 0 {
			return skip(object, i)
		}
		missing--
		if once && missing == 0 && object[i] == '{' {
			values[n] = object[i:]
			return -1
		}
		end := skip(object, i)
		if end >= 0 {
			values[n] = object[i:end:end]
		}
		if once && missing == 0 {
			return -1
		}
		return end
	})
	return end >= 0 || once && missing == 0
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
