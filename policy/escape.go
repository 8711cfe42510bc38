package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text from a manifest, a file name or a command fit for one line
// of a terminal or log: control, bidirectional, zero-width and other invisible
// characters and invalid bytes become \x, \u escapes; a backslash is doubled, so
// that the result reads back one way only.
func Escape(s string) string {
	clean := true
	for _, r := range s {
		if r == '\\' || r == utf8.RuneError || !visible(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		case visible(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// visible says whether r shows as itself and moves nothing else.
func visible(r rune) bool {
	switch {
	case r < 0x7f:
		return r >= 0x20
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return false // letters and marks that show nothing
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef:
		return false // variation selectors
	}
	return unicode.IsPrint(r)
}
