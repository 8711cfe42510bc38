package egress

import (
	"io"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Close ends all connections and makes the Serve methods return. When it
// returns, the verdicts of what it has ended are reported. The run has ended by
// then: what it sent before is passed on, for drainWait at most.
func (g *Gate) Close() error {
	g.drain()
	g.end()
	g.mu.Lock()
	g.closed = true
	open := g.open
	g.open = nil
	g.mu.Unlock()
	for c := range open {
		c.Close()
	}
	g.work.Wait()
	return g.listeners.Close()
}

// drainWait is how long what a run sent before its end is passed on.
const drainWait = 2 * time.Second

// server is a listener, or a socket for datagrams of anybody's.
type server interface {
	syscall.Conn
	SetDeadline(time.Time) error
}

// drain waits until nothing is sending: a server ends when it has nothing left
// to take, and a connection when the run's end of it does.
func (g *Gate) drain() {
	g.mu.Lock()
	if g.draining {
		g.mu.Unlock()
		return
	}
	g.draining = true
	for c, sends := range g.open {
		switch c.(type) {
		case net.Listener, net.PacketConn:
			if s, ok := c.(server); ok && sends {
				s.SetDeadline(time.Now()) // wakes it
			}
		}
	}
	g.settled()
	g.mu.Unlock()
	select {
	case <-g.quiet.Done():
	case <-time.After(drainWait):
	}
}

// over says whether a server has nothing more to take, which it never has while
// the run lives.
func (g *Gate) over(c io.Closer) bool {
	g.mu.Lock()
	draining := g.draining
	g.mu.Unlock()
	s, ok := c.(server)
	if !draining || !ok {
		return draining
	}
	s.SetDeadline(time.Time{})
	raw, err := s.SyscallConn()
	if err != nil {
		return true
	}
	ready := false
	raw.Control(func(fd uintptr) {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		ready = n > 0
	})
	return !ready
}

// begin says that work starts for which Close waits, unless all is over.
func (g *Gate) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.work.Add(1)
	}
	return !g.closed
}

// hold makes Close close c too, after what the run sends by it. It says no, and
// closes c, if that is over.
func (g *Gate) hold(c io.Closer, sends bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		c.Close()
		return false
	}
	if _, held := g.open[c]; !held {
		g.open[c] = sends
		if sends {
			g.sending++
		}
	}
	return true
}

// settle says that all that the run sent by c is passed on, or never will be.
func (g *Gate) settle(c io.Closer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[c] {
		g.open[c] = false
		g.sending--
		g.settled()
	}
}

// settled tells Close if nothing is sending. g.mu is held.
func (g *Gate) settled() {
	if g.sending == 0 && g.draining {
		g.rest()
	}
}

func (g *Gate) release(c io.Closer) {
	g.settle(c)
	g.mu.Lock()
	delete(g.open, c)
	g.mu.Unlock()
	c.Close()
}
