package linux

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// olderLandlock bounds the Landlock ABI, where the linker sets it: so tests are on
// an older kernel.
var olderLandlock string

// Probe finds out what this kernel lets this process do. It costs some
// microseconds: what only a trial in a process of its own can tell (whether
// namespaces can be made and mounted in) is assumed from cheap signs here, told
// for certain by [ProbeDeep], and found out by Start itself, which fails with a
// [StartError] whose step is a namespace one; the caller then compiles again
// without.
func Probe() Features {
	f := Features{UID: os.Geteuid()}
	if abi, err := ll.LandlockGetABIVersion(); err == nil {
		f.Landlock = abi
	}
	if older, err := strconv.Atoi(olderLandlock); err == nil {
		f.Landlock = min(f.Landlock, older)
	}
	f.Seccomp = actionAvailable(unix.SECCOMP_RET_KILL_PROCESS)
	f.Notify = f.Seccomp && actionAvailable(unix.SECCOMP_RET_USER_NOTIF)
	filtered := false
	if mode, _ := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); mode != 0 && f.Notify {
		filtered = true
		// Somebody's filter is already here. There is one listener to a chain.
		f.Outer = askOuter()
		f.Notify = f.Outer == 0 && tryListener()
	}
	f.CloseRange = unix.CloseRange(1<<31, 1<<31, 0) == nil
	if fd, err := unix.PidfdOpen(os.Getpid(), 0); err == nil {
		unix.Close(fd)
		f.Pidfd = true
	}
	f.Children = unix.Access("/proc/thread-self/children", unix.R_OK) == nil
	f.Capabilities = capabilities()
	f.Namespaces = f.Outer == 0 && unix.Access("/proc/self/ns/user", unix.F_OK) == nil && !(filtered && refusesNamespaces())
	// A supervisor that could not fetch the run's sockets would have to make them, and
	// could only in its own network.
	f.NetNamespace = f.Namespaces && (!f.Notify || fetches())
	return f
}

// ProbeDeep tries what Probe assumes, in processes of its own. It is what
// doctor and "profile" print, and costs some milliseconds.
func ProbeDeep() Features {
	f := Probe()
	f.Namespaces = TryNamespaces() == nil
	f.NetNamespace = f.NetNamespace && f.Namespaces && tryNamespaces(AllNamespaces|NSNet) == nil
	if f.Notify {
		f.Notify = tryListener()
	}
	if place, ok := FindCgroup(); ok && place.works() {
		f.Cgroup = place.Version
	}
	for f.Landlock > 0 && !tryLandlock(f.Landlock) {
		f.Landlock-- // claims more than it takes
	}
	return f
}

// refusesNamespaces says whether the filter around this process refuses the call
// that makes them, whatever its arguments, as those of containers do: to the kernel
// what is no flag of it is EINVAL, and nothing comes of it.
func refusesNamespaces() bool {
	const none = 1
	return unix.Unshare(unix.CLONE_NEWUSER|none) != unix.EINVAL
}

// TryNamespaces makes the namespaces of a run, with mounts in them, in a process of
// its own, and gives what keeps it from that.
func TryNamespaces() error { return tryNamespaces(AllNamespaces) }

func actionAvailable(action uint32) bool {
	const getActionAvail = 2
	_, _, e := syscall.Syscall(unix.SYS_SECCOMP, getActionAvail, 0, uintptr(unsafe.Pointer(&action)))
	return e == 0
}

func capabilities() uint64 {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&head, &data[0]) != nil {
		return 0
	}
	return uint64(data[0].Effective) | uint64(data[1].Effective)<<32
}

func tryLandlock(abi int) bool {
	attr := ll.RulesetAttr{HandledAccessFS: handledFS(abi)}
	if abi >= 4 {
		attr.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if abi >= 6 {
		attr.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	fd, err := ll.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return try(0, []step{
		stepFor(stagePrivilege, syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1),
		stepFor(stageLandlock, unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd)),
	}) == nil
}

// tryListener installs a filter that notifies nothing, with a listener.
func tryListener() bool {
	code := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
	fprog := &unix.SockFprog{Len: 1, Filter: &code[0]}
	err := try(0, []step{
		stepFor(stagePrivilege, syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1),
		stepFor(stageSeccomp, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(fprog))),
	})
	runtime.KeepAlive(fprog)
	// Where there is no process left to try it in, the launch itself says so.
	return err == nil || errors.Is(err, syscall.EAGAIN)
}

// tryNamespaces makes namespaces and mounts in them: Ubuntu lets anyone
// unshare and then refuses the mount.
func tryNamespaces(ns Namespaces) error {
	b := &scripter{plan: &Plan{Namespaces: ns}, cmd: &Command{}, tape: new(tape)}
	defer b.tape.release()
	steps := append(b.mapIDs(), b.mountSteps([]Mount{
		{Kind: MountMaskDir, Target: "/proc"},
		{Kind: MountProc, Target: "/proc"},
	})...)
	if b.tape.err != nil {
		return b.tape.err
	}
	return try(uintptr(ns), steps)
}

// try runs a script in a forked child and gives the error of the step that
// failed.
func try(flags uintptr, script []step) error {
	b, err := newBoard()
	if err != nil {
		return err
	}
	if _, err := tryOn(b, flags, script); err != nil {
		return err
	}
	if b.done == 0 {
		return syscall.Errno(b.errno)
	}
	return nil
}

// tryStatus gives how the child ended.
func tryStatus(script []step) (syscall.WaitStatus, error) {
	b, err := newBoard()
	if err != nil {
		return 0, err
	}
	return tryOn(b, 0, script)
}

func tryOn(b *board, flags uintptr, script []step) (status syscall.WaitStatus, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	forking.Lock()
	pid, errno := forkTry(flags, unsafe.SliceData(script), len(script), b)
	forking.Unlock()
	runtime.KeepAlive(script)
	if errno != 0 {
		return 0, errno
	}
	for {
		_, err := syscall.Wait4(pid, &status, wall, nil)
		if !errors.Is(err, syscall.EINTR) {
			return status, err
		}
	}
}

//go:noinline
//go:norace
func forkTry(flags uintptr, script *step, n int, b *board) (int, syscall.Errno) {
	beforeFork()
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, flags|sigChld, 0, 0, 0, 0, 0)
	if pid == 0 && errno == 0 {
		i, e := play(script, n, b)
		if i == n {
			store(&b.done, 1)
		} else {
			b.errno = uint32(e)
		}
		for {
			sys(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	afterFork()
	return int(pid), errno
}
