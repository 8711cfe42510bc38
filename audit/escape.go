package audit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes any bytes printable on one line, and loses nothing: a backslash
// becomes `\\`; newline, tab and return `\n`, `\t`, `\r`; any other byte that
// is a control character or not UTF-8 `\xNN`; a character that does not show,
// or that reorders others (bidi, zero-width, fillers, variation selectors,
// spaces other than " "), `\uNNNN` or `\UNNNNNNNN`. [Unescape] is its inverse.
// Every string in a record is stored so.
func Escape(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '\\' || c >= 0x7f {
			return string(appendEscaped(make([]byte, 0, len(s)+16), s))
		}
	}
	return s
}

const hexDigits = "0123456789abcdef"

func appendEscaped(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if ' ' <= c && c < 0x7f && c != '\\' {
			b = append(b, c)
			i++
			continue
		}
		if c < utf8.RuneSelf {
			i++
			switch c {
			case '\\':
				b = append(b, '\\', '\\')
			case '\n':
				b = append(b, '\\', 'n')
			case '\t':
				b = append(b, '\\', 't')
			case '\r':
				b = append(b, '\\', 'r')
			default:
				b = append(b, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
		case shows(r):
			b = append(b, s[i:i+n]...)
		case r < 0x10000:
			b = append(b, '\\', 'u')
			b = appendHex(b, uint32(r), 4)
		default:
			b = append(b, '\\', 'U')
			b = appendHex(b, uint32(r), 8)
		}
		i += n
	}
	return b
}

func appendHex(b []byte, v uint32, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		b = append(b, hexDigits[v>>(4*i)&15])
	}
	return b
}

// shows says whether a character above ASCII is seen as itself. IsPrint leaves
// out controls, format characters (bidi, zero-width, tags), separators and what
// is not assigned; the tables add letters and marks that are drawn as nothing.
func shows(r rune) bool {
	return strconv.IsPrint(r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
		!unicode.Is(unicode.Variation_Selector, r) &&
		!strings.ContainsRune(blanks, r)
}

// blanks are a Braille pattern, a filler of Khitan script, two hieroglyphs and the head
// of no note.
const blanks = "\u2800\U00016fe4\U00013441\U00013442\U0001d159"

// Unescape gives the bytes that Escape was given. It fails on what Escape does
// not write.
func Unescape(s string) (string, error) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, nil
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for i < len(s) {
		if s[i] != '\\' {
			b = append(b, s[i])
			i++
			continue
		}
		if i+1 == len(s) {
			return "", fmt.Errorf("unescape %q: backslash at the end", s)
		}
		digits := 0
		switch s[i+1] {
		case '\\':
			b = append(b, '\\')
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'r':
			b = append(b, '\r')
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			return "", fmt.Errorf("unescape %q: unknown escape at byte %d", s, i)
		}
		if digits > 0 {
			if i+2+digits > len(s) {
				return "", fmt.Errorf("unescape %q: short escape at byte %d", s, i)
			}
			v, err := strconv.ParseUint(s[i+2:i+2+digits], 16, 32)
			if err != nil || digits > 2 && !utf8.ValidRune(rune(v)) {
				return "", fmt.Errorf("unescape %q: bad escape at byte %d", s, i)
			}
			if digits == 2 {
				b = append(b, byte(v))
			} else {
				b = utf8.AppendRune(b, rune(v))
			}
		}
		i += 2 + digits
	}
	return string(b), nil
}
