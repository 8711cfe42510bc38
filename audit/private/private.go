// Package private opens files and directories that nobody but their user can
// have put there or can write, tells when a file changed, and replaces files
// whole. State that decides something (the audit log, approvals, sessions)
// goes through it.
package private

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// OpenDir opens a directory, making it (mode 0700, parents too) if it is not
// there. It refuses what others could write: a link, a directory of another
// user, one with group or other write permission. What lies above is not
// checked: files are opened relative to the descriptor, and a directory that
// someone else puts in its place belongs to someone else.
func OpenDir(dir string) (*os.File, error) {
	dir = filepath.Clean(dir)
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(dir, flags, 0)
	if errors.Is(err, unix.ENOENT) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("directory %q: %w", dir, cause(err))
		}
		fd, err = unix.Open(dir, flags, 0)
	}
	if err != nil {
		var st unix.Stat_t
		if unix.Lstat(dir, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			err = errors.New("is a symbolic link")
		}
		return nil, fmt.Errorf("directory %q: %w", dir, err)
	}
	if err := check(fd, unix.S_IFDIR, new(unix.Stat_t)); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("directory %q: %w", dir, err)
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// OpenFile opens a regular file of a directory that OpenDir gave; with O_CREAT
// in flags it is made with mode 0600. It refuses a link, a second name, a file
// of another user and one that others can write. A file that is not there is
// an error that is fs.ErrNotExist.
func OpenFile(dir *os.File, name string, flags int) (*os.File, unix.Stat_t, error) {
	var st unix.Stat_t
	// O_NONBLOCK so that a fifo is refused rather than waited for.
	fd, err := unix.Openat(int(dir.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err == nil {
		if err = check(fd, unix.S_IFREG, &st); err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		if errors.Is(err, unix.ELOOP) {
			err = errors.New("is a symbolic link")
		}
		return nil, st, fmt.Errorf("file %q: %w", filepath.Join(dir.Name(), name), err)
	}
	return os.NewFile(uintptr(fd), filepath.Join(dir.Name(), name)), st, nil
}

func check(fd int, kind uint32, st *unix.Stat_t) error {
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

// ReadFile reads a file whole, under OpenFile's conditions. It fails on more
// than limit bytes.
func ReadFile(dir *os.File, name string, limit int64) ([]byte, error) {
	f, st, err := OpenFile(dir, name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Size > limit {
		return nil, fmt.Errorf("file %q: %d bytes, more than %d", f.Name(), st.Size, limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, fmt.Errorf("file %q: %w", f.Name(), cause(err))
	}
	return b, nil
}

// WriteFile puts a file of mode 0600 in the place of whatever has the name, at
// once: readers see the old one or the new one, and so does the disk after a
// power cut.
func WriteFile(dir *os.File, name string, data []byte) error {
	return replace(dir, name, data, true)
}

// Replace is WriteFile without waiting for the disk: after a power cut the file
// may be the old one, the new one or empty.
func Replace(dir *os.File, name string, data []byte) error {
	return replace(dir, name, data, false)
}

func replace(dir *os.File, name string, data []byte, durable bool) error {
	var random [8]byte
	rand.Read(random[:])
	temp := "." + name + "." + hex.EncodeToString(random[:])
	f, _, err := OpenFile(dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = unix.Renameat(int(dir.Fd()), temp, int(dir.Fd()), name)
	}
	if err != nil {
		unix.Unlinkat(int(dir.Fd()), temp, 0)
		return fmt.Errorf("file %q: %w", filepath.Join(dir.Name(), name), cause(err))
	}
	if !durable {
		return nil
	}
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("directory %q: %w", dir.Name(), cause(err))
	}
	return nil
}

// cause drops the path that an os error repeats.
func cause(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// Identity is what the system tells of a file; any change of contents, mode or
// owner changes it. Times are nanoseconds since 1970; Born is 0 where the file
// system does not keep it.
type Identity struct {
	Dev, Ino           uint64
	Mode, Links        uint32 // Links is how many names it has
	Size               int64
	Mtime, Ctime, Born int64
}

// Append appends the identity in a fixed width, as a key for what was computed
// from the file.
func (id Identity) Append(b []byte) []byte {
	for _, n := range [...]uint64{id.Dev, id.Ino, uint64(id.Mode), uint64(id.Size), uint64(id.Mtime), uint64(id.Ctime), uint64(id.Born)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// Ordinary says whether an open file is on a file system that keeps the time of
// every change and lists every name. Others, a network's or a user program's,
// may tell of any times.
func Ordinary(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && ordinary(&st)
}

// OrdinaryAt is Ordinary of the file at path, links followed.
func OrdinaryAt(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && ordinary(&st)
}

// Settles is how long two changes of a file may have the same time, on the coarsest of
// file systems.
const Settles = 2 * time.Second

// Settled says whether, at now, the file was left alone long enough for its
// identity to tell any later change: within one tick of the file system's
// clock, [Settles], a second change would leave the same times. A
// change time in the future is never settled. It says nothing of a file that is
// not on an [Ordinary] file system, or that was not [Unwritten] since now.
func (id Identity) Settled(now time.Time) bool {
	return now.UnixNano()-id.Ctime >= int64(Settles)
}
