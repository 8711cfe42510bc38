package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// spare is the mode of a directory that waits to be another run's. The sticky bit, which
// means nothing where its owner alone may write, tells it from one that a killed run left.
const spare = os.ModeSticky | 0o700

func isSpare(e os.DirEntry) bool { return marked(e.Info()) }

func marked(info os.FileInfo, err error) bool {
	return err == nil && info.Mode() == os.ModeDir|spare
}

// keep has another run have what is as it was made of the directory of one that is
// over, and removes the rest. To make and remove it anew for each is a tenth of a
// launch on a disk, and more where much is removed: ext4 passes over all inodes that
// were freed within a minute for each that it makes.
func (o *own) keep() error {
	if err := o.tidy(o.dir); err != nil {
		return err
	}
	return os.Chmod(o.dir, spare)
}

// spareIn takes a spare directory for a run; nil is none.
func spareIn(parent string) *own {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if isSpare(e) {
			if o := takeSpare(filepath.Join(parent, e.Name())); o != nil {
				return o
			}
		}
	}
	return nil
}

func takeSpare(dir string) *own {
	o := &own{dir: dir, laid: true}
	var err error
	if o.lock, err = lockDirectory(dir); err != nil {
		return nil
	}
	if !marked(o.lock.Stat()) { // another run had it meanwhile, and was killed
		o.lock.Close()
		return nil
	}
	if err = o.isThere(); err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err == nil {
		err = o.tidy(dir)
	}
	for _, path := range append(o.directories(), o.masked()) {
		if err == nil {
			_, err = os.Lstat(path)
		}
	}
	if err == nil {
		return o
	}
	o.discard()
	return nil
}

// made gives the kind and permissions with which a launcher makes what may go from run
// to run; 0 is of anything else. No file that can be written is among it: somebody
// could have it open.
func (o *own) made(path string) uint32 {
	switch {
	case slices.Contains(o.directories(), path):
		return unix.S_IFDIR | 0o700
	case path == o.masked():
		return unix.S_IFREG
	case path == o.xServers():
		return unix.S_IFDIR | unix.S_ISVTX | 0o777
	case filepath.Dir(path) == o.home() && slices.Contains(cachesBeneath[:], filepath.Base(path)):
		return unix.S_IFLNK | 0o777
	}
	for _, s := range o.shared() {
		dir := o.seenIn(s)
		if seen := (&own{dir: dir}); dir != "" && (path == filepath.Dir(dir) || path == dir || slices.Contains(seen.directories(), path)) {
			return unix.S_IFDIR | 0o700 // the last are mounted on
		}
	}
	return 0
}

// tidy removes from a directory what no launcher made, and fails where what one made
// is not as it was. The run is over, so nobody races.
func (o *own) tidy(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	f := os.NewFile(uintptr(fd), dir) // which os.OpenFile would first try to have polled
	defer f.Close()
	var within []string
	r := remover{top: fd}
	for again := true; again; {
		again, within = false, nil
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := f.Readdirnames(4096)
		if err != nil && err != io.EOF {
			return err
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			var st unix.Stat_t
			if err := unix.Lstat(path, &st); err != nil {
				return err
			}
			made := o.made(path)
			if made == 0 || made&unix.S_IFMT != uint32(st.Mode)&unix.S_IFMT {
				if err := r.remove(r.top, name, 0); err != nil && err != unix.ENOENT {
					return err
				}
				again = true
				continue
			}
			if !untouched(path, &st, made) {
				return fmt.Errorf("%s: not as it was made", path)
			}
			if made&unix.S_IFMT == unix.S_IFDIR {
				within = append(within, path)
			}
		}
	}
	for _, path := range within {
		if err := o.tidy(path); err != nil {
			return err
		}
	}
	return nil
}

// largestMade is the size of a directory that never had many names in it, in bytes, on
// the usual file systems.
const largestMade = 4096

// untouched says whether nothing can be told of what a run did to a file but its times.
func untouched(path string, st *unix.Stat_t, made uint32) bool {
	if uint32(st.Mode) != made || int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
		return false
	}
	switch made & unix.S_IFMT {
	case unix.S_IFLNK:
		return true // where to is looked at
	case unix.S_IFREG:
		if st.Size != 0 || st.Nlink != 1 {
			return false
		}
	case unix.S_IFDIR:
		if st.Size > largestMade {
			return false
		}
	}
	// None but the label that every file has where SELinux is.
	names := make([]byte, 256)
	n, err := unix.Llistxattr(path, names)
	return errors.Is(err, unix.ENOTSUP) || err == nil && strings.TrimSuffix(strings.TrimPrefix(string(names[:n]), "security.selinux"), "\x00") == ""
}

// dropLinks removes links to caches that another run had beneath HOME, but those that
// this one makes.
func (o *own) dropLinks(p *profiles.Profile) {
	for _, name := range cachesBeneath {
		link := filepath.Join(o.home(), name)
		target, err := os.Readlink(link)
		if err != nil {
			continue
		}
		granted := slices.ContainsFunc(p.Paths, func(r profiles.PathRule) bool {
			return strings.Contains(r.Path+"/", "/"+name+"/")
		})
		if granted || target != filepath.Join(o.cache, name) {
			os.Remove(link)
		}
	}
}
