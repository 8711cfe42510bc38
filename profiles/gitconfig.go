package profiles

import (
	"fmt"
	"strings"
)

// GitConfig gives the entries of a file of git's configuration, as git reads it
// (config.c, git_parse_source): each by its name, "section.subsection.key" in lower
// case but for the subsection, and its value. Where git would read no further is an
// error, and entries in the lines below that are given as well.
func GitConfig(b []byte, each func(name, value string)) (err error) {
	t := gitText{text: strings.ReplaceAll(strings.TrimPrefix(string(b), "\ufeff"), "\r\n", "\n")}
	section := ""
	for t.at < len(t.text) {
		ok := true
		switch c := t.next(); {
		case isGitSpace(c):
		case c == '#' || c == ';':
			t.skipLine()
		case c == '[':
			section, ok = t.section()
		case 'a' <= lower(c) && lower(c) <= 'z':
			var key, value string
			if key, value, ok = t.entry(c); ok {
				each(strings.TrimPrefix(section+"."+key, "."), value)
			}
		default:
			ok = false
		}
		if !ok {
			t.skipLine()
			if err == nil {
				err = fmt.Errorf("line %d is none of git's configuration", strings.Count(t.text[:t.at-1], "\n")+1)
			}
		}
	}
	return err
}

// gitText is read byte by byte, with a line end behind the last.
type gitText struct {
	text string
	at   int
}

func (t *gitText) next() byte {
	t.at++
	return t.last()
}

func (t *gitText) last() byte {
	if t.at > len(t.text) {
		return '\n'
	}
	return t.text[t.at-1]
}

// skipLine goes on to the end of the line that the last byte is of.
func (t *gitText) skipLine() {
	for t.last() != '\n' {
		t.next()
	}
}

// section reads from behind "[" to behind "]".
func (t *gitText) section() (name string, ok bool) {
	var b strings.Builder
	c := t.next()
	for ; isGitKey(c) || c == '.'; c = t.next() {
		b.WriteByte(lower(c))
	}
	if c == ']' {
		return b.String(), b.Len() > 0
	}
	if !isGitSpace(c) {
		return b.String(), false
	}
	for ; c != '\n' && isGitSpace(c); c = t.next() {
	}
	if c != '"' {
		return b.String(), false
	}
	b.WriteByte('.')
	for c = t.next(); c != '"'; c = t.next() {
		if c == '\\' {
			c = t.next()
		}
		if c == '\n' {
			return b.String(), false
		}
		b.WriteByte(c)
	}
	return b.String(), t.next() == ']'
}

// entry reads what begins with c, to the end of its value.
func (t *gitText) entry(c byte) (key, value string, ok bool) {
	var b strings.Builder
	for ; isGitKey(c); c = t.next() {
		b.WriteByte(lower(c))
	}
	for c == ' ' || c == '\t' {
		c = t.next()
	}
	switch c {
	case '\n':
		ok = true
	case '=':
		value, ok = t.value()
	}
	return b.String(), value, ok
}

func (t *gitText) value() (value string, ok bool) {
	var b strings.Builder
	quoted, spaces := false, 0
	for c := t.next(); c != '\n'; c = t.next() {
		switch {
		case !quoted && isGitSpace(c):
			if b.Len() > 0 {
				spaces++
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			t.skipLine()
			return cString(b.String()), true
		}
		for ; spaces > 0; spaces-- {
			b.WriteByte(' ')
		}
		switch c {
		case '"':
			quoted = !quoted
			continue
		case '\\':
			c = t.next()
			if c == '\n' {
				continue // in the next line
			}
			i := strings.IndexByte(`tbn\"`, c)
			if i < 0 {
				return "", false
			}
			c = "\t\b\n\\\""[i]
		}
		b.WriteByte(c)
	}
	return cString(b.String()), !quoted
}

// cString is what a C program has of a string.
func cString(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

func isGitSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isGitKey(c byte) bool {
	return 'a' <= lower(c) && lower(c) <= 'z' || '0' <= c && c <= '9' || c == '-'
}
