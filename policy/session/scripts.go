package session

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"skillrun/policy/skill"
	"skillrun/profiles"
)

// scripts are the files of the machine from which the text of a command may be
// followed: what a decision says of them the model reads, and it may have made
// links to what neither it nor a run can read. So they lie beneath the roots when
// links are followed, and are no secrets.
type scripts struct {
	s      *Session
	hidden bool // one was not looked into
}

// Open opens a file by its name without the first "/".
func (f *scripts) Open(name string) (fs.File, error) {
	root, at, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// Stat is os.Stat of a file, as Open names it.
func (f *scripts) Stat(name string) (fs.FileInfo, error) {
	root, at, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(at)
}

// Lstat is os.Lstat of a file in a directory where Open finds files.
func (f *scripts) Lstat(name string) (info fs.FileInfo, err error) {
	err = f.in("lstat", name, func(dir *os.Root, base string) error { info, err = dir.Lstat(base); return err })
	return info, err
}

// ReadLink is os.Readlink of a file in a directory where Open finds files.
func (f *scripts) ReadLink(name string) (text string, err error) {
	err = f.in("readlink", name, func(dir *os.Root, base string) error { text, err = dir.Readlink(base); return err })
	return text, err
}

// in does something to a name itself, in its directory.
func (f *scripts) in(op, name string, do func(dir *os.Root, base string) error) error {
	hidden := f.hidden
	root, at, err := f.find(op, path.Dir(name))
	if f.hidden = hidden; err != nil { // nothing of it was wanted
		return err
	}
	defer root.Close()
	return do(root, path.Join(at, path.Base(name)))
}

// find gives the root beneath which a file lies, and its name there. A link that
// is put in its place meanwhile does not lead out of the root.
func (f *scripts) find(op, name string) (*os.Root, string, error) {
	no := &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
	if !fs.ValidPath(name) {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	path := f.s.resolve("/"+name, "/")
	for _, root := range f.s.roots() {
		if root = f.s.followed(root, "/"+name); !profiles.Within(root, path) {
			continue
		}
		if f.s.secret(path) {
			break
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return nil, "", err
		}
		r, err := os.OpenRoot(root)
		return r, rel, err
	}
	f.hidden = true
	return nil, "", no
}

// followed is a root with its links followed. In the directories of the user and
// of the system each skill may be a link, which is then the root of what it has:
// no run makes those.
func (s *Session) followed(root, path string) string {
	for _, r := range skill.Roots() {
		if r.Scope == skill.User && root != filepath.Join(s.set.Home, r.Path) || r.Scope == skill.System && root != r.Path || r.Scope != skill.User && r.Scope != skill.System {
			continue
		}
		if rest, ok := strings.CutPrefix(path, root+"/"); ok {
			first, _, _ := strings.Cut(rest, "/")
			return s.resolve(root+"/"+first, "/")
		}
	}
	return s.resolve(root, "/")
}

// secret says whether a resolved path is one of a secret.
func (s *Session) secret(path string) bool {
	if s.set.Protected == nil {
		return false
	}
	if s.files == nil {
		s.files = s.set.Protected()
	}
	instead, _ := s.files.Needs("source_code.read", path)
	return strings.HasPrefix(instead, "secrets.")
}
