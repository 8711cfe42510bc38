package linux

import (
	"container/list"
	"net/netip"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// Egress rules on the internet sockets of a run that has no network namespace
// of its own. The Supervisor then makes all of them.
//
// Streams are bound to the loopback device, so that they can never leave the
// machine, and are connected by the Supervisor, never by the caller. Datagram
// sockets are not internet sockets at all: see [inetSocket].
type Egress struct {
	// Connect says where to lead a stream that wants to go to dst, whose
	// address is neither unspecified nor IPv4-mapped: a door on IPv4 loopback.
	// register is then called with the stream's own address; it may be nil. A
	// refused stream is told ECONNREFUSED, as the kernel would.
	Connect func(dst netip.AddrPort) (door netip.AddrPort, register func(local netip.AddrPort), ok bool)
	// Send takes a datagram that a socket, known by its number, sends to dst.
	// data is Send's for the call only. What comes back goes to answer, from
	// any goroutine. It returns false for what is refused, and does not block.
	Send func(socket uint64, dst netip.AddrPort, data []byte, answer func([]byte)) bool
}

// inet holds the internet sockets that were made for a run.
type inet struct {
	s      *Supervisor
	egress *Egress
	listen []profiles.ListenRule
	// roams says that streams are not kept on this machine from the start, but
	// when they are bound or connected: some may be listened with at every
	// address.
	roams bool
	// private4 and private6 are addresses of this machine's loopback on which
	// only this run listens: what it serves to its own processes stands there,
	// whatever loopback address it asked for.
	private4, private6 netip.Addr
	// nobody is the socket that has the address of [inet.nowhere].
	nobody int

	mu      sync.Mutex
	sockets map[uint64]*inetSocket // by inode number
	held    list.List              // those with a copy, the least recently used first
	told    list.List              // those about which something is known, without one
	most    int                    // of held
	serving map[uint16][]*inetSocket
	ports   map[uint16][]*inetSocket // of datagram sockets
	next    uint16                   // datagram port to try next
	buffers sync.Pool                // *[1 << 16]byte

	carriers sync.WaitGroup // of datagrams
}

// inetSocket is a socket that was made for the run.
//
// A stream is a TCP socket; the copy of it is let go as soon as nothing more
// has to be decided about it, since it would keep the other end from seeing it
// closed. A datagram socket is one end of a pair whose messages the Supervisor
// carries: no call that the caller makes on it can send a packet anywhere, be
// it the one that was ruled on or another. The kernel forgets the device of a
// UDP socket that is disconnected, and takes another for link-local addresses.
type inetSocket struct {
	ino    uint64
	fd     int // a copy of the caller's; -1 once it was let go
	six    bool
	only6  bool // the caller set IPV6_V6ONLY, whatever the socket has
	state  inetState
	asked  netip.AddrPort // the address that the caller thinks it has
	actual netip.AddrPort // a stream's, where it is bound
	peer   netip.AddrPort // what it is connected to, as the caller sees it
	own    bool           // was led to a service of the run's own, and is to nothing else
	end    *datagramEnd   // of datagram sockets
	at     *list.Element
}

type inetState uint8

const (
	inetFresh inetState = iota
	inetConnecting
	inetConnected
	inetListening
)

const (
	// copiedMost bounds the copies; the oldest goes first, and can then no
	// longer be connected or addressed.
	copiedMost = 1024
	// toldMost bounds what is known of sockets without a copy: of older ones
	// the caller is told what the kernel knows.
	toldMost = 1 << 14
)

func newInet(s *Supervisor, e *Egress, network *profiles.Network) (*inet, error) {
	n := &inet{s: s, egress: e, listen: network.Listen, sockets: map[uint64]*inetSocket{}, most: copiedMost, nobody: -1,
		serving: map[uint16][]*inetSocket{}, ports: map[uint16][]*inetSocket{}}
	n.roams = slices.ContainsFunc(n.listen, func(l profiles.ListenRule) bool { return l.Any })
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		n.most = int(max(16, min(copiedMost, files.Cur/8)))
	}
	var random [6]byte
	if _, err := unix.Getrandom(random[:], 0); err != nil {
		return nil, err
	}
	part := func(b byte) byte { return 1 + b%254 }
	n.private4 = netip.AddrFrom4([4]byte{127, 1 + random[0]%126, part(random[1]), part(random[2])})
	n.private6 = netip.AddrFrom4([4]byte{127, 128 + random[3]%126, part(random[4]), part(random[5])})
	return n, nil
}

// internet gives the internet socket that a call is about, nil if it is
// something else.
func (r *request) internet() *inetSocket {
	if r.s.inet == nil {
		return nil
	}
	if r.s.copies.getfd { // several times as fast as asking /proc
		if r.fetchSocket(int(int32(r.args[0]))) != 0 {
			return nil
		}
		return r.s.inet.find(r.a.st.Ino)
	}
	ino, e := r.socketInode(int(int32(r.args[0])))
	if e != 0 {
		return nil
	}
	return r.s.inet.find(ino)
}

// copyOf gives a descriptor of ours for k, in r.a, so that it is closed with
// the request.
func (n *inet) copyOf(r *request, k *inetSocket) unix.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k.fd < 0 {
		return unix.EACCES
	}
	if r.a.opened { // fetched
		return 0
	}
	var e unix.Errno
	r.a = object{parent: -1}
	r.a.fd, e = dup(k.fd)
	r.a.opened = e == 0
	return e
}

// peer gives what k is connected to, as the caller sees it.
func (n *inet) peer(k *inetSocket) netip.AddrPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	return k.peer
}

// make serves socket(2).
func (n *inet) make(r *request, domain, typ, proto int) {
	k := &inetSocket{six: domain == unix.AF_INET6}
	var fd int
	var e unix.Errno
	if typ&0xf == unix.SOCK_DGRAM {
		fd, e = n.newDatagram(k, domain, typ, proto)
	} else {
		fd, e = n.newStream(domain, typ, proto)
	}
	if e != 0 {
		r.fail(e)
		return
	}
	if e = n.keep(fd, k); e != 0 {
		unix.Close(fd)
		if k.end != nil {
			k.end.file.Close()
		}
		r.fail(e)
		return
	}
	if k.end != nil {
		n.carriers.Add(1)
		go n.carry(k)
	}
	r.flags = typ & unix.O_CLOEXEC // SOCK_CLOEXEC has its value
	given, e := r.give(fd)
	r.reply(given, e, 0)
	if e != 0 {
		n.mu.Lock()
		n.forget(k)
		n.mu.Unlock()
	}
}

// newStream makes a stream socket that cannot leave the machine.
func (n *inet) newStream(domain, typ, proto int) (int, unix.Errno) {
	fd, err := unix.Socket(domain, typ|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return -1, errno(err)
	}
	if n.roams {
		return fd, 0
	}
	if e := stay(fd); e != 0 {
		unix.Close(fd)
		return -1, e
	}
	return fd, 0
}

// stay keeps a stream on this machine: for good, without a capability that the
// run does not have. It fails for one that the run has bound to another device.
func stay(fd int) unix.Errno {
	const device = "lo"
	err := unix.BindToDevice(fd, device)
	if err == unix.EPERM {
		if is, err := unix.GetsockoptString(fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE); err == nil && is == device {
			return 0
		}
	}
	return errno(err)
}

// connect serves connect(2).
func (n *inet) connect(r *request, k *inetSocket) {
	a, e := r.address(r.args[1], uint64(uint32(r.args[2])))
	if e != 0 {
		r.fail(e)
		return
	}
	if k.end != nil {
		n.connectDatagram(r, k, &a)
		return
	}
	n.mu.Lock()
	state := k.state
	if state == inetConnecting {
		k.state = inetConnected // whoever asks again is told once
	}
	n.mu.Unlock()
	switch state {
	case inetConnecting:
		r.succeed(0)
		return
	case inetConnected, inetListening:
		r.fail(unix.EISCONN)
		return
	}
	dst, e := a.inet(k.six, false)
	if e == 0 && a.family == unix.AF_UNSPEC {
		e = unix.EINVAL
	}
	if e != 0 {
		r.fail(e)
		return
	}
	if e := n.copyOf(r, k); e != 0 {
		r.fail(e)
		return
	}
	dst = specified(dst)
	to, register, e := n.way(k, dst)
	own := k.own
	refused := e == unix.ECONNREFUSED && !own
	if refused {
		to, e = n.nowhere()
	}
	if e != 0 {
		r.fail(e)
		return
	}
	// The gate accepts at once and nobody refuses at once, but the run itself may
	// do neither, and options of a socket can have it drop every answer.
	r.perform(func(r *request) unix.Errno {
		if refused {
			return n.connectTo(k, r.a.fd, to, false)
		}
		e := n.lead(k, r.a.fd, dst, to, own, register)
		if e == 0 || e == unix.EINPROGRESS {
			n.mu.Lock()
			n.letGo(k)
			n.mu.Unlock()
		}
		return e
	})
}

// way gives where k, which wants to go to dst, is led, and who is to be told of its
// own address. Only the resolving thread calls it.
func (n *inet) way(k *inetSocket, dst netip.AddrPort) (to netip.AddrPort, register func(netip.AddrPort), e unix.Errno) {
	if other := n.server(dst); other != nil {
		k.own = true
		return other.actual, nil, 0
	}
	if k.own {
		return to, nil, unix.ECONNREFUSED // it does not hear others
	}
	if dst.Addr().Is6() && !dst.Addr().IsLoopback() {
		// As without us, so that programs turn to IPv4.
		if _, e := source(dst); e != 0 {
			return to, nil, e
		}
	}
	to, register, ok := n.egress.Connect(dst)
	if !ok {
		return to, nil, unix.ECONNREFUSED
	}
	return to, register, 0
}

// nowhere gives an address at which nobody listens and nobody else can. The kernel
// refuses a stream that is led there as it refuses any, at once or, where the caller
// does not block, later. Only the resolving thread calls it.
func (n *inet) nowhere() (netip.AddrPort, unix.Errno) {
	if n.nobody < 0 {
		var e unix.Errno
		if n.nobody, e = n.newStream(unix.AF_INET, unix.SOCK_STREAM, 0); e != 0 {
			return netip.AddrPort{}, unix.ECONNREFUSED
		}
		bindRaw(n.nobody, inetRaw(netip.AddrPortFrom(n.private4, 0), false))
	}
	at := localOf(n.nobody)
	if at.Port() == 0 {
		return at, unix.ECONNREFUSED
	}
	return at, 0
}

// connectTo connects a stream to where it is led. own says that this is to one of
// the run's own that listened when it was looked for.
//
// It may do so no more by the time that it is asked: who has it leave packets
// unanswered has the kernel ask again a minute later, or for the first time when
// something is sent (TCP_FASTOPEN_CONNECT). Another program of this machine's that
// listens at that port of every address by then answers from less far away, and is
// not heard.
func (n *inet) connectTo(k *inetSocket, fd int, to netip.AddrPort, own bool) unix.Errno {
	if n.roams {
		if e := stay(fd); e != 0 {
			return e
		}
	}
	if k.six {
		n.openToFour(k, fd) // fails if it is bound; so does what follows
	}
	if own {
		if e := k.setHops(fd, unix.IP_MINTTL, unix.IPV6_MINHOPCOUNT, farthest); e != 0 {
			return e
		}
	}
	e := connectRaw(fd, inetRaw(to, k.six))
	if own && (e == 0 || e == unix.EINPROGRESS) && connected(fd) {
		k.setHops(fd, unix.IP_MINTTL, unix.IPV6_MINHOPCOUNT, 0) // the kernel's resets have others
	}
	return e
}

// farthest is how many hops packets of the run's listening streams could make, the
// most there is. Those of others have 64, unless the machine is set up otherwise.
const farthest = 255

// setHops sets an option about hops, which streams of IPv6 have for both kinds of
// address.
func (k *inetSocket) setHops(fd, four, six, hops int) unix.Errno {
	err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, four, hops)
	if err == nil && k.six {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, six, hops)
	}
	return errno(err)
}

// connected says whether a stream that asked is answered, as it is at once if it is to
// one here that has room.
func connected(fd int) bool {
	const established, closeWait = 1, 8
	unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 10)
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err == nil && (info.State == established || info.State == closeWait)
}

// openToFour has a stream of IPv6 take addresses of IPv4, whatever the caller
// asked for, which is remembered, and says whether that was IPv6 alone.
func (n *inet) openToFour(k *inetSocket, fd int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if only, err := unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY); err == nil && only != 0 {
		k.only6 = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0) == nil
	}
	return k.only6
}

// lead connects a stream that wants to go to dst to where it is led.
func (n *inet) lead(k *inetSocket, fd int, dst, to netip.AddrPort, own bool, register func(netip.AddrPort)) unix.Errno {
	e := n.connectTo(k, fd, to, own)
	if e != 0 && e != unix.EINPROGRESS {
		return e
	}
	if register != nil {
		register(localOf(fd))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	k.peer, k.asked, k.state = dst, netip.AddrPort{}, inetConnected
	if e != 0 {
		k.state = inetConnecting
	}
	return e
}

// bind serves bind(2).
func (n *inet) bind(r *request, k *inetSocket) {
	a, e := r.address(r.args[1], uint64(uint32(r.args[2])))
	var at netip.AddrPort
	if e == 0 {
		at, e = a.inet(k.six, true)
	}
	n.mu.Lock()
	used := k.asked.IsValid() || k.state != inetFresh
	n.mu.Unlock()
	switch {
	case e != 0:
	case used:
		e = unix.EINVAL
	case !at.Addr().IsUnspecified() && !at.Addr().IsLoopback():
		e = unix.EADDRNOTAVAIL
	case !r.valid():
		e = unix.EINTR
	case k.end != nil:
		e = n.bindDatagram(k, at)
	default:
		e = n.bindStream(k, at)
	}
	r.fail(e)
}

// bindStream gives a stream the address of its own that stands for the one
// asked for; or that one, if a rule grants to listen there.
func (n *inet) bindStream(k *inetSocket, at netip.AddrPort) unix.Errno {
	n.mu.Lock()
	fd := k.fd
	n.mu.Unlock()
	if fd < 0 {
		return unix.EACCES
	}
	to := at
	granted, any := n.mayListen(at.Port())
	if !any && n.roams {
		if e := stay(fd); e != 0 {
			return e
		}
	}
	if !granted {
		own := n.private4
		if k.six && (n.openToFour(k, fd) || at.Addr().IsLoopback()) && at.Addr().Is6() {
			own = n.private6
		}
		to = netip.AddrPortFrom(own, at.Port())
	}
	e := bindRaw(fd, inetRaw(to, k.six))
	if e == unix.EADDRINUSE && n.sweep() {
		// A copy of a socket that the run has closed had it.
		e = bindRaw(fd, inetRaw(to, k.six))
	}
	if e != 0 {
		return e
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	k.actual = localOf(fd)
	switch {
	case k.six && granted:
		only, _ := unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY)
		k.only6 = only != 0
	case at.Addr().Is6() && !at.Addr().IsUnspecified():
		k.only6 = true // as the kernel does
	}
	k.asked = netip.AddrPortFrom(at.Addr(), k.actual.Port())
	return 0
}

// mayListen says whether others may reach the run at port, on this machine or
// from anywhere.
func (n *inet) mayListen(port uint16) (granted, any bool) {
	for i := range n.listen {
		if l := &n.listen[i]; port != 0 && l.Ports.Contains(port) {
			granted, any = true, any || l.Any
		}
	}
	return granted, any
}

// serveListen serves listen(2).
func serveListen(r *request) {
	k := r.internet()
	if k == nil {
		r.listenUnix()
		return
	}
	n := r.s.inet
	if !r.mayAddress(unix.AF_INET) {
		r.fail(unix.EACCES)
		return
	}
	if k.end != nil {
		r.fail(unix.EOPNOTSUPP)
		return
	}
	n.mu.Lock()
	state, bound := k.state, k.asked.IsValid()
	n.mu.Unlock()
	switch state {
	case inetListening:
		r.succeed(0)
		return
	case inetConnecting, inetConnected:
		r.fail(unix.EINVAL)
		return
	}
	if !bound { // the kernel would choose a port at every address
		if e := n.bindStream(k, netip.AddrPortFrom(unspecified(k.six), 0)); e != 0 {
			r.fail(e)
			return
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if k.fd < 0 || !r.valid() {
		r.fail(unix.EACCES)
		return
	}
	if e := k.setHops(k.fd, unix.IP_TTL, unix.IPV6_UNICAST_HOPS, farthest); e != 0 {
		r.fail(e)
		return
	}
	if err := unix.Listen(k.fd, int(int32(r.args[1]))); err != nil {
		r.fail(errno(err))
		return
	}
	k.state = inetListening
	n.serving[k.actual.Port()] = append(n.serving[k.actual.Port()], k)
	r.succeed(0)
	n.letGo(k)
}

// listenUnix has a unix socket of the caller's listen. The caller does not go on
// itself: by then its number could be that of an internet socket without an
// address, which the kernel would give one at every address of the machine.
func (r *request) listenUnix() {
	if e := r.socket(int(int32(r.args[0]))); e != 0 {
		r.fail(e)
		return
	}
	domain, err := unix.GetsockoptInt(r.a.fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	switch {
	case err != nil:
		r.fail(errno(err))
	case domain != unix.AF_UNIX:
		r.fail(unix.EOPNOTSUPP)
	case !r.valid():
		r.fail(unix.EINTR)
	default:
		err := unix.Listen(r.a.fd, int(int32(r.args[1])))
		if err == nil && !r.s.copies.getfd {
			r.s.copies.done(r.a.fd) // or its other end would not see it closed
		}
		r.fail(errno(err))
	}
}

// hears says whether a socket bound as k is meant by dst.
func (k *inetSocket) hears(dst netip.Addr) bool {
	at := k.asked.Addr()
	if dst.Is4() {
		return at.Is4() || at.IsUnspecified() && !k.only6
	}
	return at.Is6()
}

// server gives the stream of the run's own that listens at dst, nil if there
// is none.
func (n *inet) server(dst netip.AddrPort) *inetSocket {
	if !dst.Addr().IsLoopback() {
		return nil
	}
	n.mu.Lock()
	var candidates []*inetSocket
	for _, k := range n.serving[dst.Port()] {
		if k.hears(dst.Addr()) {
			candidates = append(candidates, k)
		}
	}
	n.mu.Unlock()
	for _, k := range candidates {
		if n.s.listens(k) {
			return k
		}
		n.mu.Lock()
		n.forget(k) // it is closed
		n.mu.Unlock()
	}
	return nil
}
