package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrun/policy/skill"
	"skillrun/profiles"
)

// tellUnkept says what went with the run's HOME, and what keeps the first of it: not
// in a session, where nobody types flags, and nothing that is denied by its name.
func (r *recorder) tellUnkept() {
	for _, path := range r.unkept {
		at := filepath.Join(r.job.host.Home, path[2:])
		if r.job.session != nil || r.profile.Allows(at, profiles.Write).Denial != nil {
			continue
		}
		first := ""
		if _, err := os.Stat(filepath.Dir(at)); err != nil {
			first = ", if you make its directory first"
		} else if _, err := os.Stat(at); err != nil && slices.Contains(r.trees, path) {
			// Inside, what is granted is a link, through which not all programs make one.
			first = ", if you make that directory first"
		}
		goneWith("HOME", r.unkept, path, first, "filesystem.read:"+path, "filesystem.write:"+path)
		return
	}
	goneWith("HOME", r.unkept, "", "")
}

// goneWith says what went with a directory of the run's own, and which grants keep
// kept, one of it.
func goneWith(own string, lost []string, kept, first string, grants ...string) {
	var flags []string
	for _, g := range grants {
		if g = grantFlag(g); g != "" {
			flags = append(flags, g)
		}
	}
	it := "it"
	if len(lost) > 1 {
		it = named(kept)
	}
	keeps := ""
	if len(flags) == 1 {
		keeps = "; " + flags[0] + " keeps " + it + first
	} else if len(flags) > 1 {
		keeps = "; " + strings.Join(flags, " ") + " keep " + it + first
	}
	var names []string
	for _, name := range lost[:min(len(lost), shownDenials)] {
		names = append(names, named(name))
	}
	hint("%s was the run's own, and %s went with it%s", own, strings.Join(names, ", "), keeps)
}

// left looks at what a run has left: in an agent's session where its shell ended,
// else what is lost with its /tmp although the command or the skill names it; and with its HOME
// what looks like work and not like a cache, as it is not hidden, or the skill's own
// text has its name, or it is among what an agent's skills keep and no skill is known.
func (r *recorder) left(home string) {
	if s := r.job.session; s != nil && s.place {
		s.leave(r.job, home)
	} else if s == nil {
		r.leftInTemp()
	}
	var hidden [][]string // each is left if the skill's text has all of its names
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, "."):
			r.leftInHome(home, name)
		case slices.Contains(programsOwn[:], name):
		case e.IsDir() && slices.ContainsFunc(skill.Roots(), func(root skill.Root) bool {
			return root.Scope == skill.User && strings.HasPrefix(root.Path, name+"/")
		}): // an agent's, in which each skill has something
			more, _ := os.ReadDir(filepath.Join(home, name))
			for _, e := range more {
				if r.job.skill == nil {
					r.leftInHome(home, name+"/"+e.Name())
				} else {
					hidden = append(hidden, []string{name, e.Name()})
				}
			}
		case r.job.skill != nil:
			hidden = append(hidden, []string{name})
		}
	}
	for _, shared := range basesOwn {
		more, _ := os.ReadDir(filepath.Join(home, shared))
		for _, e := range more {
			if r.job.skill != nil {
				hidden = append(hidden, []string{shared, e.Name()})
			}
		}
	}
	hidden = hidden[:min(len(hidden), mostNames)]
	others := r.unnamed(slices.Concat(hidden...)...)
	for _, names := range hidden {
		if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(others, name) }) {
			r.leftInHome(home, strings.Join(names, "/"))
		}
	}
}

// mostNames is how many names of a run's making are looked for in all of the skill's text.
const mostNames = 64

// programsOwn are hidden names by which every program keeps something, or every run
// has something: no skill's text is read for them.
var programsOwn = [...]string{".cache", ".config", ".gitconfig", ".local", ".npm"}

// basesOwn are those of them in which each program has something of its own.
var basesOwn = [...]string{".config", ".local/share", ".local/state"}

// leftInHome notes what there is something in of what a run left in its HOME.
func (r *recorder) leftInHome(home, name string) {
	at := filepath.Join(home, name)
	if !hasFile(at) {
		return
	}
	r.unkept = append(r.unkept, "~/"+name)
	if info, err := os.Lstat(at); err == nil && info.IsDir() {
		r.trees = append(r.trees, "~/"+name)
	}
}

// unnamed gives those of all names that the files of the run's skill do not have in them.
func (r *recorder) unnamed(all ...string) []string {
	if r.job.skill == nil || len(all) == 0 {
		return all
	}
	left := 256
	filepath.WalkDir(r.job.skill.Dir, func(path string, d fs.DirEntry, err error) error {
		if left--; err != nil || left == 0 || len(all) == 0 {
			return fs.SkipAll
		}
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		text, _ := io.ReadAll(io.LimitReader(f, 1<<18))
		all = slices.DeleteFunc(all, func(name string) bool { return names(string(text), name) })
		return nil
	})
	return all
}

// leftInTemp notes what is lost with the run's /tmp although the command names it, or
// the skill's text does: a file in which there is something, since a directory is
// where programs work, and matters only to a run that did not find it again.
func (r *recorder) leftInTemp() {
	entries, _ := os.ReadDir(r.temp)
	var files, trees []string
	for _, e := range entries {
		name := "/tmp/" + e.Name()
		if name == "/tmp/.X11-unix" || strings.HasPrefix(r.temp, name+"/") { // there from the beginning
			continue
		}
		switch {
		case slices.ContainsFunc(r.job.argv, func(word string) bool { return names(word, name) }):
			r.lost = append(r.lost, name)
		case len(files)+len(trees) == mostNames:
		case e.IsDir():
			trees = append(trees, name)
		case hasFile(filepath.Join(r.temp, e.Name())):
			files = append(files, name)
		}
	}
	others := r.unnamed(slices.Concat(files, trees)...)
	other := func(name string) bool { return slices.Contains(others, name) }
	r.lost = append(r.lost, slices.DeleteFunc(files, other)...)
	r.unfound = slices.DeleteFunc(trees, other)
}

// hasFile says whether there is a file in a tree, of which it looks at no more
// than a part: what was granted of the user's home is found in a run's own by
// links, in directories that are there for them.
func hasFile(tree string) bool {
	found, left := false, 256
	filepath.WalkDir(tree, func(_ string, d fs.DirEntry, err error) error {
		if left--; err != nil || left == 0 {
			return fs.SkipAll
		}
		if d.Type().IsRegular() {
			info, err := d.Info()
			if found = err == nil && info.Size() > 0; found { // else a lock, or a mark
				return fs.SkipAll
			}
		}
		return nil
	})
	return found
}

// names says whether a word of a command line has the path in it, or something
// beneath it.
func names(word, path string) bool {
	for {
		_, rest, ok := strings.Cut(word, path)
		if !ok {
			return false
		}
		if rest == "" || !strings.ContainsRune("._-", rune(rest[0])) && !('0' <= rest[0] && rest[0] <= '9' || 'A' <= rest[0] && rest[0] <= 'Z' || 'a' <= rest[0] && rest[0] <= 'z' || rest[0] >= 0x80) {
			return true
		}
		word = rest
	}
}
