package hook

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"skillrun/policy"
)

const (
	maxDepth  = 128     // levels of nesting
	maxValues = 1 << 18 // in one text: what takes longer to read than to send would use up the time
)

// value is one JSON value with its place in the text, so that what is not
// understood can be passed on, and settings edited, byte by byte.
type value struct {
	kind       byte   // '{', '[', '"', '0', 't', 'f', 'n'; 0 is no value
	text       string // of a string, decoded
	start, end int    // in the text, end not included
	members    []member
	items      []value
	// halves says that a string in it has half of a surrogate pair, which stands
	// as U+FFFD in text; other parsers see other things in its place.
	halves bool
}

// member is one member of an object.
type member struct {
	name  string
	start int // of the name, with its quote
	value value
}

// get finds a member of an object; nil if there is none.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i := range v.members {
		if v.members[i].name == name {
			return &v.members[i].value
		}
	}
	return nil
}

// parseJSON reads one JSON value (RFC 8259). It refuses where other parsers
// differ in what they see: duplicate names, lone surrogates, bytes that are no
// UTF-8, text after the value. With relaxed set, comments and commas before a
// closing bracket are passed over, as settings files have them.
func parseJSON(data []byte, relaxed bool) (value, error) {
	v, err := readJSON(data, relaxed)
	if err == nil && v.halves {
		err = errHalf
	}
	return v, err
}

var errHalf = errors.New("half of a surrogate pair in a string")

// readJSON is parseJSON that takes lone surrogates and marks what holds them.
func readJSON(data []byte, relaxed bool) (value, error) {
	if !utf8.Valid(data) {
		return value{}, fmt.Errorf("not UTF-8")
	}
	p := parser{data: data, relaxed: relaxed}
	v, err := p.value(0)
	if err != nil {
		return value{}, err
	}
	if p.space(); p.i < len(data) {
		return value{}, p.fail("text after the end")
	}
	return v, nil
}

type parser struct {
	data    []byte
	i       int
	values  int
	relaxed bool
	halves  int // how many there were so far
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("at byte %d: %s", p.i, fmt.Sprintf(format, args...))
}

func (p *parser) peek() byte {
	if p.i < len(p.data) {
		return p.data[p.i]
	}
	return 0
}

func (p *parser) ahead(s string) bool {
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
		case p.relaxed && p.ahead("//"):
			for p.i < len(p.data) && p.data[p.i] != '\n' {
				p.i++
			}
		case p.relaxed && p.ahead("/*"):
			for p.i < len(p.data) && !p.ahead("*/") {
				p.i++
			}
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (v value, err error) {
	p.space()
	v.start, v.kind = p.i, p.peek()
	halves := p.halves
	if depth > maxDepth {
		return v, p.fail("nested deeper than %d levels", maxDepth)
	}
	if p.values++; p.values > maxValues {
		return v, p.fail("more than %d values", maxValues)
	}
	switch c := v.kind; {
	case c == '{' || c == '[':
		err = p.container(&v, depth)
	case c == '"':
		v.text, err = p.string()
	case c == '-' || '0' <= c && c <= '9':
		v.kind = '0'
		err = p.number()
	case p.ahead("true") || p.ahead("false") || p.ahead("null"):
	case p.i >= len(p.data):
		err = p.fail("the text ends too early")
	default:
		err = p.fail("unexpected %q", c)
	}
	v.end, v.halves = p.i, p.halves > halves
	return v, err
}

// container reads an object or an array.
func (p *parser) container(v *value, depth int) error {
	closing := v.kind + 2 // ASCII has them two apart
	names := map[string]bool{}
	p.i++
	for {
		if p.space(); p.peek() == closing && (p.relaxed || len(v.members)+len(v.items) == 0) {
			p.i++
			return nil
		}
		if v.kind == '{' {
			m := member{start: p.i}
			if p.peek() != '"' {
				return p.fail("want a name")
			}
			var err error
			if m.name, err = p.string(); err != nil {
				return err
			}
			if names[m.name] {
				return p.fail("%q is there twice", m.name)
			}
			names[m.name] = true
			if p.space(); !p.ahead(":") {
				return p.fail(`want ":"`)
			}
			if m.value, err = p.value(depth + 1); err != nil {
				return err
			}
			v.members = append(v.members, m)
		} else {
			item, err := p.value(depth + 1)
			if err != nil {
				return err
			}
			v.items = append(v.items, item)
		}
		if p.space(); p.peek() == closing {
			p.i++
			return nil
		}
		if !p.ahead(",") {
			return p.fail(`want "," or %q`, closing)
		}
	}
}

func (p *parser) number() error {
	digits := func() bool {
		from := p.i
		for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
			p.i++
		}
		return p.i > from
	}
	p.ahead("-")
	if !p.ahead("0") && !digits() {
		return p.fail("want a digit")
	}
	if p.ahead(".") && !digits() {
		return p.fail("want a digit")
	}
	if p.ahead("e") || p.ahead("E") {
		if !p.ahead("+") {
			p.ahead("-")
		}
		if !digits() {
			return p.fail("want a digit")
		}
	}
	return nil
}

func (p *parser) string() (string, error) {
	var b []byte
	for p.i++; ; {
		switch c := p.peek(); {
		case p.i >= len(p.data):
			return "", p.fail("a string has no end")
		case c == '"':
			p.i++
			return string(b), nil
		case c < 0x20:
			return "", p.fail("control character in a string")
		case c == '\\':
			r, size := policy.Unescape(p.data[p.i:])
			if size == 0 {
				return "", p.fail("bad escape")
			}
			if r < 0 {
				p.halves++
				r = utf8.RuneError
			}
			p.i += size
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, c)
			p.i++
		}
	}
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
