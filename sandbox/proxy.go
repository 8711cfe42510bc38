package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// proxy is the way out of a run that may reach named hosts where it cannot
// have a network of its own: the gate as a proxy on loopback, and no other
// address that the kernel lets the run reach. A nil proxy is no way out.
type proxy struct {
	gate *egress.Gate
	port uint16
}

// newProxy opens the way out, where the profile names hosts.
func newProxy(spec *Spec) (*proxy, error) {
	if spec.Profile.Network.Mode != profiles.NetHosts {
		return nil, nil
	}
	listeners, port, err := listenLocal()
	if err != nil {
		return nil, fmt.Errorf("open the gate: %w", err)
	}
	gate, err := egress.New(egress.Config{Network: &spec.Profile.Network, Parents: spec.Parents, Report: spec.connection})
	if err != nil {
		for _, l := range listeners {
			l.Close()
		}
		return nil, err
	}
	for _, l := range listeners {
		go gate.ServeProxy(l)
	}
	return &proxy{gate, port}, nil
}

// listenLocal listens on one port of every loopback address: the run may reach
// that port on all of them, and nobody else is to answer there.
func listenLocal() (all []net.Listener, port uint16, err error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		// Go shares ports with listeners on other addresses, which the run
		// could then reach as well.
		var failed error
		err := c.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
		})
		return errors.Join(err, failed)
	}}
	for range 20 {
		four, err := config.Listen(context.Background(), "tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, 0, err
		}
		port := four.Addr().(*net.TCPAddr).Port
		six, err := config.Listen(context.Background(), "tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
		switch {
		case err == nil:
			return []net.Listener{four, six}, uint16(port), nil
		case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT):
			return []net.Listener{four}, uint16(port), nil // a machine without IPv6
		}
		four.Close()
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, 0, err
		}
	}
	return nil, 0, errors.New("no port of loopback is free")
}

// environment gives what a profile passes and sets, with the way to the proxy.
func (p *proxy) environment(env profiles.Env) *profiles.Env {
	if p != nil {
		env.Set = append(env.Set[:len(env.Set):len(env.Set)], egress.ProxyEnv("localhost:"+strconv.Itoa(int(p.port)))...)
	}
	return &env
}

// at is the port that the gate listens on; 0 without one.
func (p *proxy) at() uint16 {
	if p == nil {
		return 0
	}
	return p.port
}

func (p *proxy) close() {
	if p != nil {
		p.gate.Close()
	}
}
