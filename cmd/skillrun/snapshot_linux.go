package main

import "golang.org/x/sys/unix"

// listsAll says whether a name that the directory does not list is not there:
// that is so on ordinary local file systems, unless the directory takes several
// spellings for one name (FS_CASEFOLD_FL, linux/fs.h), and not on procfs, an
// automounter's or a network's.
func listsAll(dir string) bool {
	const zfs, foldsCase = 0x2fc12fc1, 0x40000000
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return false
	}
	switch st.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfs:
	default:
		return false
	}
	flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	return err != nil || flags&foldsCase == 0
}

// identity says which file it is and when it changed last; zero if it is not to
// be had.
type identity struct{ Dev, Ino, Size, Sec, Nsec uint64 }

func identify(name string) identity {
	var st unix.Stat_t
	if unix.Stat(name, &st) != nil {
		return identity{}
	}
	return identity{uint64(st.Dev), st.Ino, uint64(st.Size), uint64(st.Ctim.Sec), uint64(st.Ctim.Nsec)}
}
