package scan

import (
	"strings"

	"skillrun/policy"
)

// tool reads more programs whose arguments are a language of their own. It is
// false if there is none of that name.
func (sh *shell) tool(r *commandRow, in invocation, o *options) bool {
	read := func(f field) { sh.path(reads, f, sh.dir, in.pos, r.Reason) }
	write := func(f field) { sh.path(writes, f, sh.dir, in.pos, r.Reason) }
	switch r.Special {
	case "ffmpeg":
		sh.ffmpeg(r, in, o)
	case "outside": // git diff of what it has no history of
		for _, f := range o.operands {
			if strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "~") || strings.HasPrefix(f.text, "..") {
				read(f)
			}
		}
	case "qpdf":
		args := o.operands
		for i, f := range args {
			switch {
			case i == len(args)-1 && len(args) > 1 && !o.has("--replace-input"):
				write(f)
			case strings.ContainsAny(f.text, "./$") || i == 0:
				read(f)
			}
		}
		if o.has("--replace-input") && len(args) > 0 {
			write(args[0])
		}
	case "pdftk":
		inputs := true
		for i, f := range in.args {
			switch f.text {
			case "cat", "burst", "dump_data", "fill_form", "rotate", "shuffle", "stamp", "background", "multistamp", "update_info", "generate_fdf", "dump_data_fields", "attach_files", "unpack_files":
				inputs = false
				if (f.text == "fill_form" || strings.HasSuffix(f.text, "stamp") || f.text == "background" || f.text == "update_info") && i+1 < len(in.args) {
					read(in.args[i+1])
				}
			case "output":
				if i+1 < len(in.args) {
					write(in.args[i+1])
				}
				return true
			default:
				if inputs {
					if j := strings.IndexByte(f.text, '='); j >= 0 {
						f.text = f.text[j+1:]
					}
					read(f)
				}
			}
		}
	case "wkhtml":
		ops := o.operands
		for i, f := range ops {
			switch {
			case i == len(ops)-1 && i > 0:
				write(f)
			case strings.Contains(f.text, "://"):
				sh.host("web.fetch", f, in.pos, r.Reason)
			default:
				read(f)
			}
		}
	case "printenv":
		if len(o.operands) == 0 {
			sh.need("env_var.read", "*", true, in.pos, r.Reason)
		}
		for _, f := range o.operands {
			if !f.exact {
				sh.need("env_var.read", "", false, in.pos, r.Reason)
				continue
			}
			sh.variable(f.text, in.pos)
		}
	case "perl":
		sh.perl(r, in, o)
	case "pyzip":
		if v := o.operands; len(v) > 0 {
			if o.has("-c", "--create") {
				write(v[0])
				for _, f := range v[1:] {
					read(f)
				}
			} else {
				read(v[0])
				if o.has("-e", "--extract") {
					if len(v) > 1 {
						write(v[1])
					} else {
						write(literal("."))
					}
				}
			}
		}
	case "uvrun":
		for _, v := range o.values {
			if v.role == "module" {
				sh.module(v.value, o.operands, in.pos)
				o.operands = nil
				return true
			}
		}
		if len(o.operands) > 0 && strings.HasSuffix(o.operands[0].text, ".py") {
			sh.script(o.operands[0], in.pos, r.Reason)
			o.operands = nil
		}
	case "sshkeygen":
		f, ok := o.value("-f")
		switch {
		case o.has("-l", "-y", "-B", "-e"):
			if ok {
				read(f)
			} else {
				sh.need("secrets.read", "~/.ssh", true, in.pos, r.Reason)
			}
		case o.has("-R"):
			sh.need("secrets.write", "~/.ssh/known_hosts", true, in.pos, r.Reason)
		case o.has("-F"):
			sh.need("secrets.read", "~/.ssh/known_hosts", true, in.pos, r.Reason)
		case ok:
			p, exact := sh.env.target(f, sh.dir)
			sh.need("secrets.write", p, exact, in.pos, r.Reason)
		case !o.has("-A"):
			sh.need("secrets.write", "~/.ssh", true, in.pos, r.Reason)
		}
	case "rclone":
		ops := o.operands
		if len(ops) == 0 {
			return true
		}
		verb := ops[0].text
		for i, f := range ops[1:] {
			if strings.Contains(f.text, ":") {
				continue
			}
			switch {
			case (verb == "copy" || verb == "sync" || verb == "move" || verb == "copyto" || verb == "moveto") && i == 1:
				write(f)
				if verb == "sync" {
					sh.path(deletes, f, sh.dir, in.pos, r.Reason)
				}
			default:
				read(f)
				if strings.HasPrefix(verb, "move") {
					sh.path(deletes, f, sh.dir, in.pos, r.Reason)
				}
			}
		}
	case "socat":
		for _, f := range o.operands {
			kind, rest, _ := strings.Cut(f.text, ":")
			g := f
			g.text, _, _ = strings.Cut(rest, ",")
			switch k := strings.ToUpper(kind); {
			case strings.Contains(k, "LISTEN"):
			case strings.HasPrefix(k, "TCP"), strings.HasPrefix(k, "UDP"), strings.HasPrefix(k, "OPENSSL"), strings.HasPrefix(k, "SSL"), strings.HasPrefix(k, "SCTP"):
				sh.host("network.client", g, in.pos, r.Reason)
			case k == "EXEC" || k == "SYSTEM" || k == "SHELL":
				sh.code("shell", g, in.pos, nil)
			case k == "OPEN" || k == "FILE" || k == "GOPEN" || k == "CREATE":
				sh.path(reads|writes, g, sh.dir, in.pos, r.Reason)
			}
		}
	case "dig":
		seen := false
		for _, f := range in.args {
			switch {
			case strings.HasPrefix(f.text, "@"):
				f.text = f.text[1:]
				sh.host("network.client", f, in.pos, r.Reason)
			case strings.HasPrefix(f.text, "+"), strings.HasPrefix(f.text, "-"):
			case f.exact && !strings.ContainsAny(f.text, ".$") && strings.ToUpper(f.text) == f.text:
			case !seen || strings.Contains(f.text, "."):
				sh.host("network.client", f, in.pos, r.Reason)
				seen = true
			}
		}
	case "getent":
		if len(in.args) > 1 && (in.args[0].text == "hosts" || in.args[0].text == "ahosts") {
			sh.host("network.client", in.args[1], in.pos, r.Reason)
		} else if len(in.args) > 0 && in.args[0].text == "shadow" {
			sh.need("secrets.read", "/etc/shadow", true, in.pos, r.Reason)
		}
	case "open":
		if len(o.operands) == 0 {
			sh.need("screen.interact", "", true, in.pos, r.Reason)
		}
		for _, f := range o.operands {
			if strings.Contains(f.text, "://") && !strings.HasPrefix(f.text, "file:") || !f.exact && f.text == "" {
				sh.host("web.interact", f, in.pos, r.Reason)
				continue
			}
			sh.need("screen.interact", f.text, f.exact, in.pos, r.Reason)
			read(f)
		}
	case "service":
		if len(o.operands) > 1 {
			f := o.operands[0]
			switch o.operands[1].text {
			case "status":
				sh.need("process.query", f.text, f.exact, in.pos, r.Reason)
			case "stop":
				sh.need("process.kill", f.text, f.exact, in.pos, r.Reason)
			default:
				sh.need("process.create", f.text, f.exact, in.pos, r.Reason)
			}
		} else {
			sh.need("process.query", "", true, in.pos, r.Reason)
		}
	case "editor":
		for _, f := range o.operands {
			if command, ok := strings.CutPrefix(f.text, "+"); ok {
				f.text = command
				sh.editor(f, in.pos)
				continue
			}
			read(f)
			if r.Lang != "read" {
				write(f)
			}
		}
		if u, ok := o.value("-u"); ok && u.text != "NONE" && u.text != "NORC" && u.text != "DEFAULTS" {
			sh.script(u, in.pos, "its settings are commands")
		}
		if sh.stdin.given && r.Lang != "read" {
			sh.opaque(in.pos, "commands of an editor on its standard input")
		}
	case "npmset":
		if strings.HasSuffix(in.name, " set") || len(in.args) > 0 && in.args[0].text == "set" {
			write(literal("~/.npmrc"))
			for _, f := range in.args {
				if !f.exact || strings.Contains(f.text, "script-shell") || strings.Contains(f.text, "git") || strings.Contains(f.text, "editor") || strings.Contains(f.text, "viewer") {
					sh.opaque(in.pos, "the setting names a program")
				}
			}
		}
	case "sqlite":
		if sh.stdin.given && len(o.operands) < 2 {
			sh.sqlite(sh.stdin.text, in.pos)
			if !sh.stdin.literal {
				sh.unknownAt(in.pos, "not read: commands on the standard input")
			}
		}
	case "skillrun":
		for i, f := range in.args {
			if f.text == "--" {
				if i > 0 {
					sh.need("policy.expand", "skillrun", true, in.pos, r.Reason)
				}
				sh.run(in.args[i+1:], in.pos)
				return true
			}
		}
		if len(in.args) > 0 {
			sh.need("policy.expand", "skillrun", true, in.pos, r.Reason)
		}
	case "containercp":
		for i, f := range o.operands {
			if i > 1 || strings.Contains(f.text, ":") {
				continue
			}
			if i == 0 {
				read(f)
			} else {
				write(f)
			}
		}
	case "envsubst":
		sh.need("env_var.read", "*", true, in.pos, r.Reason)
	case "sips":
		out, ok := field{}, false
		skip := 0
		var files []field
		for i, f := range in.args {
			if skip > 0 {
				skip--
				continue
			}
			switch f.text {
			case "--out", "-o":
				if i+1 < len(in.args) {
					out, ok, skip = in.args[i+1], true, 1
				}
			case "-z", "-c", "-p", "-s", "--resampleHeightWidth", "--setProperty":
				skip = 2
			case "-g", "-Z", "-r", "-f", "--getProperty", "--resampleHeightWidthMax", "--rotate", "--flip", "--resampleWidth", "--resampleHeight":
				skip = 1
			default:
				files = append(files, f)
			}
		}
		for _, f := range files {
			read(f)
			if !ok && !o.has("-g", "--getProperty") {
				write(f)
			}
		}
		if ok {
			write(out)
		}
	default:
		return false
	}
	return true
}

func (sh *shell) ffmpeg(r *commandRow, in invocation, o *options) {
	format := ""
	for _, v := range o.values {
		if v.name == "-f" {
			format = v.value.text
		}
		if v.name != "-i" {
			continue
		}
		switch format {
		case "x11grab", "gdigrab", "kmsgrab":
			sh.need("screen.capture", "", true, in.pos, r.Reason)
		case "v4l2", "video4linux2", "dshow":
			sh.need("camera.capture", v.value.text, v.value.exact, in.pos, r.Reason)
		case "alsa", "pulse", "oss", "jack", "openal":
			sh.need("microphone.record", "", true, in.pos, r.Reason)
		case "avfoundation":
			if strings.HasPrefix(v.value.text, ":") {
				sh.need("microphone.record", "", true, in.pos, r.Reason)
			} else if strings.Contains(strings.ToLower(v.value.text), "screen") {
				sh.need("screen.capture", "", true, in.pos, r.Reason)
			} else {
				sh.need("camera.capture", "", true, in.pos, r.Reason)
			}
		case "lavfi":
		default:
			sh.media(reads, v.value, in, r.Reason)
		}
		format = ""
	}
	for _, f := range o.operands {
		sh.media(writes, f, in, r.Reason)
	}
}

func (sh *shell) media(do access, f field, in invocation, reason string) {
	if strings.Contains(f.text, "://") && !strings.HasPrefix(f.text, "file:") {
		capability := "web.fetch"
		if do == writes {
			capability = "web.post"
		}
		if !strings.HasPrefix(f.text, "http") {
			capability = "network.client"
		}
		sh.host(capability, f, in.pos, reason)
		return
	}
	if strings.HasPrefix(f.text, "pipe:") || strings.HasPrefix(f.text, "concat:") && !f.exact {
		return
	}
	sh.path(do, f, sh.dir, in.pos, reason)
}

// perl reads filters; other inline code is not read.
func (sh *shell) perl(r *commandRow, in invocation, o *options) {
	inline := false
	for _, v := range o.values {
		if v.role != "lang" {
			continue
		}
		inline = true
		code := v.value.text
		filter := o.has("-n", "-p")
		for _, mark := range [...]string{"system", "exec", "open", "`", "qx", "unlink", "socket", "require", "use ", "eval", "do ", "rename", "mkdir", "/e", "|"} {
			if strings.Contains(code, mark) && !(mark == "|" && !strings.Contains(code, "open")) && !(mark == "/e" && !evalFlag(code)) && !(mark == "do " && !strings.Contains(code, "do \"")) {
				filter = false
			}
		}
		if !v.value.exact && !filter {
			filter = false
		}
		if !filter {
			sh.opaque(in.pos, "inline perl")
		}
	}
	if !inline {
		sh.interpreter(r, in, o)
		return
	}
	do := reads
	if o.has("-i") {
		do |= writes
	}
	for _, f := range o.operands {
		sh.path(do, f, sh.dir, in.pos, r.Reason)
	}
}

// evalFlag says whether a substitution ends in a flag e.
func evalFlag(code string) bool {
	i := strings.LastIndexByte(code, '/')
	return i >= 0 && strings.Contains(strings.SplitN(code[i:], ";", 2)[0], "e")
}

// editor reads a command that an editor or a pager is given.
func (sh *shell) editor(f field, pos policy.Pos) {
	command := strings.TrimLeft(f.text, ": ")
	switch {
	case f.exact && strings.HasPrefix(command, "!"):
		f.text = strings.TrimLeft(command, "!")
		sh.code("shell", f, pos, nil)
	case f.exact && strings.Trim(command, "0123456789$gGF") == "", f.exact && strings.HasPrefix(command, "/") && !strings.ContainsAny(command, "|\n"):
	case f.exact && (command == "q" || command == "q!" || command == "qa" || command == "qa!" || command == "qall" || command == "qall!" || command == "wq" || command == "wqa" || command == "x" || command == "xa" || command == "w"):
	default:
		sh.opaque(pos, "a command of the editor")
	}
}

// sqlite reads what sqlite3 is told, for commands that are its own.
func (sh *shell) sqlite(f field, pos policy.Pos) {
	for line := range strings.Lines(f.text) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case ".shell", ".system", ".load", ".read", ".import", ".once", ".output", ".excel", ".edit", ".backup", ".save", ".clone", ".restore", ".log", ".open", ".archive", ".cd":
			sh.opaque(pos, "sqlite's own command "+word)
		}
	}
}

// moreRoles are roles of a single program or two. It is false for capabilities.
func (sh *shell) moreRoles(role string, f field, in invocation, reason string) bool {
	pos := in.pos
	switch role {
	case "rx":
		sh.path(reads|executes, f, sh.dir, pos, reason)
	case "ws":
		sh.path(writes, f, sh.dir, pos, reason)
	case "rb":
		if f.text == "-" {
			return true
		}
		if strings.Contains(f.text, "://") || strings.HasPrefix(f.text, "git@") {
			sh.host("web.fetch", f, pos, reason)
		} else {
			sh.path(reads, f, sh.dir, pos, reason)
		}
	case "js":
		sh.code("javascript", f, pos, nil)
	case "py":
		sh.code("python", f, pos, nil)
	case "xm":
		sh.module(f, nil, pos)
	case "localdir":
		if f.exact && (strings.HasPrefix(f.text, ".") || strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "~")) {
			sh.path(reads, f, sh.dir, pos, reason)
		}
	case "browse":
		sh.host("web.interact", f, pos, reason)
	case "fieldat", "fromfile", "hdr":
		if role == "hdr" {
			sh.role("at", f, pos, reason)
			return true
		}
		if i := strings.IndexByte(f.text, '='); i >= 0 {
			f.text = f.text[i+1:]
			if role == "fieldat" {
				sh.role("at", f, pos, reason)
				return true
			}
		}
		if role == "fromfile" {
			sh.path(reads, f, sh.dir, pos, reason)
		}
	case "cookie":
		if f.exact && !strings.Contains(f.text, "=") {
			sh.path(reads, f, sh.dir, pos, reason)
		}
	case "proxy", "raw", "raw2", "method", "data", "json", "form", "upload", "out", "url", "prefix", "post", "conn", "editable", "lang", "module", "a":
		// Read by the program's own reader.
	case "ex":
		sh.editor(f, pos)
	case "gitset":
		key, value, _ := strings.Cut(f.text, "=")
		f.text = value
		sh.gitSetting(key, f, pos)
	case "req": // a file, or a package by its name
		if !f.exact || strings.HasPrefix(f.text, ".") || strings.HasPrefix(f.text, "/") {
			sh.script(f, pos, reason)
		}
	case "sqlite":
		sh.sqlite(f, pos)
	case "sql":
		if strings.Contains(f.text, `\!`) || strings.HasPrefix(strings.TrimSpace(f.text), "system") || strings.Contains(f.text, "source") || strings.Contains(f.text, `\i`) {
			sh.opaque(pos, "a command of the client")
		}
	case "dc":
		if strings.Contains(f.text, "!") {
			sh.opaque(pos, "dc runs a command")
		}
	case "rsh":
		if words := strings.Fields(f.text); !f.exact || len(words) > 0 && words[0] != "ssh" && words[0] != "rsh" {
			sh.code("shell", f, pos, nil)
			return true
		} else if len(words) > 1 {
			var args []field
			for _, w := range words[1:] {
				args = append(args, literal(strings.Trim(w, `"'`)))
			}
			o := parseOptions(rowsOf("ssh")[0].Opts, args, 0)
			sh.applyOptions(&o, reason, pos)
			return true
		}
		if i := strings.Index(f.text, "-i "); i >= 0 {
			f.text, _, _ = strings.Cut(strings.TrimSpace(f.text[i+3:]), " ")
			sh.role("key", f, pos, reason)
		}
	case "sshopt":
		k, v, ok := strings.Cut(f.text, "=")
		if !ok {
			k, v, _ = strings.Cut(strings.TrimSpace(f.text), " ")
		}
		f.text = strings.TrimSpace(v)
		switch strings.ToLower(strings.TrimSpace(k)) {
		case "pkcs11provider", "securitykeyprovider":
			sh.path(executes, f, sh.dir, pos, reason)
		case "proxycommand", "localcommand", "knownhostscommand":
			sh.code("shell", f, pos, nil)
		case "identityfile":
			sh.role("key", f, pos, reason)
		case "proxyjump":
			sh.host("network.client", f, pos, reason)
		}
	case "assign":
		f.text, _, _ = strings.Cut(f.text, "=")
		sh.need("env_var.write", "$"+f.text, f.exact, pos, reason)
	case "envname":
		sh.need("env_var.write", "$"+f.text, f.exact, pos, reason)
	case "envread":
		sh.variable(f.text, pos)
	case "lang2":
		sh.opaque(pos, "inline code in a language that is not read")
	case "web.interact":
		sh.host(role, f, pos, reason)
	default:
		return false
	}
	return true
}
