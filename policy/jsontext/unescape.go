package jsontext

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unescape reads the escape of a JSON string (RFC 8259) that data begins with,
// and gives its character and how many bytes it takes: 0 if that is no escape.
// Half of a surrogate pair is no character: it is -1.
func unescape(data []byte) (r rune, size int) {
	if len(data) < 2 || data[0] != '\\' {
		return 0, 0
	}
	switch c := data[1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		r, ok := hex4(data[2:])
		if ok && !utf16.IsSurrogate(r) {
			return r, 6
		}
		if ok && len(data) > 8 && data[6] == '\\' && data[7] == 'u' {
			low, _ := hex4(data[8:]) // 0 is no half
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				return r, 12
			}
		}
		if ok {
			return -1, 6
		}
	}
	return 0, 0
}

func hex4(data []byte) (r rune, ok bool) {
	if len(data) < 4 {
		return 0, false
	}
	for _, c := range data[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
