package profiles

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Host is what the pure packages need to know of the machine. It is a value
// that tests make up.
type Host struct {
	// OS is "linux" or "darwin".
	OS string
	// Home is the user's home directory and User the account's name; "" if
	// unknown.
	Home, User string
	// Account is the home directory as the user database has it, where the
	// environment names another as Home: what is private there is private in
	// both. "" if unknown.
	Account string
	// Theirs says that Home is another user's although this one is root, so that they
	// may have put links there.
	Theirs bool
	UID    int
	// CaseSensitive says that names which differ in case only are different
	// files. It is false on an ordinary macOS volume.
	CaseSensitive bool
	// Mounts are those that give files a second name ([Overlapping]).
	Mounts []Mount
	// WrittenLists are the files that [Host.Written] reads, as far as they are there.
	WrittenLists []string
	// WrittenOfSystem are those of these trees that are [OfSystem].
	WrittenOfSystem []string
	// Env is the caller's environment.
	Env map[string]string
	// FS is the machine's file system, rooted at "/": os.DirFS("/"), or an
	// fstest.MapFS. Where it is no fs.ReadLinkFS there are no symbolic links.
	FS fs.FS
}

// maxLinks is how many symbolic links one path may pass through, as in Linux
// (path_resolution(7)).
const maxLinks = 40

// Errors of Resolve and Lookup that callers branch on. An absent file is
// fs.ErrNotExist.
var (
	// ErrLinks: more than 40 symbolic links, most likely a loop.
	ErrLinks = errors.New("too many levels of symbolic links")
	// ErrNotExecutable: the command exists and is no executable file.
	ErrNotExecutable = errors.New("not executable")
)

// Resolve gives the canonical form of an absolute path: clean, every symbolic
// link followed, and where the host folds case, as the directories spell it.
// It fails if path does not exist, is relative, or cannot be read as far as
// needed.
func (h *Host) Resolve(path string) (string, error) {
	got, rest, err := h.walk(path, nil)
	if err == nil && rest != "" {
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", path, err)
	}
	return got, nil
}

// ResolvePrefix resolves as much of path as exists and appends the rest as it
// stands, so that a rule can be about a file that appears later. A path that
// cannot be resolved for another reason than absence is an error.
func (h *Host) ResolvePrefix(name string) (string, error) {
	return h.resolve(name, nil)
}

func (h *Host) resolve(name string, note func(at string, s step)) (string, error) {
	got, rest, err := h.walk(name, note)
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", name, err)
	}
	return path.Join(got, rest), nil
}

// Links gives the symbolic links that a path passes through, each by a path in which
// no other is.
func (h *Host) Links(path string) (links []string) {
	h.walk(path, func(at string, s step) {
		if s == byLink {
			links = append(links, at)
		}
	})
	return links
}

// A step is something on the way that a path takes. Who changed it would make the
// path lead elsewhere.
type step uint8

const (
	byLink  step = iota // a symbolic link
	inPlace             // one that leads to above where it is; what ends the way: no directory, a closed one, a missing one that ".." follows
	upFrom              // another directory that ".." is of: it is not moved
)

// denial is of what could be changed.
func (s step) denial(at string, of Origin) Denial {
	d := Denial{Path: at, Access: Change, Class: Control, Origin: of}
	if s == upFrom {
		d.Access = Delete
	}
	return d
}

// Held resolves a path as [Host.ResolvePrefix] does and gives denials of what is on
// the way, links among it: who changed that would make the path lead elsewhere. These
// it gives with an error, too.
func (h *Host) Held(path string, of Origin) (to string, way []Denial, err error) {
	to, err = h.resolve(path, func(at string, s step) { way = append(way, s.denial(at, of)) })
	return to, way, err
}

// A LinkFS lists of a directory its directories and links, so that it can tell later
// whether these are still the same, whatever files have come or gone.
type LinkFS interface {
	ReadLinks(name string) ([]fs.DirEntry, error)
}

// Leading gives the directories and links in a directory, by which there may be more:
// none where they cannot be listed.
func (h *Host) Leading(dir string) []fs.DirEntry {
	if l, ok := h.FS.(LinkFS); ok {
		entries, _ := l.ReadLinks(FSName(dir))
		return entries
	}
	entries, _ := fs.ReadDir(h.FS, FSName(dir))
	return LeadingOf(entries)
}

// LeadingOf gives those of entries that are directories and links.
func LeadingOf(entries []fs.DirEntry) []fs.DirEntry {
	return slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool { return e.Type()&(fs.ModeDir|fs.ModeSymlink) == 0 })
}

// systemTrees are those that root alone changes, and of which no application is a
// part, as in /opt and /usr/src.
var systemTrees = [...]string{"/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/sbin", "/usr", "/Library", "/System"}

// OfSystem says whether what has a name is in one of the system's own trees. Who lets
// a run write there has given away programs, too.
func OfSystem(name string) bool {
	if Within("/usr/src", name) {
		return false
	}
	return slices.ContainsFunc(systemTrees[:], func(tree string) bool {
		return Within(tree, name)
	})
}

// MaxWrittenList is the size in bytes up to which a list of written trees is read.
const MaxWrittenList = 8 << 20

// Written gives the trees that earlier runs could write, resolved: who made the
// links there is not known. It fails if there is a list and it cannot be read.
func (h *Host) Written() (trees []string, err error) {
	for _, list := range h.WrittenLists {
		data, err := h.ReadSmall(list, MaxWrittenList)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) { // another's
			return nil, fmt.Errorf("trees that runs could write: %w", err)
		}
		trees = append(trees, SplitWritten(data)...)
	}
	return trees, nil
}

// SplitWritten reads such a list: absolute paths, each ended by a zero byte.
func SplitWritten(list []byte) (trees []string) {
	for tree := range strings.SplitSeq(string(list), "\x00") {
		if strings.HasPrefix(tree, "/") {
			trees = append(trees, tree)
		}
	}
	return trees
}

// walk resolves name and gives what exists of it and the rest, clean. It notes the
// steps that can be changed.
func (h *Host) walk(name string, note func(at string, s step)) (found, rest string, err error) {
	if note == nil {
		note = func(string, step) {}
	}
	if !strings.HasPrefix(name, "/") {
		return "", "", errors.New("not an absolute path")
	}
	if strings.IndexByte(name, 0) >= 0 {
		return "", "", errors.New("a NUL byte in the path")
	}
	found, rest = "/", strings.Trim(name, "/")
	link := "" // the last
	for links := 0; rest != ""; {
		c, after, _ := strings.Cut(rest, "/")
		switch c {
		case "", ".":
			rest = after
			continue
		case "..":
			if Within(found, link) {
				note(link, inPlace)
			} else {
				note(found, upFrom)
			}
			found, rest = path.Dir(found), after
			continue
		}
		next := path.Join(found, c)
		info, err := h.lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			if up := path.Join("/", rest); len(up) > 1 {
				rest = up[1:]
			}
			if slices.Contains(strings.Split(after, "/"), "..") {
				note(next, inPlace)
			}
			return found, rest, nil
		}
		if err != nil {
			if errors.Is(err, fs.ErrPermission) {
				note(found, inPlace)
			}
			return "", "", cause(err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			link = next
			note(link, byLink) // one too many as well: a file in its place would end the way
			if links++; links > maxLinks {
				return "", "", ErrLinks
			}
			target, err := h.FS.(fs.ReadLinkFS).ReadLink(FSName(next))
			if err != nil {
				return "", "", cause(err)
			}
			if strings.HasPrefix(target, "/") {
				found = "/"
			}
			rest = strings.Trim(target, "/") + "/" + after
			continue
		}
		if !h.CaseSensitive {
			c, err := h.spelling(found, c)
			if err != nil {
				return "", "", err
			}
			next = path.Join(found, c)
		}
		found, rest = next, after
		if strings.Trim(rest, "/") != "" && !info.IsDir() {
			note(found, inPlace)
			return "", "", errors.New("not a directory: " + found)
		}
	}
	return found, "", nil
}

// spelling gives the name that the directory has for c, which exists, on a
// file system that folds case. Such a one takes other spellings for the same,
// too (é is one character or two, ß is ss): where none that is listed differs
// in case only it fails, since a rule in the wrong spelling is about nothing.
func (h *Host) spelling(dir, c string) (string, error) {
	entries, err := fs.ReadDir(h.FS, FSName(dir))
	if err != nil {
		return c, nil
	}
	found := ""
	for _, e := range entries {
		if e.Name() == c {
			return c, nil
		}
		if strings.EqualFold(e.Name(), c) {
			found = e.Name()
		}
	}
	if found == "" {
		return "", errors.New("the directory spells it otherwise: " + path.Join(dir, c))
	}
	return found, nil
}

// Exists says whether something is at path, links followed.
func (h *Host) Exists(path string) bool {
	_, err := h.Resolve(path)
	return err == nil
}

// Lookup finds a command as a shell does, in the directories of path, a list
// like PATH. A command with a slash is taken as it is and must be absolute.
// Empty and relative directories in path are passed over: they name a
// different file in every directory, and in a skill's the skill's own. The
// result is not resolved, so that what goes by its own name (a pyenv shim,
// busybox) still does.
//
// The error is fs.ErrNotExist if there is no such command, ErrNotExecutable if
// there is one that cannot be started.
func (h *Host) Lookup(command, path string) (string, error) {
	var err error = fs.ErrNotExist
	dirs := []string{""}
	if !strings.Contains(command, "/") {
		dirs = strings.Split(path, ":")
	}
	for _, dir := range dirs {
		file := command
		if dir != "" {
			file = strings.TrimRight(dir, "/") + "/" + command
		}
		if command == "" || !strings.HasPrefix(file, "/") {
			continue
		}
		at, rerr := h.Resolve(file)
		if rerr != nil {
			continue
		}
		info, serr := h.lstat(at)
		if serr != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			err = ErrNotExecutable
			continue
		}
		return file, nil
	}
	return "", fmt.Errorf("find command %q: %w", command, err)
}

// searchable says whether names in a directory can be reached, listed or not.
func (h *Host) searchable(dir string) bool {
	_, err := h.lstat(Below(dir, "HEAD"))
	return !errors.Is(err, fs.ErrPermission)
}

func (h *Host) lstat(name string) (fs.FileInfo, error) {
	if l, ok := h.FS.(fs.ReadLinkFS); ok {
		return l.Lstat(FSName(name))
	}
	return fs.Stat(h.FS, FSName(name))
}

// FSName turns an absolute clean path into a name of an fs.FS.
func FSName(name string) string {
	if name == "/" {
		return "."
	}
	return strings.TrimPrefix(name, "/")
}

// cause takes the path off an error of fs, since the caller names its own.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
