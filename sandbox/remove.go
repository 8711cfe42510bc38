package sandbox

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// removeDepth is how deep one descriptor after the other is opened.
const removeDepth = 32

// removeTree removes a directory with all that a run has left in it: of any
// depth, with a bounded number of descriptors, and also what nobody has the right
// to write. It follows no links. The run is over, so nobody races.
//
// What lies too deep is moved to the top and removed from there, each directory
// once at most.
func removeTree(dir string) error {
	top, err := os.OpenFile(dir, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if errors.Is(err, unix.EACCES) {
		os.Chmod(dir, 0o700)
		top, err = os.OpenFile(dir, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer top.Close()
	r := remover{top: int(top.Fd())}
	if err := r.empty(top, 0); err != nil {
		return &os.PathError{Op: "remove", Path: dir, Err: err}
	}
	return os.Remove(dir)
}

type remover struct {
	top   int
	moved int
}

// empty removes what is in a directory.
func (r *remover) empty(dir *os.File, depth int) error {
	fd := int(dir.Fd())
	for {
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := dir.Readdirnames(4096)
		if err != nil && err != io.EOF {
			return err
		}
		if len(names) == 0 {
			return nil
		}
		for _, name := range names {
			if err := r.remove(fd, name, depth); err != nil && err != unix.ENOENT {
				return err
			}
		}
	}
}

// remove removes a name in a directory.
func (r *remover) remove(dir int, name string, depth int) error {
	err := permit(dir, "", func() error { return unix.Unlinkat(dir, name, 0) })
	if err != unix.EISDIR && err != unix.EPERM {
		return err
	}
	if err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); err != unix.ENOTEMPTY && err != unix.EEXIST {
		return err
	}
	if depth >= removeDepth {
		return permit(dir, name, func() (err error) {
			for taken := true; taken; {
				r.moved++
				err = unix.Renameat(dir, name, r.top, ".removed-"+strconv.Itoa(r.moved))
				taken = err == unix.ENOTEMPTY || err == unix.EEXIST || err == unix.ENOTDIR
			}
			return err
		})
	}
	var fd int
	err = permit(dir, name, func() (err error) {
		fd, err = unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return err
	}
	child := os.NewFile(uintptr(fd), name)
	err = r.empty(child, depth+1)
	child.Close()
	if err != nil {
		return err
	}
	return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
}

// permit does something for which its owner may lack the right to a directory: to
// dir, or to name in it.
func permit(dir int, name string, do func() error) error {
	err := do()
	if err != unix.EACCES {
		return err
	}
	if name == "" {
		err = unix.Fchmod(dir, 0o700)
	} else {
		err = unix.Fchmodat(dir, name, 0o700, 0)
	}
	if err != nil {
		return err
	}
	return do()
}
