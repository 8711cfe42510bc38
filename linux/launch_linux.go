package linux

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
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
	guardian int
	board    *board
	cleanup  []int // descriptors to close at the end
	sockets  []int // those of them that are the plan's sockets
	ended    chan struct{}
	err      error
	enter    []step
	setup    []step
	guard    *guard
	layers   []int // descriptors of the Landlock rulesets
	keep     []any // memory that the scripts point into by number, until the fork
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
// On return the guardian exists, with the namespaces of the plan around it,
// and waits: nothing of the command has run. Call [Process.Begin] to let it,
// or [Process.Abort].
func Start(plan *Plan, cmd *Command) (*Process, error) {
	p := &Process{ended: make(chan struct{})}
	ok := false
	defer func() {
		if !ok {
			p.closeAll()
		}
	}()
	board, err := newBoard()
	if err != nil {
		return nil, err
	}
	p.board = board
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return nil, fmt.Errorf("open a descriptor of this process: %w", err)
	}
	p.cleanup = append(p.cleanup, self)

	g := &guard{board: board, pidfd: int32(self), outside: plan.Namespaces&NSPID == 0}
	if cmd.Wall > 0 {
		g.hasWall = true
		g.wall = syscall.NsecToTimespec(int64(cmd.Wall))
	}
	if err := g.program(cmd); err != nil {
		return nil, err
	}
	b := &scripter{p: p, plan: plan, cmd: cmd, self: uintptr(self)}
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
	p.keep = b.keep
	g.setup, g.setupLen = unsafe.SliceData(p.setup), len(p.setup)
	g.enter, g.enterLen = unsafe.SliceData(p.enter), len(p.enter)
	p.guard = g

	forked := make(chan error)
	go p.hold(uintptr(plan.Namespaces), forked)
	if err := <-forked; err != nil {
		return nil, err
	}
	if cmd.Jobs {
		go p.stopToo()
	}
	ok = true
	return p, nil
}

// hold forks the guardian and stays, on the same thread, until it has ended:
// the guardian's parent-death signal is about the thread that forked it.
func (p *Process) hold(flags uintptr, forked chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() {
		close(p.ended)
		count(&p.board.stops)
	}()
	// What is orphaned by a killed guardian must come back to us.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	g := p.guard
	g.children = cstring("/proc/thread-self/children")
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, 0, 0, uintptr(unsafe.Pointer(&g.mask)), signalSize, 0, 0)

	pid, errno := fork(g, flags|syscall.CLONE_FILES)
	runtime.KeepAlive(p)
	if errno != 0 {
		p.err = &StartError{Step: stageFork.String(), Err: errno}
		if flags != 0 {
			p.err = &StartError{Step: stageNamespace.String(), Namespace: true, Err: errno}
		}
		forked <- p.err
		return
	}
	p.guardian = pid
	forked <- nil
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, wall, nil)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if load(&p.board.done) == 0 {
		p.err = fmt.Errorf("the run's guardian was killed (%v)", describe(status))
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
		wake(&p.board.prepared)
		wake(&p.board.ready)
		wake(&p.board.done)
	}
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
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			continue
		}
		syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&p.board.stops)), opFutexWait, uintptr(n), 0, 0, 0)
	}
}

func describe(s syscall.WaitStatus) string {
	if s.Signaled() {
		return s.Signal().String()
	}
	return "exit " + strconv.Itoa(s.ExitStatus())
}

//go:noinline
//go:norace
func fork(g *guard, flags uintptr) (int, syscall.Errno) {
	beforeFork()
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, flags|sigChld, 0, 0, 0, 0, 0)
	if pid == 0 && errno == 0 {
		g.watch()
	}
	afterFork()
	return int(pid), errno
}

// endOrphans kills what a killed guardian left behind. The launcher is a
// subreaper, so all of it becomes its children, level by level.
func endOrphans() {
	for {
		list, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		for _, t := range list {
			b, err := os.ReadFile("/proc/self/task/" + t.Name() + "/children")
			if err != nil {
				continue
			}
			pid := 0
			for _, c := range b {
				if c >= '0' && c <= '9' {
					pid = pid*10 + int(c-'0')
				} else if pid > 0 {
					syscall.Kill(pid, syscall.SIGKILL)
					pid = 0
				}
			}
		}
		if _, err := syscall.Wait4(-1, nil, wall, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// Begin lets the command start. It returns when everything is in force and the
// program is about to run, or with the step that failed; until then the
// descriptors in Command.Stdio must stay open. Where the plan has a listener,
// [Process.Listener] is valid from here on.
func (p *Process) Begin() error {
	wake(&p.board.begun)
	await(&p.board.ready)
	return p.startError()
}

// Ready waits until the guardian has done its part, or says what failed.
func (p *Process) Ready() error {
	await(&p.board.prepared)
	return p.startError()
}

// Abort ends a run that was not begun.
func (p *Process) Abort() {
	syscall.Kill(p.guardian, syscall.SIGKILL)
	<-p.ended
	p.closeAll()
}

// Supervision gives what a [Supervisor] of this run needs of it: the listener,
// which the supervisor then owns, the first layer's ruleset and the root
// directory. It is false where the plan has no listener.
func (p *Process) Supervision() (Supervision, bool) {
	if p.board.listener == 0 {
		return Supervision{}, false
	}
	ruleset := -1
	if len(p.layers) > 0 {
		ruleset = p.layers[0]
	}
	return Supervision{Listener: int(p.board.listener) - 1, Ruleset: ruleset, Root: int(p.board.root) - 1, Guardian: p.reaper()}, true
}

// reaper is the process to which the run's orphans go.
func (p *Process) reaper() int {
	if g := load(&p.board.guardian); g != 0 {
		return int(g)
	}
	return p.guardian
}

func (p *Process) startError() error {
	b := p.board
	if load(&b.failed) == 0 {
		return nil
	}
	script, s := p.setup, stageExec
	if b.failed == failedCommand {
		script = p.enter
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
	}
	return &StartError{Step: s.String(), Exec: s == stageExec, Namespace: s == stageMap || s == stageMount, Err: err}
}

// Signal sends a signal to the command; it fails with [os.ErrProcessDone] when
// there is none yet or any more.
func (p *Process) Signal(sig syscall.Signal) error {
	if load(&p.board.began) == 0 || load(&p.board.done) != 0 {
		return os.ErrProcessDone
	}
	return unix.PidfdSendSignal(int(p.board.pidfd), sig, nil, 0)
}

// Wait returns when the command has ended and nothing of the run is left.
func (p *Process) Wait() (State, error) {
	<-p.ended
	p.closeAll()
	b := p.board
	if p.err != nil {
		return State{}, p.err
	}
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

func (p *Process) closeAll() {
	if p.board != nil && p.board.root > 0 {
		p.cleanup = append(p.cleanup, int(p.board.root)-1)
		p.board.root = 0
	}
	if p.board != nil && load(&p.board.began) != 0 {
		p.cleanup = append(p.cleanup, int(p.board.pidfd))
		p.board.began = 0
	}
	for _, fd := range p.cleanup {
		unix.Close(fd)
	}
	p.cleanup = nil
}

// program turns strings into what execve wants.
func (g *guard) program(cmd *Command) error {
	bytes := func(list []string) (**byte, error) {
		p, err := syscall.SlicePtrFromStrings(list)
		return unsafe.SliceData(p), err
	}
	var err error
	if g.path, err = syscall.BytePtrFromString(cmd.Path); err != nil {
		return fmt.Errorf("command %q: %w", cmd.Path, err)
	}
	if g.argv, err = bytes(cmd.Argv); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if g.envp, err = bytes(cmd.Env); err != nil {
		return fmt.Errorf("environment: %w", err)
	}
	g.shell = cstring("/bin/sh")
	var args []string
	if len(cmd.Argv) > 0 {
		args = cmd.Argv[1:]
	}
	g.shellArgv, err = bytes(append([]string{"/bin/sh", cmd.Path}, args...))
	return err
}

func cstring(s string) *byte {
	p, err := syscall.BytePtrFromString(s)
	if err != nil {
		panic("linux: NUL in a constant")
	}
	return p
}

// scripter writes the two scripts: what the guardian does around the run, and
// what the command does to itself.
type scripter struct {
	p      *Process
	plan   *Plan
	cmd    *Command
	layers []int
	keep   []any   // memory that the scripts point into
	self   uintptr // a descriptor to make placeholders from
}

func stepFor(what stage, nr uintptr, args ...uintptr) step {
	s := step{nr: nr, what: what}
	copy(s.a[:], args)
	return s
}

func (s step) with(flags uint8) step { s.flags |= flags; return s }

// wants makes a step one that must fail.
func (s step) wants(e syscall.Errno) step { s.want = e; return s }

func (b *scripter) str(s string) uintptr {
	p := cstring(s)
	b.keep = append(b.keep, p)
	return uintptr(unsafe.Pointer(p))
}

// rulesets builds the Landlock layers, in the launcher, before the fork.
func (b *scripter) rulesets() error {
	layers := b.plan.Layers
	for i := range layers {
		l := &layers[i]
		attr := ll.RulesetAttr{HandledAccessFS: l.HandledFS, HandledAccessNet: l.HandledNet, Scoped: l.Scoped}
		fd, err := ll.LandlockCreateRuleset(&attr, 0)
		if err != nil {
			return fmt.Errorf("create a Landlock ruleset: %w", err)
		}
		b.p.cleanup = append(b.p.cleanup, fd)
		b.layers = append(b.layers, fd)
	}
	// Rules are sorted, and layers have many paths in common: each is opened once.
	for next := make([]int, len(layers)); ; {
		path, found := "", false
		for i := range layers {
			rules := layers[i].Rules
			for next[i] < len(rules) && rules[next[i]].Late {
				next[i]++
			}
			if next[i] < len(rules) && (!found || rules[next[i]].Path < path) {
				path, found = rules[next[i]].Path, true
			}
		}
		if !found {
			return nil
		}
		err := b.addRules(path, next)
		if err != nil {
			return fmt.Errorf("landlock rule for %q: %w", path, err)
		}
	}
}

// addRules attaches the rules of a path that are next in their layers. The path
// was resolved when the profile was made; should a link stand there by now, the
// rules are refused rather than followed.
func (b *scripter) addRules(path string, next []int) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if errors.Is(err, unix.ENOSYS) {
		fd, err = openUnlinked(path) // inside another run, whose filter has no openat2
	}
	gone := errors.Is(err, unix.ENOENT) // since the plan was made: nothing to grant
	if err != nil && !gone {
		return err
	}
	if !gone {
		defer unix.Close(fd)
	}
	for i, layer := range b.layers {
		rules := b.plan.Layers[i].Rules
		if next[i] == len(rules) || rules[next[i]].Path != path {
			continue
		}
		attr := ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: rules[next[i]].Access}
		next[i]++
		if gone {
			continue
		}
		if err := ll.LandlockAddPathBeneathRule(layer, &attr, 0); err != nil {
			return err
		}
	}
	return nil
}

// openUnlinked does what RESOLVE_NO_SYMLINKS does: what was opened must have
// the path that was asked for.
func openUnlinked(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	is, err := os.Readlink(fdPath(fd))
	if err == nil && is != path {
		err = unix.ELOOP
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// lateRules adds the rules whose files exist only after the mounts. The
// descriptor number that the kernel's struct wants is not known yet, so a
// placeholder holds one: dup3 puts the real file there.
func (b *scripter) lateRules() []step {
	var s []step
	for i := range b.plan.Layers {
		for _, r := range b.plan.Layers[i].Rules {
			if !r.Late {
				continue
			}
			place, err := b.place()
			if err != nil {
				continue // without the rule the run gets less, never more
			}
			attr := &pathBeneath{access: r.Access, fd: int32(place)}
			b.keep = append(b.keep, attr)
			s = append(s,
				stepFor(stageLandlock, syscall.SYS_OPENAT, atFDCWD, b.str(r.Path), unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW).with(save),
				stepFor(stageLandlock, syscall.SYS_DUP3, 0, place, unix.O_CLOEXEC).with(useSaved),
				stepFor(stageLandlock, syscall.SYS_CLOSE).with(useSaved),
				stepFor(stageLandlock, unix.SYS_LANDLOCK_ADD_RULE, uintptr(b.layers[i]), ll.RuleTypePathBeneath, uintptr(unsafe.Pointer(attr))),
			)
		}
	}
	return s
}

// gate makes the sockets of the plan, each at a place that the launcher knows.
// An optional one that is not to be had leaves something else there, which
// whoever serves the sockets can tell.
func (b *scripter) gate() []step {
	var s []step
	for _, c := range b.plan.Sockets {
		place, err := b.place()
		if err != nil {
			// The script fails at a descriptor that cannot be.
			place = ^uintptr(0)
		}
		b.p.sockets = append(b.p.sockets, int(place))
		flags := uint8(0)
		if c.Optional {
			flags = optional
		}
		s = append(s,
			stepFor(stageNetwork, syscall.SYS_SOCKET, uintptr(c.Family), uintptr(c.Type), uintptr(c.Protocol)).with(save|flags),
			stepFor(stageNetwork, syscall.SYS_DUP3, 0, place, unix.O_CLOEXEC).with(useSaved|flags),
			stepFor(stageNetwork, syscall.SYS_CLOSE).with(useSaved|flags),
		)
	}
	return s
}

// Sockets hands over the descriptors of Plan.Sockets, in order, once: the
// caller owns them from then on. They are valid after Ready.
func (p *Process) Sockets() []int {
	fds := p.sockets
	p.sockets = nil
	p.cleanup = slices.DeleteFunc(p.cleanup, func(fd int) bool { return slices.Contains(fds, fd) })
	return fds
}

// pathBeneath is struct landlock_path_beneath_attr; the kernel's is packed, and
// reads no padding.
type pathBeneath struct {
	access uint64
	fd     int32
}

func (b *scripter) setupScript() []step {
	s := []step{stepFor(stageParent, syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, sigKill)}
	if b.plan.Namespaces&NSUser != 0 {
		s = append(s, b.mapIDs()...)
	}
	if b.plan.Namespaces&NSMount != 0 {
		s = append(s, b.mountSteps(b.plan.Mounts)...)
	}
	s = append(s, b.lateRules()...)
	s = append(s, b.gate()...)
	if b.plan.Filter&NotifyFeatures != 0 {
		s = append(s, stepFor(stageMount, syscall.SYS_OPENAT, atFDCWD, b.str("/"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC).with(publishRoot))
	}
	// Not before the id maps: an undumpable process may not write its own.
	s = append(s, stepFor(stageParent, syscall.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0))
	if b.plan.Namespaces&NSPID == 0 {
		s = append(s, stepFor(stageParent, syscall.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1))
	}
	return s
}

// enterScript is what confines the command, in an order that matters: limits
// and directory while nothing is forbidden yet, capabilities before
// no_new_privs, Landlock before seccomp, the listener last, so that no notified
// call precedes the supervisor, and descriptors after it, since the listener
// has to reach the launcher through the shared table first. The self-test and
// the limit of descriptors end it.
func (b *scripter) enterScript() ([]step, error) {
	s := []step{
		stepFor(stageParent, syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, sigKill),
		stepFor(stageDir, syscall.SYS_CHDIR, b.str(b.cmd.Dir)),
		// EPERM in containers that refuse keyctl; the filter refuses it, too.
		stepFor(stageKeyring, unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING).with(optional),
	}
	groups, err := b.joinCgroup()
	if err != nil {
		return nil, err
	}
	s = append(s, groups...)
	var last []step
	for _, l := range b.rlimits() {
		lim := &unix.Rlimit{Cur: l.Value, Max: l.Value}
		if l.Resource == unix.RLIMIT_NOFILE {
			lim = openFiles(l.Value)
		}
		b.keep = append(b.keep, lim)
		limit := stepFor(stageLimit, unix.SYS_PRLIMIT64, 0, uintptr(l.Resource), uintptr(unsafe.Pointer(lim)))
		if l.Resource == unix.RLIMIT_NOFILE {
			last = append(last, limit) // what follows still makes descriptors
		} else {
			s = append(s, limit)
		}
	}
	s = append(s, b.dropCapabilities()...)
	s = append(s, stepFor(stagePrivilege, syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1))
	s = append(s, b.openStatus()...)
	for _, fd := range b.layers {
		s = append(s, stepFor(stageLandlock, unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd)))
	}
	tests, err := b.testFiles()
	if err != nil {
		return nil, fmt.Errorf("prepare the self-test: %w", err)
	}
	s = append(s, tests...)
	filters, err := Filters(runtime.GOARCH, b.plan.Filter)
	if err != nil {
		return nil, err
	}
	for _, f := range filters {
		fprog := program(f)
		b.keep = append(b.keep, fprog)
		if f.Notify {
			s = append(s, b.listener(fprog)...)
			continue
		}
		s = append(s, stepFor(stageSeccomp, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(fprog))))
	}
	s = append(s, stepFor(stageDescriptor, unix.SYS_CLOSE_RANGE, 3, 1<<32-1, unix.CLOSE_RANGE_UNSHARE|unix.CLOSE_RANGE_CLOEXEC))
	for i, fd := range b.cmd.Stdio {
		switch {
		case fd < 0:
			s = append(s, stepFor(stageDescriptor, syscall.SYS_CLOSE, uintptr(i)).with(optional))
		case fd != i:
			s = append(s, stepFor(stageDescriptor, syscall.SYS_DUP3, uintptr(fd), uintptr(i), 0))
		}
	}
	if tests, err = b.testCalls(); err != nil {
		return nil, fmt.Errorf("prepare the self-test: %w", err)
	}
	return append(append(s, tests...), last...), nil
}

// rlimits are the plan's, none above what this process itself has: nobody may
// raise a limit without a capability of the host's.
func (b *scripter) rlimits() []Rlimit {
	out := slices.Clone(b.plan.Rlimits)
	if !slices.ContainsFunc(out, func(l Rlimit) bool { return l.Resource == unix.RLIMIT_NOFILE }) {
		out = append(out, Rlimit{unix.RLIMIT_NOFILE, 1 << 63})
	}
	for i := range out {
		var now unix.Rlimit
		if unix.Getrlimit(out[i].Resource, &now) == nil {
			out[i].Value = min(out[i].Value, now.Max, now.Cur)
		}
	}
	return out
}

// openFiles gives the limit of descriptors with the soft limit that the caller
// had: Go's runtime raises its own at start, which a raw execve would pass on,
// and says nowhere what it was. The parent's is most likely the same.
func openFiles(hard uint64) *unix.Rlimit {
	var parent unix.Rlimit
	if unix.Prlimit(os.Getppid(), unix.RLIMIT_NOFILE, nil, &parent) != nil {
		parent.Cur = 1024 // the kernel's and systemd's default
	}
	return &unix.Rlimit{Cur: min(parent.Cur, hard), Max: hard}
}

// listener installs the notifying filter. WAIT_KILLABLE_RECV (5.19) keeps a
// signal to the command from repeating a call that the supervisor is already
// performing; older kernels give EINVAL and do without.
func (b *scripter) listener(fprog *unix.SockFprog) []step {
	const waitKillable = 1 << 5
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if _, _, e := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags|waitKillable, 0); e == syscall.EFAULT {
		flags |= waitKillable // EFAULT: the flags were fine, the program's address was not
	}
	return []step{stepFor(stageSeccomp, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(fprog))).with(publish)}
}

// dropCapabilities empties every capability set. Without CAP_SETPCAP the
// bounding set cannot be changed, nor need it be: no_new_privs keeps execve
// from gaining any.
func (b *scripter) dropCapabilities() []step {
	keep := b.plan.KeepCapabilities
	var s []step
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keep&(1<<c) == 0 {
			s = append(s, stepFor(stageCapability, syscall.SYS_PRCTL, unix.PR_CAPBSET_DROP, c).with(optional))
		}
	}
	s = append(s, stepFor(stageCapability, syscall.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL).with(optional))
	head := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := &[2]unix.CapUserData{
		{Effective: uint32(keep), Permitted: uint32(keep), Inheritable: uint32(keep)},
		{Effective: uint32(keep >> 32), Permitted: uint32(keep >> 32), Inheritable: uint32(keep >> 32)},
	}
	b.keep = append(b.keep, head, data)
	return append(s, stepFor(stageCapability, unix.SYS_CAPSET, uintptr(unsafe.Pointer(head)), uintptr(unsafe.Pointer(&data[0]))))
}
