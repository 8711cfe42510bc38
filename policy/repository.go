package policy

import (
	"path"

	"skillrun/profiles"
)

// git gives where git looks when it is called at the top of the workspace: what
// ".git" is, or leads to, "" if there is none, and see [profiles.Host.GitDirectories].
func (l *lowering) git() (dot, dir, common string) {
	if l.place.Workspace == "" {
		return "", "", ""
	}
	name := l.place.Workspace + "/.git"
	if dir, common = l.host.GitDirectories(name); dir != "" {
		dot, _ = l.host.Resolve(name)
	}
	return dot, dir, common
}

// repository gives the directories that committing writes: ".git", or for a linked
// work tree the two that its file names, where git made it. That a run in the
// workspace cannot have done: it lies outside, in the "worktrees" of a repository,
// and points back. Of a repository that holds the workspace, what git needs there.
func (l *lowering) repository() []string {
	dot, dir, common := l.git()
	top := l.place.Workspace
	switch {
	case dot == "":
		return nil
	case dir == dot:
		if !within(top, dot) {
			return nil
		}
		return []string{dot}
	case within(top, dir):
		return nil
	case path.Base(path.Dir(dir)) != "worktrees" || common != path.Dir(path.Dir(dir)):
		return nil
	}
	if back, err := l.host.Resolve(absolute(dir, l.host.FirstLine(dir+"/gitdir"))); err != nil || back != dot {
		return nil
	}
	for _, name := range [...]string{"/HEAD", "/objects", "/refs"} {
		if !l.host.Exists(common + name) {
			return nil
		}
	}
	if !within(common, top) {
		return []string{dir, common}
	}
	dirs := []string{dir}
	for _, name := range [...]string{"HEAD", "config", "info", "logs", "objects", "packed-refs", "refs", "worktrees"} {
		at := path.Join(common, name)
		real, err := l.host.ResolvePrefix(at)
		if err == nil && real == at && !within(at, top) && (name == "logs" || l.host.Exists(at)) { // git makes them
			dirs = append(dirs, at)
		}
	}
	return dirs
}

// repositories guards what git obeys in directories that ".git" leads to, as in
// ".git" itself, wherever they are: a work tree's repository is written in with the
// right to commit, and one beside it in the workspace with that to write.
func (l *lowering) repositories(p *profiles.Profile) {
	_, dir, common := l.git()
	for _, dir := range [...]string{dir, common} {
		if dir != "" && dir != l.place.Workspace+"/.git" {
			p.Denials = append(p.Denials, profiles.RepositoryControls(dir)...)
		}
	}
}
