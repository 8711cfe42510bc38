package scan

import (
	"maps"
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
	pos := sh.pos(c)
	if len(c.Assigns) == 0 {
		for _, fields := range sh.words(c.Args) {
			sh.run(fields, pos)
		}
		return
	}
	words := sh.words(c.Args) // which the assignments are not for
	saved := sh.vars
	sh.spend(len(saved) / 16)
	sh.vars = maps.Clone(saved)
	for _, a := range c.Assigns {
		if a.Name == nil || a.Array != nil {
			continue
		}
		var values []alt
		for _, f := range sh.text(a.Value) {
			sh.environ(a.Name.Value, f, sh.pos(a))
			values = append(values, alt{f})
		}
		sh.vars[a.Name.Value] = values
	}
	own := maps.Clone(sh.vars)
	for _, fields := range words {
		sh.run(fields, sh.pos(c.Args[0]))
	}
	// What the command itself set stays: of read, a function, eval.
	for k, v := range sh.vars {
		if was, ok := own[k]; !ok || !slices.EqualFunc(was, v, slices.Equal[alt]) {
			saved[k] = v
		}
	}
	sh.vars = saved
}

// systemDir says whether the programs of a directory are those that the table
// knows by their last component.
func systemDir(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/lib/ccache", "/usr/lib64/ccache", "/opt/local/bin", "/snap/bin":
		return true
	}
	return false
}

// run reads a program with its arguments.
func (sh *shell) run(fields []field, pos policy.Pos) {
	bare := sh.bare
	sh.bare = false
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
	maybe := false // it is a function or an alias, perhaps
	if bodies, ok := sh.funcs[name]; ok && !bare {
		for _, body := range bodies {
			if body != nil {
				sh.function(body, args, pos)
				maybe = true
			}
		}
		if !sh.apart && !slices.Contains(bodies, nil) {
			return
		}
	}
	if text, ok := sh.alias[name]; ok && !bare {
		delete(sh.alias, name) // an alias does not expand within itself
		sh.aliased(text, args, pos)
		sh.alias[name] = text
		maybe = true // bash expands them where somebody types, and if told to
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
	if !maybe || len(rowsOf(strings.TrimRight(name, "0123456789."))) > 0 {
		sh.program(name, f, args, pos)
	}
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
			sh.runs(literal(at), pos, "PATH leads to the file", nil, called{lang: "kernel"})
			found = true
		}
	}
	apart := sh.apart
	sh.apart = true
	defer func() { sh.apart = apart }()
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
	sh.runs(f, pos, RunsFile, nil, called{f, f, "kernel"})
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
		if sh.vars["HOME"] != nil && (strings.Contains(f.text, "~") || strings.Contains(strings.ToLower(f.text), "home")) {
			sh.opaque(pos, "HOME is another directory to the code")
		}
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
	if strings.HasPrefix(f.text, "http://") || strings.HasPrefix(f.text, "https://") { // of deno, uv and pipx
		sh.host("web.fetch", f, pos, reason)
		sh.opaque(pos, "the code comes from the net")
		return
	}
	if name, ok := strings.CutPrefix(strings.Replace(f.text, "jsr:", "npm:", 1), "npm:"); ok {
		f.text = name
		sh.role("pkg", f, pos, reason)
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
