package linux

import (
	"syscall"
	"unsafe"
)

// A forked Go process may do almost nothing: the scheduler, the allocator and
// the garbage collector are gone with the other threads, and their locks may
// be held for ever. What runs here between clone and exec, and in the guardian
// for as long as a run lasts, therefore follows four rules:
//
//   - every function is nosplit (the stack cannot grow) and norace;
//   - it makes raw system calls only and allocates nothing: all memory was
//     prepared before the fork, outside of the heap, which stays behind (tape);
//   - it stores no pointers (a store may meet a write barrier that a running
//     collector left switched on): addresses are uintptr;
//   - all signals stay blocked until the handlers of Go's runtime are gone.
//
// The child is a copy of the rest (no CLONE_VM), so nothing it does can harm the
// launcher's memory, and no assembly is needed on any architecture. The
// runtime keeps these two hooks stable for this use (go.dev/issue/67401).

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

// step is one system call of a script that runs after a fork.
type step struct {
	nr uintptr
	a  [6]uintptr
	// want is the errno that the call must give; 0 is success. A self-test
	// expects to be refused.
	want syscall.Errno
	// flags: see below.
	flags uint8
	// what names the step in errors; it indexes stageNames.
	what stage
	// filters is what a counted step must find in text, which it reads.
	filters uint16
	text    *byte
}

const (
	// optional steps may fail with any errno.
	optional uint8 = 1 << iota
	// save keeps the result for steps with useSaved.
	save
	// useSaved passes the saved result as first argument.
	useSaved
	// publish hands the result, a descriptor, to the launcher as the listener.
	publish
	// publishRoot does so as the run's root directory.
	publishRoot
	// counted steps read /proc/self/status, which must tell of as many filters
	// as the step says.
	counted
)

// stage says what a step was for, in the words of an error message.
type stage uint8

const (
	stageNone stage = iota
	stageFork
	stageNamespace
	stageMap
	stageMount
	stageNetwork
	stageParent
	stageCgroup
	stageLimit
	stageDir
	stageKeyring
	stageTerminal
	stageCapability
	stagePrivilege
	stageLandlock
	stageSeccomp
	stageDescriptor
	stageSelfFile
	stageSelfSocket
	stageSelfSignal
	stageSelfFilters
	stageNested
	stageExec
)

var stageNames = [...]string{
	stageNone:        "start",
	stageFork:        "create the process",
	stageNamespace:   "create namespaces",
	stageMap:         "map user and group ids",
	stageMount:       "set up mounts",
	stageNetwork:     "make the gate's sockets",
	stageParent:      "tie the command to its guardian",
	stageCgroup:      "join its control groups",
	stageLimit:       "set limits",
	stageDir:         "enter the working directory",
	stageKeyring:     "join a new session keyring",
	stageTerminal:    "leave the terminal",
	stageCapability:  "drop capabilities",
	stagePrivilege:   "set no_new_privs",
	stageLandlock:    "restrict by Landlock",
	stageSeccomp:     "install the seccomp filter",
	stageDescriptor:  "close descriptors",
	stageSelfFile:    "prove that files are closed",
	stageSelfSocket:  "prove that sockets are refused",
	stageSelfSignal:  "prove that the launcher is out of reach",
	stageSelfFilters: "prove that the filters are there",
	stageNested:      "come under the outer run's supervisor",
	stageExec:        "execute",
}

func (s stage) String() string { return stageNames[s] }

// play runs a script and gives the index of the step that failed, with what it
// gave, or len(script).
//
//go:nosplit
//go:norace
func play(script *step, n int, b *board) (failed int, errno syscall.Errno) {
	var saved uintptr
	for i := 0; i < n; i++ {
		s := (*step)(unsafe.Pointer(uintptr(unsafe.Pointer(script)) + uintptr(i)*unsafe.Sizeof(step{})))
		a0 := s.a[0]
		if s.flags&useSaved != 0 {
			a0 = saved
		}
		r, _, e := syscall.RawSyscall6(s.nr, a0, s.a[1], s.a[2], s.a[3], s.a[4], s.a[5])
		if e != s.want && s.flags&optional == 0 {
			return i, e
		}
		if s.flags&counted != 0 && filtersIn(s.text, r) != s.filters {
			return i, 0
		}
		if s.flags&save != 0 {
			saved = r
		}
		if s.flags&publish != 0 {
			b.listener = int32(r) + 1
		}
		if s.flags&publishRoot != 0 {
			b.root = int32(r) + 1
		}
	}
	return n, 0
}
