package linux

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapIDs maps the caller's user and group to themselves, and nothing else: the
// run owns what the user owns and is root over nothing.
func (b *scripter) mapIDs() []step {
	uid, gid := strconv.Itoa(syscall.Geteuid()), strconv.Itoa(syscall.Getegid())
	var s []step
	for _, f := range [...][2]string{
		{"/proc/self/setgroups", "deny"}, // the kernel wants it before gid_map
		{"/proc/self/uid_map", uid + " " + uid + " 1"},
		{"/proc/self/gid_map", gid + " " + gid + " 1"},
	} {
		s = append(s,
			stepFor(stageMap, syscall.SYS_OPENAT, atFDCWD, b.str(f[0]), syscall.O_WRONLY|syscall.O_CLOEXEC).with(save),
			stepFor(stageMap, syscall.SYS_WRITE, 0, b.str(f[1]), uintptr(len(f[1]))).with(useSaved),
			stepFor(stageMap, syscall.SYS_CLOSE).with(useSaved),
		)
	}
	return s
}

const atFDCWD = ^uintptr(99) // -100

// mountSteps turns mounts into system calls. Nothing made here is seen outside
// and nothing mounted outside later is seen here.
func (b *scripter) mountSteps(mounts []Mount) []step {
	none := b.str("none")
	s := []step{stepFor(stageMount, syscall.SYS_MOUNT, none, b.str("/"), 0, syscall.MS_REC|syscall.MS_PRIVATE)}
	readOnly := put(b.tape, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	attr := func(target string, a *unix.MountAttr, flags uintptr) step {
		return stepFor(stageMount, unix.SYS_MOUNT_SETATTR, atFDCWD, b.str(target), flags, uintptr(unsafe.Pointer(a)), unsafe.Sizeof(*a))
	}
	const quiet = syscall.MS_NOSUID | syscall.MS_NODEV
	for _, m := range mounts {
		target := b.str(m.Target)
		switch m.Kind {
		case MountPrivate:
			s = append(s, b.private(&m)...)
		case MountProc:
			s = append(s, stepFor(stageMount, syscall.SYS_MOUNT, b.str("proc"), target, b.str("proc"), quiet|syscall.MS_NOEXEC, 0))
		case MountBind, MountMaskFile:
			s = append(s, stepFor(stageMount, syscall.SYS_MOUNT, b.str(m.Source), target, none, syscall.MS_BIND|syscall.MS_REC))
			if m.Kind == MountMaskFile {
				s = append(s, attr(m.Target, readOnly, 0))
			}
		case MountReadOnly:
			s = append(s, attr(m.Target, readOnly, unix.AT_RECURSIVE))
		case MountMaskDir:
			s = append(s, stepFor(stageMount, syscall.SYS_MOUNT, b.str("tmpfs"), target, b.str("tmpfs"), quiet|syscall.MS_RDONLY|syscall.MS_NOEXEC, b.str("mode=000,size=4k")))
		}
	}
	return s
}

// private puts one directory over another and brings back what is kept: each
// kept tree is cloned before it is covered, held by a descriptor whose number
// is known beforehand, and attached again above.
func (b *scripter) private(m *Mount) []step {
	var before, after []step
	for _, keep := range m.Keep {
		place, err := b.place()
		if err != nil {
			continue // the run gets less
		}
		before = append(before,
			stepFor(stageMount, unix.SYS_OPEN_TREE, atFDCWD, b.str(keep), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW).with(save),
			stepFor(stageMount, syscall.SYS_DUP3, 0, place, unix.O_CLOEXEC).with(useSaved),
			stepFor(stageMount, syscall.SYS_CLOSE).with(useSaved))
		after = append(after, stepFor(stageMount, unix.SYS_MOVE_MOUNT, place, b.str(""), atFDCWD, b.str(keep), unix.MOVE_MOUNT_F_EMPTY_PATH))
	}
	cover := stepFor(stageMount, syscall.SYS_MOUNT, b.str(m.Source), b.str(m.Target), b.str("none"), syscall.MS_BIND)
	return append(append(before, cover), after...)
}

// place gives a descriptor number that a step after the fork can put a file at.
func (b *scripter) place() (uintptr, error) {
	fd, err := unix.FcntlInt(b.self, unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		b.p.cleanup = append(b.p.cleanup, fd)
	}
	return uintptr(fd), err
}

// mountPoints makes what kept paths are mounted on, in the run's own
// directories.
func mountPoints(mounts []Mount) error {
	for i := range mounts {
		m := &mounts[i]
		for _, keep := range m.Keep {
			info, err := os.Lstat(keep)
			if err != nil {
				return fmt.Errorf("mount point for %q: %w", keep, err)
			}
			p := m.mountPoint(keep)
			if !info.IsDir() {
				if err = os.MkdirAll(filepath.Dir(p), 0o700); err == nil {
					err = os.WriteFile(p, nil, 0o600)
				}
			} else {
				err = os.MkdirAll(p, 0o700)
			}
			if err != nil {
				return fmt.Errorf("mount point for %q: %w", keep, err)
			}
		}
	}
	return nil
}
