package profiles

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// A Sift leaves of the directories beneath Root what a search for denied names has
// to see: the names that some denial covers, directories, in which there may be
// more, and what leads elsewhere from where something is denied: links, and the
// files by which git finds a repository. Of the rest nothing follows, so that it may
// come and go. It is for one goroutine at a time.
type Sift struct {
	Root    string
	Denials []Denial
	sieve   *Sieve
}

// Sifts gives those by which a profile's trees are searched, in order. The names of
// control files are not looked for as such, since nobody makes room around them, but
// for what they lead to; where only those of repositories count, which packages
// come without, that is nothing.
func (p *Profile) Sifts() []*Sift {
	var sifts []*Sift
	at := func(d *Denial) *Sift {
		for _, s := range sifts {
			if s.Root == d.Path {
				return s
			}
		}
		return nil
	}
	for i := range p.Denials {
		if d := &p.Denials[i]; d.Match != "" && (d.Class != Control || d.Origin.Source == OfControlFiles && len(d.Except) > 0) && at(d) == nil {
			sifts = append(sifts, &Sift{Root: d.Path})
		}
	}
	for i := range p.Denials {
		d := &p.Denials[i]
		if d.Match == "" || d.Class == Control && d.Origin.Source != OfControlFiles {
			continue
		}
		if s := at(d); s != nil {
			s.Denials = append(s.Denials, *d)
		}
	}
	slices.SortFunc(sifts, func(a, b *Sift) int { return cmp.Compare(a.Root, b.Root) })
	return sifts
}

// Access is what some denial refuses of the names that it covers.
func (s *Sift) Access() (a Access) {
	for i := range s.Denials {
		if s.Denials[i].Class != Control {
			a |= s.Denials[i].Access
		}
	}
	return a
}

// Covering gives the denials that cover a path, none if none does.
func (s *Sift) Covering(path string) []*Denial {
	return s.those(path, func(d *Denial) bool { return d.Class != Control && d.Covers(path) })
}

// leading gives the denials of something beyond what is at a path, if that leads
// elsewhere.
func (s *Sift) leading(path string, t fs.FileMode) []*Denial {
	if t&fs.ModeSymlink == 0 && !(t.IsRegular() && strings.EqualFold(path[strings.LastIndexByte(path, '/')+1:], ".git")) {
		return nil
	}
	return s.those(path, func(d *Denial) bool { return d.Covers(path) || d.Leads(path) })
}

// Through gives denials of what is reached by way of what is at a path, of type t,
// where something is denied there: a link, or a file by which git finds a
// repository. Only what lies beneath the root is denied as such: that a link is
// called *.pem closes nothing of the system's.
func (s *Sift) Through(h *Host, path string, t fs.FileMode) (denials []Denial) {
	leading := s.leading(path, t)
	if len(leading) == 0 {
		return nil
	}
	through := func(target string) {
		rest, inside := beneath(s.Root, target)
		for _, d := range leading {
			if d.Covers(path) && (rest == "" || !inside || d.Spares(target)) {
				continue
			}
			for _, there := range d.Through(path, target) {
				if there.Match != "" || !d.Covers(there.Path) {
					denials = append(denials, there)
				}
			}
		}
	}
	if target, err := h.ResolvePrefix(path); err == nil && target != path {
		through(target)
		// Who replaced a link on the way would make another the target.
		for _, link := range h.Links(path) {
			if rest, inside := beneath(s.Root, link); inside && rest != "" && link != path {
				denials = append(denials, Denial{Path: link, Access: Write | Create | Delete, Class: Control, Origin: leading[0].Origin})
			}
		}
	}
	if dir, common := h.GitDirectories(path); dir != "" && dir != path {
		through(dir)
		if common != dir {
			through(common)
		}
	}
	return denials
}

func (s *Sift) those(path string, which func(*Denial) bool) (list []*Denial) {
	if s.sieve == nil {
		s.sieve = NewSieve(s.Denials)
	}
	for _, d := range s.sieve.Touching(path) {
		if which(d) {
			list = append(list, d)
		}
	}
	return list
}

// Sifted gives those of a directory's entries that count, in their order.
func (s *Sift) Sifted(dir string, entries []fs.DirEntry) []fs.DirEntry {
	var out []fs.DirEntry
	for _, e := range entries {
		if p := Below(dir, e.Name()); e.IsDir() || len(s.Covering(p)) > 0 || len(s.leading(p, e.Type())) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// Below gives the path of a name in a directory, both as they are listed.
func Below(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}
