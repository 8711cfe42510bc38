package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// Config is what a Gate needs to know. Only Network is required.
type Config struct {
	Network *profiles.Network
	// System tells how to resolve names; nil reads the machine's own files.
	System *System
	// Parents are the proxies that names are reached by; nil is none.
	Parents *Parents
	// Dial makes the connections out, to addresses only, and those to name
	// servers; nil is a plain dialer. A test puts its own here.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Report receives each verdict; nil drops them. It is called from many
	// goroutines and must not block for long.
	Report func(Verdict)
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// MaxConnections bounds the connections alive at once, flows of datagrams
	// among them (10000, or as many as the process's limit of open files leaves
	// room for). Each takes two descriptors at most, and up to four more while it
	// carries bulk data, where not many do.
	MaxConnections int
	// HeadTimeout bounds the wait for the rest of a TLS or HTTP head once its
	// first byte is there (20 s), and for a connection out (20 s).
	HeadTimeout time.Duration
	// IdleTimeout ends a connection on which nothing moved in either
	// direction (1 h).
	IdleTimeout time.Duration
}

// Gate is the egress of one run. Its Serve methods block until Close or until
// their listener fails for good; any number of them may run at once.
type Gate struct {
	cfg     Config
	policy  *Policy
	client  client
	handed  handed
	hosts   map[netip.Addr][]string // allowed names of the hosts file
	cache   cache
	buffers buffers
	known   pending
	flows   flows

	questions chan struct{} // places for questions under way
	live      atomic.Int64  // connections and flows of datagrams
	heads     atomic.Int64  // bytes of incomplete heads

	spares    spares
	listeners listeners

	ctx  context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // what will still report

	mu       sync.Mutex
	closed   bool
	open     map[io.Closer]bool // whether what the run sends comes by it
	sending  int                // of open
	draining bool               // the run has ended
	quiet    context.Context    // ends when nothing is sending then
	rest     context.CancelFunc
	told     map[string]struct{} // refused names already reported
}

// New makes the Gate of one run.
func New(cfg Config) (*Gate, error) {
	if cfg.System == nil {
		sys, err := readSystem()
		if err != nil {
			return nil, err
		}
		cfg.System = sys
	}
	if cfg.Dial == nil {
		cfg.Dial = new(net.Dialer).DialContext
	}
	if cfg.Report == nil {
		cfg.Report = func(Verdict) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxConnections <= 0 {
		cfg.MaxConnections = connectionsFor(openFiles())
	}
	if cfg.HeadTimeout <= 0 {
		cfg.HeadTimeout = 20 * time.Second
	}
	if cfg.IdleTimeout <= 0 {
		cfg.IdleTimeout = time.Hour
	}
	policy := NewPolicy(cfg.Network)
	ctx, end := context.WithCancel(context.Background())
	quiet, rest := context.WithCancel(context.Background())
	return &Gate{
		ctx:       ctx,
		end:       end,
		quiet:     quiet,
		rest:      rest,
		cfg:       cfg,
		policy:    policy,
		hosts:     fileNames(policy, cfg.System.Hosts),
		client:    client{cfg.System, cfg.Dial},
		questions: make(chan struct{}, 128),
		buffers:   buffers{slots: make(chan struct{}, maxInUse), pipes: make(chan struct{}, pipesFor(openFiles()))},
		open:      map[io.Closer]bool{},
		told:      map[string]struct{}{},
	}, nil
}

// Handed gives the names that addr was given out for and stands for now.
// A name that the hosts file gives to addr counts always, since programs read
// that file themselves, and so does localhost for its two addresses, whatever
// the file says, and a name beneath it, which some programs do not ask for.
func (g *Gate) Handed(addr netip.Addr) []string {
	addr = addr.Unmap()
	return append(g.handed.of(addr, g.cfg.Now()), g.hosts[addr]...)
}

// fileNames turns the allowed part of a hosts file around.
func fileNames(p *Policy, hosts map[string][]netip.Addr) map[netip.Addr][]string {
	m := map[netip.Addr][]string{}
	for name, addrs := range hosts {
		for _, a := range addrs {
			if p.Answer(name, a) {
				m[a] = append(m[a], name)
			}
		}
	}
	names := []string{localhost}
	for i := range p.rules {
		if local(p.rules[i].Host) {
			names = append(names, p.rules[i].Host)
		}
	}
	for _, a := range loopback {
		for _, n := range names {
			if p.Answer(n, a) && !slices.Contains(m[a], n) {
				m[a] = append(m[a], n)
			}
		}
	}
	return m
}

// connectionsFor gives how many connections there can be with so many open
// files: some are for other things, and without those nothing goes on.
func connectionsFor(files uint64) int {
	const (
		most   = 10000
		others = 256
	)
	return int(min(most, (max(files, 2*others)-others)/2))
}

// pipesFor gives how many pipes there can be beside them: a quarter of what is
// left.
func pipesFor(files uint64) int {
	const most = 1024
	left := max(files, 512) - 2*uint64(connectionsFor(files))
	return int(min(most, left/4/2))
}

func openFiles() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return uint64(limit.Cur)
}

// accept hands each connection of ln to f, and those that are too many at once
// to crowd; without it they are reset. Errors that pass, such as a lack of
// descriptors, are waited out.
func (g *Gate) accept(ln net.Listener, f, crowd func(net.Conn)) error {
	if !g.hold(ln, true) {
		return net.ErrClosed
	}
	defer g.release(ln)
	failed := failures(0)
	for !g.over(ln) {
		conn, err := ln.Accept()
		if failed.over(err) {
			return err
		}
		if err != nil {
			continue
		}
		if g.live.Add(1) > int64(g.cfg.MaxConnections) {
			if crowd != nil {
				crowd(conn) // first, so that it is recorded once the run knows
			}
			reset(conn)
			g.live.Add(-1)
			continue
		}
		if !g.begin() {
			conn.Close()
			return net.ErrClosed
		}
		held := g.hold(conn, true)
		go func() {
			defer g.work.Done()
			defer g.live.Add(-1)
			if held {
				defer g.release(conn)
				f(conn)
			}
		}()
	}
	return net.ErrClosed
}

// failures counts errors in a row.
type failures int

// over says whether an error ends a server, and waits if it does not.
func (f *failures) over(err error) bool {
	wait, over := f.count(err)
	time.Sleep(wait)
	return over
}

// count says whether an error ends a server: a closed socket does, and so does
// one that keeps failing. A lack of descriptors or memory passes, however long
// it takes; nothing else is to be done meanwhile.
func (f *failures) count(err error) (wait time.Duration, over bool) {
	const most = 200
	switch {
	case err == nil, errors.Is(err, os.ErrDeadlineExceeded):
		*f = 0
		return 0, false
	case errors.Is(err, net.ErrClosed):
		return 0, true
	case *f < most:
		*f++
	case !slices.ContainsFunc(lacking[:], func(e error) bool { return errors.Is(err, e) }):
		return 0, true
	}
	return min(time.Duration(*f)*time.Millisecond, 100*time.Millisecond), false
}

var lacking = [...]error{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM}

// reset closes a connection so that the other side sees it refused, not ended.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
