package egress

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// spares are sockets of the run's namespace that wait for a port: a socket
// belongs to the namespace that it was made in, and can be bound from outside.
type spares struct {
	mu   sync.Mutex
	fds  map[int][]int // by family
	open map[uint16]bool
}

// ServeNamespace serves all sockets of a namespace and returns at once. fds
// are the descriptors of ns.Sockets, in order, -1 for an optional one that
// could not be made; they are the Gate's from now on.
func (g *Gate) ServeNamespace(ns *Namespace, fds []int) error {
	if len(fds) != len(ns.Sockets) {
		return fmt.Errorf("serve namespace: %d descriptors for %d sockets", len(fds), len(ns.Sockets))
	}
	g.spares.mu.Lock()
	defer g.spares.mu.Unlock()
	g.spares.fds, g.spares.open = map[int][]int{}, map[uint16]bool{}
	var err error
	for i, s := range ns.Sockets {
		fd := fds[i]
		if fd < 0 {
			continue
		}
		var e error
		switch s.Use {
		case UseSpare:
			g.spares.fds[s.Family] = append(g.spares.fds[s.Family], fd)
		case UseGate:
			g.spares.open[s.Port] = true
			e = serveListener(fd, g.Serve)
		case UseDNSTCP:
			e = serveListener(fd, g.ServeDNSTCP)
		case UseDNS:
			e = servePackets(fd, g.ServeDNS)
		case UseUDP:
			e = servePackets(fd, g.ServeUDP)
		}
		err = errors.Join(err, e)
	}
	if !g.hold(&g.spares) {
		return net.ErrClosed
	}
	return err
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

// Open makes the gate listen on one more port of the run's namespace, if a
// rule grants it; a supervisor calls it before it lets a connect to that port
// go on. It is an error if no rule does, or if 64 ports were opened already:
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
		var addr unix.Sockaddr = &unix.SockaddrInet4{Port: int(port)}
		if family == unix.AF_INET6 {
			addr = &unix.SockaddrInet6{Port: int(port)}
		}
		if e := unix.Bind(fd, addr); e != nil {
			return fmt.Errorf("open port %d: %w", port, e) // the run serves there itself
		}
		s.fds[family] = fds[:len(fds)-1]
		if e := unix.Listen(fd, backlog); e != nil {
			unix.Close(fd)
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
