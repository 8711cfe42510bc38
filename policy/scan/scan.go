// Package scan reads commands, scripts and text without running them and says
// which capabilities they need: shell completely, Python and JavaScript by
// tokenizing readers. It decides nothing and opens only what its caller hands
// it as an fs.FS.
//
// A reader of code cannot be complete, so a Result keeps three things apart:
// what is needed, what is decided at run time and hence cannot be read
// (Opaque), and what was left unread (Unknown). No text that does something
// yields a Result without any of the three.
//
// How a text becomes a Result:
//
//	a command line    a script in Python or JavaScript
//	 shell.go          code_token.go, code_parse.go: a tree
//	 shell_word.go     code.go: what its variables hold
//	     |  words         |  calls
//	     v                v
//	 shell_call.go     code_call.go
//	     |                |
//	     v                v
//	 data/commands.toml  data/calls.toml     what each program and function needs
//	     \______________/
//	            |  roles of arguments
//	            v
//	 path.go, scan.go: needs
//
// To read the code, begin here, then go on to the two rows, in command_row.go and
// code_row.go. Files begin with what they belong to:
//
//   - shell_*: a walk over the syntax tree of mvdan.cc/sh, which follows
//     variables, directories, functions and pipes. Each argument that it finds
//     is a field: a text, and how far it is known.
//   - command_*: a program with its arguments. A row gives each option and
//     operand a role ("r" is a file that is read), and command_role.go says
//     what a role needs. Arguments that are a language of their own have a
//     reader, listed in command_special.go.
//   - code_*: one tokenizer, parser and evaluator for Python and JavaScript,
//     which knows of a value (code_value.go) what the text says. Functions have
//     rows and roles, too. code_module.go follows imports.
//   - skill*.go: all files of a skill. inject.go: prose that is meant for a model.
//
// The two sides call each other: a shell runs "python3 -c CODE", and Python
// calls os.system.
package scan

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"skillrun/policy"
)

// Need is one capability that a text needs.
type Need struct {
	// Capability is a name of policy's taxonomy.
	Capability string
	// Target is the object: a path as written ("~" for the home directory,
	// joined to the literal directory changes before it), a host without
	// scheme and port, a variable as "$NAME", or a name. A pattern stands for
	// what it matches, a directory for what is beneath.
	Target string
	// Exact says that the text alone names the object. Otherwise Target is
	// what is known of it ("out/$1.txt"), or "".
	Exact bool
	// Where is the place that the need was seen at.
	Where policy.Pos
	// Reason says in a few words what needs it: "cat prints the files named".
	Reason string
	// Makes says that Target is a directory that is made, and no more: nothing is
	// done to one that is there.
	Makes bool
	// Own says that it is about a temporary file or directory of mktemp's, of tempfile's
	// and the like, or beneath one: a run's own.
	Own bool
}

// RunsFile is the Reason of a file that is started itself, by no program that reads it.
const RunsFile = "runs the file"

// Result is what a text needs, each need once, in the order of appearance.
type Result struct {
	Needs []Need
	// Besides lists what programs do on the way, which nobody would name who
	// says what a command is for, and which a run has to be allowed: git
	// deletes the files that it replaces, and "git remote add" writes
	// .git/config.
	Besides []Need
	// Ports lists the hosts of Needs that the text names with a port, each as
	// it does: "HOST:PORT", and "HOST" where it names it without one, too.
	Ports map[string][]string
	// Opaque lists code that is decided at run time: eval of a variable, a
	// download piped into a shell, exec of decoded text. It may need
	// anything.
	Opaque []policy.Finding
	// Unknown lists what was not read: programs that the table does not know,
	// files that are missing, too large or in another language.
	Unknown []policy.Finding
	// Serves lists what others connect to: servers, which take no right but one that
	// no manifest gives.
	Serves []policy.Finding
	// Searched lists files and directories that are printed, copied or given another
	// name with all beneath them, where that is known: by "grep -r", "find -exec",
	// "cp", "git show".
	Searched []string
	// Files lists the scripts that were read besides the text itself, in the
	// order of reading.
	Files []string
}

// Env is what a reader may know about the place where a text would run. The
// zero Env follows no files.
type Env struct {
	// FS holds the files, rooted at "/", as in profiles.Host. Nil follows
	// none.
	FS fs.FS
	// Dir is the absolute directory that relative paths start at. Targets
	// stay relative to it.
	Dir string
	// Roots are the absolute directories beneath which scripts that the text
	// runs are read too: the workspace and the skill.
	Roots []string
	// Home is the absolute home directory; paths beneath it are named "~".
	Home string
	// Remote gives the address that git fetches from in an absolute directory by the
	// name of a remote, "" for the one that it takes by itself, as far as that is
	// known; "." is the repository itself. Nil knows none.
	Remote func(dir, name string) (address string, known bool)

	skill fs.FS // of which all files are read, each by itself; nil if none is
}

// Bounds of the work that a text can cause. What lies beyond is said to be
// opaque or unknown.
const (
	maxText     = 4 << 20 // bytes of one text
	maxArg      = 1 << 17 // bytes of a command: what Linux takes as one argument
	maxSteps    = 60_000  // commands, words and expressions of one Result, and what is copied for them
	maxNeeds    = 4096    // needs, and as many findings
	maxDepth    = 24      // nesting of calls, evals and files
	maxFiles    = 200     // scripts followed
	maxSearched = 1000
	maxValue    = 1 << 17 // bytes of one value
	maxAlts     = 16      // values that one word may have
)

// Command reads a shell command, which positions call "command".
func Command(src string, env Env) Result {
	s := newScan(env)
	if len(src) > maxArg {
		s.opaque(policy.Pos{File: "command", Line: 1, Column: 1}, "a command of more than 128 KiB")
		return s.result()
	}
	s.shellText(src, place{file: "command"}, newShell(s))
	return s.result()
}

// place is where a text is: a file and, for text within text, the fixed
// position of the outer text.
type place struct {
	file      string
	line, col int // of the outer text; 0 if positions are the text's own
}

func (p place) at(line, col int) policy.Pos {
	if p.line != 0 {
		line, col = p.line, p.col
	}
	return policy.Pos{File: p.file, Line: line, Column: col}
}

// fixed gives the place of text that is quoted within this one.
func (p place) fixed(pos policy.Pos) place {
	return place{file: p.file, line: max(pos.Line, 1), col: max(pos.Column, 1)}
}

// scan collects one Result. Readers of all languages share it, also those of code
// within code and of the scripts that are followed: the bounds hold for all together.
type scan struct {
	env   Env
	out   Result
	seen  map[needKey]int // index in out.Needs
	found map[policy.Finding]bool
	files map[followed]bool
	ports map[string][]string // of hosts
	on    map[needKey]bool    // the needs of Besides
	steps int
	end   policy.Pos // where the budget was used up
	depth int
	quiet int // while above 0 nothing is collected

	subscript bool // a text with a command in a subscript was seen

	unset  bool // variables that are not set may be so later
	making bool // what is written is a directory that is made
	owning bool // what it is done to is mktemp's

	at       field    // the directory that what is read runs in
	modules  []string // directories where Python looks for modules, besides the code's own
	programs []string // directories where programs are looked for
}

type needKey struct {
	capability, target string
	exact              bool
}

func newScan(env Env) *scan {
	return &scan{env: env, seen: map[needKey]int{}, found: map[policy.Finding]bool{}, files: map[followed]bool{}, on: map[needKey]bool{}, at: field{exact: true}}
}

func (s *scan) result() Result {
	if s.spent() {
		s.quiet = 0
		s.opaque(s.end, "too much to read")
	}
	for host, ports := range s.ports {
		if len(ports) == 1 && ports[0] == "" {
			continue
		}
		if s.out.Ports == nil {
			s.out.Ports = map[string][]string{}
		}
		for _, port := range ports {
			s.out.Ports[host] = append(s.out.Ports[host], withPort(host, port))
		}
	}
	return s.out
}

func withPort(host, port string) string {
	switch {
	case port == "":
		return host
	case strings.Contains(host, ":"):
		return "[" + host + "]:" + port
	}
	return host + ":" + port
}

// step counts work; false means that the budget is used up, which the result
// says.
func (s *scan) step(pos policy.Pos) bool {
	if !s.spent() {
		s.end = pos
		s.spend(1)
	}
	return !s.spent()
}

// spend counts work that is more than one step: what grows with values, and is
// done again for each word.
func (s *scan) spend(n int) { s.steps = min(s.steps+n, maxSteps) }

// spent says that the budget is used up: nothing more is read.
func (s *scan) spent() bool { return s.steps >= maxSteps }

// room says whether one more of n results is kept. Each is decided about.
func (s *scan) room(n int) bool {
	if n >= maxNeeds {
		s.spend(maxSteps)
	}
	return n < maxNeeds
}

func (s *scan) need(capability, target string, exact bool, pos policy.Pos, reason string) {
	key := needKey{capability, target, exact}
	if s.quiet > 0 {
		return
	}
	if i, ok := s.seen[key]; ok {
		n := &s.out.Needs[i]
		n.Makes, n.Own = n.Makes && s.making, n.Own && s.owning
		return
	}
	if !s.room(len(s.out.Needs)) {
		return
	}
	s.seen[key] = len(s.out.Needs)
	s.out.Needs = append(s.out.Needs, Need{capability, target, exact, pos, reason, s.making, s.owning})
}

// makes records that a directory is made.
func (s *scan) makes(f, dir field, pos policy.Pos, reason string) {
	s.making = true
	s.path(writes, f, dir, pos, reason)
	s.making = false
}

// besides records what a program does on the way.
func (s *scan) besides(capability, target string, exact bool, pos policy.Pos, reason string) {
	key := needKey{capability, target, exact}
	if s.quiet > 0 || s.on[key] || !s.room(len(s.out.Besides)) {
		return
	}
	s.on[key] = true
	s.out.Besides = append(s.out.Besides, Need{capability, target, exact, pos, reason, false, false})
}

// address notes the port that a host is named with, "" for none.
func (s *scan) address(host, port string) {
	if s.quiet > 0 {
		return
	}
	if s.ports == nil {
		s.ports = map[string][]string{}
	}
	if !slices.Contains(s.ports[host], port) {
		s.ports[host] = append(s.ports[host], port)
	}
}

func (s *scan) opaque(pos policy.Pos, what string) {
	f := policy.Finding{Pos: pos, What: what}
	if s.quiet > 0 || s.found[f] || len(s.out.Opaque) > 0 && !s.room(len(s.out.Opaque)) {
		return
	}
	s.found[f] = true
	s.out.Opaque = append(s.out.Opaque, f)
}

// serves notes what has this reason, if that is to listen.
func (s *scan) serves(pos policy.Pos, reason string) {
	f := policy.Finding{Pos: pos, What: reason}
	if reason != listens && !strings.HasPrefix(reason, "serves ") || s.quiet > 0 || s.found[f] || !s.room(len(s.out.Serves)) {
		return
	}
	s.found[f] = true
	s.out.Serves = append(s.out.Serves, f)
}

const listens = "listens"

var patterns sync.Map

// pattern gives a regular expression of this package, which is compiled once.
func pattern(text string) *regexp.Regexp {
	if known, ok := patterns.Load(text); ok {
		return known.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile(text)
	patterns.Store(text, compiled)
	return compiled
}

func (s *scan) unknownAt(pos policy.Pos, what string) {
	f := policy.Finding{Pos: pos, What: what}
	if s.quiet > 0 || s.found[f] || !s.room(len(s.out.Unknown)) {
		return
	}
	s.found[f] = true
	s.out.Unknown = append(s.out.Unknown, f)
}
