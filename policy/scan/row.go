package scan

import (
	"path"
	"sort"
	"strings"

	"skillrun/policy"
)

//go:generate go run ./gen

// commandRow says what one program, or one subcommand of it, needs.
//
// Several programs may share a row: its "names" in the data, each a program
// with its subcommands ("docker compose up").
//
// To add one: add it to data/commands.toml with a reason, an example and the
// needs of the example, run `go generate ./policy/scan`, and `go test`.
type commandRow struct {
	// If lists options of which one must be given for the row to count, and
	// "bare" for no operands; the first row that counts is taken.
	If string
	// Opts lists the options that take a value, as "-o:ROLE", and those that
	// may have one attached, as "-i?" or "-O?ROLE". A row without has those of the first
	// row of its name.
	Opts string
	// Args gives the roles of the operands: "- r*" skips one and reads the
	// others, "r* w" writes the last.
	Args string
	// Default is applied where no operand is left for the starred role:
	// "r ." .
	Default string
	// Needs are needed in any case: "CAPABILITY" or "CAPABILITY TARGET".
	Needs []string
	// Special names a reader in special.go; Lang is its language.
	Special, Lang string
	// Sub says that a subcommand follows the options.
	Sub    bool
	Reason string
}

// commandName leads from a program, with its subcommands, to a row.
type commandName struct {
	name string
	row  uint16
}

// rowsOf finds the rows of a name.
func rowsOf(name string) []*commandRow {
	i := sort.Search(len(commandNames), func(i int) bool { return commandNames[i].name >= name })
	var rows []*commandRow
	for ; i < len(commandNames) && commandNames[i].name == name; i++ {
		rows = append(rows, &commandRows[commandNames[i].row])
	}
	return rows
}

// options are the parsed words of a command.
type options struct {
	operands []field
	flags    []string
	values   []optionValue
}

type optionValue struct {
	name, role string
	value      field
}

func (o *options) has(names ...string) bool {
	for _, f := range o.flags {
		for _, n := range names {
			if f == n {
				return true
			}
		}
	}
	return false
}

func (o *options) value(names ...string) (field, bool) {
	for i := len(o.values) - 1; i >= 0; i-- {
		for _, n := range names {
			if o.values[i].name == n {
				return o.values[i].value, true
			}
		}
	}
	return field{}, false
}

// role finds the role of an option in a list of them. attached means that a
// value must be attached.
func role(opts, name string) (role string, takes, attached bool) {
	for opts != "" {
		var item string
		item, opts, _ = strings.Cut(opts, " ")
		if i := strings.LastIndexByte(item, ':'); i > 0 && item[:i] == name {
			return item[i+1:], true, false
		}
		if i := strings.IndexByte(item, '?'); i > 0 && item[:i] == name {
			if item[i+1:] == "" {
				return "-", true, true
			}
			return item[i+1:], true, true
		}
	}
	return "", false, false
}

// whole gives the option that a long one may be short for, as getopt_long takes
// it: the first in the list.
func whole(opts, name string) string {
	long := name
	for item := range strings.FieldsSeq(opts) {
		full := item[:max(0, strings.IndexAny(item, ":?"))]
		if full == name {
			return name
		}
		if long == name && len(name) > 2 && strings.HasPrefix(full, name) {
			long = full
		}
	}
	return long
}

// parseOptions reads options as getopt does. With stop > 0 options end after
// that many operands, where a command follows.
func parseOptions(opts string, args []field, stop int) options {
	var o options
	for i := 0; i < len(args); i++ {
		f := args[i]
		t := f.text
		if len(t) < 2 || t[0] != '-' || stop > 0 && len(o.operands) >= stop {
			if stop > 0 && len(o.operands) >= stop-1 {
				o.operands = append(o.operands, args[i:]...)
				return o
			}
			o.operands = append(o.operands, f)
			continue
		}
		if t == "--" && f.exact {
			o.operands = append(o.operands, args[i+1:]...)
			return o
		}
		next := func() (field, bool) {
			if i+1 < len(args) {
				i++
				return args[i], true
			}
			return field{}, false
		}
		name, value, hasValue := strings.Cut(t, "=")
		if hasValue && strings.HasPrefix(name, "--") {
			name = whole(opts, name)
		}
		if r, takes, attached := role(opts, name); takes {
			o.flags = append(o.flags, name)
			v := f
			v.text = value
			ok := hasValue
			if !hasValue && !attached {
				v, ok = next()
			}
			if ok {
				o.values = append(o.values, optionValue{name, r, v})
			}
			if r == "module" { // what follows is the module's
				o.operands = append(o.operands, args[min(i+1, len(args)):]...)
				return o
			}
			continue
		}
		o.flags = append(o.flags, name)
		if strings.HasPrefix(t, "--") {
			if hasValue {
				v := f
				v.text = value
				o.values = append(o.values, optionValue{name, "-", v})
			}
			continue
		}
		for j := 1; j < len(t); j++ {
			letter := "-" + t[j:j+1]
			if j > 1 || len(t) > 2 {
				o.flags = append(o.flags, letter)
			}
			r, takes, attached := role(opts, letter)
			if !takes {
				continue
			}
			v := f
			v.text = t[j+1:]
			ok := v.text != "" || attached || !f.exact
			if !ok {
				v, ok = next()
			}
			if ok && !(attached && v.text == "") {
				o.values = append(o.values, optionValue{letter, r, v})
			}
			if r == "module" {
				o.operands = append(o.operands, args[min(i+1, len(args)):]...)
				return o
			}
			break
		}
	}
	return o
}

// invocation is a program with its arguments, at a place.
type invocation struct {
	name string
	args []field
	pos  policy.Pos
}

// table applies the rows of a program. It is false if there are none.
func (sh *shell) table(in invocation) bool {
	rows := rowsOf(in.name)
	if len(rows) == 0 {
		return false
	}
	if rows[0].Sub {
		o := parseOptions(rows[0].Opts, in.args, 1)
		if len(o.operands) == 0 {
			if len(rows[0].Needs) == 0 && rows[0].Default == "" && rows[0].Special == "" || o.has("--version", "--help") {
				return true
			}
		} else if sub := o.operands[0]; sub.exact {
			if len(rowsOf(in.name+" "+sub.text)) > 0 {
				saved := sh.dir
				sh.applyOptions(&o, rows[0].Reason, in.pos)
				ok := sh.table(invocation{in.name + " " + sub.text, o.operands[1:], in.pos})
				sh.dir = saved
				return ok
			}
			if sub.text == "help" || sub.text == "version" {
				return true
			}
			if rows[0].Special == "" && len(rows[0].Needs) == 0 && rows[0].Args == "" {
				sh.unknownAt(in.pos, "not in the table: "+in.name+" "+sub.text)
				return true
			}
		} else if rows[0].Needs == nil {
			sh.opaque(in.pos, "the subcommand of "+in.name+" is decided at run time")
			return true
		}
	}
	if len(in.args) == 1 && in.args[0].exact && (in.args[0].text == "--version" || in.args[0].text == "--help") {
		return true
	}
	o := parseOptions(rows[0].Opts, in.args, stopOf(rows[0]))
	for i, r := range rows {
		if r.If != "" && !o.counts(r.If) {
			continue
		}
		if r.Opts != "" && i > 0 || stopOf(r) != stopOf(rows[0]) {
			opts := r.Opts
			if opts == "" {
				opts = rows[0].Opts
			}
			o = parseOptions(opts, in.args, stopOf(r))
		}
		sh.apply(r, in, &o)
		return true
	}
	return true
}

// stopOf gives the number of the operand at which a command begins, from 1; 0
// if none does.
func stopOf(r *commandRow) int {
	n := 0
	for rest := r.Args; rest != ""; {
		var w string
		w, rest, _ = strings.Cut(rest, " ")
		n++
		if w == "cmd" || w == "pkgcmd" {
			return n
		}
	}
	if r.Special == "interpreter" {
		return 1
	}
	return 0
}

func (o *options) counts(condition string) bool {
	for _, c := range strings.Fields(condition) {
		if c == "bare" && len(o.operands) == 0 {
			return true
		}
		if c == "many" && len(o.operands) > 1 {
			return true
		}
		if o.has(c) {
			return true
		}
	}
	return false
}

func (sh *shell) apply(r *commandRow, in invocation, o *options) {
	saved := sh.dir
	defer func() { sh.dir = saved }()
	sh.applyOptions(o, r.Reason, in.pos)
	if r.Special != "" {
		sh.special(r, in, o)
		if r.Special == "interpreter" {
			return
		}
	}
	for _, n := range r.Needs {
		capability, target, _ := strings.Cut(n, " ")
		sh.fixed(capability, target, in.pos, r.Reason)
	}
	if r.Args != "" {
		sh.operands(r, in, o)
	} else if r.Default != "" && len(o.operands) == 0 {
		sh.defaults(r, in)
	}
}

// fixed records a need that a row states.
func (sh *shell) fixed(capability, target string, pos policy.Pos, reason string) {
	exact := !strings.HasPrefix(target, "?")
	target = strings.TrimPrefix(target, "?")
	var do access
	switch capability {
	case "filesystem.read":
		do = reads
	case "filesystem.write":
		do = writes
	case "filesystem.delete":
		do = deletes
	case "source_code.execute":
		do = executes
	}
	if do == 0 {
		sh.need(capability, target, exact, pos, reason)
		return
	}
	sh.path(do, field{text: target, exact: exact}, sh.dir, pos, reason)
}

func (sh *shell) applyOptions(o *options, reason string, pos policy.Pos) {
	for _, v := range o.values {
		if v.role == "cd" {
			sh.dir = sh.moved(v.value)
		}
	}
	for _, v := range o.values {
		sh.role(v.role, v.value, pos, reason)
	}
}

func (sh *shell) defaults(r *commandRow, in invocation) {
	for _, d := range strings.Split(r.Default, ";") {
		role, target, _ := strings.Cut(strings.TrimSpace(d), " ")
		if strings.Contains(role, ".") {
			sh.fixed(role, target, in.pos, r.Reason)
		} else {
			sh.role(role, literal(target), in.pos, r.Reason)
		}
	}
}

func (sh *shell) operands(r *commandRow, in invocation, o *options) {
	roles := strings.Fields(r.Args)
	star := -1
	for i, w := range roles {
		if strings.HasSuffix(w, "*") {
			star = i
		}
	}
	ops := o.operands
	// "$@" may be any number of operands: it has every role from its place on.
	before, after, middle := roles, []string(nil), ""
	if star >= 0 {
		before, middle, after = roles[:star], strings.TrimSuffix(roles[star], "*"), roles[star+1:]
	}
	for i, w := range before {
		if len(ops) == 0 {
			break
		}
		if w == "cmd" || w == "pkgcmd" {
			if w == "pkgcmd" {
				sh.role("pkg", ops[0], in.pos, r.Reason)
				ops = append([]field(nil), ops...)
				ops[0].text = unversioned(ops[0].text)
			}
			if len(ops) == 1 && w == "cmd" && strings.ContainsAny(ops[0].text, " ;|") {
				sh.code("shell", ops[0], in.pos, nil) // one word, which a shell reads
				return
			}
			sh.run(ops, in.pos)
			return
		}
		sh.role(w, ops[0], in.pos, r.Reason)
		if ops[0].many {
			for _, w := range roles[i+1:] {
				sh.role(strings.TrimSuffix(w, "*"), ops[0], in.pos, r.Reason)
			}
		}
		ops = ops[1:]
	}
	if star < 0 {
		if len(o.operands) == 0 && r.Default != "" {
			sh.defaults(r, in)
		}
		return
	}
	if len(ops) == 1 && ops[0].many {
		sh.role(middle, ops[0], in.pos, r.Reason)
		for _, w := range after {
			sh.role(w, ops[0], in.pos, r.Reason)
		}
		return
	}
	n := max(0, len(ops)-len(after))
	if n == 0 && r.Default != "" {
		sh.defaults(r, in)
	}
	for _, f := range ops[:n] {
		sh.role(middle, f, in.pos, r.Reason)
	}
	for i, f := range ops[n:] {
		if i < len(after) {
			sh.role(after[len(after)-len(ops[n:])+i], f, in.pos, r.Reason)
		}
	}
}

// role applies one role to one value.
func (sh *shell) role(role string, f field, pos policy.Pos, reason string) {
	switch role {
	case "-", "cd", "":
	case "r":
		sh.path(reads, f, sh.dir, pos, reason)
	case "w":
		if code, ok := strings.CutPrefix(f.text, "|"); ok { // strace -o '|CMD'
			f.text = code
			sh.code("shell", f, pos, nil)
			return
		}
		sh.path(writes, f, sh.dir, pos, reason)
	case "d":
		sh.path(deletes, f, sh.dir, pos, reason)
	case "b":
		sh.path(reads|writes, f, sh.dir, pos, reason)
	case "x":
		sh.path(executes, f, sh.dir, pos, reason)
	case "xt": // a target: "./pkg/...", "tests/a.py::TestX"
		f.text = strings.TrimSuffix(strings.TrimSuffix(f.text, "..."), "/")
		f.text, _, _ = strings.Cut(f.text, "::")
		if f.text == "" {
			f.text = "."
		}
		sh.path(executes, f, sh.dir, pos, reason)
	case "run": // a script: read too
		sh.script(f, pos, reason)
	case "code":
		sh.code("shell", f, pos, nil)
	case "key":
		p, exact := sh.env.target(f, sh.dir)
		sh.need("secrets.read", p, exact, pos, reason)
	case "fetch":
		sh.host("web.fetch", f, pos, reason)
	case "interact":
		if f.exact && !strings.Contains(f.text, "://") && !strings.HasPrefix(f.text, "www.") {
			sh.path(reads, f, sh.dir, pos, reason)
			return
		}
		sh.host("web.interact", f, pos, reason)
	case "net":
		sh.host("network.client", f, pos, reason)
	case "pkg":
		t := unversioned(f.text)
		sh.need("package.install", t, f.exact, pos, reason)
	case "mount":
		sh.mount(f, pos, reason)
	case "at": // "@file", or data
		if rest, ok := strings.CutPrefix(f.text, "@"); ok {
			f.text = rest
			sh.path(reads, f, sh.dir, pos, reason)
		}
	case "fileb": // "file://path" of aws, "fileb://", or data
		for _, p := range [...]string{"file://", "fileb://"} {
			if rest, ok := strings.CutPrefix(f.text, p); ok {
				f.text = rest
				sh.path(reads, f, sh.dir, pos, reason)
			}
		}
	default:
		if !sh.moreRoles(role, f, invocation{pos: pos}, reason) {
			sh.need(role, f.text, f.exact, pos, reason)
		}
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

// moved gives the directory after "cd f".
func (sh *shell) moved(f field) field {
	switch {
	case f.text == "" || f.text == "-":
		return field{unknown: true}
	case !f.exact:
		return field{unknown: true}
	}
	t := sh.env.homely(f.text)
	if strings.HasPrefix(t, "/") || strings.HasPrefix(t, "~") {
		return literal(path.Clean(t))
	}
	if sh.dir.text == "" {
		t = path.Clean(t)
	} else {
		t = path.Clean(sh.dir.text + "/" + t)
	}
	return field{text: t, exact: sh.dir.exact && !sh.dir.unknown, unknown: sh.dir.unknown}
}
