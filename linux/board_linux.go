package linux

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// board is the page that launcher, guardian and command share. Each word has
// one writer; done and ready are futexes. Who finds a word set, by load, finds what
// was written before: wake, count and store see to that on arm64, too.
type board struct {
	ready    uint32 // set when the command has a table of its own and is about to run, or has failed
	listener int32  // seccomp listener in the launcher's table, plus one
	root     int32  // the run's root directory, likewise
	prepared uint32 // set when the guardian has done its script, or has failed
	ruled    uint32 // set by the launcher: the rulesets have their rules
	begun    uint32 // set by the launcher: the command, which has confined itself, may start
	began    uint32 // set by the command, first of all: pidfd is valid
	pidfd    int32  // its pidfd, in the launcher's table
	guardian uint32 // pid of the second guardian, where there are two
	gone     uint32 // set by the first: the launcher is gone, or has the run end
	over     uint32 // set by the launcher: the run is to end

	failed uint32 // 1: the guardian's script failed, 2: the command's
	step   uint32 // which step
	errno  uint32

	done   uint32 // set when status is final and the tree is dead, or the guardian lost
	lost   uint32 // set by the launcher: the guardian did not end by itself
	ending uint32 // set when what is left of the tree is being ended
	status int32  // wait status of the command
	cause  uint32 // why the run was ended, if not by the command
	killed uint32 // processes that were still alive when the command ended
	stops  uint32 // futex: counts the times that a signal stopped the command, and its end

	// Resource use of the whole tree, filled in at the end.
	userMicros, systemMicros uint64
	maxResidentKiB           uint64
}

// Causes of an end that the command did not choose.
const (
	causeNone uint32 = iota
	causeWall
	causeLauncher
)

const (
	failedGuardian uint32 = 1
	failedCommand  uint32 = 2
)

func newBoard() (*board, error) {
	mem, err := unix.Mmap(-1, 0, int(unsafe.Sizeof(board{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map the shared page: %w", err)
	}
	return (*board)(unsafe.Pointer(&mem[0])), nil
}

const (
	opFutexWait = 0
	opFutexWake = 1
)

// wake sets a futex word and wakes everyone who waits for it.
//
//go:nosplit
//go:norace
func wake(word *uint32) {
	store(word, 1)
	syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), opFutexWake, 1<<30, 0, 0, 0)
}

// count adds one to a futex word and wakes everyone who waits for it to change.
//
//go:nosplit
//go:norace
func count(word *uint32) {
	store(word, *word+1)
	syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), opFutexWake, 1<<30, 0, 0, 0)
}

// await blocks until the word is set.
//
//go:norace
func await(word *uint32) {
	for load(word) == 0 {
		syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), opFutexWait, 0, 0, 0, 0)
	}
}

// hold does so in a forked process.
//
//go:nosplit
//go:norace
func hold(word *uint32) {
	for load(word) == 0 {
		syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), opFutexWait, 0, 0, 0, 0)
	}
}
