package sbpl

import (
	"fmt"
	"strings"
)

// datum is one expression: a list, a string or a word.
type datum struct {
	line   int
	list   []datum
	text   string
	kind   datumKind
	quoted bool // written 'word
}

type datumKind uint8

const (
	aList datumKind = iota
	aString
	aWord
)

// maxDepth bounds how deep lists nest: what darwin emits stays below ten.
const maxDepth = 64

// reader turns source into data and remembers the comments, which hold the
// origins of the rules.
type reader struct {
	src      string
	pos      int
	line     int
	comments map[int]string
}

// read gives the top-level data of a policy and its comments by line.
func read(source string) ([]datum, map[int]string, error) {
	r := &reader{src: source, line: 1, comments: map[int]string{}}
	var forms []datum
	for {
		r.space()
		if r.pos == len(r.src) {
			return forms, r.comments, nil
		}
		d, err := r.datum(0)
		if err != nil {
			return nil, nil, err
		}
		forms = append(forms, d)
	}
}

// space skips blanks and comments.
func (r *reader) space() {
	for r.pos < len(r.src) {
		switch r.src[r.pos] {
		case '\n':
			r.line++
			r.pos++
		case ' ', '\t':
			r.pos++
		case ';':
			end := strings.IndexByte(r.src[r.pos:], '\n')
			if end < 0 {
				end = len(r.src) - r.pos
			}
			r.comments[r.line] = strings.TrimLeft(r.src[r.pos:r.pos+end], "; ")
			r.pos += end
		default:
			return
		}
	}
}

func (r *reader) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", r.line, fmt.Sprintf(format, args...))
}

// datum reads one expression; the position is at its first character.
func (r *reader) datum(depth int) (datum, error) {
	d := datum{line: r.line}
	switch c := r.src[r.pos]; {
	case c == '(':
		return r.listed(depth)
	case c == ')':
		return d, r.fail("unexpected )")
	case c == '"':
		return r.str()
	case c == '\'':
		r.pos++
		if r.pos == len(r.src) || !wordByte(r.src[r.pos]) {
			return d, r.fail("nothing to quote")
		}
		d.quoted = true
		fallthrough
	case wordByte(c):
		start := r.pos
		for r.pos < len(r.src) && wordByte(r.src[r.pos]) {
			r.pos++
		}
		d.kind, d.text = aWord, r.src[start:r.pos]
		return d, nil
	default:
		return d, r.fail("character %q is outside the subset", c)
	}
}

func (r *reader) listed(depth int) (datum, error) {
	d := datum{line: r.line}
	if depth == maxDepth {
		return d, r.fail("lists nest deeper than %d", maxDepth)
	}
	opened := r.line
	r.pos++
	for {
		r.space()
		if r.pos == len(r.src) {
			return d, fmt.Errorf("line %d: ( is not closed", opened)
		}
		if r.src[r.pos] == ')' {
			r.pos++
			return d, nil
		}
		item, err := r.datum(depth + 1)
		if err != nil {
			return d, err
		}
		d.list = append(d.list, item)
	}
}

// str reads a string of printable ASCII without escapes: everything else
// travels as a parameter.
func (r *reader) str() (datum, error) {
	d := datum{line: r.line, kind: aString}
	end := strings.IndexByte(r.src[r.pos+1:], '"')
	if end < 0 {
		return d, r.fail("string is not closed")
	}
	d.text = r.src[r.pos+1 : r.pos+1+end]
	for i := 0; i < len(d.text); i++ {
		if c := d.text[i]; c < ' ' || c > '~' || c == '\\' {
			return d, r.fail("string holds %q, which only a parameter may", c)
		}
	}
	r.pos += end + 2
	return d, nil
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '*' || c == '?' || c == '_'
}

// is says whether d is a list that starts with word.
func (d *datum) is(word string) bool {
	return d.kind == aList && len(d.list) > 0 && d.list[0].kind == aWord && !d.list[0].quoted && d.list[0].text == word
}
