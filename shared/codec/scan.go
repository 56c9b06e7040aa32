package codec

import (
	"encoding/binary"
	"math/bits"
)

// The functions here walk over JSON text several times as fast as a tokenizer, and check it on the way. They take the
// place at which something begins and return the place behind it, or -1 for what is not JSON and for what is nested
// deeper than they can follow: what it is, is for the tokenizer to say.

// maxDepth is how deep values may be nested: one bit each.
const maxDepth = 64

// space passes over white space.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skip passes over a value.
func skip(b []byte, i int) int {
	var objects uint64 // the values that are open, the innermost lowest: 1 for an object, 0 for an array
	depth := 0
	for {
		if i >= len(b) {
			return -1
		}
		switch b[i] {
		case '"':
			i, _ = skipString(b, i)
		case '{':
			if i = space(b, i+1); i < len(b) && b[i] == '}' {
				i++
				break
			}
			if depth++; depth > maxDepth {
				return -1
			}
			objects = objects<<1 | 1
			if _, i = name(b, i); i < 0 {
				return -1
			}
			continue
		case '[':
			if i = space(b, i+1); i < len(b) && b[i] == ']' {
				i++
				break
			}
			if depth++; depth > maxDepth {
				return -1
			}
			objects <<= 1
			continue
		default:
			i = skipScalar(b, i)
		}
		if i < 0 {
			return -1
		}
		for { // a value has ended, and with it those of which it is the last part
			if depth == 0 {
				return i
			}
			if i = space(b, i); i >= len(b) {
				return -1
			}
			if b[i] == ',' {
				i = space(b, i+1)
				if objects&1 == 1 {
					if _, i = name(b, i); i < 0 {
						return -1
					}
				}
				break
			}
			if objects&1 == 1 && b[i] != '}' || objects&1 == 0 && b[i] != ']' {
				return -1
			}
			objects >>= 1
			depth--
			i++
		}
	}
}

// name passes over the name of a member and what stands between it and its value. The name is as it is written,
// without its quotes.
func name(b []byte, i int) (name []byte, value int) {
	if i >= len(b) || b[i] != '"' {
		return nil, -1
	}
	end, _ := skipString(b, i)
	if end < 0 {
		return nil, -1
	}
	colon := space(b, end)
	if colon >= len(b) || b[colon] != ':' {
		return nil, -1
	}
	return b[i+1 : end-1], space(b, colon+1)
}

const (
	each    = 0x0101010101010101 // the byte 1 in each byte of a word
	highest = 0x8080808080808080 // the highest bit of each
)

// below marks the highest bit of the bytes of a word that are below n, which is at most 128: surely of the first such
// byte, and of none before it.
func below(word uint64, n byte) uint64 { return (word - each*uint64(n)) &^ word & highest }

// skipString passes over a string, which begins with its quote, and says whether it is plain: ASCII that stands for
// itself.
func skipString(b []byte, i int) (end int, plain bool) {
	plain = true
	i++
	for {
		// Eight bytes at a time, up to the next that is a quote, a backslash or a control character.
		for i+8 <= len(b) {
			word := binary.LittleEndian.Uint64(b[i:])
			stop := below(word, ' ') | below(word^each*'"', 1) | below(word^each*'\\', 1)
			if stop != 0 {
				n := bits.TrailingZeros64(stop) / 8
				plain = plain && word&highest&(1<<(8*n)-1) == 0
				i += n
				break
			}
			plain = plain && word&highest == 0
			i += 8
		}
		if i >= len(b) {
			return -1, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, plain
		case c == '\\':
			if i = skipEscape(b, i); i < 0 {
				return -1, false
			}
			plain = false
		case c < ' ':
			return -1, false
		default: // within the last bytes of the text
			plain = plain && c < 0x80
			i++
		}
	}
}

// skipEscape passes over a backslash and what it escapes.
func skipEscape(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if i+6 > len(b) {
			return -1
		}
		for _, c := range b[i+2 : i+6] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return -1
			}
		}
		return i + 6
	}
	return -1
}

// skipScalar passes over a number, true, false or null.
func skipScalar(b []byte, i int) int {
	switch b[i] {
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	}
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	default:
		if i = digits(b, i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = digits(b, i)
	}
	return i
}

func literal(b []byte, i int, text string) int {
	if end := i + len(text); end <= len(b) && string(b[i:end]) == text {
		return end
	}
	return -1
}

// digits passes over one digit or more.
func digits(b []byte, i int) int {
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
