package linux

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"skillrun/profiles"
)

// A file that a denial finds by its name may have had other names before the
// run. Those in the same tree are denied as well: the tree is searched for them
// only where a denied file has more names than one, which is rare.

// linked is a denial of a file that has other names, and the tree in which they are
// looked for.
type linked struct {
	denial *profiles.Denial
	root   string
	name   string // by which it is denied
}

// Sources of denials that a plan adds, which no grant of what they name lifts.
const (
	// OfLinks: what a link of a denied name leads to. A grant of that name would be
	// one of a link that a run may have made.
	OfLinks = "built-in:links"
	// OfNames: another name of a file that is denied by one.
	OfNames = "built-in:names"
	// OfClosed: a directory that cannot be looked through.
	OfClosed = "built-in:closed-directories"
	// OfNodes: a device that does not lie in /dev.
	OfNodes = "built-in:devices"
)

// noteLinks remembers a denied file with several names.
func (c *compiler) noteLinks(p string, info fs.FileInfo, d *profiles.Denial, root string) {
	id, names := linkCount(info)
	if names < 2 || !info.Mode().IsRegular() || !d.Covers(p) || slices.ContainsFunc(c.linked[id], func(l linked) bool { return l.denial == d && l.root == root }) {
		return
	}
	if c.linked == nil {
		c.linked = map[fileID][]linked{}
	}
	c.linked[id] = append(c.linked[id], linked{d, root, p})
}

// noteNamed remembers the file that a denial is of, in a tree that the run has, if it
// has other names. Of what the run may change around it, but for that, so are all files
// in a directory, and their names in any tree that it may change: it, or one before it,
// may have made them while nothing was denied there. A tree that holds the home is not
// searched for that.
func (c *compiler) noteNamed(d *profiles.Denial) {
	var roots []string
	control, around := d.Class == profiles.Control, false
	for i := range c.p.Paths {
		r := &c.p.Paths[i]
		if !r.Tree || r.Path == "/" || control && (r.Access&d.Access == 0 || profiles.Within(r.Path, c.p.Home)) {
			continue
		}
		if within := profiles.Within(r.Path, d.Path); within || control {
			roots, around = append(roots, r.Path), around || within
		}
	}
	if around && !c.ofRepositories(d.Path) {
		c.noteWithin(d, d.Path, roots)
	}
}

// ofRepositories says of a directory that git has those of submodules there, with all of
// their objects: no run could ever make links in it.
func (c *compiler) ofRepositories(dir string) bool {
	if path.Base(dir) != "modules" {
		return false
	}
	_, ok := c.lstat(path.Join(path.Dir(dir), "HEAD"))
	return ok
}

func (c *compiler) noteWithin(d *profiles.Denial, p string, roots []string) {
	info, ok := c.lstat(p)
	if !ok {
		return
	}
	for _, root := range roots {
		c.noteLinks(p, info, d, root)
	}
	if d.Class != profiles.Control || !info.IsDir() {
		return
	}
	entries, err := fs.ReadDir(c.facts.FS, profiles.FSName(p))
	if err != nil {
		return // no more does the run find anything there
	}
	for _, e := range entries {
		c.noteWithin(d, path.Join(p, e.Name()), roots)
	}
}

// noteNames remembers the file that a denial names at the top of its tree, where a
// user's own are, or those right beneath it, if they have other names; the tree is
// not searched for more.
func (c *compiler) noteNames(d *profiles.Denial, root string) {
	name := strings.TrimSuffix(d.Match, "*") // of .envrc* the plain one
	if strings.Contains(name, "*") {
		return
	}
	p := path.Join(d.Path, name)
	info, ok := c.lstat(p)
	if !ok {
		return
	}
	c.noteLinks(p, info, d, root)
	if !info.IsDir() {
		return
	}
	entries, err := fs.ReadDir(c.facts.FS, profiles.FSName(p))
	if err != nil {
		return
	}
	for _, e := range entries {
		// By a look of its own, so that a later run looks again.
		if info, ok := c.lstat(path.Join(p, e.Name())); ok {
			c.noteLinks(path.Join(p, e.Name()), info, d, root)
		}
	}
}

// findLinks adds a denial for every other name, by which the plan and the
// supervisor then go.
func (c *compiler) findLinks() {
	roots := map[string]bool{}
	for _, denials := range c.linked {
		for _, l := range denials {
			roots[l.root] = true
		}
	}
	var search func(dir string)
	search = func(dir string) {
		entries, err := fs.ReadDir(c.facts.FS, profiles.FSName(dir))
		if err != nil {
			return
		}
		for _, e := range entries {
			p := path.Join(dir, e.Name())
			if e.IsDir() {
				search(p)
				continue
			}
			if !e.Type().IsRegular() {
				continue
			}
			// By a look of its own, so that a later run looks again: a directory that
			// took another's place may have the same names.
			info, ok := c.lstat(p)
			if !ok {
				continue
			}
			id, names := linkCount(info)
			if names < 2 {
				continue
			}
			for _, l := range c.linked[id] {
				if d := l.denial; !d.Covers(p) {
					c.plan.Linked = append(c.plan.Linked, profiles.Denial{Path: p, Access: d.Access, Class: d.Class, Origin: profiles.Origin{
						Source: OfNames, Reason: d.Origin.Reason + ": " + strconv.Quote(path.Base(l.name)) + " is the same file"}})
				}
			}
		}
	}
	for root := range roots {
		search(root)
	}
	if len(c.plan.Linked) == 0 {
		return
	}
	// And by the other names that mounts give to all of these.
	found := profiles.Profile{Paths: c.p.Paths, Denials: c.plan.Linked}
	found.DenyAliases(&profiles.Host{Mounts: c.facts.Mounts})
	c.plan.Linked = found.Denials
	slices.SortFunc(c.plan.Linked, func(a, b profiles.Denial) int { return strings.Compare(a.Path, b.Path) })
	c.p, c.sieve = c.plan.WithLinked(c.p), nil
	for i := range c.plan.Linked {
		if d := &c.plan.Linked[i]; carvable(d) {
			c.addPoint(d.Path, d.Access)
		}
	}
	slices.SortFunc(c.points, func(a, b point) int { return strings.Compare(a.path, b.path) })
}

// WithLinked gives the profile with the plan's further denials in it. They come
// first: of several denials a refusal names one that no grant lifts.
func (p *Plan) WithLinked(profile *profiles.Profile) *profiles.Profile {
	if len(p.Linked) == 0 {
		return profile
	}
	q := *profile
	q.Denials = slices.Concat(p.Linked, q.Denials)
	return &q
}

// linkCount gives a file's identity and how many names it has, 0 if that cannot
// be told.
func linkCount(info fs.FileInfo) (fileID, uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, 0
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink)
}
