package linux

import (
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
	readOnly := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	noExec := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOEXEC}
	b.keep = append(b.keep, readOnly, noExec)
	attr := func(target string, a *unix.MountAttr, flags uintptr) step {
		return stepFor(stageMount, unix.SYS_MOUNT_SETATTR, atFDCWD, b.str(target), flags, uintptr(unsafe.Pointer(a)), unsafe.Sizeof(*a))
	}
	const quiet = syscall.MS_NOSUID | syscall.MS_NODEV
	for _, m := range mounts {
		target := b.str(m.Target)
		switch m.Kind {
		case MountTmpfs:
			s = append(s, stepFor(stageMount, syscall.SYS_MOUNT, b.str("tmpfs"), target, b.str("tmpfs"), quiet|uintptr(m.Flags), b.str(m.Options)))
		case MountProc:
			s = append(s, stepFor(stageMount, syscall.SYS_MOUNT, b.str("proc"), target, b.str("proc"), quiet|syscall.MS_NOEXEC, 0))
		case MountBind, MountMaskFile:
			s = append(s, stepFor(stageMount, syscall.SYS_MOUNT, b.str(m.Source), target, none, syscall.MS_BIND|syscall.MS_REC))
			if m.Kind == MountMaskFile {
				s = append(s, attr(m.Target, readOnly, 0))
			}
		case MountReadOnly:
			s = append(s, attr(m.Target, readOnly, unix.AT_RECURSIVE))
		case MountNoExec:
			s = append(s, attr(m.Target, noExec, unix.AT_RECURSIVE))
		case MountMaskDir:
			s = append(s, stepFor(stageMount, syscall.SYS_MOUNT, b.str("tmpfs"), target, b.str("tmpfs"), quiet|syscall.MS_RDONLY|syscall.MS_NOEXEC, b.str("mode=000,size=4k")))
		}
	}
	return s
}
