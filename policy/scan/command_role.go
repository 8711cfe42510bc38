package scan

import (
	"path"
	"slices"
	"strings"

	"skillrun/policy"
)

// role applies one role of the table's rows to one value: what the program does
// with it. The name of a capability is a role, too.
func (sh *shell) role(role string, f field, pos policy.Pos, reason string) {
	does := func(a access) { sh.path(a, f, sh.dir, pos, reason) }
	switch role {
	case "-", "cd", "":
	case "proxy", "scheme", "body", "query", "method", "data", "json", "form", "upload", "out", "url", "prefix", "post", "conn", "port", "editable", "lang", "module":
		// Read by the program's own reader.

	// Files.
	case "r":
		does(reads)
	case "t": // a tree, of whose files it prints or copies what they hold
		does(reads)
		sh.searched(f, sh.dir)
	case "dt": // a tree that it moves
		does(deletes)
		sh.searched(f, sh.dir)
	case "s": // a file or tree that it gives another name
		sh.searched(f, sh.dir)
	case "rev":
		sh.revision(f)
	case "w":
		if code := strings.TrimPrefix(strings.TrimLeft(f.text, "|!"), "%pipe%"); code != f.text { // strace -o '|CMD', gs -o %pipe%CMD
			f.text = code
			sh.code("shell", f, pos)
			return
		}
		does(writes)
	case "inner": // beneath where it writes, or named from the root
		if !f.exact || strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "~") || strings.Contains(f.text, "..") {
			does(writes)
		}
	case "m": // a directory that it makes
		sh.makes(f, sh.dir, pos, reason)
	case "ws": // a file, whatever its name
		does(writes)
	case "d":
		does(deletes)
	case "b":
		if f.text != ":memory:" {
			does(reads | writes)
		}
	case "x":
		does(executes)
	case "rx":
		does(reads | executes)
	case "xt": // a target: "./pkg/...", "tests/a.py::TestX"
		f.text = strings.TrimSuffix(strings.TrimSuffix(f.text, "..."), "/")
		f.text, _, _ = strings.Cut(f.text, "::")
		if f.text == "" {
			f.text = "."
		}
		does(executes)
	case "image": // of ImageMagick: a file, "|CMD", an address or a script
		format, name, ok := strings.Cut(f.text, ":")
		if format, ok = strings.ToLower(format), ok && !strings.HasPrefix(name, "//"); !ok {
			name = f.text
		}
		switch code, piped := strings.CutPrefix(name, "|"); {
		case piped:
			f.text = code
			sh.code("shell", f, pos)
		case ok && format == "msl":
			f.text = name
			does(executes)
		default:
			if file, at := strings.CutPrefix(name, "@"); at && ok { // label:@FILE
				f.text = file
			}
			sh.role("rb", f, pos, reason)
		}
	case "define": // of cmake: "NAME[:TYPE]=VALUE", of which some name code
		k, v, _ := strings.Cut(f.text, "=")
		k, _, _ = strings.Cut(k, ":")
		f.text = v
		switch {
		case strings.HasSuffix(k, "_TOOLCHAIN_FILE"), strings.HasPrefix(k, "CMAKE_PROJECT_") && strings.Contains(k, "INCLUDE"), k == "CMAKE_USER_MAKE_RULES_OVERRIDE":
			sh.role("rx", f, pos, reason)
		case strings.HasSuffix(k, "_COMPILER"), strings.HasSuffix(k, "_LAUNCHER"), strings.HasSuffix(k, "_LINKER"), strings.HasSuffix(k, "_EXECUTABLE"), strings.HasSuffix(k, "_EMULATOR"), k == "CMAKE_MAKE_PROGRAM":
			f.text, _, _ = strings.Cut(v, ";")
			sh.role("bin", f, pos, reason)
		}
	case "source": // of a compiler: a file, or "@FILE" with more arguments
		if file, ok := strings.CutPrefix(f.text, "@"); ok {
			f.text = file
			sh.unknownAt(pos, "not read: arguments in a file")
		}
		does(reads)
	case "tree": // a work tree of git
		if !f.exact || path.Clean(f.text) != "." {
			does(reads | writes)
		}
	case "rules": // of make
		if f.stream || f.text == "-" || f.text == "/dev/stdin" {
			sh.opaque(pos, "rules of make that are piped")
			return
		}
		does(reads | executes)
	case "rb": // a file, or an address
		switch {
		case f.text == "-":
		case strings.Contains(f.text, "://"), strings.HasPrefix(f.text, "git@"):
			sh.host("web.fetch", f, pos, reason)
		default:
			does(reads)
		}
	case "localdir": // a directory, or a package by its name
		if f.exact && (strings.HasPrefix(f.text, ".") || strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "~")) {
			does(reads)
		}
	case "at", "hdr": // "@file", or data
		if rest, ok := strings.CutPrefix(f.text, "@"); ok {
			f.text = rest
			does(reads)
		}
	case "fieldat": // "name=@file", or data
		f.text = f.text[strings.IndexByte(f.text, '=')+1:]
		sh.role("at", f, pos, reason)
	case "fromfile": // "name=file", or a file
		f.text = f.text[strings.IndexByte(f.text, '=')+1:]
		does(reads)
	case "fileb": // "file://path" of aws, "fileb://", or data
		for _, p := range [...]string{"file://", "fileb://"} {
			if rest, ok := strings.CutPrefix(f.text, p); ok {
				f.text = rest
				does(reads)
			}
		}
	case "cookie", "conf": // "name=value", or a file
		if f.exact && !strings.Contains(f.text, "=") {
			does(reads)
		}
	case "pass": // of openssl: "env:NAME", "file:path"
		if rest, ok := strings.CutPrefix(f.text, "env:"); ok {
			sh.variable(rest, pos)
		} else if rest, ok := strings.CutPrefix(f.text, "file:"); ok {
			f.text = rest
			does(reads)
		}
	case "keyed", "into": // of docker: "id=NAME,src=FILE", "NAME=DIR"; "type=local,dest=DIR", or DIR
		for kv := range strings.SplitSeq(f.text, ",") {
			g, k := f, ""
			if k, g.text, _ = strings.Cut(kv, "="); role == "into" {
				if g.text == "" {
					g.text = k
				}
				if k == "dest" || g.text == k {
					sh.path(writes, g, sh.dir, pos, reason)
				}
			} else if k == "env" {
				sh.variable(g.text, pos)
			} else if k != "id" && k != "type" && !strings.Contains(g.text, "://") {
				sh.path(reads, g, sh.dir, pos, reason)
			}
		}
	case "device": // "/dev/x:/dev/y:rwm", or a name that says which kind
		if f.text, _, _ = strings.Cut(f.text, ":"); !f.exact || strings.HasPrefix(f.text, "/") {
			does(reads | writes)
		}
	case "mount":
		sh.mount(f, pos, reason)
	case "key": // a private key or another secret, whatever its name
		p, exact := sh.env.target(f, sh.dir)
		sh.need("secrets.read", p, exact, pos, reason)

	case "bin": // a program by its path, or a name that says nothing
		if !f.exact || strings.Contains(f.text, "/") && !systemDir(path.Dir(f.text)) {
			does(executes)
		}
	case "setting": // "KEY=VALUE"; of some keys the value is a command
		k, v, given := strings.Cut(f.text, "=")
		if !given && strings.Contains(k, "/") { // a file of them
			does(executes)
			return
		}
		f.text = strings.Trim(v, `"'`)
		ends := func(s string) bool { return strings.HasSuffix(k, s) }
		if strings.HasPrefix(k, "Exec") || k == "mta" || slices.ContainsFunc([]string{"sendmail", "linker", "runner", "rustc", "rustdoc", "wrapper"}, ends) {
			sh.code("shell", f, pos)
		}
		sh.environ(k, f, pos)
	case "alias": // of gh: "!CMD"
		if code, ok := strings.CutPrefix(f.text, "!"); ok || !f.exact {
			f.text = code
			sh.code("shell", f, pos)
		}
	case "format": // of tmux "#(CMD)"; of curl "@FILE" and "%output{FILE}"
		if strings.Contains(f.text, "#(") {
			sh.opaque(pos, "a format with commands in it")
		}
		for _, part := range strings.Split(f.text, "%output{")[1:] {
			g := f
			g.text, _, _ = strings.Cut(strings.TrimPrefix(part, ">>"), "}")
			sh.path(writes, g, sh.dir, pos, reason)
		}
		sh.role("at", f, pos, reason)

	// Hosts.
	case "hops": // of ssh -J
		for hop := range strings.SplitSeq(f.text, ",") {
			g := f
			g.text = hop
			sh.host("network.client", g, pos, reason)
		}
	case "fetch":
		sh.host("web.fetch", f, pos, reason)
	case "net":
		sh.host("network.client", f, pos, reason)
	case "daemon": // an address, or a socket by its path
		if file, ok := strings.CutPrefix(f.text, "unix://"); ok {
			f.text = file
			does(reads | writes)
			return
		}
		sh.host("network.client", f, pos, reason)
	case "api": // where a service is called, in place of its own address
		sh.host("external_api.call", f, pos, reason)
	case "database":
		if file, ok := strings.CutPrefix(f.text, "sqlite:///"); ok {
			f.text = file
			does(reads | writes)
		} else if !strings.HasPrefix(f.text, "sqlite:") {
			sh.host("network.client", f, pos, reason)
		}
	case "publish": // where packages are sent
		sh.host("web.post", f, pos, reason)
	case "index": // where packages are looked for: addresses, "NAME=ADDRESS", or a directory
		for _, word := range strings.FieldsFunc(f.text, func(c rune) bool { return strings.ContainsRune(" \t\n,|", c) }) {
			g := f
			if g.text = word; strings.Contains(word, "://") && !strings.HasPrefix(word, "file://") {
				if i := strings.IndexByte(word, '='); i > 0 && i < strings.Index(word, "://") {
					g.text = word[i+1:]
				}
				g.exact = f.exact || !f.computed && !strings.Contains(g.text, "$")
				sh.host("web.fetch", g, pos, reason)
			} else if strings.HasPrefix(word, "file://") || strings.ContainsAny(word[:1], "./~") {
				g.text = strings.TrimPrefix(word, "file://")
				sh.path(reads, g, sh.dir, pos, reason)
			} else if !f.exact {
				sh.host("web.fetch", g, pos, reason)
			}
		}
		if f.text == "" && !f.exact {
			sh.host("web.fetch", f, pos, reason)
		}
	case "connect": // "HOST:PORT:HOST:PORT", of which it connects to the second
		if parts := colons(f.text); len(parts) > 2 {
			sh.elsewhere(f, parts[2], pos, reason)
		}
	case "resolve": // "HOST:PORT:ADDRESS,ADDRESS"
		if parts := colons(f.text); len(parts) > 2 {
			for _, a := range strings.Split(strings.Join(parts[2:], ":"), ",") {
				sh.elsewhere(f, a, pos, reason)
			}
		}
	case "browse":
		sh.host("web.interact", f, pos, reason)
	case "interact": // a page to show: an address, or a file
		if f.exact && !strings.Contains(f.text, "://") && !strings.HasPrefix(f.text, "www.") {
			does(reads)
			return
		}
		sh.host("web.interact", f, pos, reason)

	// Code.
	case "code":
		sh.code("shell", f, pos)
	case "fed": // a command that the other end of a connection types to
		sh.fed(f, pos)
	case "jq": // a program of jq or yq
		sh.environOf(environOfJq, f.text, pos)
		if pattern(`^(?:\./|[\w/~])[\w./~-]*\.(?:csv|json|toml|xml|ya?ml)$`).MatchString(f.text) { // "yq FILE"
			does(reads)
		}
		for _, m := range pattern(loadedByYq).FindAllStringSubmatch(f.text, maxSteps) {
			sh.path(reads, field{text: m[1], exact: m[1] != ""}, sh.dir, pos, reason)
		}
	case "js":
		sh.code("javascript", f, pos)
	case "py":
		sh.code("python", f, pos)
	case "lang2":
		sh.opaque(pos, "inline code in a language that is not read")
	case "run": // a script: read too
		sh.script(f, pos, reason)
	case "task": // a script of the package by its name, or a file
		file := strings.ContainsAny(f.text, "/.")
		if file || !f.exact {
			sh.script(f, pos, reason)
		}
		if !file {
			sh.path(executes, literal("."), sh.dir, pos, reason)
		}
	case "req": // a script, or a package by its name
		if !f.exact || strings.HasPrefix(f.text, ".") || strings.HasPrefix(f.text, "/") {
			sh.runs(f, pos, reason, nil, called{lang: "javascript"})
		}
	case "xm": // a module of Python
		sh.module(f, nil, pos)
	case "ex": // a command of vi or less
		sh.editor(f, pos)
	case "sqlite":
		sh.sqlite(f, pos)
	case "sql": // statements, among which the client has commands of its own
		if pattern(`(?im)\\[!.i]|(?:^|;)\s*(?:edit|pager|source|system|tee)\s|^\s*\\(?:copy|e|ef|ev|g\w*|lo_\w+|o|out|s|setenv|w|write)\b|\\(?:copy|g|gx|o|out|w|write)\s+[^\s'")]`).MatchString(f.text) {
			sh.opaque(pos, "a command of the client")
		}
	case "gp": // of gnuplot
		for _, m := range pattern(`\bset?\s+o\w*\s+["']([^"']*)`).FindAllStringSubmatch(f.text, maxSteps) {
			sh.path(writes, field{text: m[1], exact: f.exact}, sh.dir, pos, reason)
		}
		if pattern(commandOfGnuplot).MatchString(f.text) {
			sh.opaque(pos, "gnuplot runs a command or another script")
		}
	case "gdb":
		text := strings.TrimSpace(f.text)
		if rest, ok := strings.CutPrefix(text, "!"); ok {
			text = "shell " + rest
		}
		word, rest, _ := strings.Cut(text, " ")
		switch f.text = rest; {
		case word == "shell":
			sh.code("shell", f, pos)
		case word == "source":
			sh.role("rx", f, pos, reason)
		case !pattern(plainOfGdb).MatchString(text):
			sh.opaque(pos, "a command of the debugger")
		}
	case "preview": // of fzf, with marks for what is chosen
		f.text = pattern(`\{[+sf]*(?:q|n|[-.\d,]*)\}`).ReplaceAllLiteralString(f.text, `"$1"`)
		sh.code("shell", f, pos)
	case "bind": // of fzf
		if pattern(`\b(?:become|execute|execute-silent|execute-multi|preview|reload|reload-sync|transform[\w-]*)[^\w,+-]`).MatchString(f.text) || !f.exact {
			sh.opaque(pos, "a key with a command")
		}
	case "dc":
		if strings.Contains(f.text, "!") {
			sh.opaque(pos, "dc runs a command")
		}
	case "gitset": // "section.key=value"
		key, value, _ := strings.Cut(f.text, "=")
		f.text = value
		if k := strings.ToLower(key); value != "" && strings.HasPrefix(k, "remote.") && strings.HasSuffix(k, "url") {
			sh.host("network.client", f, pos, "git goes there")
		}
		sh.gitSetting(key, f, pos)
	case "rsh":
		sh.remoteShell(f, pos, reason)
	case "sshopt":
		sh.sshOption(f, pos, reason)

	// Names.
	case "pkg": // by its name, or where it is
		name, at, remote := strings.Cut(f.text, "://")
		if !remote {
			sh.need("package.install", unversioned(f.text), f.exact, pos, reason)
			return
		}
		sh.need("package.install", f.text, f.exact, pos, reason)
		scheme := strings.TrimPrefix(name[strings.LastIndex(name, " ")+1:], "git+")
		f.text = scheme + "://" + at
		if scheme == "ssh" {
			sh.host("network.client", f, pos, reason)
		} else {
			sh.host("web.fetch", f, pos, reason)
		}
	case "assign": // "NAME=value"
		f.text, _, _ = strings.Cut(f.text, "=")
		sh.need("env_var.write", "$"+f.text, f.exact, pos, reason)
	case "envname":
		sh.need("env_var.write", "$"+f.text, f.exact, pos, reason)
	case "envread":
		if !f.exact {
			sh.need("env_var.read", "", false, pos, reason)
			return
		}
		sh.variable(f.text, pos)
	default: // a capability
		sh.need(role, f.text, f.exact, pos, reason)
	}
}

// colons splits a text at the colons that are not in brackets.
func colons(s string) []string {
	in := false
	var parts []string
	begin := 0
	for i := range len(s) {
		switch s[i] {
		case '[', ']':
			in = s[i] == '['
		case ':':
			if !in {
				parts, begin = append(parts, s[begin:i]), i+1
			}
		}
	}
	return append(parts, s[begin:])
}

// elsewhere reads a host that is connected to in place of that of an address.
func (sh *shell) elsewhere(f field, host string, pos policy.Pos, reason string) {
	if host = strings.Trim(host, "[] "); host == "" {
		return
	}
	f.exact = f.exact || !f.computed && !strings.Contains(host, "$")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	f.text = host
	sh.host("network.client", f, pos, reason)
}

// remoteShell reads what rsync -e is told to connect with: ssh and its options,
// or any other command.
func (sh *shell) remoteShell(f field, pos policy.Pos, reason string) {
	words := strings.Fields(f.text)
	if !f.exact || len(words) > 0 && words[0] != "ssh" && words[0] != "rsh" {
		sh.code("shell", f, pos)
		return
	}
	var args []field
	for _, w := range words[min(1, len(words)):] {
		args = append(args, literal(strings.Trim(w, `"'`)))
	}
	o := parseOptions(rowsOf("ssh")[0].Opts, args, 0)
	sh.applyOptions(&o, reason, pos)
}

// sshOption reads "ssh -o KEY=VALUE".
func (sh *shell) sshOption(f field, pos policy.Pos, reason string) {
	k, v, ok := strings.Cut(f.text, "=")
	if !ok {
		k, v, _ = strings.Cut(strings.TrimSpace(f.text), " ")
	}
	f.text = strings.TrimSpace(v)
	switch strings.ToLower(strings.TrimSpace(k)) {
	case "pkcs11provider", "securitykeyprovider":
		sh.path(executes, f, sh.dir, pos, reason)
	case "proxycommand", "localcommand", "knownhostscommand":
		sh.code("shell", f, pos)
	case "identityfile":
		sh.role("key", f, pos, reason)
	case "proxyjump":
		sh.role("hops", f, pos, reason)
	case "hostname":
		if !strings.Contains(f.text, "%") {
			sh.host("network.client", f, pos, reason)
		}
	case "xauthlocation":
		sh.path(executes, f, sh.dir, pos, reason)
	}
}

// unversioned removes the version from the name of a package.
func unversioned(s string) string {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		s = s[:i]
	}
	if i := strings.IndexAny(s, "=<>~![;"); i > 0 {
		s = s[:i]
	}
	return s
}

// mount reads "-v HOST:CONTAINER[:ro]".
func (sh *shell) mount(f field, pos policy.Pos, reason string) {
	do := reads | writes
	parts := strings.Split(f.text, ":")
	if len(parts) > 2 && strings.Contains(parts[2], "ro") {
		do = reads
	}
	if strings.Contains(f.text, "src=") || strings.Contains(f.text, "source=") || strings.Contains(f.text, "type=") {
		src := ""
		for _, kv := range strings.Split(f.text, ",") {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "src", "source":
				src = v
			case "readonly", "ro":
				do = reads
			case "type":
				if v != "bind" {
					return
				}
			}
		}
		parts = []string{src}
	}
	h := parts[0]
	if f.exact && len(parts) == 1 && !strings.Contains(f.text, "=") {
		return // a volume of the runtime's own
	}
	if h == "" || f.exact && !strings.ContainsAny(h[:1], "/.~$") {
		return
	}
	f.text = h
	f.exact = f.exact || !strings.Contains(h, "$") && !f.computed
	sh.path(do, f, sh.dir, pos, reason)
}
