package scan

import (
	"slices"
	"strconv"
	"strings"

	"skillrun/policy"
)

// binding is a variable in a scope, with the block that it was bound in.
type binding struct {
	v     val
	block string
}

type scope struct {
	vars map[string]binding
	up   *scope
}

// reader evaluates the tree of one text.
type reader struct {
	*scan
	place  place
	python bool
	scope  *scope
	late   map[string]binding // the module's variables at its end
	block  string
	blocks int
	pos    policy.Pos
	hint   *val // what a function is given that is being handed over
	depth  int

	defined map[string][]*node // the functions of the text by their names, those of classes too
	given   map[givenThing]bool
}

// programText reads Python or JavaScript.
func (s *scan) programText(lang, src string, p place) {
	if s.spend(len(src) / 16); s.spent() {
		return
	}
	src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n") // both end a line, of a comment too
	s.disguised(lang == "python", src, p)
	root := parse(src, lang == "python")
	r := &reader{scan: s, place: p, python: lang == "python", block: "/", defined: map[string][]*node{}, given: map[givenThing]bool{}}
	// First what the module's names will hold, for functions that are called
	// later; then again, collecting.
	steps := s.steps
	at := s.at
	s.quiet++
	r.scope = &scope{vars: map[string]binding{}}
	r.statements(root.kids)
	s.quiet--
	s.steps, s.at = steps, at
	r.late, r.scope, r.block, r.blocks = r.scope.vars, &scope{vars: map[string]binding{}}, "/", 0
	r.statements(root.kids)
}

// disguised says where a text is not what it looks like to this reader: names
// that the language reads as other ones, other encodings, other line ends.
func (s *scan) disguised(python bool, src string, p place) {
	if python {
		head := src
		if i := strings.IndexByte(head, '\n'); i >= 0 {
			if j := strings.IndexByte(head[i+1:], '\n'); j >= 0 {
				head = head[:i+1+j]
			}
		}
		for line := range strings.Lines(head) {
			i := strings.Index(line, "coding")
			if i < 0 || !strings.HasPrefix(strings.TrimLeft(line, " \t\f"), "#") || len(line) < i+8 || line[i+6] != ':' && line[i+6] != '=' {
				continue
			}
			switch name := strings.ToLower(strings.TrimLeft(line[i+7:], " \t")); {
			case strings.HasPrefix(name, "utf-8"), strings.HasPrefix(name, "utf8"), strings.HasPrefix(name, "ascii"), strings.HasPrefix(name, "latin-1"), strings.HasPrefix(name, "iso-8859-"), strings.HasPrefix(name, "us-ascii"):
			default:
				s.opaque(p.at(1, 1), "text in another encoding")
			}
		}
	} else if strings.ContainsAny(src, "\u2028\u2029") {
		s.opaque(p.at(1, 1), "line separators that do not show")
	}
	if !strings.ContainsFunc(src, func(c rune) bool { return c >= 0x80 }) && (python || !strings.Contains(src, `\u`)) {
		return
	}
	for _, t := range tokens(src, python, 1, 1) {
		if t.kind == tokOp && t.text == `\` && !python || t.kind == tokName && strings.ContainsFunc(t.text, compatible) && python {
			s.opaque(p.at(t.line, t.col), "a name that is read as another")
			return
		}
	}
}

// compatible names the characters that Python takes for other letters in names
// (NFKC): full width, mathematical, superscript, letterlike.
func compatible(c rune) bool {
	return c >= 0xff00 && c <= 0xffef || c >= 0x1d400 && c <= 0x1d7ff || c >= 0x2070 && c <= 0x218f || c >= 0x1d2c && c <= 0x1dbf || c >= 0x02b0 && c <= 0x02ff ||
		c == 0xaa || c == 0xba || c == 0x17f || c >= 0xfb00 && c <= 0xfb06 || c >= 0x2460 && c <= 0x24ff || c >= 0x1f100 && c <= 0x1f2ff
}

func (r *reader) statements(list []*node) {
	for _, n := range list {
		if v := r.eval(n); n != nil && n.kind == nodeAttr { // what a REPL, and node -p, print
			r.use(v)
		}
	}
}

func (r *reader) lookup(name string) (val, bool) {
	for s := r.scope; s != nil; s = s.up {
		if b, ok := s.vars[name]; ok && (b.v.kind != valUnknown || !member(name)) {
			return b.v, true
		}
	}
	if b, ok := r.late[name]; ok {
		return b.v, true
	}
	return val{}, false
}

// member says whether a name is that of an object's own variable, which another
// of its methods may set, and what it was made with.
func member(name string) bool {
	return strings.HasPrefix(name, "self.") || strings.HasPrefix(name, "this.")
}

// bind sets a variable; from a block that may not have run the old value
// remains possible.
func (r *reader) bind(name string, v val) {
	s := r.scope
	if member(name) {
		for s.up != nil {
			s = s.up
		}
	}
	if old, ok := s.vars[name]; ok && !strings.HasPrefix(old.block, r.block) {
		s.vars[name] = binding{choice(old.v, v), old.block}
		return
	}
	s.vars[name] = binding{v, r.block}
}

func (r *reader) inBlock(f func()) {
	saved := r.block
	r.blocks++
	r.block += strconv.Itoa(r.blocks) + "/"
	f()
	r.block = saved
}

func (r *reader) inScope(names []string, f func()) {
	saved := r.scope
	r.spend(len(names) / 8)
	r.scope = &scope{vars: map[string]binding{}, up: saved}
	for _, n := range names {
		r.scope.vars[n] = binding{val{}, "/"}
	}
	r.inBlock(f)
	r.scope = saved
}

// assign binds a target to a value.
func (r *reader) assign(target *node, v val) {
	switch target.kind {
	case nodeName:
		r.bind(target.text, v)
	case nodeAttr:
		if d := dottedName(target); d != "" {
			r.bind(d, v)
		}
		r.assigned(target, v)
	case nodeIndex: // os.environ["X"] = is no reading
		if key := r.eval(target.kids[1]); environment(target) {
			r.setVariable(key, v)
		}
	case nodeList, nodeOther:
		for i, k := range target.kids {
			item := val{}
			if v.kind == valList && i < len(v.items) && len(v.items) == len(target.kids) {
				item = v.items[i]
			} else if v.kind == valList {
				item = choice(append(r.functions(v.items), val{})...)
			}
			r.assign(k, item)
		}
	case nodeSpread:
		if len(target.kids) > 0 {
			r.assign(target.kids[0], val{})
		}
	case nodeAssign: // a default in a pattern
		r.eval(target.kids[1])
		r.assign(target.kids[0], v)
	case nodeDict:
		for i, k := range target.kids {
			item := val{}
			if i < len(target.keys) && target.keys[i] != "" {
				v.each(func(x val) {
					if y := r.attr(x, target.keys[i]); y.kind != valUnknown {
						item = y
					}
				})
			} else if k.kind == nodeSpread && v.kind == valThing {
				item = v
				r.use(v)
			} else if v.kind == valThing && runsThings(v.qual) { // const {[name]: f} = module
				item = val{kind: valThing, qual: "computed"}
			}
			r.assign(k, item)
		}
	}
}

// assigned looks at what setting an attribute does.
func (r *reader) assigned(target *node, v val) {
	page := map[string]string{"href": "location", "location": "global"}[target.text]
	if !r.python && page != "" && r.eval(target.kids[0]).qual == page {
		r.host("web.interact", v.field(), r.pos, "goes to the page")
	}
	if slices.Contains(serviceNames[:], target.text) {
		if of := r.eval(target.kids[0]); of.kind == valThing && ofService(callRowFor(r.lang(), of.qual+"."+target.text)) {
			r.role("api", v, "is called in place of the service's own address")
		}
	}
	if r.python && dottedName(target) == "sys.path" {
		r.searches(v)
	}
	if environment(target) {
		r.setVariable(text(target.text), v)
	}
}

// environment says whether what is set is a member of the environment, or of what
// is named as if it were to be one.
func environment(target *node) bool {
	name := strings.ToLower(dottedName(target.kids[0]))
	return strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "env") || strings.HasSuffix(name, "env")
}

// setVariable reads the setting of a variable of the environment.
func (r *reader) setVariable(key, v val) {
	key.each(func(k val) {
		switch {
		case !k.known():
			r.unknownAt(r.pos, "a variable is set whose name is decided at run time")
		case k.text == "HOME":
			r.opaque(r.pos, "HOME becomes another directory")
		default:
			v.each(func(x val) { r.newShell(nil).environ(k.text, x.field(), r.pos) })
		}
	})
}

// setVariables reads the setting of those of a dictionary.
func (r *reader) setVariables(v val) {
	v.each(func(d val) {
		for i, x := range d.items {
			switch {
			case i < len(d.keys) && d.keys[i] != "":
				r.setVariable(text(d.keys[i]), x)
			case x.kind == valDict:
				r.setVariables(x)
			}
		}
	})
}

func dottedName(n *node) string {
	switch n.kind {
	case nodeName:
		return n.text
	case nodeAttr:
		if d := dottedName(n.kids[0]); d != "" {
			return d + "." + n.text
		}
	}
	return ""
}

// eval reads an expression or a statement.
func (r *reader) eval(n *node) val {
	if n == nil {
		return val{}
	}
	if n.line > 0 {
		r.pos = r.place.at(n.line, n.col)
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > 4*maxNesting || !r.step(r.pos) {
		return val{}
	}
	switch n.kind {
	case nodeString:
		return text(n.text)
	case nodeName:
		return r.name(n.text)
	case nodeAttr:
		return r.attribute(n)
	case nodeTemplate:
		v := text("")
		for _, k := range n.kids {
			v = plus(v, r.eval(k))
		}
		return v
	case nodeTagged:
		return r.tagged(n)
	case nodeCall:
		return r.call(n)
	case nodeIndex:
		return r.indexed(n)
	case nodeReverse:
		v := r.eval(n.kids[0])
		if v.kind == valText {
			v.text, v.decoded = reverse(v.text), true
			return v
		}
		return val{}
	case nodeList:
		v := val{kind: valList}
		for _, k := range n.kids {
			x := r.eval(k)
			if k.kind == nodeSpread {
				r.use(x)
				if x.kind == valList && len(x.items)+len(v.items) < maxSteps/10 {
					v.items = append(v.items, x.items...)
					continue
				}
				x = val{from: "many"}
			}
			if k.kind == nodeOther && k.text == "comprehension" && len(n.kids) == 1 {
				return x
			}
			v.items = append(v.items, x)
		}
		return v
	case nodeDict:
		v := val{kind: valDict}
		for i, k := range n.kids {
			x := r.eval(k)
			r.use(x)
			if k.kind == nodeSpread && x.kind == valDict && len(x.items)+len(v.items) < maxSteps/10 {
				v.items, v.keys = append(v.items, x.items...), append(v.keys, x.keys...)
				continue
			}
			v.items, v.keys = append(v.items, x), append(v.keys, n.keys[i])
		}
		return v
	case nodeSpread:
		return r.eval(n.kids[0])
	case nodeBinary:
		return r.binary(n)
	case nodeChoice:
		var all []val
		for _, k := range n.kids {
			all = append(all, r.eval(k))
		}
		if len(all) == 2 && all[0].kind == valThing && strings.HasPrefix(all[0].qual, "env:") {
			// A default for a variable: known, not exact.
			d := all[1]
			d.exact = false
			return d
		}
		return choice(all...)
	case nodeAssign:
		v := r.eval(n.kids[1])
		r.assign(n.kids[0], v)
		return v
	case nodeFor:
		iter := r.eval(n.kids[1])
		r.use(iter)
		item := val{}
		if iter.kind == valList && n.text != "keys" {
			item = choice(iter.items...)
		} else if iter.kind == valDict && r.python {
			var keys []val
			for _, k := range iter.keys {
				if k != "" {
					keys = append(keys, text(k))
				}
			}
			item = choice(keys...)
		}
		r.assign(n.kids[0], item)
		r.inBlock(func() { r.statements(n.kids[2:]) })
		return val{}
	case nodeFunc:
		name, method := strings.CutPrefix(n.text, ".")
		if all := r.defined[name]; name != "" && len(all) < maxAlts && !slices.Contains(all, n) {
			r.defined[name] = append(r.defined[name], n)
		}
		if name != "" && !method {
			r.bind(name, val{kind: valThing, qual: "local " + name, body: n})
		}
		hint := r.hint
		r.hint = nil
		r.inScope(n.keys, func() {
			if hint != nil && len(n.keys) > 0 {
				r.bind(n.keys[0], *hint)
			}
			r.statements(n.kids)
		})
		return val{kind: valThing, qual: "local function", body: n}
	case nodeBlock:
		r.inBlock(func() { r.statements(n.kids) })
		return val{}
	case nodeImport:
		r.imports(n)
		return val{}
	}
	return r.other(n)
}

func (r *reader) other(n *node) val {
	last := val{}
	switch n.text {
	case "slice":
		v := r.eval(n.kids[0])
		for _, k := range n.kids[1:] {
			r.eval(k)
		}
		if v.kind == valThing {
			return val{}
		}
		if v.kind == valList { // any part of it
			return val{kind: valList, items: []val{{from: "many"}}}
		}
		return val{kind: valText}
	case "with": // of JavaScript, where names that follow may be those of what it names
		if runsThings(r.eval(n.kids[0]).qual) {
			r.opaque(r.pos, "names that may be functions of a module")
		}
	case "bases":
		for _, k := range n.kids {
			r.extended(r.eval(k))
		}
		return val{}
	case "del":
		for _, k := range n.kids {
			if k.kind == nodeIndex {
				r.eval(k.kids[1])
			}
		}
		return val{}
	}
	for _, k := range n.kids {
		last = r.eval(k)
	}
	if n.text == "comprehension" {
		return val{kind: valList, items: []val{last}}
	}
	return last
}

func (r *reader) binary(n *node) val {
	a := r.eval(n.kids[0])
	pos := r.pos
	if n.text == "in" && r.python {
		r.eval(n.kids[1])
		return val{}
	}
	b := r.eval(n.kids[1])
	r.pos = pos
	switch n.text {
	case "+":
		return plus(a, b)
	case "/":
		if a.qual == "path" || a.kind == valText || b.qual == "path" {
			return joinPath(a, b)
		}
		if r.python && (a.kind == valUnknown || a.kind == valThing) && b.kind == valText {
			return joinPath(a, b)
		}
	case "%":
		if a.kind == valText && r.python {
			return formatted(a, b)
		}
	}
	return val{}
}

// use records that a value is passed on as a whole.
func (r *reader) use(v val) {
	v.each(func(x val) {
		if x.kind == valThing && (x.qual == "os.environ" || x.qual == "process.env") {
			r.need("env_var.read", "*", true, r.pos, "the whole environment")
		}
	})
}

func (r *reader) name(name string) val {
	if v, ok := r.lookup(name); ok {
		return v
	}
	if r.python {
		switch name {
		case "__file__":
			return val{kind: valText}
		case "None":
			return val{from: "none"}
		case "True", "False":
			return val{from: name}
		case "self", "cls":
			return val{}
		case "__builtins__":
			return val{kind: valThing, qual: "builtins"}
		}
	} else {
		switch name {
		case "__dirname", "__filename":
			return val{kind: valText}
		case "this", "undefined", "null":
			return val{}
		case "globalThis", "global", "window", "self":
			return val{kind: valThing, qual: "global"}
		}
	}
	return val{kind: valThing, qual: name}
}

func (r *reader) attribute(n *node) val {
	if d := dottedName(n); member(d) {
		if v, ok := r.lookup(d); ok {
			return v
		}
	}
	v := r.eval(n.kids[0])
	r.pos = r.place.at(n.line, n.col)
	switch n.text {
	case "__subclasses__", "__globals__", "__builtins__", "__getattribute__", "__code__", "f_globals", "func_globals":
		if r.python {
			r.opaque(r.pos, "reaches code through "+n.text)
		}
	case "binding", "_linkedBinding":
		if v.qual == "process" && !r.python {
			r.opaque(r.pos, "process."+n.text)
		}
	}
	if v.kind == valChoice {
		var all []val
		v.each(func(x val) { all = append(all, r.attr(x, n.text)) })
		return choice(all...)
	}
	return r.attr(v, n.text)
}

// attr gives an attribute of a value.
func (r *reader) attr(v val, name string) val {
	if name == "constructor" && strings.HasSuffix(v.qual, ".constructor") && !r.python {
		return val{kind: valThing, qual: "Function"} // the constructor of any function
	}
	switch v.kind {
	case valDict:
		if x, ok := v.key(name); ok {
			return x
		}
		return val{kind: valThing, qual: "." + name, recv: &v}
	case valText:
		switch name {
		case "parent":
			v = val{kind: valText, text: v.text, exact: v.exact && v.text != "~", from: v.from, qual: "path"}
			switch i := strings.LastIndexByte(v.text, '/'); {
			case !v.exact:
				v.text = ""
			case i < 0:
				v.text = "."
			default:
				v.text = v.text[:max(i, 1)]
			}
			return v
		case "name", "stem", "suffix", "parts", "length":
			return val{kind: valText}
		}
		return val{kind: valThing, qual: "." + name, recv: &v}
	case valThing:
		switch v.qual {
		case "process.env":
			return r.readVariable(text(name))
		case "global", "builtins":
			return val{kind: valThing, qual: name}
		}
		if v.qual == "sys" && name == "executable" && r.python {
			return text("python")
		}
		if v.qual == "process" && name == "execPath" && !r.python {
			return text("node")
		}
		if v.qual == "os" && name == "environb" {
			name = "environ"
		}
		if v.qual == "Bun" && name == "env" {
			return val{kind: valThing, qual: "process.env"}
		}
		if v.qual == "process" && name == "argv" || v.qual == "sys" && name == "argv" {
			return val{kind: valList, items: []val{{from: "many"}}, qual: "argv"}
		}
		if name == "default" && !r.python {
			return v
		}
		// A module within another is that module: shutil.os.remove.
		if r.python && v.qual != "asyncio" && v.qual != "" && !strings.HasSuffix(v.qual, ")") {
			switch name {
			case "os", "_os", "sys", "_sys", "subprocess", "shutil", "_shutil", "io", "_io", "builtins", "socket", "_socket":
				return val{kind: valThing, qual: strings.TrimPrefix(name, "_")}
			}
		}
		return val{kind: valThing, qual: v.qual + "." + name, recv: &v}
	}
	return val{kind: valThing, qual: "." + name, recv: &v}
}

func (r *reader) indexed(n *node) val {
	base := r.eval(n.kids[0])
	key := r.eval(n.kids[1])
	r.pos = r.place.at(n.line, n.col)
	out := val{}
	base.each(func(v val) {
		switch {
		case v.kind == valThing && (v.qual == "os.environ" || v.qual == "process.env"):
			out = r.readVariable(key)
		case v.kind == valThing && (v.qual == "globals()" || v.qual == "locals()" || v.qual == "vars()" || v.qual == "global" || v.qual == "builtins" || strings.HasSuffix(v.qual, ".__dict__")):
			if module, ok := strings.CutSuffix(v.qual, ".__dict__"); ok && key.known() && !key.decoded {
				out = r.attr(val{kind: valThing, qual: module}, key.text)
			} else if v.qual == "vars()" && len(v.items) == 1 && key.known() && !key.decoded {
				out = r.attr(v.items[0], key.text)
			} else if key.known() && !key.decoded {
				out = r.name(key.text)
			} else {
				out = val{kind: valThing, qual: "computed"}
			}
		case v.kind == valThing && v.qual == "sys.modules" && r.python:
			if out = (val{kind: valThing, qual: "computed"}); key.known() {
				out.qual = key.text
			}
		case v.kind == valThing && key.text == "constructor" && !r.python:
			out = r.attr(v, "constructor")
		case v.kind == valThing && key.known() && !strings.HasSuffix(v.qual, ")"):
			// module["name"], as JavaScript spells attributes too
			out = r.attr(v, key.text)
			if key.decoded {
				r.opaque(r.pos, "a member whose name is computed")
			}
		case v.kind == valThing && !r.python && runsThings(v.qual):
			out = val{kind: valThing, qual: "computed"}
		case key.text == "constructor" && !r.python:
			out = r.attr(v, "constructor")
		case v.kind == valDict && key.known():
			if x, ok := v.key(key.text); ok {
				out = x
			}
		case v.kind == valDict:
			out = choice(v.items...)
		case v.kind == valList && v.qual != "argv":
			if i, err := strconv.Atoi(n.kids[1].text); err == nil && n.kids[1].kind == nodeNumber && i < len(v.items) {
				out = v.items[i]
			} else if len(v.items) > 0 {
				out = choice(v.items...)
			}
			out.from = ""
		case v.kind == valText:
			out = val{kind: valText}
		}
	})
	return out
}

// runsThings says whether a name is that of a module whose members run things.
func runsThings(qual string) bool {
	switch qual {
	case "child_process", "fs", "net", "http", "https", "process", "os", "vm", "module", "subprocess", "shutil", "builtins":
		return true
	}
	return false
}

// readVariable gives what a variable of the environment holds.
func (r *reader) readVariable(key val) val {
	if key.known() && key.text == "HOME" {
		return val{kind: valText, text: "~", exact: true, qual: "path"}
	}
	key.each(func(k val) {
		if k.known() {
			r.variable(k.text, r.pos)
		} else {
			r.need("env_var.read", "", false, r.pos, "the name of the variable is computed")
		}
	})
	return val{kind: valThing, qual: "env:" + key.text}
}

func (r *reader) tagged(n *node) val {
	tag := r.eval(n.kids[0])
	v := r.eval(n.kids[1])
	if tag.kind == valThing && (strings.HasPrefix(tag.qual, "zx") || tag.qual == "$" || tag.qual == "Bun.$" || strings.HasPrefix(tag.qual, "execa.")) {
		r.shellCode(v, nil)
	}
	return v
}
