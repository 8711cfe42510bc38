package main

import (
	"os"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
	"skillrun/linux"
	"skillrun/profiles"
)

// mounts gives those by which files here have a second name.
func mounts() []profiles.Mount {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil // no run starts without /proc
	}
	return linux.Mounts(string(b))
}

// listsAll says whether a name that the directory does not list is not there:
// that is so on ordinary local file systems, unless the directory takes several
// spellings for one name (FS_CASEFOLD_FL, linux/fs.h), and not on procfs, an
// automounter's or a network's.
func listsAll(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return listsAllOf(fd)
}

// listsAllOf says so of a directory that is open.
func listsAllOf(fd int) bool {
	const foldsCase = 0x40000000
	if !private.Ordinary(fd) {
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
