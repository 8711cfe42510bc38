package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/policy/skill"
	"skillrun/profiles"
)

// dirOf is where an action happens: as the host says, if that exists, else the
// session's.
func (s *Session) dirOf(dir string) (string, error) {
	if dir == "" {
		dir = s.state.Workspace
	}
	if dir == "" {
		return "/", nil
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the directory %q is not absolute", clip(dir, 200))
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("the directory %q cannot be found", clip(dir, 200))
	}
	return resolved, nil
}

// roots are the directories whose scripts are read.
func (s *Session) roots() []string {
	var roots []string
	if s.state.Workspace != "" {
		roots = append(roots, s.state.Workspace)
	}
	for _, k := range s.more.Skills {
		roots = append(roots, k.Dir)
	}
	for _, r := range skill.Roots() {
		switch {
		case r.Scope == skill.User && s.set.Home != "":
			roots = append(roots, filepath.Join(s.set.Home, r.Path))
		case r.Scope == skill.System:
			roots = append(roots, r.Path)
		}
	}
	return roots
}

// acting are the skills that an action belongs to: what the host says, those
// whose files it runs (that is certain), else all that are loaded.
func (s *Session) acting(a *Action, dir string, files []string) (names []string, certain bool) {
	note := func(k *loaded) {
		if k != nil && !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	for i := range s.more.Skills {
		if k := &s.more.Skills[i]; a.Skill != "" && (k.Name == a.Skill || k.Dir == a.Skill) {
			note(k)
		}
	}
	for _, f := range files {
		note(s.skillAt(s.resolve(f, dir)))
	}
	if certain = len(names) > 0; certain {
		return names, true
	}
	for i := range s.more.Skills {
		note(&s.more.Skills[i])
	}
	return names, false
}

// texts are the files named SKILL.md that a call reads: by name, by a pattern, or in
// a directory of a skill, of skills, or of an agent, that it searches or copies.
func (s *Session) texts(a *Action, read *scan.Result, dir string) (files []string) {
	searched := read.Searched
	text := func(file string) bool { return strings.EqualFold(filepath.Base(file), "SKILL.md") }
	note := func(capability, path string) {
		if capability == "filesystem.read" || capability == "source_code.read" {
			for _, file := range append(s.matches(path, dir), path, filepath.Clean(s.absolute(path, dir))) {
				if text(file) || text(s.resolve(file, dir)) {
					files = append(files, file)
				}
			}
		}
	}
	for _, r := range a.Requests {
		for _, p := range r.Paths {
			note(r.Capability, p)
		}
		if a.Searches {
			searched = append(searched, r.Paths...)
		}
	}
	some := false
	for i := range read.Needs {
		n := &read.Needs[i]
		note(n.Capability, n.Target)
		some = some || n.Capability == "filesystem.read" && !n.Exact
		if n.Capability == "filesystem.read" && strings.Contains(n.Target, "**") {
			searched = append(searched, beneath(n.Target)) // shopt -s globstar
		}
	}
	for i := range read.Needs {
		if n := &read.Needs[i]; some && n.Capability == "filesystem.read" && n.Exact {
			searched = append(searched, n.Target) // find | xargs cat
		}
	}
	for _, at := range searched {
		note("filesystem.read", at)
		files = append(files, s.matches(at+"/[Ss][Kk][Ii][Ll][Ll].md", dir)...)
		files = append(files, s.matches(at+"/*/[Ss][Kk][Ii][Ll][Ll].md", dir)...)
		if strings.HasPrefix(filepath.Base(s.resolve(at, dir)), ".") { // .claude, which has "skills"
			files = append(files, s.matches(at+"/*/*/[Ss][Kk][Ii][Ll][Ll].md", dir)...)
		}
	}
	return files
}

// executed are the files that a command runs without its having read them: by a
// pattern, by a directory, in a language that is not read.
func (s *Session) executed(read *scan.Result, dir string) (files []string) {
	for i := range read.Needs {
		n := &read.Needs[i]
		if n.Capability != "source_code.execute" || n.Target == "" {
			continue
		}
		known := n.Target
		files = append(files, s.matches(known, dir)...)
		if i := strings.IndexAny(known, wild+"$"); i >= 0 {
			known = filepath.Dir(known[:i] + "-")
		}
		files = append(files, known, known+"/-") // it may be a directory
	}
	return files
}

const (
	wild       = "*?[{"
	maxMatches = 1000 // that one pattern counts for
	maxWild    = 3    // directories with wildcards that are looked at
	mostStands = 64   // files that a pattern is judged by, and a yes to it opens; things that one question is about
)

// made is what a need of a confined command is about: where directories on the way to
// it are not there either ("mkdir -p ../a/b && cp x ../a/b"), the first of them, since
// what a run makes in it it could not read otherwise. In the workspace it makes them
// anyway, and in what begins with a dot (~/.config) much is obeyed.
func (s *Session) made(r *policy.Request, path, dir string) string {
	at := s.absolute(path, dir)
	if !r.Confined || s.state.Workspace == "" || profiles.Within(s.state.Workspace, s.resolve(at, "/")) {
		return path
	}
	for {
		parent := filepath.Dir(at)
		if _, err := os.Lstat(parent); !errors.Is(err, fs.ErrNotExist) {
			return at
		}
		if at = parent; strings.HasPrefix(filepath.Base(at), ".") {
			return path
		}
	}
}

// stands are the files that a pattern in a confined command stands for now, to which
// a yes is held; none if that is not known, or they are many. Links among them, which
// would lead a yes elsewhere, are not. A pattern that stands for nothing is a name to
// delete: of a file that is not there.
func (s *Session) stands(pattern, dir string, deleting bool) (files []string) {
	found := slices.DeleteFunc(s.matches(strings.ReplaceAll(pattern, "[!", "[^"), dir), func(f string) bool { return hidden(s.absolute(pattern, dir), f) })
	if name := s.absolute(pattern, dir); !slices.Contains(found, name) {
		if _, err := os.Lstat(name); err == nil {
			found = append(found, name) // "app/[id].tsx", in quotes
		}
	}
	switch {
	case len(found) == 0 && deleting && wilds(pattern) <= maxWild && !strings.ContainsAny(pattern, "[{("):
		return []string{pattern}
	case len(found) > mostStands && deleting:
		return s.known(pattern, dir)
	case len(found) > mostStands:
		return nil
	}
	top := s.resolve(beneath(pattern), dir)
	for _, f := range found {
		if real := s.resolve(f, "/"); real == filepath.Join(s.resolve(filepath.Dir(f), "/"), filepath.Base(f)) && profiles.Within(top, real) {
			files = append(files, f)
		}
	}
	return files
}

// hidden says of what a pattern matches that a shell leaves it out: what begins with a
// dot is found by a dot only.
func hidden(pattern, name string) bool {
	for more := true; more; {
		var a, b string
		a, pattern, more = strings.Cut(pattern, "/")
		b, name, _ = strings.Cut(name, "/")
		if strings.HasPrefix(b, ".") && !strings.HasPrefix(a, ".") {
			return true
		}
	}
	return false
}

// beneath is the directory that all is in which a pattern, or a name that is decided
// at run time, can stand for; "." where nothing is known of it.
func beneath(pattern string) string {
	if i := strings.IndexAny(pattern, wild+"$"); i >= 0 {
		pattern = pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
	}
	return cmp.Or(pattern, ".")
}

// known is what is known of a name that a confined command deletes, part of which is
// decided when it runs: the directory that it is in, if that lies beneath the
// workspace, and the run is held to that; what has the shell's own number in its name
// is not there yet.
func (s *Session) known(name, dir string) []string {
	if strings.Contains(name, "$$") && !strings.Contains(strings.ReplaceAll(name, "$$", ""), "$") {
		return []string{name}
	}
	if !strings.ContainsAny(name, wild+"$") {
		return nil
	}
	at := filepath.Clean(s.absolute(beneath(name), dir))
	if real := s.resolve(at, "/"); real == s.state.Workspace || !profiles.Within(s.state.Workspace, real) {
		return nil
	}
	return []string{at}
}

// matches are the files that a pattern of the shell stands for now; none if it
// is none, or would take long.
func (s *Session) matches(pattern, dir string) []string {
	if n := wilds(pattern); n == 0 || n > maxWild {
		return nil
	}
	found, _ := filepath.Glob(s.absolute(pattern, dir))
	return found[:min(len(found), maxMatches)]
}

// wilds is how many parts of a pattern have wildcards.
func wilds(pattern string) (n int) {
	for part := range strings.SplitSeq(pattern, "/") {
		if strings.ContainsAny(part, wild) {
			n++
		}
	}
	return n
}
