package profiles

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Toolchains gives what lets the user's own tools work, read-only, in a run
// whose HOME is another: rules for the places that exist on this host, and the
// variables by which the tools find them there. It also covers the directories
// under /opt in which PATH finds programs.
//
// A variable that names a place counts only if the place holds what nobody but the
// tool makes, so that one that somebody else set opens no other directory; so does
// HOME, where a project may have chosen it.
// Links that lead out of a place are not followed: a run that may write there
// (go install) could open any directory to later runs. Credentials that lie in
// such a place are in SensitivePaths, whose denials win. Nor does a link count by
// which a place that is named in the workspace (resolved, "" if there is none)
// lies outside of it.
func Toolchains(h *Host, workspace string) ([]PathRule, []EnvVar) {
	var rules []PathRule
	var vars []EnvVar
	look := newLookout(h)
	home := look.chosenHome()
	set := map[string]bool{}
	for i := range toolRows {
		row := &toolRows[i]
		if row.OS != "" && row.OS != h.OS {
			continue
		}
		place, ok := look.tool(row, workspace, home)
		if !ok {
			continue
		}
		root, _, _ := look.at(place)
		origin := Origin{Source: "built-in:toolchains", Reason: row.Name + ": " + row.Reason}
		grant := func(subs []string, access Access) {
			for _, sub := range subs {
				for _, name := range look.glob(place, sub) {
					at, _, _ := look.at(name)
					if Within(root, at) {
						rules = look.grant(rules, name, access, origin)
					}
				}
			}
		}
		grant(row.Read, Read)
		grant(row.Exec, Read|Execute)
		if row.Set != "" && !set[row.Set] {
			value := place
			if row.Value != "" {
				value = strings.ReplaceAll(row.Value, "{}", place)
			}
			set[row.Set] = true
			vars = append(vars, EnvVar{Name: row.Set, Value: value, Origin: origin})
		}
	}
	for _, dir := range strings.Split(h.Env["PATH"], ":") {
		if rest, ok := strings.CutPrefix(path.Clean(dir), "/opt/"); ok && look.hasProgram(path.Clean(dir)) {
			name, _, _ := strings.Cut(rest, "/")
			rules = look.grant(rules, "/opt/"+name, Read|Execute, Origin{Source: "built-in:toolchains", Reason: "PATH names it"})
		}
	}
	return rules, vars
}

// hasProgram says whether a directory is called as those of programs are, or has one.
func (l *lookout) hasProgram(dir string) bool {
	at, _, isDir := l.at(dir)
	if name := path.Base(dir); !isDir || name == "bin" || name == "sbin" {
		return isDir
	}
	entries, _ := fs.ReadDir(l.host.FS, FSName(at))
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, err := l.host.Lookup(path.Join(at, e.Name()), "")
		return err == nil
	})
}

// OwnStores has tools that may fetch packages keep them in stores of the run's own,
// where the user's, which a run does not write, would make them fail: it takes the
// variables away that name these. What other programs of the user's rely on is
// written by none of them.
func (p *Profile) OwnStores(h *Host) {
	if !p.Process.ExecuteOwn {
		return // tools start what they fetch
	}
	for i := range toolRows {
		row := &toolRows[i]
		at := slices.IndexFunc(p.Env.Set, func(v EnvVar) bool { return v.Name == row.Set && v.Origin.Source == "built-in:toolchains" })
		if row.Fetch == "" || at < 0 || !p.fetches(row.Fetch) {
			continue
		}
		store := p.Env.Set[at]
		p.Env.Set = slices.Delete(p.Env.Set, at, at+1)
		_, given := h.Env[row.Then]
		if row.Then != "" && !(given && p.Env.Lets(row.Then)) && !strings.ContainsAny(store.Value, ",|%?# ") {
			p.Env.Set = append(p.Env.Set, EnvVar{Name: row.Then, Value: strings.ReplaceAll(row.ThenValue, "{}", store.Value), Origin: store.Origin})
		}
	}
}

// OfTool gives the paths that are granted because the user has a tool, a row of
// data/toolchains.toml.
func (p *Profile) OfTool(name string) (paths []string) {
	for i := range p.Paths {
		if r := &p.Paths[i]; r.Origin.Source == "built-in:toolchains" && strings.HasPrefix(r.Origin.Reason, name+": ") {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// fetches says whether the run reaches one of the hosts of a group.
func (p *Profile) fetches(group string) bool {
	rules, _ := HostGroup(group)
	return slices.ContainsFunc(rules, func(r HostRule) bool {
		return p.Reaches(r.Host, r.Ports[0].First, TCP).Allowed
	})
}

// tool gives the first place of a row that has its marker, as it is written. chosen
// is said of HOME by [lookout.chosenHome].
func (l *lookout) tool(row *toolRow, workspace string, chosen bool) (place string, ok bool) {
	home, _, _ := l.at(path.Clean(l.host.Home))
	for _, template := range row.Places {
		for _, base := range l.host.places(template) {
			// The tool's own place in the home, which no variable names.
			ours := !chosen && strings.HasPrefix(template, "~/") && base == path.Join(l.host.Home, template[1:])
			dir, pattern := base, ""
			if strings.ContainsAny(base, "*?") {
				dir, pattern = path.Split(base)
			}
			for _, place := range l.glob(dir, pattern) {
				at, exists, _ := l.at(place)
				if !exists || l.host.holdsHome(at) || l.leaves(workspace, place) {
					continue
				}
				// A link of another user's leads to what root may read, and they may not.
				led := l.host.Theirs && !Within(home, at)
				if len(l.glob(at, row.Marker)) > 0 && (ours && !led || l.proves(row, at, workspace)) {
					return place, true
				}
			}
		}
	}
	return "", false
}

// proves says whether a place that a variable names, resolved, is the tool's. One that
// would be granted whole is not where an earlier run could write, nor in a work tree:
// what would prove it, that may have put there.
func (l *lookout) proves(row *toolRow, at, workspace string) bool {
	if !slices.ContainsFunc(row.Proof, func(name string) bool { return len(l.glob(at, name)) > 0 }) {
		return false
	}
	if !slices.Contains(row.Read, ".") && !slices.Contains(row.Exec, ".") {
		return true
	}
	if Within(workspace, at) {
		return true
	}
	written, err := l.host.Written()
	return err == nil && !slices.ContainsFunc(written, func(tree string) bool { return Within(tree, at) }) && !l.inWorkTree(at, l.host.holdsHome)
}

// chosenHome says whether HOME may be a directory that a project chose, to have what
// lies there taken for the user's tools: another than the account's, and beneath that,
// or in a work tree.
func (l *lookout) chosenHome() bool {
	h := l.host
	if h.Account == "" || h.Account == h.Home || h.Account == "/" {
		return false
	}
	home, _, _ := l.at(path.Clean(h.Home))
	account, _, _ := l.at(path.Clean(h.Account))
	return home != account && (Within(account, home) || l.inWorkTree(home, func(dir string) bool { return Within(dir, account) }))
}

// inWorkTree says whether a directory lies in a work tree; end says of which directories
// that is not asked, since the user's home is in them.
func (l *lookout) inWorkTree(at string, end func(dir string) bool) bool {
	for dir, ok := at, true; ok && !end(dir); dir, ok = above(dir) {
		if l.exists(path.Join(dir, ".git")) {
			return true
		}
	}
	return false
}

// leaves says whether a path goes into a tree and out of it again.
func (l *lookout) leaves(tree, name string) bool {
	if tree == "" {
		return false
	}
	inside := func(name string) bool {
		at, _, _ := l.at(name)
		return Within(tree, at)
	}
	if inside(name) {
		return false
	}
	for dir, ok := above(name); ok; dir, ok = above(dir) {
		if inside(dir) {
			return true
		}
	}
	return false
}

// glob gives the existing paths beneath dir that match pattern, whose
// components may hold "*" and "?", the last in order first.
func (l *lookout) glob(dir, pattern string) []string {
	if pattern == "" || pattern == "." {
		if dir = path.Clean(dir); l.exists(dir) {
			return []string{dir}
		}
		return nil
	}
	first, rest, _ := strings.Cut(pattern, "/")
	if !strings.ContainsAny(first, "*?") {
		return l.glob(path.Join(dir, first), rest)
	}
	at, exists, _ := l.at(path.Clean(dir))
	if !exists {
		return nil
	}
	entries, err := fs.ReadDir(l.host.FS, FSName(at))
	if err != nil {
		return nil
	}
	var found []string
	for i := len(entries) - 1; i >= 0; i-- {
		if matchName(first, entries[i].Name()) {
			found = append(found, l.glob(path.Join(dir, entries[i].Name()), rest)...)
		}
	}
	return found
}

func (l *lookout) exists(name string) bool {
	_, exists, _ := l.at(name)
	return exists
}

// IsToolchain says whether a toolchain has this name.
func IsToolchain(name string) bool {
	return slices.ContainsFunc(toolRows, func(row toolRow) bool { return row.Name == name })
}
