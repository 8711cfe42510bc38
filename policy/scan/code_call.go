package scan

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// invoked is a call with its evaluated arguments.
type invoked struct {
	qual string
	recv *val
	body *node // of a function of the text
	args []val
	kw   val // a dictionary of the named arguments
}

func (c *invoked) arg(i int) val {
	if i < len(c.args) {
		return c.args[i]
	}
	return val{}
}

// named gives an argument by its name, in an object of options too.
func (c *invoked) named(names ...string) (val, bool) {
	if v, ok := c.kw.key(names...); ok {
		return v, true
	}
	for i := range c.args {
		if c.args[i].kind == valDict {
			if v, ok := c.args[i].key(names...); ok {
				return v, true
			}
		}
	}
	return val{}, false
}

func (r *reader) call(n *node) val {
	pos := r.place.at(n.line, n.col)
	callee := r.eval(n.kids[0])
	c := invoked{kw: val{kind: valDict}}
	for i, k := range n.kids[1:] {
		// import("x").then(m => ...)
		if k.kind == nodeFunc && strings.HasSuffix(callee.qual, ".then") && callee.recv != nil && callee.recv.kind == valThing && !strings.HasSuffix(callee.recv.qual, "()") {
			r.hint = callee.recv
		}
		v := r.eval(k)
		r.hint = nil
		key := n.keys[i+1]
		switch {
		case key != "":
			c.kw.items, c.kw.keys = append(c.kw.items, v), append(c.kw.keys, key)
		case k.kind == nodeSpread:
			r.pos = pos
			r.use(v)
			if v.kind == valList {
				c.args = append(c.args, v.items...)
			} else {
				c.args = append(c.args, val{from: "many"})
			}
		default:
			c.args = append(c.args, v)
		}
	}
	r.pos = pos
	out := []val{}
	callee.each(func(f val) {
		d := c
		d.qual, d.recv, d.body = f.qual, f.recv, f.body
		if f.kind != valThing {
			d.qual = ""
		}
		r.pos = pos
		out = append(out, r.invoke(&d))
	})
	r.pos = pos
	return choice(out...)
}

func (r *reader) lang() string {
	if r.python {
		return "py:"
	}
	return "js:"
}

// invoke reads one call and says what it gives.
func (r *reader) invoke(c *invoked) val {
	if !r.python && strings.HasSuffix(c.qual, ".constructor") {
		r.opaque(r.pos, "calls a constructor, which may be that of functions")
	}
	switch {
	case c.qual == "computed":
		r.opaque(r.pos, "calls a function whose name is computed")
		return val{}
	case strings.HasPrefix(c.qual, "local "):
		for _, a := range c.args {
			r.use(a)
		}
		if c.body != nil {
			r.give(c, c.body)
		}
		return val{}
	}
	if c.qual == "util.promisify" && !r.python {
		return c.arg(0) // which is called with the same
	}
	r.handed(c.args)
	r.handed(c.kw.items)
	for _, through := range [...]string{".call", ".bind", ".apply", ".__call__"} {
		if f, ok := strings.CutSuffix(c.qual, through); ok && r.known(f) {
			d := *c
			if d.qual = f; through != ".__call__" {
				d.args = c.args[min(1, len(c.args)):]
			}
			if through == ".apply" {
				d.args = []val{{from: "many"}}
			}
			return r.invoke(&d)
		}
	}
	if v, ok := r.pure(c); ok {
		return v
	}
	if !r.reading(c.qual) {
		for _, a := range c.args {
			r.use(a)
		}
		for _, a := range c.kw.items {
			r.use(a)
		}
	}
	name := c.qual
	row := callRowFor(r.lang(), name)
	if row == nil && c.recv != nil && c.recv.kind != valThing {
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			row = callOf(r.lang() + name[i:])
		}
	}
	gives := val{kind: valThing, qual: name + "()", items: c.args, recv: c.recv}
	if len(c.kw.items) > 0 {
		gives.items = append(append([]val(nil), c.kw.items...), c.args...)
		gives.keys = c.kw.keys
	}
	if name == "" {
		gives.qual = ""
		gives.kind = valUnknown
	}
	if row == nil {
		if strings.HasSuffix(name, ".listen") && !r.python { // http, net, express
			r.serves(r.pos, listens)
		}
		// A method of the text, or the making of an object of a class of it.
		for _, called := range [...]string{name[strings.LastIndexByte(name, '.')+1:], "__init__", "constructor"} {
			for _, body := range r.defined[called] {
				r.give(c, body)
			}
		}
		return gives
	}
	if row.Special != "" {
		if v, ok := r.special(row, c); ok {
			return v
		}
	}
	r.serves(r.pos, row.Reason)
	r.always(row)
	if ofService(row) {
		v, ok := c.named(serviceNames[:]...)
		if a := c.arg(0); !ok && a.kind == valText && strings.HasPrefix(a.text, "http") && strings.Contains(a.text, "://") {
			v, ok = a, true
		}
		if ok && v.from != "none" {
			r.role("api", v, row.Reason)
		}
	}
	r.apply(row, c)
	// What a service's client gives may be written like anything else.
	if i := strings.LastIndexByte(name, '.'); i > 0 && strings.HasSuffix(name[:i], ")") {
		if m := callOf(r.lang() + name[i:]); m != nil && m != row && (m.Special == "save" || m.Special == "optional") {
			if _, ok := r.special(m, c); !ok {
				r.always(m)
				r.apply(m, c)
			}
		}
	}
	return gives
}

// always records what calling a function needs in any case.
func (r *reader) always(row *callRow) {
	for _, need := range row.Needs {
		capability, target, _ := strings.Cut(need, " ")
		r.need(capability, strings.TrimPrefix(target, "?"), !strings.HasPrefix(target, "?"), r.pos, row.Reason)
	}
}

// serviceNames are those of arguments and settings by which a client calls another
// address than the service's own.
var serviceNames = [...]string{"api_base", "apiBase", "api_endpoint", "api_url", "apiUrl", "azure_endpoint", "base_url", "baseUrl", "baseURL", "endpoint", "endpoint_url", "server_url", "serverURL"}

// ofService says whether a row is that of a service.
func ofService(row *callRow) bool {
	return row != nil && slices.ContainsFunc(row.Needs, func(n string) bool { return strings.HasPrefix(n, "external_api.call") })
}

// givenThing is a thing that a function of the text was called with.
type givenThing struct {
	body  *node
	param int
	qual  string
	quiet bool
}

// give reads a function of the text once more, with what it is given to do something
// with: a module, a client. Texts and numbers make no difference to what it does.
func (r *reader) give(c *invoked, body *node) {
	first := 0
	if r.python && len(body.keys) > 0 && (body.keys[0] == "self" || body.keys[0] == "cls") {
		first = 1
	}
	r.spend(len(body.keys) / 16)
	for i, name := range body.keys[first:] {
		a := c.arg(i)
		if v, ok := c.kw.key(name); ok {
			a = v
		}
		a.each(func(x val) {
			key := givenThing{body, i, x.qual, r.quiet > 0}
			if x.kind != valThing || !hasCalls(r.lang()+x.qual+".") || r.given[key] {
				return
			}
			r.given[key] = true
			r.inScope(body.keys, func() {
				r.bind(name, x)
				r.statements(body.kids)
			})
		})
	}
}

// handed reads the functions that a call is given: whoever has one may call it,
// with anything.
func (r *reader) handed(args []val) {
	for _, a := range args {
		a.each(func(f val) {
			if f.kind == valThing && r.known(f.qual) {
				pos := r.pos
				r.invoke(&invoked{qual: f.qual, recv: f.recv, args: []val{{}}, kw: val{kind: valDict}})
				r.pos = pos
			}
		})
	}
}

// functions are those of the values that the table knows: wherever they end up,
// something may call them.
func (r *reader) functions(list []val) (known []val) {
	for _, x := range list {
		if x.kind == valThing && r.known(x.qual) {
			known = append(known, x)
		}
	}
	return known
}

// known says whether a name is that of a function of a module that the table
// has.
func (r *reader) known(qual string) bool {
	if strings.HasSuffix(qual, ")") || strings.HasPrefix(qual, ".") {
		return false
	}
	name := qual
	if !r.python {
		if i := strings.LastIndexByte(qual, '.'); i > 0 && (strings.HasPrefix(qual, "fs.") || strings.HasPrefix(qual, "child_process.")) {
			module, _, _ := strings.Cut(qual, ".")
			name = module + "." + strings.TrimSuffix(qual[i+1:], "Sync")
		}
	}
	row := callOf(r.lang() + name)
	return row != nil && (strings.Contains(qual, ".") || qual == "open" || qual == "exec" || qual == "eval") && (row.Args != "" || len(row.Needs) > 0 || row.Special != "")
}

// reading says whether a function takes the environment without copying it.
func (r *reader) reading(qual string) bool {
	switch qual {
	case "len", "isinstance", "type", "id":
		return true
	}
	return false
}

func (r *reader) apply(row *callRow, c *invoked) {
	i := 0
	for rest := row.Args; rest != ""; {
		var role string
		role, rest, _ = strings.Cut(rest, " ")
		if at, ok := strings.CutPrefix(role, "@"); ok {
			if c.recv != nil {
				r.role(at, *c.recv, row.Reason)
			}
			continue
		}
		if i < len(c.args) {
			r.role(role, c.args[i], row.Reason)
		}
		i++
	}
	for rest := row.Kw; rest != ""; {
		var item string
		item, rest, _ = strings.Cut(rest, " ")
		key, role, _ := strings.Cut(item, ":")
		if v, ok := c.named(key); ok {
			r.role(role, v, row.Reason)
		}
	}
}

// role applies one role to one argument.
func (r *reader) role(role string, v val, reason string) {
	switch {
	case role == "-":
		return
	case v.kind == valChoice || v.kind == valList && role != "address":
		for _, x := range v.items {
			r.role(role, x, reason)
		}
		return
	case v.qual == "file()" && len(v.items) > 0: // Bun.file(path)
		r.role(role, v.items[0], reason)
		return
	case v.kind == valThing && notAFile(v.qual):
		return
	case v.kind == valDict:
		return
	}
	f := v.field()
	here := r.at
	switch role {
	case "t", "s": // as of programs
		r.searched(f, here)
		if role == "t" {
			r.role("r", v, reason)
		}
	case "r", "w", "d", "b", "x", "m":
		if strings.HasPrefix(f.text, "http://") || strings.HasPrefix(f.text, "https://") {
			r.host("web.fetch", f, r.pos, reason)
			return
		}
		if strings.HasPrefix(f.text, "s3://") || strings.HasPrefix(f.text, "gs://") {
			host := "*.amazonaws.com"
			if strings.HasPrefix(f.text, "gs:") {
				host = "*.googleapis.com"
			}
			r.need("external_api.call", host, true, r.pos, reason)
			return
		}
		if f.text == ":memory:" {
			return
		}
		if role == "m" {
			r.makes(f, here, r.pos, reason)
			return
		}
		do := map[string]access{"r": reads, "w": writes, "d": deletes, "b": reads | writes, "x": executes}[role]
		r.path(do, f, here, r.pos, reason)
	case "beside", "within": // where a temporary name is made, which is opened to be read, too
		if role == "beside" {
			v = r.attr(v, "parent")
		}
		if v.from != "temp" && v.from != "none" {
			r.role("b", v, reason)
		}
	case "post":
		r.host("web.post", f, r.pos, reason)
	case "interact":
		if strings.HasPrefix(f.text, "file:") || strings.HasPrefix(f.text, "about:") || strings.HasPrefix(f.text, "data:") {
			if strings.Contains(f.text, "$") || !f.exact {
				r.need("web.interact", "", false, r.pos, reason)
			} else if rest, ok := strings.CutPrefix(f.text, "file://"); ok && rest != "" {
				r.path(reads, literal(rest), here, r.pos, reason)
			}
			return
		}
		r.host("web.interact", f, r.pos, reason)
	case "sql":
		r.stated(f, here, r.pos)
	case "unsafe": // says that what is read may be code
		if v.from != "False" {
			r.opaque(r.pos, reason+", which may be code")
		}
	case "connection": // an address, or what was made of one
		if v.kind == valText {
			r.role("database", v, reason)
		}
	case "address": // (host, port)
		if v.kind == valList && len(v.items) > 0 {
			v.items[0].each(func(x val) { r.host("network.client", x.field(), r.pos, reason) })
		} else if v.kind == valText && strings.HasPrefix(v.text, "/") {
			r.path(reads|writes, f, here, r.pos, reason)
		} else {
			r.need("network.client", "", false, r.pos, reason)
		}
	case "key":
		r.need("secrets.read", f.text, f.exact, r.pos, reason)
	case "api", "database", "fetch", "net": // as of programs, too
		sh := r.newShell(nil)
		sh.dir = here
		sh.role(role, f, r.pos, reason)
	case "browser": // its name, or a command
		if v.kind == valText && (!v.exact || strings.Contains(v.text, "%s")) {
			r.shellCode(v, nil)
		}
	case "codetext": // or a function
		if v.kind == valText {
			r.languageCode(v)
		}
	}
}

// notAFile names things that stand where a path may stand.
func notAFile(qual string) bool {
	for _, p := range [...]string{"io.", "sys.stdin", "sys.stdout", "sys.stderr", "file()", "open()", "requests.", "httpx.", "urllib.", "process.std", "BytesIO", "StringIO", "Buffer.", "subprocess.", "pandas.ExcelWriter", "local "} {
		if strings.HasPrefix(qual, p) {
			return true
		}
	}
	return false
}

// languageCode reads code that the text itself runs: exec, eval, Function.
func (r *reader) languageCode(v val) {
	v.each(func(x val) {
		if f := r.env.text(contents(x), r.at); f.text != "" {
			as := called{lang: "javascript"}
			if r.python {
				as.lang = "python"
			}
			r.newShell(nil).runs(f, r.pos, "runs what the file holds", nil, as)
			return
		}
		if !x.known() || x.decoded {
			r.opaque(r.pos, "the code is decided at run time")
		}
		if x.known() && x.text != "" {
			lang := "javascript"
			if r.python {
				lang = "python"
			}
			r.source(lang, x.text, r.place.fixed(r.pos))
		}
	})
}

// contents gives the file that a value is all the text of.
func contents(x val) field {
	switch {
	case x.kind != valThing:
	case x.qual == "file()" && len(x.items) > 0: // readFileSync(file)
		return x.items[0].field()
	case x.recv == nil || len(x.items) > 0:
	case x.qual == "file().read()" && len(x.recv.items) > 0:
		return x.recv.items[0].field()
	case x.qual == ".read_text()" || x.qual == ".read_bytes()":
		return x.recv.field()
	}
	return field{}
}

// newShell makes a shell for a child process.
func (r *reader) newShell(c *invoked) *shell {
	sh := newShell(r.scan)
	sh.place = r.place.fixed(r.pos)
	sh.stdin = input{given: true}
	if c != nil {
		if d, ok := c.named("cwd"); ok {
			if d.known() {
				sh.dir = sh.moved(d.field())
			} else {
				sh.dir = field{unknown: true}
			}
		}
		if env, ok := c.named("env"); ok {
			r.setVariables(env)
		}
	}
	return sh
}

// shellCode reads text that a shell runs.
func (r *reader) shellCode(v val, c *invoked) {
	v.each(func(x val) {
		f := x.field()
		if !x.known() {
			r.need("process.create", "", false, r.pos, "runs a shell command")
			r.opaque(r.pos, "the command is decided at run time")
			return
		}
		for _, p := range programs(f.text) {
			r.need("process.create", p, true, r.pos, "runs a shell command")
		}
		if x.decoded {
			r.opaque(r.pos, "the command was decoded")
		}
		sh := r.newShell(c)
		sh.shellText(f.text, sh.place, sh)
	})
}

// programs gives the first program of a shell text.
func programs(src string) []string {
	file, err := parseShell(src)
	if err != nil || len(file.Stmts) == 0 {
		return []string{""}
	}
	name := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && name == "" && len(c.Args) > 0 {
			name = c.Args[0].Lit()
		}
		return name == ""
	})
	return []string{name}
}

// argv reads a program and its arguments.
func (r *reader) argv(args []val, c *invoked) {
	if len(args) == 0 {
		return
	}
	var words []field
	for _, a := range args {
		f := a.field()
		if a.kind == valChoice && len(a.items) > 0 {
			f = field{}
		}
		f.many = a.from == "many"
		words = append(words, f)
	}
	p := words[0]
	if !p.exact || args[0].kind != valText {
		args[0].each(func(x val) {
			r.need("process.create", x.field().text, x.known(), r.pos, "starts the program")
			if x.known() {
				w := append([]field{x.field()}, words[1:]...)
				r.newShell(c).run(w, r.pos)
			} else {
				r.opaque(r.pos, "the program is decided at run time")
			}
		})
		return
	}
	if args[0].decoded {
		r.opaque(r.pos, "the name of the program was decoded")
	}
	r.need("process.create", p.text, true, r.pos, "starts the program")
	r.newShell(c).run(words, r.pos)
}

// pure evaluates functions of texts and values, which need nothing.
func (r *reader) pure(c *invoked) (val, bool) {
	a := c.arg(0)
	method := c.qual[strings.LastIndexByte(c.qual, '.')+1:]
	if c.recv != nil && (c.recv.kind == valText || c.recv.kind == valChoice) {
		s := *c.recv
		if s.kind == valText {
			if v, ok := r.textMethod(method, s, c); ok {
				return v, true
			}
		}
	}
	if c.recv != nil && c.recv.kind == valList {
		switch method {
		case "join":
			sep := ","
			if a.kind == valText {
				sep = a.text
			}
			return joined(sep, c.recv.items), true
		case "reverse":
			v := val{kind: valList, items: slices.Clone(c.recv.items)}
			slices.Reverse(v.items)
			return v, true
		case "map", "filter", "concat", "flat", "slice":
			if method == "concat" && a.kind == valList {
				return plus(*c.recv, a), true
			}
			return val{kind: valList, items: append([]val{{from: "many"}}, r.functions(c.recv.items)...)}, true
		case "push", "append", "extend", "forEach", "insert":
			return val{}, false
		}
	}
	if r.python {
		switch c.qual {
		case "str", "os.fspath", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser", "bytes", "shlex.quote", "pathlib.PurePath", "pathlib.PosixPath", "list", "tuple", "sorted", "set", "iter", "reversed", "textwrap.dedent", "os.fsencode", "os.fsdecode":
			if len(c.args) == 0 {
				return val{}, true
			}
			if a.kind == valThing && a.qual != "" {
				r.use(a)
				return val{}, true
			}
			return a, true
		case "os.path.expandvars":
			for _, home := range [...]string{"$HOME", "${HOME}"} {
				if rest, ok := strings.CutPrefix(a.text, home); ok && (rest == "" || rest[0] == '/') {
					a.text = "~" + rest
				}
			}
			a.exact = a.exact && !strings.Contains(a.text, "$")
			return a, true
		case "next":
			if a.kind == valList {
				return choice(append(append([]val{}, a.items...), c.args[1:]...)...), true
			}
		case "pathlib.Path", "path.Path", "anyio.Path":
			if len(c.args) == 0 {
				return val{kind: valText, text: ".", exact: true, qual: "path"}, true
			}
			return joinPath(c.args...), true
		case "shlex.split":
			v := val{kind: valList}
			if !a.known() || a.decoded || strings.ContainsAny(a.text, "'\"\\") {
				return val{}, true
			}
			for _, w := range strings.Fields(a.text) {
				v.items = append(v.items, text(w))
			}
			return v, true
		case "os.path.join":
			return joinPath(c.args...), true
		case "pathlib.Path.home":
			return val{kind: valText, text: "~", exact: true, qual: "path"}, true
		case "pathlib.Path.cwd", "os.getcwd":
			return r.here(), true
		case "os.path.dirname":
			return r.attr(a, "parent"), true
		case "os.path.basename", "os.path.splitext", "os.path.relpath":
			return val{kind: valText}, true
		case "chr":
			return val{kind: valText, decoded: true}, true
		case "base64.b64decode", "base64.urlsafe_b64decode", "base64.standard_b64decode", "base64.decodebytes":
			return decodedBy(a, base64.StdEncoding.DecodeString), true
		case "bytes.fromhex", "binascii.unhexlify", "bytearray.fromhex":
			return decodedBy(a, hex.DecodeString), true
		case "codecs.decode", "zlib.decompress", "gzip.decompress", "bz2.decompress", "lzma.decompress":
			return val{kind: valText, decoded: true}, true
		}
		return val{}, false
	}
	switch c.qual {
	case "path.join", "path.resolve", "path.posix.join":
		return joinPath(c.args...), true
	case "String", "path.normalize", "url.fileURLToPath", "fileURLToPath", "Array.from", "Object.freeze", "decodeURIComponent", "encodeURIComponent", "URL", "url.parse", "Promise.all":
		return a, true
	case "os.homedir":
		return val{kind: valText, text: "~", exact: true, qual: "path"}, true
	case "process.cwd":
		return r.here(), true
	case "path.dirname":
		return r.attr(a, "parent"), true
	case "path.basename", "path.extname", "path.relative":
		return val{kind: valText}, true
	case "atob":
		return decodedBy(a, base64.StdEncoding.DecodeString), true
	case "Buffer.from", "Buffer":
		switch c.arg(1).text {
		case "":
			return a, a.kind == valText
		case "base64":
			return decodedBy(a, base64.StdEncoding.DecodeString), true
		case "hex":
			return decodedBy(a, hex.DecodeString), true
		}
		return val{kind: valText, decoded: true}, true
	case "String.fromCharCode":
		return val{kind: valText, decoded: true}, true
	}
	return val{}, false
}

// here is the directory that the code runs in, to which it may go back.
func (r *reader) here() val {
	v := val{kind: valText, text: ".", exact: true, qual: "path"}
	if r.at.exact && !r.at.unknown {
		v.from = "cwd:" + r.at.text
	}
	return v
}

// decodedBy gives what a text decodes to, "" if it is not known or does not decode.
func decodedBy(a val, decode func(string) ([]byte, error)) val {
	if a.known() {
		if b, err := decode(a.text); err == nil {
			return val{kind: valText, text: string(b), exact: true, decoded: true}
		}
	}
	return val{kind: valText, decoded: true}
}

// joined is what "sep".join(list) gives.
func joined(sep string, items []val) val {
	out := text("")
	for i, x := range items {
		if x.from == "many" || x.kind == valThing || x.kind == valUnknown {
			out.exact = false
			if x.from == "many" || len(items) == 1 {
				return val{kind: valText, text: "", decoded: out.decoded}
			}
		}
		if i > 0 {
			out = plus(out, text(sep))
		}
		out = plus(out, x)
	}
	if len(items) > 0 && len(out.text) <= 4*len(items) {
		out.decoded = true // single letters joined
	}
	return out
}

// textMethod evaluates methods of texts and paths that need nothing.
func (r *reader) textMethod(name string, s val, c *invoked) (val, bool) {
	a := c.arg(0)
	switch name {
	case "strip", "rstrip", "lstrip", "decode", "encode", "as_posix", "resolve", "absolute", "expanduser", "toString", "trim", "trimEnd", "format_map", "removesuffix", "expandvars", "valueOf", "normalize", "readlink":
		if name == "resolve" && !r.python {
			return val{}, false
		}
		return s, true
	case "join", "joinpath":
		if name == "joinpath" {
			return joinPath(append([]val{s}, c.args...)...), true
		}
		if a.kind == valList {
			return joined(s.text, a.items), true
		}
		return val{kind: valText}, true
	case "format":
		out := val{kind: valText, exact: s.exact}
		rest, n := s.text, 0
		for {
			i := strings.IndexByte(rest, '{')
			j := strings.IndexByte(rest, '}')
			if i < 0 || j < i {
				out.text += rest
				return out, true
			}
			out.text += rest[:i]
			name := rest[i+1 : j]
			x, ok := c.kw.key(name)
			if k, err := strconv.Atoi(name); err == nil {
				x, ok = c.arg(k), true
			}
			if !ok {
				x = c.arg(n)
				n++
			}
			out = plus(out, x)
			rest = rest[j+1:]
		}
	case "replace", "replaceAll":
		if len(c.args) >= 2 && a.known() && c.arg(1).known() && s.exact {
			if a.text == "" || strings.Count(s.text, a.text)*len(c.arg(1).text) > maxValue {
				return val{kind: valText, decoded: true}, true
			}
			s.text, s.decoded = strings.ReplaceAll(s.text, a.text, c.arg(1).text), true
			return s, true
		}
		if len(c.args) >= 2 {
			return val{kind: valText}, true
		}
		return val{}, false
	case "split":
		v := val{kind: valList}
		if s.exact && a.known() {
			for _, p := range strings.Split(s.text, a.text) {
				v.items = append(v.items, text(p))
			}
			if a.text == "" {
				for i := range v.items {
					v.items[i].decoded = true
				}
			}
			return v, true
		}
		if s.exact && len(c.args) == 0 && r.python {
			for _, p := range strings.Fields(s.text) {
				v.items = append(v.items, text(p))
			}
			return v, true
		}
		return val{kind: valList, items: []val{{from: "many"}}}, true
	case "lower", "toLowerCase":
		s.text = strings.ToLower(s.text)
		return s, true
	case "upper", "toUpperCase":
		s.text = strings.ToUpper(s.text)
		return s, true
	case "concat":
		for _, x := range c.args {
			s = plus(s, x)
		}
		return s, true
	case "with_suffix":
		if s.exact && a.exact && strings.Contains(s.text, ".") {
			s.text = s.text[:strings.LastIndexByte(s.text, '.')] + a.text
			return s, true
		}
		return val{kind: valText, qual: "path"}, true
	case "with_name", "with_stem", "relative_to":
		if name == "with_name" && s.exact && a.known() {
			if i := strings.LastIndexByte(s.text, '/'); i >= 0 {
				return val{kind: valText, text: s.text[:i+1] + a.text, exact: true, qual: "path"}, true
			}
			return val{kind: valText, text: a.text, exact: true, qual: "path"}, true
		}
		return val{kind: valText, qual: "path"}, true
	case "exists", "is_file", "is_dir", "startswith", "endswith", "startsWith", "endsWith", "includes", "stat", "is_absolute", "match", "is_symlink", "lstat", "padStart", "padEnd", "zfill", "count", "find", "indexOf", "slice", "substring", "substr", "charCodeAt", "test", "splitlines", "title", "capitalize", "ljust", "rjust", "isdigit", "owner":
		return val{kind: valText}, true
	}
	return val{}, false
}
