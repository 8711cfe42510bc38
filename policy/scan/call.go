package scan

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"skillrun/policy"
)

// call reads a simple command.
func (sh *shell) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			sh.assign(a, false)
		}
		return
	}
	for _, a := range c.Assigns {
		if a.Value == nil {
			continue
		}
		for _, f := range sh.text(a.Value) {
			if a.Name != nil {
				sh.environ(a.Name.Value, f, sh.pos(a))
			}
		}
	}
	pos := sh.pos(c)
	if len(c.Assigns) > 0 {
		pos = sh.pos(c.Args[0])
	}
	for _, fields := range sh.words(c.Args) {
		sh.run(fields, pos)
	}
}

// systemDir says whether the programs of a directory are those that the table
// knows by their last component.
func systemDir(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/opt/local/bin", "/snap/bin":
		return true
	}
	return false
}

// run reads a program with its arguments.
func (sh *shell) run(fields []field, pos policy.Pos) {
	if len(fields) == 0 || !sh.step(pos) {
		return
	}
	if sh.depth > maxDepth {
		sh.opaque(pos, "commands within commands, too deep to read")
		return
	}
	sh.depth++
	defer func() { sh.depth-- }()
	sh.spend(len(fields)/8 + alt(fields).size()/512)
	f, args := fields[0], fields[1:]
	if !f.exact || f.glob {
		if f.text == "" && f.exact {
			return
		}
		sh.opaque(pos, "the program is decided at run time")
		if f.text == "" || strings.ContainsAny(f.text, "$*?[") {
			return
		}
		// What is known of it is read too.
	}
	name := f.text
	if name == "" {
		return
	}
	if body, ok := sh.funcs[name]; ok {
		sh.function(body, args, pos)
		return
	}
	if text, ok := sh.alias[name]; ok {
		delete(sh.alias, name) // an alias does not expand within itself
		sh.aliased(text, args, pos)
		sh.alias[name] = text
		return
	}
	if sh.builtin(name, args, pos) {
		return
	}
	if strings.Contains(name, "/") {
		dir := path.Dir(name)
		if !systemDir(dir) {
			sh.local(f, args, pos)
			return
		}
		name = path.Base(name)
	}
	sh.program(name, f, args, pos)
}

// program reads a program that the search path finds.
func (sh *shell) program(name string, f field, args []field, pos policy.Pos) {
	sh.need("shell.execute", name, f.exact, pos, "the command runs it")
	found := false
	sh.spend(len(sh.programs))
	for _, dir := range sh.programs {
		if sh.env.installed(dir + "/" + name) {
			continue
		}
		if at := sh.env.found(dir + "/" + name); at != "" {
			sh.script(literal(at), pos, "PATH leads to the file")
			found = true
		}
	}
	if sh.table(invocation{name, args, pos}) || found {
		return
	}
	base := strings.TrimRight(name, "0123456789.")
	if base != name && base != "" && sh.table(invocation{base, args, pos}) {
		return
	}
	sh.unknownAt(pos, "not in the table: "+name)
}

// local reads a program that is named by its path: a script, or a known tool
// in a directory of tools such as .venv/bin.
func (sh *shell) local(f field, args []field, pos policy.Pos) {
	base := path.Base(f.text)
	if d := path.Base(path.Dir(f.text)); (d == "bin" || d == ".bin" || d == "Scripts") && len(rowsOf(strings.TrimRight(base, "0123456789."))) > 0 {
		sh.program(base, f, args, pos)
		p, exact := sh.env.target(f, sh.dir)
		switch {
		case sh.env.FS == nil && strings.HasPrefix(f.text, "/"), exact && sh.env.FS != nil && sh.env.installed(p):
			return
		case d == ".bin": // of npm: all of it would be too much
			sh.path(executes, f, sh.dir, pos, "runs the file")
			sh.unknownAt(pos, "not read: "+policy.Escape(p))
			return
		}
	}
	sh.runs(f, pos, RunsFile, nil, called{f, f})
}

// function calls a function of the text.
func (sh *shell) function(body *syntax.Stmt, args []field, pos policy.Pos) {
	if sh.calls > maxDepth || !sh.step(pos) {
		return // recursion: the body was read already
	}
	saved := sh.args
	sh.args = append([]field{}, args...)
	if slices.ContainsFunc(args, func(a field) bool { return a.many }) {
		sh.args = nil
	}
	sh.calls++
	sh.stmt(body)
	sh.calls--
	sh.args = saved
}

// aliased reads the text of an alias with arguments behind it.
func (sh *shell) aliased(text string, args []field, pos policy.Pos) {
	file, err := parseShell(text)
	if err != nil || len(file.Stmts) == 0 {
		sh.opaque(pos, "an alias that cannot be read")
		return
	}
	last := file.Stmts[len(file.Stmts)-1]
	saved := sh.place
	sh.place = saved.fixed(pos)
	sh.letters(file, quotesQuote)
	sh.stmts(file.Stmts[:len(file.Stmts)-1])
	if c, ok := last.Cmd.(*syntax.CallExpr); ok {
		for _, fields := range sh.words(c.Args) {
			sh.run(append(fields, args...), pos)
		}
	} else {
		sh.stmt(last)
	}
	sh.place = saved
}

// code reads text in a language; text that is not fully known is opaque.
func (sh *shell) code(lang string, f field, pos policy.Pos) {
	sh.codeAs(lang, f, pos, nil, called{})
}

// codeAs reads text that a shell runs by a name and with arguments, nil for its own.
func (sh *shell) codeAs(lang string, f field, pos policy.Pos, args []field, as called) {
	if f.stream || !f.exact || f.computed {
		sh.opaque(pos, "the code is decided at run time")
		if f.text == "" || strings.HasPrefix(f.text, "$") {
			return
		}
	}
	switch lang {
	case "shell":
		c := sh.fork()
		if args != nil {
			c.args = args
		}
		c.stdin, c.called = sh.stdin, as
		sh.shellText(f.text, sh.place.fixed(pos), c)
	case "python", "javascript":
		saved := sh.at
		sh.at = sh.dir
		defer func() { sh.at = saved }()
		sh.source(lang, f.text, sh.place.fixed(pos))
	default:
		sh.opaque(pos, "code in a language that is not read: "+lang)
	}
}

// script runs a file, which is read too if it may be followed; its language is
// found out from the file.
func (sh *shell) script(f field, pos policy.Pos, reason string) {
	sh.runs(f, pos, reason, nil, called{})
}

// runs is script, of a file that the shell itself may be the one to run, and that is
// told how it is called.
func (sh *shell) runs(f field, pos policy.Pos, reason string, by *shell, as called) {
	if f.stream {
		sh.opaque(pos, "the code comes from a pipe")
		return
	}
	sh.path(executes, f, sh.dir, pos, reason)
	p, exact := sh.env.target(f, sh.dir)
	if !exact || sh.env.FS == nil {
		return
	}
	name := sh.env.locate(p)
	if name == "" || !sh.followed(name, by, as) {
		sh.unknownAt(pos, "not read: "+policy.Escape(p))
	} else if _, written := sh.seen[needKey{"filesystem.write", p, true}]; written {
		sh.unknownAt(pos, "not read as it will be: "+policy.Escape(p))
	}
}

// followed reads a script that runs in this directory.
func (sh *shell) followed(name string, by *shell, as called) bool {
	at, from := sh.at, sh.place
	defer func() { sh.at, sh.place = at, from }()
	sh.at = sh.dir
	return sh.follow(name, from, by, as)
}

// changed is cd to a directory. Shells keep the name by which they came, and take ".."
// off it, unless told to be physical; after that the name may not be known.
func (sh *shell) changed(f field, physical bool) {
	absolute := strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "~")
	sh.dir = sh.moved(f)
	switch {
	case sh.dir.unknown:
	case physical:
		sh.led = true
	case absolute || !sh.led:
		sh.dir.text, sh.led = sh.env.lexical(sh.dir.text), false
	case strings.Contains(sh.dir.text, ".."):
		sh.dir = field{unknown: true}
	}
}

// builtin reads what the shell itself does. It is false for programs.
func (sh *shell) builtin(name string, args []field, pos policy.Pos) bool {
	switch name {
	case "cd", "pushd":
		physical := sh.physical
		for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' && args[0].exact {
			for _, o := range args[0].text {
				physical = o == 'P' || physical && o != 'L'
			}
			args = args[1:]
		}
		from := sh.dir
		switch {
		case name == "pushd" && (len(args) == 0 || strings.HasPrefix(args[0].text, "+")): // turns the stack
			sh.dir, sh.stack = field{unknown: true}, nil
		case len(args) == 0:
			sh.dir, sh.led = literal("~"), physical
		case args[0].exact && args[0].text == "-":
			sh.dir = sh.last
		case sh.vars["CDPATH"] != nil && !strings.HasPrefix(args[0].text, "/") && !strings.HasPrefix(args[0].text, "."):
			sh.dir = field{unknown: true}
		default:
			sh.changed(args[0], physical)
		}
		if sh.last = from; name == "pushd" {
			sh.stack = append(slices.Clip(sh.stack), from)
		}
	case "popd":
		if sh.last, sh.dir = sh.dir, (field{unknown: true}); len(args) == 0 && len(sh.stack) > 0 {
			sh.dir, sh.stack = sh.stack[len(sh.stack)-1], sh.stack[:len(sh.stack)-1]
		}
	case "eval":
		if len(args) == 0 {
			return true
		}
		f := alt(args).text()
		if !f.exact || f.computed {
			sh.code("shell", f, pos)
			return true
		}
		sh.shellText(f.text, sh.place.fixed(pos), sh)
	case ".", "source":
		if len(args) == 0 {
			return true
		}
		if args[0].stream || args[0].text == "/dev/stdin" {
			sh.opaque(pos, "the code comes from a pipe")
			return true
		}
		saved := sh.args
		if len(args) > 1 {
			sh.args = args[1:]
		}
		as := sh.called
		if as.file.text != "" { // it is bash
			as.file = args[0]
		}
		sh.runs(args[0], pos, "source runs the file", sh, as)
		sh.args = saved
	case "exec", "command", "builtin":
		if name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
			return true
		}
		for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && args[0].exact {
			if args[0].text == "-a" {
				args = args[1:]
			}
			if len(args) > 0 {
				args = args[1:]
			}
		}
		if len(args) > 0 {
			saved := sh.funcs
			if name != "exec" {
				sh.funcs = nil
			}
			sh.run(args, pos)
			sh.funcs = saved
		}
	case "alias":
		for _, f := range args {
			if n, text, ok := strings.Cut(f.text, "="); ok {
				if !f.exact {
					sh.opaque(pos, "an alias that is decided at run time")
					continue
				}
				sh.alias[n] = text
			}
		}
	case "unalias":
		for _, f := range args {
			delete(sh.alias, f.text)
		}
	case "trap":
		for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && len(args[0].text) > 1 {
			args = args[1:]
		}
		if len(args) > 1 && args[0].text != "-" && args[0].text != "" || len(args) > 0 && !args[0].exact {
			// It runs at an unknown time; functions may be defined later.
			sh.code("shell", args[0], pos)
			if args[0].exact && sh.late != nil {
				*sh.late = append(*sh.late, trapped{args[0], pos})
			}
		}
	case "read", "mapfile", "readarray", "getopts":
		sh.reads(name, args, pos)
	case "set":
		if len(args) == 0 {
			sh.need("env_var.read", "*", true, pos, "set lists all variables")
		}
		for i, f := range args {
			if f.text == "--" {
				sh.args = append([]field{}, args[i+1:]...)
				break
			}
			if letters := strings.TrimLeft(f.text, "-+"); len(letters) == len(f.text)-1 && f.exact &&
				(strings.Contains(letters, "P") || strings.Contains(letters, "o") && i+1 < len(args) && args[i+1].text == "physical") {
				sh.physical = f.text[0] == '-'
			}
		}
	case "shift":
		if len(sh.args) > 0 && len(args) == 0 {
			sh.args = sh.args[1:]
		}
	case "unset":
		for _, f := range args {
			sh.evaluated(f, pos)
			if _, ok := sh.vars[f.text]; ok {
				sh.vars[f.text] = []alt{{literal("")}}
			}
			delete(sh.funcs, f.text)
		}
	case "export", "declare", "typeset", "local", "readonly":
		// Reached through a dynamic word only; the parser knows the others.
		for _, f := range args {
			if n, v, ok := strings.Cut(f.text, "="); ok {
				g := f
				g.text = v
				sh.vars[n] = []alt{{g}}
				sh.environ(n, g, pos)
				sh.evaluated(g, pos)
			}
		}
	case "test", "[", "[[", "let", "wait", "printf":
		for _, f := range args {
			sh.evaluated(f, pos)
		}
		if o := parseOptions("-v:-", args, 1); name == "printf" {
			if f, ok := o.value("-v"); ok {
				variable, _, _ := strings.Cut(f.text, "[")
				if !f.exact || f.computed {
					sh.opaque(pos, "a variable whose name is computed")
				}
				sh.vars[variable] = []alt{{{text: ""}}}
			}
		}
	case "complete", "compgen":
		o := parseOptions("-A:- -C:- -F:- -G:- -P:- -S:- -W:- -X:- -o:-", args, 0)
		for _, v := range o.values {
			if v.name == "-C" {
				sh.code("shell", v.value, pos)
			}
		}
	case "bind":
		if o := parseOptions("-x:-", args, 0); o.has("-x", "-f") {
			sh.opaque(pos, "bind has keys run commands")
		}
	case "enable":
		if o := parseOptions("-f:-", args, 0); o.has("-f") {
			f, _ := o.value("-f")
			sh.path(executes, f, sh.dir, pos, "enable loads the library")
		}
	case "hash":
		if o := parseOptions("-p:-", args, 0); o.has("-p") {
			sh.opaque(pos, "hash -p puts another program under the name")
		}
	case "fc":
		if o := parseOptions("-e:-", args, 0); !o.has("-l") {
			sh.opaque(pos, "fc runs commands of the history")
		}
	case "history":
		for i, f := range args {
			if len(f.text) == 2 && strings.Contains("-a -n -r -w", f.text) && i+1 < len(args) {
				sh.path(reads|writes, args[i+1], sh.dir, pos, "history reads and writes the file")
			}
		}
	case ":", "true", "false", "echo", "jobs", "exit", "return", "break", "continue", "ulimit", "umask", "type", "pwd",
		"shopt", "times", "bg", "fg", "disown", "dirs", "help", "logout", "suspend", "caller", "compopt":
	default:
		return false
	}
	return true
}

// reads binds the variables that read and its like set.
func (sh *shell) reads(name string, args []field, pos policy.Pos) {
	opts := "-d:- -n:- -u:- -C:- -c:- -O:- -s:-"
	if name == "read" {
		opts = "-d:- -a:a -i:- -n:- -N:- -p:- -t:- -u:-"
	}
	o := parseOptions(opts, args, 0)
	if name == "getopts" {
		if len(o.operands) > 1 {
			o.operands = o.operands[1:2]
		}
		o.operands = append(o.operands, literal("OPTARG"))
	}
	for _, v := range o.values {
		if v.role == "a" {
			o.operands = append(o.operands, v.value)
		}
		if v.name == "-C" {
			sh.code("shell", v.value, pos)
		}
	}
	if len(o.operands) == 0 {
		o.operands = []field{literal("REPLY"), literal("MAPFILE")}
	}
	for _, f := range o.operands {
		sh.evaluated(f, pos)
		sh.vars[f.text] = []alt{{{text: ""}}}
	}
}
