package private

import "golang.org/x/sys/unix"

// ordinary knows the file systems of a machine's own disks.
func ordinary(st *unix.Statfs_t) bool {
	name := unix.ByteSliceToString(st.Fstypename[:])
	return name == "apfs" || name == "hfs"
}

// Unwritten is not known here.
func Unwritten(int) bool { return true }

// Identify looks at name relative to the directory fd, links not followed
// unless follow is set, or at fd itself if name is "".
func Identify(fd int, name string, follow bool) (Identity, error) {
	var st unix.Stat_t
	var err error
	switch {
	case name == "":
		err = unix.Fstat(fd, &st)
	case follow:
		err = unix.Fstatat(fd, name, &st, 0)
	default:
		err = unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Identity{}, err
	}
	return Identity{
		Dev: uint64(st.Dev), Ino: st.Ino, Mode: uint32(st.Mode), Links: uint32(st.Nlink), Size: st.Size,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Born: st.Btim.Nano(),
	}, nil
}

// Shown is Ordinary.
func Shown(fd int) bool { return Ordinary(fd) }

// ShownIn is Shown of a name in a directory that is on another file system: there is
// none such that is trusted.
func ShownIn(int, string) bool { return false }
