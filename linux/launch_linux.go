package linux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Command is what to start, once a Plan says how.
type Command struct {
	// Path is the executable; Argv its arguments, the program's name first.
	Path string
	Argv []string
	Env  []string
	// Dir is the working directory.
	Dir string
	// Stdio are the descriptors that become 0, 1 and 2; -1 leaves one closed.
	Stdio [3]int
	// Wall ends the run after this time; 0 is never. Time asleep counts.
	Wall time.Duration
	// Cgroup are the groups that the command joins; nil is none.
	Cgroup *Cgroup
	// Jobs says that a shell with job control watches this process, which is
	// then stopped when the command is.
	Jobs bool
	// Session has the run be in a session and a process group of its own, where no
	// terminal needs it in the caller's. The kernel sends SIGHUP to all of a group
	// of which it thinks that nobody is left to continue its stopped processes, and
	// a run could bring that about in the caller's.
	Session bool
	// Nice is the least nice value of the run, setpriority(2): 0 leaves the
	// caller's, 19 gives way to everything.
	Nice int
	// Nested has the command belong to a run that the supervisor around this
	// process answers for; nil is none.
	Nested *Nested
}

// A StartError says which step of confining or starting a command failed.
type StartError struct {
	// Step is what was being done: "restrict by Landlock".
	Step string
	// Exec says that everything was in force and only execve(2) failed.
	Exec bool
	// Namespace says that it was one of those that make namespaces and mounts.
	Namespace bool
	Err       error
}

func (e *StartError) Error() string { return "cannot " + e.Step + ": " + e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// Process is a started run.
type Process struct {
	guardian  int // valid once forked is closed
	handle    int // its pidfd, likewise; -1 if there is none any more
	board     *board
	cleanup   []int         // descriptors to close at the end
	sockets   []int         // those of them that are the plan's sockets
	forked    chan struct{} // the guardian is there, or err says why not
	ended     chan struct{}
	err       error
	enter     []step
	setup     []step
	guard     *guard
	layers    []int           // descriptors of the Landlock rulesets
	inherited map[uint64]bool // sockets that the command starts with
	inputs    []fileID        // [Begun.Inputs]
	streams   []int           // [Begun.Streams]
	session   bool            // Command.Session
	// interrupts is [Begun.Interrupts].
	interrupts bool
	tape       tape
}

// State is how a run ended.
type State struct {
	// Status is the command's.
	Status syscall.WaitStatus
	// TimedOut says that the wall clock ended it.
	TimedOut bool
	// Killed counts the processes that were still alive when the command
	// ended, and were ended too.
	Killed int
	// User and System are processor times of the whole tree; MaxResident is
	// the largest resident size of one process, in bytes.
	User, System time.Duration
	MaxResident  int64
}

// Start runs cmd under plan, with a guardian. The calling process must not be
// confined itself.
//
// On return the guardian is being made, with the namespaces of the plan around it
// ([Process.Ready]), and starts a process that confines itself and waits: nothing
// of the command has run. Call [Process.Begin] to let it, or [Process.Abort].
func Start(plan *Plan, cmd *Command) (*Process, error) {
	p := &Process{handle: -1, session: cmd.Session, forked: make(chan struct{}), ended: make(chan struct{})}
	ok := false
	defer func() {
		if !ok {
			p.closeAll()
		}
	}()
	if err := processShare().err; err != nil {
		return nil, &StartError{Step: stageFork.String(), Err: err}
	}
	board, err := newBoard()
	if err != nil {
		return nil, err
	}
	p.board = board
	if p.inherited, p.inputs, err = inherited(cmd.Stdio); err != nil {
		return nil, err
	}
	for _, fd := range cmd.Stdio {
		if fd >= 0 && fd <= 2 {
			p.streams = append(p.streams, fd)
		}
	}
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return nil, fmt.Errorf("open a descriptor of this process: %w", err)
	}
	p.cleanup = append(p.cleanup, self)

	g := put(&p.tape, guard{board: board, pidfd: int32(self), parent: int32(os.Getpid()), outside: plan.Namespaces&NSPID == 0, session: cmd.Session})
	if cmd.Wall > 0 {
		g.hasWall = true
		g.wall = syscall.NsecToTimespec(int64(cmd.Wall))
	}
	if err := g.program(&p.tape, cmd); err != nil {
		return nil, err
	}
	b := &scripter{p: p, plan: plan, cmd: cmd, self: uintptr(self), tape: &p.tape}
	if err := mountPoints(plan.Mounts); err != nil {
		return nil, err
	}
	if err := b.rulesets(); err != nil {
		return nil, err
	}
	p.layers = b.layers
	p.setup = b.setupScript()
	p.enter, err = b.enterScript()
	if err != nil {
		return nil, err
	}
	g.setup, g.setupLen = putAll(&p.tape, p.setup), len(p.setup)
	g.enter, g.enterLen = putAll(&p.tape, p.enter), len(p.enter)
	p.guard = g
	if p.tape.err != nil {
		return nil, p.tape.err
	}

	go p.hold(uintptr(plan.Namespaces))
	if err := b.rules(); err != nil {
		p.Abort()
		return nil, err
	}
	wake(&board.ruled)
	if cmd.Jobs {
		go p.stopToo()
	}
	ok = true
	return p, nil
}

// hold forks the guardian and stays, on the same thread, until it has ended:
// the guardian's parent-death signal is about the thread that forked it.
func (p *Process) hold(flags uintptr) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() {
		close(p.ended)
		count(&p.board.stops)
	}()
	// What is orphaned by a killed guardian must come back to us.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	g := p.guard
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, 0, 0, uintptr(unsafe.Pointer(&g.mask)), signalSize, 0, 0)

	var pid, handle int
	var errno syscall.Errno
	forks := func() {
		forking.Lock()
		defer forking.Unlock()
		pid, handle, errno = fork(g, &p.tape, flags|syscall.CLONE_FILES)
	}
	if flags&uintptr(NSUser) == 0 {
		forks()
	} else if err := processShare().within(forks); err != nil {
		errno = err.(syscall.Errno)
	}
	if errno != 0 {
		p.err = &StartError{Step: stageFork.String(), Err: forkError(errno)}
		if flags != 0 {
			p.err = &StartError{Step: stageNamespace.String(), Namespace: true, Err: forkError(errno)}
		}
		close(p.forked)
		p.lose()
		return
	}
	p.guardian, p.handle = pid, handle
	close(p.forked)
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, wall, nil)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if load(&p.board.done) == 0 {
		p.err = errors.New("the run's guardian was killed")
		if status.Signaled() { // the first of two ends by itself after the second
			p.err = fmt.Errorf("the run's guardian was killed (%v)", status.Signal())
		}
		if second := int(load(&p.board.guardian)); second != 0 {
			// It ends the tree, unless it was killed too; were it ended here,
			// nobody would be left if this process were killed as well.
			for {
				if _, err := syscall.Wait4(second, nil, wall, nil); !errors.Is(err, syscall.EINTR) {
					break
				}
			}
		}
		endOrphans()
		p.lose()
	}
}

// lose tells whoever waits for the guardian that there is none.
func (p *Process) lose() {
	store(&p.board.lost, 1)
	wake(&p.board.prepared)
	wake(&p.board.ready)
	wake(&p.board.done)
}

// stopToo stops this process whenever a signal has stopped the command, until
// the run has ended.
func (p *Process) stopToo() {
	for seen := uint32(0); ; {
		n := load(&p.board.stops)
		select {
		case <-p.ended:
			return
		default:
		}
		if n != seen {
			seen = n
			stopHere()
			// Who continues this process and no other means the command.
			if load(&p.board.stops) == seen && p.stopped() {
				p.Signal(syscall.SIGCONT)
			}
			continue
		}
		syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&p.board.stops)), opFutexWait, uintptr(n), 0, 0, 0)
	}
}

// stopHere stops this process and returns when it has been continued: a thread
// cannot leave a call by which it sends itself a signal before it has that.
func stopHere() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGSTOP)
}

// stopped says whether the command is.
func (p *Process) stopped() bool {
	pid, ok := number(unix.AT_FDCWD, "/proc/self/fdinfo/"+strconv.Itoa(int(p.board.pidfd)), "\nPid:\t")
	if !ok {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.FormatInt(pid, 10) + "/status")
	return err == nil && bytes.Contains(b, []byte("\nState:\tT "))
}

// forking is held by who forks: what stays behind is the whole process's setting.
var forking sync.Mutex

// fork makes the guardian, a copy of this process without its heap. On the stack,
// which is in the heap, it goes on, so that no assembly is needed.
//
//go:noinline
//go:nosplit
//go:norace
func fork(g *guard, t *tape, flags uintptr) (pid, handle int, errno syscall.Errno) {
	beforeFork() // from here on no signal interrupts, and the stack does not move
	var fd int32
	// What is left out lies on both sides of the stack, so that of the calls that
	// say so either may fail, for want of memory: then more is copied.
	stack := uintptr(unsafe.Pointer(&fd)) &^ (kernelPage - 1)
	heap := stack&^(arenaSize-1) - arenaSize
	below, above := stack-kernelPage, stack+2*kernelPage
	sys(syscall.SYS_MADVISE, heap, below-heap, unix.MADV_DONTFORK)
	sys(syscall.SYS_MADVISE, above, heap+3*arenaSize-above, unix.MADV_DONTFORK)
	t.bring(g.board) // wherever the kernel had put them
	// Its end continues this process, which a run has stopped that stops its command
	// and has no shell to continue it: the end of its time would be seen by nobody.
	n, errno := sys(syscall.SYS_CLONE, flags|unix.CLONE_PIDFD|sigCont, 0, uintptr(unsafe.Pointer(&fd)))
	if n == 0 && errno == 0 {
		g.watch()
	}
	sys(syscall.SYS_MADVISE, heap, 3*arenaSize, unix.MADV_DOFORK)
	afterFork()
	return int(n), int(fd), errno
}

// arenaSize is the size and alignment of the pieces in which Go has its heap, one
// after the other, on all 64 bit systems with Linux. Of a heap that has grown far
// beyond one more is copied, which costs time and nothing else.
const arenaSize = 64 << 20

var kernelPage = uintptr(os.Getpagesize())

// endOrphans kills what a killed guardian left behind. The launcher is a
// subreaper, so all of it becomes its children, level by level.
func endOrphans() {
	for {
		endBelow(os.Getpid())
		// Not for ever, as in the guardian's sweep.
		pid, err := syscall.Wait4(-1, nil, wall|wnohang, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
		if pid <= 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// Release lets the command start.
func (p *Process) Release() { wake(&p.board.begun) }

// Begin lets the command start, if [Process.Release] has not. It returns when
// everything is in force and the program is about to run, or with the step that
// failed; until then the descriptors in Command.Stdio must stay open.
func (p *Process) Begin() error {
	if load(&p.board.begun) == 0 {
		p.Release()
	}
	await(&p.board.ready)
	return p.startError()
}

// Ready waits until the guardian has set up what is around the command, or says
// what failed.
func (p *Process) Ready() error {
	await(&p.board.prepared)
	if load(&p.board.failed) == failedCommand {
		return nil // Begin tells
	}
	return p.startError()
}

// Abort ends a run that was not begun.
func (p *Process) Abort() {
	p.end()
	p.Close()
}

func (p *Process) end() {
	if <-p.forked; p.handle >= 0 {
		unix.PidfdSendSignal(p.handle, unix.SIGKILL, nil, 0)
	}
}

// Begun gives what a [Supervisor] of this run needs once [Process.Begin] has
// returned. It then owns the listener.
func (p *Process) Begun() Begun {
	b := Begun{Listener: int(p.board.listener) - 1, Ruleset: -1, Inherited: p.inherited, Inputs: p.inputs, Streams: p.streams, Root: int(p.board.root) - 1, Guardian: p.reaper(), Interrupts: p.interrupts}
	if len(p.layers) > 0 {
		b.Ruleset = p.layers[0]
	}
	return b
}

// reaper is the process to which the run's orphans go.
func (p *Process) reaper() int {
	if g := load(&p.board.guardian); g != 0 {
		return int(g)
	}
	<-p.forked
	return p.guardian
}

func (p *Process) startError() error {
	b := p.board
	if <-p.forked; p.guardian == 0 {
		return p.err
	}
	if load(&b.lost) != 0 {
		<-p.ended
		return p.err
	}
	if load(&b.failed) == 0 {
		return nil
	}
	script, s := p.setup, stageFork
	if b.failed == failedCommand {
		script, s = p.enter, stageExec
	}
	if int(b.step) < len(script) {
		s = script[b.step].what
	}
	var err error = syscall.Errno(b.errno)
	switch {
	case s >= stageSelfFile && s <= stageSelfFilters:
		err = errNotProven
	case b.errno == 0:
		err = errors.New("a call that must be refused succeeded")
	case s == stageLandlock:
		err = restrictError(err)
	case s == stageFork:
		err = forkError(err)
	}
	return &StartError{Step: s.String(), Exec: s == stageExec, Namespace: s == stageMap || s == stageMount, Err: err}
}

// forkError says in words what keeps processes from being made: the limit of
// their user, most often.
func forkError(err error) error {
	if share := processShare(); err == syscall.EAGAIN && share.limit != unix.RLIM_INFINITY {
		return fmt.Errorf("this user has %d processes and threads, or there is no room for more in a control group (RLIMIT_NPROC is %d, of which skillrun keeps %d)",
			share.limit, share.whole.Cur, share.whole.Cur-share.limit)
	}
	return err
}

// restrictError says in words what landlock_restrict_self(2) means.
func restrictError(err error) error {
	if err == syscall.E2BIG {
		return errors.New("there are 16 domains around this process already, and no kernel has more")
	}
	return err
}

// Signal sends a signal to the command; it fails with [os.ErrProcessDone] when
// there is none yet or any more.
func (p *Process) Signal(sig syscall.Signal) error {
	if load(&p.board.began) == 0 || load(&p.board.done) != 0 {
		return os.ErrProcessDone
	}
	return unix.PidfdSendSignal(int(p.board.pidfd), sig, nil, 0)
}

// SignalAll sends a signal to the command's process group, if that is the run's
// own, and else as [Process.Signal] does. The guardian, which leads the group,
// blocks all signals.
func (p *Process) SignalAll(sig syscall.Signal) error {
	if load(&p.board.began) == 0 || load(&p.board.done) != 0 {
		return os.ErrProcessDone
	}
	if p.session {
		return syscall.Kill(-p.reaper(), sig)
	}
	return p.Signal(sig)
}

// Kill ends the run. The end of the command alone would not: while another of the run
// traces it, that can keep it from its exit, and the guardian from its end.
func (p *Process) Kill() {
	if p.Signal(syscall.SIGKILL) == os.ErrProcessDone {
		return
	}
	store(&p.board.over, 1)
	if <-p.forked; p.handle >= 0 {
		unix.PidfdSendSignal(p.handle, syscall.SIGTERM, nil, 0)
	}
}

// Wait returns when the command has ended and nothing of the run is left but its
// guardian, which is about to end. [Process.Close] has to follow.
func (p *Process) Wait() (State, error) {
	b := p.board
	await(&b.done)
	if err := p.startError(); err != nil {
		return State{}, err
	}
	return State{
		Status:      syscall.WaitStatus(b.status),
		TimedOut:    b.cause == causeWall,
		Killed:      int(b.killed),
		User:        time.Duration(b.userMicros) * time.Microsecond,
		System:      time.Duration(b.systemMicros) * time.Microsecond,
		MaxResident: int64(b.maxResidentKiB) << 10,
	}, nil
}

// Sockets hands over the descriptors of Plan.Sockets, in order, once: the
// caller owns them from then on. They are valid after Ready.
func (p *Process) Sockets() []int {
	fds := p.sockets
	p.sockets = nil
	p.cleanup = slices.DeleteFunc(p.cleanup, func(fd int) bool { return slices.Contains(fds, fd) })
	return fds
}

// Close returns when the guardian is gone, too. A run that was not begun it ends.
func (p *Process) Close() {
	if load(&p.board.begun) == 0 {
		p.end()
	}
	<-p.ended
	p.closeAll()
}

func (p *Process) closeAll() {
	if p.board != nil && p.board.root > 0 {
		p.cleanup = append(p.cleanup, int(p.board.root)-1)
		p.board.root = 0
	}
	if p.board != nil && load(&p.board.began) != 0 {
		p.cleanup = append(p.cleanup, int(p.board.pidfd))
		store(&p.board.began, 0)
	}
	if p.handle >= 0 {
		p.cleanup = append(p.cleanup, p.handle)
		p.handle = -1
	}
	for _, fd := range p.cleanup {
		unix.Close(fd)
	}
	p.cleanup = nil
	p.tape.release()
}

// program turns strings into what execve wants.
func (g *guard) program(t *tape, cmd *Command) error {
	var err error
	if g.path, err = t.str(cmd.Path); err != nil {
		return fmt.Errorf("command %q: %w", cmd.Path, err)
	}
	if g.argv, err = t.strs(cmd.Argv); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if g.envp, err = t.strs(cmd.Env); err != nil {
		return fmt.Errorf("environment: %w", err)
	}
	g.shell, _ = t.str("/bin/sh")
	g.children, _ = t.str("/proc/thread-self/children")
	if numbersAreOurs() {
		g.procPath, _ = t.str("/proc")
	}
	var args []string
	if len(cmd.Argv) > 0 {
		args = cmd.Argv[1:]
	}
	g.shellArgv, err = t.strs(append([]string{"/bin/sh", cmd.Path}, args...))
	return err
}

func cstring(s string) *byte {
	p, err := syscall.BytePtrFromString(s)
	if err != nil {
		panic("linux: NUL in a constant")
	}
	return p
}
