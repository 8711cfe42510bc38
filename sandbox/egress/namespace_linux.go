package egress

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// spares are sockets of the run's namespace that wait for a port.
type spares struct {
	mu   sync.Mutex
	fds  map[spareKind][]int
	open map[openPort]bool
}

type spareKind struct {
	proto  profiles.Protocol
	family int
}

type openPort struct {
	proto profiles.Protocol
	port  uint16
}

// protocol is TCP or UDP, as the socket's type says.
func (s *Socket) protocol() profiles.Protocol {
	if s.Type&0xf == unix.SOCK_DGRAM {
		return profiles.UDP
	}
	return profiles.TCP
}

// ServeNamespace turns a fresh network namespace into one where every address
// leads to the gate, serves its sockets, and returns at once. fds are the
// descriptors of ns.Sockets, in order, -1 for an optional one that could not
// be made; they are the Gate's from now on, also after an error.
//
// The caller stays outside the namespace. It needs to have made it, or
// capabilities over it. Nothing of the run may have started yet.
func (g *Gate) ServeNamespace(ns *Namespace, fds []int) error {
	if len(fds) != len(ns.Sockets) {
		return fmt.Errorf("serve namespace: %d descriptors for %d sockets", len(fds), len(ns.Sockets))
	}
	served := 0
	defer func() {
		for _, fd := range fds[served:] { // none, but after an error
			if fd >= 0 {
				unix.Close(fd)
			}
		}
	}()
	s := &g.spares
	s.mu.Lock()
	s.fds, s.open = map[spareKind][]int{}, map[openPort]bool{}
	s.mu.Unlock()
	if !g.hold(s, false) {
		return net.ErrClosed
	}
	for i := range ns.Sockets {
		served++
		if err := g.serveSocket(&ns.Sockets[i], fds[i]); err != nil {
			return fmt.Errorf("serve namespace: port %d: %w", ns.Sockets[i].Port, err)
		}
	}
	return nil
}

// serveSocket owns fd, whatever becomes of it.
func (g *Gate) serveSocket(s *Socket, fd int) error {
	keep := false
	defer func() {
		if !keep && fd >= 0 {
			unix.Close(fd)
		}
	}()
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	switch {
	case err == nil && family == s.Family:
	case s.Optional:
		return nil
	default:
		return fmt.Errorf("descriptor %d is not the socket: %w", fd, cmp.Or(err, error(unix.EINVAL)))
	}
	switch s.Use {
	case UseNetlink:
		return configure(fd)
	case UseSpare:
		keep = true
		kind := spareKind{s.protocol(), s.Family}
		g.spares.mu.Lock()
		g.spares.fds[kind] = append(g.spares.fds[kind], fd)
		g.spares.mu.Unlock()
		return nil
	}
	if err := s.bind(fd, s.Port); err != nil {
		return err
	}
	keep = true
	switch s.Use {
	case UseDNS:
		return serveOn(g, fd, net.FilePacketConn, g.ServeDNS)
	case UseDNSTCP:
		return serveOn(g, fd, net.FileListener, g.serveDNSTCP)
	}
	g.spares.mu.Lock()
	g.spares.open[openPort{s.protocol(), s.Port}] = true
	g.spares.mu.Unlock()
	return g.serveGate(fd, s.protocol())
}

func (g *Gate) serveGate(fd int, proto profiles.Protocol) error {
	if proto == profiles.UDP {
		return serveOn(g, fd, net.FilePacketConn, g.serveUDP)
	}
	return serveOn(g, fd, net.FileListener, g.serve)
}

// Close closes what is left.
func (s *spares) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fds := range s.fds {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}
	s.fds = nil
	return nil
}

// Meets says whether a connect to dst in the run's namespace, or a datagram,
// meets the gate, which takes it at once. A supervisor asks before it connects
// or sends: where a rule grants dst at a port that the gate does not have yet,
// it is opened. An error is what the run is to be told instead: that this
// machine has no way to dst, or that nobody serves it.
func (g *Gate) Meets(dst netip.AddrPort, proto profiles.Protocol) (bool, unix.Errno) {
	dst = netip.AddrPortFrom(dst.Addr().Unmap(), dst.Port())
	g.spares.mu.Lock()
	open := g.spares.open[openPort{proto, dst.Port()}]
	g.spares.mu.Unlock()
	if !dst.IsValid() || dst.Addr().Zone() != "" {
		return open, 0
	}
	if e := unroutable(dst.Addr()); e != 0 {
		return false, e
	}
	if open && !dst.Addr().IsLoopback() {
		return true, 0
	}
	x := g.exchange(nil, DoorGate)
	x.v.Protocol = proto
	if x.aim(dst, g.Handed(dst.Addr())) != Granted {
		return open, 0 // such as a port where the run itself is about to serve
	}
	if proto == profiles.TCP && g.absent(dst) {
		if !open {
			return false, 0 // the run itself may
		}
		x.v.Reason = Unreachable
		x.report()
		return false, unix.ECONNREFUSED
	}
	return open || g.Open(dst.Port(), proto) == nil, 0
}

// Missed reports a connect of the run that nothing in its namespace took,
// neither the gate nor a service of its own.
func (g *Gate) Missed(dst netip.AddrPort) {
	x := g.exchange(nil, DoorGate)
	if x.v.Reason = x.aim(dst, g.Handed(dst.Addr())); x.v.Reason == Granted {
		x.v.Reason = NoRoom
		if dst.Addr().IsLoopback() {
			x.v.Reason = Unreachable // as a rule: Meets opens a port only where somebody serves
		}
	}
	x.report()
}

// Open makes the gate serve one more port of the run's namespace, if a rule
// grants it. It is an error if no rule does, or if 16 ports of the protocol
// were opened already: the run's connect then fails with ECONNREFUSED, and its
// datagrams are lost.
func (g *Gate) Open(port uint16, proto profiles.Protocol) error {
	if !g.policy.carries(port, proto) {
		return fmt.Errorf("open port %d: %s", port, WrongPort)
	}
	s := &g.spares
	s.mu.Lock()
	defer s.mu.Unlock()
	key := openPort{proto, port}
	if s.open[key] {
		return nil
	}
	kind := unix.SOCK_STREAM
	if proto == profiles.UDP {
		kind = unix.SOCK_DGRAM
	}
	err := fmt.Errorf("open port %d: no socket left", port)
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		of := spareKind{proto, family}
		fds := s.fds[of]
		if len(fds) == 0 {
			continue
		}
		fd := fds[len(fds)-1]
		s.fds[of] = fds[:len(fds)-1]
		spare := Socket{Family: family, Type: kind}
		if e := spare.bind(fd, port); e != nil {
			s.fds[of] = append(s.fds[of], fd) // the run serves there itself
			return fmt.Errorf("open port %d: %w", port, e)
		}
		if e := g.serveGate(fd, proto); e != nil {
			return e
		}
		s.open[key], err = true, nil
	}
	return err
}

// serveOn serves what the Go runtime makes of a socket, which it owns.
func serveOn[S io.Closer](g *Gate, fd int, open func(*os.File) (S, error), serve func(S) error) error {
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	s, err := open(f)
	if err != nil {
		return fmt.Errorf("serve descriptor %d: %w", fd, err)
	}
	if !g.hold(s, true) { // here, since Close may come before the goroutine
		return net.ErrClosed
	}
	go serve(s)
	return nil
}
