package linux

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// The caller's socket is had by pidfd_getfd. Where that is refused (Docker's
// filter), sockets are made here and a copy is kept until it is connected or
// bound.

// sockets holds the copies, by the inode number of the socket.
type sockets struct {
	mu     sync.Mutex
	getfd  bool
	copies map[uint64]int
	order  []uint64
	// bound are the addresses that callers gave: the kernel remembers the
	// path of a pinned directory instead, which nobody else can use.
	bound map[uint64][]byte
	// ports are copies that were given one. While one is there, the port is taken.
	ports []uint64
	// gone are streams that were connected, of which there is no copy any more, and
	// whether the caller was told that they were about to be.
	gone map[uint64]bool
}

// copiesMost bounds the copies; the oldest goes first, and can then no longer
// be connected.
const copiesMost = 512

func (k *sockets) probe(keep bool) {
	k.copies, k.bound, k.gone = map[uint64]int{}, map[uint64][]byte{}, map[uint64]bool{}
	k.getfd = !keep && fetches()
}

// fetches finds out whether pidfd_getfd is to be had, on ourselves.
func fetches() bool {
	pidfd, err := unix.PidfdOpen(unix.Getpid(), 0)
	if err != nil {
		return false
	}
	defer unix.Close(pidfd)
	fd, err := unix.PidfdGetfd(pidfd, pidfd, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// inodeOf gives the inode number of a socket of ours, which the caller's has too.
func inodeOf(fd int) (uint64, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return st.Ino, err
}

func (k *sockets) keep(fd int) {
	ino, err := inodeOf(fd)
	if err != nil {
		return
	}
	n, e := dup(fd)
	if e != 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.order) >= copiesMost {
		k.drop(k.order[0])
	}
	delete(k.gone, ino) // which had the number before
	k.copies[ino] = n
	k.order = append(k.order, ino)
}

func (k *sockets) drop(ino uint64) {
	fd, ok := k.copies[ino]
	if !ok {
		return
	}
	unix.Close(fd)
	delete(k.copies, ino)
	if i := slices.Index(k.order, ino); i >= 0 {
		k.order = slices.Delete(k.order, i, i+1)
	}
}

// shed lets those with ports go that listen by now, about which nothing more has to
// be decided, and, where open lists what the run has open, those that it has closed.
func (k *sockets) shed(open map[uint64]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ports = slices.DeleteFunc(k.ports, func(ino uint64) bool {
		if fd, ok := k.copies[ino]; ok && (open == nil || open[ino]) {
			if listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err == nil && listens == 0 {
				return false
			}
		}
		k.drop(ino)
		return true
	})
}

// hasPort notes that a copy was given a port.
func (k *sockets) hasPort(fd int) {
	if ino, err := inodeOf(fd); err == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.ports = append(k.ports, ino)
	}
}

func (k *sockets) havePorts() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.ports) > 0
}

// note notes something of a socket, and forgets another where there are too many.
func note[T any](of map[uint64]T, ino uint64, what T) {
	for old := range of {
		if len(of) < 4*copiesMost {
			break
		}
		delete(of, old)
	}
	of[ino] = what
}

// connected lets the copy of a stream go that is, or is about to be. A datagram socket
// can be connected again: its copy is the first to go when there are too many.
func (k *sockets) connected(fd int, soon bool) {
	typ, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return
	}
	ino, err := inodeOf(fd)
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if typ == unix.SOCK_DGRAM {
		if i := slices.Index(k.order, ino); i >= 0 {
			k.order = slices.Insert(slices.Delete(k.order, i, i+1), 0, ino)
		}
		return
	}
	k.drop(ino)
	note(k.gone, ino, soon)
}

// again gives what connect(2) comes to for a stream whose copy was let go, as programs
// call it to learn what became of the first: IO::Socket of Perl does.
func (r *request) again(first unix.Errno) (e unix.Errno, known bool) {
	k := &r.s.copies
	if k.getfd || first != unix.EACCES {
		return 0, false
	}
	ino, e := r.socketInode(int(int32(r.args[0])))
	k.mu.Lock()
	soon, known := k.gone[ino]
	k.mu.Unlock()
	switch {
	case e != 0 || !known:
		return 0, false
	case !soon:
		return unix.EISCONN, true
	}
	switch r.s.streamState(ino) {
	case "":
		return unix.ECONNREFUSED, true // as a rule
	case tcpSynSent:
		return unix.EALREADY, true
	}
	k.mu.Lock()
	k.gone[ino] = false
	k.mu.Unlock()
	return 0, true
}

// done lets a copy go: a stream that is connected or bound needs no more
// verdicts, and a copy would keep its other end from seeing it closed.
func (k *sockets) done(fd int) {
	if ino, err := inodeOf(fd); err == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.drop(ino)
	}
}

func (k *sockets) release() {
	for _, fd := range k.copies {
		unix.Close(fd)
	}
	k.copies = nil
}

// bound lets the copy of a socket that has a name go, or the name would stay
// taken; but where listen(2) is the Supervisor's, it is needed until then.
func (s *Supervisor) bound(fd int) {
	if !s.copies.getfd && s.inet == nil {
		s.copies.done(fd)
	}
}

func (k *sockets) named(fd int, raw []byte) {
	if ino, err := inodeOf(fd); err == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		note(k.bound, ino, raw)
	}
}

// socket gives a descriptor of ours for the caller's socket number fd, in
// r.a.fd, so that it is closed with the request. What a call was given once is
// what it is about: it is not fetched again.
func (r *request) socket(fd int) unix.Errno {
	k := &r.s.copies
	if k.getfd {
		if e := r.fetchSocket(fd); e != 0 {
			return e
		}
		if r.s.run.Inherited[r.a.st.Ino] {
			return unix.EACCES
		}
		return 0
	}
	r.a = object{parent: -1, fd: -1}
	if fd < 0 {
		return unix.EBADF
	}
	ino, e := r.socketInode(fd)
	if e == 0 {
		e = unix.EACCES
		k.mu.Lock()
		if c, ok := k.copies[ino]; ok {
			r.a.fd, e = dup(c)
		}
		k.mu.Unlock()
	}
	r.a.opened = e == 0
	return e
}

// fetchSocket fetches the caller's socket number fd into r.a, with its status.
func (r *request) fetchSocket(fd int) unix.Errno {
	if !r.a.opened {
		r.a = object{parent: -1, fd: -1}
		if fd < 0 {
			return unix.EBADF
		}
		var e unix.Errno
		if r.a.fd, e = r.fetchAny(fd); e != 0 {
			return e
		}
		r.a.opened = true
		if err := unix.Fstat(r.a.fd, &r.a.st); err != nil {
			return errno(err)
		}
	}
	if r.a.st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return unix.ENOTSOCK
	}
	return 0
}

// socketInode gives the inode number of the caller's socket number fd.
func (r *request) socketInode(fd int) (uint64, unix.Errno) {
	var buf [64]byte
	n, err := unix.Readlinkat(r.task.dir, "fd/"+strconv.Itoa(fd), buf[:])
	if err != nil {
		return 0, unix.EBADF
	}
	digits, ok := strings.CutPrefix(strings.TrimSuffix(string(buf[:n]), "]"), "socket:[")
	if !ok {
		return 0, unix.ENOTSOCK
	}
	ino, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, unix.ENOTSOCK
	}
	return ino, 0
}

// fetch copies a descriptor of the calling thread's. It fails with ENOSYS
// where threads cannot be told from their process (before 6.9) or nothing can
// be fetched.
func (r *request) fetch(fd int) (int, unix.Errno) {
	if !r.s.copies.getfd {
		return -1, unix.ENOSYS
	}
	if r.task.pidfd < 0 {
		pidfd, err := unix.PidfdOpen(r.tid, unix.O_EXCL) // PIDFD_THREAD
		if err != nil {
			return -1, unix.ENOSYS
		}
		r.task.pidfd = pidfd
	}
	n, err := unix.PidfdGetfd(r.task.pidfd, fd, 0)
	return n, errno(err)
}

// fetchAny does so before 6.9, too, from the process: its threads share its
// descriptors unless they took pains not to.
func (r *request) fetchAny(fd int) (int, unix.Errno) {
	if n, e := r.fetch(fd); e != unix.ENOSYS {
		return n, e
	}
	pid, ok := number(r.task.dir, "status", "\nTgid:\t")
	if !ok {
		return -1, unix.ESRCH
	}
	pidfd, err := unix.PidfdOpen(int(pid), 0)
	if err != nil {
		return -1, errno(err)
	}
	defer unix.Close(pidfd)
	n, err := unix.PidfdGetfd(pidfd, fd, 0)
	return n, errno(err)
}
