package scan

import (
	"path"
	"strings"

	"skillrun/policy"
)

// special reads programs whose arguments are a language of their own.
func (sh *shell) special(r *commandRow, in invocation, o *options) {
	switch r.Special {
	case "interpreter":
		sh.interpreter(r, in, o)
	case "env":
		sh.envCommand(in)
	case "xargs":
		sh.xargs(r, in)
	case "find":
		sh.find(in)
	case "sed":
		sh.sed(in, o)
	case "awk":
		sh.awk(in, o)
	case "curl":
		sh.curl(in, o)
	case "wget":
		sh.wget(in, o)
	case "httpie":
		sh.httpie(in, o)
	case "tar":
		sh.tar(in)
	case "dd":
		for _, f := range in.args {
			k, v, _ := strings.Cut(f.text, "=")
			g := f
			g.text = v
			switch k {
			case "if":
				sh.path(reads, g, sh.dir, in.pos, r.Reason)
			case "of":
				sh.path(writes, g, sh.dir, in.pos, r.Reason)
			}
		}
	case "copy":
		sh.remoteCopy(r, in, o)
	case "gzip":
		sh.compress(r, in, o)
	case "kill":
		sh.kill(in)
	case "pip":
		sh.pip(r, in, o)
	case "keys":
		sh.keys(in, o)
	case "clone":
		sh.clone(r, in, o)
	case "remote":
		sh.remote(r, in, o)
	case "pathspec":
		sh.pathspec(r, in, o)
	case "gitconfig":
		sh.gitConfig(r, in, o)
	case "crontab":
		sh.crontab(r, in, o)
	case "connect":
		if v, ok := o.value("-connect", "-host"); ok {
			sh.host("network.client", v, in.pos, r.Reason)
		}
	case "database":
		sh.database(r, in, o)
	case "gobuild":
		sh.goBuild(r, in, o)
	case "aws":
		sh.aws(r, in, o)
	case "parallel":
		sh.parallel(r, in, o)
	default:
		sh.tool(r, in, o)
	}
}

// interpreter reads what python, node, bash and their like run.
func (sh *shell) interpreter(r *commandRow, in invocation, o *options) {
	if len(o.operands) == 0 && o.has("--version", "--help", "-V", "-h") || o.has("--version") && r.Lang != "shell" {
		return
	}
	if r.Lang == "php" && o.has("-S") {
		return // listens
	}
	rest := func(n int) []field {
		if len(o.operands) > n {
			return append([]field{}, o.operands[n:]...)
		}
		return []field{}
	}
	for _, v := range o.values {
		switch v.role {
		case "lang":
			var args []field
			if r.Lang == "shell" { // bash -c CODE NAME ARGS
				args = rest(1)
			}
			sh.code(r.Lang, v.value, in.pos, args)
			return
		case "module":
			sh.module(v.value, rest(0), in.pos)
			return
		}
	}
	if len(o.operands) > 0 && o.operands[0].text != "-" && o.operands[0].text != "/dev/stdin" && !(r.Lang == "shell" && o.has("-s")) {
		sh.script(o.operands[0], in.pos, in.name+" runs the file")
		return
	}
	if !sh.stdin.given {
		sh.need("repl.create", "", true, in.pos, in.name+" without a script reads what is typed")
		return
	}
	f := sh.stdin.text
	if !sh.stdin.literal {
		f.computed = true
	}
	sh.code(r.Lang, f, in.pos, nil)
}

// module reads "python -m NAME ARGS".
func (sh *shell) module(f field, args []field, pos policy.Pos) {
	if f.exact {
		if sh.table(invocation{"python -m " + f.text, args, pos}) {
			return
		}
		if tool := f.text; len(rowsOf(tool)) > 0 && pythonTool(tool) {
			sh.table(invocation{tool, args, pos})
			return
		}
	}
	if !f.exact {
		sh.opaque(pos, "the module is decided at run time")
		return
	}
	sh.need("source_code.execute", f.text, f.exact, pos, "python runs the module")
	name := path.Clean(strings.ReplaceAll(f.text, ".", "/"))
	for _, p := range [...]string{name + ".py", name + "/__main__.py"} {
		if at := sh.env.locate(path.Join(sh.dir.text, p)); at != "" && sh.follow(at, sh.place) {
			return
		}
	}
}

// pythonTool names programs that "python -m" runs too.
func pythonTool(name string) bool {
	switch name {
	case "pip", "pytest", "black", "ruff", "flake8", "mypy", "isort", "pylint", "coverage", "tox", "twine", "build", "pre_commit", "poetry", "uv", "pipx", "jupyter", "ipython", "virtualenv", "playwright", "yt_dlp", "autopep8", "yapf", "bandit":
		return true
	}
	return false
}

func (sh *shell) envCommand(in invocation) {
	args := in.args
	for len(args) > 0 {
		t := args[0].text
		switch {
		case t == "-u" || t == "-C" || t == "--unset" || t == "--chdir":
			if (t == "-C" || t == "--chdir") && len(args) > 1 {
				saved := sh.dir
				sh.dir = sh.moved(args[1])
				defer func() { sh.dir = saved }()
			}
			args = args[min(2, len(args)):]
		case t == "-S" || t == "--split-string":
			if len(args) > 1 {
				sh.code("shell", alt(args[1:]).text(), in.pos, nil)
			}
			return
		case strings.HasPrefix(t, "-S"), strings.HasPrefix(t, "--split-string="):
			args[0].text = strings.TrimPrefix(strings.TrimPrefix(t, "--split-string="), "-S")
			sh.code("shell", alt(args).text(), in.pos, nil)
			return
		case strings.HasPrefix(t, "-") && args[0].exact:
			args = args[1:]
		case strings.Contains(t, "=") && !strings.HasPrefix(t, "="):
			f := args[0]
			var name string
			name, f.text, _ = strings.Cut(t, "=")
			sh.environ(name, f, in.pos)
			args = args[1:]
		default:
			saved := sh.funcs
			sh.funcs = nil
			sh.run(args, in.pos)
			sh.funcs = saved
			return
		}
	}
	sh.need("env_var.read", "*", true, in.pos, "env lists the environment")
}

func (sh *shell) xargs(r *commandRow, in invocation) {
	o := parseOptions(r.Opts, in.args, 1)
	command := append([]field{}, o.operands...)
	if len(command) == 0 {
		return
	}
	place, ok := o.value("-I", "-J", "--replace")
	appended := field{computed: true, many: true}
	if o.has("-i") {
		place, ok = literal("{}"), true
	}
	if ok {
		for i := range command {
			command[i] = substitute(command[i], place.text, field{})
		}
	} else {
		command = append(command, appended)
	}
	in2 := sh.fork()
	in2.stdin = input{given: true}
	in2.run(command, in.pos)
}

// substitute puts g for a mark such as "{}".
func substitute(f field, mark string, g field) field {
	if mark == "" || !strings.Contains(f.text, mark) {
		return f
	}
	f.text = strings.ReplaceAll(f.text, mark, g.text)
	f.exact = f.exact && g.exact
	f.computed = f.computed || g.computed
	return f
}

func (sh *shell) find(in invocation) {
	args := in.args
	for len(args) > 0 && (args[0].text == "-L" || args[0].text == "-H" || args[0].text == "-P") {
		args = args[1:]
	}
	var roots []field
	for len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && args[0].text != "(" && args[0].text != "!" {
		roots = append(roots, args[0])
		args = args[1:]
	}
	if len(roots) == 0 {
		roots = []field{literal(".")}
	}
	for _, d := range roots {
		sh.path(reads, d, sh.dir, in.pos, "find reads the directory")
	}
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-delete":
			for _, d := range roots {
				sh.path(deletes, d, sh.dir, in.pos, "find -delete")
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(args) {
				sh.path(writes, args[i+1], sh.dir, in.pos, "find writes the list")
			}
		case "-newer", "-samefile", "-files0-from":
			i++
		case "-exec", "-execdir", "-ok", "-okdir":
			j := i + 1
			for j < len(args) && args[j].text != ";" && args[j].text != "+" {
				j++
			}
			for _, d := range roots {
				var command []field
				for _, f := range args[i+1 : j] {
					command = append(command, substitute(f, "{}", d))
				}
				sh.fork().run(command, in.pos)
			}
			i = j
		}
	}
}

// sed reads its script for "w FILE" and "e".
func (sh *shell) sed(in invocation, o *options) {
	files := o.operands
	if len(files) > 1 && files[0].text == "" && files[0].exact && o.has("-i") {
		files = files[1:] // -i '' of BSD
	}
	var scripts []field
	given := false
	for _, v := range o.values {
		switch v.name {
		case "-e", "--expression":
			scripts, given = append(scripts, v.value), true
		case "-f", "--file":
			given = true
			sh.path(reads, v.value, sh.dir, in.pos, "sed reads its script")
			sh.unknownAt(in.pos, "not read: sed's script")
		}
	}
	if !given && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	do := reads
	if o.has("-i", "--in-place") {
		do = reads | writes
	}
	for _, f := range files {
		sh.path(do, f, sh.dir, in.pos, "sed edits the files named")
	}
	for _, f := range scripts {
		for _, line := range sedCommands(f.text) {
			switch line[0] {
			case 'w':
				g := f
				g.text = strings.TrimSpace(line[1:])
				sh.path(writes, g, sh.dir, in.pos, "sed writes the file")
			case 'r':
				g := f
				g.text = strings.TrimSpace(line[1:])
				sh.path(reads, g, sh.dir, in.pos, "sed reads the file")
			case 'e':
				if code := strings.TrimSpace(line[1:]); code != "" {
					g := f
					g.text = code
					sh.code("shell", g, in.pos, nil)
				} else {
					sh.opaque(in.pos, "sed runs its input as commands")
				}
			}
		}
	}
}

// sedCommands finds the w, r and e commands and flags of a sed script.
func sedCommands(script string) []string {
	var found []string
	for _, line := range strings.FieldsFunc(script, func(r rune) bool { return r == '\n' }) {
		for i := 0; i < len(line); {
			c := line[i]
			switch {
			case c == ' ' || c == ';' || c == '{' || c == '}' || c == '!' || c == ',' || c == '$' || c == '~' || c == '+' || c >= '0' && c <= '9' || c == '\t':
				i++
			case c == '/':
				i = skipDelimited(line, i+1, '/')
			case c == '\\' && i+1 < len(line):
				i = skipDelimited(line, i+2, line[i+1])
			case (c == 's' || c == 'y') && i+1 < len(line):
				d := line[i+1]
				i = skipDelimited(line, skipDelimited(line, i+2, d), d)
				for i < len(line) && line[i] != ';' && line[i] != '}' && line[i] != '\n' {
					if line[i] == 'w' {
						found = append(found, line[i:])
						return found
					}
					if line[i] == 'e' && c == 's' {
						found = append(found, "e")
					}
					i++
				}
			case c == 'w' || c == 'W' || c == 'r' || c == 'R':
				found = append(found, strings.ToLower(line[i:i+1])+line[i+1:])
				i = len(line)
			case c == 'e':
				found = append(found, line[i:])
				i = len(line)
			case c == 'a' || c == 'i' || c == 'c' || c == '#' || c == ':' || c == 'b' || c == 't':
				if j := strings.IndexByte(line[i:], ';'); j >= 0 && (c == 'b' || c == 't' || c == ':') {
					i += j
				} else {
					i = len(line)
				}
			default:
				i++
			}
		}
	}
	return found
}

func skipDelimited(s string, i int, d byte) int {
	for i < len(s) {
		if s[i] == '\\' {
			i += 2
			continue
		}
		if s[i] == '[' && d != '[' { // a class may hold the delimiter
			if j := strings.IndexByte(s[i:], ']'); j > 1 && !strings.ContainsRune(s[i:i+j], rune(d)) {
				i += j
			}
		}
		if i < len(s) && s[i] == d {
			return i + 1
		}
		i++
	}
	return len(s)
}

// awk reads its program for system(), pipes, getline and redirections.
func (sh *shell) awk(in invocation, o *options) {
	files := o.operands
	var program field
	if v, ok := o.value("-f", "--file"); ok {
		sh.path(executes, v, sh.dir, in.pos, "awk runs the program")
		sh.unknownAt(in.pos, "not read: awk's program")
	} else if v, ok := o.value("-e", "--source"); ok {
		program = v
	} else if len(files) > 0 {
		program, files = files[0], files[1:]
	}
	if o.has("-l", "--load", "-W") || strings.Contains(program.text, "@load") || strings.Contains(program.text, "@include") {
		sh.unknownAt(in.pos, "not read: what awk loads")
	}
	for _, f := range files {
		if f.exact && strings.Contains(f.text, "=") && !strings.ContainsAny(f.text[:strings.IndexByte(f.text, '=')], "/.") {
			continue // an assignment
		}
		do := reads
		if v, ok := o.value("-i", "--include"); ok && v.text == "inplace" {
			do |= writes
		}
		sh.path(do, f, sh.dir, in.pos, "awk reads the files named")
	}
	if !program.exact && program.text == "" && len(o.operands) > 0 {
		sh.opaque(in.pos, "the awk program is decided at run time")
		return
	}
	sh.awkProgram(program, in.pos)
}

func (sh *shell) awkProgram(program field, pos policy.Pos) {
	src := program.text
	// str reads a string literal at i, which must be all of the operand.
	str := func(i int) (string, bool) {
		for i < len(src) && (src[i] == ' ' || src[i] == '(' || src[i] == '\t') {
			i++
		}
		if i >= len(src) || src[i] != '"' {
			return "", false
		}
		j := skipDelimited(src, i+1, '"')
		rest := strings.TrimLeft(src[j:], " \t")
		whole := rest == "" || strings.IndexByte(")};\n|", rest[0]) >= 0
		return ansi(src[i+1 : max(i+1, j-1)]), whole
	}
	depth := 0
	last := -1 // start of the last string literal
	printing := false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			last = i
			i = skipDelimited(src, i+1, '"') - 1
		case c == '/' && regexPlace(src, i):
			i = skipDelimited(src, i+1, '/') - 1
		case c == '#':
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ';' || c == '}' || c == '\n' || c == '{':
			printing = false
		case strings.HasPrefix(src[i:], "print"):
			printing = true
			i += 4
		case strings.HasPrefix(src[i:], "system"):
			if s, ok := str(i + 6); ok {
				sh.code("shell", literal(s), pos, nil)
			} else {
				sh.opaque(pos, "awk runs a command that is decided at run time")
			}
			i += 5
		case c == '|':
			if i+1 < len(src) && src[i+1] == '|' {
				i++
				continue
			}
			rest := strings.TrimLeft(src[i+1:], "& \t")
			if strings.HasPrefix(rest, "getline") {
				if last >= 0 && strings.TrimSpace(src[min(i, skipDelimited(src, last+1, '"')):i]) == "" {
					s, _ := str(last)
					sh.code("shell", literal(s), pos, nil)
				} else {
					sh.opaque(pos, "awk runs a command that is decided at run time")
				}
			} else if s, ok := str(i + 1); ok {
				sh.code("shell", literal(s), pos, nil)
			} else {
				sh.opaque(pos, "awk runs a command that is decided at run time")
			}
		case c == '>' && depth <= 0 && printing:
			j := i + 1
			if j < len(src) && src[j] == '>' {
				j++
			}
			if s, ok := str(j); ok {
				sh.path(writes, literal(s), sh.dir, pos, "awk prints into the file")
			} else {
				sh.path(writes, field{}, sh.dir, pos, "awk prints into a file")
			}
			i = j - 1
		case strings.HasPrefix(src[i:], "getline"):
			rest := strings.TrimLeft(src[i+7:], " \tabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
			if strings.HasPrefix(rest, "<") {
				if s, ok := str(len(src) - len(rest) + 1); ok {
					sh.path(reads, literal(s), sh.dir, pos, "awk reads the file")
				} else {
					sh.path(reads, field{}, sh.dir, pos, "awk reads a file")
				}
			}
			i += 6
		}
	}
}

// regexPlace says whether a slash begins a regular expression.
func regexPlace(s string, i int) bool {
	t := strings.TrimRight(s[:i], " \t\n")
	return t == "" || strings.IndexByte("(,{};!~&|=", t[len(t)-1]) >= 0 || strings.HasSuffix(t, "return")
}

func (sh *shell) tar(in invocation) {
	args := append([]field{}, in.args...)
	if len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && args[0].text != "" {
		args[0].text = "-" + args[0].text
	}
	// Old style: options' values follow in order; "tar czf out.tgz dir" reads alike.
	const opts = "-f:f --file:f -C:- --directory:- -X:r -T:r --files-from:r --exclude:- --exclude-from:r -I:code --use-compress-program:code --info-script:code --new-volume-script:code -F:code --rsh-command:code --rmt-command:code --transform:- -g:b --one-top-level:- --to-command:code --checkpoint-action:- -s:- --strip-components:- --owner:- --group:- --mode:- --format:- -b:- -K:- -N:- --newer:- --mtime:-"
	o := parseOptions(opts, args, 0)
	var file field
	given := false
	for _, v := range o.values {
		switch v.role {
		case "f":
			file, given = v.value, true
		default:
			if v.name == "--checkpoint-action" {
				if code, ok := strings.CutPrefix(v.value.text, "exec="); ok {
					v.value.text = code
					sh.code("shell", v.value, in.pos, nil)
				}
			}
			sh.role(v.role, v.value, in.pos, "tar's option")
		}
	}
	if given && strings.Contains(file.text, ":") && file.exact && !o.has("--force-local") {
		sh.host("network.client", field{text: strings.SplitN(file.text, ":", 2)[0], exact: true}, in.pos, "tar over the network")
		given = false
	}
	dir, hasDir := o.value("-C", "--directory")
	base := sh.dir
	if hasDir {
		base = sh.moved(dir)
	}
	do := func(a access, f field, d field) { sh.path(a, f, d, in.pos, "tar's archive and members") }
	switch {
	case o.has("-c", "-r", "-u", "--create", "--append", "--update", "-A"):
		if given {
			do(writes, file, sh.dir)
		}
		for _, f := range o.operands {
			do(reads, f, base)
		}
		if o.has("--remove-files") {
			for _, f := range o.operands {
				do(deletes, f, base)
			}
		}
	case o.has("-x", "--extract", "--get"):
		if given {
			do(reads, file, sh.dir)
		}
		if o.has("-O", "--to-stdout") {
			return
		}
		if hasDir {
			do(writes, dir, sh.dir)
		} else {
			do(writes, literal("."), sh.dir)
		}
	default:
		if given {
			do(reads, file, sh.dir)
		}
	}
}

// remoteCopy reads scp and rsync: sources, then a destination, each local or
// "host:path".
func (sh *shell) remoteCopy(r *commandRow, in invocation, o *options) {
	ops := o.operands
	for i, f := range ops {
		host, _, ok := strings.Cut(f.text, ":")
		if strings.HasPrefix(f.text, "scp://") || strings.HasPrefix(f.text, "rsync://") || strings.HasPrefix(f.text, "sftp://") {
			sh.host("network.client", f, in.pos, r.Reason)
			continue
		}
		if ok && !strings.Contains(host, "/") && host != "" {
			g := f
			g.text = host
			g.exact = !strings.Contains(host, "$") && !f.computed
			sh.host("network.client", g, in.pos, r.Reason)
			continue
		}
		if !f.exact && f.text != "" && strings.HasPrefix(f.text, "$") && !strings.Contains(f.text, "/") && in.name == "scp" && len(ops) < 2 {
			continue
		}
		if i < len(ops)-1 || len(ops) == 1 && in.name == "rsync" {
			sh.path(reads, f, sh.dir, in.pos, r.Reason)
			if o.has("--remove-source-files") {
				sh.path(deletes, f, sh.dir, in.pos, r.Reason)
			}
			continue
		}
		sh.path(writes, f, sh.dir, in.pos, r.Reason)
		for _, flag := range o.flags {
			if strings.HasPrefix(flag, "--delete") {
				sh.path(deletes, f, sh.dir, in.pos, r.Reason)
				break
			}
		}
	}
}

// compress reads gzip and its like: F becomes F.gz.
func (sh *shell) compress(r *commandRow, in invocation, o *options) {
	ending := r.Lang
	back := o.has("-d", "--decompress", "--uncompress") || strings.Contains(in.name, "un")
	for _, f := range o.operands {
		sh.path(reads, f, sh.dir, in.pos, r.Reason)
		if o.has("-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list") {
			continue
		}
		g := f
		if back {
			g.text = strings.TrimSuffix(f.text, ending)
			if strings.HasSuffix(f.text, ".tgz") {
				g.text = strings.TrimSuffix(f.text, ".tgz") + ".tar"
			}
		} else if !strings.HasSuffix(f.text, "/") && f.text != "." {
			g.text += ending
		}
		if _, ok := o.value("-o"); !ok {
			sh.path(writes, g, sh.dir, in.pos, r.Reason)
		}
		if !o.has("-k", "--keep") && (in.name != "zstd" && in.name != "unzstd" || o.has("--rm")) {
			sh.path(deletes, f, sh.dir, in.pos, r.Reason)
		}
	}
}

func (sh *shell) kill(in invocation) {
	zero := false
	var targets []field
	for i := 0; i < len(in.args); i++ {
		f := in.args[i]
		switch {
		case f.text == "-0":
			zero = true
		case f.text == "-l" || f.text == "-L":
			return
		case f.text == "-s" || f.text == "-n":
			if i+1 < len(in.args) && in.args[i+1].text == "0" {
				zero = true
			}
			i++
		case f.text == "--":
		case strings.HasPrefix(f.text, "-") && len(targets) == 0 && i == 0:
		default:
			targets = append(targets, f)
		}
	}
	if zero {
		sh.need("process.query", "", true, in.pos, "kill -0 asks whether a process is there")
		return
	}
	if len(targets) == 0 {
		targets = []field{{}}
	}
	for _, f := range targets {
		sh.need("process.kill", f.text, f.exact, in.pos, "signals the process")
	}
}

// keys reads "tmux send-keys": what is typed runs in the session.
func (sh *shell) keys(in invocation, o *options) {
	target, _ := o.value("-t", "-p", "-S")
	sh.need("repl.execute", target.text, target.exact, in.pos, "types into the session")
	var text alt
	for _, f := range o.operands {
		switch f.text {
		case "Enter", "C-m", "KPEnter", "C-c", "C-d", "Escape", "Space", "stuff":
			continue
		}
		text = append(text, f)
	}
	if len(text) > 0 {
		f := text.text()
		f.text = strings.TrimRight(f.text, "\r\n")
		sh.code("shell", f, in.pos, nil)
	}
}

func (sh *shell) crontab(r *commandRow, in invocation, o *options) {
	switch {
	case o.has("-l"):
		sh.need("scheduled_job.read", "", true, in.pos, "lists the jobs")
	case o.has("-r"):
		sh.need("scheduled_job.delete", "", true, in.pos, "removes the jobs")
	default:
		sh.need("scheduled_job.create", "", true, in.pos, "sets the jobs")
		for _, f := range o.operands {
			sh.path(reads, f, sh.dir, in.pos, "reads the jobs")
		}
	}
}

func (sh *shell) parallel(r *commandRow, in invocation, o *options) {
	command := append([]field{}, o.operands...)
	values := []field{{computed: true}}
	for i, f := range command {
		if f.text == ":::" || f.text == "::::" || f.text == ":::+" {
			values = nil
			for _, v := range command[i+1:] {
				switch {
				case strings.HasPrefix(v.text, ":::"):
				case f.text == "::::":
					sh.path(reads, v, sh.dir, in.pos, r.Reason)
					values = []field{{computed: true}}
				default:
					values = append(values, v)
				}
			}
			command = command[:i]
			break
		}
	}
	if len(values) > 4*maxAlts {
		values = []field{{computed: true}}
	}
	for _, v := range values {
		var run []field
		has := false
		for _, f := range command {
			for _, mark := range [...]string{"{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}"} {
				if strings.Contains(f.text, mark) {
					has = true
					g := v
					if mark != "{}" && mark != "{1}" {
						g = field{computed: true}
					}
					f = substitute(f, mark, g)
				}
			}
			run = append(run, f)
		}
		if !has {
			run = append(run, v)
		}
		if len(run) > 0 && strings.ContainsAny(run[0].text, " ;|&") {
			sh.shellParts(run, in.pos)
			continue
		}
		sh.fork().run(run, in.pos)
	}
}

// shellParts reads words that a shell joins and reads again. Parts that are not
// known are its variables, not its text.
func (sh *shell) shellParts(words []field, pos policy.Pos) {
	f := alt(words).text()
	c := sh.fork()
	if !f.exact {
		f.exact, f.computed = true, false
	}
	c.code("shell", f, pos, nil)
}
