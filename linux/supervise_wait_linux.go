package linux

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A performing thread that waits in a call for somebody else, as at a FIFO for
// its other end, waits in the place of its caller, which the kernel leaves in
// its call meanwhile whatever it is sent, short of its death. So each such call
// is looked after: the thread is interrupted when the caller is gone, or else
// there would be a writer that is nobody, and when the caller would have been.

// waiting is such a call.
type waiting struct {
	mu    sync.Mutex
	tid   int        // the performing thread, 0 once the call is over
	cause unix.Errno // why it was interrupted
}

const (
	// sigInterrupt interrupts a performing thread's call. Nobody else uses it.
	sigInterrupt = syscall.Signal(62)
	// errRestart is the kernel's: a call that signals have interrupted starts
	// again or fails with EINTR, as their handlers want. It may be given only to
	// a thread that is certain to look at its signals before it goes on.
	errRestart = unix.Errno(512)
)

// interruptEntry gives the address of a handler that does nothing.
func interruptEntry() (handler uintptr)

var installInterrupt = sync.OnceValue(func() error {
	_, restorer := signalEntry()
	a := sigaction{handler: interruptEntry(), flags: saOnStack, restorer: restorer, mask: ^uint64(0)}
	if restorer != 0 {
		a.flags |= saHasRestorer
	}
	return setAction(sigInterrupt, &a, nil)
})

// awaits makes a call that may wait, on a performing thread.
func (r *request) awaits(call func() (int, error)) (int, unix.Errno) {
	if err := installInterrupt(); err != nil {
		return -1, unix.EINTR
	}
	w := &waiting{tid: unix.Gettid()}
	go w.look(r)
	// A signal for an earlier wait may be left. It is taken here.
	maskInterrupt(unix.SIG_UNBLOCK)
	n, err := call()
	maskInterrupt(unix.SIG_BLOCK)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tid = 0
	if err == unix.EINTR && w.cause != 0 {
		return -1, w.cause
	}
	return n, errno(err)
}

func maskInterrupt(how uintptr) {
	set := uint64(1) << (sigInterrupt - 1)
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, how, uintptr(unsafe.Pointer(&set)), 0, unsafe.Sizeof(set), 0, 0)
}

// interrupt has the call fail with EINTR. The thread may not be in it yet, so
// this is done until it has.
func (w *waiting) interrupt(cause unix.Errno) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tid != 0 {
		w.cause = cause
		unix.Tgkill(os.Getpid(), w.tid, sigInterrupt)
	}
}

func (w *waiting) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tid == 0
}

// looksMost, in milliseconds, is the longest time between two looks at a caller
// that goes on waiting.
const looksMost = 256

// look looks after a wait until it is over. Of the caller's death the kernel
// tells; for the rest it has to be asked now and then.
func (w *waiting) look(r *request) {
	status, err := unix.Openat(r.s.proc, strconv.Itoa(r.tid)+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(status)
	}
	gone := false
	pidfd, fault := unix.PidfdOpen(r.tid, unix.O_EXCL) // PIDFD_THREAD
	if fault == unix.EINVAL {
		if pid, ok := number(r.s.proc, strconv.Itoa(r.tid)+"/status", "\nTgid:\t"); ok {
			pidfd, fault = unix.PidfdOpen(int(pid), 0)
		}
	}
	if fault != nil {
		pidfd = -1 // is not looked at
	}
	defer func(fd int) { unix.Close(fd) }(pidfd)
	var before signals
	for pause := 1; ; pause = min(2*pause, looksMost) {
		p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		unix.Poll(p, pause)
		if w.over() {
			return
		}
		// Asked after the descriptors were opened: they are the caller's.
		var now signals
		ok := false
		if p[0].Revents != 0 {
			gone, pidfd = true, -1
		}
		if err == nil && !gone && r.valid() && !r.performers.over() {
			now, ok = readSignals(status)
		}
		switch {
		case !ok:
			w.interrupt(unix.EINTR) // nobody hears it
			pause = 1
		case now.own != 0 || now.shared != 0 && now.alone:
			w.interrupt(errRestart)
			pause = 1
		case now.shared&now.caught != 0 && now.shared&before.shared != 0:
			// Another thread might have taken it, and has not.
			w.interrupt(unix.EINTR)
			pause = 1
		case now.shared&now.caught != 0:
			pause = 1
		}
		before = now
	}
}

// over says whether the run has ended.
func (p *performers) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// signals are those that wait for a thread and that it does not block.
type signals struct {
	own, shared uint64 // its own, its process's
	caught      uint64 // for which there is a handler
	alone       bool   // it is the only thread
}

// readSignals reads /proc/TID/status, which fails once the thread is gone.
func readSignals(fd int) (s signals, ok bool) {
	var buf [4096]byte
	n, err := unix.Pread(fd, buf[:], 0)
	if err != nil {
		return signals{}, false
	}
	status := buf[:n]
	var list [5]uint64
	for i, f := range [...]struct {
		key  string
		base int
	}{{"\nThreads:\t", 10}, {"\nSigPnd:\t", 16}, {"\nShdPnd:\t", 16}, {"\nSigBlk:\t", 16}, {"\nSigCgt:\t", 16}} {
		_, rest, found := bytes.Cut(status, []byte(f.key))
		word, _, _ := bytes.Cut(rest, []byte("\n"))
		n, err := strconv.ParseUint(string(word), f.base, 64)
		if !found || err != nil {
			return signals{}, false
		}
		list[i] = n
	}
	blocked := list[3]
	return signals{own: list[1] &^ blocked, shared: list[2] &^ blocked, caught: list[4], alone: list[0] == 1}, true
}

// openFIFO opens a FIFO as the caller asks for it, and waits for its other end
// as the caller would.
func (r *request) openFIFO() unix.Errno {
	path, mode := fdPath(r.a.fd), r.how&unix.O_ACCMODE
	open := func(more int) (int, error) { return unix.Open(path, r.how|more, 0) }
	switch {
	case r.how&unix.O_NONBLOCK != 0 || mode == unix.O_RDWR: // it never waits
		fd, err := open(0)
		r.fd = fd
		return errno(err)
	case mode == unix.O_WRONLY:
		// Most often somebody reads.
		fd, err := open(unix.O_NONBLOCK)
		if err == nil {
			r.fd = fd
			return errno(unix.SetNonblock(fd, false))
		}
		if err != unix.ENXIO {
			return errno(err)
		}
	}
	fd, e := r.awaits(func() (int, error) { return open(0) })
	r.fd = fd
	return e
}
