package scan

import (
	"slices"
	"sort"
	"strings"

	"skillrun/policy"
)

//go:generate go run ../../profiles/gen

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
	// Opts lists the options that take a value, as "-o:ROLE", or a name and a
	// value after it, as "-o:2ROLE", and those that may have one attached, as
	// "-i?" or "-O?ROLE", or a number only, after which more letters may follow,
	// as "-l#". After "short" long ones may be cut short, as getopt_long takes them,
	// without doubt after "short all", where all are listed that take a value;
	// those for commands may be in any row.
	// A row without has those of the first row of its name.
	Opts string
	// Args gives the roles of the operands: "- r*" skips one and reads the
	// others, "r* w" writes the last.
	Args string
	// Default is applied where no operand is left for the starred role:
	// "r ." .
	Default string
	// Needs are needed in any case: "CAPABILITY" or "CAPABILITY TARGET".
	Needs []string
	// Besides is what the program does on the way, as in Needs; see
	// [Result.Besides]. In "filesystem.write */bin" the star is each operand,
	// or where there is none what Default names.
	Besides []string
	// Special names a reader of command_special.go; Lang is what it is told.
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
			name, help := in.name+" "+sub.text, (sub.text == "help" || sub.text == "version") && (rows[0].Args == "" || rows[0].Args == "-*")
			found := len(rowsOf(name)) > 0
			if found || help || rows[0].Special == "" && len(rows[0].Needs) == 0 && rows[0].Args == "" {
				saved := sh.dir
				sh.applyOptions(&o, rows[0].Reason, in.pos)
				if found {
					sh.table(invocation{name, o.operands[1:], in.pos})
				} else if !help {
					sh.unknownAt(in.pos, "not in the table: "+name)
				}
				sh.dir = saved
				return true
			}
		} else if rows[0].Needs == nil && rows[0].Args == "" {
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
		(&command{sh, r, in, &o}).apply()
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
	switch r.Special {
	case "gorun", "interpreter", "miller", "parallel", "script", "setarch", "workspace":
		return 1
	}
	return 0
}

// apply reads the command by its row.
func (c *command) apply() {
	saved := c.dir
	defer func() { c.dir = saved }()
	c.serves(c.in.pos, c.row.Reason)
	c.applyOptions(c.o, c.row.Reason, c.in.pos)
	if read := special(c.row.Special); read != nil {
		read(c)
		if c.row.Special == "interpreter" {
			return
		}
	}
	for _, n := range c.row.Needs {
		capability, target, _ := strings.Cut(n, " ")
		if capability == "web.post" && c.o.takes("publish") {
			continue // to the host that it names
		}
		c.fixed(capability, target, c.in.pos, c.row.Reason)
		if target == "" {
			c.elsewhere(capability)
		}
	}
	for _, b := range c.row.Besides {
		capability, target, _ := strings.Cut(b, " ")
		rest, each := strings.CutPrefix(target, "*")
		if !each {
			c.aside(capability, literal(target))
			continue
		}
		names := c.o.operands
		if _, name, ok := strings.Cut(c.row.Default, " "); ok && len(names) == 0 {
			names = []field{literal(name)}
		}
		for _, f := range names {
			f.text += rest
			c.aside(capability, f)
		}
	}
	if c.row.Args != "" {
		c.operands()
	} else if c.row.Default != "" && len(c.o.operands) == 0 {
		c.defaults()
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

func (c *command) defaults() {
	for _, d := range strings.Split(c.row.Default, ";") {
		role, target, _ := strings.Cut(strings.TrimSpace(d), " ")
		if strings.Contains(role, ".") {
			c.fixed(role, target, c.in.pos, c.row.Reason)
		} else {
			c.as(role, literal(target))
		}
	}
}

func (c *command) operands() {
	roles := strings.Fields(c.row.Args)
	star := -1
	for i, w := range roles {
		if strings.HasSuffix(w, "*") {
			star = i
		}
	}
	ops := c.o.operands
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
			if at := c.projects(ops[0]); w == "pkgcmd" && at != "" {
				c.local(literal(at), ops[1:], c.in.pos)
				return
			}
			if w == "pkgcmd" && c.row.Lang == "create" { // npm init NAME runs create-NAME
				f, scope := ops[0], ""
				if i := strings.IndexByte(f.text, '/'); i > 0 && f.text[0] == '@' {
					scope, f.text = f.text[:i+1], f.text[i+1:]
				}
				f.text = scope + "create-" + f.text
				c.as("pkg", f)
				c.write(literal("."))
				return
			}
			if w == "pkgcmd" {
				if !slices.ContainsFunc(c.o.values, func(v optionValue) bool { return v.role == "pkg" && v.name != "--with" && v.name != "-w" }) {
					c.as("pkg", ops[0]) // which --from, --package and --spec name
				}
				ops = append([]field(nil), ops...)
				ops[0].text = unversioned(ops[0].text)
			}
			if len(ops) == 1 && w == "cmd" && strings.ContainsAny(ops[0].text, " ;|") {
				c.code("shell", ops[0], c.in.pos) // one word, which a shell reads
				return
			}
			c.run(ops, c.in.pos)
			return
		}
		c.as(w, ops[0])
		if ops[0].many {
			for _, w := range roles[i+1:] {
				c.as(strings.TrimSuffix(w, "*"), ops[0])
			}
		}
		ops = ops[1:]
	}
	if star < 0 {
		if len(c.o.operands) == 0 && c.row.Default != "" {
			c.defaults()
		}
		return
	}
	if len(ops) == 1 && ops[0].many {
		c.as(middle, ops[0])
		for _, w := range after {
			c.as(w, ops[0])
		}
		return
	}
	n := max(0, len(ops)-len(after))
	if n == 0 && c.row.Default != "" {
		c.defaults()
	}
	for _, f := range ops[:n] {
		c.as(middle, f)
	}
	for i, f := range ops[n:] {
		if i < len(after) {
			c.role(after[len(after)-len(ops[n:])+i], f, c.in.pos, c.row.Reason)
		}
	}
}

// moved gives the directory f.
func (sh *shell) moved(f field) field {
	switch {
	case f.temp || sh.dir.temp && inside(f) && f.text != "-":
		return field{unknown: true, temp: true}
	case f.text == "" || f.text == "-":
		return field{unknown: true}
	case !f.exact:
		return field{unknown: true}
	}
	sh.spend((len(sh.dir.text) + len(f.text)) / 64)
	t := sh.env.homely(f.text)
	if strings.HasPrefix(t, "/") || strings.HasPrefix(t, "~") {
		return literal(sh.env.clean(t))
	}
	if sh.dir.text != "" {
		t = sh.dir.text + "/" + t
	}
	t = sh.env.clean(t)
	return field{text: t, exact: sh.dir.exact && !sh.dir.unknown, unknown: sh.dir.unknown}
}
