package scan

import (
	"cmp"
	"encoding/base64"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param gives the values of a parameter expansion; list says that it is "$@"
// or "${a[@]}".
func (sh *shell) param(p *syntax.ParamExp) (values []alt, list bool) {
	if p.Param == nil {
		return []alt{{{computed: true}}}, false
	}
	name := p.Param.Value
	if p.Index != nil {
		sh.arithm(p.Index)
	}
	if sl := p.Slice; sl != nil {
		sh.arithm(sl.Offset)
		sh.arithm(sl.Length)
	}
	if e := p.Exp; e != nil && e.Op == syntax.OtherParamOps && e.Word.Lit() == "P" {
		sh.opaque(sh.pos(p), "a value is expanded as a prompt is")
	}
	if p.Length {
		if _, set := sh.vars[name]; !set && p.Index == nil {
			sh.variable(name, sh.pos(p))
		}
		return []alt{{{text: "$#", computed: true}}}, false
	}
	if p.Excl || p.Names != 0 {
		// ${!x}: which variable is decided at run time; ${!x@} lists names.
		if p.Names == 0 && p.Index == nil {
			if _, set := sh.vars[name]; !set {
				sh.variable(name, sh.pos(p))
			}
			sh.subscripted(true, sh.pos(p))
			for _, v := range sh.vars[name] {
				sh.evaluated(v.text(), sh.pos(p))
			}
			if v, ok := sh.vars[name]; ok && len(v) == 1 && v[0].text().exact {
				name = v[0].text().text
				goto named
			}
			sh.need("env_var.read", "", false, sh.pos(p), "the name of the variable is computed")
		}
		return []alt{{{computed: true}}}, true
	}
named:
	values, list = sh.value(name, p)
	if e := p.Exp; e != nil {
		return sh.expansion(p, values, e), list
	}
	if r := p.Repl; r != nil {
		from, to := sh.text(r.Orig)[0], sh.text(r.With)[0]
		return computed(values, func(s string) string {
			if from.text == "" || strings.Count(s, from.text)*len(to.text) > maxValue {
				return s
			}
			if r.All {
				return strings.ReplaceAll(s, from.text, to.text)
			}
			return strings.Replace(s, from.text, to.text, 1)
		}), list
	}
	if sl := p.Slice; sl != nil {
		if list {
			return sh.sliced(values, name == "@", sl), list
		}
		return computed(values, func(s string) string { return slice(s, sl) }), list
	}
	return values, list
}

// value gives what a parameter is known to hold, and records that it is read
// from the environment if the text does not set it.
func (sh *shell) value(name string, p *syntax.ParamExp) ([]alt, bool) {
	at := "0" // of an array, what its name alone is
	if p.Index != nil {
		at = ""
		if w, ok := p.Index.(*syntax.Word); ok {
			at = w.Lit()
		}
	}
	v, set := sh.vars[name]
	if name == "BASH_SOURCE" && at == "0" && !set && sh.file.text != "" && sh.calls == 0 {
		return []alt{{sh.file}}, false
	}
	if p.Index != nil {
		if !set {
			return []alt{{{text: "$" + name}}}, at == "@" || at == "*"
		}
		if at == "@" || at == "*" {
			return v, at == "@"
		}
		if n, err := strconv.Atoi(at); err == nil && n >= 0 && len(v) == 1 && n < len(v[0]) {
			return []alt{{v[0][n]}}, false
		}
		// One of the elements.
		var all []alt
		for _, a := range v {
			for _, f := range a {
				all = append(all, alt{f})
			}
		}
		if len(all) == 0 || len(all) > maxAlts {
			all = []alt{{{text: "$" + name}}}
		}
		return all, false
	}
	switch name {
	case "@", "*":
		return []alt{sh.positions()}, name == "@"
	case "#", "?", "$", "!", "-":
		return []alt{{{text: "$" + name, computed: true}}}, false
	case "0":
		if sh.self.text != "" && sh.vars["BASH_ARGV0"] == nil {
			return []alt{{sh.self}}, false
		}
		return []alt{{{text: "$0"}}}, false
	}
	if !set {
		switch name {
		case "HOME":
			return []alt{{literal("~")}}, false
		case "PWD":
			return []alt{{sh.here()}}, false
		case "IFS":
			return []alt{{literal(" \t\n")}}, false
		}
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case sh.args == nil:
			return []alt{{{text: "$" + name}}}, false
		case slices.ContainsFunc(sh.args[:min(max(n, 0), len(sh.args))], func(f field) bool { return f.many }):
			return []alt{{{text: "$" + name}}}, false
		case n >= 1 && n <= len(sh.args):
			return []alt{{sh.args[n-1]}}, false
		}
		return []alt{{literal("")}}, false
	}
	if set {
		if len(v) == 1 && len(v[0]) == 1 && v[0][0].text == "" && !v[0][0].exact {
			f := v[0][0]
			f.text = "$" + name
			return []alt{{f}}, false
		}
		if len(v) == 1 && len(v[0]) > 1 { // an array without an index is its first
			return []alt{{v[0][0]}}, false
		}
		return v, false
	}
	sh.variable(name, sh.pos(p))
	return []alt{{{text: "$" + name}}}, false
}

// expansion applies ${a:-b} and its like.
func (sh *shell) expansion(p *syntax.ParamExp, values []alt, e *syntax.Expansion) []alt {
	known := len(values) > 0 && len(values[0]) > 0
	for _, v := range values {
		known = known && v.text().exact && v.text().text != ""
	}
	arg := sh.text(e.Word)
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if known {
			return values
		}
		var all []alt
		for _, f := range arg {
			f.exact, f.computed = false, true
			if f.text == "" {
				f.text = "$" + p.Param.Value
			}
			all = append(all, alt{f})
		}
		if e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull {
			sh.sets(p.Param.Value, all, sh.pos(p))
		}
		return all
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return values
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		all := []alt{{literal("")}}
		for _, f := range arg {
			f.exact, f.computed = false, true
			all = append(all, alt{f})
		}
		if known {
			all = all[1:]
		}
		return all
	}
	return computed(values, func(s string) string {
		a := arg[0].text
		switch e.Op {
		case syntax.RemSmallPrefix, syntax.RemLargePrefix:
			return trimmed(s, a, false, e.Op == syntax.RemLargePrefix)
		case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
			return trimmed(s, a, true, e.Op == syntax.RemLargeSuffix)
		case syntax.UpperAll:
			return strings.ToUpper(s)
		case syntax.LowerAll:
			return strings.ToLower(s)
		}
		return s
	})
}

// computed changes known text; the result is known but never exact.
func computed(values []alt, change func(string) string) []alt {
	var all []alt
	for _, v := range values {
		w := make(alt, len(v))
		for i, f := range v {
			if f.exact {
				f.text = change(f.text)
			}
			f.exact, f.computed = false, true
			w[i] = f
		}
		all = append(all, w)
	}
	return all
}

// trimmed cuts off what a pattern matches at the beginning, or at the end.
func trimmed(s, pattern string, end, longest bool) string {
	rest := s
	for n := 0; n <= len(s) && len(s) <= 4096; n++ {
		cut, kept := s[:n], s[n:]
		if end {
			cut, kept = s[len(s)-n:], s[:len(s)-n]
		}
		if matchText(pattern, cut) {
			if rest = kept; !longest {
				break
			}
		}
	}
	return rest
}

// matchText matches a shell pattern in which "*" spans slashes.
func matchText(pattern, s string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x01"), strings.ReplaceAll(s, "/", "\x01"))
	return ok && err == nil
}

func num(x syntax.ArithmExpr) (int, bool) {
	w, ok := x.(*syntax.Word)
	if !ok || w == nil {
		return 0, false
	}
	n, err := strconv.Atoi(w.Lit())
	return n, err == nil
}

// sliced gives ${a[@]:1} and, of positional parameters, ${@:2}, where $0 is the first.
func (sh *shell) sliced(values []alt, positional bool, sl *syntax.Slice) []alt {
	from, ok := num(sl.Offset)
	length, whole := 0, sl.Length == nil
	if !whole {
		var known bool
		length, known = num(sl.Length)
		ok = ok && known && length >= 0
	}
	var all []alt
	for _, v := range values {
		if positional {
			v = append(alt{{text: "$0"}}, v...)
		}
		if !ok || from < 0 || slices.ContainsFunc(v, func(f field) bool { return f.many || f.text == "" && !f.exact }) {
			all = append(all, alt{{text: "$@", many: true}})
			continue
		}
		v = v[min(from, len(v)):]
		if !whole {
			v = v[:min(length, len(v))]
		}
		all = append(all, v)
	}
	return all
}

func slice(s string, sl *syntax.Slice) string {
	from, ok := num(sl.Offset)
	if !ok || from < 0 || from > len(s) {
		return ""
	}
	s = s[from:]
	if sl.Length == nil {
		return s
	}
	if n, ok := num(sl.Length); ok && n >= 0 && n <= len(s) {
		return s[:n]
	}
	return ""
}

// substitution reads $(...) and gives what is known of its output.
func (sh *shell) substitution(c *syntax.CmdSubst) field {
	sub := sh.fork()
	sub.stmts(c.Stmts)
	if len(c.Stmts) == 0 {
		return literal("")
	}
	if f, ok := sub.printsPath(c.Stmts); ok {
		return f
	}
	if len(c.Stmts) > 1 {
		return field{computed: true}
	}
	f, _ := sub.output(c.Stmts[0])
	f.text = strings.TrimRight(f.text, "\n")
	f.exact, f.computed = false, true
	return f
}

// here is the directory, by a name that is its own after a cd, too.
func (sh *shell) here() field {
	f := sh.dir
	f.exact = f.exact && !f.unknown
	switch absolute := strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "~"); {
	case f.text == "" || f.text == ".":
		f.text = cmp.Or(sh.env.homely(sh.env.Dir), ".")
	case f.exact && !absolute && sh.env.Dir != "":
		f.text = sh.env.homely(sh.env.Dir + "/" + f.text)
	}
	return f
}

// printsPath gives the path that statements print and nothing else: "pwd", "cd DIR && pwd",
// "dirname PATH". The shell has read them, and is where they led.
func (sh *shell) printsPath(stmts []*syntax.Stmt) (field, bool) {
	st := stmts[len(stmts)-1]
	before := stmts[:len(stmts)-1]
	if b, ok := st.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.AndStmt && len(before) == 0 {
		before, st = []*syntax.Stmt{b.X}, b.Y
	}
	sh.quiet++
	defer func() { sh.quiet-- }()
	for _, b := range before {
		if name, args := sh.plain(b); name != "cd" || len(args) != 1 || args[0].text == "-" || !sh.env.straight(sh.dir) {
			return field{}, false
		}
	}
	name, args := sh.plain(st)
	switch {
	case len(st.Redirs) > 0:
	case name == "pwd" && (len(args) == 0 || len(args) == 1 && (args[0].text == "-L" || args[0].text == "-P" && sh.env.straight(sh.dir))):
		return sh.here(), true
	case name == "dirname" && len(args) == 1 && args[0].exact && !args[0].glob && args[0].text != "~" && !strings.HasPrefix(args[0].text, "-"):
		return literal(dirname(args[0].text)), true
	}
	return field{}, false
}

// plain gives a command that is a name and words whose values are known, and no function
// or alias.
func (sh *shell) plain(st *syntax.Stmt) (name string, args alt) {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || st.Negated || st.Background || st.Coprocess {
		return "", nil
	}
	all := sh.words(c.Args)
	if len(all) != 1 || len(all[0]) == 0 || !all[0][0].exact || sh.funcs[all[0][0].text] != nil || sh.alias[all[0][0].text] != "" {
		return "", nil
	}
	return all[0][0].text, all[0][1:]
}

// dirname is what the program of that name makes of a path: it cuts, and cleans nothing.
func dirname(p string) string {
	last := strings.TrimRight(p, "/")
	i := strings.LastIndexByte(last, '/')
	if i < 0 && (last != "" || p == "") {
		return "."
	}
	return cmp.Or(strings.TrimRight(last[:max(i, 0)], "/"), "/")
}

// output gives what a statement is known to print, without collecting needs;
// plain says that it is text that stands there and was not decoded.
func (sh *shell) output(st *syntax.Stmt) (f field, plain bool) {
	if !sh.step(sh.pos(st)) {
		return field{}, false
	}
	sh.quiet++
	defer func() { sh.quiet-- }()
	for _, r := range st.Redirs {
		if r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrAll || r.Op == syntax.AppAll {
			return field{}, false
		}
	}
	switch c := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op != syntax.Pipe {
			return field{}, false
		}
		in, plain := sh.output(c.X)
		return sh.filter(c.Y, in, plain)
	case *syntax.CallExpr:
		saved := sh.stdin
		defer func() { sh.stdin = saved }()
		for _, r := range st.Redirs {
			sh.redirect(r)
		}
		return sh.filter(st, sh.stdin.text, sh.stdin.literal)
	case *syntax.Block:
		if len(c.Stmts) == 1 {
			return sh.output(c.Stmts[0])
		}
	}
	return field{}, false
}

// filter gives what a simple command prints when it reads in.
func (sh *shell) filter(st *syntax.Stmt, in field, plain bool) (field, bool) {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return field{}, false
	}
	all := sh.words(c.Args)
	if len(all) != 1 || len(all[0]) == 0 || !all[0][0].exact {
		return field{}, false
	}
	a := all[0]
	name, args := a[0].text, a[1:]
	switch name {
	case "echo":
		escapes := false
		for len(args) > 0 && args[0].exact && len(args[0].text) > 1 && strings.Trim(args[0].text[1:], "neE") == "" && args[0].text[0] == '-' {
			escapes = escapes || strings.Contains(args[0].text, "e")
			args = args[1:]
		}
		f := args.text()
		if escapes && strings.Contains(f.text, `\`) {
			f.text, f.exact, f.computed = ansi(f.text), false, true
			return f, false
		}
		return f, f.exact
	case "printf":
		return printf(args)
	case "cat", "tee":
		if len(args) == 0 {
			return in, plain
		}
	case "base64", "base32":
		decode := false
		for _, f := range args {
			switch {
			case f.text == "-d" || f.text == "-D" || f.text == "--decode" || f.text == "-di":
				decode = true
			case !strings.HasPrefix(f.text, "-"):
				return field{}, false
			}
		}
		if decode && name == "base64" {
			if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(in.text), "")); err == nil && in.text != "" {
				return field{text: string(b), computed: true}, false
			}
		}
	case "mktemp":
		o := parseOptions("-p:- --suffix:- --tmpdir?", args, 0)
		beneath := func(f field) bool {
			if strings.HasPrefix(f.text, "/tmp/") {
				return !strings.Contains(f.text, "..")
			}
			return o.has("-t") && inside(f)
		}
		if sh.funcs[name] == nil && sh.alias[name] == "" && !o.has("-p", "--tmpdir") && !slices.ContainsFunc(o.operands, func(f field) bool { return !beneath(f) }) {
			return field{temp: true}, false
		}
	case "rev":
		return field{text: reverse(strings.TrimRight(in.text, "\n")), computed: true}, false
	case "which":
		if len(args) == 1 {
			return field{text: args[0].text, computed: true}, false
		}
	case "command":
		if len(args) == 2 && args[0].text == "-v" {
			return field{text: args[1].text, computed: true}, false
		}
	}
	return field{}, false
}

func reverse(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// printf formats %s and %b; text with escapes other than \n counts as decoded.
func printf(args alt) (field, bool) {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || !args[0].exact {
		return field{}, false
	}
	format, rest := args[0].text, args[1:]
	out := field{exact: true}
	plain := !strings.Contains(strings.NewReplacer(`\n`, "", `\t`, "", `\\`, "").Replace(format), `\`)
	for round := 0; round == 0 || len(rest) > 0 && round < maxAlts; round++ {
		used := false
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				j := strings.IndexByte(format[i+1:], '%')
				end := len(format)
				if j >= 0 {
					end = i + 1 + j
				}
				out = out.plus(literal(ansi(format[i:end])))
				i = end - 1
				continue
			}
			i++
			switch format[i] {
			case '%':
				out = out.plus(literal("%"))
			case 's', 'b', 'd', 'q':
				used = true
				if len(rest) > 0 {
					f := rest[0]
					if format[i] == 'b' {
						f.text = ansi(f.text)
						plain = plain && f.text == rest[0].text
					}
					out = out.plus(f)
					rest = rest[1:]
				}
			default:
				return field{}, false
			}
		}
		if !used {
			break
		}
	}
	if !plain {
		out.exact, out.computed = false, true
	}
	return out, plain && out.exact
}
