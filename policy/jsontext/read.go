// Package jsontext reads JSON strictly and keeps where everything stands, so that
// an error can name its place and a text can be edited byte by byte.
//
// It refuses what other readers understand in different ways, since one of them
// may decide about a text and another act on it: an object that has a name twice,
// half of a surrogate pair, bytes that are not UTF-8, anything after the value.
package jsontext

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxValues bounds the values in one text: one that takes longer to read than to
// send would use up the time of who waits for an answer.
const maxValues = 1 << 18

// Value is one value with its place in the text.
type Value struct {
	// Kind is '{', '[', '"', '0' for a number, 't', 'f' or 'n'; 0 is no value.
	Kind       byte
	Text       string // of a string, decoded
	Start, End int    // its bytes in the text, End not included
	Members    []Member
	Items      []Value
	// Halves says that a string in it has half of a surrogate pair, which stands
	// as U+FFFD in Text.
	Halves bool
}

// Member is one member of an object.
type Member struct {
	Name  string
	Start int // of the name, with its quote
	Value Value
}

// Get finds a member of an object; nil if there is none.
func (v *Value) Get(name string) *Value {
	if v == nil {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// Options say what is read besides what RFC 8259 has.
type Options struct {
	// Depth is how many levels of nesting are read.
	Depth int
	// Relaxed passes over comments, and commas before a closing bracket, as
	// settings files have them.
	Relaxed bool
	// Halves takes halves of surrogate pairs, and marks the values that hold them.
	Halves bool
}

// Error is the first thing that is wrong with a text.
type Error struct {
	At   int    // the byte
	Want string // what should stand there: "a value"; "" if that is not what is wrong
	What string // what is wrong otherwise
}

func (e *Error) Error() string {
	if e.Want != "" {
		return fmt.Sprintf("at byte %d: want %s", e.At, e.Want)
	}
	return fmt.Sprintf("at byte %d: %s", e.At, e.What)
}

// Read reads one value. An error is an [*Error], but for text that is not UTF-8.
func Read(data []byte, options Options) (Value, error) {
	if !utf8.Valid(data) {
		return Value{}, errors.New("not UTF-8")
	}
	p := parser{data: data, Options: options}
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	if p.space(); p.i < len(data) {
		return Value{}, p.fail("text after the end of the document")
	}
	return v, nil
}

type parser struct {
	Options
	data   []byte
	i      int
	values int // so far
	halves int // so far
}

func (p *parser) fail(format string, args ...any) error {
	return &Error{At: p.i, What: fmt.Sprintf(format, args...)}
}

func (p *parser) want(what string) error { return &Error{At: p.i, Want: what} }

// peek gives the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.i < len(p.data) {
		return p.data[p.i]
	}
	return 0
}

// take steps over s if it comes next.
func (p *parser) take(s string) bool {
	if len(p.data)-p.i < len(s) || string(p.data[p.i:p.i+len(s)]) != s {
		return false
	}
	p.i += len(s)
	return true
}

func (p *parser) space() {
	for {
		switch c := p.peek(); {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.i++
		case p.Relaxed && p.take("//"):
			for p.i < len(p.data) && p.data[p.i] != '\n' {
				p.i++
			}
		case p.Relaxed && p.take("/*"):
			for p.i < len(p.data) && !p.take("*/") {
				p.i++
			}
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (v Value, err error) {
	p.space()
	v.Start, v.Kind = p.i, p.peek()
	halves := p.halves
	if depth > p.Depth {
		return v, p.fail("nested deeper than %d levels", p.Depth)
	}
	if p.values++; p.values > maxValues {
		return v, p.fail("more than %d values", maxValues)
	}
	switch c := v.Kind; {
	case c == '{':
		err = p.object(&v, depth)
	case c == '[':
		err = p.array(&v, depth)
	case c == '"':
		v.Text, err = p.string()
	case c == '-' || '0' <= c && c <= '9':
		v.Kind = '0'
		err = p.number()
	case p.take("true") || p.take("false") || p.take("null"):
	default:
		err = p.want("a value")
	}
	v.End, v.Halves = p.i, p.halves > halves
	return v, err
}

func (p *parser) object(v *Value, depth int) error {
	var names map[string]bool // of a long one: each would be held against all others
	for more, err := p.first('}'); more || err != nil; more, err = p.next('}') {
		if err != nil {
			return err
		}
		m := Member{Start: p.i}
		if p.peek() != '"' {
			return p.want("a key")
		}
		if m.Name, err = p.string(); err != nil {
			return err
		}
		if names == nil && len(v.Members) >= 32 {
			names = map[string]bool{}
			for i := range v.Members {
				names[v.Members[i].Name] = true
			}
		}
		if names[m.Name] || names == nil && v.Get(m.Name) != nil {
			return &Error{At: m.Start, What: fmt.Sprintf("key %q is there twice", m.Name)}
		}
		if names != nil {
			names[m.Name] = true
		}
		if p.space(); !p.take(":") {
			return p.want(`":"`)
		}
		if m.Value, err = p.value(depth + 1); err != nil {
			return err
		}
		v.Members = append(v.Members, m)
	}
	return nil
}

func (p *parser) array(v *Value, depth int) error {
	for more, err := p.first(']'); more || err != nil; more, err = p.next(']') {
		if err != nil {
			return err
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
	return nil
}

// first steps over an opening bracket, and over the closing one where nothing is
// between them; else there is more.
func (p *parser) first(closing byte) (more bool, err error) {
	p.i++
	p.space()
	return !p.take(string(closing)), nil
}

// next steps over what stands behind an element: a comma, with another element
// after it, or the closing bracket.
func (p *parser) next(closing byte) (more bool, err error) {
	p.space()
	if p.take(string(closing)) {
		return false, nil
	}
	if !p.take(",") {
		return false, p.want(`"," or "` + string(closing) + `"`)
	}
	if p.space(); p.peek() != closing {
		return true, nil
	}
	if !p.Relaxed {
		return false, p.fail("a comma before %q, which JSON does not have", string(closing))
	}
	p.i++
	return false, nil
}

func (p *parser) number() error {
	p.take("-")
	if !p.take("0") && !p.digits() || p.take(".") && !p.digits() {
		return p.want("a digit")
	}
	if p.take("e") || p.take("E") {
		if !p.take("+") {
			p.take("-")
		}
		if !p.digits() {
			return p.want("a digit")
		}
	}
	return nil
}

func (p *parser) digits() bool {
	from := p.i
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		p.i++
	}
	return p.i > from
}

func (p *parser) string() (string, error) {
	var b []byte
	from := p.i
	for p.i++; ; {
		switch c := p.peek(); {
		case p.i >= len(p.data) || c == '\n':
			return "", &Error{At: from, What: "string without an end"}
		case c == '"':
			p.i++
			return string(b), nil
		case c < 0x20:
			return "", p.fail("control character %#02x in a string", c)
		case c == '\\':
			r, size := unescape(p.data[p.i:])
			switch {
			case size > 0 && r >= 0:
				b = utf8.AppendRune(b, r)
			case size > 0 && p.Halves:
				p.halves++
				b = utf8.AppendRune(b, utf8.RuneError)
			case p.i+1 < len(p.data) && p.data[p.i+1] == 'u':
				return "", p.fail("bad unicode escape")
			default:
				return "", p.fail("unknown escape")
			}
			p.i += size
		default:
			b = append(b, c)
			p.i++
		}
	}
}
