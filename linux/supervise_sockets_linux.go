package linux

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// The handlers of calls that make sockets and give them addresses. A unix
// socket is reached by a path that only its resolved end tells apart, so the
// performing thread connects to the pinned socket itself.
//
// Unix datagram sockets are not made: sendmsg, whose address no filter sees,
// would carry them past every verdict, and notifying each sendmsg would cost
// every program that passes descriptors or talks over a stream.

// UnixDatagram stands for the path of a refused unix datagram socket.
const UnixDatagram = "unix datagram socket"

// SocketIPv6 stands for the path of a refused socket of IPv6, which many programs
// make only to find out whether there is any: pip, Java.
const SocketIPv6 = "socket of IPv6"

func serveSocket(r *request) {
	domain, typ, proto := int(int32(r.args[0])), int(int32(r.args[1])), int(int32(r.args[2]))
	mode := r.s.config.Profile.Network.Mode
	switch {
	case domain == unix.AF_UNIX:
		if t := typ & 0xf; t != unix.SOCK_STREAM && t != unix.SOCK_SEQPACKET {
			r.refuse(ruling{errno: errAccess, path: UnixDatagram, why: "it could be addressed to anyone, so that no grant allows it"})
			return
		}
	case r.s.inet != nil && (domain == unix.AF_INET || domain == unix.AF_INET6):
		r.s.inet.make(r, domain, typ, proto)
		return
	case r.s.inet == nil && (mode == profiles.NetNone || mode == profiles.NetHosts && !r.s.config.OwnNetwork):
		// The filter refuses it itself unless somebody wants to be told, and
		// nobody of who asks which interfaces there are, as every npm does.
		if domain == unix.AF_NETLINK {
			r.fail(unix.EAFNOSUPPORT)
			return
		}
		rule := ruling{errno: errAccess}
		if domain == unix.AF_INET6 {
			rule.path = SocketIPv6
		}
		r.refuse(rule)
		return
	}
	if r.s.copies.getfd {
		// What the filter lets pass here it lets pass: nothing is decided,
		// and the arguments are numbers that cannot change any more.
		r.resume()
		return
	}
	r.flags = typ & unix.O_CLOEXEC // SOCK_CLOEXEC has its value
	r.perform(func(r *request) unix.Errno {
		fd, err := unix.Socket(domain, typ|unix.SOCK_CLOEXEC, proto)
		if err != nil {
			return errno(err)
		}
		if !r.s.copies.getfd {
			r.s.copies.keep(fd)
		}
		r.fd = fd
		return 0
	})
}

// address is a socket address as the caller gave it.
type address struct {
	raw    []byte
	family uint16
	path   string // AF_UNIX
	bare   bool   // AF_UNIX without a name
}

func (a *address) abstract() bool { return strings.HasPrefix(a.path, "\x00") }

// label names an abstract socket as Profiles do.
func (a *address) label() string { return "@" + a.path[1:] }

const addressMost = 128 // sizeof(struct sockaddr_storage)

func (r *request) address(at, size uint64) (a address, e unix.Errno) {
	n := int(int32(size))
	if n < 0 || n > addressMost {
		return a, unix.EINVAL
	}
	a.raw = make([]byte, n)
	if e := r.read(at, a.raw); e != 0 || n < 2 {
		if e == 0 {
			e = unix.EINVAL
		}
		return a, e
	}
	a.family = binary.NativeEndian.Uint16(a.raw)
	if !r.mayAddress(a.family) {
		return a, unix.EACCES
	}
	if a.family != unix.AF_UNIX {
		return a, 0
	}
	a.path = string(a.raw[2:])
	switch {
	case len(a.path) > 108:
		return a, unix.EINVAL
	case a.path == "":
		a.bare = true
	case a.path[0] != 0:
		if i := bytes.IndexByte(a.raw[2:], 0); i >= 0 {
			a.path = a.path[:i]
		}
	}
	return a, 0
}

// The raw forms of calls: addresses go to the kernel as they came, but for
// the path, which becomes that of a pinned descriptor.
func connectRaw(fd int, raw []byte) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&raw[0])), uintptr(len(raw)))
	return e
}

func bindRaw(fd int, raw []byte) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&raw[0])), uintptr(len(raw)))
	return e
}

func unixAddress(path string) []byte {
	raw := make([]byte, 2, 3+len(path))
	binary.NativeEndian.PutUint16(raw, unix.AF_UNIX)
	return append(append(raw, path...), 0)
}

// reach rules on talking to a unix address and gives the address to use for
// it; r.b pins the socket meanwhile.
func (r *request) reach(a address) (raw []byte, ok bool) {
	switch {
	case r.s.inet != nil && (a.family == unix.AF_INET || a.family == unix.AF_INET6):
		r.fail(unix.EACCES) // of a socket that is not known here
		return nil, false
	case a.family != unix.AF_UNIX || a.bare:
		return a.raw, true
	case a.abstract():
		rule := r.s.decider.socket(a.label(), r.s.decider.ledger.ownAbstract(a.path[1:]))
		switch {
		case rule.ok():
			return a.raw, true
		case r.ownBeside(a.path[1:]):
			r.fail(unix.ECONNREFUSED)
		default:
			r.refuse(rule)
		}
		return nil, false
	}
	if e := r.resolve(&r.b, unix.AT_FDCWD, a.path, followLink); e != 0 {
		r.fail(e)
		return nil, false
	}
	switch {
	case r.b.fd < 0:
		r.fail(unix.ENOENT)
		return nil, false
	case r.b.st.Mode&unix.S_IFMT != unix.S_IFSOCK:
		r.fail(unix.ECONNREFUSED)
		return nil, false
	}
	rule := r.s.decider.socket(r.b.place.path, r.s.decider.ledger.ownSocket(r.b.id(), birth(r.b.fd), r.b.place))
	if !rule.ok() {
		r.refuse(rule)
		return nil, false
	}
	return unixAddress(fdPath(r.b.fd)), true
}

// ownBeside says whether the run bound a socket at the path that an abstract name
// is. X servers have both names, and their clients go on to the path only where
// nobody listens at the other: so it is for a server of the run's, which without a
// network namespace cannot have that.
func (r *request) ownBeside(name string) bool {
	if !strings.HasPrefix(name, "/") || strings.IndexByte(name, 0) >= 0 || r.resolve(&r.b, unix.AT_FDCWD, name, followLink) != 0 {
		return false
	}
	return r.b.fd >= 0 && r.b.st.Mode&unix.S_IFMT == unix.S_IFSOCK && r.s.decider.ledger.ownSocket(r.b.id(), birth(r.b.fd), r.b.place)
}

// birth tells a socket file from a later one with the same inode number. Zero
// where the file system knows no time of birth.
func birth(fd int) int64 {
	_, born, _ := bornAt(fd)
	return born.Sec*1e9 + int64(born.Nsec)
}

// addressed reads what connect and bind have, a socket and an address.
func (r *request) addressed() (a address, e unix.Errno) {
	a, e = r.address(r.args[1], uint64(uint32(r.args[2])))
	if e == 0 {
		e = r.socket(int(int32(r.args[0])))
	}
	return a, e
}

func serveConnect(r *request) {
	if k := r.internet(); k != nil {
		r.s.inet.connect(r, k)
		return
	}
	a, e := r.addressed()
	if is, known := r.again(e); known {
		r.fail(is)
		return
	}
	if e != 0 {
		r.fail(e)
		return
	}
	r.s.copies.shed(nil)
	raw, ok := r.reach(a)
	if !ok {
		return
	}
	dst, own, meets, e := r.ownNetwork(&a)
	if e != 0 {
		r.fail(e)
		return
	}
	connect := func(r *request) unix.Errno {
		fd := r.a.fd
		e := connectRaw(fd, raw)
		if own && (e == unix.ECONNREFUSED || e == unix.EINPROGRESS && missed(fd)) {
			r.s.config.Missed(dst)
		}
		if (e == 0 || e == unix.EINPROGRESS) && !r.s.copies.getfd && a.family != unix.AF_UNSPEC {
			r.s.copies.connected(fd, e == unix.EINPROGRESS)
		}
		return e
	}
	switch {
	case !r.s.copies.getfd || len(raw) > nameMax:
		r.perform(connect)
		return
	case own && !meets && nonblocking(r.a.fd):
		r.perform(connect)
		return
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr = unix.SYS_CONNECT
		q.args = [6]uintptr{uintptr(r.a.fd), uintptr(unsafe.Pointer(&q.names[0])), uintptr(copy(q.names[0][:], raw))}
		if own {
			q.odd[0] = unix.ECONNREFUSED // to be told of
		}
	}, connect)
}

// ownNetwork gives the address that a stream's connect in the run's own network
// means, and whether it meets the gate, which does not miss it. For datagrams it
// only has the gate opened. An error is what the call fails with.
func (r *request) ownNetwork(a *address) (dst netip.AddrPort, own, meets bool, e unix.Errno) {
	if r.s.config.Meets == nil || r.s.config.Missed == nil {
		return dst, false, false, 0
	}
	dst, e = a.inet(a.family == unix.AF_INET6, false)
	if dst = specified(dst); e != 0 || !dst.IsValid() {
		return dst, false, false, 0 // the kernel says what is wrong with it
	}
	if typ, err := unix.GetsockoptInt(r.a.fd, unix.SOL_SOCKET, unix.SO_TYPE); err == nil && typ == unix.SOCK_DGRAM {
		_, e = r.s.config.Meets(dst, profiles.UDP)
		return dst, false, false, e
	}
	meets, e = r.s.config.Meets(dst, profiles.TCP)
	return dst, true, meets, e
}

// missed says whether a connect that is under way in the run's own network, in
// which nothing takes long, was refused within a second. The caller will still be told.
func missed(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n, err := unix.Poll(p, 1000)
	return err == nil && n > 0 && p[0].Revents&unix.POLLERR != 0
}

func serveBind(r *request) {
	if k := r.internet(); k != nil {
		r.s.inet.bind(r, k)
		return
	}
	a, e := r.addressed()
	if e != 0 {
		r.fail(e)
		return
	}
	if r.s.inet != nil && a.family != unix.AF_UNIX && a.family != unix.AF_NETLINK {
		r.fail(unix.EACCES) // of a socket that was accepted; AF_UNSPEC means AF_INET here
		return
	}
	if a.abstract() && !r.s.config.OwnNetwork {
		// Programs outside look for each other by such names.
		if rule := r.s.decider.socket(a.label(), false); !rule.ok() {
			r.refuse(rule)
			return
		}
	}
	if a.family != unix.AF_UNIX || a.bare || a.abstract() {
		r.bindAddress(a)
	} else {
		r.bindFile(a)
	}
}

// bindAddress binds to an address that is not a file's, as it came.
func (r *request) bindAddress(a address) {
	if r.s.copies.havePorts() {
		if open, ok := r.s.openSockets(); ok {
			r.s.copies.shed(open)
		}
	}
	r.perform(func(r *request) unix.Errno {
		if e := bindRaw(r.a.fd, a.raw); e != 0 {
			return e
		}
		if a.family != unix.AF_UNIX {
			if !r.s.copies.getfd {
				r.s.copies.hasPort(r.a.fd)
			}
			return 0
		}
		if r.s.config.OwnNetwork {
			// A name that the kernel chose is somebody else's once the socket is closed.
			sa, _ := unix.Getsockname(r.a.fd)
			if u, ok := sa.(*unix.SockaddrUnix); ok && strings.HasPrefix(u.Name, "@") {
				r.s.decider.ledger.boundAbstract(u.Name[1:])
			}
		}
		r.s.bound(r.a.fd)
		return 0
	})
}

// bindFile binds to a path, which makes the socket's file.
func (r *request) bindFile(a address) {
	if e := r.resolve(&r.b, unix.AT_FDCWD, a.path, neverFollow); e != 0 {
		r.fail(e)
		return
	}
	switch {
	case r.b.parent < 0 || r.b.kind != absent:
		r.fail(unix.EADDRINUSE)
		return
	case r.b.slash:
		r.fail(unix.ENOENT)
		return
	}
	if rule := r.deciders.create(r.b.place, special); !rule.ok() {
		r.refuse(rule)
		return
	}
	if !r.turn(false, r.b.place.dir) {
		return
	}
	r.mode = r.deciders.newMode(0o777, r.mask())
	r.perform(func(r *request) unix.Errno {
		// The file takes its mode from the socket.
		if err := unix.Fchmod(r.a.fd, r.mode); err != nil {
			return errno(err)
		}
		name := fdPath(r.b.parent) + "/" + r.b.place.name
		if len(name) > 107 {
			return unix.ENAMETOOLONG
		}
		if e := bindRaw(r.a.fd, unixAddress(name)); e != 0 {
			return e
		}
		r.madeSocket(&r.b)
		r.add(&r.b, dirID{})
		r.s.copies.named(r.a.fd, a.raw)
		r.s.bound(r.a.fd)
		return 0
	})
}

// serveGetsockname answers with the address that was given to bind; all other
// sockets' the kernel tells. Nothing is decided here.
func serveGetsockname(r *request) {
	if k := r.internet(); k != nil {
		r.s.inet.name(r, k)
		return
	}
	ino, e := r.socketInode(int(int32(r.args[0])))
	r.s.copies.mu.Lock()
	raw, ok := r.s.copies.bound[ino]
	r.s.copies.mu.Unlock()
	if e != 0 || !ok || !r.valid() {
		r.resume()
		return
	}
	if raw[len(raw)-1] != 0 && len(raw) < 110 {
		raw = append(raw[:len(raw):len(raw)], 0) // as the kernel does
	}
	r.fail(r.store(raw, r.args[1], r.args[2]))
}

// serveSendto serves sends with an address. The caller makes all but those of
// datagrams that are carried for it, as it does by sendmsg: no other socket that it
// can have leads out by one. A netlink message it has to send itself. Where it has an
// address the kernel asks what its sender may, and not who opened the socket; and to
// who made a user namespace everything in it is allowed, whatever capabilities were
// dropped.
func serveSendto(r *request) {
	if k := r.internet(); k != nil {
		if k.end == nil {
			r.resumeSend(arg4) // a stream pays no heed to the address
			return
		}
		r.s.inet.sendtoDatagram(r, k)
		return
	}
	a, e := r.address(r.args[4], uint64(uint32(r.args[5])))
	if e == 0 && r.s.config.OwnNetwork {
		if e = r.socket(int(int32(r.args[0]))); e == 0 {
			_, _, _, e = r.ownNetwork(&a)
		}
	}
	if e != 0 {
		r.fail(e)
		return
	}
	r.resumeSend(arg4)
}
