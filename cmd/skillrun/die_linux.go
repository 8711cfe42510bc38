package main

import (
	"os"
	"syscall"
	"unsafe"
)

// defaultAction puts back the kernel's own action for a signal: Go's runtime
// keeps handlers of its own for faults, and would print a trace.
func defaultAction(sig syscall.Signal) {
	var action [32]byte
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	unblocked := uint64(1) << (sig - 1)
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, 1, uintptr(unsafe.Pointer(&unblocked)), 0, 8, 0, 0)
}

// raise sends a signal to this very thread: it has taken effect on return,
// where one to the process may wait for another thread while we go on to exit.
//
// Whatever its limit, the kernel would hand this process's memory, with its
// environment, to the program that kernel.core_pattern names: of one that is
// undumpable it does not.
func raise(sig syscall.Signal) {
	syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
	syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), uintptr(sig))
}
