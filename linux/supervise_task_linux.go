package linux

import (
	"bytes"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// task is a thread of the run that has called.
type task struct {
	tid   int
	dir   int   // /proc/TID, O_PATH; it stays that thread's, and dies with it
	umask int   // -1: not known
	pidfd int   // of the thread, -1: not opened
	used  int64 // when, in nanoseconds
}

// tasks caches what is known of threads. Only the resolving thread uses it.
type tasks struct {
	known map[int]*task
	// changing are threads inside umask(2), with the mask they asked for. It
	// holds from some moment on that shows in their status, or by their next
	// call; until then nobody's is remembered.
	changing map[int]uint32
}

const (
	tasksMost = 64
	// tasksFresh, in nanoseconds, is how long a number stays a thread's
	// without asking: the kernel gives numbers out in turn, and cannot come
	// around 32,768 of them in this time.
	tasksFresh = 2e6
)

func (ts *tasks) get(s *Supervisor, tid int) (*task, error) {
	if ts.known == nil {
		ts.known, ts.changing = map[int]*task{}, map[int]uint32{}
	}
	now := time.Now().UnixNano()
	if _, ok := ts.changing[tid]; ok {
		// It calls again, so its umask(2) is done.
		delete(ts.changing, tid)
		ts.forgetMasks()
	}
	if t := ts.known[tid]; t != nil {
		// Looking up a name in /proc/TID of a thread that is gone fails, even
		// if another has its number now.
		var st unix.Stat_t
		if now-t.used < tasksFresh || unix.Fstatat(t.dir, "comm", &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			t.used = now
			return t, nil
		}
		ts.drop(t)
	}
	if len(ts.known) >= tasksMost {
		var oldest *task
		for _, t := range ts.known {
			if oldest == nil || t.used < oldest.used {
				oldest = t
			}
		}
		ts.drop(oldest)
	}
	fd, err := unix.Openat(s.proc, strconv.Itoa(tid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	t := &task{tid: tid, dir: fd, umask: -1, pidfd: -1, used: now}
	ts.known[tid] = t
	return t, nil
}

func (ts *tasks) drop(t *task) {
	unix.Close(t.dir)
	if t.pidfd >= 0 {
		unix.Close(t.pidfd)
	}
	delete(ts.known, t.tid)
}

func (ts *tasks) release() {
	for _, t := range ts.known {
		ts.drop(t)
	}
}

func (ts *tasks) forgetMasks() {
	for _, t := range ts.known {
		t.umask = -1
	}
}

// mask gives the caller's umask. It is remembered: a thread's umask changes by
// umask(2) alone, which is notified, be it called by itself or by one that
// shares its file system context.
func (r *request) mask() uint32 {
	ts := &r.s.tasks
	for tid, mask := range ts.changing {
		if m, ok := readMask(r.s.proc, strconv.Itoa(tid)+"/status"); !ok || m == mask {
			delete(ts.changing, tid)
			ts.forgetMasks()
		}
	}
	if r.task.umask >= 0 && len(ts.changing) == 0 {
		return uint32(r.task.umask)
	}
	m, ok := readMask(r.task.dir, "status")
	if !ok {
		return 0o777 // the thread is dying; nobody will use the file
	}
	if len(ts.changing) == 0 {
		r.task.umask = int(m)
	}
	return m
}

func readMask(dir int, status string) (uint32, bool) {
	m, ok := numberOf(dir, status, "\nUmask:\t", 8) // its second line; Name has at most 64 bytes
	return uint32(m), ok
}

// serveUmask lets the call pass and notes that what is known is outdated: the
// only call that continues. It decides nothing, and its one argument is a
// number that cannot change any more.
func serveUmask(r *request) {
	ts := &r.s.tasks
	ts.forgetMasks()
	ts.changing[r.tid] = uint32(r.args[0]) & 0o777
	r.resume()
}

const pageSize = 4096 // the smallest; a read that ends at a page's end is safe with any

// readString copies a NUL-terminated string of at most most bytes, NUL
// included, from the caller's memory, once.
func (r *request) readString(addr uint64, most int) (string, unix.Errno) {
	var buf []byte
	chunk := 256
	for len(buf) < most {
		n := min(chunk, most-len(buf), pageSize-int((addr+uint64(len(buf)))%pageSize))
		start := len(buf)
		buf = append(buf, make([]byte, n)...)
		if e := r.read(addr+uint64(start), buf[start:]); e != 0 {
			return "", e
		}
		if i := bytes.IndexByte(buf[start:], 0); i >= 0 {
			return string(buf[:start+i]), 0
		}
		chunk = pageSize
	}
	return "", unix.ENAMETOOLONG
}

// read copies from the caller's memory.
func (r *request) read(addr uint64, into []byte) unix.Errno {
	if len(into) == 0 {
		return 0
	}
	local := unix.Iovec{Base: &into[0], Len: uint64(len(into))}
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(into)}
	n, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(r.tid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	switch {
	case e == unix.EPERM:
		return unix.EACCES // it made itself unreadable, and so uncheckable
	case e != 0:
		return e
	case int(n) != len(into):
		return unix.EFAULT
	}
	return 0
}

// write copies into the caller's memory.
func (r *request) write(addr uint64, from []byte) unix.Errno {
	if len(from) == 0 {
		return 0
	}
	local := unix.Iovec{Base: &from[0], Len: uint64(len(from))}
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(from)}
	n, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_WRITEV, uintptr(r.tid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e != 0 || int(n) != len(from) {
		return unix.EFAULT
	}
	return 0
}
