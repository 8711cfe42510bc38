package linux

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// performers are the threads that act for the run, each restricted by the
// first of the command's Landlock layers and with no more capabilities: what
// the command could not have done, they cannot do for it.
type performers struct {
	s        *Supervisor
	rulesets []int // descriptors, in the order in which they bind

	collecting sync.Mutex // before mu
	quick      []*quick

	mu     sync.Mutex
	idle   []*performer
	queue  []*request // waits because all are busy
	count  int
	closed bool
}

// performersMost bounds the threads, where the user's limit of processes does
// not; a run that keeps this many calls blocked waits for itself.
const performersMost = 512

// performer is one thread. The resolving thread leaves a request in next and
// sets state; a futex wakes the thread if it has gone to sleep.
type performer struct {
	state   uint32
	next    *request
	tid     int
	cpu     int         // the only processor it runs on, -1 for all
	here    unix.CPUSet // that one
	started chan error
}

const (
	performerIdle = iota
	performerSleeps
	performerHasWork
	performerEnds
)

// newPerformers is for the threads of a run, of which none is there before it is
// needed. It copies the rulesets that bind them; -1 stands for none.
func newPerformers(s *Supervisor, rulesets ...int) (*performers, error) {
	p := &performers{s: s}
	for _, ruleset := range rulesets {
		if ruleset < 0 {
			continue
		}
		fd, err := unix.FcntlInt(uintptr(ruleset), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			p.close()
			return nil, fmt.Errorf("cannot keep the Landlock ruleset: %w", err)
		}
		p.rulesets = append(p.rulesets, fd)
	}
	return p, nil
}

func (p *performers) start() (*performer, error) {
	w := &performer{cpu: -1, started: make(chan error)}
	go p.run(w)
	if err := <-w.started; err != nil {
		return nil, err
	}
	p.count++
	p.s.acting.Add(1)
	return w, nil
}

// hand gives a request to an idle thread, starts one, or queues it.
func (p *performers) hand(r *request) {
	p.mu.Lock()
	if p.closed { // a thread that starts now would be bound by nothing
		p.mu.Unlock()
		r.fail(unix.EACCES)
		return
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		w.wake(r)
		return
	}
	if p.s.acting.Load() < p.s.share.threads {
		if w, err := p.start(); err == nil {
			p.mu.Unlock()
			w.wake(r)
			return
		}
	}
	some := p.count > 0
	if some {
		p.queue = append(p.queue, r)
	}
	p.mu.Unlock()
	if !some {
		r.fail(unix.EAGAIN) // no thread can be had, and none will come
	}
}

func (w *performer) wake(r *request) {
	w.next = r
	w.follow()
	if atomic.SwapUint32(&w.state, performerHasWork) == performerSleeps {
		futexWake(&w.state)
	}
}

// follow keeps the thread on the processor that the resolving thread is on,
// which is the caller's: waking one that sleeps on another costs more than
// the whole call. Where that is refused it only costs time.
func (w *performer) follow() {
	var cpu uint32
	if _, _, e := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); e != 0 || int(cpu) == w.cpu {
		return
	}
	var set unix.CPUSet
	set.Set(int(cpu))
	if unix.SchedSetaffinity(w.tid, &set) == nil {
		w.cpu, w.here = int(cpu), set
	}
}

// take returns the next request, nil when there is none and the thread is
// idle.
func (p *performers) take(w *performer) *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 {
		r := p.queue[0]
		p.queue = p.queue[1:]
		return r
	}
	atomic.StoreUint32(&w.state, performerIdle)
	if p.closed {
		atomic.StoreUint32(&w.state, performerEnds)
	}
	p.idle = append(p.idle, w)
	return nil
}

func (p *performers) close() {
	if !p.settled() {
		p.s.late.Store(true)
	}
	p.collecting.Lock()
	defer p.collecting.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.s.acting.Add(-int32(p.count + len(p.quick)))
	for _, q := range p.quick {
		q.end()
	}
	for _, w := range p.idle {
		if atomic.SwapUint32(&w.state, performerEnds) == performerSleeps {
			futexWake(&w.state)
		}
	}
	for _, fd := range p.rulesets {
		unix.Close(fd)
	}
	p.rulesets = nil
}

func (p *performers) run(w *performer) {
	runtime.LockOSThread() // and never unlocked: the thread ends with its rights
	blockSignals()
	shortTurns()
	w.tid = unix.Gettid()
	w.started <- p.restrict()
	for {
		for atomic.LoadUint32(&w.state) == performerIdle {
			if atomic.CompareAndSwapUint32(&w.state, performerIdle, performerSleeps) {
				for atomic.LoadUint32(&w.state) == performerSleeps {
					futexWait(&w.state, performerSleeps)
				}
			}
		}
		if atomic.LoadUint32(&w.state) == performerEnds {
			return
		}
		r := w.next
		w.next = nil
		for r != nil {
			r.finish()
			r = p.take(w)
		}
	}
}

// restrict gives the thread the command's rights. Its umask is zero, since the
// caller's is applied to the modes; where the kernel refuses a thread a file
// system context of its own (Docker), the whole process's is.
func (p *performers) restrict() error {
	unix.Unshare(unix.CLONE_FS)
	unix.Umask(0)
	if err := dropCapabilities(p.s.config.Capabilities); err != nil {
		return fmt.Errorf("cannot drop a performing thread's capabilities: %w", err)
	}
	if len(p.rulesets) == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot set no_new_privs on a performing thread: %w", err)
	}
	for _, fd := range p.rulesets {
		if err := ll.LandlockRestrictSelf(fd, 0); err != nil {
			return &StartError{Step: stageLandlock.String(), Err: restrictError(err)}
		}
	}
	return nil
}

func futexWake(a *uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(a)), futexWakePrivate, 1, 0, 0, 0)
}

func futexWait(a *uint32, is uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(a)), futexWaitPrivate, uintptr(is), 0, 0, 0)
}

const (
	futexWaitPrivate = 128 // FUTEX_WAIT | FUTEX_PRIVATE_FLAG
	futexWakePrivate = 129 // FUTEX_WAKE | FUTEX_PRIVATE_FLAG
)
