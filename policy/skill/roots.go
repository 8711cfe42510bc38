package skill

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/policy"
	"skillrun/profiles"
)

// Scope is whose directory a skill lies in.
type Scope uint8

// The scopes; the zero scope is no root that any agent looks in.
const (
	Elsewhere Scope = iota
	Project         // of a project: whoever can write to the repository
	User            // under the user's home directory
	System          // of the machine: root's
)

func (s Scope) String() string {
	return [...]string{"elsewhere", "project", "user", "system"}[s]
}

// Root is a directory in which an agent looks for skills.
type Root struct {
	Agent string
	Scope Scope
	// Path is relative to the project's directories or the home directory,
	// absolute for System.
	Path   string
	Source string // where the agent's maker says so
}

// roots are the places of the agents that we know. A link or a copy in one of
// them is how installers install.
var roots = [...]Root{
	{"skillrun", System, "/usr/share/skillrun/skills", "our own packages"},
	{"skillrun", System, "/usr/local/share/skillrun/skills", "our own packages"},
	{"any", Project, ".agents/skills", "Agent Skills, integrating clients"},
	{"any", User, ".agents/skills", "Agent Skills, integrating clients"},
	{"claude-code", Project, ".claude/skills", "Claude Code CHANGELOG; nested ones 2.1.6"},
	{"claude-code", User, ".claude/skills", "Claude Code CHANGELOG"},
	{"codex", User, ".codex/skills", "third-party texts"},
	{"gemini", Project, ".gemini/skills", "Gemini CLI documentation"},
	{"gemini", User, ".gemini/skills", "Gemini CLI documentation"},
	{"opencode", Project, ".opencode/skills", "OpenCode documentation"},
	{"opencode", User, ".config/opencode/skills", "OpenCode documentation"},
	{"cursor", Project, ".cursor/skills", "unconfirmed; looking there harms nothing"},
	{"cursor", User, ".cursor/skills", "third-party texts"},
	{"copilot", Project, ".github/skills", "unconfirmed; looking there harms nothing"},
	{"copilot", User, ".copilot/skills", "third-party texts"},
}

// Roots lists the places in which agents look for skills.
func Roots() []Root { return slices.Clone(roots[:]) }

// Places are the directories that scopes are relative to. All are absolute;
// Project and Home also resolved.
type Places struct {
	Home    string // of the user, from the user database rather than $HOME where that may be set by a project
	Project string // the workspace; "" if there is none
	Current string // the current directory, within Project or ""
	// Written gives the trees that earlier runs could write, resolved; nil for none.
	Written func() ([]string, error)
}

// Located is where a directory lies.
type Located struct {
	Scope Scope
	Agent string // of the root it lies in
	Root  string // absolute
}

// Locate says in which root a resolved directory lies. What lies in the project
// is the project's, whatever else it is.
func (p Places) Locate(dir string) Located {
	inProject := profiles.Within(p.Project, dir)
	for _, r := range roots {
		switch r.Scope {
		case System:
			if !inProject && profiles.Within(r.Path, dir) {
				return Located{System, r.Agent, r.Path}
			}
		case User:
			// The root may itself be a link, as those who keep their
			// settings in a repository have it.
			root := filepath.Join(p.Home, r.Path)
			if p.Home == "" || inProject {
				continue
			}
			if real, err := filepath.EvalSymlinks(root); profiles.Within(root, dir) || err == nil && profiles.Within(real, dir) {
				return Located{User, r.Agent, root}
			}
		case Project:
			if !inProject {
				continue
			}
			rest := dir[len(strings.TrimSuffix(p.Project, "/")):]
			if i := strings.Index(rest+"/", "/"+r.Path+"/"); i >= 0 {
				return Located{Project, r.Agent, dir[:len(dir)-len(rest)+i+1+len(r.Path)]}
			}
		}
	}
	if inProject {
		return Located{Scope: Project}
	}
	return Located{}
}

// Around gives the directory of the skill that a resolved path lies in, by the
// roots; "" if it lies in none. What lies within a skill is that skill's, whatever
// it says.
func (p Places) Around(path string) (dir string) {
	root := p.Locate(path).Root
	if root == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	for d := filepath.Dir(path); d != root && profiles.Within(root, d); d = filepath.Dir(d) {
		for _, name := range headerNames {
			if _, err := os.Lstat(filepath.Join(d, name)); err == nil {
				dir = d
			}
		}
	}
	return dir
}

// Found is a skill that an agent would find.
type Found struct {
	Located
	Given string // as found
	Dir   string // resolved
	Name  string // of the directory: what agents call it by
}

// Bounds of the search, per root: those of the Agent Skills guide.
const (
	searchDepth = 6
	searchDirs  = 2000
)

// Discover finds the skills of all roots: those of the project from the current
// directory up, the user's, the system's. A skill is a directory with SKILL.md
// or skill.md; nothing inside one is another. Links to skills are followed,
// others are not. Each resolved directory comes once, under the strongest root.
// Complete is false when a root holds more than the search goes through.
func (p Places) Discover() (found []Found, complete bool) {
	complete = true
	seen := map[string]bool{}
	search := func(r Root, base string) {
		s := searcher{places: p, root: Located{r.Scope, r.Agent, filepath.Join(base, r.Path)}, left: searchDirs}
		s.dir(s.root.Root, 0)
		complete = complete && !s.cut
		for _, f := range s.found {
			if !seen[f.Dir] {
				seen[f.Dir] = true
				found = append(found, f)
			}
		}
	}
	for dir := cmp.Or(p.Current, p.Project); profiles.Within(p.Project, dir); dir = filepath.Dir(dir) {
		for _, r := range roots {
			if r.Scope == Project {
				search(r, dir)
			}
		}
		if dir == p.Project {
			break
		}
	}
	for _, r := range roots {
		if r.Scope == User && p.Home != "" {
			search(r, p.Home)
		}
	}
	for _, r := range roots {
		if r.Scope == System {
			search(r, "")
		}
	}
	return found, complete
}

type searcher struct {
	places Places
	root   Located
	found  []Found
	left   int
	cut    bool
}

func (s *searcher) dir(dir string, depth int) {
	if depth > searchDepth || s.left == 0 {
		s.cut = true
		return
	}
	s.left--
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // not there, or not ours to see: no agent finds anything either
	}
	if depth > 0 && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(headerNames[:], e.Name()) }) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return
		}
		f := Found{Located: s.root, Given: dir, Dir: real, Name: filepath.Base(dir)}
		if real != dir {
			// Where it really lies is what counts for trust.
			f.Located = s.places.Locate(real)
		}
		s.found = append(s.found, f)
		return
	}
	for _, e := range entries {
		sub := filepath.Join(dir, e.Name())
		switch {
		case e.Name() == ".git" || e.Name() == "node_modules":
		case e.IsDir():
			s.dir(sub, depth+1)
		case e.Type()&fs.ModeSymlink != 0:
			for _, name := range headerNames {
				if _, err := os.Stat(filepath.Join(sub, name)); err == nil {
					s.dir(sub, depth+1)
					break
				}
			}
		}
	}
}

// Trust says how far the skill in a resolved directory is trusted, and why in
// one line. It follows from where the skill lies, who can write there, and where its
// links lead, and from an approval that holds for this version (see
// [Approval.Holds]), nil for none. What the skill says of itself has no part in it.
func (p Places) Trust(dir string, a *Approval) (policy.Tier, string) {
	tier, why := p.trust(dir, a)
	if tier > policy.Untrusted {
		strays, err := Strays(dir)
		if err != nil {
			return policy.Untrusted, why + ", but it cannot be looked through: " + policy.Escape(err.Error())
		}
		for _, s := range strays {
			for _, via := range s.Via {
				if p.writable(via) {
					return policy.Untrusted, why + ", but its " + policy.Escape(s.Link) + " leads to " + policy.Escape(via) + ", where runs may write"
				}
			}
		}
	}
	return tier, why
}

// writable says whether a run may write at a path, or might have.
func (p Places) writable(path string) bool {
	var trees []string
	if p.Written != nil {
		var err error
		if trees, err = p.Written(); err != nil {
			return true
		}
	}
	return slices.ContainsFunc(append(trees, p.Project), func(tree string) bool { return profiles.Within(tree, path) })
}

func (p Places) trust(dir string, a *Approval) (policy.Tier, string) {
	where := p.Locate(dir)
	owner, safe := ownership(dir)
	safe = safe && decided(dir, owner)
	switch {
	case where.Scope == System && safe && owner == 0:
		return policy.BuiltIn, "installed for the whole machine"
	case a != nil && a.Promoted:
		return policy.Approved, "promoted by " + a.By + " on " + a.Made.UTC().Format(time.DateOnly)
	case where.Scope == User && !safe:
		return policy.Untrusted, "in the user's skills, but others can write there"
	case where.Scope == User && (owner == os.Geteuid() || owner == 0):
		return policy.Approved, "in the user's own skills"
	case where.Scope == Project:
		return policy.Untrusted, "part of the project"
	}
	return policy.Untrusted, "not in a directory of installed skills"
}

// decided says whether nobody but the owner of a skill's directory, root and this user
// can write what in it decides of rights, wherever in it links lead.
func decided(dir string, owner int) bool {
	for _, name := range slices.Concat(policy.ManifestNames(), headerNames[:]) {
		at, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		for ; err == nil && at != dir && profiles.Within(dir, at); at = filepath.Dir(at) {
			if uid, safe := ownership(at); !safe || uid != owner && uid != 0 && (owner == 0 || uid != os.Geteuid()) {
				return false
			}
		}
	}
	return true
}

// ownership gives the owner of a directory or file and whether nobody else can write
// to it. A group is somebody else unless it is the user's own.
func ownership(dir string) (uid int, safe bool) {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return -1, false
	}
	return int(st.Uid), st.Mode&0o002 == 0 && (st.Mode&0o020 == 0 || int(st.Gid) == os.Getegid())
}
