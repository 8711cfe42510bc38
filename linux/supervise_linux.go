package linux

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// Supervision is what a launcher hands over for one run. The launcher starts
// the command with two Landlock layers, the second of which lacks every right
// that is mediated, and with a filter that notifies the calls of [calls].
type Supervision struct {
	// Run is the run's name, for the records of runs inside it.
	Run string
	// Filter is what the run's filter notifies.
	Filter  FilterFeatures
	Profile *profiles.Profile
	// Own are directories that are the run's alone, as it sees them: its
	// private HOME, TMPDIR, and a private /tmp where it has one.
	Own []string
	// Home is that of them in which links stand for what the user granted of
	// theirs: a directory is made where one leads.
	Home string
	// Apart is one of them that outlives the run, "" for none: nothing is moved or
	// linked into it or out of it.
	Apart string
	// Redirects move what the run may not have to a directory of its own,
	// where it has no mounts of its own.
	Redirects []Redirect
	// Empty are files that read as empty.
	Empty []string
	// PassReads says that opens to read that no Redirect moves are not decided
	// here: the caller's layers hold them, as they would if nobody was notified.
	PassReads bool
	// WatchReads says that they are looked at all the same, so that Verdict hears
	// of those that are refused.
	WatchReads bool
	// MountPoints are directories of the run's own that its view has at their
	// places, beneath Private.
	MountPoints []string
	// Masks says that its view has other files in the place of some.
	Masks bool
	// Private are directories in whose place the run's view has others of its
	// own, so that a path beneath one means something else outside.
	Private []string
	// Denied are files whose contents a denial guards and that were there at
	// the start: no other name for one of them opens it.
	Denied []string
	// Hidden are the denied names that were there at the start, sorted: no
	// directory that holds one is moved.
	Hidden []string
	// Starts are the files and directories in which programs may be started,
	// where one of Hidden keeps them from being so everywhere; else nil.
	Starts []string
	// Capabilities that the command keeps; the Supervisor's threads keep no
	// more than these.
	Capabilities uint64
	// KeepSockets keeps copies of sockets even where pidfd_getfd would fetch
	// them, as in containers that refuse it.
	KeepSockets bool
	// OwnNetwork says that the run has a network namespace of its own: no
	// socket may then be made here, outside of it, so that pidfd_getfd is needed.
	OwnNetwork bool
	// Meets is asked, with OwnNetwork, whether a stream or datagrams to dst meet
	// a gate that takes them at once, and may open it there; or with which error
	// the call fails. nil stands for never.
	Meets func(dst netip.AddrPort, proto profiles.Protocol) (bool, unix.Errno)
	// Missed is told of a stream to dst that nobody in that network took. It is
	// called from the Supervisor's threads and must not block. It may be nil.
	Missed func(dst netip.AddrPort)
	// Egress rules on the run's internet sockets; nil where that is not this
	// Supervisor's.
	Egress *Egress
	// OwnProcesses says that the run has a PID namespace of its own: no number
	// of a process in it is that of one outside.
	OwnProcesses bool
	// Scoped says that Landlock lets the run's signals reach nobody else.
	Scoped bool
	// Umask is the launcher's.
	Umask uint32
	// Verdict is called for each refusal, from the Supervisor's threads, one
	// call at a time. It must not block. It may be nil.
	Verdict func(Refusal)
	// Nested is called for each run that is started inside this one, before its
	// command is, from one of the Supervisor's threads. It must not block. It may
	// be nil.
	Nested func(Inner)
}

// Inner is a run inside the Supervisor's.
type Inner struct {
	// Run is the name that its launcher gave it, which is a program of the run
	// and may give any: 12 letters and digits.
	Run string
	// Around is the name of the run that it was started in: the Supervisor's own,
	// or that of another Inner.
	Around string
	// Depth is how many runs it is in, from 1.
	Depth int
}

// Begun is what a run that has begun hands over.
type Begun struct {
	// Listener is the filter's listener. The Supervisor owns it from then on.
	Listener int
	// Ruleset is the first of the command's two Landlock layers, with which
	// performing threads restrict themselves. It may be closed once Serve has
	// returned. -1 stands for none and is for tests alone.
	Ruleset int
	// Inherited are the inode numbers of sockets that were made outside and
	// that the command starts with: they get no other address.
	Inherited map[uint64]bool
	// Inputs are pipes and the like that the command starts with and may only read,
	// by whatever path.
	Inputs []fileID
	// Streams are those of the caller's standard streams that the command has itself,
	// and no pipe in their place: 0 to 2.
	Streams []int
	// Process is a process of the run whose root directory is that of all of
	// it (the filter refuses chroot and its kin), seen from here.
	Process int
	// Root is that directory, an O_PATH descriptor, where the launcher has one;
	// Process is not looked at then.
	Root int
	// Guardian is the process to which orphans of the run go; 0 if none. Only
	// signals ask for it.
	Guardian int
	// Interrupts says that signals interrupt a caller that waits for its answer
	// (before Linux 5.19), who then fails or asks again.
	Interrupts bool
}

// Redirect serves names beneath From, where the Profile grants nothing, from
// the directory To.
type Redirect struct{ From, To string }

// Refusal is a call that the Supervisor did not perform.
type Refusal struct {
	Process int    // thread that called, seen from here
	Call    string // its name, such as "openat"
	// Path is the resolved path, or a socket's path or "@name".
	Path    string
	Access  profiles.Access // zero for sockets, signals and modes
	Verdict profiles.Verdict
	Why     string // what no rule of the Profile says
	Errno   unix.Errno
	Made    bool   // of a program: the run made it
	Within  string // in which directory that was there before; "" for the run's own
	Inner   bool   // the profile of a run inside this one refused
}

// Supervisor serves one run's notified calls until the run has ended.
type Supervisor struct {
	listener  int
	wake      int          // eventfd: a quick thread could not finish a call
	bell      *os.File     // the same
	state     atomic.Int32 // of the resolving thread
	left      bool         // the resolving thread was not waited for
	stuck     bool         // it was, and did not come back
	root      int          // the run's root directory, O_PATH
	proc      int          // /proc, as the launcher sees it
	self      int          // /proc/self/fd
	runsProc  uint64       // device of the /proc that the run sees, 0 if none
	config    Supervision
	run       Begun
	begun     chan int // the listener, for the resolving thread
	table     map[uintptr]*call
	decider   *decider
	deciders  deciders // it alone
	denied    deniedFiles
	hidden    map[fileID]bool   // see findHidden
	starts    map[string]fileID // of Supervision.Starts
	tasks     tasks
	recent    recent
	view      map[uint64]bool // mounts of the run's view, those of Private among them
	ownCwd    bool            // the resolving thread has a working directory of its own
	perform   *performers
	share     share
	acting    atomic.Int32 // threads of all performers
	placed    uint32       // whether the run places its threads itself: see near
	receiving atomic.Int32 // calls that wait for a datagram
	held      atomic.Int64 // bytes of requests that are not answered
	turns     turns
	late      atomic.Bool // calls that change names were not waited for
	nested    nested
	kept      kept
	copies    sockets
	terminals terminals
	onTTY     bool                   // stdin, stdout or stderr is the terminal that controls it
	moved     atomic.Pointer[string] // see Moved
	unstarted atomic.Pointer[string] // see Unstarted
	passed    map[string]bool        // paths that WatchReads found allowed
	inet      *inet                  // nil without Egress
	verdicts  sync.Mutex
	done      chan struct{}
	closing   sync.Once
	err       error
}

// NewSupervisor gets ready to serve a run that is about to begin, so that this
// is done beside its beginning. [Supervisor.Serve] or [Supervisor.Close] follows.
//
// Its resolving thread is outside Landlock, since a restricted thread may
// neither read the command's memory nor look through its /proc; it opens
// nothing but O_PATH descriptors, which give no access, and what such a thread
// could not open for the command although the command could. Its performing
// threads act on these, restricted as the command is by the first layer.
func NewSupervisor(c Supervision) (*Supervisor, error) {
	s := &Supervisor{listener: -1, root: -1, config: c, begun: make(chan int, 1), done: make(chan struct{}), decider: newDecider(c.Profile, c.Own, c.Apart, c.Hidden, c.Umask)}
	s.onTTY = onTerminal()
	started := make(chan error, 1)
	go s.serve(started)
	s.deciders = deciders{s.decider}
	s.table = make(map[uintptr]*call)
	list := calls()
	for i := range list {
		s.table[list[i].nr] = &list[i]
	}
	var err error
	s.proc, err = openPlace("/proc")
	if err == nil {
		s.self, err = openPlace("/proc/self/fd")
	}
	var fault error
	if s.wake, fault = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); fault != nil && err == nil {
		err = fmt.Errorf("cannot make an eventfd for the supervisor: %w", fault)
	}
	s.bell = os.NewFile(uintptr(s.wake), "eventfd")
	if err == nil {
		err = s.findDenied()
	}
	s.findStarts()
	if s.share = processShare(); s.share.err != nil && err == nil {
		err = s.share.err
	}
	s.copies.probe(c.KeepSockets)
	if c.OwnNetwork && !s.copies.getfd && err == nil {
		err = errors.New("cannot supervise sockets of another network namespace without pidfd_getfd")
	}
	s.kept.limit()
	if c.Egress != nil && err == nil {
		s.inet, err = newInet(s, c.Egress, &c.Profile.Network)
	}
	if e := <-started; e != nil && err == nil {
		err = e
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Serve begins to serve. The Supervisor owns the listener from then on. After
// an error it is closed.
func (s *Supervisor) Serve(run Begun) error {
	s.run, s.listener = run, run.Listener
	if run.Interrupts {
		s.placed = 1
	}
	root := "/proc/" + strconv.Itoa(run.Process) + "/root"
	if run.Root > 0 {
		root = "/proc/self/fd/" + strconv.Itoa(run.Root)
	}
	for _, id := range run.Inputs {
		s.denied[id] |= profiles.Write
	}
	var err error
	if s.root, err = openPlace(root); err == nil {
		err = s.findView()
	}
	s.findHidden()
	if err == nil {
		s.perform, err = newPerformers(s, run.Ruleset)
	}
	if err != nil {
		s.Close()
		return err
	}
	var proc unix.Stat_t
	if unix.Fstatat(s.root, "proc", &proc, unix.AT_SYMLINK_NOFOLLOW) == nil {
		s.runsProc = proc.Dev
	}
	// The answer comes back on the processor that asked: 4 us instead of 40.
	// Kernels before 6.6 do not know it.
	unix.Syscall(unix.SYS_IOCTL, uintptr(s.listener), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	s.begun <- s.listener
	go func() {
		for count := make([]byte, 8); ; s.collect() {
			if _, err := s.bell.Read(count); err != nil {
				return
			}
		}
	}()
	return nil
}

func openPlace(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("cannot open %s for the supervisor: %w", path, err)
	}
	return fd, nil
}

func (s *Supervisor) release() {
	s.terminals.close()
	if s.left {
		// The number stays taken, by something else, for the resolving thread.
		unix.Dup3(s.self, s.listener, unix.O_CLOEXEC)
	} else {
		unix.Close(s.listener)
	}
	s.bell.Close()
	for _, fd := range [...]int{s.root, s.proc, s.self} {
		if fd > 0 {
			unix.Close(fd)
		}
	}
}

// deniedFiles are files whose contents denials guard, by whatever name they are
// called, and what is denied of them: of a secret that the user granted to read
// that is everything else.
type deniedFiles map[fileID]profiles.Access

func (d deniedFiles) add(id fileID, by *decider, path string) {
	d[id] |= by.denied(path)
}

// findDenied notes the denied files that exist.
func (s *Supervisor) findDenied() error {
	s.denied = deniedFiles{}
	for _, path := range s.config.Denied {
		var st unix.Stat_t
		switch err := unix.Stat(path, &st); {
		case err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR:
			s.denied.add(fileID{st.Dev, st.Ino}, s.decider, path)
		case err != nil && err != unix.ENOENT && err != unix.EACCES:
			return fmt.Errorf("cannot look at denied file %s: %w", path, err)
		}
	}
	return nil
}

// Close ends the service: from then on notified calls fail with ENOSYS. What
// atomic saves replaced is let go. Without an error nothing changes names for the
// run any more.
func (s *Supervisor) Close() error {
	s.closing.Do(func() {
		close(s.begun)
		// Nothing wakes a thread that waits for a notification but the next one
		// or, from Linux 6.11 on, the end of the run. It waits by itself all the
		// same, without a look at anything else: that is 1 us of every call.
		if s.left = s.state.Swap(resolverLeft) == resolverWaits; !s.left {
			select {
			case <-s.done:
			case <-time.After(resolverPatience):
				s.stuck = true
			}
		}
		if s.perform != nil {
			s.perform.close()
		}
		if s.stuck {
			return // what it has in its hands ends with this process
		}
		s.nested.release()
		s.kept.release()
		s.copies.release()
		s.inet.release()
		s.tasks.release()
		s.release()
		if s.left {
			close(s.done)
		}
	})
	switch {
	case s.stuck:
		return errStuck
	case s.late.Load():
		return errLate
	}
	return s.err
}

// ControlsMade lists control files that exceptions let the run make, directories
// for what is in them, sorted: programs outside obey them. Each is listed by every
// name that it may have had. It stops at some and says how many more there may be.
func (s *Supervisor) ControlsMade() (list []string, more int) {
	return s.decider.ledger.controls()
}

// The kernel's structures, include/uapi/linux/seccomp.h.
type (
	notification struct {
		id    uint64
		pid   uint32
		flags uint32
		nr    int32
		arch  uint32
		ip    uint64
		args  [6]uint64
	}
	response struct {
		id    uint64
		val   int64
		err   int32
		flags uint32
	}
	injection struct {
		id         uint64
		flags      uint32
		srcfd      uint32
		newfd      uint32
		newfdFlags uint32
	}
)

// listen makes a request of the listener, without entering the scheduler:
// for those that do not block.
func listen(fd int, req uintptr, arg unsafe.Pointer) unix.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), req, uintptr(arg))
	return e
}

// States of the resolving thread. It changes between working and waiting for a
// notification; Close makes either resolverLeft, after which it does nothing.
const (
	resolverWorks int32 = iota
	resolverWaits
	resolverLeft
)

// resolverPatience is how long Close waits for a call that is being looked at.
const resolverPatience = 2 * time.Second

// errStuck says that the resolving thread waits for a file system that does not
// answer, such as a network's.
var errStuck = errors.New("the supervisor's resolving thread does not come back")

// errLate says that calls for the run may still be made.
var errLate = errors.New("the supervisor's performing threads are still at work")

// serve is the resolving thread.
func (s *Supervisor) serve(started chan<- error) {
	runtime.LockOSThread() // and never unlocked: the thread ends with its rights
	blockSignals()
	shortTurns()
	s.ownCwd = unix.Unshare(unix.CLONE_FS) == nil // Docker refuses it
	// A root launcher must not look through directories that the command,
	// without capabilities, could not enter.
	if err := dropCapabilities(s.config.Capabilities); err != nil {
		close(s.done)
		started <- fmt.Errorf("cannot drop the supervisor's capabilities: %w", err)
		return
	}
	started <- nil
	listener, ok := <-s.begun
	if !ok {
		close(s.done)
		return
	}
	for s.state.CompareAndSwap(resolverWorks, resolverWaits) {
		var n notification // must be zero, or it fails with EINVAL
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
		if !s.state.CompareAndSwap(resolverWaits, resolverWorks) {
			<-s.done
			unix.Close(listener)
			return
		}
		if e == 0 {
			s.collect()
			s.dispatch(&n)
			continue
		}
		// The caller died or was interrupted before we looked; or all are gone.
		p := []unix.PollFd{{Fd: int32(listener)}}
		if _, err := unix.Poll(p, 0); p[0].Revents != 0 || err != nil && err != unix.EINTR {
			break
		}
		if e != unix.ENOENT && e != unix.EINTR {
			s.err = fmt.Errorf("cannot wait for notifications: %w", e)
			break
		}
	}
	close(s.done)
}

// dispatch serves one notification. Whatever goes wrong ends in an error for the
// caller, and never in "continue", but for an open that is only watched: what holds
// that are the caller's layers.
func (s *Supervisor) dispatch(n *notification) {
	r := &request{s: s, id: n.id, tid: int(n.pid), args: n.args, fd: -1, deciders: s.deciders, performers: s.perform}
	r.call = s.table[uintptr(n.nr)]
	if r.call == nil {
		r.fail(unix.ENOSYS)
		return
	}
	var err error
	if r.task, err = s.tasks.get(s, r.tid); err != nil {
		r.fail(unix.ESRCH)
		return
	}
	if len(s.nested.runs) > 0 && !r.enter() {
		r.fail(unix.EACCES)
		return
	}
	r.call.serve(r)
}

// request is one notified call on its way from the resolving thread to a
// performing one. Exactly one of fail, refuse, succeed, resume and perform
// ends it on the resolving thread.
type request struct {
	s    *Supervisor
	call *call
	id   uint64
	tid  int
	args [6]uint64
	task *task

	inner    *inner // the run inside this one that the caller belongs to, if any
	deciders deciders
	files    []deniedFiles // inner's denied ones
	// performers may act for the caller. They outlast inner, which may be over
	// while they do.
	performers *performers

	a, b    object // what the paths lead to
	flags   int
	jumped  bool   // a magic link of /proc was followed
	through fileID // what it led to, where it is one of the caller's open files
	watch   string // the path of an open that is the caller's if it is allowed
	mode    uint32
	text    string // link target, attribute name
	value   []byte // attribute value
	held    int64  // what it takes of Supervisor.held
	times   [2]unix.Timespec
	how     int   // flags to open with
	fd      int   // to be injected
	val     int64 // result where it is no descriptor
	act     func(*request) unix.Errno
	going   [2]going // what it may remove, until that is settled
	turns   bool     // others may wait for it, until then
}

// going is a name, and the directory that has it.
type going struct {
	place place
	dir   dirID
}

// removes says what the call may remove.
func (r *request) removes(list ...going) {
	copy(r.going[:], list)
	for _, g := range list {
		for _, d := range r.deciders {
			d.ledger.leaves(g.place, g.dir)
		}
	}
}

// settle says that what the call has done is noted.
func (r *request) settle() {
	r.s.held.Add(-r.held)
	r.held = 0
	for _, g := range r.going {
		if g == (going{}) {
			continue
		}
		for _, d := range r.deciders {
			d.ledger.stays(g.place, g.dir)
		}
	}
	r.going = [2]going{}
	if r.turns {
		r.s.turns.leave(r)
	}
}

// heldMost bounds what is kept of callers' data, which no limit of the run counts:
// each of its threads may have a call that waits for its turn.
const heldMost = 64 << 20

// hold makes r.value, of the caller's data.
func (r *request) hold(at, size uint64, full unix.Errno) unix.Errno {
	if r.s.held.Add(int64(size)) > heldMost {
		r.s.held.Add(-int64(size))
		return full
	}
	r.held = int64(size)
	r.value = make([]byte, size)
	return r.read(at, r.value)
}

// arg is an argument of the call, 0 if the call has none such.
func (r *request) arg(a argument) uint64 {
	if a == 0 {
		return 0
	}
	return r.args[a-1]
}

// dirfd is the descriptor of a directory, an int in the kernel.
func (r *request) dirfd(a argument) int {
	if a == 0 {
		return unix.AT_FDCWD
	}
	return int(int32(r.arg(a)))
}

// valid says whether the caller still waits for this answer. What was read
// from its memory and /proc before is then its own and nobody's who got its
// number since.
func (r *request) valid() bool {
	return listen(r.s.listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&r.id)) == 0
}

func (r *request) reply(val int64, e unix.Errno, flags uint32) {
	r.settle()
	if r.a.parent < 0 {
		// Before the caller closes its own: a socket of which somebody else has a copy
		// keeps its port, and its other end from seeing it closed.
		r.a.close()
	}
	resp := response{id: r.id, val: val, err: -int32(e), flags: flags}
	if e != 0 {
		resp.val = 0
	}
	// ENOENT: the caller is gone, and with it the question.
	listen(r.s.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&resp))
	r.a.close()
	r.b.close()
}

func (r *request) fail(e unix.Errno)  { r.reply(0, e, 0) }
func (r *request) succeed(val int64)  { r.reply(val, 0, 0) }
func (r *request) resume()            { r.reply(0, 0, unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE) }
func (r *request) refuse(rule ruling) { r.report(rule); r.fail(unix.Errno(rule.errno)) }

func (r *request) report(rule ruling) {
	if r.s.config.Verdict == nil || rule.unsaid {
		return
	}
	r.s.verdicts.Lock()
	defer r.s.verdicts.Unlock()
	r.s.config.Verdict(Refusal{Process: r.tid, Call: r.call.name, Path: rule.path, Access: rule.access, Verdict: rule.verdict, Why: rule.why, Errno: unix.Errno(rule.errno), Made: rule.made, Within: rule.within, Inner: rule.inner})
}

// perform hands the request to a performing thread, which calls act and
// replies.
func (r *request) perform(act func(*request) unix.Errno) {
	if !r.valid() {
		r.fail(unix.EINTR) // nobody hears it; this closes what was opened
		return
	}
	r.act = act
	r.performers.hand(r)
}

// finish runs on the performing thread.
func (r *request) finish() {
	e := r.act(r)
	if e == 0 && r.fd >= 0 {
		r.inject()
		return
	}
	r.reply(r.val, e, 0)
}

// inject puts the descriptor that was opened into the caller's table and
// replies with its number. ADDFD and SEND apart: together (FLAG_SEND) an
// interrupted ioctl restarts after its answer was given, and breaks the call.
func (r *request) inject() {
	n, e := r.give(r.fd)
	unix.Close(r.fd)
	r.reply(n, e, 0)
}

// give puts a descriptor into the caller's table and tells its number there.
func (r *request) give(fd int) (int64, unix.Errno) {
	in := injection{id: r.id, srcfd: uint32(fd), newfdFlags: uint32(r.flags & unix.O_CLOEXEC)}
	n, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(r.s.listener), unix.SECCOMP_IOCTL_NOTIF_ADDFD, uintptr(unsafe.Pointer(&in)))
	return int64(n), e
}

// blockSignals keeps the Go runtime's preemption signal, and every other, off
// this thread: an interrupted ADDFD is a lost descriptor.
func blockSignals() {
	all := ^uint64(0)
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), 0, unsafe.Sizeof(all), 0, 0)
}

// shortTurns asks the kernel for shorter turns of this thread, and so for
// sooner ones: a caller waits for it, and it never works for long. From Linux
// 6.12 on; before, nothing comes of it.
func shortTurns() {
	const turn = 100_000 // nanoseconds, the shortest
	if a, err := unix.SchedGetAttr(0, 0); err == nil && a.Policy == unix.SCHED_NORMAL {
		a.Runtime = turn
		unix.SchedSetAttr(0, a, 0)
	}
}

// dropCapabilities leaves this thread those of keep that it has.
func dropCapabilities(keep uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	for i := range data {
		k := uint32(keep >> (32 * i))
		data[i].Permitted &= k
		data[i].Effective = data[i].Permitted
		data[i].Inheritable = 0
	}
	return unix.Capset(&header, &data[0])
}

// fdPath is a path by which this process reaches what fd refers to.
func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Moved gives the From of the first Redirect in which the run has made something,
// "" if it has not.
func (s *Supervisor) Moved() string {
	if from := s.moved.Load(); from != nil {
		return *from
	}
	return ""
}

// Unstarted gives the last program that the kernel did not start although the
// profile lets it, since it came beside a hidden name, and that name.
func (s *Supervisor) Unstarted() (program, hidden string) {
	p := s.unstarted.Load()
	if p == nil {
		return "", ""
	}
	for dir := path.Dir(*p); ; dir = path.Dir(dir) {
		for _, h := range s.config.Hidden {
			if profiles.Within(dir, h) {
				return *p, h
			}
		}
		if dir == "/" {
			return "", ""
		}
	}
}
