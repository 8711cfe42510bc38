package scan

import (
	"slices"
	"strconv"
	"strings"

	"skillrun/policy"
)

// builtin reads what the shell itself does. It is false for programs.
func (sh *shell) builtin(name string, args []field, pos policy.Pos) bool {
	switch name {
	case "cd", "pushd":
		sh.cd(name, args)
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
		sh.sources(args, pos)
	case "exec", "command", "builtin":
		sh.through(name, args, pos)
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
			// It runs at an unknown time; functions and variables may be defined later.
			late := args[0].exact && sh.late != nil
			sh.unset = late
			sh.code("shell", args[0], pos)
			sh.unset = false
			if late {
				*sh.late = append(*sh.late, trapped{args[0], pos})
			}
		}
	case "read", "mapfile", "readarray", "getopts":
		sh.reads(name, args, pos)
	case "set":
		sh.set(args, pos)
	case "shift":
		n := 1
		if len(args) > 0 {
			var err error
			if n, err = strconv.Atoi(args[0].text); err != nil || !args[0].exact {
				n = -1
			}
		}
		if n < 0 || slices.ContainsFunc(sh.args, func(a field) bool { return a.many }) {
			sh.args = nil
		} else if n <= len(sh.args) {
			sh.args = sh.args[n:]
		}
	case "unset":
		for _, f := range args {
			sh.evaluated(f, pos)
			variable, _, element := strings.Cut(f.text, "[")
			if _, ok := sh.vars[variable]; ok {
				sh.vars[variable] = []alt{{{text: "", exact: !element}}}
			}
			delete(sh.funcs, f.text)
		}
	case "export", "declare", "typeset", "local", "readonly":
		// Reached through a dynamic word only; the parser knows the others.
		for _, f := range args {
			sh.computedName(f, pos)
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
				sh.sets(variable, []alt{{{text: ""}}}, pos)
			}
		}
	case "complete", "compgen":
		o := parseOptions("-A:- -C:- -F:- -G:- -P:- -S:- -W:- -X:- -o:-", args, 0)
		for _, v := range o.values {
			if v.name == "-C" {
				sh.code("shell", v.value, pos)
			}
			if v.name == "-W" && (strings.Contains(v.value.text, "$(") || strings.Contains(v.value.text, "`")) {
				sh.opaque(pos, "words with a command in them")
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

// cd follows cd and pushd to another directory.
func (sh *shell) cd(name string, args []field) {
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

// sources reads the file that the shell itself runs.
func (sh *shell) sources(args []field, pos policy.Pos) {
	if len(args) == 0 {
		return
	}
	if args[0].stream || args[0].text == "/dev/stdin" {
		sh.opaque(pos, "the code comes from a pipe")
		return
	}
	saved := sh.args
	if len(args) > 1 {
		sh.args = args[1:]
	}
	as := sh.called
	as.lang = "shell"
	if as.file.text != "" { // it is bash
		as.file = args[0]
	}
	sh.runs(args[0], pos, "source runs the file", sh, as)
	sh.args = saved
}

// through reads the program that exec, command or builtin runs, which no function stands
// in for.
func (sh *shell) through(name string, args []field, pos policy.Pos) {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && args[0].exact {
		letters := args[0].text[1:]
		if args = args[1:]; letters == "-" {
			break
		}
		if name == "command" && strings.ContainsAny(letters, "vV") {
			return
		}
		if name == "exec" && strings.HasSuffix(letters, "a") && strings.IndexByte(letters, 'a') == len(letters)-1 && len(args) > 0 {
			args = args[1:] // the name that it goes by
		}
	}
	if len(args) > 0 {
		sh.bare = true
		sh.run(args, pos)
	}
}

// set follows the positional parameters and the options of the shell.
func (sh *shell) set(args []field, pos policy.Pos) {
	if len(args) == 0 {
		sh.need("env_var.read", "*", true, pos, "set lists all variables")
	}
	for i := 0; i < len(args); i++ {
		f := args[i]
		switch {
		case !f.exact:
			sh.args = nil
			continue
		case f.text == "--":
			sh.args = append([]field{}, args[i+1:]...)
			return
		case f.text == "-":
			continue
		case f.text == "" || f.text[0] != '-' && f.text[0] != '+':
			sh.args = append([]field{}, args[i:]...)
			return
		}
		if letters := strings.TrimLeft(f.text, "-+"); len(letters) == len(f.text)-1 && f.exact &&
			(strings.Contains(letters, "P") || strings.Contains(letters, "o") && i+1 < len(args) && args[i+1].text == "physical") {
			sh.physical = f.text[0] == '-'
		}
		if strings.HasSuffix(f.text, "o") {
			i++ // its name
		}
	}
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
		sh.sets(f.text, []alt{{{text: ""}}}, pos)
		sh.subscripted(sh.integer, pos)
	}
}
