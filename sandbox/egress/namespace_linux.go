package egress

import (
	"cmp"
	"fmt"
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
	fds  map[int][]int // by family
	open map[uint16]bool
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
	s.fds, s.open = map[int][]int{}, map[uint16]bool{}
	s.mu.Unlock()
	if !g.hold(s) {
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
		g.spares.mu.Lock()
		g.spares.fds[s.Family] = append(g.spares.fds[s.Family], fd)
		g.spares.mu.Unlock()
		return nil
	}
	if err := s.bind(fd, s.Port); err != nil {
		return err
	}
	keep = true
	switch s.Use {
	case UseDNS:
		return servePackets(fd, g.ServeDNS)
	case UseUDP:
		return servePackets(fd, g.ServeUDP)
	case UseDNSTCP:
		return serveListener(fd, g.ServeDNSTCP)
	}
	g.spares.mu.Lock()
	g.spares.open[s.Port] = true
	g.spares.mu.Unlock()
	return serveListener(fd, g.Serve)
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

// Meets says whether a connect to dst in the run's namespace meets the gate,
// which accepts at once. A supervisor asks before it connects: where a rule
// grants dst at a port that the gate does not have yet, it is opened.
func (g *Gate) Meets(dst netip.AddrPort) bool {
	dst = netip.AddrPortFrom(dst.Addr().Unmap(), dst.Port())
	g.spares.mu.Lock()
	open := g.spares.open[dst.Port()]
	g.spares.mu.Unlock()
	if open || !dst.IsValid() || dst.Addr().Zone() != "" {
		return open
	}
	if g.exchange(nil, DoorGate).aim(dst, g.Handed(dst.Addr())) != Granted {
		return false // such as a port where the run itself is about to serve
	}
	return g.Open(dst.Port()) == nil
}

// Missed reports a connect of the run that nothing in its namespace took,
// neither the gate nor a service of its own.
func (g *Gate) Missed(dst netip.AddrPort) {
	x := g.exchange(nil, DoorGate)
	if x.v.Reason = x.aim(dst, g.Handed(dst.Addr())); x.v.Reason == Granted {
		x.v.Reason = NoRoom
	}
	x.report()
}

// Open makes the gate listen on one more port of the run's namespace, if a
// rule grants it. It is an error if no rule does, or if 16 ports were opened already:
// the run's connect then fails with ECONNREFUSED.
func (g *Gate) Open(port uint16) error {
	if !g.policy.carries(port, profiles.TCP) {
		return fmt.Errorf("open port %d: %s", port, WrongPort)
	}
	s := &g.spares
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[port] {
		return nil
	}
	err := fmt.Errorf("open port %d: no socket left", port)
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		fds := s.fds[family]
		if len(fds) == 0 {
			continue
		}
		fd := fds[len(fds)-1]
		s.fds[family] = fds[:len(fds)-1]
		spare := Socket{Family: family, Type: unix.SOCK_STREAM}
		if e := spare.bind(fd, port); e != nil {
			s.fds[family] = append(s.fds[family], fd) // the run serves there itself
			return fmt.Errorf("open port %d: %w", port, e)
		}
		if e := serveListener(fd, g.Serve); e != nil {
			return e
		}
		s.open[port], err = true, nil
	}
	return err
}

func serveListener(fd int, serve func(net.Listener) error) error {
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	ln, err := net.FileListener(f)
	if err != nil {
		return fmt.Errorf("serve descriptor %d: %w", fd, err)
	}
	go serve(ln)
	return nil
}

func servePackets(fd int, serve func(net.PacketConn) error) error {
	f := os.NewFile(uintptr(fd), "packets")
	defer f.Close()
	pc, err := net.FilePacketConn(f)
	if err != nil {
		return fmt.Errorf("serve descriptor %d: %w", fd, err)
	}
	go serve(pc)
	return nil
}
