package private

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// ordinary knows the file systems of a machine's own disks and memory.
func ordinary(st *unix.Statfs_t) bool {
	const zfs = 0x2fc12fc1
	switch st.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfs:
		return true
	}
	return false
}

// Unwritten says whether nobody has the file open for writing that fd has open for
// reading: whoever maps it could write into a page for as long as it stays dirty,
// on tmpfs for ever, without a new time of change. The kernel grants a lease for
// reading on no other condition (fcntl(2), F_SETLEASE), to the owner and root;
// others' files are taken for unwritten if this user may not write them. What is mapped
// by way of an overlay is the file beneath, of which that says nothing: no page of it is
// dirty once it has been written to a disk, but tmpfs writes none, and so [Shown] is
// false there.
func Unwritten(fd int) bool {
	if Ordinary(fd) && !Shown(fd) {
		unix.Fsync(fd)
	}
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	if err != nil {
		return err == unix.EACCES && unix.Access("/proc/self/fd/"+strconv.Itoa(fd), unix.W_OK) != nil
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// Identify looks at name relative to the directory fd, links not followed
// unless follow is set, or at fd itself if name is "".
func Identify(fd int, name string, follow bool) (Identity, error) {
	flags := 0
	if name == "" {
		flags = unix.AT_EMPTY_PATH
	} else if !follow {
		flags = unix.AT_SYMLINK_NOFOLLOW
	}
	var st unix.Statx_t
	if err := unix.Statx(fd, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return Identity{}, err
	}
	nano := func(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
	id := Identity{
		Dev: uint64(st.Dev_major)<<32 | uint64(st.Dev_minor), Ino: st.Ino, Mode: uint32(st.Mode), Links: st.Nlink, Size: int64(st.Size),
		Mtime: nano(st.Mtime), Ctime: nano(st.Ctime),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.Born = nano(st.Btime)
	}
	return id, nil
}

// MergedAt says whether what is at path may be put together from several
// directories: the times of such a one are the uppermost's, which do not change
// with what is beneath.
func MergedAt(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) != nil || st.Type == unix.OVERLAYFS_SUPER_MAGIC
}

// Shown says of an open file whether its file system, with [Unwritten], tells of
// every change: an [Ordinary] one that is no overlay.
func Shown(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && ordinary(&st) && st.Type != unix.OVERLAYFS_SUPER_MAGIC
}

// ShownIn is Shown of a name in a directory: a file may be mounted there by itself.
func ShownIn(dir int, name string) bool {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return Shown(fd)
}
