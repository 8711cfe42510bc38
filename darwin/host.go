package darwin

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"skillrun/profiles"
)

// ordinary lists what every Mac has of the places that profiles ask for, so
// that a host file need not. A path that ends in "/" is a directory.
var ordinary = [...]string{
	"/Applications/", "/Library/Apple/", "/Library/Developer/CommandLineTools/usr/bin/git", "/Library/Fonts/",
	"/Library/Frameworks/", "/Library/Preferences/.GlobalPreferences.plist", "/System/Library/", "/System/Cryptexes/",
	"/System/Volumes/Preboot/Cryptexes/", "/Users/Shared/", "/bin/bash", "/bin/sh", "/bin/zsh", "/dev/null", "/dev/random",
	"/dev/tty", "/dev/urandom", "/dev/zero", "/dev/fd/", "/private/etc/group", "/private/etc/hosts", "/private/etc/localtime",
	"/private/etc/passwd", "/private/etc/protocols", "/private/etc/resolv.conf", "/private/etc/services", "/private/etc/ssl/",
	"/private/etc/ssh/", "/private/etc/sudoers", "/private/tmp/", "/private/var/db/dyld/", "/private/var/db/timezone/",
	"/private/var/folders/", "/private/var/run/mDNSResponder", "/private/var/select/", "/private/var/tmp/", "/sbin/",
	"/usr/bin/env", "/usr/bin/git", "/usr/bin/python3", "/usr/bin/true", "/usr/lib/", "/usr/libexec/", "/usr/local/bin/", "/usr/share/",
}

// Host gives the machine that the facts describe: what they list exists, and
// what every Mac has. Pure packages build a Profile for it.
func (f *Facts) Host() *profiles.Host {
	l := listing{}
	for _, p := range ordinary {
		l.add(p)
	}
	for _, p := range f.Exists {
		l.add(p)
	}
	for _, p := range [...]string{f.Home, f.Workspace, f.Tmp, f.PrivateHome} {
		if p != "" {
			l.add(strings.TrimSuffix(p, "/") + "/")
		}
	}
	var names fs.FS = folding{l}
	if f.CaseSensitive {
		names = l
	}
	return &profiles.Host{
		OS: "darwin", Home: f.Home, User: f.User, UID: 501, CaseSensitive: f.CaseSensitive,
		Env: map[string]string{"HOME": f.Home, "USER": f.User, "PATH": "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
		FS:  names,
	}
}

// listing is a file system of names without contents: directories map to the
// names in them, anything else to nil.
type listing map[string][]string

func (l listing) add(p string) {
	dir := strings.HasSuffix(p, "/")
	p = strings.Trim(moved(p), "/")
	if p == "" {
		p = "."
	}
	if l[p] == nil && dir {
		l[p] = []string{}
	} else if _, ok := l[p]; !ok {
		l[p] = nil
	}
	for p != "." {
		up, name := path.Split(p)
		if up = strings.TrimSuffix(up, "/"); up == "" {
			up = "."
		}
		if slices.Contains(l[up], name) {
			return
		}
		l[up] = append(l[up], name)
		p = up
	}
}

// Open is for fs.FS; what it opens holds nothing but names.
func (l listing) Open(name string) (fs.File, error) {
	info, err := l.Stat(name)
	if err != nil {
		return nil, err
	}
	return nameFile{info}, nil
}

// Stat follows the links of the root directory.
func (l listing) Stat(name string) (fs.FileInfo, error) {
	top, rest, _ := strings.Cut(name, "/")
	if target, err := l.ReadLink(top); err == nil {
		name = path.Join(target, rest)
	}
	return l.Lstat(name)
}

// Lstat knows directories, the links of the root directory, and files.
func (l listing) Lstat(name string) (fs.FileInfo, error) {
	if _, err := l.ReadLink(name); err == nil {
		return nameInfo{name, fs.ModeSymlink | 0o777}, nil
	}
	inside, ok := l[name]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	case inside != nil:
		return nameInfo{path.Base(name), fs.ModeDir | 0o755}, nil
	}
	return nameInfo{path.Base(name), 0o755}, nil
}

// ReadLink knows the links of the root directory.
func (l listing) ReadLink(name string) (string, error) {
	for _, r := range rootLinks {
		if r[0] == "/"+name {
			return r[1][1:], nil
		}
	}
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
}

// ReadDir lists a directory in order.
func (l listing) ReadDir(name string) ([]fs.DirEntry, error) {
	inside, ok := l[name]
	if !ok || inside == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	var entries []fs.DirEntry
	for _, n := range slices.Sorted(slices.Values(inside)) {
		info, err := l.Lstat(path.Join(name, n))
		if err != nil {
			return nil, err
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	return entries, nil
}

// folding is a listing of a volume on which case does not count.
type folding struct{ listing }

// spelled gives a name as it is listed, as far as it is.
func (f folding) spelled(name string) string {
	at := "."
	for c := range strings.SplitSeq(name, "/") {
		for _, n := range f.listing[at] {
			if n == c {
				break
			}
			if strings.EqualFold(n, c) {
				c = n
			}
		}
		at = path.Join(at, c)
	}
	for _, r := range rootLinks {
		if rest, ok := inAnyCase(r[0], "/"+at); ok {
			return r[0][1:] + rest
		}
	}
	return at
}

func (f folding) Open(name string) (fs.File, error)      { return f.listing.Open(f.spelled(name)) }
func (f folding) Stat(name string) (fs.FileInfo, error)  { return f.listing.Stat(f.spelled(name)) }
func (f folding) Lstat(name string) (fs.FileInfo, error) { return f.listing.Lstat(f.spelled(name)) }
func (f folding) ReadLink(name string) (string, error)   { return f.listing.ReadLink(f.spelled(name)) }
func (f folding) ReadDir(name string) ([]fs.DirEntry, error) {
	return f.listing.ReadDir(f.spelled(name))
}

type nameInfo struct {
	name string
	mode fs.FileMode
}

func (i nameInfo) Name() string       { return i.name }
func (i nameInfo) Size() int64        { return 0 }
func (i nameInfo) Mode() fs.FileMode  { return i.mode }
func (i nameInfo) ModTime() time.Time { return time.Time{} }
func (i nameInfo) IsDir() bool        { return i.mode.IsDir() }
func (i nameInfo) Sys() any           { return nil }

type nameFile struct{ info fs.FileInfo }

func (f nameFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f nameFile) Close() error               { return nil }
func (f nameFile) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: fs.ErrInvalid}
}
