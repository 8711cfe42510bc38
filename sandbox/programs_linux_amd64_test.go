package sandbox_test

import "golang.org/x/sys/unix"

// legacyBlocks says whether a call that only this architecture has ends, stops or
// keeps waiting who makes it.
func legacyBlocks(nr uintptr) bool {
	switch nr {
	case unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_PAUSE, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_EPOLL_WAIT, unix.SYS_ALARM, unix.SYS_ARCH_PRCTL:
		return true
	}
	return false
}
