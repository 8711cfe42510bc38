package scan

import "strings"

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString
	tokTemplate // with parts: literal text and expressions in turn
	tokOp
	tokLine   // the end of a logical line (Python)
	tokIndent // Python
	tokDedent // Python
)

type token struct {
	kind      tokenKind
	text      string
	parts     []templatePart
	line, col int
	after     bool // follows a line break
}

type templatePart struct {
	text string // literal, if expr is ""
	expr string
	line int
	col  int
}

// lexer makes tokens of Python or JavaScript; it never fails: what it does not
// know is an operator of one byte.
type lexer struct {
	src    string
	i      int
	line   int
	start  int // of the line
	python bool
	depth  int
	indent []int
	fresh  bool // at the start of a logical line
	out    []token
	broke  bool
}

func tokens(src string, python bool, line, col int) []token {
	l := &lexer{src: src, line: line, start: 1 - col, python: python, indent: []int{0}, fresh: true}
	for l.i < len(l.src) {
		l.next()
	}
	if python {
		l.emit(tokLine, "")
		for range l.indent[1:] {
			l.emit(tokDedent, "")
		}
	}
	l.emit(tokEnd, "")
	return l.out
}

func (l *lexer) emit(kind tokenKind, text string) {
	l.out = append(l.out, token{kind: kind, text: text, line: l.line, col: l.i - l.start + 1, after: l.broke})
	l.broke = false
}

func isLetter(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (l *lexer) next() {
	c := l.src[l.i]
	rest := l.src[l.i:]
	if l.python && l.fresh && l.depth == 0 {
		l.indentation()
		if l.i >= len(l.src) {
			return
		}
		c, rest = l.src[l.i], l.src[l.i:]
	}
	switch {
	case c == '\n':
		if l.python && l.depth == 0 {
			l.emit(tokLine, "")
			l.fresh = true
		}
		l.i++
		l.line++
		l.start = l.i
		l.broke = true
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		l.i++
	case c == '\\' && l.python && len(rest) > 1 && rest[1] == '\n':
		l.i += 2
		l.line++
		l.start = l.i
	case c == '#' && (l.python || l.i == 0 && strings.HasPrefix(rest, "#!")):
		l.skipLine()
	case !l.python && strings.HasPrefix(rest, "//"):
		l.skipLine()
	case !l.python && strings.HasPrefix(rest, "/*"):
		l.i += 2
		j := strings.Index(l.src[l.i:], "*/")
		if j < 0 {
			j = len(l.src) - l.i - 2
		}
		l.advance(max(0, min(j+2, len(l.src)-l.i)))
	case isLetter(c):
		j := 0
		for j < len(rest) && (isLetter(rest[j]) || isDigit(rest[j])) {
			j++
		}
		word := rest[:j]
		if l.python && j <= 3 && j < len(rest) && (rest[j] == '"' || rest[j] == '\'') && strings.Trim(strings.ToLower(word), "rbfut") == "" {
			l.pythonString(strings.ToLower(word), j)
			return
		}
		l.emit(tokName, word)
		l.i += j
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		j := 0
		for j < len(rest) && (isLetter(rest[j]) || isDigit(rest[j]) || rest[j] == '.') {
			j++
		}
		l.emit(tokNumber, rest[:j])
		l.i += j
	case c == '"' || c == '\'':
		if l.python {
			l.pythonString("", 0)
		} else {
			l.quoted(c)
		}
	case c == '`' && !l.python:
		l.template()
	case c == '/' && !l.python && l.regexHere():
		l.regex()
	default:
		op := rest[:1]
		for _, long := range [...]string{"===", "!==", "**=", "...", ">>>", "<<=", ">>=", "&&=", "||=", "??=", "//=", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "**", "//", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<", ">>", "->", ":=", "@="} {
			if strings.HasPrefix(rest, long) && !(strings.HasPrefix(long, "//") && !l.python) {
				op = long
				break
			}
		}
		if op == "?." && len(rest) > 2 && isDigit(rest[2]) {
			op = "?"
		}
		switch op {
		case "(", "[", "{":
			l.depth++
		case ")", "]", "}":
			if l.depth > 0 {
				l.depth--
			}
		}
		l.emit(tokOp, op)
		l.i += len(op)
	}
}

func (l *lexer) advance(n int) {
	for k := 0; k < n; k++ {
		if l.src[l.i] == '\n' {
			l.line++
			l.start = l.i + 1
			l.broke = true
		}
		l.i++
	}
}

func (l *lexer) skipLine() {
	j := strings.IndexByte(l.src[l.i:], '\n')
	if j < 0 {
		j = len(l.src) - l.i
	}
	l.i += j
}

// indentation emits indents and dedents at the start of a logical line.
func (l *lexer) indentation() {
	for {
		j, width := l.i, 0
		for j < len(l.src) && (l.src[j] == ' ' || l.src[j] == '\t' || l.src[j] == '\f') {
			if l.src[j] == '\t' {
				width += 8 - width%8
			} else {
				width++
			}
			j++
		}
		if j < len(l.src) && (l.src[j] == '\n' || l.src[j] == '\r' || l.src[j] == '#') {
			k := strings.IndexByte(l.src[j:], '\n')
			if k < 0 {
				l.i = len(l.src)
				return
			}
			l.i = j + k + 1
			l.line++
			l.start = l.i
			continue
		}
		l.i = j
		if j >= len(l.src) {
			return
		}
		l.fresh = false
		if top := l.indent[len(l.indent)-1]; width > top {
			l.indent = append(l.indent, width)
			l.emit(tokIndent, "")
		}
		for len(l.indent) > 1 && width < l.indent[len(l.indent)-1] {
			l.indent = l.indent[:len(l.indent)-1]
			l.emit(tokDedent, "")
		}
		return
	}
}

func (l *lexer) quoted(q byte) {
	j := l.i + 1
	for j < len(l.src) && l.src[j] != q && l.src[j] != '\n' {
		if l.src[j] == '\\' {
			j++
		}
		j++
	}
	j = min(j, len(l.src))
	l.emit(tokString, jsEscapes(l.src[l.i+1:j]))
	l.advance(min(j+1, len(l.src)) - l.i)
}

// jsEscapes decodes \u{...} and line joins, then what C escapes share.
func jsEscapes(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	s = strings.ReplaceAll(s, "\\\n", "")
	for {
		i := strings.Index(s, `\u{`)
		if i < 0 {
			break
		}
		j := strings.IndexByte(s[i:], '}')
		if j < 0 {
			break
		}
		s = s[:i] + string(rune(number(s[i+3:i+j], 16))) + s[i+j+1:]
	}
	s = strings.NewReplacer(`\/`, "/", "\\`", "`", `\$`, "$", `\.`, `\\.`).Replace(s)
	return ansi(s)
}

func (l *lexer) pythonString(prefix string, skip int) {
	q := l.src[l.i+skip : l.i+skip+1]
	if strings.HasPrefix(l.src[l.i+skip:], q+q+q) {
		q = q + q + q
	}
	begin := l.i + skip + len(q)
	j := begin
	for j < len(l.src) && !strings.HasPrefix(l.src[j:], q) {
		if len(q) == 1 && l.src[j] == '\n' {
			break
		}
		if l.src[j] == '\\' {
			j++
		}
		j++
	}
	j = min(j, len(l.src))
	begin = min(begin, j)
	body := l.src[begin:j]
	raw := strings.Contains(prefix, "r")
	if strings.Contains(prefix, "f") || strings.Contains(prefix, "t") {
		t := token{kind: tokTemplate, line: l.line, col: l.i - l.start + 1, after: l.broke}
		t.parts = l.interpolations(body, "{", raw)
		l.out = append(l.out, t)
		l.broke = false
	} else {
		if !raw {
			body = ansi(strings.ReplaceAll(body, "\\\n", ""))
		}
		l.emit(tokString, body)
	}
	l.advance(min(j+len(q), len(l.src)) - l.i)
}

// interpolations splits the body of an f-string or a template.
func (l *lexer) interpolations(body, open string, raw bool) []templatePart {
	var parts []templatePart
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			t := text.String()
			if !raw {
				t = jsEscapes(t)
			}
			parts = append(parts, templatePart{text: t})
			text.Reset()
		}
	}
	for i := 0; i < len(body); {
		if open == "{" && (strings.HasPrefix(body[i:], "{{") || strings.HasPrefix(body[i:], "}}")) {
			text.WriteByte(body[i])
			i += 2
			continue
		}
		if body[i] == '\\' && i+1 < len(body) {
			text.WriteString(body[i : i+2])
			i += 2
			continue
		}
		if !strings.HasPrefix(body[i:], open) {
			text.WriteByte(body[i])
			i++
			continue
		}
		flush()
		begin := i + len(open)
		depth, j := 1, begin
		for j < len(body) && depth > 0 {
			switch body[j] {
			case '{', '(', '[':
				depth++
			case '}', ')', ']':
				depth--
			case '"', '\'':
				if k := strings.IndexByte(body[j+1:], body[j]); k >= 0 {
					j += k + 1
				}
			}
			j++
		}
		expr := body[begin:max(begin, min(j, len(body))-1)]
		if open == "{" {
			expr = trimFormat(expr)
		}
		if strings.TrimSpace(expr) == "" {
			expr = "None"
		}
		parts = append(parts, templatePart{expr: expr, line: l.line, col: l.i - l.start + 1})
		i = j
	}
	flush()
	return parts
}

// trimFormat cuts "!r", ":>10" and "=" off an f-string's expression.
func trimFormat(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '\'':
			if k := strings.IndexByte(s[i+1:], s[i]); k >= 0 {
				i += k + 1
			}
		case ':':
			if depth == 0 {
				return s[:i]
			}
		case '!':
			if depth == 0 && i+1 < len(s) && s[i+1] != '=' {
				return s[:i]
			}
		}
	}
	return strings.TrimSuffix(s, "=")
}

func (l *lexer) template() {
	j, depth := l.i+1, 0
	for j < len(l.src) {
		switch {
		case l.src[j] == '\\':
			j++
		case depth == 0 && l.src[j] == '`':
			goto end
		case strings.HasPrefix(l.src[j:], "${"):
			depth++
			j++
		case depth > 0 && l.src[j] == '{':
			depth++
		case depth > 0 && l.src[j] == '}':
			depth--
		}
		j++
	}
end:
	j = min(j, len(l.src))
	t := token{kind: tokTemplate, line: l.line, col: l.i - l.start + 1, after: l.broke}
	t.parts = l.interpolations(l.src[l.i+1:max(l.i+1, j)], "${", false)
	l.out = append(l.out, t)
	l.broke = false
	l.advance(min(j+1, len(l.src)) - l.i)
}

// regexHere says whether a slash begins a regular expression, by what is before.
func (l *lexer) regexHere() bool {
	if len(l.out) == 0 {
		return true
	}
	t := l.out[len(l.out)-1]
	switch t.kind {
	case tokName:
		switch t.text {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "await", "yield":
			return true
		}
		return false
	case tokOp:
		return t.text != ")" && t.text != "]" && t.text != "}"
	}
	return false
}

func (l *lexer) regex() {
	j, class := l.i+1, false
	for j < len(l.src) && l.src[j] != '\n' && (l.src[j] != '/' || class) {
		switch l.src[j] {
		case '\\':
			j++
		case '[':
			class = true
		case ']':
			class = false
		}
		j++
	}
	for j++; j < len(l.src) && isLetter(l.src[j]); j++ {
	}
	j = min(j, len(l.src))
	l.emit(tokNumber, "/re/")
	l.advance(j - l.i)
}
