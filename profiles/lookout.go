package profiles

import (
	"errors"
	"io/fs"
	"path"
)

// lookout resolves many paths that share directories and looks at each
// directory once: that is most of what shipped data cost at a launch.
type lookout struct {
	host *Host
	dirs map[string]place
}

// place is what is known of a path: where it leads, "" if that cannot be told,
// and what is there, 0 if nothing.
type place struct {
	path string
	kind kind
}

type kind uint8

const (
	absent kind = iota
	directory
	other
)

func newLookout(h *Host) *lookout {
	return &lookout{host: h, dirs: map[string]place{"/": {"/", directory}}}
}

// at gives what ResolvePrefix gives, "" where that fails, and whether something
// is there and is a directory. The name must be absolute and clean.
func (l *lookout) at(name string) (resolved string, exists, isDir bool) {
	p := l.place(name)
	return p.path, p.kind != absent, p.kind == directory
}

func (l *lookout) place(name string) place {
	dir, ok := above(name)
	if !ok {
		return place{"/", directory}
	}
	in, ok := l.dirs[dir]
	if !ok {
		in = l.place(dir)
		l.dirs[dir] = in
	}
	next := name
	if in.path != dir {
		next = path.Join(in.path, path.Base(name))
	}
	switch {
	case in.kind == other:
		return place{}
	case in.path == "":
		return place{}
	case in.kind == absent:
		return place{next, absent}
	}
	info, err := l.host.lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return place{next, absent}
	case err != nil:
		return place{}
	case info.Mode()&fs.ModeSymlink == 0 && l.host.CaseSensitive:
		return place{next, kindOf(info)}
	}
	got, rest, err := l.host.walk(next, nil)
	if err != nil {
		return place{}
	}
	if rest != "" {
		return place{path.Join(got, rest), absent}
	}
	if info, err = l.host.lstat(got); err != nil {
		return place{}
	}
	return place{got, kindOf(info)}
}

func kindOf(info fs.FileInfo) kind {
	if info.IsDir() {
		return directory
	}
	return other
}
