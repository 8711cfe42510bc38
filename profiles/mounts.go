package profiles

import (
	"path"
	"slices"
	"strings"
)

// Mount is one line of mountinfo (proc_pid_mountinfo(5)): the directory Root of
// the file system on Device is at Point.
type Mount struct{ Point, Root, Device string }

// Overlapping keeps the mounts that show something which another shows as well,
// in their order: those by which a file has a second name.
func Overlapping(mounts []Mount) []Mount {
	byDevice := make(map[string][]int, len(mounts))
	for i := range mounts {
		byDevice[mounts[i].Device] = append(byDevice[mounts[i].Device], i)
	}
	var kept []Mount
	for i, m := range mounts {
		for _, k := range byDevice[m.Device] {
			if k != i && (Within(m.Root, mounts[k].Root) || Within(mounts[k].Root, m.Root)) {
				kept = append(kept, m)
				break
			}
		}
	}
	return kept
}

// Aliases gives the other absolute names that a clean one without links has by
// the host's mounts.
func (h *Host) Aliases(name string) []string {
	var names []string
	at := h.mountOf(name)
	if at < 0 {
		return nil
	}
	rest, _ := Beneath(h.Mounts[at].Point, name)
	inside := path.Join(h.Mounts[at].Root, rest)
	for i, m := range h.Mounts {
		if rest, ok := Beneath(m.Root, inside); ok && i != at && m.Device == h.Mounts[at].Device {
			if alias := path.Join(m.Point, rest); alias != name && !slices.Contains(names, alias) {
				names = append(names, alias)
			}
		}
	}
	return names
}

// mountOf gives the mount that name lies on, of several at one place the last,
// which covers the others; -1 where it is not among those that overlap.
func (h *Host) mountOf(name string) int {
	at := -1
	for i, m := range h.Mounts {
		if Within(m.Point, name) && (at < 0 || len(m.Point) >= len(h.Mounts[at].Point)) {
			at = i
		}
	}
	return at
}

// DenyAliases adds, for every denial, one for each other name that the host's
// mounts give to what it covers, where a grant reaches that: back ends go by
// names, and who may read all of a disk's second place must not find there what is
// denied in the first.
func (p *Profile) DenyAliases(h *Host) {
	if len(h.Mounts) == 0 {
		return
	}
	for _, d := range p.Denials {
		for _, at := range h.within(d.Path) {
			for _, alias := range h.aliased(&d, at) {
				if p.grantsNear(alias.Path) {
					p.Denials = append(p.Denials, alias)
				}
			}
		}
	}
}

// within gives name and the places beneath it where a file system is mounted first:
// what it holds is at home there. What is mounted there as well is not: a denial of
// a directory into which /usr is mounted is none of /usr.
func (h *Host) within(name string) []string {
	names := []string{name}
	for i, m := range h.Mounts {
		first := slices.IndexFunc(h.Mounts, func(o Mount) bool { return o.Device == m.Device }) == i
		if rest, ok := Beneath(name, m.Point); ok && rest != "" && first {
			names = append(names, m.Point)
		}
	}
	return names
}

// aliased gives the denials of what d covers beneath at, under the other names of
// that.
func (h *Host) aliased(d *Denial, at string) (denials []Denial) {
	add := func(from, to string) {
		alias := *d
		alias.Path, alias.Except = to, nil
		for _, e := range d.Except {
			if strings.HasPrefix(e, "/") {
				rest, ok := Beneath(from, e)
				if !ok {
					continue
				}
				e = path.Join(to, rest)
			}
			alias.Except = append(alias.Except, e)
		}
		rest, _ := Beneath(d.Path, from)
		switch {
		case rest == "":
			denials = append(denials, alias)
		case d.Match == "":
			if !d.Spares(from) {
				denials = append(denials, alias)
			}
		case d.Covers(from):
			alias.Match, alias.UnlessMade, alias.UnlessWithin = "", false, false
			denials = append(denials, alias)
		case !d.exceptsPath(from):
			denials = append(denials, alias)
			alias.UnlessWithin = false // what holds the first component is not below
			for i := range d.Match {   // what is covered may begin above the mount
				if d.Match[i] == '/' && matchTail(d.Match[:i], rest) {
					alias.Match = d.Match[i+1:]
					denials = append(denials, alias)
				}
			}
		}
	}
	for _, to := range h.Aliases(at) {
		if !Within(to, at) { // all of it: of that, at shows a part
			add(at, to)
		}
	}
	// Mounts that show what lies beneath at elsewhere.
	on := h.mountOf(at)
	if on < 0 {
		return denials
	}
	rest, _ := Beneath(h.Mounts[on].Point, at)
	inside := path.Join(h.Mounts[on].Root, rest)
	for i, m := range h.Mounts {
		if rest, ok := Beneath(inside, m.Root); ok && rest != "" && i != on && m.Device == h.Mounts[on].Device {
			if from := path.Join(at, rest); from != m.Point {
				add(from, m.Point)
			}
		}
	}
	return denials
}

// grantsNear says whether a grant is of name, of something beneath it, or of a
// tree that holds it.
func (p *Profile) grantsNear(name string) bool {
	return slices.ContainsFunc(p.Paths, func(r PathRule) bool {
		return Within(name, r.Path) || r.covers(name)
	})
}

// Changes says whether something at a path, or beneath it, may be changed, denials
// apart.
func (p *Profile) Changes(name string) bool {
	return slices.ContainsFunc(p.Paths, func(r PathRule) bool {
		return r.Access&Change != 0 && (Within(name, r.Path) || r.covers(name))
	})
}
