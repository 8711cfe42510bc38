package scan

import (
	"strings"

	"skillrun/policy"
)

// special reads calls whose arguments decide what they need. It is false if the
// row's roles count as well.
func (r *reader) special(row *callRow, c *invoked) (val, bool) {
	switch row.Special {
	case "open":
		return r.open(row, c, c.arg(0), c.arg(1)), true
	case "pathopen": // Path.open(mode)
		if c.recv != nil {
			return r.open(row, c, *c.recv, c.arg(0)), true
		}
	case "archive":
		r.archive(row, c)
	case "extract":
		r.extract(row, c)
		return val{}, true
	case "glob":
		return r.glob(row, c), true
	case "list": // what lists a directory gives unknown paths
		r.apply(row, c)
		if len(c.args) == 0 && c.recv != nil && c.recv.kind == valThing {
			r.role("r", text("."), row.Reason)
		}
		return val{kind: valList, items: []val{{kind: valText, from: "many"}}}, true
	case "shell":
		r.shellCode(c.arg(0), c)
		for _, a := range c.args[min(1, len(c.args)):] {
			r.use(a)
		}
		return val{kind: valThing, qual: "subprocess.result()"}, true
	case "subprocess":
		r.subprocess(c)
		return val{kind: valThing, qual: "subprocess.result()"}, true
	case "argv":
		r.execute(c)
		return val{}, true
	case "spawn":
		r.spawn(c)
		return val{kind: valThing, qual: "subprocess.result()"}, true
	case "fork":
		c.arg(0).each(func(x val) {
			r.need("process.create", "node", true, r.pos, row.Reason)
			sh := r.newShell(c)
			sh.runs(x.field(), r.pos, row.Reason, nil, called{lang: "javascript"})
		})
		return val{}, true
	case "exec": // exec, eval, compile
		if len(c.args) > 0 && c.args[0].kind == valThing && c.args[0].qual == "compile()" {
			if len(c.args[0].items) > 0 {
				return val{}, true // compile was read
			}
		}
		if c.recv != nil && strings.Contains(c.qual, ".") && c.recv.kind != valThing {
			return val{}, true
		}
		r.languageCode(c.arg(0))
		return val{kind: valThing, qual: c.qual + "()", items: c.args}, true
	case "opaque":
		r.opaque(r.pos, row.Reason)
		r.apply(row, c)
		return val{kind: valThing, qual: c.qual + "()", items: c.args}, true
	case "dictconfig":
		r.configured(c.arg(0))
		if v, ok := c.kw.key("config"); ok {
			r.configured(v)
		} else if len(c.args) == 0 {
			r.opaque(r.pos, "a configuration that is decided at run time")
		}
		return val{}, true
	case "import": // __import__, import_module, require, import()
		return r.dynamicImport(c), true
	case "syspath": // insert(0, dir), append(dir), extend(dirs)
		if len(c.args) > 0 {
			r.searches(c.args[len(c.args)-1])
		}
		return val{}, true
	case "values":
		if runsThings(c.arg(0).qual) {
			return val{kind: valList, items: []val{{kind: valThing, qual: "computed"}}}, true
		}
		return val{}, true
	case "getattr":
		return r.getattr(c), true
	case "chdir": // what follows runs there; of functions the order in the text stands for that in time
		if was, ok := strings.CutPrefix(c.arg(0).from, "cwd:"); ok {
			r.at = field{text: was, exact: true}
		} else {
			r.at = r.newShell(nil).moved(c.arg(0).field())
		}
		return val{}, true
	case "environ":
		v := r.readVariable(c.arg(0))
		if len(c.args) > 1 && c.args[1].kind == valText && v.kind != valText {
			v = c.args[1]
			v.exact = false
		}
		return v, true
	case "setenv":
		r.setVariable(c.arg(0), c.arg(1))
		return val{}, true
	case "setenv-all":
		if r.python {
			r.setVariables(c.kw)
			r.setVariables(c.arg(0))
		} else if c.arg(0).qual == "process.env" {
			r.setVariables(val{kind: valDict, items: c.args[1:]})
		}
		return val{kind: valDict, items: c.args}, true
	case "environ-all":
		r.need("env_var.read", "*", true, r.pos, row.Reason)
		return val{}, true
	case "http":
		r.http(row, c)
		return val{kind: valThing, qual: "requests.result()"}, true
	case "client": // a client of an address: options or arguments
		r.client(row, c)
	case "request": // urllib.request.Request
		return val{kind: valThing, qual: "urllib.request.Request()", items: append(append([]val(nil), c.kw.items...), c.args...), keys: c.kw.keys, recv: &val{items: c.args}}, true
	case "urlopen":
		r.urlopen(row, c)
		return val{kind: valThing, qual: "requests.result()"}, true
	case "nodehttp":
		r.nodeHTTP(row, c)
		return val{kind: valThing, qual: "http.request()"}, true
	case "netconnect":
		r.netConnect(row, c)
		return val{}, true
	case "connect": // x.connect(...): of a socket, a client
		r.connect(row, c)
		return val{}, true
	case "rename":
		r.rename(row, c)
		return val{}, true
	case "save":
		r.save(row, c)
		return val{}, true
	case "method": // path methods: only of what may be a path
		if c.recv != nil && c.recv.kind == valThing && c.recv.qual != "" && !strings.HasPrefix(c.recv.qual, "env:") && !strings.HasPrefix(c.recv.qual, ".") && !strings.HasSuffix(c.recv.qual, "()") {
			return val{}, true
		}
		if c.recv != nil && notAFile(c.recv.qual) {
			return val{}, true
		}
	case "smtp":
		if len(c.args) == 0 {
			if _, ok := c.kw.key("host"); !ok {
				return val{kind: valThing, qual: c.qual + "()"}, true
			}
		}
	case "optional": // only with an argument
		if len(c.args) == 0 && len(c.kw.items) == 0 {
			return val{kind: valThing, qual: c.qual + "()"}, true
		}
	case "temp":
		r.apply(row, c)
		name := val{kind: valText, from: "temp", text: "", qual: "path"}
		if c.qual == "tempfile.mkstemp" { // with a descriptor
			return val{kind: valList, items: []val{{}, name}}, true
		}
		return name, true
	case "unpickle":
		if v, _ := c.kw.key("weights_only"); v.from != "True" {
			r.opaque(r.pos, row.Reason)
		}
	case "yaml": // with a loader that makes whatever the file says
		loader := c.arg(1)
		if v, ok := c.kw.key("Loader"); ok {
			loader = v
		}
		if name := strings.TrimPrefix(loader.qual[strings.LastIndexByte(loader.qual, '.')+1:], "C"); name == "Loader" || name == "UnsafeLoader" {
			r.opaque(r.pos, "loads what may be code")
		}
	case "expression": // of pandas
		if pattern(`__\w+__`).MatchString(c.arg(0).text) {
			r.opaque(r.pos, row.Reason)
		}
	case "statements": // which may name files
		if !c.arg(0).known() {
			r.need("filesystem.read", "", false, r.pos, row.Reason)
		}
	case "fileinput":
		if v, ok := c.kw.key("inplace"); ok && v.from != "False" {
			r.role("w", c.arg(0), row.Reason)
		}
	case "camera":
		if c.arg(0).kind == valText {
			r.role("r", c.arg(0), row.Reason)
		} else {
			r.need("camera.capture", "", true, r.pos, row.Reason)
		}
	case "dotenv":
		f := text(".env")
		if len(c.args) > 0 && c.arg(0).kind != valDict {
			f = c.arg(0)
		}
		if v, ok := c.named("path", "dotenv_path"); ok {
			f = v
		}
		r.role("r", f, row.Reason)
	case "jsread":
		if strings.Contains(c.qual, "eaddir") || strings.Contains(c.qual, "lob") || strings.Contains(c.qual, "eadDir") {
			r.apply(row, c)
			return val{kind: valList, items: []val{{kind: valText, from: "many"}}}, true
		}
		r.apply(row, c)
		return val{kind: valThing, qual: "file()", items: c.args[:min(1, len(c.args))]}, true
	case "download": // of a bucket: (key, file), of an object: (file)
		if len(c.args) > 0 {
			r.role("w", c.args[len(c.args)-1], row.Reason)
		}
		return val{}, true
	case "httpclient":
		return val{kind: valThing, qual: c.qual + "()", items: c.args}, true
	case "httprequest":
		capability := requests(c.arg(0))
		if c.recv != nil && len(c.recv.items) > 0 {
			r.host(capability, c.recv.items[0].field(), r.pos, row.Reason)
		} else {
			r.need(capability, "", false, r.pos, row.Reason)
		}
	case "httpopen":
		r.host(requests(c.arg(0)), c.arg(1).field(), r.pos, row.Reason)
	case "sqlalchemy":
		r.role("database", c.arg(0), row.Reason)
	}
	return val{}, false
}

// searches adds to the directories where modules are looked for.
func (r *reader) searches(v val) {
	v.each(func(x val) {
		if x.kind == valList {
			for _, y := range x.items {
				r.searches(y)
			}
			return
		}
		r.modules = r.lookIn(r.modules, x.field(), r.at)
	})
}

// archive reads ZipFile(path, mode) and tarfile.open(path, mode).
func (r *reader) archive(row *callRow, c *invoked) {
	name := c.arg(0)
	if v, ok := c.kw.key("name", "file"); ok && len(c.args) == 0 {
		name = v
	}
	role := "r"
	if m := r.mode(c, c.arg(1)); m != "" && strings.ContainsAny(m[:1], "wxa") {
		role = "w"
	}
	r.role(role, name, row.Reason)
}

// extract reads extract(member, path) and extractall(path), which without a path
// write here.
func (r *reader) extract(row *callRow, c *invoked) {
	target := c.arg(0)
	if strings.HasSuffix(c.qual, ".extract") {
		target = c.arg(1)
	}
	v, ok := c.kw.key("path", "members_path")
	if ok {
		target = v
	}
	if target.kind == valUnknown && !ok && len(c.args) == 0 || strings.HasSuffix(c.qual, ".extract") && len(c.args) < 2 && !ok {
		target = text(".")
	}
	r.role("w", target, row.Reason)
}

// glob reads path.glob(pattern).
func (r *reader) glob(row *callRow, c *invoked) val {
	if c.recv == nil || c.recv.kind != valText && c.recv.kind != valUnknown && c.recv.kind != valChoice {
		return val{}
	}
	c.recv.each(func(d val) {
		p := joinPath(d, c.arg(0))
		if d.kind == valText && d.text == "." {
			p = c.arg(0)
		}
		r.role("r", p, row.Reason)
	})
	return val{kind: valList, items: []val{{qual: "path", kind: valText}}}
}

// execute reads execl(file, arg...), execv(file, args), spawnv(mode, file, args),
// posix_spawn(path, args) and pty.spawn(args).
func (r *reader) execute(c *invoked) {
	if c.qual == "pty.spawn" {
		args := []val{c.arg(0)}
		if c.arg(0).kind == valList {
			args = c.arg(0).items
		}
		r.argv(args, c)
		return
	}
	if n := len(c.args); n > 2 && (strings.HasSuffix(c.qual, "e") || strings.HasPrefix(c.qual, "os.posix_spawn")) {
		r.setVariables(c.args[n-1])
	}
	args := []val{c.arg(0)}
	if strings.Contains(c.qual, "execl") || strings.Contains(c.qual, "spawnl") {
		first := 2
		if strings.Contains(c.qual, "spawn") {
			args, first = []val{c.arg(1)}, 3
		}
		if len(c.args) > first {
			args = append(args, c.args[first:]...)
		}
	} else {
		rest := c.arg(1)
		if strings.Contains(c.qual, "spawnv") {
			args, rest = []val{c.arg(1)}, c.arg(2)
		}
		if rest.kind == valList && len(rest.items) > 0 {
			args = append(args, rest.items[1:]...)
		} else {
			args = append(args, val{from: "many"})
		}
	}
	r.argv(args, c)
}

// spawn reads spawn(program, [args], options).
func (r *reader) spawn(c *invoked) {
	_, shell := c.named("shell")
	args := []val{c.arg(0)}
	if c.arg(1).kind == valList {
		args = append(args, c.arg(1).items...)
	} else if len(c.args) > 1 && c.arg(1).kind != valDict && c.arg(1).kind != valThing {
		args = append(args, val{from: "many"})
	}
	if shell && len(args) == 1 && strings.Contains(args[0].text, " ") {
		r.shellCode(args[0], c)
		return
	}
	r.argv(args, c)
}

// netConnect reads connect(port, host), connect({host, port}) and connect(path).
func (r *reader) netConnect(row *callRow, c *invoked) {
	if v, ok := c.named("host", "hostname"); ok {
		r.role("net", v, row.Reason)
	} else if v, ok := c.named("path"); ok {
		r.role("b", v, row.Reason)
	} else if len(c.args) > 1 && c.arg(1).kind == valText {
		r.role("net", c.arg(1), row.Reason)
	} else if c.arg(0).kind == valText && strings.HasPrefix(c.arg(0).text, "/") {
		r.role("b", c.arg(0), row.Reason)
	} else if len(c.args) > 1 && c.arg(1).kind == valUnknown {
		r.need("network.client", "", false, r.pos, row.Reason)
	} else {
		r.need("network.client", "localhost", true, r.pos, row.Reason)
	}
}

// rename reads a method that moves what it is of.
func (r *reader) rename(row *callRow, c *invoked) {
	if c.recv == nil || len(c.args) != 1 || c.recv.kind == valThing && !strings.HasPrefix(c.recv.qual, "env:") && c.recv.qual != "" && !strings.HasSuffix(c.recv.qual, "()") {
		return
	}
	if c.recv.kind == valThing && strings.HasPrefix(c.recv.qual, "pandas") {
		return
	}
	r.role("d", *c.recv, row.Reason)
	r.role("w", c.arg(0), row.Reason)
}

// save reads x.save(path), of libraries that write documents.
func (r *reader) save(row *callRow, c *invoked) {
	target := c.arg(0)
	if v, ok := c.named("filename", "path", "fileName"); ok {
		target = v
	} else if len(c.args) == 0 {
		return
	}
	if target.kind == valDict || target.kind == valList {
		return
	}
	r.role("w", target, row.Reason)
}

// requests gives the capability that a request of HTTP needs by its method.
func requests(method val) string {
	switch strings.ToUpper(method.text) {
	case "GET", "HEAD", "OPTIONS":
		return "web.fetch"
	}
	return "web.post"
}

// mode gives the mode of an open call; "?" if it is computed.
func (r *reader) mode(c *invoked, positional val) string {
	v, ok := c.named("mode", "flags", "flag")
	if !ok {
		v = positional
	}
	switch {
	case v.known():
		return v.text
	case v.kind == valDict:
		return "r"
	case v.kind == valUnknown && !ok && positional.kind == valUnknown:
		return "r"
	}
	return "?"
}

func (r *reader) open(row *callRow, c *invoked, name, positional val) val {
	if v, ok := c.kw.key("file", "filename"); ok && len(c.args) == 0 {
		name = v
	}
	mode := r.mode(c, positional)
	switch {
	case mode == "?" || strings.Contains(mode, "r+"):
		r.role("b", name, row.Reason)
	case strings.ContainsAny(mode, "wax"):
		r.role("w", name, row.Reason)
	default:
		r.role("r", name, row.Reason)
	}
	return val{kind: valThing, qual: "file()", items: []val{name}}
}

func (r *reader) subprocess(c *invoked) {
	cmd := c.arg(0)
	if v, ok := c.kw.key("args", "cmd"); ok && len(c.args) == 0 {
		cmd = v
	}
	if v, ok := c.named("cmd"); ok && cmd.kind == valDict { // of Bun and Deno
		cmd = v
	}
	shellText := false
	if _, ok := c.kw.key("shell"); ok {
		shellText = true
	}
	if strings.Contains(c.qual, "create_subprocess_exec") {
		r.argv(c.args, c)
		return
	}
	if c.qual == "Deno.Command" { // (program, {args: [...]})
		args := []val{cmd}
		if v, ok := c.named("args"); ok && v.kind == valList {
			args = append(args, v.items...)
		} else if ok || len(c.args) > 1 && c.arg(1).kind != valDict {
			args = append(args, val{from: "many"})
		}
		r.argv(args, c)
		return
	}
	v, ok := c.kw.key("executable")
	if !ok && len(c.args) > 2 && strings.HasPrefix(c.qual, "subprocess.") {
		v, ok = c.args[2], true
	}
	if ok && v.from != "none" { // in place of the first word, or of the shell
		r.role("x", v, "starts the program")
	}
	cmd.each(func(x val) {
		switch {
		case x.kind == valList && len(x.items) > 0 && x.qual != "argv" && x.items[0].from != "many":
			if shellText {
				r.shellCode(x.items[0], c)
				return
			}
			r.argv(x.items, c)
		case x.known():
			r.shellCode(x, c)
		case x.kind == valText && x.text != "" && !shellText:
			r.shellCode(x, c)
		default:
			r.need("process.create", "", false, r.pos, "starts a program")
			r.opaque(r.pos, "the program is decided at run time")
		}
	})
}

func (r *reader) dynamicImport(c *invoked) val {
	a := c.arg(0)
	if len(c.args) == 0 {
		return val{}
	}
	if !a.known() || a.decoded {
		r.opaque(r.pos, "the module is decided at run time")
		if !a.known() {
			return val{kind: valThing, qual: "imported"}
		}
	}
	module := moduleName(a.text)
	r.native(a.text)
	r.imported(module, a.text)
	r.local(a.text)
	if !r.python && c.qual == "require.resolve" {
		return val{}
	}
	return val{kind: valThing, qual: module}
}

// native reads the loading of a library, as require does by its name.
func (r *reader) native(name string) {
	if !r.python && strings.HasSuffix(name, ".node") {
		r.path(executes, literal(name), field{exact: true}, r.pos, "loads the library")
		r.opaque(r.pos, "native code")
	}
}

// configured reads a configuration of Python's logging, whose dictionaries name
// what is called with the rest of them.
func (r *reader) configured(v val) {
	switch v.kind {
	case valChoice:
		v.each(r.configured)
	case valDict:
		for _, key := range [...]string{"class", "()"} {
			if name, ok := v.key(key); ok && (name.known() || name.kind == valThing) {
				qual := name.qual
				if name.kind == valText {
					qual = name.text
				}
				r.invoke(&invoked{qual: qual, kw: v})
			} else if ok {
				r.opaque(r.pos, "a configuration that is decided at run time")
			}
		}
		for _, x := range v.items {
			if x.kind == valDict || x.kind == valChoice {
				r.configured(x)
			}
		}
	default:
		r.opaque(r.pos, "a configuration that is decided at run time")
	}
}

// extended reads what a class is derived from. What the class is made with, its
// own methods decide.
func (r *reader) extended(base val) {
	base.each(func(v val) {
		if row := callOf(r.lang() + v.qual); v.kind == valThing && row != nil {
			switch row.Special {
			case "argv", "exec", "fork", "opaque", "shell", "spawn", "subprocess":
				r.opaque(r.pos, "a class derived from "+policy.Escape(v.qual))
			}
		}
	})
}

func (r *reader) getattr(c *invoked) val {
	of, name := c.arg(0), c.arg(1)
	if name.known() {
		if name.decoded {
			r.opaque(r.pos, "an attribute whose name is spelled out of pieces")
		}
		return r.attr(of, name.text)
	}
	if of.kind == valThing && !strings.HasPrefix(of.qual, ".") && !strings.HasPrefix(of.qual, "local ") && !strings.Contains(of.qual, "parse_args") {
		return val{kind: valThing, qual: "computed"}
	}
	return val{}
}

// http reads requests.get(url), session.post(url), request(method, url).
func (r *reader) http(row *callRow, c *invoked) {
	method := strings.ToLower(c.qual[strings.LastIndexByte(c.qual, '.')+1:])
	url := c.arg(0)
	if c.recv != nil {
		if base, ok := c.recv.key("base_url", "baseURL", "prefixUrl", "prefix_url"); ok && base.kind == valText {
			if url.kind != valText || !strings.Contains(url.text, "://") {
				url = plus(base, url)
			}
		} else if len(c.recv.items) > 0 && c.recv.items[0].kind == valDict {
			if base, ok := c.recv.items[0].key("baseURL", "prefixUrl"); ok && (url.kind != valText || !strings.Contains(url.text, "://")) {
				url = plus(base, url)
			}
		}
	}
	verb := method
	switch method {
	case "request", "stream":
		if r.python || c.arg(0).kind == valText && c.arg(1).kind == valText {
			verb, url = strings.ToLower(c.arg(0).text), c.arg(1)
			if !c.arg(0).known() {
				verb = "?"
			}
		} else {
			verb = "?"
		}
	case "get", "head", "options", "post", "put", "patch", "delete", "getjson":
	default:
		verb = "get"
	}
	if v, ok := c.named("url", "uri"); ok {
		url = v
	}
	if v, ok := c.named("method"); ok {
		verb = strings.ToLower(v.text)
		if !v.known() {
			verb = "?"
		}
	}
	capability := "web.post"
	switch verb {
	case "get", "head", "options", "getjson":
		capability = "web.fetch"
		if method != "get" && method != "head" {
			if _, ok := c.named("body"); ok && !r.python && verb == "get" && method != "options" {
				capability = "web.post"
			}
		}
	}
	if url.kind == valDict {
		url = val{}
	}
	if url.kind == valThing && url.qual == "Request()" {
		if len(url.items) > 0 {
			url = url.items[0]
		}
	}
	url.each(func(x val) {
		f := x.field()
		if x.kind == valText && strings.HasPrefix(f.text, "/") && f.exact && !r.python {
			r.need(capability, "", false, r.pos, row.Reason)
			return
		}
		r.host(capability, f, r.pos, row.Reason)
	})
}

func (r *reader) urlopen(row *callRow, c *invoked) {
	url, capability := c.arg(0), "web.fetch"
	if v, ok := c.kw.key("url"); ok {
		url = v
	}
	if _, ok := c.kw.key("data"); ok || len(c.args) > 1 && c.qual != "urllib.request.urlretrieve" {
		capability = "web.post"
	}
	if url.kind == valThing && strings.HasSuffix(url.qual, "Request()") {
		q := url
		if _, ok := q.key("data"); ok || q.recv != nil && len(q.recv.items) > 1 {
			capability = "web.post"
		}
		if m, ok := q.key("method"); ok {
			capability = requests(m)
		}
		url = val{}
		if u, ok := q.key("url"); ok {
			url = u
		} else if q.recv != nil && len(q.recv.items) > 0 {
			url = q.recv.items[0]
		}
	}
	url.each(func(x val) { r.host(capability, x.field(), r.pos, row.Reason) })
}

// nodeHTTP reads http.request and https.get.
func (r *reader) nodeHTTP(row *callRow, c *invoked) {
	url := c.arg(0)
	if v, ok := c.named("hostname", "host"); ok {
		url = v
	} else if url.kind == valDict {
		url = text("localhost")
	}
	capability := "web.fetch"
	if strings.HasSuffix(c.qual, ".request") {
		if v, ok := c.named("method"); ok {
			capability = requests(v)
		} else if url.kind == valUnknown || c.arg(0).kind == valUnknown {
			capability = "web.post"
		}
	}
	url.each(func(x val) { r.host(capability, x.field(), r.pos, row.Reason) })
}

// client reads constructors that take a host: Redis(host=...), new Client({...}).
func (r *reader) client(row *callRow, c *invoked) {
	if v, ok := c.named("host", "hostname", "server", "contactPoints", "brokers", "node", "nodes"); ok {
		if v.kind == valDict {
			v, _ = v.key("host", "hostname")
		}
		r.role("net", v, row.Reason)
		return
	}
	if v, ok := c.named("socket"); ok {
		if h, ok := v.key("host"); ok {
			r.role("net", h, row.Reason)
			return
		}
	}
	if v, ok := c.named("url", "uri", "connectionString", "dsn", "conninfo", "hosts", "bootstrap_servers", "server_url"); ok {
		r.role("net", v, row.Reason)
		return
	}
	if a := c.arg(0); len(c.args) > 0 && a.kind != valDict {
		if a.kind == valText && strings.Contains(a.text, "host=") {
			_, h, _ := strings.Cut(a.text, "host=")
			h, _, _ = strings.Cut(h, " ")
			a = val{kind: valText, text: h, exact: a.exact || !strings.Contains(h, "$")}
		}
		r.role("net", a, row.Reason)
		return
	}
	r.need("network.client", "", false, r.pos, row.Reason)
}

// connect reads the method connect of anything.
func (r *reader) connect(row *callRow, c *invoked) {
	a := c.arg(0)
	if v, ok := c.kw.key("hostname", "host"); ok && len(c.args) == 0 {
		a = v
	} else if len(c.args) == 0 {
		if len(c.kw.items) > 0 {
			r.need("network.client", "", false, r.pos, row.Reason)
		}
		return // of a client that knows its address
	}
	if v, ok := c.kw.key("key_filename"); ok {
		r.role("key", v, "logs in with the key")
	}
	switch {
	case a.kind == valList:
		r.role("address", a, row.Reason)
	case a.kind == valDict:
		if v, ok := a.key("host", "hostname"); ok {
			r.role("net", v, row.Reason)
		}
		if v, ok := a.key("privateKeyPath"); ok {
			r.role("key", v, row.Reason)
		}
	case !r.python && len(c.args) > 1 && a.kind != valText && c.arg(1).kind == valText: // (port, host)
		r.role("net", c.arg(1), row.Reason)
	case a.kind == valThing && strings.HasPrefix(a.qual, "local "):
	default:
		r.role("net", a, row.Reason)
	}
}
