package session

import (
	"os"
	"path/filepath"
	"strings"

	"skillrun/policy"
)

// maxLinks is how many links of one path are followed: path_resolution(7).
const maxLinks = 40

// nowhere begins what stands for a path that leads nowhere. It is no absolute
// path: no allow covers it, and every deny does.
const nowhere = "\x00"

// links are the links of the paths that one action names: the text of a link,
// "" of what is none or is not there. Commands name many files of few
// directories, and each costs a system call.
type links struct {
	run   bool // it is a run's command that names them, and the kernel that holds it
	texts map[string]string
	size  int // of the paths, in bytes
}

// maxNoted bounds the paths whose links are remembered, in bytes: an event can name
// thousands of paths that are thousands of directories deep.
const maxNoted = 1 << 20

func (l *links) read(path string) string {
	text, ok := l.texts[path]
	if ok {
		return text
	}
	text, _ = os.Readlink(path)
	if l.size += len(path); l.size <= maxNoted {
		l.texts[path] = text
	}
	return text
}

// resolve follows the links of an absolute path as the kernel does, the last one
// too and those that lead to what is not there yet: that is what would be made.
func (l *links) resolve(path string) string {
	// From a directory that can be named, by a path that can be.
	if len(path) > 2*policy.MaxPath+1 {
		return nowhere
	}
	followed := 0
	at, rest := "/", path
	for rest != "" {
		var name string
		switch name, rest, _ = strings.Cut(rest, "/"); name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		text := l.read(next)
		switch {
		case text == "":
			at = next
			continue
		case followed == maxLinks, !l.run && ofProcess(next):
			return nowhere + path
		case text[0] == '/':
			at = "/"
		}
		followed++
		rest = text + "/" + rest
	}
	return at
}

// ofProcess says that a link is one of a process (/proc/self/cwd): to another process it
// leads elsewhere, or among other mounts.
func ofProcess(link string) bool {
	rest, ok := strings.CutPrefix(link, "/proc/")
	return ok && '0' <= rest[0] && rest[0] <= '9'
}

// resolve makes a path absolute and follows its links. "~" is the home
// directory.
func (s *Session) resolve(path, dir string) string {
	return s.links().resolve(s.absolute(path, dir))
}

// resolveAll gives what a path can mean: whoever opens it may have taken "x/.."
// out of it before, which is not the same where x is a link.
func (s *Session) resolveAll(path, dir string) []string {
	path = s.absolute(path, dir)
	all := []string{s.links().resolve(path)}
	if clean := s.links().resolve(filepath.Clean(path)); clean != all[0] {
		all = append(all, clean)
	}
	return all
}

func (s *Session) absolute(path, dir string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return s.set.Home + path[1:]
	}
	if !filepath.IsAbs(path) {
		return dir + "/" + path
	}
	return path
}

func (s *Session) links() *links {
	if s.seen == nil {
		s.seen = &links{texts: map[string]string{}}
	}
	return s.seen
}
