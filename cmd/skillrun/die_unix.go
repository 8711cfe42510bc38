//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// dieBy ends this process by the signal that ended the command, so that a
// caller sees what it would have seen without us. Where that cannot be (pid 1
// ignores what it has no handler for) it returns.
func dieBy(sig syscall.Signal) {
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	runtime.LockOSThread()
	defaultAction(sig)
	raise(sig)
}
