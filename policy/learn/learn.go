// Package learn writes manifests: what a skill's own files are seen to do, as a
// proposal for its author. It opens only what its caller hands it as an fs.FS.
package learn

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/profiles"
)

// Bounds of what is said of one entry; the rest is a count.
const (
	maxSeen  = 8   // places
	maxScope = 100 // items of a resource_scope
	maxWord  = 200 // bytes of a name
	maxLeft  = 20  // places that were not read
)

// entry is one entry of the proposal.
type entry struct {
	capability string
	kind       kind
	scope      []string // items, each once
	seen       []string // comments: places and what was seen there
	more       int      // places besides
}

// kind tells apart entries for one capability, and says how they are written.
type kind uint8

const (
	whole     kind = iota // without constraints
	workspace             // in the workspace
	named                 // what scope lists
	aside                 // what scope lists, or nothing: written as a comment, for the author to decide
	outside               // paths outside of the workspace: as aside
	idle                  // means nothing to a run: only told of
)

// Manifest proposes a skillrun.toml for the skill whose files fsys holds: an entry for
// what its scripts, and the code in its SKILL.md, are seen to do, with the places, and
// nothing else. No entry allows anything by itself: each is to be confirmed, and what
// is beyond the workspace, is a secret or is dear comes as a comment. entries is how
// many are not.
func Manifest(fsys fs.FS) (text []byte, entries int) {
	scripts, all := scan.Skill(fsys)
	p := proposal{fsys: fsys}
	var serves, unread []string
	for i := range scripts {
		s := &scripts[i]
		for j := range s.Needs {
			p.need(s, &s.Needs[j])
		}
		for _, f := range s.Serves {
			serves = append(serves, fmt.Sprintf("%s:%d: %s", word(s.Name), f.Pos.Line, f.What))
		}
		for _, f := range append(s.Opaque, s.Unknown...) {
			unread = append(unread, fmt.Sprintf("%s:%d: %s", word(s.Name), f.Pos.Line, word(f.What)))
		}
	}
	if !all {
		unread = append(unread, "more files or code than are read")
	}
	return p.write(serves, unread)
}

type proposal struct {
	fsys fs.FS
	all  []entry
}

// need adds what a script needs to the entry that it belongs to.
func (p *proposal) need(s *scan.Script, n *scan.Need) {
	c := policy.Lookup(n.Capability)
	group, verb, _ := strings.Cut(n.Capability, ".")
	if n.Own || c == nil {
		return
	}
	target := n.Target
	if !n.Exact {
		target = ""
	}
	switch {
	case !c.Enforced():
		p.add(n.Capability, idle, s, n)
	case n.Capability == "source_code.execute":
		// A script that a program is given is only read.
		if !strings.HasSuffix(n.Reason, " "+scan.RunsFile) && (n.Reason == scan.RunsFile || n.Exact && !p.own(target)) {
			p.add(n.Capability, whole, s, n)
		}
	case group == "filesystem" || group == "source_code":
		switch where := place(target); {
		case where == "": // every run has its own, or may read it
		case where == "outside":
			p.add("filesystem."+verb, outside, s, n, room(s, target))
		case verb == "read" && n.Exact && p.own(target):
		case verb == "delete" && (!n.Exact || makes(s, target)):
			// Most often what the script itself has made, which needs no right.
			p.add("filesystem.delete", aside, s, n)
		default:
			p.add("filesystem."+verb, workspace, s, n)
		}
	case n.Capability == "process.create" && slices.ContainsFunc(s.Needs, func(m scan.Need) bool {
		return m.Capability == "shell.execute" && m.Target == n.Target && m.Where.Line == n.Where.Line
	}): // it is seen already
	case n.Capability == "shell.execute" || n.Capability == "process.create":
		p.add("shell.execute", whole, s, n)
	case strings.HasPrefix(n.Capability, "commit.") && verb != "push":
		p.add(n.Capability, whole, s, n)
	case c.Group == "Network" && target == "":
		p.add(n.Capability, aside, s, n, s.Addresses...)
	case c.Group == "Network":
		hosts := s.Ports[target]
		if hosts == nil {
			hosts = []string{target}
		}
		p.add(n.Capability, named, s, n, hosts...)
	case n.Capability == "env_var.read" && strings.HasPrefix(target, "$"):
		name := target[1:]
		pass, deny := profiles.EnvDefaults()
		switch passes, rule := (&profiles.Env{Pass: pass, Deny: deny}).Passes(name); {
		case passes || name == "SKILL_DIR" || name == "CLAUDE_SKILL_DIR" || name == "CLAUDE_PLUGIN_ROOT" || strings.HasPrefix(name, "XDG_"): // the run's own
		case rule != nil:
			p.add("secrets.read", aside, s, n, name)
		default:
			p.add(n.Capability, named, s, n, name)
		}
	case group == "secrets":
		p.add(n.Capability, aside, s, n, strings.TrimPrefix(target, "$"))
	default:
		p.add(n.Capability, aside, s, n)
	}
}

// own says whether a relative path is one of the skill's files, which it always reads.
func (p *proposal) own(target string) bool {
	target = path.Clean(target)
	if target == "." || !fs.ValidPath(target) {
		return false
	}
	_, err := fs.Stat(p.fsys, target)
	return err == nil
}

// makes says whether a script writes what has this name.
func makes(s *scan.Script, target string) bool {
	return slices.ContainsFunc(s.Needs, func(n scan.Need) bool {
		return n.Exact && strings.HasSuffix(n.Capability, ".write") && path.Clean(n.Target) == path.Clean(target)
	})
}

// room gives the directory that a script makes for what is at target: a database, as
// one, has more files there. It is target itself if there is none.
func room(s *scan.Script, target string) string {
	for _, n := range s.Needs {
		if dir := path.Clean(n.Target); n.Makes && n.Exact && strings.HasPrefix(path.Clean(target), dir+"/") {
			return dir
		}
	}
	return target
}

// place says where a path is: "workspace" too if it is not known, "outside" of it, or
// "" where a run may do that without a right, as far as it may at all.
func place(target string) string {
	clean := path.Clean(target)
	switch {
	case clean == ".." || strings.HasPrefix(clean, "../") || strings.HasPrefix(clean, "~"):
		return "outside"
	case !path.IsAbs(clean):
		return "workspace"
	}
	for _, d := range [...]string{"/usr", "/bin", "/lib", "/etc", "/dev", "/proc", "/sys", "/tmp", "/var/tmp"} {
		if clean == d || strings.HasPrefix(clean, d+"/") {
			return ""
		}
	}
	return "outside"
}

func (p *proposal) add(capability string, k kind, s *scan.Script, n *scan.Need, scope ...string) {
	at := slices.IndexFunc(p.all, func(e entry) bool { return e.capability == capability && e.kind == k })
	if at < 0 {
		at = len(p.all)
		p.all = append(p.all, entry{capability: capability, kind: k})
	}
	e := &p.all[at]
	for _, item := range scope {
		if item != "" && !slices.Contains(e.scope, item) {
			e.scope = append(e.scope, item)
		}
	}
	seen := fmt.Sprintf("%s:%d: %s", word(s.Name), n.Where.Line, policy.Escape(n.Reason))
	if n.Target != "" && n.Exact {
		seen += ": " + word(n.Target)
	}
	switch {
	case slices.Contains(e.seen, seen):
	case len(e.seen) < maxSeen:
		e.seen = append(e.seen, seen)
	default:
		e.more++
	}
}

// write gives the manifest, in the order of the taxonomy.
func (p *proposal) write(serves, unread []string) (text []byte, entries int) {
	order := map[string]int{}
	for i, c := range policy.Taxonomy() {
		order[c.Name] = i
	}
	slices.SortStableFunc(p.all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(order[a.capability], order[b.capability]), cmp.Compare(a.kind, b.kind))
	})
	var b strings.Builder
	b.WriteString("# What this skill's files were seen to do, as skillrun init read them. It grants\n" +
		"# nothing: whoever runs the skill is asked. Take away what the skill should not\n" +
		"# do, and the \"#\" of those lines that begin with one and no space, which are for\n" +
		"# you to decide, where it needs them.\n")
	var rest strings.Builder
	for i := range p.all {
		e := &p.all[i]
		if e.kind == aside && i > 0 && e.capability == "filesystem.delete" && p.all[i-1].capability == e.capability {
			continue // the same right
		}
		if !e.aside() {
			entries++
		}
		e.write(&rest)
	}
	if entries == 0 {
		nothing := "Nothing."
		if rest.Len() > 0 {
			nothing = "Nothing; take this line away with the first \"#\" below."
		}
		b.WriteString("\n# " + nothing + "\npermissions = []\n")
	}
	b.WriteString(rest.String())
	places := func(what string, list []string) {
		if len(list) > 0 {
			b.WriteString("\n# " + what + ":\n")
		}
		for _, line := range list[:min(len(list), maxLeft)] {
			fmt.Fprintf(&b, "#   %s\n", line)
		}
		if more := len(list) - maxLeft; more > 0 {
			fmt.Fprintf(&b, "#   and %d more\n", more)
		}
	}
	places("Serves, for which there is no entry; whoever runs the skill adds --grant listen:PORT", serves)
	places("Not read; it may need more", unread)
	return []byte(b.String()), entries
}
