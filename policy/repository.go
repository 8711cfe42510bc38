package policy

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

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
// work tree that which its file names, where git made it, and of its repository what
// git needs there. That no run can have done: it lies outside, in the "worktrees" of
// a repository, and points back by a file that no run writes in ".git".
func (l *lowering) repository() []string {
	dot, dir, common := l.git()
	top := l.place.Workspace
	switch {
	case dot == "":
		return nil
	case dir == dot:
		if !profiles.Within(top, dot) {
			return nil
		}
		return []string{dot}
	case profiles.Within(top, dir):
		return nil
	case path.Base(path.Dir(dir)) != "worktrees" || common != path.Dir(path.Dir(dir)) || !strings.HasSuffix(common, ".git"):
		return nil
	}
	if back, err := l.host.Resolve(absolute(dir, l.host.GitText(dir+"/gitdir"))); err != nil || back != dot {
		return nil
	}
	for _, name := range [...]string{"/HEAD", "/objects", "/refs"} {
		if !l.host.Exists(common + name) {
			return nil
		}
	}
	dirs := []string{dir}
	for _, name := range [...]string{"HEAD", "config", "info", "logs", "objects", "packed-refs", "refs", "worktrees"} {
		at := path.Join(common, name)
		real, err := l.host.ResolvePrefix(at)
		if err == nil && real == at && !profiles.Within(at, top) && (name == "logs" || l.host.Exists(at)) { // git makes them
			dirs = append(dirs, at)
		}
	}
	return dirs
}

// gitControls guards what git obeys in directories that the ".git" of a workspace
// leads to, as in ".git" itself, wherever they are: a work tree's repository is
// written in with the right to commit, and one beside it in the workspace with that
// to write. What git's configuration names besides is guarded as well, and the files
// that it includes are given. A ".git" above the workspace counts, too: git looks for
// one upwards.
func gitControls(h *profiles.Host, workspace string) (denials []profiles.Denial, included []string) {
	if workspace == "" {
		return nil, nil
	}
	c := configured{host: h, workspace: workspace, seen: map[string]bool{}}
	for c.top = workspace; ; c.top, c.files = path.Dir(c.top), 0 {
		dot := profiles.Below(c.top, ".git")
		dir, common := h.GitDirectories(dot)
		for _, d := range [...]string{dir, common} {
			if d != "" && d != dot {
				denials = append(denials, profiles.RepositoryControls(d)...)
			}
		}
		if dir != "" {
			c.read(common + "/config")
			c.read(dir + "/config.worktree")
		}
		if dir != "" || c.top == workspace {
			for _, file := range [...]string{
				h.Home + "/.gitconfig", h.Home + "/.config/git/config", h.Env["XDG_CONFIG_HOME"] + "/git/config", "/etc/gitconfig",
				h.Account + "/.gitconfig", h.Account + "/.config/git/config",
			} {
				c.read(file)
			}
			c.environment()
		}
		if c.top == "/" {
			break
		}
	}
	sift := profiles.Sift{Root: workspace}
	for _, name := range c.names {
		denials = append(denials, sift.Beyond(h, profiles.Denial{Path: name, Access: profiles.Change, Class: profiles.Control,
			Origin: profiles.Origin{Source: profiles.OfControlFiles, Reason: "git's configuration names it"}})...)
	}
	return denials, c.included
}

// configured collects what git's configuration names: directories of hooks, files
// that it includes, and files of the workspace among the words of its commands.
type configured struct {
	host      *profiles.Host
	workspace string
	top       string          // of the work tree in which git obeys it
	seen      map[string]bool // files that were read for a work tree, and names
	files     int             // of these for this one
	names     []string
	included  []string // files, by their own names
}

// mostConfigured is how many files are read: they may include each other.
const mostConfigured = 32

func (c *configured) read(file string) {
	key := c.top + " " + file
	if !path.IsAbs(file) || c.seen[key] || c.files > mostConfigured {
		return
	}
	c.seen[key] = true
	c.files++
	at, err := c.host.Resolve(file)
	if err != nil {
		return
	}
	b, err := c.host.ReadSmall(at, 1<<20)
	if err != nil {
		return
	}
	dir := file[:strings.LastIndexByte(file, '/')]
	profiles.GitConfig(b, func(name, value string) { c.entry(dir, name, value) })
}

// environment reads what variables have of configuration (git(1), git-config(1)).
func (c *configured) environment() {
	for _, name := range [...]string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		c.readAll(c.named(c.top, c.host.Env[name], true))
	}
	for i := 0; ; i++ {
		name, ok := c.host.Env["GIT_CONFIG_KEY_"+strconv.Itoa(i)]
		if !ok {
			return
		}
		c.entry(c.top, strings.ToLower(name), c.host.Env["GIT_CONFIG_VALUE_"+strconv.Itoa(i)])
	}
}

func (c *configured) readAll(files []string) {
	for _, file := range files {
		c.read(file)
	}
}

// entry takes what one entry names, where names are relative to dir in an include.
func (c *configured) entry(dir, name, value string) {
	switch key := gitKey(name); {
	case key == "include.path" || key == "includeif.path":
		files := c.named(dir, value, true)
		for _, file := range files {
			if at, err := c.host.Resolve(file); err == nil && len(c.included) < mostConfigured {
				c.included = append(c.included, at)
			}
		}
		c.readAll(files)
	case key == "core.hookspath" || key == "init.templatedir":
		c.named(c.top, value, true)
	case plainEntries[key]:
	default:
		for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\"'!;&|=(){}$<>`\\", r) }) {
			if strings.Contains(word, "/") || strings.Contains(word, ".") {
				c.named(c.top, word, false)
			}
		}
	}
}

// gitKey is the name of an entry without its subsection: "section.key".
func gitKey(name string) string {
	section, key, _ := strings.Cut(name, ".")
	return section + "." + key[strings.LastIndexByte(key, '.')+1:]
}

// plainEntries are entries of a repository's configuration that start nothing and
// lead nowhere else.
var plainEntries = map[string]bool{
	"branch.merge": true, "branch.rebase": true, "branch.remote": true, "commit.gpgsign": true, "core.autocrlf": true, "core.bare": true,
	"core.eol": true, "core.filemode": true, "core.ignorecase": true, "core.logallrefupdates": true, "core.precomposeunicode": true,
	"core.quotepath": true, "core.repositoryformatversion": true, "core.sharedrepository": true, "core.sparsecheckout": true,
	"core.sparsecheckoutcone": true, "core.symlinks": true, "extensions.objectformat": true, "extensions.partialclone": true,
	"extensions.refstorage": true, "gc.auto": true, "init.defaultbranch": true, "pull.ff": true, "pull.rebase": true, "push.default": true,
	"remote.fetch": true, "remote.mirror": true, "remote.partialclonefilter": true, "remote.promisor": true, "remote.pushurl": true,
	"remote.tagopt": true, "remote.url": true, "submodule.active": true, "submodule.branch": true, "submodule.url": true,
	"tag.gpgsign": true, "user.email": true, "user.name": true,
}

// GitObeys names what is in the repository of a ".git", by whichever way it is that,
// which git may start: entries of its configuration, as "section.key", other than
// those that are known to be harmless, and hooks.
func GitObeys(h *profiles.Host, dot string) (names []string) {
	seen := map[string]bool{} // there may be ten thousands
	add := func(name string) {
		if !seen[name] {
			seen[name], names = true, append(names, name)
		}
	}
	dir, common := h.GitDirectories(dot)
	for _, file := range slices.Compact([]string{common + "/config", dir + "/config", dir + "/config.worktree"}) {
		b, err := h.ReadSmall(file, 1<<20)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			add(path.Base(file))
		}
		err = profiles.GitConfig(b, func(name, _ string) {
			if key := gitKey(name); !plainEntries[key] {
				add(key)
			}
		})
		if err != nil {
			add(path.Base(file))
		}
	}
	hooks, _ := fs.ReadDir(h.FS, profiles.FSName(common+"/hooks"))
	for _, e := range hooks {
		if !strings.HasSuffix(e.Name(), ".sample") {
			add("hooks/" + e.Name())
		}
	}
	return names
}

// named notes a name, relative to a directory, and gives it whole, as git goes on
// from it, in each home that "~" may stand for: of what is no place by its meaning
// only a file of the workspace, and never all of that.
func (c *configured) named(dir, name string, place bool) (whole []string) {
	if name == "" || len(name) > MaxPath {
		return nil
	}
	names := []string{name}
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		names = nil
		for _, home := range [...]string{c.host.Home, c.host.Account} {
			if user, rest, ok := strings.Cut(rest, "/"); ok && home != "" && (user == "" || user == c.host.User) {
				names = append(names, home+"/"+rest)
			}
		}
	} else if !path.IsAbs(name) {
		names[0] = dir + "/" + name
	}
	for _, name := range slices.Compact(names) {
		at, err := c.host.ResolvePrefix(name)
		if profiles.Within(at, c.workspace) && err == nil {
			continue
		}
		if !place {
			info, err := fs.Stat(c.host.FS, profiles.FSName(at))
			if err != nil || !info.Mode().IsRegular() || !profiles.Within(c.workspace, at) {
				continue
			}
		}
		if !c.seen["name "+name] {
			c.seen["name "+name] = true
			c.names = append(c.names, name)
		}
		whole = append(whole, name)
	}
	return whole
}
