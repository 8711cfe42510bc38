package private

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ReadTrusted reads a file whose word counts, such as configuration: only root
// or, where user is set, this user can have put it there or can write it. It
// refuses a file and a directory of anybody else, one that others can write, a
// link, a second name, what is no regular file, and more than limit bytes.
// What lies above the directory is not checked: a directory that someone else
// puts in its place belongs to someone else. A file, or directory, that is not
// there is an error that is fs.ErrNotExist; one that cannot be seen is another.
func ReadTrusted(path string, user bool, limit int64) ([]byte, error) {
	b, err := readTrusted(path, user, limit)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, cause(err))
	}
	return b, nil
}

func readTrusted(path string, user bool, limit int64) ([]byte, error) {
	var st unix.Stat_t
	dir, err := unix.Open(filepath.Dir(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		if unix.Lstat(filepath.Dir(path), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			err = errors.New("its directory is a symbolic link")
		}
		return nil, err
	}
	defer unix.Close(dir)
	if err := trust(dir, user, &st); err != nil {
		return nil, fmt.Errorf("its directory %w", err)
	}
	// O_NONBLOCK so that a fifo is refused rather than waited for.
	fd, err := unix.Openat(dir, filepath.Base(path), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, unix.ELOOP) {
			err = errors.New("is a symbolic link")
		}
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if err := trust(fd, user, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errors.New("is not a regular file")
	case st.Nlink > 1:
		return nil, errors.New("has a second name (hard link)")
	case st.Size > limit:
		return nil, fmt.Errorf("%d bytes, more than %d", st.Size, limit)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

func trust(fd int, user bool, st *unix.Stat_t) error {
	if err := unix.Fstat(fd, st); err != nil {
		return err
	}
	switch {
	case st.Uid != 0 && !(user && int(st.Uid) == os.Geteuid()):
		return fmt.Errorf("belongs to uid %d", st.Uid)
	case st.Mode&0o022 != 0:
		return fmt.Errorf("can be written by others (mode %04o)", st.Mode&0o7777)
	}
	return nil
}
