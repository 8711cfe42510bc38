package darwin

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// checkText refuses what no file name of macOS holds, and what a parameter
// cannot carry.
func checkText(s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return errors.New("a NUL byte")
	}
	if !utf8.ValidString(s) {
		return errors.New("not UTF-8")
	}
	return nil
}

// The regular expressions keep to what the policies of macOS itself use:
// classes, groups, "*", "+", "|", anchors, and a backslash before a
// metacharacter. They search, so that both ends are anchored.

const (
	andBeneath = "(/|$)" // the name, and everything beneath it
	exactly    = "$"
)

// quote writes text that stands for itself.
func quote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`.+*?()[]{}|^$\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// fold writes text that stands for itself in any ASCII case.
func fold(s string) string { return foldGlob(s, false) }

// glob writes components with "*" and "?" in any ASCII case.
func glob(s string) string { return foldGlob(s, true) }

func foldGlob(s string, wild bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case wild && c == '*':
			b.WriteString("[^/]*")
		case wild && c == '?':
			b.WriteString("[^/]")
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			b.WriteString(letter(c | 0x20))
		default:
			b.WriteString(quote(s[i : i+1]))
		}
	}
	return b.String()
}

// letter writes a lower-case letter in any case. Two letters beyond ASCII fold
// to s and k, on a volume of macOS as well.
func letter(c byte) string {
	both := "[" + string(c) + string(c-0x20) + "]"
	switch c {
	case 's':
		return "(" + both + "|\u017f)"
	case 'k':
		return "(" + both + "|\u212a)"
	}
	return both
}

// ascii says whether s has only ASCII bytes. A volume of macOS takes several
// spellings of any other name for the same.
func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
