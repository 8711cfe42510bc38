package profiles

import (
	"io"
	"io/fs"
	"path"
	"strings"
)

// GitDirectories gives where git looks for which ".git" is at dot: the directory
// that this is, or leads to, or names if it is a file, and the one that holds what
// several work trees share, the same if that is so. They are resolved as far as they
// exist, "" if there are none. Who can write dot chose them.
func (h *Host) GitDirectories(dot string) (dir, common string) {
	return h.gitDirectories(dot, nil)
}

func (h *Host) gitDirectories(dot string, note func(at string, s step)) (dir, common string) {
	at, err := h.Resolve(dot)
	if err != nil {
		return "", ""
	}
	dir = at
	if info, err := fs.Stat(h.FS, FSName(at)); err != nil || !info.IsDir() {
		target, ok := strings.CutPrefix(h.GitText(at), "gitdir: ")
		if !ok {
			return "", ""
		}
		if dir, err = h.resolve(absolute(path.Dir(dot), target), written(dot, note)); err != nil {
			return "", ""
		}
	}
	common = dir
	if name := h.GitText(dir + "/commondir"); name != "" {
		if at, err := h.resolve(absolute(dir, name), written(dir+"/commondir", note)); err == nil {
			common = at
		}
	}
	return dir, common
}

// written is note for a path that is relative to the file in which it is written.
func written(file string, note func(at string, s step)) func(at string, s step) {
	if note == nil {
		return nil
	}
	return func(at string, s step) {
		if Within(at, file) && s == upFrom {
			at, s = file, inPlace
		}
		note(at, s)
	}
}

// GitText reads a file, of up to a MiB, as git reads a path that it keeps in one: all
// of it, up to a zero byte, but for line ends at the end; "" if there is none.
func (h *Host) GitText(name string) string {
	b, _ := h.ReadSmall(name, 1<<20)
	text, _, _ := strings.Cut(strings.TrimRight(string(b), "\r\n"), "\x00")
	return text
}

// ReadSmall reads a regular file of at most so many bytes, whatever it becomes
// meanwhile. A longer one is opened, too: it may get shorter, and by that a memo knows
// what was looked into.
func (h *Host) ReadSmall(name string, most int64) ([]byte, error) {
	info, err := fs.Stat(h.FS, FSName(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	f, err := h.FS.Open(FSName(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > most {
		return nil, fs.ErrInvalid
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, fs.ErrInvalid
	}
	return b, nil
}

// absolute leaves "x/.." as it is: x may be a link.
func absolute(dir, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return dir + "/" + name
}
