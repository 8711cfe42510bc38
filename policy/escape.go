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

// Row makes escaped text fit for a row of a question: of blanks beside each other every
// second one is escaped, so that no text fills a row with them and begins the next with
// what looks like ours.
func Row(s string) string { return strings.ReplaceAll(s, "  ", ` \x20`) }

// Shown is a name of somebody else's as a row of a question has it: in quotes where it
// could be taken for the words around it.
func Shown(name string) string {
	e := Row(Escape(name))
	if strings.ContainsAny(e, ` "`) {
		return `"` + strings.ReplaceAll(e, `"`, `\x22`) + `"`
	}
	return e
}

// visible says whether r shows as itself and moves nothing else: IsPrint leaves out
// controls, format characters and separators, the tables what is drawn as nothing.
func visible(r rune) bool {
	if r < 0x7f {
		return r >= 0x20
	}
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && !strings.ContainsRune(blanks, r)
}

// blanks are letters and signs that are drawn as nothing: of Braille, of Khitan, of
// hieroglyphs a full and a half one, and the head of no note.
const blanks = "\u2800\U00016fe4\U00013441\U00013442\U0001d159"
