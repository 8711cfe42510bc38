package scan

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"skillrun/policy"
)

// shell is the state of one shell as the walker follows it.
type shell struct {
	*scan
	place place
	vars  map[string][]alt          // values that a variable may have
	funcs map[string][]*syntax.Stmt // functions that a name may be; nil is none
	alias map[string]string
	dir   field   // the directory, from literal cd; "" at the start
	last  field   // where "cd -" goes
	stack []field // where popd goes
	args  []field // positional parameters; nil if unknown
	stdin input
	called
	calls int        // depth of function calls
	again bool       // in a second round of a loop
	late  *[]trapped // of the whole text; nil before it

	apart   bool // in a program that is started: functions and aliases may not be there
	bare    bool // the command that is read next is no function
	keeps   bool // standard input was opened for good
	integer bool // variables may be numbers, whose values are evaluated

	// physical says that cd takes ".." as the kernel does ("set -P"), and led that it
	// did on the way to dir, in which ".." stays where it may follow a link.
	physical, led bool
}

// called are the names by which a script was begun, from where that was, as a shell
// gives them to it; empty where they are not known.
type called struct {
	self field // $0
	file field // ${BASH_SOURCE[0]}, which is bash's
	// lang is the language of what reads it, whatever the file looks like; "" is what it
	// looks like, and "kernel" that its first line says.
	lang string
}

// trapped is the text of a trap. It runs with the functions and variables of
// some later time.
type trapped struct {
	text field
	pos  policy.Pos
}

// input is what a command reads as its standard input.
type input struct {
	given   bool  // a pipe, a file or a text, not the terminal
	text    field // the text, as far as known
	literal bool  // text is known and was not decoded
	file    field // the file that it is, with nothing else, and that is read; "" if none
}

func newShell(s *scan) *shell {
	return &shell{scan: s, vars: map[string][]alt{}, funcs: map[string][]*syntax.Stmt{}, alias: map[string]string{}, dir: s.at, last: field{unknown: true}}
}

// fork copies the state for a subshell or a branch.
func (sh *shell) fork() *shell {
	sh.spend((len(sh.vars) + len(sh.funcs) + len(sh.alias)) / 16)
	c := *sh
	c.vars, c.funcs, c.alias = maps.Clone(sh.vars), maps.Clone(sh.funcs), maps.Clone(sh.alias)
	return &c
}

// join merges the variables of a branch that may or may not have run.
func (sh *shell) join(branch *shell) {
	sh.spend(len(branch.vars) / 16)
	for k, v := range branch.vars {
		have, ok := sh.vars[k]
		if !ok {
			sh.vars[k] = v
			continue
		}
		sh.vars[k] = union(have, v)
	}
	for name, bodies := range branch.funcs {
		have, ok := sh.funcs[name]
		if !ok {
			have = []*syntax.Stmt{nil}
		}
		sh.spend(len(bodies) / 16)
		have = slices.Clip(have)
		for _, body := range bodies {
			if !slices.Contains(have, body) {
				have = append(have, body)
			}
		}
		sh.funcs[name] = have
	}
	for name, bodies := range sh.funcs {
		if _, ok := branch.funcs[name]; !ok && !slices.Contains(bodies, nil) {
			sh.funcs[name] = append(slices.Clip(bodies), nil)
		}
	}
	for name, text := range branch.alias {
		if _, ok := sh.alias[name]; !ok {
			sh.alias[name] = text
		}
	}
	if branch.dir != sh.dir {
		sh.dir.exact, sh.dir.temp, sh.dir.unknown = false, false, true
	}
	if branch.physical != sh.physical { // which it is, is not known
		sh.physical, sh.led = false, true
	}
	sh.led = sh.led || branch.led
}

func union(a, b []alt) []alt {
	all := slices.Clone(a)
	for _, v := range b {
		if !slices.ContainsFunc(all, func(w alt) bool { return slices.Equal(v, w) }) {
			all = append(all, v)
		}
	}
	if len(all) > maxAlts {
		return []alt{{{computed: true}}}
	}
	return all
}

func (sh *shell) pos(n syntax.Node) policy.Pos {
	p := n.Pos()
	return sh.place.at(int(p.Line()), int(p.Col()))
}

// shellText reads shell text in a state of its own or of its caller.
func (s *scan) shellText(src string, p place, sh *shell) {
	sh.place = p
	if len(src) > maxText {
		s.opaque(p.at(1, 1), "text of more than 4 MiB")
		return
	}
	if s.depth > maxDepth {
		s.opaque(p.at(1, 1), "code within code, too deep to read")
		return
	}
	if s.spend(len(src)/64 + strings.Count(src, "(")/4); s.spent() { // nested ones are slow to parse
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	if strings.IndexByte(src, 0) >= 0 {
		s.opaque(p.at(1, 1), "NUL byte in shell text")
		src = strings.ReplaceAll(src, "\x00", "")
	}
	if strings.Contains(src, "\r") {
		s.opaque(p.at(1, 1), "carriage return in shell text, which shells take for a letter")
	}
	if strings.Contains(src, "$\\\n") {
		s.opaque(p.at(1, 1), "a dollar sign apart from what it expands")
	}
	file, err := parseShell(src)
	if err != nil {
		s.opaque(p.at(1, 1), "shell text that cannot be parsed: "+policy.Escape(err.Error()))
		// What parses before the fault may run.
		if file = recovered(src); file == nil {
			return
		}
	}
	sh.letters(file, quotesQuote)
	if sh.late != nil {
		sh.stmts(file.Stmts)
		return
	}
	sh.late = &[]trapped{}
	sh.stmts(file.Stmts)
	traps := *sh.late
	for _, t := range traps {
		sh.code("shell", t.text, t.pos)
	}
	sh.late = nil
}

// recovered gives what parses of a faulty text, nil if the parser, which panics at
// some, has nothing.
func recovered(src string) (file *syntax.File) {
	defer func() {
		if recover() != nil {
			file = nil
		}
	}()
	file, _ = parseShell(src, syntax.RecoverErrors(8))
	return file
}

// What a single quote is.
type quotes uint8

const (
	quotesQuote  quotes = iota
	quotesDouble        // it quotes, in double quotes or in a document, but for expansions
	quotesLetter        // it is a letter, whatever the parser says
)

// letters tells of single quotes that the parser takes for quotes and shells for
// letters, so that what stands between is run, or is not even part of the same
// word: in "${x:-'...'}", in the expansions of a document and in arithmetic.
func (sh *shell) letters(n syntax.Node, in quotes) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			if in == quotesLetter && strings.ContainsAny(n.Value, "$`}\n\"") {
				sh.opaque(sh.pos(n), "single quotes where shells take them for letters")
			}
		case *syntax.CmdSubst:
			return in == quotesQuote || sh.lettersOf(n.Stmts)
		case *syntax.ProcSubst:
			return in == quotesQuote || sh.lettersOf(n.Stmts)
		case *syntax.DblQuoted:
			if in == quotesQuote {
				for _, p := range n.Parts {
					sh.letters(p, quotesDouble)
				}
				return false
			}
		case *syntax.Redirect:
			if n.Hdoc != nil {
				sh.letters(n.Word, in)
				for _, p := range n.Hdoc.Parts {
					if _, text := p.(*syntax.Lit); !text {
						sh.letters(p, quotesLetter)
					}
				}
				return false
			}
		case *syntax.ParamExp:
			sh.lettersIn(n.Index)
			if n.Slice != nil {
				sh.lettersIn(n.Slice.Offset)
				sh.lettersIn(n.Slice.Length)
			}
			if e := n.Exp; e != nil && e.Word != nil {
				word := in
				if in == quotesDouble && substitutes(e.Op) {
					word = quotesLetter
				}
				sh.letters(e.Word, word)
			}
			if n.Repl != nil {
				for _, w := range [...]*syntax.Word{n.Repl.Orig, n.Repl.With} {
					if w != nil {
						sh.letters(w, in)
					}
				}
			}
			return false
		case *syntax.ArithmExp:
			return in == quotesLetter || sh.lettersIn(n.X)
		case *syntax.ArithmCmd:
			return in == quotesLetter || sh.lettersIn(n.X)
		case *syntax.CStyleLoop:
			for _, x := range [...]syntax.ArithmExpr{n.Init, n.Cond, n.Post} {
				sh.lettersIn(x)
			}
			return false
		case *syntax.Assign:
			sh.lettersIn(n.Index)
		case *syntax.ArrayElem:
			sh.lettersIn(n.Index)
		}
		return true
	})
}

func (sh *shell) lettersOf(list []*syntax.Stmt) bool {
	for _, st := range list {
		sh.letters(st, quotesQuote)
	}
	return false
}

func (sh *shell) lettersIn(x syntax.ArithmExpr) bool {
	if w, ok := x.(*syntax.Word); x != nil && !(ok && w == nil) {
		sh.letters(x, quotesLetter)
	}
	return false
}

// substitutes says of an operator that a word follows it, and no pattern.
func substitutes(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	}
	return false
}

func (sh *shell) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		sh.stmt(st)
	}
}

// sub reads statements in a subshell.
func (sh *shell) sub(list []*syntax.Stmt) { sh.fork().stmts(list) }

// branch reads statements that may or may not run.
func (sh *shell) branch(list []*syntax.Stmt) {
	c := sh.fork()
	c.stmts(list)
	sh.join(c)
}

func (sh *shell) stmt(st *syntax.Stmt) {
	if st == nil || !sh.step(sh.pos(st)) {
		return
	}
	saved := sh.stdin
	for _, r := range st.Redirs {
		sh.redirect(r)
	}
	if st.Cmd != nil {
		sh.command(st.Cmd)
	}
	if !sh.opened(st) {
		sh.stdin = saved
	}
}

// opened says of "exec <FILE" that what comes after reads it, too.
func (sh *shell) opened(st *syntax.Stmt) bool {
	if c, ok := st.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[len(c.Args)-1].Lit() == "exec" && len(st.Redirs) > 0 {
		sh.keeps = true
	}
	return sh.keeps
}

func (sh *shell) command(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		sh.call(c)
	case *syntax.BinaryCmd:
		sh.binary(c)
	case *syntax.Block:
		sh.stmts(c.Stmts)
	case *syntax.Subshell:
		sh.sub(c.Stmts)
	case *syntax.IfClause:
		sh.ifClause(c)
	case *syntax.WhileClause:
		sh.rounds("", c.Cond, c.Do)
	case *syntax.ForClause:
		sh.forClause(c)
	case *syntax.CaseClause:
		sh.caseClause(c)
	case *syntax.FuncDecl:
		if c.Name != nil {
			sh.funcs[c.Name.Value] = []*syntax.Stmt{c.Body}
		}
	case *syntax.TimeClause:
		sh.stmt(c.Stmt)
	case *syntax.CoprocClause:
		beside := sh.fork()
		beside.stdin = input{given: true}
		beside.stmt(c.Stmt)
	case *syntax.DeclClause:
		if sh.shadowed(c.Variant.Value, sh.pos(c)) {
			return
		}
		for _, a := range c.Args {
			sh.assign(a, true)
		}
		if (c.Variant.Value == "export" || c.Variant.Value == "declare") && len(c.Args) == 1 && c.Args[0].Name == nil && c.Args[0].Value != nil {
			if v := c.Args[0].Value.Lit(); v == "-p" || v == "-x" || v == "-px" || v == "-xp" {
				sh.need("env_var.read", "*", true, sh.pos(c), "lists the environment")
			}
		}
		if c.Variant.Value == "export" && len(c.Args) == 0 {
			sh.need("env_var.read", "*", true, sh.pos(c), "lists the environment")
		}
	case *syntax.ArithmCmd:
		sh.arithm(c.X)
	case *syntax.LetClause:
		if sh.shadowed("let", sh.pos(c)) {
			return
		}
		for _, x := range c.Exprs {
			sh.arithm(x)
		}
	case *syntax.TestClause:
		sh.test(c.X)
	}
}

// shadowed reads the function that stands in for what the parser takes for a word of the
// language ("export"), if there is one and nothing else.
func (sh *shell) shadowed(name string, pos policy.Pos) bool {
	bodies := sh.funcs[name]
	for _, body := range bodies {
		if body != nil {
			sh.function(body, []field{{many: true}}, pos)
		}
	}
	return len(bodies) > 0 && !slices.Contains(bodies, nil)
}

func (sh *shell) ifClause(c *syntax.IfClause) {
	sh.stmts(c.Cond)
	then := sh.fork()
	then.stmts(c.Then)
	if c.Else == nil {
		sh.join(then)
		return
	}
	other := sh.fork()
	if len(c.Else.Cond) > 0 {
		other.ifClause(c.Else)
	} else {
		other.stmts(c.Else.Then)
	}
	sh.either(then, other)
}

// either continues after one of two branches, of which one ran.
func (sh *shell) either(a, b *shell) {
	sh.vars, sh.funcs, sh.alias, sh.dir, sh.physical, sh.led = a.vars, a.funcs, a.alias, a.dir, a.physical, a.led
	sh.join(b)
}

func (sh *shell) forClause(c *syntax.ForClause) {
	each := ""
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		each = loop.Name.Value
		var values []alt
		if loop.InPos.IsValid() {
			for _, a := range sh.words(loop.Items) {
				for _, f := range a {
					values = union(values, []alt{{f}})
				}
			}
		} else {
			for _, f := range sh.positions() {
				values = append(values, alt{f})
			}
		}
		if len(values) == 0 {
			values = []alt{{{}}}
		}
		sh.sets(loop.Name.Value, values, sh.pos(c))
	case *syntax.CStyleLoop:
		sh.arithm(loop.Init)
		sh.arithm(loop.Cond)
		sh.arithm(loop.Post)
	}
	sh.rounds(each, nil, c.Do)
}

// rounds reads a loop's body, and once more where it changes variables that it
// may have read before. What is known after the loop is what one round says.
// Loops in functions of functions are read once: there are too many ways there.
func (sh *shell) rounds(each string, cond, body []*syntax.Stmt) {
	sh.stmts(cond)
	second := sh.fork()
	sh.branch(body)
	if sh.again || sh.calls > 1 || sh.steps > maxSteps/8 || maps.EqualFunc(sh.vars, second.vars, func(a, b []alt) bool { return slices.EqualFunc(a, b, slices.Equal[alt]) }) {
		return
	}
	for k, v := range sh.vars {
		if k != each { // which each round sets anew
			second.vars[k] = v
		}
	}
	second.again = true
	second.stmts(cond)
	second.stmts(body)
}

func (sh *shell) caseClause(c *syntax.CaseClause) {
	sh.text(c.Word)
	start := sh.fork()
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			sh.text(p)
		}
		b := start.fork()
		b.stmts(item.Stmts)
		sh.join(b)
	}
}

func (sh *shell) binary(c *syntax.BinaryCmd) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		for _, without := range sh.chain(c) {
			sh.join(without)
		}
		return
	}
	left := sh.fork()
	left.stmt(c.X)
	text, plain := left.output(c.X)
	right := sh.fork()
	right.stdin = input{given: true, text: text, literal: plain, file: left.printed(c.X)}
	right.stmt(c.Y)
}

// chain reads "X && Y" and "X || Y", of which the right side runs in the same shell, if
// at all: a cd before "&&" holds for it. It gives what may be the state without it.
func (sh *shell) chain(c *syntax.BinaryCmd) (without []*shell) {
	if x, ok := c.X.Cmd.(*syntax.BinaryCmd); ok && x.Op == syntax.AndStmt && len(c.X.Redirs) == 0 && sh.step(sh.pos(x)) {
		without = sh.chain(x)
	} else {
		sh.stmt(c.X)
	}
	if c.Op == syntax.OrStmt { // after any of it
		for _, w := range without {
			sh.join(w)
		}
		without = nil
	}
	without = append(without, sh.fork())
	sh.stmt(c.Y)
	return without
}

// printed is the file that "cat FILE" prints; empty of anything else.
func (sh *shell) printed(st *syntax.Stmt) (f field) {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(st.Redirs) > 0 || len(c.Assigns) > 0 || len(c.Args) != 2 || c.Args[0].Lit() != "cat" || sh.funcs["cat"] != nil || sh.alias["cat"] != "" {
		return f
	}
	sh.quiet++
	defer func() { sh.quiet-- }()
	if all := sh.words(c.Args); len(all) == 1 && len(all[0]) == 2 && !strings.HasPrefix(all[0][1].text, "-") {
		f = sh.env.text(all[0][1], sh.dir)
	}
	return f
}

func (sh *shell) redirect(r *syntax.Redirect) {
	pos := sh.pos(r)
	if !sh.step(pos) {
		return
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		f := field{exact: true}
		if r.Hdoc != nil {
			f = sh.text(r.Hdoc)[0]
			if quotedWord(r.Word) {
				f = literal(plainText(r.Hdoc))
			}
		}
		if r.Op == syntax.DashHdoc {
			f.text = strings.ReplaceAll("\n"+f.text, "\n\t", "\n")
		}
		sh.stdin = input{given: true, text: f, literal: f.exact}
		return
	case syntax.WordHdoc:
		f := sh.text(r.Word)[0]
		sh.stdin = input{given: true, text: f, literal: f.exact}
		return
	}
	var targets []field
	for _, w := range braces(r.Word) {
		targets = append(targets, sh.text(w)...)
	}
	do := writes
	switch r.Op {
	case syntax.RdrIn:
		do = reads
		sh.stdin = input{given: true}
	case syntax.RdrInOut:
		do = reads | writes
		sh.stdin = input{given: true}
	case syntax.DplIn, syntax.DplOut:
		if r.N != nil && r.N.Value == "0" || r.N == nil && r.Op == syntax.DplIn {
			sh.stdin = input{given: true} // what was opened before
		}
		// ">&2" duplicates; ">&file" writes.
		if len(targets) == 1 && strings.Trim(targets[0].text, "0123456789-") == "" && (targets[0].exact || targets[0].text == "") {
			return
		}
		if r.Op == syntax.DplIn || !targets[0].exact && r.N != nil {
			return
		}
	}
	for _, f := range targets {
		if (r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut) && len(targets) == 1 && (r.N == nil || r.N.Value == "0") {
			sh.stdin.file = sh.env.text(f, sh.dir)
		}
		sh.path(do, f, sh.dir, pos, "redirection")
	}
}

func quotedWord(w *syntax.Word) bool {
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok || strings.IndexByte(l.Value, '\\') >= 0 {
			return true
		}
	}
	return false
}

func plainText(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(l.Value)
		}
	}
	return b.String()
}

// assign follows an assignment.
func (sh *shell) assign(a *syntax.Assign, declare bool) {
	if a.Name == nil {
		if a.Value != nil {
			for _, f := range sh.text(a.Value) {
				sh.computedName(f, sh.pos(a))
			}
		}
		return
	}
	name := a.Name.Value
	if a.Index != nil {
		sh.arithm(a.Index)
	}
	if a.Naked {
		if _, ok := sh.vars[name]; !ok && !declare {
			sh.vars[name] = []alt{{{}}}
		}
		return
	}
	var values []alt
	switch {
	case a.Array != nil:
		var words []*syntax.Word
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				sh.arithm(e.Index)
			}
			if e.Value != nil {
				words = append(words, e.Value)
			}
		}
		values = sh.words(words)
	default:
		for _, f := range sh.text(a.Value) {
			values = append(values, alt{f})
		}
	}
	if a.Append || a.Index != nil {
		old := sh.vars[name]
		switch {
		case a.Array != nil || a.Index != nil: // the elements, in any order
			if len(old) == 0 {
				old = []alt{nil}
			}
			var all []alt
			for _, o := range old {
				sh.spend(len(o) * len(values) / 16)
				for _, v := range values {
					all = append(all, append(append(alt(nil), o...), v...))
				}
			}
			values = all
			if a.Index != nil {
				values = append(values, turned(all)...)
			}
		case len(old) > 0:
			var all []alt
			for _, o := range old {
				sh.spend(len(o.text().text) * len(values) / 1024)
				for _, v := range values {
					all = append(all, alt{o.text().plus(v.text())})
				}
			}
			values = all
		}
		if len(values) > maxAlts {
			values = []alt{{{computed: true}}}
		}
		// In a loop it may happen any number of times.
	}
	if a.Array != nil && slices.ContainsFunc(a.Array.Elems, func(e *syntax.ArrayElem) bool { return e.Index != nil }) {
		values = append(values, turned(values)...)
	}
	sh.vars[name] = values
	for _, v := range values {
		sh.environ(name, v.text(), sh.pos(a))
		if f := v.text(); name == "IFS" && !f.exact && (f.text == "" || strings.HasPrefix(f.text, "$")) {
			sh.opaque(sh.pos(a), "IFS is decided at run time, and with it what is a word")
		}
		if declare || sh.integer {
			sh.evaluated(v.text(), sh.pos(a))
		}
		if declare {
			sh.compound(v.text(), sh.pos(a))
		}
	}
	sh.subscripted(sh.integer, sh.pos(a))
}

// compound reads what declare takes for a list, and expands once more.
func (sh *shell) compound(f field, pos policy.Pos) {
	if strings.HasPrefix(strings.TrimLeft(f.text, blanks), "(") && (strings.Contains(f.text, "$(") || strings.Contains(f.text, "`")) {
		sh.opaque(pos, "a list with a command in it")
	}
}

// computedName follows declare "$x=...", and declare -n, by which one name stands
// for another.
func (sh *shell) computedName(f field, pos policy.Pos) {
	name, value, assigns := strings.Cut(f.text, "=")
	switch {
	case strings.HasPrefix(name, "-"):
		if strings.Contains(name, "n") {
			sh.opaque(pos, "a name that stands for another variable")
		}
		sh.integer = sh.integer || strings.Contains(name, "i") // of declare -i, for what comes after
	case assigns && !syntax.ValidName(name):
		sh.opaque(pos, "a variable whose name is computed")
	case assigns:
		f.text = value
		sh.sets(name, []alt{{f}}, pos)
		sh.evaluated(f, pos)
		sh.compound(f, pos)
	}
}

// sets gives a variable its value otherwise than by an assignment.
func (sh *shell) sets(name string, values []alt, pos policy.Pos) {
	sh.vars[name] = values
	for _, v := range values {
		sh.environ(name, v.text(), pos)
	}
}

// turned gives lists the other way round, beside which no element has a number.
func turned(lists []alt) []alt {
	var all []alt
	for _, l := range lists {
		l = slices.Clone(l)
		slices.Reverse(l)
		all = append(all, l)
	}
	return all
}

// positions gives "$@".
func (sh *shell) positions() alt {
	if sh.args == nil {
		return alt{{text: "$@", many: true}}
	}
	return append(alt(nil), sh.args...)
}

func (sh *shell) test(x syntax.TestExpr) {
	switch t := x.(type) {
	case *syntax.BinaryTest:
		switch t.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, x := range [...]syntax.TestExpr{t.X, t.Y} {
				if w, ok := x.(*syntax.Word); ok {
					sh.arithm(w)
				}
			}
			return
		}
		sh.test(t.X)
		sh.test(t.Y)
	case *syntax.UnaryTest:
		sh.test(t.X)
	case *syntax.ParenTest:
		sh.test(t.X)
	case *syntax.Word:
		for _, f := range sh.text(t) {
			sh.evaluated(f, sh.pos(t))
		}
	}
}

func (sh *shell) arithm(x syntax.ArithmExpr) {
	switch t := x.(type) {
	case *syntax.BinaryArithm:
		sh.arithm(t.X)
		sh.arithm(t.Y)
	case *syntax.UnaryArithm:
		sh.arithm(t.X)
	case *syntax.ParenArithm:
		sh.arithm(t.X)
	case *syntax.Word:
		if t == nil {
			return
		}
		for _, f := range sh.text(t) {
			sh.evaluated(f, sh.pos(t))
		}
		if n := t.Lit(); n == "" || strings.Trim(n, "0123456789") != "" {
			sh.subscripted(true, sh.pos(t))
		}
		// A name stands for the arithmetic in its value.
		for _, v := range sh.vars[t.Lit()] {
			sh.evaluated(v.text(), sh.pos(t))
		}
	}
}
