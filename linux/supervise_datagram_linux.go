package linux

import (
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// datagramEnd is our end of what the run has for a datagram socket: a pair of
// unix sockets that keep the borders of messages. What the caller sends
// without an address comes out here. What comes for it goes in here, from
// where each came is remembered until it is read.
type datagramEnd struct {
	file *os.File   // our end; it blocks nobody
	out  sync.Mutex // held while what the caller sent is passed on
	mu   sync.Mutex
	// inbox lists what the caller has not read, or has read without asking
	// where it came from: the newest inboxMost.
	inbox []letter
	bytes int
}

type letter struct {
	from netip.AddrPort
	size int
}

const (
	datagramMost = 65507 // bytes, without the headers
	// endBuffer is room for less than inboxMost messages that are not read, of
	// which each takes more than half a kilobyte. The kernel doubles it.
	endBuffer = 106496
	inboxMost = 1024
	// deliverWait is how long a datagram waits for a caller that does not
	// read, before it is lost.
	deliverWait = 2 * time.Second
	// carryWait is how long the datagrams of a forgotten socket are passed on.
	carryWait = 2 * time.Second
	// firstPort is the first of the ports given to datagram sockets that name
	// none.
	firstPort = 32768
)

// newDatagram makes a datagram socket's stand-in and gives the caller's end.
func (n *inet) newDatagram(k *inetSocket, domain, typ, proto int) (int, unix.Errno) {
	// A kernel without IPv6 says so here.
	probe, err := unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return -1, errno(err)
	}
	unix.Close(probe)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|typ&unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, errno(err)
	}
	unix.SetNonblock(pair[0], true)
	unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF, endBuffer)
	k.end = &datagramEnd{file: os.NewFile(uintptr(pair[0]), "datagrams")}
	return pair[1], 0
}

// carry passes on what the caller sends without an address, and what it had sent
// when the socket was forgotten.
func (n *inet) carry(k *inetSocket) {
	defer n.carriers.Done()
	defer k.end.file.Close()
	raw, err := k.end.file.SyscallConn()
	if err != nil {
		return
	}
	raw.Read(func(fd uintptr) bool {
		for {
			if err := n.drain(k, int(fd), 1); err != nil {
				return err != unix.EAGAIN
			}
		}
	})
}

// drain passes on what the caller has sent so far without an address, until that
// was so many bytes. EAGAIN says that it was less, other errors that no more comes.
func (n *inet) drain(k *inetSocket, fd, most int) error {
	k.end.out.Lock()
	defer k.end.out.Unlock()
	buf := n.buffer()
	defer n.put(buf)
	for most > 0 {
		size, err := unix.Read(fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case size == 0 && ended(fd):
			return io.EOF
		}
		most -= max(size, 1)
		if peer := n.peer(k); peer.IsValid() {
			n.send(k, peer, buf[:size])
		}
	}
	return nil
}

// flush passes on what the caller has sent before. What others send meanwhile is
// not waited for.
func (k *inetSocket) flush(n *inet) {
	if raw, err := k.end.file.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			if sent, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ); err == nil {
				n.drain(k, int(fd), sent)
			}
		})
	}
}

// ended says whether the caller has shut its end, as opposed to having sent an
// empty datagram.
func ended(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	unix.Poll(p, 0)
	return p[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}

// buffer gives room for any datagram, and put takes it back.
func (n *inet) buffer() []byte {
	if b, ok := n.buffers.Get().(*[1 << 16]byte); ok {
		return b[:]
	}
	return new([1 << 16]byte)[:]
}

func (n *inet) put(b []byte) { n.buffers.Put((*[1 << 16]byte)(b[:1<<16])) }

// send sends a datagram of k to dst. false: it was refused.
func (n *inet) send(k *inetSocket, dst netip.AddrPort, data []byte) bool {
	dst = specified(dst)
	if dst.Port() == 0 || len(data) > datagramMost {
		return false
	}
	n.mu.Lock()
	if !k.asked.IsValid() {
		n.choosePort(k, unspecified(k.six))
	}
	from, ours := k.asked, (*inetSocket)(nil)
	if dst.Addr().IsLoopback() {
		for _, other := range n.ports[dst.Port()] {
			if other.hears(dst.Addr()) {
				ours = other
				break
			}
		}
	}
	n.mu.Unlock()
	if ours != nil {
		if from.Addr().IsUnspecified() {
			from = netip.AddrPortFrom(dst.Addr(), from.Port())
		}
		n.deliver(ours, from, data, false)
		return true
	}
	return n.egress.Send(k.ino, dst, data, func(answer []byte) { n.deliver(k, dst, answer, true) })
}

// deliver gives k a datagram, and may wait for room.
func (n *inet) deliver(k *inetSocket, from netip.AddrPort, data []byte, wait bool) {
	if peer := n.peer(k); peer.IsValid() && peer != from || len(data) == 0 {
		return
	}
	raw, err := k.end.file.SyscallConn()
	if err != nil {
		return
	}
	put := func(fd uintptr) bool {
		k.end.mu.Lock()
		defer k.end.mu.Unlock()
		_, err := unix.Write(int(fd), data)
		if err == nil {
			k.end.inbox = append(k.end.inbox, letter{from, len(data)})
			k.end.bytes += len(data)
			if len(k.end.inbox) > inboxMost {
				k.end.drop()
			}
		}
		return !errors.Is(err, unix.EAGAIN)
	}
	if !wait {
		raw.Control(func(fd uintptr) { put(fd) })
		return
	}
	k.end.file.SetWriteDeadline(time.Now().Add(deliverWait))
	raw.Write(put)
}

// receive takes the next datagram from fd, a copy of the caller's socket, and
// says where it came from.
func (n *inet) receive(k *inetSocket, fd, flags int, buf []byte) (int, netip.AddrPort, unix.Errno) {
	from, d := n.peer(k), k.end
	d.mu.Lock()
	defer d.mu.Unlock()
	unread, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0, from, errno(err)
	}
	for len(d.inbox) > 0 && d.bytes > unread { // read without asking
		d.drop()
	}
	size, _, err := unix.Recvfrom(fd, buf, flags&unix.MSG_PEEK|unix.MSG_DONTWAIT)
	if err != nil {
		return 0, from, errno(err)
	}
	if len(d.inbox) > 0 {
		from = d.inbox[0].from
		if flags&unix.MSG_PEEK == 0 {
			d.drop()
		}
	}
	return size, from, 0
}

// drop forgets the oldest letter. d.mu is held.
func (d *datagramEnd) drop() {
	d.bytes -= d.inbox[0].size
	d.inbox = d.inbox[1:]
}

func unspecified(six bool) netip.Addr {
	if six {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// choosePort binds k to a port that none of the run's sockets has. n.mu is
// held.
func (n *inet) choosePort(k *inetSocket, at netip.Addr) bool {
	for range 1 << 15 {
		port := firstPort + n.next%(1<<15)
		n.next++
		if len(n.ports[port]) == 0 {
			k.asked = netip.AddrPortFrom(at, port)
			n.ports[port] = append(n.ports[port], k)
			return true
		}
	}
	return false
}

func (n *inet) bindDatagram(k *inetSocket, at netip.AddrPort) unix.Errno {
	for again := true; ; again = false {
		n.mu.Lock()
		free := true
		for _, other := range n.ports[at.Port()] {
			free = free && other.six != k.six && (other.only6 || k.only6)
		}
		if at.Port() == 0 {
			free = n.choosePort(k, at.Addr())
		} else if free {
			k.asked = at
			n.ports[at.Port()] = append(n.ports[at.Port()], k)
		}
		n.mu.Unlock()
		if free {
			return 0
		}
		if !again || !n.sweep() {
			return unix.EADDRINUSE
		}
	}
}

// connectDatagram notes where k's datagrams go and from where it takes them.
// Address sorting connects to all of a name's addresses and looks at the local
// one: it is told what it would be outside.
func (n *inet) connectDatagram(r *request, k *inetSocket, a *address) {
	dst, e := a.inet(k.six, true)
	if e != 0 {
		r.fail(e)
		return
	}
	if a.family == unix.AF_UNSPEC {
		dst = netip.AddrPort{}
	} else {
		dst = specified(dst)
	}
	local := netip.Addr{}
	switch {
	case !dst.IsValid():
	case dst.Addr().Zone() != "" || dst.Addr().IsMulticast():
		e = unix.ENETUNREACH
	case dst.Addr().IsLoopback():
		local = dst.Addr()
	default:
		if local, e = source(dst); e != 0 && dst.Port() == 53 {
			e = 0 // the resolver is here, wherever the name server is
		}
	}
	if e == 0 && !r.valid() {
		e = unix.EINTR
	}
	if e != 0 {
		r.fail(e)
		return
	}
	k.flush(n)
	n.mu.Lock()
	defer n.mu.Unlock()
	k.peer = dst
	if !k.asked.IsValid() {
		n.choosePort(k, unspecified(k.six))
	}
	if local.IsValid() {
		k.asked = netip.AddrPortFrom(local, k.asked.Port())
	}
	r.succeed(0)
}

// sweep forgets the sockets that the run has closed, and says whether there
// were any.
func (n *inet) sweep() bool {
	open, ok := n.s.openSockets()
	if !ok {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	found := false
	for ino, k := range n.sockets {
		if k.fd >= 0 && !open[ino] {
			n.forget(k)
			found = true
		}
	}
	return found
}

// The handlers of calls that carry messages.

// serveSendmsg serves datagrams. Other sockets send themselves: none that the
// run can have takes an address.
func serveSendmsg(r *request) {
	k := r.internet()
	if k == nil || k.end == nil {
		r.resumeSend(arg3)
		return
	}
	n, e := r.s.inet.sendMessage(r, k, r.args[1])
	if e != 0 {
		r.fail(e)
		return
	}
	r.succeed(int64(n))
}

// resumeSend lets the caller send, unless that would connect as well. The
// filter refuses it, too.
func (r *request) resumeSend(flags argument) {
	if r.arg(flags)&unix.MSG_FASTOPEN != 0 {
		r.fail(unix.EOPNOTSUPP)
		return
	}
	r.resume()
}

func serveSendmmsg(r *request) {
	k := r.internet()
	if k == nil || k.end == nil {
		r.resumeSend(arg4)
		return
	}
	sent := 0
	for i := range min(r.args[2]&0xffffffff, 64) {
		at := r.args[1] + i*sizeofMmsghdr
		n, e := r.s.inet.sendMessage(r, k, at)
		if e == 0 {
			e = r.write(at+sizeofMsghdr, binary.NativeEndian.AppendUint32(nil, uint32(n)))
		}
		if e != 0 {
			if sent == 0 {
				r.fail(e)
				return
			}
			break
		}
		sent++
	}
	r.succeed(int64(sent))
}

func (n *inet) sendMessage(r *request, k *inetSocket, at uint64) (int, unix.Errno) {
	m, e := r.message(at)
	if e != 0 {
		return 0, e
	}
	data, e := r.gather(m.parts)
	if e != 0 {
		return 0, e
	}
	if m.name == 0 || m.nameSize == 0 {
		return len(data), n.sendTo(r, k, nil, data)
	}
	a, e := r.address(m.name, uint64(m.nameSize))
	if e != 0 {
		return 0, e
	}
	return len(data), n.sendTo(r, k, &a, data)
}

// sendTo sends a datagram to an address, or where k is connected to.
func (n *inet) sendTo(r *request, k *inetSocket, a *address, data []byte) unix.Errno {
	dst := n.peer(k)
	if a != nil {
		var e unix.Errno
		if dst, e = a.inet(k.six, true); e != 0 {
			return e
		}
	}
	switch {
	case !dst.IsValid():
		return unix.EDESTADDRREQ
	case dst.Addr().Zone() != "" || dst.Addr().IsMulticast():
		return unix.ENETUNREACH
	case dst.Port() == 0:
		return unix.EINVAL
	case !r.valid():
		return unix.EINTR
	}
	k.flush(n)
	if !n.send(k, dst, data) {
		return unix.EPERM // as from a firewall
	}
	return 0
}

// sendtoDatagram serves sendto(2) with an address.
func (n *inet) sendtoDatagram(r *request, k *inetSocket) {
	a, e := r.address(r.args[4], uint64(uint32(r.args[5])))
	if e == 0 && r.args[2] > datagramMost {
		e = unix.EMSGSIZE
	}
	data := make([]byte, 0)
	if e == 0 {
		data = make([]byte, r.args[2])
		e = r.read(r.args[1], data)
	}
	if e == 0 {
		e = n.sendTo(r, k, &a, data)
	}
	if e != 0 {
		r.fail(e)
		return
	}
	r.succeed(int64(len(data)))
}

func serveRecvfrom(r *request) {
	r.receiveDatagram(int(int32(r.args[3])), func(data []byte, from []byte, flags int) (int, unix.Errno) {
		n := min(len(data), int(min(r.args[2], datagramMost+1)))
		if e := r.write(r.args[1], data[:n]); e != 0 {
			return 0, e
		}
		if r.args[5] != 0 {
			if e := r.store(from, r.args[4], r.args[5]); e != 0 {
				return 0, e
			}
		}
		if flags&unix.MSG_TRUNC != 0 {
			n = len(data)
		}
		return n, 0
	})
}

func serveRecvmsg(r *request) {
	r.receiveDatagram(int(int32(r.args[2])), func(data []byte, from []byte, flags int) (int, unix.Errno) {
		return r.fill(r.args[1], data, from, flags)
	})
}

// serveRecvmmsg gives one message: as many as are asked for are never
// promised.
func serveRecvmmsg(r *request) {
	r.receiveDatagram(int(int32(r.args[3])), func(data []byte, from []byte, flags int) (int, unix.Errno) {
		if r.args[2]&0xffffffff == 0 {
			return 0, 0
		}
		n, e := r.fill(r.args[1], data, from, flags)
		if e == 0 {
			e = r.write(r.args[1]+sizeofMsghdr, binary.NativeEndian.AppendUint32(nil, uint32(n)))
		}
		return 1, e
	})
}

// receiveDatagram receives for the caller. hand gives it what came.
func (r *request) receiveDatagram(flags int, hand func(data, from []byte, flags int) (int, unix.Errno)) {
	k := r.internet()
	if k == nil || k.end == nil {
		r.resume()
		return
	}
	n := r.s.inet
	if e := n.copyOf(r, k); e != 0 {
		r.fail(e)
		return
	}
	if flags&unix.MSG_ERRQUEUE != 0 {
		r.fail(unix.EAGAIN)
		return
	}
	try := func(r *request) unix.Errno {
		buf := n.buffer()
		defer n.put(buf)
		if !r.valid() {
			return unix.EINTR
		}
		size, from, e := n.receive(k, r.a.fd, flags, buf)
		if e != 0 {
			return e
		}
		got, e := hand(buf[:size], inetRaw(from, k.six), flags)
		r.val = int64(got)
		return e
	}
	e := try(r)
	if e != unix.EAGAIN || flags&unix.MSG_DONTWAIT != 0 || nonblocking(r.a.fd) {
		r.reply(r.val, e, 0)
		return
	}
	// The thread's directory, so that it lasts; and not on a performing thread,
	// which cannot write to the caller's memory.
	dir, e := dup(r.task.dir)
	if e != 0 {
		r.fail(e)
		return
	}
	r.b = object{parent: -1, fd: dir, opened: true}
	crowd := r.s.receiving.Add(1) > r.s.share.threads
	go func() {
		e := r.wait(try, crowd)
		r.s.receiving.Add(-1)
		r.reply(r.val, e, 0)
	}()
}

func nonblocking(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err != nil || flags&unix.O_NONBLOCK != 0
}

// wait tries again whenever something came, until the caller's own timeout or
// a signal for it. Whoever waits takes a thread of this process, of which Go
// bears 10,000; in a crowd it looks now and then instead.
func (r *request) wait(try func(*request) unix.Errno, crowd bool) unix.Errno {
	var until time.Time
	if tv, err := unix.GetsockoptTimeval(r.a.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO); err == nil && tv.Nano() > 0 {
		until = time.Now().Add(time.Duration(tv.Nano()))
	}
	const slice = 50 * time.Millisecond // after which signals are looked for
	for {
		left := slice
		if !until.IsZero() {
			left = min(slice, time.Until(until))
		}
		if left <= 0 {
			return unix.EAGAIN
		}
		fds, timeout := []unix.PollFd{{Fd: int32(r.a.fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1
		if crowd {
			time.Sleep(left)
			timeout = 0
		}
		if n, _ := unix.Poll(fds, timeout); n > 0 {
			if e := try(r); e != unix.EAGAIN {
				return e
			}
		}
		if !r.valid() || signalled(r.b.fd) {
			return unix.EINTR
		}
	}
}
