package linux

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The guardian stands between launcher and command, in a process of its own
// that lasts as long as the run. It sets up the namespaces, starts the command,
// adopts and reaps every orphan of the run, enforces the wall clock, and ends
// the whole tree when the command ends or the launcher is gone. Being outside
// the command's Landlock domain (or pid 1 of its pid namespace) it cannot be
// reached from inside; being undumpable it shows nothing of the launcher's
// environment, which its memory still holds, unlike all of its heap.
//
// Where it is no pid 1, whose death ends everything, it is two processes. The
// first starts the second, which does all of the above, and waits: whichever of
// them and the launcher is killed, another is there to end the tree, and all
// three would have to be killed within a few milliseconds.
//
// It runs under the rules at the top of fork_linux.go.

// guard is everything that the guardian needs, prepared before the fork.
type guard struct {
	board   *board
	pidfd   int32 // the launcher's pidfd
	parent  int32 // and its pid
	first   int32 // pid of the first of two guardians
	outside bool  // the guardian is in the launcher's pid namespace
	session bool  // the run has a session of its own, the guardian's

	setup     *step // run by the guardian
	setupLen  int
	enter     *step // run by the command before exec
	enterLen  int
	path      *byte
	argv      **byte
	shellArgv **byte // for a file without a "#!" line: sh path args...
	shell     *byte
	envp      **byte
	mask      uint64 // signal mask that the command starts with
	wall      syscall.Timespec
	hasWall   bool
	children  *byte    // path of the guardian's list of children
	procPath  *byte    // nil where /proc has other numbers: then it is not looked at
	walk      struct { // what killDescendants remembers
		proc, self, at, end, pid, pidfd, from, depth, file, read uintptr
	}
	buf    [4096]byte
	stat   [512]byte
	info   [128]byte
	rusage syscall.Rusage
	now    syscall.Timespec
	end    syscall.Timespec
	left   syscall.Timespec
	action [32]byte
	poll   unix.PollFd
}

const (
	wnohang   = 1
	wuntraced = 2
	wall      = 0x40000000

	sigKill = 9
	sigChld = 17
	sigCont = 18
	sigTerm = 15

	// reapMost is how many ends and stops are taken before the clock is looked at,
	// or what is left is killed, again.
	reapMost = 1024

	// signalSize is the kernel's sigset size in bytes.
	signalSize = 8
)

//go:nosplit
//go:norace
func sys(nr, a, b, c uintptr) (uintptr, syscall.Errno) {
	r, _, e := syscall.RawSyscall6(nr, a, b, c, 0, 0, 0)
	return r, e
}

//go:nosplit
//go:norace
func sys4(nr, a, b, c, d uintptr) (uintptr, syscall.Errno) {
	r, _, e := syscall.RawSyscall6(nr, a, b, c, d, 0, 0)
	return r, e
}

// watch is the guardian's whole life.
//
//go:nosplit
//go:norace
func (g *guard) watch() {
	b := g.board
	g.resetSignals()
	if i, e := play(g.setup, g.setupLen, b); i != g.setupLen {
		g.fail(i, e)
	}
	// The launcher may have died before PR_SET_PDEATHSIG was in force.
	if g.orphaned() {
		sys(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	wake(&b.prepared)
	if g.outside {
		// From here on there is a tree to end, so the launcher's death must be
		// a signal that can be waited for.
		sys(syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, sigTerm, 0)
		if g.orphaned() {
			sys(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		if second := g.double(); second != 0 {
			g.stand(second)
		}
	}
	if g.session {
		sys(syscall.SYS_SETSID, 0, 0, 0)
	}
	// CLONE_FILES: the command's seccomp listener appears in the launcher's
	// table. execve gives the command a table of its own.
	// CLONE_PIDFD: so does a descriptor to signal the command by.
	pid, e := sys(syscall.SYS_CLONE, syscall.CLONE_FILES|unix.CLONE_PIDFD|sigChld, 0, uintptr(unsafe.Pointer(&b.pidfd)))
	if e != 0 {
		g.fail(g.setupLen, e)
	}
	if pid == 0 {
		g.command()
	}
	if g.outside && !g.session {
		// Who ends the process group of the run from outside, as agents do when
		// they have waited enough, must leave who ends the rest. A group of its
		// own in this session is not enough: killed, the guardian would orphan
		// the run's group, and where somebody is stopped in it the kernel sends
		// that whole group a SIGHUP, those who launched us included.
		sys(syscall.SYS_SETSID, 0, 0, 0)
	}
	if !g.begins() {
		g.sweep(int32(pid))
		for {
			sys(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	if g.hasWall {
		sys(syscall.SYS_CLOCK_GETTIME, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&g.end)), 0)
		g.end.Sec += g.wall.Sec
		g.end.Nsec += g.wall.Nsec
		if g.end.Nsec >= 1e9 {
			g.end.Sec++
			g.end.Nsec -= 1e9
		}
	}
	g.wait(int32(pid))
}

// begins waits until the launcher lets the command start, which confines itself
// meanwhile. It is false if the launcher is gone.
//
//go:nosplit
//go:norace
func (g *guard) begins() bool {
	for load(&g.board.begun) == 0 {
		// The signal of the launcher's end is blocked, and ends no such wait.
		g.left = syscall.Timespec{Nsec: 20e6}
		syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&g.board.begun)), opFutexWait, 0, uintptr(unsafe.Pointer(&g.left)), 0, 0)
		if g.orphaned() {
			return false
		}
	}
	return true
}

// double starts the second guardian. It gives the first the second's number.
//
//go:nosplit
//go:norace
func (g *guard) double() int32 {
	first, _ := sys(syscall.SYS_GETPID, 0, 0, 0)
	g.first = int32(first)
	second, e := sys(syscall.SYS_CLONE, syscall.CLONE_FILES|sigChld, 0, 0)
	if e != 0 {
		g.fail(g.setupLen, e)
	}
	if second != 0 {
		return int32(second)
	}
	sys(syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, sigTerm, 0)
	sys(syscall.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0)
	if g.orphaned() {
		sys(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	second, _ = sys(syscall.SYS_GETPID, 0, 0, 0)
	store(&g.board.guardian, uint32(second))
	return 0
}

// stand is the first guardian's life from then on: it tells the second of the
// launcher's end, and ends what the second leaves behind.
//
//go:nosplit
//go:norace
func (g *guard) stand(second int32) {
	set := uint64(1)<<(sigChld-1) | uint64(1)<<(sigTerm-1)
	for {
		pid, e := sys4(syscall.SYS_WAIT4, uintptr(second), 0, wnohang|wall, 0)
		if e == 0 && int32(pid) == second || e == syscall.ECHILD {
			break
		}
		sig, _ := sys4(syscall.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&set)), uintptr(unsafe.Pointer(&g.info)), 0, signalSize)
		if sig == sigTerm && g.orphaned() {
			// The second ends the tree, as long as it lives: were it killed
			// here, nobody would be left if this one were killed, too.
			wake(&g.board.gone)
			sys(syscall.SYS_KILL, uintptr(second), sigTerm, 0)
		}
	}
	if load(&g.board.done) == 0 {
		g.sweep(second)
	}
	for {
		sys(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// orphaned says whether the launcher is gone, or the first of two guardians, or has
// the run end. A pidfd polls readable when its process has ended, which is a moment after its
// children were told: they have another parent by then.
//
//go:nosplit
//go:norace
func (g *guard) orphaned() bool {
	if load(&g.board.over) != 0 {
		return true
	}
	self, _ := sys(syscall.SYS_GETPID, 0, 0, 0)
	parent, _ := sys(syscall.SYS_GETPPID, 0, 0, 0)
	switch {
	case g.first != 0 && int32(self) != g.first:
		if int32(parent) != g.first || load(&g.board.gone) != 0 {
			return true
		}
	case g.outside && int32(parent) != g.parent:
		return true
	}
	g.poll = unix.PollFd{Fd: g.pidfd, Events: unix.POLLIN}
	g.left = syscall.Timespec{}
	n, _ := sys4(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&g.poll)), 1, uintptr(unsafe.Pointer(&g.left)), 0)
	return n == 1
}

// resetSignals gives every signal that is not ignored its default action, so
// that no handler of Go's runtime can run in this process or the command's.
//
//go:nosplit
//go:norace
func (g *guard) resetSignals() {
	for n := uintptr(1); n <= 64; n++ {
		a := uintptr(unsafe.Pointer(&g.action))
		if _, e := sys4(syscall.SYS_RT_SIGACTION, n, 0, a, signalSize); e != 0 {
			continue
		}
		if h := *(*uintptr)(unsafe.Pointer(&g.action)); h > 1 {
			for i := range g.action {
				g.action[i] = 0
			}
			sys4(syscall.SYS_RT_SIGACTION, n, a, 0, signalSize)
		}
	}
}

// command confines this process and becomes the command.
//
//go:nosplit
//go:norace
func (g *guard) command() {
	// The kernel stored the descriptor of this process before it let it run. No
	// signal is lost from here on.
	store(&g.board.began, 1)
	hold(&g.board.ruled)
	i, e := play(g.enter, g.enterLen, g.board)
	if i == g.enterLen {
		hold(&g.board.begun)
		wake(&g.board.ready)
		sys4(syscall.SYS_RT_SIGPROCMASK, 2, uintptr(unsafe.Pointer(&g.mask)), 0, signalSize)
		_, e = sys(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(g.path)), uintptr(unsafe.Pointer(g.argv)), uintptr(unsafe.Pointer(g.envp)))
		if e == syscall.ENOEXEC {
			// As execvp(3) does.
			_, e = sys(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(g.shell)), uintptr(unsafe.Pointer(g.shellArgv)), uintptr(unsafe.Pointer(g.envp)))
		}
	}
	g.board.step = uint32(i)
	g.board.errno = uint32(e)
	store(&g.board.failed, failedCommand)
	wake(&g.board.ready)
	for {
		sys(syscall.SYS_EXIT_GROUP, 125, 0, 0)
	}
}

//go:nosplit
//go:norace
func (g *guard) fail(at int, e syscall.Errno) {
	b := g.board
	b.step = uint32(at)
	b.errno = uint32(e)
	store(&b.failed, failedGuardian)
	wake(&b.prepared)
	wake(&b.ready)
	wake(&b.done)
	for {
		sys(syscall.SYS_EXIT_GROUP, 125, 0, 0)
	}
}

// wait reaps the run until the command has ended, then ends what is left.
//
//go:nosplit
//go:norace
func (g *guard) wait(command int32) {
	b := g.board
	set := uint64(1)<<(sigChld-1) | uint64(1)<<(sigTerm-1)
	for {
		// A run can have its processes end, or be stopped, faster than it is told
		// here: the clock and the command's end come in between.
		ended, more := false, true
		for n := 0; more && n < reapMost; n++ {
			var status int32
			pid, e := sys4(syscall.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), wnohang|wuntraced|wall, uintptr(unsafe.Pointer(&g.rusage)))
			if e == syscall.EINTR {
				continue
			}
			if e != 0 || pid == 0 {
				more = false
				continue
			}
			if status&0xff == 0x7f { // stopped
				if int32(pid) == command {
					count(&b.stops)
				}
				continue
			}
			if int32(pid) == command {
				b.status = status
				ended = true
			}
		}
		if ended {
			command = 0 // from here on its number may be another's
			break
		}
		timeout := uintptr(0)
		if g.hasWall {
			sys(syscall.SYS_CLOCK_GETTIME, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&g.now)), 0)
			g.left.Sec = g.end.Sec - g.now.Sec
			g.left.Nsec = g.end.Nsec - g.now.Nsec
			if g.left.Nsec < 0 {
				g.left.Sec--
				g.left.Nsec += 1e9
			}
			if g.left.Sec < 0 {
				b.cause = causeWall
				break
			}
			timeout = uintptr(unsafe.Pointer(&g.left))
		}
		if more {
			g.left = syscall.Timespec{}
			timeout = uintptr(unsafe.Pointer(&g.left))
		}
		sig, _ := sys4(syscall.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&set)), uintptr(unsafe.Pointer(&g.info)), timeout, signalSize)
		// The parent-death signal, Process.Kill's, or somebody's SIGTERM to us.
		if sig == sigTerm && g.orphaned() {
			b.cause = causeLauncher
			break
		}
	}
	g.sweep(command)
	if _, e := sys(syscall.SYS_GETRUSAGE, ^uintptr(0), uintptr(unsafe.Pointer(&g.rusage)), 0); e == 0 {
		b.userMicros = uint64(g.rusage.Utime.Sec)*1e6 + uint64(g.rusage.Utime.Usec)
		b.systemMicros = uint64(g.rusage.Stime.Sec)*1e6 + uint64(g.rusage.Stime.Usec)
		b.maxResidentKiB = uint64(g.rusage.Maxrss)
	}
	wake(&b.ready)
	wake(&b.done)
	for {
		sys(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// sweep kills and reaps until the guardian has no child left. In a pid
// namespace one signal reaches everyone. Elsewhere orphans fall to the
// guardian, their subreaper, as their parents die, and go in the next pass; now and
// then all go, since some parents may not die before them.
//
//go:nosplit
//go:norace
func (g *guard) sweep(command int32) {
	store(&g.board.ending, 1)
	for pass := 1; ; pass++ {
		if g.outside {
			g.killChildren(command)
			if pass%8 == 0 {
				g.killDescendants()
			}
		} else {
			sys(syscall.SYS_KILL, ^uintptr(0), sigKill, 0)
		}
		for n := 0; n < reapMost; n++ {
			var status int32
			options := uintptr(wall)
			if g.outside {
				// What has ended is taken before the long list of it is gone through
				// again; for the rest nobody waits, since an orphan may be ours now.
				options |= wnohang
			}
			pid, e := sys4(syscall.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), options, uintptr(unsafe.Pointer(&g.rusage)))
			if e == syscall.EINTR {
				continue
			}
			if e != 0 { // ECHILD: nobody left
				return
			}
			if pid == 0 {
				if n == 0 {
					// Not for ever: what was killed is not ours to take as long as
					// another of the run traces it, which may be an orphan by now.
					set := uint64(1) << (sigChld - 1)
					g.left = syscall.Timespec{Nsec: 20e6}
					sys4(syscall.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&set)), 0, uintptr(unsafe.Pointer(&g.left)), signalSize)
				}
				break
			}
			if int32(pid) == command {
				g.board.status = status
				command = 0
			} else {
				g.board.killed++
			}
		}
	}
}

// killChildren reads the kernel's list of the guardian's children, decimal
// numbers with a space after each, and kills them all.
//
//go:nosplit
//go:norace
func (g *guard) killChildren(command int32) {
	fd, e := sys4(syscall.SYS_OPENAT, ^uintptr(99), uintptr(unsafe.Pointer(g.children)), syscall.O_RDONLY, 0)
	if e != 0 {
		// No such list in this kernel: at least the command must go.
		if command != 0 {
			sys(syscall.SYS_KILL, uintptr(command), sigKill, 0)
		}
		return
	}
	pid := 0
	for {
		n, e := sys(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&g.buf)), uintptr(len(g.buf)))
		if e != 0 || n == 0 {
			break
		}
		for i := uintptr(0); i < n; i++ {
			if c := g.buf[i&4095]; c >= '0' && c <= '9' {
				pid = pid*10 + int(c-'0')
			} else if pid > 0 {
				sys(syscall.SYS_KILL, uintptr(pid), sigKill, 0)
				pid = 0
			}
		}
	}
	sys(syscall.SYS_CLOSE, fd, 0, 0)
}

// killDescendants kills all that come from the guardian, for those whose parents do
// not die: who is traced can be held at its exit, and waits there for its tracer,
// which may be a child of its own and run on. What it remembers is in g, and it calls
// nothing but the kernel: there is little stack.
//
//go:nosplit
//go:norace
func (g *guard) killDescendants() {
	w := &g.walk
	var e syscall.Errno
	w.proc, e = sys4(syscall.SYS_OPENAT, ^uintptr(99), uintptr(unsafe.Pointer(g.procPath)), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if e != 0 {
		return
	}
	w.self, _ = sys(syscall.SYS_GETPID, 0, 0, 0)
	w.at, w.end = 0, 0
	for {
		if w.at >= w.end {
			w.end, e = sys(syscall.SYS_GETDENTS64, w.proc, uintptr(unsafe.Pointer(&g.buf)), uintptr(len(g.buf)))
			if e != 0 || w.end == 0 {
				break
			}
			w.at = 0
		}
		const lengthAt, nameAt = 16, 19 // in struct linux_dirent64
		w.pid = 0
		for i := w.at + nameAt; g.buf[i&4095] >= '0' && g.buf[i&4095] <= '9'; i++ {
			w.pid = w.pid*10 + uintptr(g.buf[i&4095]-'0')
		}
		w.at += uintptr(g.buf[(w.at+lengthAt)&4095]) | uintptr(g.buf[(w.at+lengthAt+1)&4095])<<8
		if w.pid == 0 || w.pid == w.self {
			continue
		}
		// Held by a descriptor before it is looked at: the number may be another's.
		w.pidfd, e = sys(unix.SYS_PIDFD_OPEN, w.pid, 0, 0)
		if e != 0 {
			continue
		}
		w.from = w.pid
		for w.depth = 0; w.from > 1 && w.from != w.self && w.depth < deepest; w.depth++ {
			// The parent's number is in /proc/PID/stat; it is 0 if that cannot be read.
			const file = uintptr(len(g.stat) - len("/stat\x00"))
			g.stat[file], g.stat[file+1], g.stat[file+2], g.stat[file+3], g.stat[file+4], g.stat[file+5] = '/', 's', 't', 'a', 't', 0
			name := file
			for ; w.from > 0; w.from /= 10 {
				name--
				g.stat[name&511] = byte('0' + w.from%10)
			}
			w.file, e = sys4(syscall.SYS_OPENAT, w.proc, uintptr(unsafe.Pointer(&g.stat))+name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
			if e != 0 {
				break
			}
			w.read, e = sys(syscall.SYS_READ, w.file, uintptr(unsafe.Pointer(&g.stat)), uintptr(len(g.stat)))
			sys(syscall.SYS_CLOSE, w.file, 0, 0)
			if e != 0 {
				break
			}
			// pid (comm) state ppid: comm may hold anything, but it ends last.
			for w.read > 0 && g.stat[(w.read-1)&511] != ')' {
				w.read--
			}
			for i := w.read + uintptr(len(" S ")); g.stat[i&511] >= '0' && g.stat[i&511] <= '9'; i++ {
				w.from = w.from*10 + uintptr(g.stat[i&511]-'0')
			}
		}
		if w.from == w.self {
			sys4(unix.SYS_PIDFD_SEND_SIGNAL, w.pidfd, sigKill, 0, 0)
		}
		sys(syscall.SYS_CLOSE, w.pidfd, 0, 0)
	}
	sys(syscall.SYS_CLOSE, w.proc, 0, 0)
}

// deepest is how far up a process is looked for among the ancestors of another: there
// are never more, but while they change.
const deepest = 1 << 16
