package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// writePlaced writes a file whose name the person gave, and which may lie where
// runs make names: a link that stands there could be a run's, which would have
// this process, that nothing confines, write over what the run may not. theirs
// says whether a run may make names in a directory. Another run may be at work
// there even now: what was looked at by name is opened from directory to
// directory, none of them a link.
func writePlaced(name string, theirs func(dir string) bool, data []byte) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	real, shared, err := followOurs(path, theirs)
	if err != nil {
		return err
	}
	var f *os.File
	if shared {
		f, err = openShared(real)
	} else {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// writable says why a file could neither be written nor made.
func writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		err = syscall.EISDIR
	case err == nil:
		err = unix.Access(path, unix.W_OK)
	case errors.Is(err, fs.ErrNotExist):
		err = unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK)
	}
	if err != nil && errors.Unwrap(err) == nil {
		err = &os.PathError{Op: "write", Path: path, Err: err}
	}
	return err
}

// openShared opens a file, made if need be, to write it anew: by no link, not a
// FIFO, at which this process would wait for ever, and nothing that has another
// name, which could be one where the run may not write.
func openShared(path string) (*os.File, error) {
	dir, err := openWithoutLinks(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, filepath.Base(path), unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	switch err {
	case nil:
	case unix.ELOOP:
		return nil, linkError(path)
	default:
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && (st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink > 1) {
		err = fmt.Errorf("%s is not a file of one name: a run may have made it; name a place outside the workspace", quote(path))
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openWithoutLinks opens a directory as its absolute path says.
func openWithoutLinks(dir string) (int, error) {
	at, err := unix.Open("/", lookUp|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for _, name := range strings.Split(dir, "/") {
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: dir, Err: err}
		}
		if name == "" {
			continue
		}
		outer := at
		at, err = unix.Openat(outer, name, lookUp|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		unix.Close(outer)
	}
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return at, nil
}

func linkError(path string) error {
	return fmt.Errorf("%s is a symbolic link that a run may have made: name a place outside the workspace", quote(path))
}

// followOurs resolves an absolute path, with an error for a link that a run may
// have made, and says whether a run may make names in any directory on the way.
// What is not there is no link.
func followOurs(path string, theirs func(dir string) bool) (real string, shared bool, err error) {
	const most = 40 // as the kernel
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		here := theirs(at)
		shared = shared || here
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if here {
			return "", true, linkError(next)
		}
		if links++; links > most {
			return "", shared, &os.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, shared, nil
}
