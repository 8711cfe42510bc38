package scan

import (
	"strconv"
	"strings"
)

// parse reads a whole text.
func parse(src string, python bool) *node {
	p := &parser{t: tokens(src, python, 1, 1), python: python}
	root := &node{kind: nodeOther, line: 1, col: 1}
	p.statements(root, func() bool { return true })
	return root
}

// statements reads them into a node as long as there are more.
func (p *parser) statements(into *node, more func() bool) {
	for p.tok().kind != tokEnd && more() {
		at := p.i
		if s := p.statement(); s != nil {
			into.kids = append(into.kids, s)
		}
		if p.i == at {
			p.i++
		}
	}
}

func (p *parser) statement() *node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		p.i++
		return nil
	}
	if p.python {
		return p.pythonStatement()
	}
	return p.jsStatement()
}

// body reads the statements of a Python block, after its colon.
func (p *parser) body(into *node) *node {
	p.accept(":")
	if p.tok().kind != tokLine { // on the same line
		p.statements(into, func() bool { return p.tok().kind != tokLine })
		return into
	}
	for p.tok().kind == tokLine {
		p.i++
	}
	if p.tok().kind != tokIndent {
		return into
	}
	p.i++
	p.statements(into, func() bool { return p.tok().kind != tokDedent })
	if p.tok().kind == tokDedent {
		p.i++
	}
	return into
}

func (p *parser) toColon() *node {
	n := p.node(nodeOther)
	for !p.is(":") && p.tok().kind != tokLine && p.tok().kind != tokEnd {
		at := p.i
		if p.accept(",") {
			continue
		}
		x := p.expr()
		if p.accept("as") {
			x = nodeAt(x, nodeAssign, p.unary(), x)
		}
		n.kids = append(n.kids, x)
		if p.i == at {
			p.i++
		}
	}
	return n
}

func (p *parser) pythonStatement() *node {
	t := p.tok()
	switch t.kind {
	case tokLine, tokIndent, tokDedent:
		p.i++
		return nil
	case tokOp:
		switch t.text {
		case ";":
			p.i++
			return nil
		case "@":
			p.i++
			return p.expr()
		}
	case tokName:
		switch t.text {
		case "import":
			return p.pythonImport()
		case "from":
			return p.fromImport()
		case "async":
			p.i++
			return nil
		case "def":
			p.i += 2
			f := &node{kind: nodeFunc, text: p.peek(-1).text, line: t.line, col: t.col}
			if p.is("[") {
				p.index(none)
			}
			p.params(f)
			if p.accept("->") {
				p.expr()
			}
			return p.body(f)
		case "class":
			p.i += 2
			n := p.node(nodeOther)
			if p.is("(") {
				call := p.node(nodeCall, none)
				call.keys = []string{""}
				p.arguments(call)
				base := p.node(nodeOther)
				base.text, base.kids = "bases", call.kids[1:]
				n.kids = append(n.kids, base)
			}
			return p.body(n)
		case "if", "elif", "while", "with":
			p.i++
			n := p.toColon()
			block := p.node(nodeBlock)
			if t.text == "with" {
				block.kind = nodeOther
			}
			n.kids = append(n.kids, p.body(block))
			return n
		case "else", "try", "finally":
			if p.peek(1).text == ":" {
				p.i++
				return p.body(p.node(nodeBlock))
			}
		case "except":
			p.i++
			n := p.toColon()
			n.kids = append(n.kids, p.body(p.node(nodeBlock)))
			return n
		case "for":
			p.i++
			f := &node{kind: nodeFor, line: t.line, col: t.col}
			p.noIn = true
			target := p.targets()
			p.noIn = false
			p.accept("in")
			iter := p.expr()
			if p.is(",") {
				iter = nodeAt(iter, nodeList, iter)
				for p.accept(",") {
					iter.kids = append(iter.kids, p.expr())
				}
			}
			f.kids = []*node{target, iter}
			return p.body(f)
		case "return", "raise", "assert", "del":
			p.i++
			if k := p.tok().kind; k == tokLine || k == tokEnd || p.is(";") {
				return nil
			}
			n := p.node(nodeOther)
			if t.text == "del" {
				n.text = "del"
			}
			n.kids = []*node{p.expr()}
			for p.accept(",") || p.accept("from") {
				n.kids = append(n.kids, p.expr())
			}
			return n
		case "pass", "break", "continue":
			p.i++
			return nil
		case "global", "nonlocal":
			for p.tok().kind != tokLine && p.tok().kind != tokEnd {
				p.i++
			}
			return nil
		case "match":
			if n := p.peek(1); n.kind == tokName || n.kind == tokString {
				p.i++
				n := p.toColon()
				n.kids = append(n.kids, p.body(p.node(nodeBlock)))
				return n
			}
		case "case":
			if n := p.peek(1); n.kind != tokOp || n.text == "(" || n.text == "[" || n.text == "{" {
				p.i++
				n := p.node(nodeBlock)
				for !p.is(":") && !p.is("if") && p.tok().kind != tokLine && p.tok().kind != tokEnd {
					p.i++ // the pattern calls nothing
				}
				if p.accept("if") {
					n.kids = append(n.kids, p.toColon())
				}
				return p.body(n)
			}
		}
	}
	return p.assignment()
}

// assignment reads an expression statement with its assignments.
func (p *parser) assignment() *node {
	x := p.listOf()
	if p.python && p.is(":") { // an annotation, which is evaluated too
		p.i++
		annotation := p.expr()
		if p.accept("=") {
			x = nodeAt(x, nodeAssign, x, p.listOf())
		}
		return nodeAt(x, nodeOther, annotation, x)
	}
	var targets []*node
	for {
		switch {
		case p.is("="):
			p.i++
			targets = append(targets, x)
			x = p.listOf()
			continue
		case p.is("+="):
			p.i++
			y := p.listOf()
			return nodeAt(x, nodeAssign, x, nodeAt(x, nodeBinary, x, y).named("+"))
		case p.is("-="), p.is("*="), p.is("/="), p.is("%="), p.is("|="), p.is("&="), p.is("//="), p.is("**="), p.is("^="), p.is("<<="), p.is(">>="), p.is("@="):
			p.i++
			return nodeAt(x, nodeOther, x, p.listOf())
		}
		break
	}
	for i := len(targets) - 1; i >= 0; i-- {
		x = nodeAt(targets[i], nodeAssign, targets[i], x)
	}
	return x
}

// listOf reads "a, b" as a list.
func (p *parser) listOf() *node {
	x := p.expr()
	if !p.python || !p.is(",") {
		return x
	}
	list := nodeAt(x, nodeList, x)
	for p.accept(",") {
		if k := p.tok().kind; k == tokLine || k == tokEnd || p.is("=") {
			break
		}
		list.kids = append(list.kids, p.expr())
	}
	return list
}

func (p *parser) dotted() string {
	var b strings.Builder
	for p.is(".") || p.is("...") || p.tok().kind == tokName && !p.is("import") && !p.is("as") {
		b.WriteString(p.tok().text)
		p.i++
		if p.tok().kind == tokName && !strings.HasSuffix(b.String(), ".") {
			break
		}
	}
	return b.String()
}

func (p *parser) pythonImport() *node {
	n := p.node(nodeOther)
	p.i++
	for {
		m := p.node(nodeImport)
		m.text = p.dotted()
		alias := ""
		if p.accept("as") {
			alias = p.tok().text
			p.i++
		}
		m.keys = []string{"", alias}
		n.kids = append(n.kids, m)
		if !p.accept(",") {
			return n
		}
	}
}

func (p *parser) fromImport() *node {
	m := p.node(nodeImport)
	p.i++
	m.text = p.dotted()
	p.accept("import")
	paren := p.accept("(")
	for p.tok().kind == tokName || p.is("*") || p.is(",") || paren && p.tok().kind == tokLine {
		if p.accept(",") {
			continue
		}
		name := p.tok().text
		alias := name
		p.i++
		if p.accept("as") {
			alias = p.tok().text
			p.i++
		}
		m.keys = append(m.keys, name, alias)
	}
	if paren {
		p.accept(")")
	}
	return m
}

// params reads the parameters of a function, with their defaults.
func (p *parser) params(f *node) {
	if !p.accept("(") {
		return
	}
	var parts []string // of those that are taken apart, behind all that have a place
	p.until(")", func() {
		t := p.tok()
		switch {
		case p.accept(",") || p.accept("*") || p.accept("**") || p.accept("...") || p.accept("/"):
		case t.kind == tokName:
			p.i++
			if !p.python && (t.text == "public" || t.text == "private" || t.text == "readonly") && p.tok().kind == tokName {
				return
			}
			f.keys = append(f.keys, t.text)
			p.accept("?")
			if p.accept(":") {
				p.typeExpr()
			}
			if p.accept("=") {
				f.kids = append(f.kids, p.expr())
			}
		case t.text == "{" || t.text == "[":
			x := p.primary()
			whole := "(" + strconv.Itoa(len(f.keys)) + ")"
			f.keys = append(f.keys, whole)
			f.kids = append(f.kids, nodeAt(x, nodeAssign, x, &node{kind: nodeName, text: whole}))
			parts = append(parts, names(x)...)
			if p.accept(":") {
				p.typeExpr()
			}
			if p.accept("=") {
				f.kids = append(f.kids, p.expr())
			}
		}
	})
	f.keys = append(f.keys, parts...)
}

// typeExpr steps over an annotation.
func (p *parser) typeExpr() {
	if p.python {
		p.expr()
		return
	}
	depth := 0
	for p.tok().kind != tokEnd {
		t := p.tok()
		if depth == 0 && (t.text == "," || t.text == ")" || t.text == "=" || t.text == ";" || t.text == "=>" || t.text == "{" && p.i > 0 && p.peek(-1).text != ":" && p.peek(-1).text != "|") {
			return
		}
		switch t.text {
		case "(", "[", "{", "<":
			depth++
		case ")", "]", "}", ">":
			depth--
			if depth < 0 {
				return
			}
		}
		p.i++
	}
}

// names lists what a pattern binds.
func names(x *node) []string {
	if x == nil {
		return nil
	}
	switch x.kind {
	case nodeName:
		return []string{x.text}
	case nodeAssign:
		return names(x.kids[0])
	case nodeFunc: // has its own
		return nil
	}
	var all []string
	for _, k := range x.kids {
		all = append(all, names(k)...)
	}
	return all
}

func (p *parser) lambda() *node {
	f := p.node(nodeFunc)
	p.i++
	for !p.is(":") && p.tok().kind != tokEnd && p.tok().kind != tokLine {
		t := p.tok()
		p.i++
		if t.kind == tokName {
			f.keys = append(f.keys, t.text)
			if p.accept("=") {
				f.kids = append(f.kids, p.expr())
			}
		}
	}
	p.accept(":")
	f.kids = append(f.kids, p.expr())
	return f
}

// arrow reads an arrow function, nil if there is none here.
func (p *parser) arrow() *node {
	j := 0
	if p.is("async") && !p.peek(1).after && (p.peek(1).kind == tokName || p.peek(1).text == "(") {
		j = 1
	}
	t := p.peek(j)
	f := &node{kind: nodeFunc, line: t.line, col: t.col}
	switch {
	case t.kind == tokName && p.peek(j+1).text == "=>" && p.peek(j+1).kind == tokOp:
		f.keys = []string{t.text}
		p.i += j + 2
	case t.kind == tokOp && t.text == "(":
		depth, k := 0, j
		for ; k < len(p.t)-p.i; k++ {
			u := p.peek(k)
			if u.kind == tokOp {
				switch u.text {
				case "(", "[", "{":
					depth++
				case ")", "]", "}":
					depth--
				}
			}
			if depth == 0 || u.kind == tokEnd || k > 4000 {
				break
			}
		}
		next := p.peek(k + 1)
		if next.text == ":" && next.kind == tokOp { // (a): T =>
			m := k + 2
			for m < k+12 && p.peek(m).text != "=>" && p.peek(m).kind != tokEnd && p.peek(m).text != ";" && p.peek(m).text != "," {
				m++
			}
			if p.peek(m).text == "=>" && p.peek(k+2).kind == tokName {
				next = p.peek(m)
			}
		}
		if next.text != "=>" || next.kind != tokOp {
			return nil
		}
		p.i += j
		p.params(f)
		for !p.is("=>") && p.tok().kind != tokEnd {
			p.i++
		}
		p.i++
	default:
		return nil
	}
	if p.is("{") {
		return p.block(f)
	}
	f.kids = append(f.kids, p.expr())
	return f
}

// block reads "{ statements }" into a node.
func (p *parser) block(into *node) *node {
	if !p.accept("{") {
		if s := p.statement(); s != nil {
			into.kids = append(into.kids, s)
		}
		return into
	}
	saved := p.noIn
	p.noIn = false
	p.statements(into, func() bool { return !p.is("}") })
	p.accept("}")
	p.noIn = saved
	return into
}

func (p *parser) function() *node {
	f := p.node(nodeFunc)
	p.accept("async")
	p.accept("function")
	p.accept("*")
	if p.tok().kind == tokName {
		f.text = p.tok().text
		p.i++
	}
	return p.funcRest(f)
}

func (p *parser) funcRest(f *node) *node {
	if p.is("<") { // type parameters
		p.typeExpr()
	}
	p.params(f)
	if p.accept(":") {
		p.typeExpr()
	}
	if p.is("{") {
		return p.block(f)
	}
	return f
}

func (p *parser) class() *node {
	n := p.node(nodeOther)
	p.i++
	if p.tok().kind == tokName && !p.is("extends") {
		p.i++
	}
	p.until("{", func() {
		if p.accept("extends") {
			base := p.node(nodeOther)
			base.text, base.kids = "bases", []*node{p.unary()}
			n.kids = append(n.kids, base)
		}
	})
	p.until("}", func() {
		t := p.tok()
		switch {
		case t.kind == tokName && p.peek(1).text == "(", t.kind == tokString && p.peek(1).text == "(":
			p.i++
			n.kids = append(n.kids, p.funcRest(&node{kind: nodeFunc, text: "." + t.text, line: t.line, col: t.col}))
		case t.kind == tokName && p.peek(1).text == "=" && p.peek(1).kind == tokOp:
			p.i += 2
			self := &node{kind: nodeAttr, text: t.text, kids: []*node{{kind: nodeName, text: "this"}}, line: t.line, col: t.col}
			n.kids = append(n.kids, nodeAt(self, nodeAssign, self, p.expr()))
		case t.text == "[":
			p.i++
			n.kids = append(n.kids, p.expr())
		case t.text == "{":
			n.kids = append(n.kids, p.block(p.node(nodeBlock)))
		case p.accept(":"):
			p.typeExpr()
		default:
			p.i++
		}
	})
	return n
}

func (p *parser) jsStatement() *node {
	t := p.tok()
	if t.kind == tokOp {
		switch t.text {
		case ";", "@":
			p.i++
			return nil
		case "{":
			return p.block(p.node(nodeBlock))
		}
	}
	if t.kind != tokName || p.peek(1).text == ":" && p.peek(1).kind == tokOp || p.peek(1).text == "=" && p.peek(1).kind == tokOp {
		if t.kind == tokName && p.peek(1).text == ":" { // a label, a type
			p.i += 2
			return nil
		}
		return p.jsExpression()
	}
	switch t.text {
	case "import":
		if n := p.peek(1); n.kind == tokString || n.kind == tokName || n.text == "{" || n.text == "*" {
			return p.jsImport()
		}
	case "export":
		p.i++
		p.accept("default")
		if p.is("{") || p.is("*") { // export ... from
			for p.tok().kind != tokEnd && p.tok().kind != tokString && !p.is(";") && !(p.tok().after && p.i > 0 && p.peek(-1).text == "}") {
				p.i++
			}
		}
		return nil
	case "const", "let", "var":
		return p.declare()
	case "function", "class":
		return p.primary()
	case "async":
		if p.peek(1).text == "function" {
			return p.function()
		}
	case "if", "while", "switch", "with":
		p.i++
		n := p.node(nodeOther, p.paren())
		if t.text == "with" {
			n.text = t.text
		}
		n.kids = append(n.kids, p.block(p.node(nodeBlock)))
		return n
	case "else", "do", "try", "finally":
		p.i++
		return p.block(p.node(nodeBlock))
	case "catch":
		p.i++
		if p.is("(") {
			p.paren()
		}
		return p.block(p.node(nodeBlock))
	case "for":
		return p.jsFor()
	case "case", "default":
		p.i++
		for !p.is(":") && p.tok().kind != tokEnd && !p.is("}") {
			at := p.i
			p.expr()
			if p.i == at {
				p.i++
			}
		}
		p.accept(":")
		return nil
	case "return", "throw":
		p.i++
		if p.tok().after || p.is(";") || p.is("}") || p.tok().kind == tokEnd {
			return nil
		}
		return p.jsExpression()
	case "break", "continue", "debugger":
		p.i++
		return nil
	case "interface", "type", "declare", "enum", "namespace":
		if p.peek(1).kind == tokName && !p.peek(1).after {
			depth := 0
			for p.tok().kind != tokEnd {
				u := p.tok().text
				if u == "{" {
					depth++
				}
				p.i++
				if u == "}" {
					depth--
				}
				if depth <= 0 && (u == "}" || u == ";" || p.tok().after && t.text == "type" && !p.is("|") && !p.is("&")) {
					return nil
				}
			}
			return nil
		}
	}
	return p.jsExpression()
}

func (p *parser) jsExpression() *node {
	x := p.assignment()
	if !p.is(",") {
		return x
	}
	list := nodeAt(x, nodeOther, x)
	for p.accept(",") {
		list.kids = append(list.kids, p.assignment())
	}
	return list
}

func (p *parser) paren() *node {
	n := p.node(nodeOther)
	if !p.accept("(") {
		return n
	}
	return p.sequence(n, ")", nodeOther)
}

// declare reads const, let and var.
func (p *parser) declare() *node {
	n := p.node(nodeOther)
	p.i++
	for {
		target := p.primary()
		if p.is("!") {
			p.i++
		}
		if p.accept(":") {
			p.typeExpr()
		}
		if p.accept("=") {
			n.kids = append(n.kids, nodeAt(target, nodeAssign, target, p.expr()))
		}
		if !p.accept(",") {
			return n
		}
	}
}

func (p *parser) jsFor() *node {
	t := p.tok()
	p.i++
	p.accept("await")
	n := &node{kind: nodeOther, line: t.line, col: t.col}
	if !p.accept("(") {
		return n
	}
	begin := p.i
	for p.is("const") || p.is("let") || p.is("var") {
		p.i++
	}
	p.noIn = true
	target := p.primary()
	p.noIn = false
	if p.is("of") || p.is("in") {
		inKeys := p.is("in")
		p.i++
		iter := p.expr()
		p.accept(")")
		f := &node{kind: nodeFor, kids: []*node{target, iter}, line: t.line, col: t.col}
		if inKeys {
			f.text = "keys"
		}
		return p.block(f)
	}
	p.i = begin
	p.until(")", func() {
		if !p.accept(";") {
			if s := p.statement(); s != nil {
				n.kids = append(n.kids, s)
			}
			p.accept(",")
		}
	})
	n.kids = append(n.kids, p.block(p.node(nodeBlock)))
	return n
}

func (p *parser) jsImport() *node {
	m := p.node(nodeImport)
	p.i++
	if p.is("type") && p.peek(1).text != "from" {
		p.i++
	}
	for p.tok().kind != tokString && p.tok().kind != tokEnd && !p.is(";") {
		t := p.tok()
		p.i++
		switch {
		case t.text == "*":
			p.accept("as")
			m.keys = append(m.keys, "", p.tok().text)
			p.i++
		case t.text == "{" || t.text == "}" || t.text == "," || t.text == "from" && p.tok().kind == tokString:
		case t.kind == tokName:
			name, alias := t.text, t.text
			if p.accept("as") {
				alias = p.tok().text
				p.i++
			} else if !p.inBraces() {
				name = "default"
			}
			m.keys = append(m.keys, name, alias)
		}
	}
	m.text = p.tok().text
	p.i++
	return m
}

// inBraces says whether the last token lies within "{" of an import.
func (p *parser) inBraces() bool {
	for j := p.i - 1; j >= 0; j-- {
		switch p.t[j].text {
		case "{":
			return true
		case "}", "import":
			return false
		}
	}
	return false
}
