package darwin

import (
	"slices"

	"skillrun/profiles"
)

// grantOps lists the operations that an access grants. Writes are named leaf
// by leaf, so that an operation of a later release is not granted unseen.
var grantOps = [...]struct {
	access profiles.Access
	ops    []string
}{
	// Never file-clone: a clone of a directory takes along what is denied in it.
	{profiles.Read, []string{"file-read*", "file-read-data", "file-read-metadata", "file-read-xattr"}},
	{profiles.Write, []string{"file-write-data"}}, // and metadataOps
	// What the run made it may remove, and Seatbelt cannot tell who made it:
	// what existed is pinned by name.
	{profiles.Create, []string{"file-write-create", "file-write-unlink"}},
	{profiles.Delete, []string{"file-write-unlink"}},
	{profiles.Execute, []string{"process-exec*", "process-exec-interpreter"}},
}

// metadataOps change what a file is besides its contents.
var metadataOps = []string{"file-write-mode", "file-write-owner", "file-write-times", "file-write-xattr", "file-write-flags", "file-write-finderinfo"}

// modeOps let others at a file: access lists, set-uid and set-gid.
var modeOps = []string{"file-write-acl", "file-write-setugid"}

// operations joins the operations of an access.
func (c *compiler) operations(a profiles.Access) []string {
	var ops []string
	for _, g := range grantOps {
		if a&g.access == 0 {
			continue
		}
		granted := g.ops
		if g.access == profiles.Write {
			granted = slices.Concat(granted, metadataOps)
		}
		for _, op := range granted {
			if !slices.Contains(ops, op) {
				ops = append(ops, op)
			}
		}
	}
	if a&profiles.Write != 0 && c.profile.Process.AnyMode {
		ops = append(ops, modeOps...)
	}
	return ops
}

// writeGrants writes the grants, one rule for each set of accesses, and what
// follows from them: the names on the way, second names, loading of code.
func (c *compiler) writeGrants() {
	for a := profiles.Access(1); a <= profiles.AllAccess; a++ {
		var conds []cond
		for i := range c.grants {
			if r := &c.grants[i]; r.Access == a {
				conds = append(conds, cond{text: c.path(r), note: note(r.Origin)})
			}
		}
		c.w.rule(a.Word(), "allow", c.operations(a), conds)
	}
	c.w.rule("a device is the whole machine's: who may write to it changes nothing else about it", "deny",
		slices.Concat(metadataOps, modeOps), []cond{{text: `(subpath "/dev")`}})
	c.w.rule("names on the way to what is granted: realpath(3), getcwd(3)", "allow", []string{"file-read-metadata"}, c.way())

	const both = profiles.Read | profiles.Write
	var link, load []cond
	for i := range c.grants {
		r := &c.grants[i]
		granted := c.granted(r.Path) | r.Access
		if granted&both == both {
			link = append(link, cond{text: c.path(r)})
		}
		if granted&(profiles.Write|profiles.Create) != 0 && granted&profiles.Execute == 0 {
			load = append(load, cond{text: c.unlessExecutable(r)})
		}
	}
	c.w.rule("a second name only for what may be read and written anyway", "allow", []string{"file-link"}, unique(link))
	c.w.rule("code that the run can write is not loaded unless it may be executed", "deny", []string{"file-map-executable"}, unique(load))
}

func (c *compiler) path(r *profiles.PathRule) string {
	if r.Tree {
		return c.w.subpath(r.Path)
	}
	return c.w.literal(r.Path)
}

// way lists the names above grants and sockets, and the links that lead there.
func (c *compiler) way() []cond {
	names := slices.Clone(c.facts.Links)
	for _, l := range c.facts.Links {
		names = append(names, ancestors(l)...)
	}
	for i := range c.grants {
		names = append(names, ancestors(c.grants[i].Path)...)
	}
	for _, s := range c.profile.Sockets {
		names = append(names, ancestors(s.Path)...)
	}
	slices.Sort(names)
	var conds []cond
	for _, n := range slices.Compact(names) {
		if n != "/" && n != "." && c.granted(n)&profiles.Read == 0 {
			conds = append(conds, cond{text: c.w.literal(n)})
		}
	}
	return conds
}

// unlessExecutable gives a grant's filter without the executable grants inside.
func (c *compiler) unlessExecutable(r *profiles.PathRule) string {
	text := c.path(r)
	var inside string
	for i := range c.grants {
		if x := &c.grants[i]; x.Access&profiles.Execute != 0 && x.Path != r.Path && profiles.Within(r.Path, x.Path) {
			inside += " (require-not " + c.path(x) + ")"
		}
	}
	if inside == "" {
		return text
	}
	return "(require-all " + text + inside + ")"
}

func unique(conds []cond) []cond {
	var out []cond
	for _, c := range conds {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
