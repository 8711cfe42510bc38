package scan

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"skillrun/policy"
)

// Script is code that a skill has: a file, or a block of its SKILL.md.
type Script struct {
	Name string // path in the skill's directory
	// Typed says that it is a block of SKILL.md: what an agent is told to type.
	Typed bool
	Result
	// Addresses lists the hosts of the addresses in its text, in code or not, each as
	// "HOST:PORT" where it names a port, sorted.
	Addresses []string
}

// Skill reads the scripts of a skill and the code in its SKILL.md, within the bounds
// of [Hosts], each by itself. Of one in another language it is Unknown what it does. all
// is false where there is more.
func Skill(fsys fs.FS) (scripts []Script, all bool) {
	spent := budget{of: fsys}
	all = texts(fsys, func(name, text string) bool {
		typed := name == "SKILL.md" || name == "skill.md"
		if !typed && markdown(name) {
			return true
		}
		if !typed && unreadable(name, text) {
			at := policy.Pos{File: name, Line: 1, Column: 1}
			scripts = append(scripts, Script{Name: name, Result: Result{Unknown: []policy.Finding{{Pos: at, What: "in a language that is not read"}}}})
		}
		spent.code(name, text, func(r Result, of Block) {
			s := Script{Name: name, Typed: typed, Result: r}
			s.down(of.Line - 1)
			addresses(of.Text, func(host, port string) {
				s.Addresses = append(s.Addresses, withPort(host, port))
			})
			slices.Sort(s.Addresses)
			s.Addresses = slices.Compact(s.Addresses)
			scripts = append(scripts, s)
		})
		return true
	})
	return scripts, all && !spent.short
}

// holes are what the text of a skill leaves to be filled in, such as <output-dir>. With a
// space behind it ">" would write to what comes next. "<<EOF>" begins a text, and in
// "<in >" and "<in 2>" no hole ends.
const holes = `<?<[A-Za-z][\w./|-]*(?: +[A-Za-z/|][\w./|-]*)*>(?:[\s"'/:.,)]|$)`

// unfilled has arguments, of which nobody knows the value, in the places of holes.
func unfilled(text string) string {
	return pattern(holes).ReplaceAllStringFunc(text, func(hole string) string {
		if strings.HasPrefix(hole, "<<") {
			return hole
		}
		return "${1}" + hole[strings.IndexByte(hole, '>')+1:]
	})
}

// unreadable says whether a file is a script in none of the languages that are read, by
// its first line or the ending of its name.
func unreadable(name, text string) bool {
	if language(name, text) != "" {
		return false
	}
	switch path.Ext(name) {
	case ".awk", ".bat", ".cmd", ".go", ".java", ".jl", ".lua", ".php", ".pl", ".ps1", ".r", ".R", ".rb", ".rs", ".tcl":
		return true
	}
	return strings.HasPrefix(text, "#!")
}

// down moves places of a block to where they are in its file.
func (s *Script) down(lines int) {
	for _, needs := range [...][]Need{s.Needs, s.Besides} {
		for i := range needs {
			needs[i].Where.Line += lines
		}
	}
	for _, found := range [...][]policy.Finding{s.Opaque, s.Unknown, s.Serves} {
		for i := range found {
			found[i].Pos.Line += lines
		}
	}
}

func markdown(name string) bool {
	return strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".markdown")
}
