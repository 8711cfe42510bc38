package scan

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"skillrun/policy"
)

// command is a program with its arguments, and the row of the table that it is
// read by.
type command struct {
	*shell
	row *commandRow
	in  invocation
	o   *options
}

// What the program does with a file, a host or a thing of another kind, for the
// row's reason.

func (c *command) read(f field)  { c.path(reads, f, c.dir, c.in.pos, c.row.Reason) }
func (c *command) write(f field) { c.path(writes, f, c.dir, c.in.pos, c.row.Reason) }

// fill records a directory that the program makes, which it reads, too.
func (c *command) fill(f field) { c.path(reads|writes, f, c.dir, c.in.pos, c.row.Reason) }

func (c *command) remove(f field) { c.path(deletes, f, c.dir, c.in.pos, c.row.Reason) }

// aside records what the program does to a file on the way.
func (c *command) aside(capability string, f field) {
	reason := c.row.Reason
	if capability == "source_code.delete" {
		reason = "git deletes the files that it replaces"
	}
	p, exact := c.env.target(f, c.dir)
	c.besides(capability, p, exact, c.in.pos, reason)
}

func (c *command) reach(capability string, f field) {
	c.host(capability, f, c.in.pos, c.row.Reason)
}

func (c *command) require(capability, target string, exact bool) {
	c.need(capability, target, exact, c.in.pos, c.row.Reason)
}

// as applies one of the row's roles to a word.
func (c *command) as(role string, f field) { c.role(role, f, c.in.pos, c.row.Reason) }

// special gives a reader of programs whose arguments are a language of their own,
// by the name that rows have for it; nil if there is none.
func special(name string) func(*command) {
	for _, s := range [...]struct {
		name string
		read func(*command)
	}{
		{"awk", (*command).awk},
		{"aws", (*command).aws},
		{"beside", (*command).beside},
		{"clone", (*command).clone},
		{"cloud", (*command).cloud},
		{"containercp", (*command).containerCopy},
		{"copy", (*command).remoteCopy},
		{"curl", (*command).curl},
		{"database", (*command).database},
		{"dd", (*command).dd},
		{"dig", (*command).dig},
		{"editor", (*command).editorFiles},
		{"env", (*command).envCommand},
		{"ffmpeg", (*command).ffmpeg},
		{"exiftool", (*command).exiftool},
		{"fd", (*command).fd},
		{"find", (*command).find},
		{"getent", (*command).getent},
		{"gitconfig", (*command).gitConfig},
		{"gobuild", (*command).goBuild},
		{"gorun", (*command).goBuild},
		{"gzip", (*command).compress},
		{"httpie", (*command).httpie},
		{"interpreter", (*command).interpreter},
		{"keys", (*command).keys},
		{"kill", (*command).kill},
		{"make", (*command).makeVariables},
		{"miller", (*command).miller},
		{"move", (*command).move},
		{"netns", (*command).allSpaces},
		{"network", (*command).network},
		{"npmset", (*command).npmSet},
		{"office", (*command).office},
		{"open", (*command).opener},
		{"outside", (*command).outsideFiles},
		{"parallel", (*command).parallel},
		{"pathspec", (*command).pathspec},
		{"pdftk", (*command).pdftk},
		{"perl", (*command).perl},
		{"pip", (*command).pip},
		{"qpdf", (*command).qpdf},
		{"rclone", (*command).rclone},
		{"remote", (*command).remote},
		{"script", (*command).packageScript},
		{"sed", (*command).sed},
		{"service", (*command).service},
		{"setarch", (*command).setArch},
		{"settings", (*command).settings},
		{"sips", (*command).sips},
		{"skillrun", (*command).nested},
		{"socat", (*command).socat},
		{"sqlite", (*command).sqliteInput},
		{"sshkeygen", (*command).sshKeygen},
		{"tar", (*command).tar},
		{"tcp", (*command).tcp},
		{"typed", (*command).typed},
		{"uvrun", (*command).uvRun},
		{"wget", (*command).wget},
		{"workspace", (*command).workspace},
		{"worktree", (*command).worktree},
		{"xargs", (*command).xargs},
		{"yq", (*command).yq},
	} {
		if s.name == name {
			return s.read
		}
	}
	return nil
}

// interpreter reads what python, node, bash and their like run.
func (c *command) interpreter() {
	told := len(c.o.operands) == 0 && (c.o.has("--version", "--help", "-V", "-h") || c.row.Lang == "PowerShell" && c.o.has("-v", "-version", "-Version", "-help", "-Help"))
	if (told || c.o.has("--version") && c.row.Lang != "shell") && !slices.ContainsFunc(c.o.values, func(v optionValue) bool { // python -c CODE -h
		return v.role == "lang" || v.role == "module" || v.role == "run"
	}) {
		return
	}
	if c.row.Lang == "php" && c.o.has("-S") {
		c.serves(c.in.pos, listens)
		return
	}
	if c.row.Lang == "python" {
		c.standIns()
	}
	rest := func(n int) []field { return append([]field{}, c.o.operands[min(n, len(c.o.operands)):]...) }
	for _, v := range c.o.values {
		switch v.role {
		case "lang":
			var args []field
			var as called
			if c.row.Lang == "shell" { // bash -c CODE NAME ARGS
				args = rest(1)
				if name := rest(0); len(name) > 0 {
					as.self = name[0]
				}
			}
			c.codeAs(c.row.Lang, v.value, c.in.pos, args, as)
			return
		case "module":
			c.module(v.value, rest(0), c.in.pos)
			return
		case "run": // the script; the operands are its arguments
			return
		}
	}
	if len(c.o.operands) > 0 && c.o.operands[0].text != "-" && c.o.operands[0].text != "/dev/stdin" && !(c.row.Lang == "shell" && c.o.has("-s")) {
		f, as := c.o.operands[0], called{lang: c.row.Lang}
		switch c.in.name {
		case "bash":
			as.self, as.file = f, f
		case "sh", "dash", "ash":
			as.self = f
		}
		c.runs(f, c.in.pos, c.in.name+" runs the file", nil, as)
		return
	}
	if !c.stdin.given {
		c.need("repl.create", "", true, c.in.pos, c.in.name+" without a script reads what is typed")
		return
	}
	if f := c.stdin.file; f.text != "" {
		c.runs(f, c.in.pos, c.in.name+" runs the file", nil, called{lang: c.row.Lang})
		return
	}
	f := c.stdin.text
	if !c.stdin.literal {
		f.computed = true
	}
	c.code(c.row.Lang, f, c.in.pos)
}

// standIns reads the modules that python finds before those of its own, which import each
// other: those beside the script, or in the directory that other code runs in.
func (c *command) standIns() {
	at := c.dir
	if len(c.o.operands) > 0 && !c.o.takes("lang") && !c.o.takes("module") && c.o.operands[0].text != "-" {
		at = c.moved(literal(path.Dir(c.o.operands[0].text)))
	}
	p, exact := c.env.target(literal("."), at)
	dir := c.env.locate(p)
	if !exact || dir == "" || at.unknown {
		return
	}
	entries, _ := fs.ReadDir(c.env.FS, strings.TrimPrefix(dir, "/"))
	c.spend(len(entries) / 16)
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".py")
		if !strings.Contains(pythonModules, " "+name+" ") {
			continue
		}
		file := dir + "/" + entry.Name()
		if name == entry.Name() {
			file = c.env.found(file + "/__init__.py")
		}
		if file != "" {
			c.followed(file, nil, called{lang: "python"})
		}
	}
}

// module reads "python -m NAME ARGS".
func (sh *shell) module(f field, args []field, pos policy.Pos) {
	if f.exact {
		if sh.table(invocation{"python -m " + f.text, args, pos}) {
			return
		}
		if tool := strings.ReplaceAll(f.text, "_", "-"); len(rowsOf(tool)) > 0 && pythonTool(f.text) {
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
	sh.spend(len(sh.modules))
	for _, dir := range append([]string{sh.dir.text}, sh.modules...) {
		for _, p := range [...]string{name + ".py", name + "/__main__.py"} {
			if at := sh.env.locate(path.Join(dir, p)); at != "" && sh.followed(at, nil, called{}) {
				return
			}
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

func (c *command) envCommand() {
	args, vars := slices.Clone(c.in.args), c.vars
	c.spend(len(vars) / 16)
	c.vars = maps.Clone(vars)
	defer func(dir field) { c.vars, c.dir = vars, dir }(c.dir)
	for len(args) > 0 {
		t := args[0].text
		if name, value, ok := strings.Cut(t, "="); strings.HasPrefix(name, "--") {
			if t = whole("--argv0:- --chdir:- --split-string:- --unset:-", name); ok {
				t += "=" + value
			}
			args[0].text = t
		}
		switch {
		case len(t) > 2 && t[0] == '-' && strings.IndexByte("0iv", t[1]) >= 0: // -iC is -i -C
			args[0].text = "-" + strings.TrimLeft(t[1:], "0iv")
		case t == "-u", t == "-C", t == "-a", t == "-P", t == "--unset", t == "--chdir", t == "--argv0":
			if (t == "-C" || t == "--chdir") && len(args) > 1 {
				c.dir = c.moved(args[1])
			}
			if t == "-P" {
				c.unknownAt(c.in.pos, "programs are looked for in another directory")
			}
			args = args[min(2, len(args)):]
		case strings.HasPrefix(t, "-C"), strings.HasPrefix(t, "--chdir="):
			f := args[0]
			f.text = strings.TrimPrefix(strings.TrimPrefix(t, "--chdir="), "-C")
			c.dir, args = c.moved(f), args[1:]
		case t == "-S" || t == "--split-string":
			if len(args) > 1 {
				c.splitString(args[1], args[2:])
			}
			return
		case strings.HasPrefix(t, "-S"), strings.HasPrefix(t, "--split-string="):
			args[0].text = strings.TrimPrefix(strings.TrimPrefix(t, "--split-string="), "-S")
			c.splitString(args[0], args[1:])
			return
		case strings.HasPrefix(t, "-") && args[0].exact:
			args = args[1:]
		case strings.Contains(t, "=") && !strings.HasPrefix(t, "="):
			f := args[0]
			var name string
			name, f.text, _ = strings.Cut(t, "=")
			c.environ(name, f, c.in.pos)
			c.vars[name] = []alt{{f}}
			args = args[1:]
		default:
			c.bare = true
			c.run(args, c.in.pos)
			return
		}
	}
	c.need("env_var.read", "*", true, c.in.pos, "env lists the environment")
}

// splitString reads the words that env -S takes from its text, with more behind them.
func (c *command) splitString(f field, more []field) {
	for _, a := range more {
		a.text = " '" + strings.ReplaceAll(a.text, "'", `'\''`) + "'"
		f = f.plus(a)
	}
	c.code("shell", f, c.in.pos)
}

func (c *command) xargs() {
	o := parseOptions(c.row.Opts, c.in.args, 1)
	command := append([]field{}, o.operands...)
	if len(command) == 0 {
		return
	}
	place, ok := o.value("-I", "-J", "-i", "--replace")
	if !ok && o.has("-i", "--replace") {
		place, ok = literal("{}"), true
	}
	rounds := [][]field{{{computed: true, many: true}}}
	if ok {
		rounds = [][]field{{{}}}
	}
	if n, some := o.value("-n", "--max-args"); c.stdin.literal && c.stdin.text.exact && !strings.ContainsAny(c.stdin.text.text, "\"'\\") && !o.has("-0", "--null", "-d", "--delimiter", "-a", "--arg-file", "-E") {
		words, each := strings.Fields(c.stdin.text.text), ok || n.exact && n.text == "1"
		if ok {
			words = strings.Split(strings.TrimSpace(c.stdin.text.text), "\n")
		}
		if len(words) <= 4*maxAlts && (each || !some && !o.has("-L", "--max-lines")) {
			rounds = nil
			for i, w := range words {
				if f := literal(strings.TrimSpace(w)); each || i == 0 {
					rounds = append(rounds, []field{f})
				} else {
					rounds[0] = append(rounds[0], f)
				}
			}
		}
	}
	for _, words := range rounds {
		run := append([]field{}, command...)
		if ok {
			for i := range run {
				run[i] = c.substitute(run[i], place.text, words[0])
			}
		} else {
			run = append(run, words...)
		}
		in2 := c.fork()
		in2.stdin = input{given: true}
		in2.run(run, c.in.pos)
	}
}

// substitute puts g for a mark such as "{}".
func (sh *shell) substitute(f field, mark string, g field) field {
	if mark == "" || sh.spent() || !strings.Contains(f.text, mark) {
		return f
	}
	sh.spend(1 + (len(f.text)+strings.Count(f.text, mark)*len(g.text))/64)
	f.text = strings.ReplaceAll(f.text, mark, g.text)
	f.exact = f.exact && g.exact
	f.computed = f.computed || g.computed
	return f
}

// beneath puts a directory for a mark that stands for what is beneath it, and for what
// is named after that: "{}.bak".
func (sh *shell) beneath(f field, mark string, d field) field {
	if i := strings.LastIndex(f.text, mark); i >= 0 {
		if i += len(mark); strings.Trim(strings.ToLower(f.text[i:]), "abcdefghijklmnopqrstuvwxyz0123456789._-~") == "" {
			f.text = f.text[:i]
		}
	}
	return sh.substitute(f, mark, d)
}

func (c *command) find() {
	args := c.in.args
	var roots []field
	for more := true; more && len(args) > 0; { // options, of BSD too
		switch t := args[0].text; {
		case t == "-D" && len(args) > 1:
			args = args[2:]
		case t == "-f" && len(args) > 1:
			roots, args = append(roots, args[1]), args[2:]
		case t == "--", strings.HasPrefix(t, "-O"), len(t) > 1 && t[0] == '-' && strings.Trim(t[1:], "EHLPXdsx") == "":
			args, more = args[1:], t != "--"
		default:
			more = false
		}
	}
	for len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && args[0].text != "(" && args[0].text != "!" {
		roots = append(roots, args[0])
		args = args[1:]
	}
	for i, f := range args[:max(0, len(args)-1)] {
		if f.text == "-files0-from" {
			c.read(args[i+1])
			roots = []field{{}}
		}
	}
	if len(roots) == 0 {
		roots = []field{literal(".")}
	}
	for _, d := range roots {
		c.path(reads, d, c.dir, c.in.pos, "find reads the directory")
	}
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-delete":
			for _, d := range roots {
				c.path(deletes, d, c.dir, c.in.pos, "find -delete")
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(args) {
				c.path(writes, args[i+1], c.dir, c.in.pos, "find writes the list")
			}
		case "-newer", "-samefile", "-files0-from":
			i++
		case "-exec", "-execdir", "-ok", "-okdir":
			j := i + 1
			for j < len(args) && args[j].text != ";" && args[j].text != "+" {
				j++
			}
			for _, d := range roots {
				if c.spent() {
					return
				}
				c.searched(d, c.dir)
				var command []field
				for _, f := range args[i+1 : j] {
					command = append(command, c.beneath(f, "{}", d))
				}
				c.fork().run(command, c.in.pos)
			}
			i = j
		}
	}
}

// fd reads "fd PATTERN DIR... -x COMMAND", which runs for what is found beneath.
func (c *command) fd() {
	args := c.in.args
	var run []field
	for i, f := range args {
		name, value, given := strings.Cut(f.text, "=")
		if !given && len(name) > 2 && name[1] != '-' {
			name, value, given = name[:2], name[2:], true
		}
		if name != "-x" && name != "-X" && name != "--exec" && name != "--exec-batch" {
			continue
		}
		args, run = args[:i], slices.Clone(args[i+1:])
		if f.text = value; given {
			run = append([]field{f}, run...)
		}
		break
	}
	o := parseOptions(c.row.Opts, args, 0)
	roots := o.operands[min(1, len(o.operands)):]
	if v, ok := o.value("--search-path"); ok {
		roots = append(o.operands, v)
	}
	if len(roots) == 0 {
		roots = []field{literal(".")}
	}
	for _, d := range roots {
		c.read(d)
		if len(run) > 0 {
			c.searched(d, c.dir)
			c.foundBy(run, d)
		}
	}
}

// foundBy reads a command of fd for what is beneath a directory.
func (c *command) foundBy(run []field, d field) {
	if c.spent() {
		return
	}
	var each []field
	for _, f := range run {
		for _, mark := range [...]string{"{}", "{.}", "{//}"} {
			f = c.beneath(f, mark, d)
		}
		for _, mark := range [...]string{"{/}", "{/.}"} { // a name without its directory
			f = c.substitute(f, mark, field{computed: true})
		}
		each = append(each, f)
	}
	if slices.Equal(each, run) {
		each = append(each, d)
	}
	c.fork().run(each, c.in.pos)
}

// typed reads clients whose commands, one of which starts programs, come by their
// standard input or a file.
func (c *command) typed() {
	if c.stdin.given || c.o.has("-b", "-c", "-e", "-f") {
		c.unknownAt(c.in.pos, "not read: commands of "+c.in.name)
	}
}

// parallel reads GNU parallel, whose marks may be code: "{= PERL =}".
func (c *command) parallel() {
	for _, f := range c.in.args {
		if strings.Contains(f.text, "{=") {
			c.opaque(c.in.pos, "inline perl")
		}
	}
	command := append([]field{}, c.o.operands...)
	values := []field{{computed: true}}
	for i, f := range command {
		if f.text == ":::" || f.text == "::::" || f.text == ":::+" {
			values = nil
			for _, v := range command[i+1:] {
				switch {
				case strings.HasPrefix(v.text, ":::"):
				case f.text == "::::":
					c.read(v)
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
					f = c.substitute(f, mark, g)
				}
			}
			run = append(run, f)
		}
		if !has {
			run = append(run, v)
		}
		if len(run) > 0 && strings.ContainsAny(run[0].text, " ;|&") {
			c.shellParts(run, c.in.pos)
			continue
		}
		c.fork().run(run, c.in.pos)
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
	c.code("shell", f, pos)
}
