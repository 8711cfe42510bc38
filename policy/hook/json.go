package hook

import (
	"errors"
	"unicode/utf8"

	"skillrun/policy/jsontext"
)

// maxDepth is how many levels of nesting an event and settings may have.
const maxDepth = 128

var errHalf = errors.New("half of a surrogate pair in a string")

type value = jsontext.Value

// parseJSON reads one JSON value; with relaxed set, as settings files have them.
func parseJSON(data []byte, relaxed bool) (value, error) {
	return jsontext.Read(data, jsontext.Options{Depth: maxDepth, Relaxed: relaxed})
}

// quoteJSON appends s as a JSON string.
func quoteJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s { // an invalid byte becomes U+FFFD
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < 0x20 || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
