package linux

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Most calls that are performed are one system call at a pinned directory. The
// resolving thread writes such a call down, and a quick thread makes it and
// replies. Quick threads are restricted as all performers are; what makes them
// quick is that Go's scheduler does not know of their work. To the runtime each
// is inside one system call for as long as it lives, so that waking it costs a
// futex, and not a search for a processor that the resolving thread may hold.
//
// Therefore the rules at the top of fork_linux.go hold for what it runs: no
// stack growth, no allocation, no pointer stored. What is to be noted of a call
// that was made the resolving thread notes, before it looks at the next
// notification: the outcome is written before the caller hears of it.

//go:linkname enterSyscall runtime.entersyscallblock
func enterSyscall()

//go:linkname exitSyscall runtime.exitsyscall
func exitSyscall()

// quick is one quick thread and the call that it is to make.
type quick struct {
	// Each of these words has one writer.
	job      uint32 // the resolving thread's: which call is to be made; a futex
	done     uint32 // the quick thread's: which call has been made
	outcome  uint32 // of the last call
	sleeping uint32 // whether it waits for job to change

	// The call, written by the resolving thread while job and done are equal.
	id       uint64
	nr       uintptr
	args     [6]uintptr
	form     form
	expected fileID                 // formExisting: what was ruled on
	truncate bool                   // formExisting: afterwards
	odd      [3]syscall.Errno       // errors to be dealt with the slow way
	shut     [4]int32               // descriptors to close
	holder   int32                  // directory whose identity is wanted once more, -1 for none
	names    [2][nameMax + 2]byte   // with a slash and NUL
	book     func(*request, *quick) // notes what was done
	request  *request               // nil if nothing is to be noted

	// Written by whoever ends the thread, before the last job.
	last    uint32 // the job before
	pending bool   // whether nobody has collected it

	// Written by the quick thread.
	st    unix.Stat_t
	sx    unix.Statx_t
	above unix.Statx_t // of holder

	// The quick thread's alone.
	inject     injection
	reply      response
	listener   uintptr
	wake       uintptr // eventfd: the outcome is odd
	empty      byte
	one        uint64
	errno      syscall.Errno
	result     uintptr
	injects    bool
	unexpected bool

	near near
	w    performer // thread and processor
}

// form says what belongs to a call.
type form uint8

const (
	formPlain    form = iota
	formMkdir         // look at what was made
	formOpen          // gives a descriptor
	formNew           // gives a descriptor of a new file
	formExisting      // gives a descriptor of the expected file
)

// jobEnd is the last job.
const jobEnd = ^uint32(0)

// Outcomes.
const (
	outcomeNone uint32 = iota
	outcomeDone
	outcomeFailed
	outcomeOdd // nothing was done, and nobody told: the slow way
)

// quickMost bounds the quick threads. When all are busy, on slow disks, the
// other performers help.
const quickMost = 4

func (p *performers) startQuick() (*quick, error) {
	q := &quick{listener: uintptr(p.s.listener), wake: uintptr(p.s.wake), one: 1, near: near{placed: &p.s.placed}}
	q.w = performer{cpu: -1, started: make(chan error)}
	go p.runQuick(q)
	if err := <-q.w.started; err != nil {
		return nil, err
	}
	return q, nil
}

func (p *performers) runQuick(q *quick) {
	runtime.LockOSThread() // and never unlocked: the thread ends with its rights
	blockSignals()
	shortTurns()
	q.w.tid = unix.Gettid()
	q.near.learn()
	err := p.restrict()
	q.w.started <- err
	if err != nil {
		return
	}
	q.live()
}

//go:nosplit
//go:norace
func (q *quick) live() {
	enterSyscall()
	q.loop()
	exitSyscall()
}

//go:nosplit
//go:norace
func (q *quick) loop() {
	seen := uint32(0)
	for {
		switch job := loadAcquire(&q.job); job {
		case seen:
			storeRelease(&q.sleeping, 1)
			sys(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&q.job)), futexWaitPrivate, uintptr(seen))
			storeRelease(&q.sleeping, 0)
		case jobEnd:
			if q.pending && (q.last != seen || loadAcquire(&q.outcome) == outcomeOdd) {
				q.shutAll() // written down and never made, or not to be made again
			}
			return
		default:
			seen = job
			q.make(job)
		}
	}
}

// loadAcquire and storeRelease are what sync/atomic has, without what the race
// detector adds, which needs the scheduler.
//
//go:noescape
func loadAcquire(word *uint32) uint32

//go:noescape
func storeRelease(word *uint32, value uint32)

// make makes the call and replies.
//
//go:nosplit
//go:norace
func (q *quick) make(job uint32) {
	q.unexpected = false
	q.injects = q.form >= formOpen
	q.result, _, q.errno = syscall.RawSyscall6(q.nr, q.args[0], q.args[1], q.args[2], q.args[3], q.args[4], q.args[5])
	if q.errno == 0 {
		q.after()
	} else if q.errno == q.odd[0] || q.errno == q.odd[1] || q.errno == q.odd[2] {
		q.unexpected = true
	}
	if q.unexpected {
		storeRelease(&q.outcome, outcomeOdd)
		storeRelease(&q.done, job)
		sys(syscall.SYS_WRITE, q.wake, uintptr(unsafe.Pointer(&q.one)), 8)
		return
	}
	q.reply.id = q.id
	if q.errno != 0 {
		storeRelease(&q.outcome, outcomeFailed)
	} else {
		storeRelease(&q.outcome, outcomeDone)
		if q.injects {
			// ADDFD and SEND apart, as everywhere.
			q.inject.id, q.inject.srcfd = q.id, uint32(q.result)
			q.near.keep()
			n, e := sys(syscall.SYS_IOCTL, q.listener, unix.SECCOMP_IOCTL_NOTIF_ADDFD, uintptr(unsafe.Pointer(&q.inject)))
			q.near.release(e)
			sys(syscall.SYS_CLOSE, q.result, 0, 0)
			q.result, q.errno = n, e
		}
	}
	q.shutAll()
	q.reply.err = -int32(q.errno)
	q.reply.val = 0
	if q.injects && q.errno == 0 {
		q.reply.val = int64(q.result)
	}
	// From here on the next call may be written down: the caller may be back
	// with it before this thread is.
	storeRelease(&q.done, job)
	sys(syscall.SYS_IOCTL, q.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&q.reply)))
}

// shutAll closes what was opened for a call.
//
//go:nosplit
//go:norace
func (q *quick) shutAll() {
	for _, fd := range q.shut {
		if fd >= 0 {
			sys(syscall.SYS_CLOSE, uintptr(fd), 0, 0)
		}
	}
}

// after does what belongs to a call that succeeded.
//
//go:nosplit
//go:norace
func (q *quick) after() {
	switch q.form {
	case formMkdir:
		_, _, e := syscall.RawSyscall6(unix.SYS_STATX, q.args[0], q.args[1], unix.AT_SYMLINK_NOFOLLOW,
			directoryMask, uintptr(unsafe.Pointer(&q.sx)), 0)
		if e != 0 {
			q.sx.Mode = 0
		}
	case formNew:
		_, _, e := syscall.RawSyscall6(unix.SYS_STATX, q.result, uintptr(unsafe.Pointer(&q.empty)), unix.AT_EMPTY_PATH,
			unix.STATX_BTIME|unix.STATX_INO, uintptr(unsafe.Pointer(&q.sx)), 0)
		if e != 0 {
			q.sx.Mask = 0
		}
	case formExisting:
		_, q.errno = sys(syscall.SYS_FSTAT, q.result, uintptr(unsafe.Pointer(&q.st)), 0)
		if q.errno == 0 && (q.st.Dev != q.expected.dev || q.st.Ino != q.expected.ino) {
			q.unexpected = true
		} else if q.errno == 0 && q.truncate {
			_, q.errno = sys(syscall.SYS_FTRUNCATE, q.result, 0, 0)
		}
		if q.errno != 0 || q.unexpected {
			sys(syscall.SYS_CLOSE, q.result, 0, 0)
		}
	}
	if q.holder < 0 {
		return
	}
	_, _, e := syscall.RawSyscall6(unix.SYS_STATX, uintptr(q.holder), uintptr(unsafe.Pointer(&q.empty)), unix.AT_EMPTY_PATH,
		directoryMask|unix.STATX_CTIME, uintptr(unsafe.Pointer(&q.above)), 0)
	if e != 0 {
		q.above.Mask, q.sx.Mode = 0, 0
	}
}

// renews has the directory of o looked at once more, after the call, if that is needed.
func (q *quick) renews(o *object) {
	if o.ages() {
		q.holder = int32(o.parent)
	}
}

// renewed does, with that, what [object.renew] does.
func (q *quick) renewed(o *object) {
	if o.ages() && q.above.Mask != 0 {
		o.place.dir = dirIDOf(&q.above)
	}
}

// text puts a name where the call finds it.
func (q *quick) text(i int, name string) uintptr {
	b := &q.names[i]
	b[copy(b[:len(b)-1], name)] = 0
	return uintptr(unsafe.Pointer(b))
}

// pinned puts down the path by which o is reached through its descriptor.
func (q *quick) pinned(o *object) uintptr {
	b := append(q.names[0][:0], "/proc/self/fd/"...)
	b = append(strconv.AppendInt(b, int64(o.fd), 10), 0)
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

// performQuickly has a call made that prepare writes down; act does the same
// the slow way, where no quick thread is free or its outcome is odd.
func (r *request) performQuickly(prepare func(*request, *quick), act func(*request) unix.Errno) {
	if !r.valid() {
		r.fail(unix.EINTR) // nobody hears it; this closes what was opened
		return
	}
	r.act = act
	p := r.performers
	p.collecting.Lock()
	q := p.free()
	if q == nil || len(r.a.place.name) > nameMax || len(r.b.place.name) > nameMax {
		p.collecting.Unlock()
		p.hand(r)
		return
	}
	defer p.collecting.Unlock()
	q.id, q.request = r.id, r
	q.form, q.truncate, q.odd, q.book = formPlain, false, [3]syscall.Errno{}, nil
	q.inject.newfdFlags = uint32(r.flags & unix.O_CLOEXEC)
	q.shut, q.holder = [4]int32{-1, -1, -1, -1}, -1
	prepare(r, q)
	for i, o := range [...]*object{&r.a, &r.b} {
		if o.opened {
			q.shut[2*i], q.shut[2*i+1] = int32(o.parent), int32(o.fd)
		}
	}
	atomic.StoreUint32(&q.outcome, outcomeNone)
	q.w.follow()
	q.near.caller, q.near.here = uintptr(r.tid), q.w.here
	q.start(max(1, (q.job+1)%jobEnd))
}

// start has the quick thread look at a job.
func (q *quick) start(job uint32) {
	atomic.StoreUint32(&q.job, job)
	if atomic.LoadUint32(&q.sleeping) != 0 {
		futexWake(&q.job)
	}
}

// end has the quick thread end. The resolving thread is gone.
func (q *quick) end() {
	q.last, q.pending = q.job, q.request != nil
	q.start(jobEnd)
}

// free gives a quick thread that has nothing to do, nil if there is none.
func (p *performers) free() *quick {
	if p.closed {
		return nil
	}
	for _, q := range p.quick {
		if q.request == nil {
			return q
		}
	}
	if len(p.quick) >= quickMost || p.s.acting.Load() >= p.s.share.threads/2 {
		return nil
	}
	q, err := p.startQuick()
	if err != nil {
		return nil
	}
	p.quick = append(p.quick, q)
	p.s.acting.Add(1)
	return q
}

// collect notes what the quick threads have done: before each notification is
// looked at, and when one of them asks.
func (p *performers) collect() {
	p.collecting.Lock()
	defer p.collecting.Unlock()
	if p.closed {
		return
	}
	for _, q := range p.quick {
		r := q.request
		if r == nil {
			continue
		}
		// In this order: the outcome of what is done stays.
		done := atomic.LoadUint32(&q.done) == q.job
		outcome := atomic.LoadUint32(&q.outcome)
		if outcome == outcomeDone && q.book != nil {
			q.book(r, q)
			q.book = nil
		}
		if !done {
			continue
		}
		q.request = nil
		if outcome == outcomeOdd {
			p.hand(r)
		} else {
			r.settle()
		}
	}
}
