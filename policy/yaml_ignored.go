package policy

import "strings"

// ignore steps over the value of a key that carries no rights, which begins at
// column of this line and may be anything: agents keep hooks and settings of their
// own in headers. Which lines belong to it is told by their indentation. A quote or
// bracket that is still open at the end of them others read on from, over keys that
// count: so quotes and brackets are followed, as far as it is certain what is one,
// and else the header is refused.
func (p *yamlParser) ignore(column int) error {
	end := p.i
	items := strings.TrimSpace(p.lines[p.i].text[column:]) == "" || p.lines[p.i].text[column] == '#'
	for ; end < len(p.lines); end++ {
		l := &p.lines[end]
		rest := strings.TrimRight(l.text[l.indent:], " ")
		if strings.ContainsAny(l.text, "\u2028\u2029") {
			p.i = end
			return p.fail(l.indent, "a line break that is none to others")
		}
		if end > p.i && l.indent == 0 && rest != "" && strings.IndexByte("#]}", rest[0]) < 0 && !(items && isItem(rest)) {
			break
		}
	}
	v := ignored{p: p, end: end, column: column, wants: true}
	for p.i < end {
		if err := v.token(); err != nil {
			return err
		}
	}
	return p.skip()
}

// ignored is a place in a value that is stepped over.
type ignored struct {
	p      *yamlParser
	end    int // the line after it
	column int
	parent int  // where the innermost key or "-" stands
	wants  bool // which has no value yet
	keyed  bool // it is a key, of this line
}

func (v *ignored) text() string { return v.p.lines[v.p.i].text }

// next goes to the next line that holds something.
func (v *ignored) next() error {
	for v.p.i++; v.p.i < v.end; v.p.i++ {
		l := &v.p.lines[v.p.i]
		v.column, v.keyed = l.indent, false
		rest := strings.TrimRight(l.text[l.indent:], " ")
		switch {
		case rest == "" || rest[0] == '#':
			continue
		case rest[0] == '\t' || !v.wants && l.indent > v.parent:
			return v.p.fail(l.indent, "unexpected indentation")
		}
		return nil
	}
	return nil
}

// valued goes on after a value, which ends its line.
func (v *ignored) valued() error {
	v.wants = false
	if err := v.p.lineEnd(v.text(), v.column); err != nil {
		return err
	}
	return v.next()
}

// held has a key or "-" at a column, and what follows be its value.
func (v *ignored) held(at, after int, key bool) error {
	if v.keyed {
		return v.p.fail(at, "two keys on one line")
	}
	v.parent, v.column, v.wants, v.keyed = at, after, true, key
	return nil
}

// colon says whether s goes on with the colon behind a key.
func colon(s string) bool { return s == ":" || strings.HasPrefix(s, ": ") }

// token reads what begins here.
func (v *ignored) token() error {
	s := v.text()
	for v.column < len(s) && s[v.column] == ' ' {
		v.column++
	}
	at := v.column
	if at == len(s) || s[at] == '#' {
		return v.next()
	}
	if strings.ContainsRune(s, '\t') {
		return v.p.fail(at, "a tab where spaces should be")
	}
	rest, fresh := s[at:], at == v.p.lines[v.p.i].indent
	switch {
	case isItem(rest), rest == "?", strings.HasPrefix(rest, "? "), fresh && colon(rest):
		return v.held(at, at+1, false)
	case !v.wants && !fresh:
		return v.p.fail(at, "text after the value")
	}
	switch rest[0] {
	case '&', '!':
		if v.column += strings.IndexByte(rest+" ", ' '); !v.wants || strings.ContainsAny(rest[:v.column-at], "[]{},\"'") {
			return v.p.fail(at, "a tag or anchor that is not read here")
		}
		return nil
	case '"', '\'':
		line := v.p.i
		if err := v.quoted(); err != nil {
			return err
		}
		if s := v.text()[v.column:]; v.p.i == line && colon(strings.TrimLeft(s, " ")) {
			return v.held(at, v.column+strings.IndexByte(s, ':')+1, true)
		}
		return v.only(line, at)
	case '[', '{':
		line := v.p.i
		if err := v.flow(); err != nil {
			return err
		}
		return v.only(line, at)
	case '|', '>':
		return v.block(at)
	case ']', '}', ',', '%', '@', '`':
		return v.p.fail(at, "%q cannot begin a value", rest[0])
	}
	return v.plain(at)
}

// only ends a value that began at a column, if there was one to be.
func (v *ignored) only(line, at int) error {
	if !v.wants || at == v.p.lines[line].indent && at <= v.parent {
		return v.p.fail(at, "not a key with a colon and a space")
	}
	return v.valued()
}

// plain reads a scalar without quotes, with its further lines, or a key.
func (v *ignored) plain(at int) error {
	s, line := v.text(), v.p.i
	for i := at; i < len(s); i++ {
		if colon(s[i:]) {
			return v.held(at, i+1, true)
		}
		if s[i] == '#' && s[i-1] == ' ' {
			v.column = i - 1
			return v.only(line, at)
		}
	}
	for ; v.p.i+1 < v.end; v.p.i++ {
		l := &v.p.lines[v.p.i+1]
		rest := strings.TrimRight(l.text[l.indent:], " ")
		if rest == "" {
			continue
		}
		if l.indent <= v.parent || rest[0] == '#' {
			break
		}
		if strings.ContainsRune(rest, '\t') || strings.Contains(rest, ": ") || strings.HasSuffix(rest, ":") || strings.Contains(rest, " #") {
			v.p.i++
			return v.p.fail(l.indent, "unexpected indentation")
		}
	}
	v.column = len(v.text())
	return v.only(line, at)
}

// quoted reads up to behind the quote that ends what one begins here.
func (v *ignored) quoted() error {
	at, q := v.p.pos(v.column), v.text()[v.column]
	v.column++
	for {
		for s := v.text(); v.column < len(s); v.column++ {
			switch c := s[v.column]; {
			case c == '\\' && q == '"':
				v.column++
			case c == q && q == '\'' && strings.HasPrefix(s[v.column+1:], "'"):
				v.column++
			case c == q:
				v.column++
				return nil
			}
		}
		if v.p.i+1 == v.end {
			return errorAt(at, "string without its end")
		}
		v.p.i++
		v.column = 0
	}
}

// flow reads up to behind the bracket that ends what one begins here.
func (v *ignored) flow() error {
	at := v.p.pos(v.column)
	var open []byte
	plain := false // inside a scalar without quotes, in which a quote is none
	for {
		for s := v.text(); v.column < len(s); v.column++ {
			switch c := s[v.column]; c {
			case ' ':
			case '[', '{':
				if plain {
					return v.p.fail(v.column, "%q in a value needs quotes", c)
				}
				if open = append(open, c+2); len(open) > maxDepth { // "[" and "]" are two apart, "{" and "}" too
					return v.p.fail(v.column, "nested deeper than %d levels", maxDepth)
				}
			case ']', '}':
				if plain = false; open[len(open)-1] != c {
					return v.p.fail(v.column, "%q where %q should be", c, open[len(open)-1])
				}
				if open = open[:len(open)-1]; len(open) == 0 {
					v.column++
					return nil
				}
			case ',':
				plain = false
			case ':':
				if !plain || v.column+1 == len(s) || s[v.column+1] == ' ' {
					plain = false
				} else if strings.IndexByte(",[]{}", s[v.column+1]) >= 0 {
					return v.p.fail(v.column, "%q in a value needs quotes", c)
				}
			case '#':
				if plain || v.column > 0 && s[v.column-1] != ' ' {
					return v.p.fail(v.column, "%q in a value needs quotes", c)
				}
				v.column = len(s)
			case '\t':
				return v.p.fail(v.column, "%q in a value needs quotes", c)
			case '"', '\'':
				if plain {
					continue
				}
				if err := v.quoted(); err != nil {
					return err
				}
				s = v.text()
				v.column--
			case '&', '*', '!', '?':
				if !plain {
					return v.p.fail(v.column, "%q cannot begin a value", c)
				}
			default:
				plain = true
			}
		}
		if v.p.i+1 == v.end {
			return errorAt(at, "%q without its end", v.p.lines[at.Line-v.p.lines[0].number].text[at.Column-1])
		}
		v.p.i++
		v.column = 0
	}
}

// block steps over the lines of "|" and ">".
func (v *ignored) block(at int) error {
	if !v.wants || at == v.p.lines[v.p.i].indent && at <= v.parent {
		return v.p.fail(v.column, "unexpected text")
	}
	s := v.text()
	v.column++
	if v.column < len(s) && (s[v.column] == '-' || s[v.column] == '+') {
		v.column++
	}
	if err := v.p.lineEnd(s, v.column); err != nil {
		return err
	}
	body := 0
	for v.p.i+1 < v.end {
		l := &v.p.lines[v.p.i+1]
		if rest := strings.TrimLeft(l.text, " "); rest != "" {
			if l.indent <= v.parent {
				break
			}
			if body == 0 {
				body = l.indent
			}
			if l.indent < body || rest[0] == '\t' {
				v.p.i++
				return v.p.fail(l.indent, "unexpected indentation")
			}
		} else if body == 0 && l.indent > v.parent+1 {
			v.p.i++
			return v.p.fail(l.indent, "a block that starts with spaces")
		}
		v.p.i++
	}
	v.wants = false
	return v.next()
}
