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

// fold writes text that stands for itself in any case.
func fold(s string) string { return foldGlob(s, false) }

// glob writes components with "*" and "?" in any case.
func glob(s string) string { return foldGlob(s, true) }

func foldGlob(s string, wild bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case wild && c == '*':
			b.WriteString("[^/]*")
		case wild && c == '?':
			b.WriteString("[^/]")
		case isLetter(c):
			n := cluster(s[i:])
			b.WriteString(letters(strings.ToLower(s[i : i+n])))
			i += n
			continue
		default:
			b.WriteString(quote(s[i : i+1]))
		}
		i++
	}
	return b.String()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// folds are the characters beyond ASCII that an APFS volume which folds case
// takes for ASCII letters (full case folding, Unicode's CaseFolding.txt).
var folds = [...]struct{ letters, character string }{
	{"s", "\u017f"}, {"k", "\u212a"}, {"ss", "\u00df"}, {"ss", "\u1e9e"}, {"ff", "\ufb00"}, {"fi", "\ufb01"},
	{"fl", "\ufb02"}, {"ffi", "\ufb03"}, {"ffl", "\ufb04"}, {"st", "\ufb05"}, {"st", "\ufb06"},
}

// cluster is how many letters at the beginning of s hang together: each pair
// of neighbours is within the letters of one character.
func cluster(s string) int {
	n := 1
	for n < len(s) && isLetter(s[n]) {
		pair := strings.ToLower(s[n-1 : n+1])
		joined := false
		for _, f := range folds {
			joined = joined || strings.Contains(f.letters, pair)
		}
		if !joined {
			break
		}
		n++
	}
	return n
}

// longest bounds the letters that are spelled in every mixture.
const longest = 6

// letters writes lower-case letters that hang together in any case; too many
// of them as any number of such.
func letters(s string) string {
	if len(s) <= longest {
		return oneOf(spelled(s))
	}
	var all []string
	for c := byte('a'); c <= 'z'; c++ {
		if strings.IndexByte(s, c) >= 0 {
			all = append(all, letter(c))
		}
	}
	for _, f := range folds {
		if strings.Contains(s, f.letters) {
			all = append(all, f.character)
		}
	}
	return oneOf(all) + "+"
}

// spelled gives regular expressions for the spellings of lower-case letters.
func spelled(s string) []string {
	if s == "" {
		return []string{""}
	}
	var all []string
	for _, rest := range spelled(s[1:]) {
		all = append(all, letter(s[0])+rest)
	}
	for _, f := range folds {
		if after, ok := strings.CutPrefix(s, f.letters); ok && len(f.letters) > 1 {
			for _, rest := range spelled(after) {
				all = append(all, f.character+rest)
			}
		}
	}
	return all
}

// letter writes a lower-case letter in any case.
func letter(c byte) string {
	all := []string{"[" + string(c) + string(c-0x20) + "]"}
	for _, f := range folds {
		if f.letters == string(c) {
			all = append(all, f.character)
		}
	}
	return oneOf(all)
}

func oneOf(all []string) string {
	if len(all) == 1 {
		return all[0]
	}
	return "(" + strings.Join(all, "|") + ")"
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
