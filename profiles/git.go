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
		target, ok := strings.CutPrefix(h.GitText(at), "gitdir: ")
		if !ok {
			return "", ""
		}
		if dir, err = h.ResolvePrefix(absolute(path.Dir(dot), target)); err != nil {
			return "", ""
		}
	}
	common = dir
	if name := h.GitText(dir + "/commondir"); name != "" {
		if at, err := h.ResolvePrefix(absolute(dir, name)); err == nil {
			common = at
		}
	}
	return dir, common
}

// GitText reads a small file as git reads a path that it keeps in one: all of it but
// for line ends at the end; "" if there is none.
func (h *Host) GitText(name string) string {
	b, _ := h.ReadSmall(name, 4096)
	return strings.TrimRight(string(b), "\r\n")
}

// ReadSmall reads a regular file of at most so many bytes.
func (h *Host) ReadSmall(name string, most int64) ([]byte, error) {
	info, err := fs.Stat(h.FS, relative(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fs.ErrInvalid
	}
	return fs.ReadFile(h.FS, relative(name))
}

func absolute(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}
