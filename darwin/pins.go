package darwin

import (
	"slices"
	"strings"

	"skillrun/profiles"
)

// A directory that leads to a denied name must stay where it is: moved away,
// what it holds is under another name, and room is made for another one.

// writePins keeps in place the directories that lead to what is denied, the
// roots of what is granted, and the run's own directories; and keeps the run
// from making a directory that would lead to a denied name, since it could be
// one that was filled under another name.
func (c *compiler) writePins(covers []cover) {
	stay := map[string]bool{}
	never := map[string]bool{} // names of directories that must not appear
	pin := func(names ...string) {
		for _, n := range names {
			if c.granted(n)&(profiles.Create|profiles.Delete) != 0 {
				stay[n] = true
			}
		}
	}
	for i := range c.denials {
		d := &c.denials[i]
		up := ancestors(d.Path)
		if d.Match != "" {
			up = append(up, d.Path)
			pin(c.inside(d)...)
		}
		pin(up...)
		for _, a := range up {
			if d.Match == "" && d.Access&profiles.Create != 0 && c.absent(a) && c.granted(a)&profiles.Create != 0 {
				never[a] = true
			}
		}
	}
	roots := map[string]bool{}
	for i := range c.grants {
		if r := &c.grants[i]; r.Tree && r.Access&(profiles.Create|profiles.Delete) != 0 && r.Path != "/" {
			roots[r.Path] = true
		}
	}
	for i := range c.own {
		pin(ancestors(c.own[i].Path)...)
	}

	both, unlink := c.leads(covers)
	for _, p := range sorted(never) {
		both = append(both, cond{text: c.spellings(p, exactly)})
		delete(stay, p)
	}
	for _, p := range sorted(roots) {
		if c.facts.Exists != nil && c.absent(p) {
			stay[p] = true // the run may make it
			continue
		}
		delete(stay, p)
		both = append(both, cond{text: c.w.literal(p)})
	}
	for _, p := range sorted(stay) {
		unlink = append(unlink, cond{text: c.w.literal(p)})
	}
	c.w.rule("the roots of what is granted stay; directories that would lead to a denied name are not made",
		"deny", []string{"file-write-unlink", "file-write-create"}, unique(both))
	c.w.rule("directories that lead to what is denied, or to the run's own, stay", "deny", []string{"file-write-unlink"}, unique(unlink))
}

// leads gives the filters for the directories that patterns of several
// components name: with and without making them.
func (c *compiler) leads(covers []cover) (both, unlink []cond) {
	var merged []cover
	for i := range covers {
		v := cover{stem: covers[i].stem, leaves: covers[i].leaves, create: covers[i].create}
		for _, n := range covers[i].names {
			for j := strings.LastIndexByte(n, '/'); j > 0; j = strings.LastIndexByte(n[:j], '/') {
				v.names = append(v.names, n[:j])
			}
		}
		if len(v.names) > 0 {
			merged = merge(merged, v)
		}
	}
	for i := range merged {
		slices.Sort(merged[i].names)
		merged[i].names = slices.Compact(merged[i].names)
		f := cond{text: c.filter(&merged[i], exactly), except: c.exceptions(&merged[i], nil)}
		if c.repository != "" { // git makes the second itself
			f.except += " (require-not " + c.w.regex("^"+quote(c.repository)+"(/info)?$") + ")"
		}
		if merged[i].create {
			both = append(both, f)
		} else {
			unlink = append(unlink, f)
		}
	}
	return both, unlink
}

// inside lists the directories between a pattern's root and what exists of
// what it covers, and of what leads there in a repository that exists.
func (c *compiler) inside(d *profiles.Denial) []string {
	var dirs []string
	above := func(p string) {
		for _, a := range ancestors(p) {
			if a == d.Path || !profiles.Within(d.Path, a) {
				return
			}
			dirs = append(dirs, a)
		}
	}
	for _, e := range c.exists {
		if d.Covers(e) {
			above(e)
		}
	}
	if c.byHolder(d) {
		for _, h := range c.holders(d) {
			dirs = append(dirs, h)
			above(h)
		}
	}
	return dirs
}

// writeKept keeps what existed where the run may create but not delete.
func (c *compiler) writeKept() {
	var kept []cond
	for _, e := range sortedSet(c.facts.Contents, c.exists) {
		if a := c.granted(e); a&profiles.Create != 0 && a&profiles.Delete == 0 {
			kept = append(kept, cond{text: c.w.literal(e)})
		}
	}
	c.w.rule("what existed at the start is not deleted: no filesystem.delete", "deny", []string{"file-write-unlink"}, kept)
}

func sortedSet(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

func sorted(set map[string]bool) []string {
	var out []string
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
