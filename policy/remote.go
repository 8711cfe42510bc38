package policy

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"skillrun/profiles"
)

// GitRemote gives the address that git fetches from in a directory by the name of a
// remote, "" for the one that it takes without (remote.c, git-fetch(1)); "." is the
// repository itself. It is what the repository's configuration says, in which a run
// that made it, or who packed the project, may have written anything: somebody is to
// be asked of it, and a run be held to it. It is not known where git would look
// elsewhere, too, as in files that the configuration includes.
func GitRemote(h *profiles.Host, dir, name string) (address string, known bool) {
	var git, common string
	if !path.IsAbs(dir) {
		return "", false
	}
	for at := dir; ; at = path.Dir(at) {
		dot := profiles.Below(at, ".git")
		if git, common = h.GitDirectories(dot); git != "" {
			if !ownRepository(h, dot, git, common) {
				return "", false
			}
			break
		} else if at == "/" {
			return "", false
		}
	}
	c := remotes{urls: map[string][]string{}, branches: map[string]string{}}
	if !c.read(h, "/etc/gitconfig") || !c.read(h, common+"/config") || c.worktree && !c.read(h, git+"/config.worktree") {
		return "", false
	}
	given := name != ""
	if !given {
		branch, _ := strings.CutPrefix(h.GitText(git+"/HEAD"), "ref: refs/heads/")
		if name = c.branches[branch]; name == "" {
			name = "origin"
			for only := range c.urls {
				if len(c.urls) == 1 {
					name = only
				}
			}
		}
	}
	urls := c.urls[name]
	switch {
	case len(urls) > 0:
		return c.instead(urls[0]), true
	case name == "." && !given:
		return name, true
	case strings.Contains(name, ":"):
		return c.instead(name), true
	}
	return "", false
}

// ownRepository says whether a ".git" is the repository itself, or of a linked work
// tree of one, which knows of it.
func ownRepository(h *profiles.Host, dot, git, common string) bool {
	if real, err := h.Resolve(dot); err != nil || real != dot {
		return false
	}
	if git == common {
		return git == dot
	}
	return path.Dir(git) == common+"/worktrees" && h.GitText(git+"/gitdir") == dot
}

// remotes is what configuration says of remotes.
type remotes struct {
	urls     map[string][]string // by remotes' names
	branches map[string]string   // the remotes of branches
	rewrites [][2]string         // an address's beginning, and what stands for it
	worktree bool                // each work tree has configuration of its own
	other    bool                // git looks elsewhere, too
}

// read adds a file, and says whether that is all that git would read.
func (r *remotes) read(h *profiles.Host, file string) bool {
	if at, err := h.Resolve(file); err != nil || at != file {
		return errors.Is(err, fs.ErrNotExist)
	}
	b, err := h.ReadSmall(file, 1<<20)
	if err != nil {
		return false
	}
	err = profiles.GitConfig(b, r.entry)
	return err == nil && !r.other
}

func (r *remotes) entry(name, value string) {
	key := gitKey(name)
	section, last, _ := strings.Cut(key, ".")
	sub := strings.TrimSuffix(strings.TrimPrefix(name, section+"."), "."+last)
	if sub == last && name == key {
		sub = ""
	}
	switch {
	case section == "include", section == "includeif", section == "remotes", key == "remote.vcs", key == "extensions.refstorage":
		r.other = true
	case key == "remote.url" && value == "": // what that means is git's version's
		r.other = true
	case key == "extensions.worktreeconfig":
		r.worktree = true
	case sub == "":
	case key == "remote.url":
		r.urls[sub] = append(r.urls[sub], value)
	case section == "remote" && r.urls[sub] == nil:
		r.urls[sub] = []string{}
	case key == "branch.remote":
		r.branches[sub] = value
	case key == "url.insteadof":
		r.rewrites = append(r.rewrites, [2]string{value, sub})
	}
}

// instead gives the address that stands for one, by the longest beginning.
func (r *remotes) instead(address string) string {
	longest := -1
	for i, w := range r.rewrites {
		if strings.HasPrefix(address, w[0]) && (longest < 0 || len(w[0]) > len(r.rewrites[longest][0])) {
			longest = i
		}
	}
	if longest < 0 {
		return address
	}
	return r.rewrites[longest][1] + strings.TrimPrefix(address, r.rewrites[longest][0])
}
