package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openDir opens the state directory, making it (mode 0700) if it is not there.
// It refuses what others could write: a link, a directory of another user, one
// with group or other write permission. What lies above is not checked: after
// this everything is opened relative to the descriptor, and a directory that
// someone else puts in its place belongs to someone else.
func openDir(dir string) (*os.File, error) {
	dir = filepath.Clean(dir)
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(dir, flags, 0)
	if errors.Is(err, unix.ENOENT) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("audit directory: %w", err)
		}
		fd, err = unix.Open(dir, flags, 0)
	}
	if err != nil {
		var st unix.Stat_t
		if unix.Lstat(dir, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return nil, fmt.Errorf("audit directory %q: is a symbolic link", dir)
		}
		return nil, fmt.Errorf("audit directory %q: %w", dir, err)
	}
	f := os.NewFile(uintptr(fd), dir)
	if err := checkOwn(fd, unix.S_IFDIR, nil); err != nil {
		f.Close()
		return nil, fmt.Errorf("audit directory %q: %w", dir, err)
	}
	return f, nil
}

// openFile opens or makes a file of mode 0600 in the directory, and refuses
// what others could have put there or could write.
func openFile(dir *os.File, name string, flags int) (*os.File, unix.Stat_t, error) {
	var st unix.Stat_t
	// O_NONBLOCK so that a fifo is refused rather than waited for.
	fd, err := unix.Openat(int(dir.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err == nil {
		if err = checkOwn(fd, unix.S_IFREG, &st); err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		if errors.Is(err, unix.ELOOP) {
			err = errors.New("is a symbolic link")
		}
		return nil, st, fmt.Errorf("audit file %q: %w", filepath.Join(dir.Name(), name), err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(dir.Name(), name)), st, nil
}

func checkOwn(fd int, kind uint32, st *unix.Stat_t) error {
	if st == nil {
		st = new(unix.Stat_t)
	}
	if err := unix.Fstat(fd, st); err != nil {
		return err
	}
	switch {
	case uint32(st.Mode)&unix.S_IFMT != kind && kind == unix.S_IFREG:
		return errors.New("is not a regular file")
	case uint32(st.Mode)&unix.S_IFMT != kind:
		return errors.New("is not a directory")
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("belongs to uid %d, not to uid %d", st.Uid, os.Geteuid())
	case st.Mode&0o022 != 0:
		return fmt.Errorf("can be written by others (mode %04o)", st.Mode&0o7777)
	case kind == unix.S_IFREG && st.Nlink > 1:
		return errors.New("has a second name (hard link)")
	}
	return nil
}
