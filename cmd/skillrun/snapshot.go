package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"skillrun/profiles"
)

// A snapshot is the machine's file system as one launch sees it: every file is
// looked at once, and a directory in which several names turned out absent is
// listed once, since shipped data asks for hundreds of names of which few
// exist. Nothing relies on it being fresh: rules are attached later to what is
// then at a path, no link followed, and denials hold for names that appear.
//
// It is an fs.ReadLinkFS rooted at "/", and not for concurrent use.
type snapshot struct {
	files  map[string]found
	dirs   map[string]*listing
	linked map[string]*sifted // directories and links
	sifted map[siftedBy]*sifted
	sifts  []*profiles.Sift
	// What else is told, for the memo.
	begun   time.Time
	targets map[string]found    // by Stat of a link
	links   map[string]string   // by ReadLink
	opened  map[string]identity // by Open, before it was read
}

type found struct {
	info fs.FileInfo
	err  error
}

// listing is what is known of one directory.
type listing struct {
	misses  int
	names   map[string]bool // all there were at some time; nil if not known
	namesID identity        // before that
	lacking []string        // names that were asked for and are not among them
	entries []fs.DirEntry
	err     error
	read    bool     // by ReadDir
	id      identity // before it was
}

// siftedBy is a directory, and one of the snapshot's sifts.
type siftedBy struct {
	name string
	sift int
}

// sifted is what is left of a directory of which not all counts.
type sifted struct {
	entries []fs.DirEntry
	err     error
	id      identity // before it was read
}

// listAfter is how many absent names of a directory are looked up one by one.
const listAfter = 3

func newSnapshot() *snapshot {
	return &snapshot{
		files: map[string]found{}, dirs: map[string]*listing{}, linked: map[string]*sifted{}, sifted: map[siftedBy]*sifted{},
		targets: map[string]found{}, links: map[string]string{}, opened: map[string]identity{}, begun: time.Now(),
	}
}

func (s *snapshot) dir(name string) *listing {
	d := s.dirs[name]
	if d == nil {
		d = &listing{}
		s.dirs[name] = d
	}
	return d
}

// Lstat implements fs.ReadLinkFS.
func (s *snapshot) Lstat(name string) (fs.FileInfo, error) {
	if f, ok := s.files[name]; ok {
		return f.info, f.err
	}
	parent, base := splitName(name)
	d := s.dir(parent)
	if d.lacks(base) {
		d.lacking = append(d.lacking, base)
		return nil, fs.ErrNotExist
	}
	if s.gone(parent) {
		return nil, fs.ErrNotExist
	}
	var f found
	f.info, f.err = os.Lstat("/" + name)
	if os.IsNotExist(f.err) {
		f.err = fs.ErrNotExist
		if d.misses++; d.misses == listAfter {
			s.list(parent, d)
		}
	}
	s.files[name] = f
	return f.info, f.err
}

// gone says whether a directory is known not to be there, or one above it: nothing is
// beneath it, and nothing need be looked at again to know that.
func (s *snapshot) gone(name string) bool {
	for name != "." {
		if f, ok := s.files[name]; ok {
			return f.err == fs.ErrNotExist
		}
		parent, base := splitName(name)
		if d := s.dirs[parent]; d != nil && d.lacks(base) {
			d.lacking = append(d.lacking, base)
			return true
		}
		name = parent
	}
	return false
}

func splitName(name string) (parent, base string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return ".", name
}

// lacks says whether the directory is known not to hold a name. The root's own is
// in no listing.
func (d *listing) lacks(base string) bool {
	return d.names != nil && base != "." && !d.names[base]
}

func (s *snapshot) list(name string, d *listing) {
	if !listsAll("/" + name) {
		return
	}
	id := identify("/" + name)
	entries, err := os.ReadDir("/" + name)
	if err != nil {
		return
	}
	d.namesID, d.names = id, make(map[string]bool, len(entries))
	for _, e := range entries {
		d.names[e.Name()] = true
	}
}

// ReadDir implements fs.ReadDirFS.
func (s *snapshot) ReadDir(name string) ([]fs.DirEntry, error) {
	d := s.dir(name)
	if !d.read {
		d.id = identify("/" + name)
		d.entries, d.err = os.ReadDir(path.Join("/", name))
		d.read = true
	}
	return d.entries, d.err
}

// ReadSifted implements linux.SiftFS.
func (s *snapshot) ReadSifted(name string, by *profiles.Sift) ([]fs.DirEntry, error) {
	i := slices.Index(s.sifts, by)
	if i < 0 {
		i, s.sifts = len(s.sifts), append(s.sifts, by)
	}
	l := s.sifted[siftedBy{name, i}]
	if l == nil {
		dir := path.Join("/", name)
		l = siftOf(dir, func(entries []fs.DirEntry) []fs.DirEntry { return by.Sifted(dir, entries) })
		s.sifted[siftedBy{name, i}] = l
	}
	return l.entries, l.err
}

// ReadLinks implements profiles.LinkFS.
func (s *snapshot) ReadLinks(name string) ([]fs.DirEntry, error) {
	l := s.linked[name]
	if l == nil {
		l = siftOf(path.Join("/", name), profiles.LeadingOf)
		s.linked[name] = l
	}
	return l.entries, l.err
}

func siftOf(dir string, counts func([]fs.DirEntry) []fs.DirEntry) *sifted {
	l := &sifted{id: identify(dir)}
	var entries []fs.DirEntry
	entries, l.err = os.ReadDir(dir)
	l.entries = counts(entries)
	return l
}

// Stat implements fs.StatFS.
func (s *snapshot) Stat(name string) (fs.FileInfo, error) {
	if info, err := s.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return info, err
	}
	f, again := s.targets[name]
	if !again {
		f.info, f.err = os.Stat("/" + name)
		s.targets[name] = f
	}
	return f.info, f.err
}

// ReadLink implements fs.ReadLinkFS.
func (s *snapshot) ReadLink(name string) (string, error) {
	if target, again := s.links[name]; again {
		return target, nil
	}
	target, err := os.Readlink("/" + name)
	if err == nil {
		s.links[name] = target
	}
	return target, err
}

// Open implements fs.FS for what holds text. Nobody can be made to wait by a FIFO
// in the place of a file that a launch looks into.
func (s *snapshot) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if _, again := s.opened[name]; !again {
		s.opened[name] = identify("/" + name)
	}
	f, err := os.OpenFile("/"+name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: "/" + name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
