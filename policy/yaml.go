package policy

import (
	"slices"
	"strconv"
	"strings"
)

// parseYAML reads the part of YAML that headers and ceilings are written in:
// block mappings and sequences, flow ones, plain and quoted scalars on one line,
// literal and folded blocks, comments. Everything else is refused:
// anchors, aliases, tags, merge keys, several documents, duplicate keys, tabs.
// What it accepts the usual library reads alike (a fuzz test holds them
// together), and it costs a launch nothing, which importing that library does.
//
// line is the number of the first line of data in the file. With meant, values of
// other keys at the top are skipped, whatever they are: see [yamlParser.ignore].
func parseYAML(file string, data []byte, line int, meant ...string) (node, error) {
	p := yamlParser{file: file, meant: meant}
	for i, l := range strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") {
		p.lines = append(p.lines, yamlLine{l, len(l) - len(strings.TrimLeft(l, " ")), line + i})
	}
	if err := p.skip(); err != nil {
		return node{}, err
	}
	n := node{pos: Pos{file, line, 1}, kind: mapNode}
	if p.i == len(p.lines) {
		return n, nil
	}
	n, err := p.block(0, 0)
	if err == nil && p.i < len(p.lines) {
		err = p.fail(p.lines[p.i].indent, "unexpected indentation")
	}
	return n, err
}

type yamlParser struct {
	file  string
	meant []string // keys at the top whose values are read; nil for all
	lines []yamlLine
	i     int
	// holds is the indentation of the key whose value a flow collection is, which goes
	// on over lines that stand further to the right; -1 if it has to end on its line.
	holds int
}

type yamlLine struct {
	text   string
	indent int
	number int
}

func (p *yamlParser) pos(column int) Pos {
	return Pos{p.file, p.lines[min(p.i, len(p.lines)-1)].number, column + 1}
}

func (p *yamlParser) fail(column int, format string, args ...any) error {
	return errorAt(p.pos(column), format, args...)
}

// skip steps over blank lines and comments.
func (p *yamlParser) skip() error {
	for ; p.i < len(p.lines); p.i++ {
		l := &p.lines[p.i]
		rest := l.text[l.indent:]
		if strings.HasPrefix(rest, "\t") {
			return p.fail(l.indent, "a tab where spaces should be")
		}
		if rest != "" && rest[0] != '#' {
			if l.indent == 0 && (strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "...") || rest[0] == '%') {
				return p.fail(0, "a second document")
			}
			return nil
		}
	}
	return nil
}

// block reads a mapping or sequence whose lines have exactly this indentation.
func (p *yamlParser) block(indent, depth int) (node, error) {
	l := &p.lines[p.i]
	n := node{pos: p.pos(l.indent), kind: mapNode}
	if depth > maxDepth {
		return n, p.fail(l.indent, "nested deeper than %d levels", maxDepth)
	}
	if l.indent != indent {
		return n, p.fail(l.indent, "unexpected indentation")
	}
	if isItem(l.text[indent:]) {
		n.kind = listNode
	}
	for p.i < len(p.lines) && p.lines[p.i].indent == indent {
		l := &p.lines[p.i]
		if isItem(l.text[indent:]) != (n.kind == listNode) {
			if n.kind == listNode {
				return n, nil // a sequence may be as far left as the key it belongs to
			}
			return n, p.fail(indent, "a list item among keys")
		}
		if n.kind == listNode {
			item, err := p.item(indent, depth)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		} else if err := p.entry(&n, indent, depth); err != nil {
			return n, err
		}
		if err := p.skip(); err != nil {
			return n, err
		}
	}
	if p.i < len(p.lines) && p.lines[p.i].indent > indent {
		return n, p.fail(p.lines[p.i].indent, "unexpected indentation")
	}
	return n, nil
}

func isItem(s string) bool { return s == "-" || strings.HasPrefix(s, "- ") }

// item reads "- scalar" or "- [flow]". Mappings and sequences inside items
// have no use here.
func (p *yamlParser) item(indent, depth int) (node, error) {
	l := &p.lines[p.i]
	column := indent + 1
	for column < len(l.text) && l.text[column] == ' ' {
		column++
	}
	rest := l.text[column:]
	if rest == "" || rest[0] == '#' || isItem(rest) || rest[0] == '|' || rest[0] == '>' {
		return node{}, p.fail(indent, "a list item that is not one line")
	}
	p.holds = -1
	n, end, err := p.inline(l.text, column, depth, false)
	if err != nil {
		return n, err
	}
	if err := p.lineEnd(l.text, end); err != nil {
		return n, err
	}
	p.i++
	if err := p.skip(); err != nil {
		return n, err
	}
	if p.i < len(p.lines) && p.lines[p.i].indent > indent {
		return n, p.fail(p.lines[p.i].indent, "a list item that is not one line")
	}
	return n, nil
}

// entry reads "key: value" with whatever lines belong to the value.
func (p *yamlParser) entry(n *node, indent, depth int) error {
	l := &p.lines[p.i]
	at := p.pos(indent)
	key, column, err := p.key(l.text, indent)
	if err != nil {
		return err
	}
	for i := range n.keys {
		if n.keys[i].name == key {
			return errorAt(at, "key %q is there twice", key)
		}
	}
	for column < len(l.text) && l.text[column] == ' ' {
		column++
	}
	value := node{pos: p.pos(column)}
	rest := l.text[column:]
	switch {
	case depth == 0 && p.meant != nil && !slices.Contains(p.meant, key):
		err = p.ignore(column)
	case rest == "" || rest[0] == '#' && l.text[column-1] == ' ':
		p.i++
		if err := p.skip(); err != nil {
			return err
		}
		if p.i == len(p.lines) {
			break
		}
		next := &p.lines[p.i]
		switch {
		case next.indent > indent:
			value, err = p.block(next.indent, depth+1)
		case next.indent == indent && isItem(next.text[indent:]):
			value, err = p.block(indent, depth+1)
		}
	case rest[0] == '|' || rest[0] == '>':
		value, err = p.literal(indent, column)
	default:
		var end int
		p.holds = indent
		value, end, err = p.inline(l.text, column, depth+1, false)
		if err != nil {
			return err
		}
		l = &p.lines[p.i]
		if err := p.lineEnd(l.text, end); err != nil {
			return err
		}
		comment := strings.TrimRight(l.text[end:], " ") != ""
		p.i++
		err = p.continued(&value, indent, rest, comment)
	}
	if err != nil {
		return err
	}
	n.keys = append(n.keys, field{key, at, value})
	return nil
}

// continued joins the further lines of a plain scalar to it.
func (p *yamlParser) continued(value *node, indent int, first string, comment bool) error {
	plain := first[0] != '"' && first[0] != '\'' && first[0] != '[' && first[0] != '{'
	blank := 0
	for ; p.i < len(p.lines); p.i++ {
		l := &p.lines[p.i]
		rest := strings.TrimRight(l.text[l.indent:], " ")
		if rest == "" {
			blank++
			continue
		}
		if l.indent <= indent || rest[0] == '#' {
			break
		}
		if !plain || comment || strings.ContainsRune(rest, '\t') || strings.Contains(rest, ": ") || strings.HasSuffix(rest, ":") || strings.Contains(rest, " #") {
			return p.fail(l.indent, "unexpected indentation")
		}
		value.kind = stringNode
		value.text += strings.Repeat("\n", blank)
		if blank == 0 {
			value.text += " "
		}
		value.parts = append(value.parts, part{len(value.text), p.pos(l.indent)})
		value.text += rest
		blank = 0
	}
	if p.i < len(p.lines) && p.lines[p.i].indent > indent && blank >= 0 {
		// A comment inside a plain scalar ends it; what follows must be a key.
		return p.skip()
	}
	return nil
}

// key reads a key up to and including its colon.
func (p *yamlParser) key(s string, column int) (string, int, error) {
	var key string
	end := column
	switch s[column] {
	case '"', '\'':
		n, e, err := p.quoted(s, column)
		if err != nil {
			return "", 0, err
		}
		key, end = n.text, e
	default:
		for end < len(s) && (s[end] == '_' || s[end] == '-' || s[end] == '.' || s[end] == '$' ||
			'a' <= s[end] && s[end] <= 'z' || 'A' <= s[end] && s[end] <= 'Z' || '0' <= s[end] && s[end] <= '9') {
			end++
		}
		key = s[column:end]
	}
	if key == "" || end >= len(s) || s[end] != ':' || end+1 < len(s) && s[end+1] != ' ' {
		return "", 0, p.fail(column, "not a key with a colon and a space")
	}
	if end-column > maxKey {
		return "", 0, p.fail(column, "key longer than %d bytes", maxKey)
	}
	return key, end + 1, nil
}

// lineEnd says that nothing but a comment follows.
func (p *yamlParser) lineEnd(s string, column int) error {
	rest := s[column:]
	trimmed := strings.TrimLeft(rest, " ")
	if trimmed == "" || trimmed[0] == '#' && len(trimmed) < len(rest) {
		return nil
	}
	return p.fail(len(s)-len(trimmed), "text after the value")
}

// inline reads a scalar of this line, or a flow collection that starts on it, and
// gives the column after it, on the line where it ends.
func (p *yamlParser) inline(s string, column, depth int, flow bool) (node, int, error) {
	n := node{pos: p.pos(column)}
	if depth > maxDepth {
		return n, 0, p.fail(column, "nested deeper than %d levels", maxDepth)
	}
	switch c := s[column]; c {
	case '"', '\'':
		return p.quoted(s, column)
	case '[', '{':
		return p.flow(s, column, depth, !flow)
	case '&', '*', '!':
		return n, 0, p.fail(column, "anchors, aliases and tags are not read here")
	case '%', '@', '`', '|', '>', '}', ']', ',', '#', '?', '\t':
		return n, 0, p.fail(column, "%q cannot begin a value", c)
	case '-', ':':
		if column+1 == len(s) || s[column+1] == ' ' || flow && (c == ':' || strings.IndexByte(",[]{}", s[column+1]) >= 0) {
			return n, 0, p.fail(column, "%q cannot begin a value", c)
		}
	}
	end := column
	for end < len(s) {
		c := s[end]
		next := byte(' ')
		if end+1 < len(s) {
			next = s[end+1]
		}
		if c == '#' && s[end-1] == ' ' || flow && strings.IndexByte(",[]{}", c) >= 0 {
			break
		}
		if c == ':' && (next == ' ' || flow && strings.IndexByte(",[]{}", next) >= 0) || c == '?' && flow || c == '\t' {
			return n, 0, p.fail(end, "%q in a value needs quotes", c)
		}
		end++
	}
	n.text = strings.TrimRight(s[column:end], " ")
	resolve(&n)
	return n, column + len(n.text), nil
}

// resolve gives a plain scalar its type, by the core schema of YAML 1.2. What
// versions of YAML read differently is refused where it matters: a string that
// is wanted is only a string.
func resolve(n *node) {
	switch n.text {
	case "~", "null", "Null", "NULL":
		n.kind = nullNode
	case "true", "True", "TRUE", "false", "False", "FALSE":
		n.kind, n.truth = boolNode, n.text[0] == 't' || n.text[0] == 'T'
	default:
		n.kind = stringNode
		if c := n.text[0]; c == '-' || c == '+' || c == '.' || '0' <= c && c <= '9' {
			if v, err := strconv.ParseInt(n.text, 10, 64); err == nil && strconv.FormatInt(v, 10) == n.text {
				n.kind, n.number = intNode, v
			} else if _, err := strconv.ParseFloat(n.text, 64); err == nil {
				n.kind = floatNode
			}
		}
	}
}

// quoted reads a quoted scalar and gives the column after it.
func (p *yamlParser) quoted(s string, column int) (node, int, error) {
	n := node{pos: p.pos(column), kind: stringNode, parts: []part{{0, p.pos(column + 1)}}}
	q := s[column]
	var b strings.Builder
	for i := column + 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == q && q == '\'' && i+1 < len(s) && s[i+1] == q:
			b.WriteByte(q)
			i++
			n.parts = append(n.parts, part{b.Len(), p.pos(i + 1)})
		case c == q:
			n.text = b.String()
			return n, i + 1, nil
		case c == '\\' && q == '"':
			i++
			if i == len(s) {
				return n, 0, p.fail(column, "string without an end on its line")
			}
			e, ok := map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t'}[s[i]]
			if !ok {
				return n, 0, p.fail(i-1, "an escape that is not read here")
			}
			b.WriteByte(e)
			n.parts = append(n.parts, part{b.Len(), p.pos(i + 1)})
		default:
			b.WriteByte(c)
		}
	}
	return n, 0, p.fail(column, "string without an end on its line")
}

// flow reads [a, b] or {k: v}, with what of it stands on further lines.
func (p *yamlParser) flow(s string, column, depth int, outermost bool) (node, int, error) {
	n := node{pos: p.pos(column), kind: listNode}
	end := byte(']')
	if s[column] == '{' {
		n.kind, end = mapNode, '}'
	}
	i := column + 1
	var err error
	// next goes over spaces, comments and ends of lines to what is next.
	next := func() bool {
		for {
			for i < len(s) && s[i] == ' ' {
				i++
			}
			if i < len(s) && (s[i] != '#' || i > 0 && s[i-1] != ' ') {
				return true
			}
			if p.i+1 == len(p.lines) || p.holds < 0 {
				err = errorAt(n.pos, "%q without its end", end-2) // "[" and "]" are two apart, "{" and "}" too
				return false
			}
			p.i++
			l := &p.lines[p.i]
			s, i = l.text, l.indent
			// What stands no further to the right than the key, some take for another
			// key; not the last bracket, if it stands below the key.
			if i < len(s) && s[i] != '#' && i <= p.holds && !(outermost && i == p.holds && s[i] == end) {
				err = p.fail(i, "unexpected indentation")
				return false
			}
		}
	}
	for next() && s[i] != end {
		var key string
		at := p.pos(i)
		if n.kind == mapNode {
			if key, i, err = p.key(s, i); err != nil {
				return n, 0, err
			}
			for _, f := range n.keys {
				if f.name == key {
					return n, 0, errorAt(at, "key %q is there twice", key)
				}
			}
			if !next() {
				break
			}
			if s[i] == ',' || s[i] == end {
				return n, 0, errorAt(at, "key %q has no value", key)
			}
		}
		v, after, err := p.inline(s, i, depth+1, true)
		if err != nil {
			return n, 0, err
		}
		if n.kind == mapNode {
			n.keys = append(n.keys, field{key, at, v})
		} else {
			n.items = append(n.items, v)
		}
		s, i = p.lines[p.i].text, after
		if !next() {
			break
		}
		if s[i] == ',' {
			i++
		} else if s[i] != end {
			return n, 0, p.fail(i, "%q where \",\" or %q should be", s[i], end)
		}
	}
	return n, i + 1, err
}

// literal reads a "|" or ">" block, which never holds rights: its text is kept
// for display only, lines joined with spaces.
func (p *yamlParser) literal(indent, column int) (node, error) {
	n := node{pos: p.pos(column), kind: stringNode}
	head, _, _ := strings.Cut(p.lines[p.i].text[column+1:], " #")
	if head = strings.TrimRight(head, " "); head != "" && head != "-" && head != "+" {
		return n, p.fail(column, "block indentation is not read here")
	}
	var b strings.Builder
	body := 0
	for p.i++; p.i < len(p.lines); p.i++ {
		l := &p.lines[p.i]
		if strings.TrimLeft(l.text, " ") == "" {
			if body == 0 && l.indent > indent+1 {
				return n, p.fail(l.indent, "a block that starts with spaces")
			}
			continue
		}
		if l.indent <= indent {
			break
		}
		if l.indent < body || body == 0 && l.text[l.indent] == '\t' {
			return n, p.fail(l.indent, "unexpected indentation")
		}
		if body == 0 {
			body = l.indent
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		n.parts = append(n.parts, part{b.Len(), p.pos(l.indent)})
		b.WriteString(strings.TrimSpace(l.text))
	}
	n.text = b.String()
	return n, nil
}
