package scan

type nodeKind uint8

const (
	nodeOther nodeKind = iota // kids only
	nodeName
	nodeString
	nodeNumber
	nodeTemplate // kids are its parts
	nodeTagged   // kids[0] the tag, kids[1] the template
	nodeCall     // kids[0] the callee; keys name the other kids, "" for positional
	nodeAttr     // kids[0]."text"
	nodeIndex    // kids[0][kids[1]]
	nodeReverse  // kids[0][::-1]
	nodeList
	nodeDict // keys; "" for computed ones and spreads
	nodeSpread
	nodeBinary // text is the operator
	nodeChoice // one of the kids
	nodeAssign // kids[0] = kids[1]
	nodeFor    // kids[0] in kids[1]: the rest
	nodeFunc   // keys are the parameters, kids the body
	nodeBlock  // may or may not run, or runs more than once
	nodeImport // text is the module; keys are "name" and "alias" in turn
)

// node is an expression or a statement of either language.
type node struct {
	kind      nodeKind
	text      string
	kids      []*node
	keys      []string
	line, col int
}

// parser reads tokens of either language into one kind of tree. What it cannot
// read it steps over, token by token, so that it sees what is beyond.
type parser struct {
	t      []token
	i      int
	python bool
	depth  int
	noIn   bool // "in" ends an expression: the head of a for
}

const maxNesting = 200

func (p *parser) tok() *token { return &p.t[min(p.i, len(p.t)-1)] }

func (p *parser) peek(n int) *token { return &p.t[min(p.i+n, len(p.t)-1)] }

func (p *parser) is(text string) bool {
	t := p.tok()
	return t.text == text && (t.kind == tokOp || t.kind == tokName)
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.i++
		return true
	}
	return false
}

func (p *parser) node(kind nodeKind, kids ...*node) *node {
	t := p.tok()
	return &node{kind: kind, kids: kids, line: t.line, col: t.col}
}

// nodeAt makes a node in the place of another.
func nodeAt(m *node, kind nodeKind, kids ...*node) *node {
	n := &node{kind: kind, kids: kids}
	if m != nil {
		n.line, n.col = m.line, m.col
	}
	return n
}

func (n *node) named(text string) *node {
	n.text = text
	return n
}

// until reads what stands before an end, and the end; at least a token each time.
func (p *parser) until(end string, read func()) {
	for !p.is(end) && p.tok().kind != tokEnd {
		at := p.i
		if read(); p.i == at {
			p.i++
		}
	}
	p.accept(end)
}

var none = &node{kind: nodeNumber}

// expr reads an expression, commas excepted.
func (p *parser) expr() *node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxNesting {
		p.i++
		return none
	}
	if !p.python {
		if f := p.arrow(); f != nil {
			return f
		}
	}
	x := p.binary(1)
	switch {
	case p.python && p.is("if"):
		p.i++
		cond := p.binary(1)
		if p.accept("else") {
			y := p.expr()
			return nodeAt(x, nodeOther, cond, &node{kind: nodeChoice, kids: []*node{x, y}})
		}
		return nodeAt(x, nodeOther, x, cond)
	case !p.python && p.is("?"):
		p.i++
		a := p.expr()
		p.accept(":")
		b := p.expr()
		return nodeAt(x, nodeOther, x, &node{kind: nodeChoice, kids: []*node{a, b}})
	case p.python && p.is(":="), !p.python && (p.is("=") || p.is("+=") || p.is("||=") || p.is("??=")):
		p.i++
		return nodeAt(x, nodeAssign, x, p.expr())
	}
	return x
}

func (p *parser) level() int {
	t := p.tok()
	if t.kind != tokOp && t.kind != tokName {
		return 0
	}
	switch t.text {
	case "or", "||", "??":
		return 1
	case "and", "&&":
		return 2
	case "in":
		if p.noIn {
			return 0
		}
		return 3
	case "==", "!=", "<", ">", "<=", ">=", "===", "!==", "is", "instanceof":
		return 3
	case "not":
		if p.python && p.peek(1).text == "in" {
			return 3
		}
	case "|", "^", "&", "<<", ">>", ">>>":
		return 4
	case "+", "-":
		return 5
	case "*", "/", "%", "//", "@":
		return 6
	case "**":
		return 7
	}
	return 0
}

func (p *parser) binary(least int) *node {
	x := p.unary()
	for {
		level := p.level()
		if level == 0 || level < least {
			return x
		}
		op := p.tok().text
		if (op == "and" || op == "or" || op == "is" || op == "not" || op == "//") && !p.python {
			return x
		}
		if op == "@" && p.tok().after {
			return x
		}
		p.i++
		if op == "not" || op == "is" && p.is("not") {
			p.i++
		}
		y := p.binary(level + 1)
		if op == "or" || op == "||" || op == "??" {
			x = nodeAt(x, nodeChoice, x, y)
			continue
		}
		x = nodeAt(x, nodeBinary, x, y).named(op)
	}
}

func (p *parser) unary() *node {
	t := p.tok()
	if t.kind == tokOp {
		switch t.text {
		case "-", "+", "!", "~", "++", "--", "*", "**", "...":
			p.i++
			p.depth++
			defer func() { p.depth-- }()
			if p.depth > maxNesting {
				return none
			}
			kind := nodeOther
			if t.text == "*" || t.text == "**" || t.text == "..." {
				kind = nodeSpread
			}
			x := p.unary()
			return &node{kind: kind, kids: []*node{x}, line: t.line, col: t.col}
		}
	}
	if t.kind == tokName {
		switch t.text {
		case "not", "typeof", "void", "delete", "yield", "await", "async":
			if t.text == "not" && !p.python || t.text == "void" && p.python || t.text == "delete" && p.python || t.text == "typeof" && p.python {
				break
			}
			if next := p.peek(1); next.kind == tokOp && (next.text == "=" || next.text == "." || next.text == ")" || next.text == ",") {
				break
			}
			p.i++
			if t.text == "yield" {
				p.accept("from")
				p.accept("*")
				if k := p.tok().kind; k == tokLine || k == tokEnd || p.is(")") || p.is(";") {
					return none
				}
			}
			if p.depth > maxNesting {
				return none
			}
			p.depth++
			defer func() { p.depth-- }()
			return p.unary()
		case "new":
			if !p.python {
				p.i++
				x := p.postfix(p.primary(), true)
				call := nodeAt(x, nodeCall, x)
				call.keys = []string{""}
				if p.is("(") {
					p.arguments(call)
				}
				return p.postfix(call, false)
			}
		}
	}
	return p.postfix(p.primary(), false)
}

// postfix reads calls, attributes and indexes.
func (p *parser) postfix(x *node, noCall bool) *node {
	for {
		t := p.tok()
		if t.kind == tokTemplate && !p.python {
			p.i++
			x = nodeAt(x, nodeTagged, x, p.templateNode(t))
			continue
		}
		if t.kind != tokOp {
			return x
		}
		switch {
		case t.text == "." || t.text == "?.":
			p.i++
			if t.text == "?." && (p.is("(") || p.is("[")) {
				continue
			}
			p.accept("#")
			if n := p.tok(); n.kind == tokName {
				p.i++
				x = nodeAt(x, nodeAttr, x).named(n.text)
				continue
			}
			return x
		case t.text == "(" && !noCall:
			call := nodeAt(x, nodeCall, x)
			call.keys = []string{""}
			p.arguments(call)
			x = call
		case t.text == "[" && !(t.after && !p.python):
			p.i++
			x = p.index(x)
		case (t.text == "++" || t.text == "--") && !t.after:
			p.i++
		case t.text == "!" && !p.python && !t.after && p.peek(1).text != "=":
			p.i++ // TypeScript's x!
		default:
			return x
		}
	}
}

func (p *parser) index(x *node) *node {
	var parts []*node
	colons := 0
	begin := p.i
	for !p.is("]") && p.tok().kind != tokEnd {
		if p.accept(":") {
			colons++
			continue
		}
		if p.accept(",") {
			continue
		}
		at := p.i
		parts = append(parts, p.expr())
		if p.i == at {
			p.i++
		}
	}
	end := p.i
	p.accept("]")
	if colons > 0 {
		if colons == 2 && end-begin == 4 && p.t[begin+2].text == "-" && p.t[begin+3].text == "1" {
			return nodeAt(x, nodeReverse, x)
		}
		return nodeAt(x, nodeOther, append([]*node{x}, parts...)...).named("slice")
	}
	if len(parts) == 0 {
		return x
	}
	return nodeAt(x, nodeIndex, x, parts[0])
}

func (p *parser) arguments(call *node) {
	p.accept("(")
	saved := p.noIn
	p.noIn = false
	p.until(")", func() {
		key := ""
		if p.python && p.tok().kind == tokName && p.peek(1).kind == tokOp && p.peek(1).text == "=" {
			key = p.tok().text
			p.i += 2
		}
		x := p.comprehension(p.expr())
		call.kids, call.keys = append(call.kids, x), append(call.keys, key)
		p.accept(",")
	})
	p.noIn = saved
}

// comprehension reads "x for y in z if c" behind x.
func (p *parser) comprehension(x *node) *node {
	if !p.python || !p.is("for") && !p.is("async") {
		return x
	}
	loops := nodeAt(x, nodeOther).named("comprehension")
	for p.is("for") || p.is("if") || p.is("async") {
		if p.accept("async") {
			continue
		}
		if p.accept("if") {
			loops.kids = append(loops.kids, p.binary(1))
			continue
		}
		p.i++
		saved := p.noIn
		p.noIn = true
		target := p.targets()
		p.noIn = saved
		p.accept("in")
		iter := p.binary(1)
		loops.kids = append(loops.kids, nodeAt(iter, nodeFor, target, iter))
	}
	loops.kids = append(loops.kids, x)
	return loops
}

// targets reads "a, b" and "(a, b)".
func (p *parser) targets() *node {
	x := p.unary()
	if !p.is(",") {
		return x
	}
	list := nodeAt(x, nodeList, x)
	for p.accept(",") {
		if p.is("in") || p.is("=") || p.tok().kind == tokLine {
			break
		}
		list.kids = append(list.kids, p.unary())
	}
	return list
}

func (p *parser) templateNode(t *token) *node {
	n := &node{kind: nodeTemplate, line: t.line, col: t.col}
	for _, part := range t.parts {
		if part.expr == "" {
			n.kids = append(n.kids, &node{kind: nodeString, text: part.text, line: t.line, col: t.col})
			continue
		}
		if p.depth > maxNesting/4 {
			n.kids = append(n.kids, none)
			continue
		}
		q := &parser{t: tokens(part.expr, p.python, part.line, part.col), python: p.python, depth: p.depth + 8}
		for len(q.t) > 0 && (q.tok().kind == tokIndent || q.tok().kind == tokLine) {
			q.i++
		}
		n.kids = append(n.kids, q.expr())
	}
	return n
}

func (p *parser) primary() *node {
	t := p.tok()
	n := &node{line: t.line, col: t.col}
	switch t.kind {
	case tokString, tokTemplate:
		p.i++
		if n.kind, n.text = nodeString, t.text; t.kind == tokTemplate {
			n = p.templateNode(t)
		}
		// Adjacent literals join.
		for p.python && (p.tok().kind == tokString || p.tok().kind == tokTemplate) {
			u := p.tok()
			p.i++
			if u.kind == tokString && n.kind == nodeString {
				n.text += u.text
				continue
			}
			y := &node{kind: nodeString, text: u.text}
			if u.kind == tokTemplate {
				y = p.templateNode(u)
			}
			n = nodeAt(n, nodeTemplate, n, y)
		}
		return n
	case tokNumber:
		p.i++
		n.kind, n.text = nodeNumber, t.text
		return n
	case tokName:
		switch {
		case t.text == "lambda" && p.python:
			return p.lambda()
		case (t.text == "function" || t.text == "async" && p.peek(1).text == "function") && !p.python:
			return p.function()
		case t.text == "class" && !p.python:
			return p.class()
		}
		p.i++
		n.kind, n.text = nodeName, t.text
		return n
	case tokOp:
		switch t.text {
		case "(":
			p.i++
			return p.sequence(n, ")", nodeOther)
		case "[":
			p.i++
			n.kind = nodeList
			return p.sequence(n, "]", nodeList)
		case "{":
			p.i++
			return p.dict(n)
		}
	}
	if t.kind != tokEnd && t.kind != tokLine && t.kind != tokDedent && t.kind != tokIndent && !(t.kind == tokOp && (t.text == ")" || t.text == "]" || t.text == "}" || t.text == ";" || t.text == ",")) {
		p.i++
	}
	return none
}

// sequence reads what is in brackets: one expression, a tuple or a list.
func (p *parser) sequence(n *node, end string, kind nodeKind) *node {
	saved := p.noIn
	p.noIn = false
	commas := 0
	p.until(end, func() {
		if p.accept(",") {
			commas++
			return
		}
		n.kids = append(n.kids, p.comprehension(p.expr()))
	})
	p.noIn = saved
	if kind == nodeOther {
		if p.python && (commas > 0 || len(n.kids) == 0) {
			n.kind = nodeList
			return n
		}
		if len(n.kids) == 1 {
			return n.kids[0]
		}
	}
	return n
}

// dict reads a dictionary, a set or an object literal.
func (p *parser) dict(n *node) *node {
	saved := p.noIn
	p.noIn = false
	defer func() { p.noIn = saved }()
	n.kind = nodeDict
	add := func(key string, x *node) { n.keys, n.kids = append(n.keys, key), append(n.kids, x) }
	p.until("}", func() {
		t := p.tok()
		switch {
		case p.accept(","):
		case t.kind == tokOp && (t.text == "..." || t.text == "**"):
			add("", p.unary())
		case p.python:
			k := p.expr()
			if p.accept(":") {
				v := p.comprehension(p.expr())
				key := ""
				if k.kind == nodeString {
					key = k.text
				} else {
					add("", k)
				}
				add(key, v)
			} else {
				add("", p.comprehension(k))
			}
		default:
			for (p.is("async") || p.is("get") || p.is("set") || p.is("*")) && p.peek(1).text != ":" && p.peek(1).text != "(" && p.peek(1).text != "," && p.peek(1).text != "}" {
				p.i++
			}
			key := p.tok().text
			computed := p.is("[")
			if computed {
				p.i++
				add("", p.expr())
				p.accept("]")
				key = ""
			} else {
				p.i++
			}
			switch {
			case p.accept(":"):
				add(key, p.expr())
			case p.is("("):
				add(key, p.funcRest(&node{kind: nodeFunc, line: t.line, col: t.col}))
			case p.accept("="):
				add(key, p.expr())
			default:
				add(key, &node{kind: nodeName, text: key, line: t.line, col: t.col})
			}
		}
	})
	return n
}
