package egress_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
	"skillrun/sandbox/sandboxtest"
)

// here grants one port of the machine's own loopback, by name.
func here(port uint16) *profiles.Network {
	return &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "localhost",
		Ports: []profiles.PortRange{{First: port, Last: port}}, Protocols: profiles.TCP, Private: true}}}
}

// hosts says what /etc/hosts says nearly everywhere.
func hosts(cfg *egress.Config) {
	cfg.System.Hosts["localhost"] = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}
}

// listen serves at an address of this machine until stop.
func listen(t *testing.T, network, addr string) (stop func()) {
	t.Helper()
	ln, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	go sandboxtest.Serve(ln, func(c net.Conn) { io.WriteString(c, "outside\n") })
	return func() { ln.Close() }
}

// TestAbsent: a service of this machine that is not there is refused before the
// gate takes the connection, in each form that a listener can have.
func TestAbsent(t *testing.T) {
	newWorld(t)
	g, _ := newGate(t, here(4999), hosts)
	if err := g.ServeLoopback(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ network, listens, dst string }{
		{"tcp4", "127.0.0.1:4999", "127.0.0.1:4999"},
		{"tcp4", "127.0.0.1:4999", "[::ffff:127.0.0.1]:4999"},
		{"tcp4", "0.0.0.0:4999", "127.0.0.1:4999"},
		{"tcp6", "[::1]:4999", "[::1]:4999"},
		{"tcp", "[::]:4999", "127.0.0.1:4999"},
		{"tcp", "[::]:4999", "[::1]:4999"},
	} {
		connect := func() (netip.AddrPort, egress.Reason) {
			door, _, v := g.Connect(netip.MustParseAddrPort(c.dst))
			return door, v.Reason
		}
		if door, why := connect(); why != egress.Unreachable || door.IsValid() {
			t.Errorf("%s, nobody there: %v, %s", c.dst, door, why)
		}
		stop := listen(t, c.network, c.listens)
		if door, why := connect(); why != egress.Granted || !door.IsValid() {
			t.Errorf("%s, served at %s: %v, %s", c.dst, c.listens, door, why)
		}
		stop()
	}
	stop := listen(t, "tcp4", "127.0.0.1:4999")
	defer stop()
	if _, _, v := g.Connect(netip.MustParseAddrPort("[::1]:4999")); v.Reason != egress.Unreachable {
		t.Errorf("served at the other family alone: %s", v.Reason)
	}
}

// TestAbsentLate: on a busy machine it takes a while until a refusal is noticed.
func TestAbsentLate(t *testing.T) {
	newWorld(t)
	g, _ := newGate(t, here(4999), hosts, func(c *egress.Config) {
		c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			select {
			case <-time.After(100 * time.Millisecond):
				return nil, unix.ECONNREFUSED
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	if err := g.ServeLoopback(); err != nil {
		t.Fatal(err)
	}
	if door, _, v := g.Connect(netip.MustParseAddrPort("127.0.0.1:4999")); v.Reason != egress.Unreachable {
		t.Errorf("nobody there: %v, %s", door, v.Reason)
	}
}

// TestOwnService: at a port that is granted on loopback alone the run may serve
// itself, as long as nobody does outside, and finds either.
func TestOwnService(t *testing.T) {
	newWorld(t)
	g, v := newGate(t, here(4999), hosts)
	run := newRun(t, g, here(4999))
	dst := netip.MustParseAddrPort("127.0.0.1:4999")
	meets := func(want bool, e unix.Errno) {
		t.Helper()
		if got, err := g.Meets(dst, profiles.TCP); got != want || err != e {
			t.Errorf("meets the gate: %v, %v; want %v, %v", got, err, want, e)
		}
	}
	var own net.Listener
	serve := func() (err error) {
		run.in(func() { own, err = net.Listen("tcp4", dst.String()) })
		return err
	}
	hears := func() (line string) {
		run.in(func() {
			c, err := net.Dial("tcp", dst.String())
			if err != nil {
				line = err.Error()
				return
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(5 * time.Second))
			line, _ = bufio.NewReader(c).ReadString('\n')
		})
		return line
	}

	meets(false, 0)
	if line := hears(); !strings.Contains(line, "refused") {
		t.Errorf("nobody there: %q", line)
	}
	if err := serve(); err != nil {
		t.Fatalf("the run serves: %v", err)
	}
	go func() {
		if c, err := own.Accept(); err == nil {
			io.WriteString(c, "inside\n")
			c.Close()
		}
	}()
	meets(false, 0)
	if line := hears(); line != "inside\n" {
		t.Errorf("its own: %q", line)
	}
	own.Close()

	stop := listen(t, "tcp4", dst.String())
	meets(true, 0)
	if line := hears(); line != "outside\n" {
		t.Errorf("the machine's: %q", line)
	}
	if err := serve(); err == nil {
		t.Error("the run serves at a port that leads outside")
	}
	stop()
	meets(false, unix.ECONNREFUSED)
	g.Missed(dst)
	var got []egress.Reason
	for _, verdict := range settled(t, g, v) {
		got = append(got, verdict.Reason)
	}
	if d := cmp.Diff([]egress.Reason{egress.Granted, egress.Unreachable, egress.Unreachable}, got); d != "" {
		t.Error(d)
	}
}

// TestHereByAddress: who grants localhost grants its two addresses, whatever the
// hosts file says, and what names another host is refused as ever.
func TestHereByAddress(t *testing.T) {
	newWorld(t)
	n := here(4999)
	n.Hosts = append(n.Hosts, here(4998).Hosts...)
	n.Hosts[1].Host = "app.localhost"
	g, v := newGate(t, n, func(cfg *egress.Config) {
		cfg.System.Hosts["localhost"] = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})
	run := newRun(t, g, n)
	for _, port := range []string{"4998", "4999"} {
		t.Cleanup(listen(t, "tcp4", "127.0.0.1:"+port))
		t.Cleanup(listen(t, "tcp6", "[::1]:"+port))
	}
	var want, got []string
	for _, c := range []struct {
		dst, host string
		reason    egress.Reason
	}{
		{"127.0.0.1:4999", "127.0.0.1:4999", egress.Granted},
		{"127.0.0.1:4999", "localhost:4999", egress.Granted},
		{"[::1]:4999", "[::1]:4999", egress.Granted},
		{"[::1]:4999", "localhost:4999", egress.Granted},
		{"[::1]:4999", "127.0.0.1:4999", egress.Granted},
		{"127.0.0.1:4999", "0.0.0.0:4999", egress.Granted},
		{"[::1]:4999", "[::]:4999", egress.Granted},
		{"127.0.0.1:4999", "192.0.2.7:4999", egress.Mismatch},
		{"127.0.0.1:4999", "127.0.0.2:4999", egress.Mismatch},
		{"[::1]:4999", "other.example", egress.Mismatch},
		{"127.0.0.1:4999", "app.localhost:4999", egress.Mismatch},
		{"127.0.0.1:4998", "app.localhost:4998", egress.Granted}, // granted by this name, which curl does not ask for
		{"[::1]:4998", "app.localhost:4998", egress.Granted},
		{"127.0.0.1:4998", "localhost:4998", egress.Mismatch},
	} {
		want = append(want, c.dst+" "+c.host+" "+string(c.reason))
		if ok, err := g.Meets(netip.MustParseAddrPort(c.dst), profiles.TCP); !ok || err != 0 {
			t.Errorf("%s does not meet the gate: %v", c.dst, err)
		}
		run.in(func() {
			if conn, err := net.Dial("tcp", c.dst); err == nil { // it may be reset already
				defer conn.Close()
				io.WriteString(conn, get(c.host))
				conn.SetDeadline(time.Now().Add(5 * time.Second))
				io.Copy(io.Discard, conn)
			}
		})
		for _, verdict := range settled(t, g, v)[len(got):] {
			got = append(got, c.dst+" "+c.host+" "+string(verdict.Reason))
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for at, granted := range map[string]bool{"127.0.0.1:4999": true, "[::1]:4999": true, "127.0.0.1:4998": false, "127.0.0.2:4999": false} {
		dst := netip.MustParseAddrPort(at)
		rule, why := egress.NewPolicy(here(4999)).Decide(egress.Request{Addr: dst.Addr(), Port: dst.Port(), Protocol: profiles.TCP})
		if (rule != nil) != granted || (why == egress.Granted) != granted {
			t.Errorf("%s: %v, %s", at, rule, why)
		}
	}
}

// TestUnroutable: where this machine has no way to any address of IPv6, the run
// is told so, and where it has one it is not.
func TestUnroutable(t *testing.T) {
	newWorld(t)
	g, _ := newGate(t, rules())
	dst := netip.MustParseAddrPort("[2606:2800:220:1::1]:80")
	if _, e := g.Meets(dst, profiles.TCP); e != 0 {
		t.Errorf("with a route: %v", e)
	}
	told := map[string]bool{}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		err := unix.Unshare(unix.CLONE_NEWNET)
		for _, to := range []string{"[2606:2800:220:1::1]:80", "[::1]:80", "[::ffff:192.0.2.7]:80", "192.0.2.7:80"} {
			_, e := g.Meets(netip.MustParseAddrPort(to), profiles.UDP)
			told[to] = e == unix.ENETUNREACH || e == unix.EADDRNOTAVAIL
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{dst.String(): true, "[::1]:80": false, "[::ffff:192.0.2.7]:80": false, "192.0.2.7:80": false}
	if d := cmp.Diff(want, told); d != "" {
		t.Error(d)
	}
}

// TestOtherAddress: where the address that the run chose does not answer, the
// gate takes another that was given out for the name, and one that is granted
// by itself stands for itself alone.
func TestOtherAddress(t *testing.T) {
	newWorld(t)
	n := &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{
		{Host: "several.example", Ports: []profiles.PortRange{{First: 80, Last: 80}}, Protocols: profiles.TCP},
		{Host: "192.0.2.60", Ports: []profiles.PortRange{{First: 80, Last: 80}}, Protocols: profiles.TCP},
	}}
	dead := func(cfg *egress.Config) {
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == "93.184.216.60:80" || addr == "192.0.2.60:80" {
				return nil, unix.ECONNREFUSED
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
	}
	g, v := newGate(t, n, dead)
	run := newRun(t, g, n)
	run.in(func() {
		addrs, err := place{dns: insideDNS}.resolve("several.example")
		if err != nil || len(addrs) != 2 {
			t.Fatalf("%v, %v", addrs, err)
		}
		for _, a := range []string{"93.184.216.60:80", "192.0.2.60:80"} {
			var line string
			if c, err := net.Dial("tcp", a); err == nil { // it may be reset already
				defer c.Close()
				io.WriteString(c, get("several.example"))
				c.SetDeadline(time.Now().Add(5 * time.Second))
				line, _ = bufio.NewReader(c).ReadString('\n')
			}
			if ok := line == "HTTP/1.1 200 OK\r\n"; ok != (a == "93.184.216.60:80") {
				t.Errorf("%s: %q", a, line)
			}
		}
	})
	var got []string
	for _, verdict := range settled(t, g, v) {
		got = append(got, verdict.Addr.String()+" "+string(verdict.Reason))
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"192.0.2.60 unreachable", "93.184.216.61 granted"}, got); d != "" {
		t.Error(d)
	}
}

// TestReachOwnAddress: no name leads to a public address that is this machine's own,
// where services listen that are meant for it alone, or one of its network, nor does
// a grant of every host. One of the address does. The control is the same before it was the machine's.
func TestReachOwnAddress(t *testing.T) {
	w := newWorld(t)
	rule := func(host string) profiles.HostRule {
		return profiles.HostRule{Host: host, Ports: []profiles.PortRange{{First: 80, Last: 80}}, Protocols: profiles.TCP}
	}
	own := map[string]string{"own4.example": "93.184.216.99", "own6.example": "2606:2800:220:99::99", "beside4.example": "91.198.174.7", "beside6.example": "2606:2800:220:99::7", "beside64.example": "64:ff9b::5bc6:ae07"}
	for _, is := range []bool{false, true} {
		if is {
			for _, p := range []string{"93.184.216.99/32", "2606:2800:220:99::99/128", "91.198.174.99/24"} {
				addAddress(t, netip.MustParsePrefix(p))
			}
		}
		for name, addr := range own {
			a := netip.MustParseAddr(addr)
			for _, c := range []struct {
				what, host string
				rules      []profiles.HostRule
				still      bool
			}{
				{"name", name, []profiles.HostRule{rule(name)}, false},
				{"any host, by name", name, []profiles.HostRule{rule("*")}, false},
				{"any host, by address", addr, []profiles.HostRule{rule("*")}, false},
				{"address", addr, []profiles.HostRule{rule(addr)}, true},
				{"name and address", name, []profiles.HostRule{rule(name), rule(addr)}, true},
			} {
				if c.host == addr && c.rules[0].Host == "*" && profiles.Translated(a) != a {
					continue // by a name only
				}
				n := &profiles.Network{Mode: profiles.NetHosts, Hosts: c.rules}
				g, v := newGate(t, n)
				run := newRun(t, g, n)
				w.reached()
				run.in(func() { say(c.host, 80, get(name))(place{w, insideDNS}) })
				reached := noted(w.reached(), "at="+netip.AddrPortFrom(a, 80).String())
				switch {
				case !is && !reached:
					t.Fatalf("control: %s: not reached by %s", addr, c.what)
				case is && reached != c.still:
					t.Errorf("%s: by %s: %v, want %v: %+v", addr, c.what, reached, c.still, v.all())
				}
			}
		}
	}
}

func addAddress(t *testing.T, p netip.Prefix) {
	nl, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err == nil {
		err = egress.AddAddress(nl, p)
		unix.Close(nl)
	}
	if err != nil && err != unix.EEXIST {
		t.Fatal(err)
	}
}
