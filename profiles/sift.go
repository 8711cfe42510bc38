package profiles

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
)

// A Sift leaves of the directories beneath Root what a search for denied names has
// to see: the names that some denial covers, directories, in which there may be
// more, devices, and what leads elsewhere from where something is denied: links, and
// the files by which git finds a repository. Of the rest nothing follows, so that it
// may come and go. It is for one goroutine at a time.
type Sift struct {
	Root    string
	Denials []Denial
	granted []PathRule // the profile's
	sieve   *Sieve

	found    []Denial // by the present call of Through
	denied   map[scope]bool
	searched int // directories
}

// scope is what one denial refuses.
type scope struct {
	path, match string
	access      Access
	class       Class
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
			sifts = append(sifts, &Sift{Root: d.Path, granted: p.Paths})
		}
	}
	for i := range p.Denials {
		d := &p.Denials[i]
		if d.Match == "" || d.Class == Control && d.Origin.Source != OfControlFiles {
			continue
		}
		if s := at(d); s != nil {
			if s.Denials == nil { // room for those of the same place, which in a normal profile follow
				n := slices.IndexFunc(p.Denials[i:], func(e Denial) bool { return e.Path != d.Path })
				s.Denials = make([]Denial, 0, max(n, 1))
			}
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
	if !points(path, t) {
		return nil
	}
	return s.those(path, func(d *Denial) bool { return d.Covers(path) || d.Leads(path) })
}

// points says of a name and what is there that it may lead elsewhere.
func points(name string, t fs.FileMode) bool {
	return t&fs.ModeSymlink != 0 || t.IsRegular() && Folded(path.Base(name)) == ".git"
}

// Through gives denials of what is reached by way of what is at a path, of type t,
// where something is denied there: a link, or a file by which git finds a
// repository; and of what is reached from what these deny in turn, and of what could
// be changed for another to be reached, or moved to where nobody looks. It leaves out
// what it gave before. Only what lies beneath the root, or beneath another tree that was
// granted, is denied as a secret: that a link is called *.pem closes nothing of the
// system's.
func (s *Sift) Through(h *Host, path string, t fs.FileMode) []Denial {
	s.found = nil
	s.through(h, path, s.leading(path, t))
	return s.found
}

// Beyond gives such denials of what is reached from what d denies, and that. Its path
// need not be clean: "x/.." is what it is to the kernel.
func (s *Sift) Beyond(h *Host, d Denial) []Denial {
	s.found = nil
	if path.Clean(d.Path) == d.Path {
		s.add(d)
	}
	s.through(h, d.Path, []*Denial{&d})
	if at, err := h.ResolvePrefix(d.Path); err == nil && at == d.Path {
		s.beyond(h, &d)
	}
	return s.found
}

func (s *Sift) through(h *Host, name string, leading []*Denial) {
	if len(leading) == 0 {
		return
	}
	through := func(target string) {
		_, err := h.lstat(target)
		gone := err != nil
		tree, inside := s.treeOf(target)
		above := Within(target, s.Root)
		for _, d := range leading {
			of := Denial{Path: tree, Except: d.Except}
			if d.Covers(name) && above && d.Class == Control {
				for _, in := range obeyed(path.Base(name)) {
					if there := (Denial{Path: Below(target, in), Access: d.Access, Class: d.Class, Origin: d.Origin}); s.add(there) {
						s.beyond(h, &there)
					}
				}
			}
			if d.Covers(name) && (above || d.Class != Control && (!inside || of.Spares(target))) {
				continue
			}
			for _, there := range d.Through(name, target) {
				// d would end where the run makes what the name leads to.
				made := d.UnlessWithin || d.UnlessMade && gone
				there.UnlessMade = there.UnlessMade && !made
				if (made || there.Match != "" || !d.Covers(there.Path)) && s.add(there) {
					s.beyond(h, &there)
				}
			}
		}
	}
	hold := func(at string, how step) {
		s.add(how.denial(at, leading[0].Origin))
	}
	if target, err := h.resolve(name, hold); err == nil && target != name {
		through(target)
	}
	// Of a ".git" that lies where everything is a control file, as in .claude/worktrees,
	// git makes no more of its repository than of any.
	leading = slices.DeleteFunc(slices.Clone(leading), func(d *Denial) bool { return d.Class == Control && d.Match != "" && !d.Leads(name) })
	if len(leading) == 0 {
		return
	}
	if dir, common := h.gitDirectories(name, hold); dir != "" && dir != name {
		through(dir)
		if common != dir {
			through(common)
		}
	}
}

// treeOf gives the tree in which something may be a secret: the root, or another that
// was granted. All of that is none, nor what the system and toolchains have.
func (s *Sift) treeOf(target string) (tree string, ok bool) {
	if Within(s.Root, target) {
		return s.Root, true
	}
	if OfSystem(target) {
		return "", false
	}
	for i := range s.granted {
		switch r := &s.granted[i]; {
		case !r.covers(target):
		case r.Origin.Source == "built-in:base" || r.Origin.Source == "built-in:toolchains":
			return "", false
		case r.Tree && r.Path != target:
			tree = r.Path
		}
	}
	return tree, tree != ""
}

// noFile is what names lead to that are to be no file.
const noFile = "/dev/null"

// add notes a denial, unless there is one for that already, here or above.
func (s *Sift) add(d Denial) bool {
	if d.Path == noFile {
		return false
	}
	for above := (scope{d.Path, d.Match, d.Access, d.Class}); ; above.path = path.Dir(above.path) {
		if s.denied[above] {
			return false
		}
		if above.path == "/" || d.Match != "" {
			break
		}
	}
	if s.denied == nil {
		s.denied = map[scope]bool{}
	}
	s.denied[scope{d.Path, d.Match, d.Access, d.Class}] = true
	s.found = append(s.found, d)
	return true
}

// mostBeyond is how many directories are searched that links lead to.
const mostBeyond = 16384

// beyond follows what d, to which something led, is about. Where not all of that can
// be looked at, nothing beneath the root, or in the same tree, may be what it leads to.
func (s *Sift) beyond(h *Host, d *Denial) {
	s.through(h, d.Path, []*Denial{d})
	var search func(dir string)
	search = func(dir string) {
		entries, err := fs.ReadDir(h.FS, FSName(dir))
		if s.searched++; s.searched > mostBeyond || err != nil && !errors.Is(err, fs.ErrNotExist) && h.searchable(dir) {
			all := Denial{Path: s.Root, Access: d.Access, Class: d.Class, Origin: d.Origin}
			s.add(all)
			if tree, ok := s.treeOf(d.Path); ok {
				if !Within(tree, s.Root) {
					all.Path = tree
					s.add(all)
				}
			}
			return
		}
		for _, e := range entries {
			at := Below(dir, e.Name())
			if e.IsDir() {
				search(at)
			} else if points(at, e.Type()) && (d.Covers(at) || d.Leads(at)) {
				s.through(h, at, []*Denial{d})
			}
		}
	}
	if info, err := h.lstat(d.Path); err == nil && info.IsDir() {
		search(d.Path)
	}
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
		if p := Below(dir, e.Name()); e.IsDir() || e.Type()&fs.ModeDevice != 0 || len(s.Covering(p)) > 0 || len(s.leading(p, e.Type())) > 0 {
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
