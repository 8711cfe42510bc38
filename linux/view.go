package linux

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// mostMasks is how many names are masked, of more than that the rest is carved: the
// kernel takes longer for each mount the more there are, and refuses the 100,000th.
const mostMasks = 1024

// mask takes the denied names that exist out of the run's view, where it has a
// mount namespace: then the tree around them can be granted whole, new files
// can appear beside them, and nothing has to be carved. A name is masked only
// if nothing of it may be used: an exception beneath it, or an access that is
// not denied, leaves it to be carved, and so does a file in a directory that is to
// read as empty. So does a file system that has it by other
// spellings, too: the mount would be on one of them. What is masked in /proc the run's
// own would show.
func (c *compiler) mask() {
	if c.plan.Namespaces == 0 || c.facts.Masked == "" {
		return
	}
	var rest []point
	var masked string // the last directory masked: what is beneath is hidden with it
	for i, p := range c.points {
		if masked != "" && profiles.Within(masked, p.path) {
			continue
		}
		below := i+1 < len(c.points) && profiles.Within(p.path, c.points[i+1].path) && c.exceptBeneath(p.path)
		if !c.useless(p.path) || below || !c.inGrant(p.path) || profiles.Within(procPath, p.path) {
			rest = append(rest, p)
			continue
		}
		info, ok := c.lstat(p.path)
		switch {
		case !ok:
			rest = append(rest, p) // in a closed directory
		case len(c.plan.Mounts) >= mostMasks:
			rest = append(rest, p)
		case c.respelt(p.path):
			rest = append(rest, p)
		case info.IsDir() && slices.ContainsFunc(c.plan.Empty, func(file string) bool { return profiles.Within(p.path, file) }):
			rest = append(rest, p)
		case info.IsDir():
			masked = p.path
			c.plan.Mounts = append(c.plan.Mounts, Mount{Kind: MountMaskDir, Target: p.path})
		case info.Mode()&fs.ModeSymlink == 0:
			c.plan.Mounts = append(c.plan.Mounts, Mount{Kind: MountMaskFile, Target: p.path, Source: c.facts.Masked})
		default:
			rest = append(rest, p) // a mount would be on the link's target
		}
	}
	c.points = rest
}

// useless says whether nothing of p may be used, as of a control file that may
// not be read either.
func (c *compiler) useless(p string) bool {
	const whole = profiles.Read | profiles.Write | profiles.Create
	denied := c.denied(p, whole)
	for _, d := range c.touching(p) {
		if d.Class == profiles.Control && d.Access&^denied != 0 && d.Covers(p) {
			denied |= d.Access
		}
	}
	return denied&whole == whole
}

// respelt says whether what is at p is found in other letters, too, as on the
// network's and user programs' file systems that fold case (FUSE, 9p, virtiofs):
// each spelling is an entry of its own there, and a mount is on one. That of the
// kernel's own which fold case is one, and is carved just the same.
func (c *compiler) respelt(p string) bool {
	dir, name := path.Split(p)
	other := strings.ToUpper(name)
	if other == name {
		other = strings.ToLower(name)
	}
	if _, there := c.lstat(dir + other); other == name || !there {
		return false
	}
	entries, err := fs.ReadDir(c.facts.FS, profiles.FSName(path.Clean(dir)))
	return err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == other })
}

// empty notes what reads as empty: a file that the run may not read. What a file
// system of the kernel's makes for whoever looks is none.
func (c *compiler) empty() {
	for _, p := range c.p.Empty {
		info, ok := c.lstat(p)
		if ok && info.Mode().IsRegular() && !profiles.Within("/proc", p) && !c.p.Allows(p, profiles.Read).Allowed {
			c.plan.Empty = append(c.plan.Empty, p)
		}
	}
}

// emptyFile is what a file that reads as empty is in the run's view, and what the
// supervisor opens in its place.
const emptyFile = "/dev/null"

// leaveMasks leaves out what the run around this one has masked for itself:
// nothing is there to be read, and nobody may, so that nothing need be carved.
func (c *compiler) leaveMasks() {
	if !c.plan.Nested || c.facts.Foreign {
		return
	}
	c.points = slices.DeleteFunc(c.points, func(p point) bool {
		info, ok := c.lstat(p.path)
		return ok && info.Mode().Perm() == 0 && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0)
	})
}

// exceptBeneath says whether some denial makes an exception beneath dir.
func (c *compiler) exceptBeneath(dir string) bool {
	for i := range c.p.Denials {
		for _, e := range c.p.Denials[i].Except {
			if !strings.HasPrefix(e, "/") || profiles.Within(dir, e) {
				return true
			}
		}
	}
	return false
}

// inGrant says whether some rule grants p or something above it.
func (c *compiler) inGrant(p string) bool {
	return slices.ContainsFunc(c.p.Paths, func(r profiles.PathRule) bool { return r.Path == p || r.Tree && profiles.Within(r.Path, p) })
}

// mounts builds the rest of the run's own view: its processes, read-only kernel
// settings, and directories of its own where all users share one.
func (c *compiler) mounts() {
	if c.plan.Namespaces == 0 {
		return
	}
	view := []Mount{
		{Kind: MountProc, Target: "/proc"},
		// Writing there needs no capability, only user id 0.
		{Kind: MountBind, Target: "/proc/sys", Source: "/proc/sys"},
		{Kind: MountReadOnly, Target: "/proc/sys"},
	}
	if _, ok := c.lstat("/proc/keys"); ok {
		// The names of the user's keys, whatever keyring they are in.
		view = append(view, Mount{Kind: MountBind, Target: "/proc/keys", Source: emptyFile})
	}
	for _, p := range c.plan.Empty {
		view = append(view, Mount{Kind: MountBind, Target: p, Source: emptyFile})
	}
	for i := range c.plan.Layers {
		for j := range c.plan.Layers[i].Rules {
			if r := &c.plan.Layers[i].Rules[j]; profiles.Within("/proc", r.Path) {
				r.Late = true // the run's own procfs is another file system
			}
		}
	}
	for _, s := range c.facts.Private {
		if m, ok := c.private(s); ok {
			view = append(view, m)
		}
	}
	// Masks come first, while the empty file that they use can be seen; the
	// trees that a private directory keeps are cloned with what is mounted in
	// them.
	c.plan.Mounts = append(c.plan.Mounts, view...)
}

// private puts a directory of the run's own in the place of a shared one. What
// the run may use in there keeps its name, but only if it is the run's own too:
// Landlock's rules hold for all that lies beneath in the tree of mounts, so a
// workspace kept inside the run's own /tmp would be granted with it. Then the
// supervisor redirects names instead.
func (c *compiler) private(s Substitute) (Mount, bool) {
	if info, ok := c.lstat(s.From); !ok || !info.IsDir() || profiles.Within(s.From, c.facts.Dir) {
		return Mount{}, false
	}
	m := Mount{Kind: MountPrivate, Target: s.From, Source: s.To}
	for p := range c.granted {
		switch {
		case !profiles.Within(s.From, p), p == s.From && !c.ruled(p): // of what is carved above it
		case slices.Contains(c.facts.Own, p):
			m.Keep = append(m.Keep, p)
		default:
			return Mount{}, false
		}
	}
	slices.Sort(m.Keep)
	return m, true
}

// ruled says whether a rule of the profile is for p itself, or for a name in it that
// may not be there yet, whose rights the directory then has.
func (c *compiler) ruled(p string) bool {
	return slices.ContainsFunc(c.p.Paths, func(r profiles.PathRule) bool { return r.Path == p || path.Dir(r.Path) == p })
}

// mountPoint is where, in the directory that stands in for Target, a kept path
// is mounted again.
func (m *Mount) mountPoint(keep string) string {
	return path.Join(m.Source, strings.TrimPrefix(keep, m.Target))
}
