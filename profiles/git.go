package profiles

import (
	"io/fs"
	"path"
	"strings"
)

// GitDirectories gives where git looks for which ".git" is at dot: the directory
// that this is, or leads to, or names if it is a file, and the one that holds what
// several work trees share, the same if that is so. They are resolved as far as they
// exist, "" if there are none. Who can write dot chose them.
func (h *Host) GitDirectories(dot string) (dir, common string) {
	at, err := h.Resolve(dot)
	if err != nil {
		return "", ""
	}
	dir = at
	if info, err := fs.Stat(h.FS, relative(at)); err != nil || !info.IsDir() {
		target, ok := strings.CutPrefix(h.FirstLine(at), "gitdir: ")
		if !ok {
			return "", ""
		}
		if dir, err = h.ResolvePrefix(absolute(path.Dir(dot), target)); err != nil {
			return "", ""
		}
	}
	common = dir
	if name := h.FirstLine(dir + "/commondir"); name != "" {
		if at, err := h.ResolvePrefix(absolute(dir, name)); err == nil {
			common = at
		}
	}
	return dir, common
}

// FirstLine reads the first line of a small file, without the space around it; ""
// if there is none.
func (h *Host) FirstLine(name string) string {
	info, err := fs.Stat(h.FS, relative(name))
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return ""
	}
	b, err := fs.ReadFile(h.FS, relative(name))
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(first)
}

func absolute(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}
