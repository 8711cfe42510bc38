package policy

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// node is a parsed value with its place: what the JSON, TOML and YAML readers
// have in common, so that all forms mean the same.
type node struct {
	pos    Pos
	kind   kind
	text   string // of strings; digits of numbers
	number int64
	truth  bool
	items  []node
	keys   []field
	parts  []part // of a string that does not stand in one piece where pos is
}

// part says where the text of a string from a byte on stands.
type part struct {
	from int
	pos  Pos
}

// at gives the place of a byte of a string.
func (n *node) at(i int) Pos {
	p := part{0, n.pos}
	if after := sort.Search(len(n.parts), func(k int) bool { return n.parts[k].from > i }); after > 0 {
		p = n.parts[after-1]
	}
	p.pos.Column += i - p.from
	return p.pos
}

type field struct {
	name string
	pos  Pos
	node node
}

type kind uint8

const (
	nullNode kind = iota
	boolNode
	intNode
	floatNode
	stringNode
	listNode
	mapNode
)

func (k kind) String() string {
	return [...]string{"null", "a truth value", "a whole number", "a fraction", "a string", "a list", "a table"}[k]
}

func (n *node) get(name string) *node {
	for i := range n.keys {
		if n.keys[i].name == name {
			return &n.keys[i].node
		}
	}
	return nil
}

// text limits: what no honest manifest needs, refused before anything is built
// on it.
const (
	maxDepth = 64      // levels of nesting
	maxKey   = 1024    // bytes of a YAML key; YAML's own limit for one on its line
	maxFile  = 1 << 20 // bytes in one manifest
	maxKeys  = 2000    // in one JSON table or TOML file, each held against the others
	maxNodes = 4000    // values in one manifest: what they come to is held against each other
)

// nodes counts what a value consists of.
func (n *node) nodes() int {
	all := 1
	for i := range n.items {
		all += n.items[i].nodes()
	}
	for i := range n.keys {
		all += n.keys[i].node.nodes()
	}
	return all
}

// What editors and shells of Windows write.
const (
	byteOrderMark = "starts with a byte order mark; save it as UTF-8 without one"
	inUTF16       = "is in UTF-16; save it as UTF-8"
)

func utf16(data []byte) bool {
	mark := string(data[:min(2, len(data))])
	return mark == "\xff\xfe" || mark == "\xfe\xff"
}

// checkText refuses files that are not plain UTF-8 text, before any parser
// sees them.
func checkText(file string, data []byte) error {
	if len(data) > maxFile {
		return errorAt(Pos{File: file}, "larger than %d bytes", maxFile)
	}
	if strings.HasPrefix(string(data[:min(3, len(data))]), "\ufeff") {
		return errorAt(Pos{file, 1, 1}, byteOrderMark)
	}
	if utf16(data) {
		return errorAt(Pos{file, 1, 1}, inUTF16)
	}
	line, start := 1, 0
	for i := 0; i < len(data); {
		c := data[i]
		switch {
		case c == '\n':
			line, start = line+1, i+1
			i++
		case c == '\t' || c >= 0x20 && c < 0x7f || c == '\r' && i+1 < len(data) && data[i+1] == '\n':
			i++
		case c < 0x80:
			return errorAt(Pos{file, line, i - start + 1}, "control character %#02x", c)
		default:
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n == 1 {
				return errorAt(Pos{file, line, i - start + 1}, "invalid UTF-8")
			}
			if r < 0xa0 {
				return errorAt(Pos{file, line, i - start + 1}, "control character %#02x", r)
			}
			i += n
		}
	}
	return nil
}

// text is a file being read, with the place of the next byte.
type text struct {
	file        string
	data        []byte
	i           int
	line, start int // current line and the index of its first byte
}

func (p *text) pos() Pos { return Pos{p.file, p.line, p.i - p.start + 1} }

func (p *text) fail(format string, args ...any) error {
	return errorAt(p.pos(), format, args...)
}

// peek gives the next byte, 0 at the end (checkText refused NUL).
func (p *text) peek() byte {
	if p.i < len(p.data) {
		return p.data[p.i]
	}
	return 0
}

func (p *text) ahead(s string) bool {
	return len(p.data)-p.i >= len(s) && string(p.data[p.i:p.i+len(s)]) == s
}

// newline steps over a line feed.
func (p *text) newline() {
	p.i++
	p.line, p.start = p.line+1, p.i
}

// unexpected names what stands where something else should.
func (p *text) unexpected(wanted string) error {
	if p.i >= len(p.data) {
		return p.fail("the file ends where %s should be", wanted)
	}
	r, _ := utf8.DecodeRune(p.data[p.i:])
	return p.fail("%q where %s should be", string(r), wanted)
}
