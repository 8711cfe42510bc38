package policy

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// parseJSON reads one JSON value (RFC 8259) with the place of every part. It
// accepts no duplicate key, no lone surrogate, no control character and
// nothing after the value, where other parsers differ in what they see.
func parseJSON(file string, data []byte) (node, error) {
	if err := checkText(file, data); err != nil {
		return node{}, err
	}
	p := jsonParser{text{file: file, data: data, line: 1}}
	n, err := p.value(0)
	if err != nil {
		return node{}, err
	}
	p.space()
	if p.i < len(p.data) {
		return node{}, p.fail("text after the end of the document")
	}
	return n, nil
}

type jsonParser struct{ text }

func (p *jsonParser) space() {
	for {
		switch p.peek() {
		case '\n':
			p.newline()
		case ' ', '\t', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *jsonParser) value(depth int) (node, error) {
	p.space()
	n := node{pos: p.pos()}
	if depth > maxDepth {
		return n, p.fail("nested deeper than %d levels", maxDepth)
	}
	var err error
	switch c := p.peek(); {
	case c == '{':
		n.kind = mapNode
		n.keys, err = p.object(depth)
	case c == '[':
		n.kind = listNode
		n.items, err = p.array(depth)
	case c == '"':
		n.kind = stringNode
		n.text, err = p.string()
	case c == '-' || '0' <= c && c <= '9':
		err = p.number(&n)
	case p.word("true"):
		n.kind, n.truth = boolNode, true
	case p.word("false"):
		n.kind = boolNode
	case p.word("null"):
	default:
		return n, p.unexpected("a value")
	}
	return n, err
}

func (p *jsonParser) word(w string) bool {
	if !p.ahead(w) {
		return false
	}
	p.i += len(w)
	return true
}

func (p *jsonParser) object(depth int) ([]field, error) {
	var fields []field
	p.i++
	for p.space(); p.peek() != '}'; {
		at := p.pos()
		if p.peek() != '"' {
			return nil, p.unexpected("a key")
		}
		name, err := p.string()
		if err != nil {
			return nil, err
		}
		if len(fields) == maxKeys {
			return nil, errorAt(at, "more than %d keys in a table", maxKeys)
		}
		for i := range fields {
			if fields[i].name == name {
				return nil, errorAt(at, "key %q is there twice", name)
			}
		}
		if p.space(); p.peek() != ':' {
			return nil, p.unexpected(`":"`)
		}
		p.i++
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field{name, at, v})
		if more, err := p.comma('}'); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	p.i++
	return fields, nil
}

func (p *jsonParser) array(depth int) ([]node, error) {
	var items []node
	p.i++
	for p.space(); p.peek() != ']'; {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		if more, err := p.comma(']'); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	p.i++
	return items, nil
}

// unexpected also knows what people write by habit.
func (p *jsonParser) unexpected(wanted string) error {
	if p.ahead("//") || p.ahead("/*") || p.ahead("#") {
		return p.fail("a comment, which JSON does not have; skillrun.toml may have some")
	}
	return p.text.unexpected(wanted)
}

// comma reads what follows an element: a comma, with another element after it,
// or the closing bracket, which it leaves.
func (p *jsonParser) comma(closing byte) (more bool, err error) {
	switch p.space(); p.peek() {
	case closing:
		return false, nil
	case ',':
		p.i++
		if p.space(); p.peek() == closing {
			return false, p.fail("a comma before %q, which JSON does not have", string(closing))
		}
		return true, nil
	}
	return false, p.unexpected(`"," or "` + string(closing) + `"`)
}

func (p *jsonParser) number(n *node) error {
	from := p.i
	digits := func() bool {
		first := p.i
		for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
			p.i++
		}
		return p.i > first
	}
	n.kind = intNode
	if p.peek() == '-' {
		p.i++
	}
	if p.peek() == '0' {
		p.i++
	} else if !digits() {
		return p.unexpected("a digit")
	}
	if p.peek() == '.' {
		n.kind = floatNode
		if p.i++; !digits() {
			return p.unexpected("a digit")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		n.kind = floatNode
		p.i++
		if c := p.peek(); c == '+' || c == '-' {
			p.i++
		}
		if !digits() {
			return p.unexpected("a digit")
		}
	}
	n.text = string(p.data[from:p.i])
	if n.kind == intNode {
		var err error
		if n.number, err = strconv.ParseInt(n.text, 10, 64); err != nil {
			return errorAt(n.pos, "number %s is out of range", n.text)
		}
	}
	return nil
}

func (p *jsonParser) string() (string, error) {
	var b []byte
	at := p.pos()
	for p.i++; ; {
		switch c := p.peek(); {
		case p.i >= len(p.data) || c == '\n':
			return "", errorAt(at, "string without an end")
		case c == '"':
			p.i++
			return string(b), nil
		case c == '\t', c == '\r':
			return "", p.fail("control character %#02x in a string", c)
		case c == '\\':
			var err error
			if b, err = p.escape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
			p.i++
		}
	}
}

func (p *jsonParser) escape(b []byte) ([]byte, error) {
	r, size := Unescape(p.data[p.i:])
	switch {
	case size > 0 && r >= 0:
		p.i += size
		return utf8.AppendRune(b, r), nil
	case p.i+1 < len(p.data) && p.data[p.i+1] == 'u':
		return nil, errorAt(p.pos(), "bad unicode escape")
	}
	return nil, errorAt(p.pos(), "unknown escape")
}

// Unescape reads the escape of a JSON string (RFC 8259) that data begins with,
// and gives its character and how many bytes it takes: 0 if that is no escape.
// Half of a surrogate pair is no character: it is -1.
func Unescape(data []byte) (r rune, size int) {
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
