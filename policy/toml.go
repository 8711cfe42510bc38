package policy

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// parseTOML reads TOML 1.0 with the place of every value, which the usual
// library does not give. What it accepts that library accepts too, with the
// same meaning (a fuzz test holds them together); it refuses local dates and
// times, infinities and NaN, for which a manifest has no use.
func parseTOML(file string, data []byte) (node, error) {
	if err := checkText(file, data); err != nil {
		return node{}, err
	}
	p := tomlParser{text: text{file: file, data: data, line: 1}}
	root := &tomlTable{pos: Pos{file, 1, 1}, state: headed}
	if err := p.document(root); err != nil {
		return node{}, err
	}
	return root.node(), nil
}

type tomlParser struct {
	text
	keys int // that were read
}

// tomlTable is a table while it can still grow.
type tomlTable struct {
	pos   Pos
	state tableState
	keys  []tomlKey
}

type tomlKey struct {
	name  string
	pos   Pos
	value node         // if it is neither of:
	table *tomlTable   // a table
	list  []*tomlTable // an array of tables
}

// tableState says how a table came to be, and so who may still add to it.
type tableState uint8

const (
	implied tableState = iota // by the header of a table beneath
	headed                    // by its own header
	dotted                    // by a dotted key
	closed                    // inline
)

func (t *tomlTable) find(name string) *tomlKey {
	for i := range t.keys {
		if t.keys[i].name == name {
			return &t.keys[i]
		}
	}
	return nil
}

func (t *tomlTable) node() node {
	n := node{pos: t.pos, kind: mapNode}
	for _, k := range t.keys {
		v := k.value
		switch {
		case k.table != nil:
			v = k.table.node()
		case k.list != nil:
			v = node{pos: k.pos, kind: listNode}
			for _, e := range k.list {
				v.items = append(v.items, e.node())
			}
		}
		n.keys = append(n.keys, field{k.name, k.pos, v})
	}
	return n
}

func (p *tomlParser) document(root *tomlTable) error {
	current := root
	for {
		p.blank(true)
		var err error
		switch {
		case p.i >= len(p.data):
			return nil
		case p.peek() == '[':
			current, err = p.header(root)
		default:
			err = p.pair(current)
		}
		if err != nil {
			return err
		}
		if p.blank(false); p.i < len(p.data) && p.peek() != '\n' {
			return p.unexpected("the end of the line")
		}
	}
}

// blank skips spaces and comments, and with lines also line ends.
func (p *tomlParser) blank(lines bool) {
	for {
		switch c := p.peek(); {
		case c == ' ' || c == '\t':
			p.i++
		case c == '\r' && p.i+1 < len(p.data): // checkText: a line feed follows
			p.i++
		case c == '#':
			for p.i < len(p.data) && p.peek() != '\n' {
				p.i++
			}
		case c == '\n' && lines:
			p.newline()
		default:
			return
		}
	}
}

// header reads [a.b] or [[a.b]] and gives the table that follows.
func (p *tomlParser) header(root *tomlTable) (*tomlTable, error) {
	at := p.pos()
	p.i++
	array := p.peek() == '['
	if array {
		p.i++
	}
	path, err := p.key()
	if err != nil {
		return nil, err
	}
	for range 1 + b2i(array) {
		if p.peek() != ']' {
			return nil, p.unexpected(`"]"`)
		}
		p.i++
	}
	t := root
	for _, k := range path[:len(path)-1] {
		f := t.find(k.Value)
		switch {
		case f == nil:
			next := &tomlTable{pos: at}
			t.keys = append(t.keys, tomlKey{name: k.Value, pos: k.Pos, table: next})
			t = next
		case f.list != nil:
			t = f.list[len(f.list)-1]
		case f.table != nil && f.table.state != closed:
			t = f.table
		default:
			return nil, errorAt(k.Pos, "key %q is no table", k.Value)
		}
	}
	last := path[len(path)-1]
	f := t.find(last.Value)
	next := &tomlTable{pos: at, state: headed}
	switch {
	case f == nil && array:
		t.keys = append(t.keys, tomlKey{name: last.Value, pos: last.Pos, list: []*tomlTable{next}})
	case f == nil:
		t.keys = append(t.keys, tomlKey{name: last.Value, pos: last.Pos, table: next})
	case array && f.list != nil:
		f.list = append(f.list, next)
	case !array && f.table != nil && f.table.state == implied:
		f.table.state, f.table.pos = headed, at
		next = f.table
	default:
		return nil, errorAt(last.Pos, "key %q is there twice", last.Value)
	}
	return next, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pair reads "a.b = value" into t.
func (p *tomlParser) pair(t *tomlTable) error {
	path, err := p.key()
	if err != nil {
		return err
	}
	if p.peek() != '=' {
		return p.unexpected(`"="`)
	}
	p.i++
	for _, k := range path[:len(path)-1] {
		f := t.find(k.Value)
		switch {
		case f == nil:
			next := &tomlTable{pos: k.Pos, state: dotted}
			t.keys = append(t.keys, tomlKey{name: k.Value, pos: k.Pos, table: next})
			t = next
		case f.table != nil && f.table.state == dotted:
			t = f.table
		default:
			return errorAt(k.Pos, "key %q is there twice", k.Value)
		}
	}
	last := path[len(path)-1]
	if t.find(last.Value) != nil {
		return errorAt(last.Pos, "key %q is there twice", last.Value)
	}
	p.blank(false)
	v, err := p.value(0)
	if err != nil {
		return err
	}
	t.keys = append(t.keys, tomlKey{name: last.Value, pos: last.Pos, value: v})
	return nil
}

// key reads a key of one or more parts and the spaces around it.
func (p *tomlParser) key() ([]Text, error) {
	var path []Text
	if p.keys++; p.keys > maxKeys {
		return nil, errorAt(p.pos(), "more than %d keys", maxKeys)
	}
	for {
		p.blank(false)
		at := p.pos()
		var part string
		var err error
		switch c := p.peek(); {
		case c == '"' && !p.ahead(`"""`):
			part, err = p.basic(false)
		case c == '\'' && !p.ahead(`'''`):
			part, err = p.literal(false)
		default:
			from := p.i
			for c := p.peek(); c == '_' || c == '-' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'; c = p.peek() {
				p.i++
			}
			if part = string(p.data[from:p.i]); part == "" {
				return nil, p.unexpected("a key")
			}
		}
		if err != nil {
			return nil, err
		}
		if path = append(path, Text{part, at}); len(path) > maxDepth {
			return nil, errorAt(at, "nested deeper than %d levels", maxDepth)
		}
		p.blank(false)
		if p.peek() == '#' || p.peek() != '.' {
			return path, nil
		}
		p.i++
	}
}

func (p *tomlParser) value(depth int) (node, error) {
	n := node{pos: p.pos()}
	if depth > maxDepth {
		return n, p.fail("nested deeper than %d levels", maxDepth)
	}
	var err error
	switch c := p.peek(); {
	case c == '"':
		n.kind = stringNode
		n.text, err = p.basic(p.ahead(`"""`))
	case c == '\'':
		n.kind = stringNode
		n.text, err = p.literal(p.ahead(`'''`))
	case c == '[':
		n.kind = listNode
		p.i++
		for p.blank(true); p.peek() != ']'; {
			v, err := p.value(depth + 1)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, v)
			if p.blank(true); p.peek() == ',' {
				p.i++
				p.blank(true)
			} else if p.peek() != ']' {
				return n, p.unexpected(`"," or "]"`)
			}
		}
		p.i++
	case c == '{':
		return p.inline(depth)
	default:
		err = p.scalar(&n)
	}
	return n, err
}

// inline reads { a = 1, b.c = 2 }, on one line and without a comma at its end.
func (p *tomlParser) inline(depth int) (node, error) {
	t := &tomlTable{pos: p.pos(), state: closed}
	p.i++
	p.spaces()
	for p.peek() != '}' {
		path, err := p.key()
		if err != nil {
			return node{}, err
		}
		if len(path) > 1 {
			return node{}, errorAt(path[0].Pos, "a dotted key inside braces: write the table out")
		}
		if p.peek() != '=' {
			return node{}, p.unexpected(`"="`)
		}
		p.i++
		if t.find(path[0].Value) != nil {
			return node{}, errorAt(path[0].Pos, "key %q is there twice", path[0].Value)
		}
		p.spaces()
		v, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		t.keys = append(t.keys, tomlKey{name: path[0].Value, pos: path[0].Pos, value: v})
		p.spaces()
		if p.peek() == '}' {
			break
		}
		if p.peek() != ',' {
			return node{}, p.unexpected(`"," or "}"`)
		}
		p.i++
		if p.spaces(); p.peek() == '}' {
			return node{}, p.unexpected("another key")
		}
	}
	p.i++
	return t.node(), nil
}

func (p *tomlParser) spaces() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.i++
	}
}

// scalar reads what stands without quotes.
func (p *tomlParser) scalar(n *node) error {
	from := p.i
	for c := p.peek(); c != 0 && !strings.ContainsRune(" \t\r\n,]}#", rune(c)); c = p.peek() {
		p.i++
	}
	word := string(p.data[from:p.i])
	switch word {
	case "true", "false":
		n.kind, n.truth = boolNode, word == "true"
		return nil
	case "":
		return p.unexpected("a value")
	}
	n.text = word
	// The library takes an hour of one digit.
	if _, err := time.Parse(time.RFC3339Nano, word); err == nil && word[10] == 'T' && word[13] == ':' {
		n.kind = stringNode
		return nil
	}
	digits := word
	signed := digits[0] == '+' || digits[0] == '-'
	if signed {
		digits = digits[1:]
	}
	base := 10
	if len(digits) > 2 && digits[0] == '0' && !signed {
		base = map[byte]int{'x': 16, 'o': 8, 'b': 2}[digits[1]]
		if base != 0 {
			digits = digits[2:]
		} else {
			base = 10
		}
	}
	if !underscored(digits, base) {
		return errorAt(n.pos, "%q is no value: strings need quotes", word)
	}
	plain := strings.ReplaceAll(digits, "_", "")
	whole := plain
	if base == 10 {
		if i := strings.IndexAny(plain, ".eE"); i >= 0 {
			whole = plain[:i]
		}
		if whole == "" || len(whole) > 1 && whole[0] == '0' {
			return errorAt(n.pos, "%q is no number", word)
		}
	}
	if whole != plain {
		if _, err := strconv.ParseFloat(plain, 64); err != nil || badFraction(plain) {
			return errorAt(n.pos, "%q is no number", word)
		}
		n.kind = floatNode
		if word[0] == '-' {
			plain = "-" + plain
		}
		n.text = plain
		return nil
	}
	if word[0] == '-' {
		plain = "-" + plain
	}
	v, err := strconv.ParseInt(plain, base, 64)
	if err != nil {
		return errorAt(n.pos, "%q is no number, or out of range", word)
	}
	n.kind, n.number, n.text = intNode, v, strconv.FormatInt(v, 10)
	return nil
}

// badFraction says whether a dot of a number lacks digits on one side.
func badFraction(s string) bool {
	i := strings.IndexByte(s, '.')
	digit := func(i int) bool { return i >= 0 && i < len(s) && '0' <= s[i] && s[i] <= '9' }
	return i >= 0 && (!digit(i-1) || !digit(i+1))
}

// underscored says whether s has the characters of a number, with underscores
// between digits only.
func underscored(s string, base int) bool {
	digit := func(c byte) bool {
		v := 99
		switch {
		case '0' <= c && c <= '9':
			v = int(c - '0')
		case 'a' <= c && c <= 'f':
			v = int(c-'a') + 10
		case 'A' <= c && c <= 'F':
			v = int(c-'A') + 10
		}
		return v < base
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case digit(c):
		case c == '_':
			if i == 0 || i == len(s)-1 || !digit(s[i-1]) || !digit(s[i+1]) {
				return false
			}
		case base == 10 && (c == '.' || c == 'e' || c == 'E' || (c == '+' || c == '-') && i > 0 && (s[i-1] == 'e' || s[i-1] == 'E')):
		default:
			return false
		}
	}
	return s != "" && digit(s[0])
}

// basic reads "..." or, if long, """...""".
func (p *tomlParser) basic(long bool) (string, error) {
	at := p.pos()
	quotes := 1 + 2*b2i(long)
	p.i += quotes
	if long {
		p.firstLine()
	}
	var b []byte
	for {
		switch c := p.peek(); {
		case p.i >= len(p.data) || c == '\n' && !long:
			return "", errorAt(at, "string without an end")
		case c == '"' && !long:
			p.i++
			return string(b), nil
		case c == '"' && p.ahead(`"""`):
			return string(p.closing(b)), nil
		case c == '\n':
			b = append(b, '\n')
			p.newline()
		case c == '\\':
			if long && p.folded() {
				continue
			}
			var err error
			if b, err = p.tomlEscape(b); err != nil {
				return "", err
			}
		case c == '\r' && p.i+1 < len(p.data) && p.data[p.i+1] == '\n':
			if !long {
				return "", errorAt(at, "string without an end")
			}
			p.i++ // line ends are one newline
		default:
			b = append(b, c)
			p.i++
		}
	}
}

// closing reads the end of a long string: up to two quotes may stand before the
// three that end it.
func (p *tomlParser) closing(b []byte) []byte {
	from, quote := p.i, p.peek()
	for p.i < from+5 && p.peek() == quote {
		p.i++
	}
	return append(b, p.data[from:p.i-3]...)
}

// folded skips a backslash at the end of a line with all white space after it.
func (p *tomlParser) folded() bool {
	i := p.i + 1
	for i < len(p.data) && (p.data[i] == ' ' || p.data[i] == '\t' || p.data[i] == '\r') {
		i++
	}
	if i >= len(p.data) || p.data[i] != '\n' {
		return false
	}
	p.i = i
	for c := p.peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = p.peek() {
		if c == '\n' {
			p.newline()
		} else {
			p.i++
		}
	}
	return true
}

func (p *tomlParser) firstLine() {
	if p.ahead("\r\n") {
		p.i++
	}
	if p.peek() == '\n' {
		p.newline()
	}
}

func (p *tomlParser) tomlEscape(b []byte) ([]byte, error) {
	at := p.pos()
	if p.i+1 >= len(p.data) {
		return nil, errorAt(at, "string without an end")
	}
	c := p.data[p.i+1]
	p.i += 2
	digits := 0
	switch c {
	case '"', '\\':
		return append(b, c), nil
	case 'b':
		return append(b, '\b'), nil
	case 't':
		return append(b, '\t'), nil
	case 'n':
		return append(b, '\n'), nil
	case 'f':
		return append(b, '\f'), nil
	case 'r':
		return append(b, '\r'), nil
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return nil, errorAt(at, "unknown escape")
	}
	if len(p.data)-p.i < digits {
		return nil, errorAt(at, "bad unicode escape")
	}
	v, err := strconv.ParseUint(string(p.data[p.i:p.i+digits]), 16, 32)
	if err != nil || !utf8.ValidRune(rune(v)) || v > utf8.MaxRune {
		return nil, errorAt(at, "bad unicode escape")
	}
	p.i += digits
	return utf8.AppendRune(b, rune(v)), nil
}

// literal reads '...' or, if long, three quotes on each side.
func (p *tomlParser) literal(long bool) (string, error) {
	at := p.pos()
	p.i += 1 + 2*b2i(long)
	if long {
		p.firstLine()
	}
	var b []byte
	for {
		switch c := p.peek(); {
		case p.i >= len(p.data) || (c == '\n' || c == '\r') && !long:
			return "", errorAt(at, "string without an end")
		case c == '\'' && !long:
			p.i++
			return string(b), nil
		case c == '\'' && p.ahead(`'''`):
			return string(p.closing(b)), nil
		case c == '\n':
			b = append(b, '\n')
			p.newline()
		case c == '\r':
			p.i++
		default:
			b = append(b, c)
			p.i++
		}
	}
}
