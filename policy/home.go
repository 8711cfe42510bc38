package policy

import (
	"io/fs"
	"slices"
	"strings"

	"skillrun/profiles"
)

// homeControls guards what in trees that may be written the user's own control files
// lead to, as where settings of agents are kept in a repository: those in a home that
// are links, and what in their directories is one.
func homeControls(h *profiles.Host, trees []string) (denials []profiles.Denial) {
	if len(trees) == 0 {
		return nil
	}
	c := homeLinks{host: h, trees: trees, sifts: make([]profiles.Sift, len(trees)), listed: map[string]bool{}}
	for i := range trees {
		c.sifts[i].Root = trees[i]
	}
	for i, home := range [...]string{h.Home, h.Account} {
		if home == "" || i > 0 && home == h.Home {
			continue
		}
		for _, denials := range [...][]profiles.Denial{profiles.ControlFiles(home), profiles.HomeControls(home)} {
			for i := range denials {
				c.named(denials[i].Path, denials[i].Match, denials[i].Origin.Reason)
			}
		}
	}
	for n := 0; n < mostOfHome && len(c.unread) > 0; n++ {
		dir := c.unread[0]
		c.unread = c.unread[1:]
		for _, e := range h.Leading(dir.real) {
			if e.IsDir() && dir.deep == deepestOfHome {
				continue
			}
			c.follow(profiles.Below(dir.name, e.Name()), dir.deep+1, dir.reason)
		}
	}
	return c.denials
}

// mostOfHome is how many directories of control files are looked through for links,
// and deepestOfHome how deep: a launch looks at each of them again.
const (
	mostOfHome    = 128
	deepestOfHome = 4
)

// homeLinks looks through control files, those first that are nearest to the home.
type homeLinks struct {
	host    *profiles.Host
	trees   []string
	sifts   []profiles.Sift
	listed  map[string]bool
	unread  []homeDirectory
	denials []profiles.Denial
}

type homeDirectory struct {
	name, real, reason string
	deep               int
}

// named follows what a pattern matches beneath at, or at if that is all.
func (c *homeLinks) named(at, pattern, reason string) {
	first, rest, _ := strings.Cut(pattern, "/")
	switch {
	case pattern == "":
		c.follow(at, 0, reason)
	case strings.ContainsAny(first, "*?"):
		matching := profiles.Denial{Path: at, Match: first}
		for _, e := range c.host.Leading(at) {
			if name := profiles.Below(at, e.Name()); matching.Covers(name) {
				c.named(name, rest, reason)
			}
		}
	default:
		c.named(profiles.Below(at, first), rest, reason)
	}
}

// follow guards what a name leads to, and what is on the way there, as far as these
// are in the trees. A directory elsewhere is looked through.
func (c *homeLinks) follow(name string, deep int, reason string) {
	d := profiles.Denial{Path: name, Access: profiles.Change, Class: profiles.Control,
		Origin: profiles.Origin{Source: profiles.OfControlFiles, Reason: reason}}
	to, way, err := c.host.Held(name, d.Origin)
	guarded := false
	for i, tree := range c.trees {
		switch {
		case profiles.Within(tree, name):
		case err == nil && profiles.Within(tree, to):
			guarded = guarded || to != tree
			c.denials = append(c.denials, c.sifts[i].Beyond(c.host, d)...)
			deep = max(deep, deepestOfHome) // of all of a tree only the links in it
		default:
			for _, step := range way {
				if step.Path != tree && profiles.Within(tree, step.Path) {
					c.denials = append(c.denials, step)
				}
			}
		}
	}
	if err != nil || guarded || deep > deepestOfHome || c.listed[to] {
		return
	}
	if info, err := fs.Stat(c.host.FS, profiles.FSName(to)); err == nil && info.IsDir() {
		c.listed[to] = true
		c.unread = append(c.unread, homeDirectory{name, to, reason, deep})
	}
}

// writable gives the workspace, "" if there is none, and the trees in which a profile
// lets something be changed.
func writable(p *profiles.Profile) []string {
	var trees []string
	if p.Workspace != "" {
		trees = append(trees, p.Workspace)
	}
	for i := range p.Paths {
		if r := &p.Paths[i]; r.Tree && r.Access&profiles.Change != 0 && !slices.Contains(trees, r.Path) {
			trees = append(trees, r.Path)
		}
	}
	return trees
}
