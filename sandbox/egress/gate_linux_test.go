package egress_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

const insideDNS = "8.8.8.8:53"

// settled waits until no connection is left and gives the verdicts, in the order
// in which the connections began.
func settled(t *testing.T, g *egress.Gate, v *verdicts) []egress.Verdict {
	t.Helper()
	for end := time.Now().Add(6 * time.Second); g.Live() > 0; {
		if time.Now().After(end) {
			t.Fatalf("%d connections left", g.Live())
		}
		time.Sleep(time.Millisecond)
	}
	all := v.all()
	slices.SortStableFunc(all, func(a, b egress.Verdict) int { return a.Start.Compare(b.Start) })
	return all
}

func TestVerdicts(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	type short struct {
		Name, Addr string
		Port       uint16
		TLS, Host  string
		Allowed    bool
		Reason     egress.Reason
		Rule       string
	}
	for _, c := range []struct {
		try  func(place)
		want short
	}{
		{say("good.example", 80, get("good.example")), short{"good.example", "93.184.216.34", 80, "", "good.example", true, egress.Granted, "good.example"}},
		{say("good.example", 443, string(hello("good.example"))), short{"good.example", "93.184.216.34", 443, "good.example", "", true, egress.Granted, "good.example"}},
		{say("192.0.2.7", 7000, "x"), short{"", "192.0.2.7", 7000, "", "", true, egress.Granted, "192.0.2.7"}},
		{say("cdn.example", 80, get("evil.example")), short{"cdn.example", "151.101.1.69", 80, "", "evil.example", false, egress.Mismatch, "cdn.example"}},
		{say("cdn.example", 8080, "\x15\x03\x01\x00\x02\x01Z"+string(hello("evil.example"))), short{"cdn.example", "151.101.1.69", 8080, "", "", false, egress.Malformed, "cdn.example"}},
		{say("cdn.example", 443, string(hello("evil.example"))), short{"cdn.example", "151.101.1.69", 443, "evil.example", "", false, egress.Mismatch, "cdn.example"}},
		{say("read.example", 80, "POST / HTTP/1.1\r\nHost: read.example\r\n\r\n"), short{"read.example", "93.184.216.40", 80, "", "read.example", false, egress.ReadOnly, "read.example"}},
		{say("9.9.9.9", 80, get("x.test")), short{"", "9.9.9.9", 80, "", "", false, egress.UnknownAddr, ""}},
		{say("server-first.test", 80, get("x.test")), short{"server-first.test", "93.184.216.94", 80, "", "", false, egress.WrongPort, ""}},
		{say("cdn.example", 443, string(extend(hello("x.test"), ech()))), short{"cdn.example", "151.101.1.69", 443, "x.test", "", false, egress.HiddenName, "cdn.example"}},
		{say("good.example", 80, "\r\nGET / HTTP/1.1\r\n\r\n"), short{"good.example", "93.184.216.34", 80, "", "", false, egress.Malformed, "good.example"}},
		{say("good.example", 80, "\x01\x02binary"), short{"good.example", "93.184.216.34", 80, "", "", false, egress.Malformed, "good.example"}},
		{say("good.example", 443, string(records(extend(hello("good.example"), extension(21, make([]byte, 40000)))[5:], 9000))), short{"good.example", "93.184.216.34", 443, "", "", false, egress.Malformed, "good.example"}},
	} {
		before := len(v.all())
		run.in(func() { c.try(place{w, insideDNS}) })
		all := settled(t, g, v)[before:]
		if len(all) != 1 {
			t.Errorf("%+v: %d verdicts", c.want, len(all))
			continue
		}
		x := all[0]
		got := short{x.Name, x.Addr.String(), x.Port, x.TLSName, x.HTTPHost, x.Allowed, x.Reason, ""}
		if x.Rule != nil {
			got.Rule = x.Rule.Host
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Error(d)
		}
		if x.Allowed && x.Sent == 0 || !x.Allowed && x.Sent+x.Received != 0 {
			t.Errorf("%s: sent %d, received %d", x.Reason, x.Sent, x.Received)
		}
	}
	var s egress.Summary
	for _, x := range v.all() {
		s.Add(x)
	}
	rows := s.Rows()
	i := slices.IndexFunc(rows, func(r egress.SummaryRow) bool { return r.Host == "cdn.example" && r.Port == 443 })
	if i < 0 || rows[i].Refused != 2 || rows[i].Connections != 0 || rows[i].LastReason != egress.HiddenName {
		t.Errorf("summary %+v", rows)
	}
}

// TestSlowHello: a program that takes its time is judged by the rule of the name that
// it names in the end, of those that stand for the address, and recorded so. Where
// the gate has connected by then that is no other with bounds.
func TestSlowHello(t *testing.T) {
	w := newWorld(t)
	rule := func(name string, port uint16, most int64) profiles.HostRule {
		return profiles.HostRule{Host: name, Ports: []profiles.PortRange{{First: port, Last: port}}, Protocols: profiles.TCP, MaxBytes: most}
	}
	n := &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{
		rule("good.example", 443, 1), rule("other.example", 443, 1<<20), rule("good.example", 8443, 0), rule("other.example", 8443, 1<<20), rule("good.example", 8080, 0), rule("other.example", 8080, 0)}}
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	for _, c := range []struct {
		port       int
		say, notes string
		reason     egress.Reason
		reached    bool
	}{
		{443, string(hello("other.example")), "sni=other.example", egress.Granted, true},
		{8443, string(hello("other.example")), "sni=other.example", egress.Mismatch, false},
		{8080, get("other.example"), "host=other.example", egress.Granted, true},
		{8080, get("evil.example"), "host=evil.example", egress.Mismatch, false},
	} {
		w.reached()
		before := len(v.all())
		run.in(func() {
			p := place{w, insideDNS}
			p.resolve("good.example")
			later("other.example", c.port, c.say)(p)
		})
		all := settled(t, g, v)[before:]
		if len(all) != 1 || all[0].Reason != c.reason || c.reached && (all[0].Name != "other.example" || all[0].Rule.Host != "other.example") {
			t.Errorf("%d: %+v", c.port, all)
		}
		if got := noted(w.reached(), c.notes); got != c.reached {
			t.Errorf("%d: reached %v", c.port, got)
		}
	}
}

// TestRefusalForm: a refused program sees its own protocol's refusal.
func TestRefusalForm(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, _ := newGate(t, n)
	run := newRun(t, g, n)
	run.in(func() {
		p := place{w, insideDNS}
		c, err := p.dial("cdn.example", 80)
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, get("evil.example"))
		b, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 403 ") || strings.Contains(string(b), "evil") {
			t.Errorf("HTTP: %q, %v", b, err)
		}
		c, err = p.dial("cdn.example", 443)
		if err != nil {
			t.Error(err)
			return
		}
		err = tls.Client(c, &tls.Config{ServerName: "evil.example", RootCAs: w.ca}).Handshake()
		if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("TLS: %v", err)
		}
		c, err = p.dial("9.9.9.9", 80)
		if err == nil {
			_, err = c.Read(make([]byte, 1))
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("address: %v", err)
		}
		if _, err = p.dial("good.example", 9999); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("port: %v", err)
		}
	})
}

func TestTLSInside(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, _ := newGate(t, n)
	run := newRun(t, g, n)
	run.in(func() {
		c, err := place{w, insideDNS}.dial("good.example", 443)
		if err != nil {
			t.Error(err)
			return
		}
		tc := tls.Client(c, &tls.Config{ServerName: "good.example", RootCAs: w.ca})
		io.WriteString(tc, "GET /bytes/3000000 HTTP/1.1\r\nHost: good.example\r\n\r\n")
		got := 0
		buf := make([]byte, 64<<10)
		for got < 3000000 {
			k, err := tc.Read(buf)
			if got += k; err != nil {
				t.Errorf("after %d bytes: %v", got, err)
				break
			}
		}
	})
}

func TestBudgets(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	read := func(host, path string) (got int) {
		run.in(func() {
			c, err := place{w, insideDNS}.dial(host, 80)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			io.WriteString(c, "GET "+path+" HTTP/1.0\r\nHost: "+host+"\r\n\r\n")
			buf := make([]byte, 100<<10)
			for {
				k, err := c.Read(buf)
				got += k
				if err != nil || bytes.HasSuffix(buf[:k], []byte("body=0")) {
					return
				}
			}
		})
		return got
	}
	if got := read("good.example", "/bytes/100000"); got < 100000 {
		t.Errorf("control: %d bytes without a budget", got)
	}
	if got := read("budget.example", "/bytes/100000"); got > 5000 || got < 4000 {
		t.Errorf("%d bytes with a budget of 5000", got)
	}
	if got := read("budget.example", "/"); got > 300 {
		t.Errorf("%d bytes after the budget was used up", got)
	}
	for i := range 4 {
		got := read("few.example", "/")
		if allowed := strings.Contains("012345"[:2], "012345"[i:i+1]); (got > 0 && i < 2) != allowed {
			t.Errorf("connection %d of 2: %d bytes", i+1, got)
		}
	}
	count := map[egress.Reason]int{}
	for _, x := range settled(t, g, v) {
		count[x.Reason]++
	}
	if d := cmp.Diff(map[egress.Reason]int{egress.Granted: 3, egress.OverBytes: 2, egress.OverCount: 2}, count); d != "" {
		t.Error(d)
	}
}

// A rate is of any stretch of time, not of the clock's minutes.
func TestRate(t *testing.T) {
	newWorld(t)
	n := &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{
		Host: "192.0.2.7", Ports: []profiles.PortRange{{First: 7000, Last: 7000}}, Protocols: profiles.TCP, MaxRate: 2, Per: time.Minute}}}
	var clock atomic.Int64
	g, _ := newGate(t, n, func(c *egress.Config) { c.Now = func() time.Time { return time.Unix(clock.Load(), 0) } })
	run := newRun(t, g, n)
	for i, c := range []struct {
		at   int64
		want bool
	}{{0, true}, {40, true}, {59, false}, {60, true}, {61, false}, {99, false}, {100, true}, {1000, true}} {
		clock.Store(c.at)
		passed := false
		run.in(func() {
			c, err := net.DialTimeout("tcp", "192.0.2.7:7000", 2*time.Second)
			if err != nil {
				return
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(5 * time.Second))
			io.WriteString(c, "x")
			n, _ := c.Read(make([]byte, 1))
			passed = n == 1
		})
		if passed != c.want {
			t.Errorf("connection %d, after %d s: %v", i, c.at, passed)
		}
	}
}

// TestHalfClose: the end of one direction leaves the other open.
func TestHalfClose(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	run.in(func() {
		c, err := place{w, insideDNS}.dial("192.0.2.7", 7000)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "abc")
		c.(*net.TCPConn).CloseWrite()
		b, err := io.ReadAll(c)
		if string(b) != "abc" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	})
	if all := settled(t, g, v); len(all) != 1 || all[0].Sent != 3 || all[0].Received != 3 || !all[0].Allowed {
		t.Errorf("%+v", all)
	}
}

// TestSlow: heads that never end, and connections on which nothing moves, end.
func TestSlow(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, v := newGate(t, n, func(c *egress.Config) {
		c.HeadTimeout, c.IdleTimeout = 200*time.Millisecond, 300*time.Millisecond
	})
	run := newRun(t, g, n)
	for _, c := range []struct {
		host   string
		port   int
		first  string
		reason egress.Reason
	}{
		{"good.example", 80, "GET / HT", egress.Malformed},
		{"good.example", 443, "\x16\x03\x01\x02\x00\x01", egress.Malformed},
		{"good.example", 80, "G", egress.Malformed},
		{"server-first.test", 7000, "", egress.Granted},
		{"192.0.2.7", 7000, "x", egress.Granted},
	} {
		before := len(v.all())
		run.in(func() {
			conn, err := place{w, insideDNS}.dial(c.host, c.port)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, c.first)
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s:%d %q: still open", c.host, c.port, c.first)
			}
		})
		if all := settled(t, g, v)[before:]; len(all) != 1 || all[0].Reason != c.reason {
			t.Errorf("%s:%d %q: %+v", c.host, c.port, c.first, all)
		}
	}
}

func TestMaxConnections(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, v := newGate(t, n, func(c *egress.Config) { c.MaxConnections = 3 })
	run := newRun(t, g, n)
	run.in(func() {
		var open []net.Conn
		echoes := func() bool {
			c, err := place{w, insideDNS}.dial("192.0.2.7", 7000)
			if err != nil {
				return false
			}
			open = append(open, c)
			io.WriteString(c, "x")
			k, _ := c.Read(make([]byte, 1))
			return k == 1
		}
		for i := range 5 {
			if got, want := echoes(), i < 3; got != want {
				t.Errorf("connection %d: %v", i+1, got)
			}
		}
		for _, c := range open {
			c.Close()
		}
	})
	all := settled(t, g, v)
	refused := slices.DeleteFunc(slices.Clone(all), func(v egress.Verdict) bool { return v.Allowed })
	if len(all) != 5 || len(refused) != 2 || refused[0].Reason != egress.OverCount || refused[0].Addr.String() != "192.0.2.7" || refused[0].Port != 7000 {
		t.Errorf("%+v", refused)
	}
	run.in(func() {
		c, err := place{w, insideDNS}.dial("192.0.2.7", 7000)
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, "x")
		if k, err := c.Read(make([]byte, 1)); k != 1 {
			t.Errorf("after the others are gone: %v", err)
		}
		c.Close()
	})
}

// TestParallel has ten thousand connections at once, or as many as there are
// descriptors for: client, gate twice, server, and the pipe by which it echoes.
func TestParallel(t *testing.T) {
	newWorld(t)
	n := rules()
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	many := int(min(10000, (max(files.Cur, 1000)-500)/6))
	echoes := func(c net.Conn, i int) {
		c.SetDeadline(time.Now().Add(time.Minute))
		var b, got [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(i))
		c.Write(b[:])
		if _, err := io.ReadFull(c, got[:]); err != nil || got != b {
			t.Errorf("connection %d of %d: %x, %v", i, many, got, err)
		}
	}
	var conns []net.Conn
	before := inUse()
	run.in(func() {
		for i := range many {
			c, err := net.Dial("tcp", "192.0.2.7:7000")
			if err != nil {
				t.Errorf("connection %d of %d: %v", i, many, err)
				return
			}
			conns = append(conns, c)
			echoes(c, i)
		}
	})
	// Here, for client and server, too.
	if got, most := int64(inUse())-int64(before), int64(many)*64<<10; got > most {
		t.Errorf("%d connections take %d bytes; at most %d", many, got, most)
	}
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() {
			defer c.Close()
			echoes(c, -i)
		})
	}
	wg.Wait()
	if all := settled(t, g, v); len(all) != many {
		t.Errorf("%d verdicts", len(all))
	}
}

// TestClose ends what is under way, and reports it.
func TestClose(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	var c net.Conn
	run.in(func() {
		var err error
		if c, err = (place{w, insideDNS}).dial("192.0.2.7", 7000); err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, "x")
		c.Read(make([]byte, 1))
	})
	g.Close()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection outlived the gate")
	}
	if all := v.all(); len(all) != 1 || all[0].Sent != 1 {
		t.Errorf("%+v", all)
	}
	run.in(func() {
		if _, err := (place{w, insideDNS}).dial("192.0.2.7", 7000); err == nil {
			t.Error("the gate still listens")
		}
	})
}

// TestSentLast: what a run sends just before its end is passed on before the gate
// closes.
func TestSentLast(t *testing.T) {
	w := newWorld(t)
	n := &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "192.0.2.7", Ports: []profiles.PortRange{{First: 7000, Last: 7000}}, Protocols: profiles.TCP | profiles.UDP}}}
	for range 20 {
		g, v := newGate(t, n)
		run := newRun(t, g, n)
		run.in(func() {
			c, err := (place{w, insideDNS}).dial("192.0.2.7", 7000)
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(c, "last")
			c.Close()
			for range 3 {
				if c, err = net.Dial("udp", "192.0.2.7:7000"); err != nil {
					t.Error(err)
					return
				}
				io.WriteString(c, "last")
				c.Close()
			}
		})
		g.Close()
		sent := int64(0)
		for _, x := range v.all() {
			sent += x.Sent
		}
		if sent != 16 {
			t.Fatalf("%d bytes of 16 were sent: %+v", sent, v.all())
		}
	}
}

// TestOpenedLate: a gate that has nothing to pass on any more may be given
// something once more, and is told again that it has nothing.
func TestOpenedLate(t *testing.T) {
	g, _ := newGate(t, &profiles.Network{})
	for range 2 {
		a, b := net.Pipe()
		g.Drains(a)
		b.Close()
	}
}

// TestNameServers: the resolver stands at every address, in both families, by
// UDP and TCP, and answers from the address that was asked.
func TestNameServers(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, _ := newGate(t, n)
	run := newRun(t, g, n)
	run.in(func() {
		for _, server := range []string{"8.8.8.8:53", "127.0.0.53:53", "192.168.1.1:53", "[2001:4860:4860::8888]:53", "[::1]:53"} {
			if got := addrs(place{w, server}, "good.example"); got != "93.184.216.34" {
				t.Errorf("%s: %s", server, got)
			}
			// An unconnected socket sees who answers; musl and c-ares check.
			pc, err := net.ListenPacket("udp", ":0")
			if err != nil {
				t.Error(err)
				return
			}
			to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(server))
			pc.WriteTo(query("good.example.", dnsmessage.TypeA, dnsmessage.ClassINET), to)
			pc.SetDeadline(time.Now().Add(2 * time.Second))
			_, from, err := pc.ReadFrom(make([]byte, 512))
			if err != nil || from.String() != to.String() {
				t.Errorf("%s: answer from %v, %v", server, from, err)
			}
			pc.Close()
			c, err := net.Dial("tcp", server)
			if err != nil {
				t.Error(err)
				continue
			}
			q := query("good.example.", dnsmessage.TypeA, dnsmessage.ClassINET)
			c.Write(append([]byte{0, byte(len(q))}, q...))
			c.SetDeadline(time.Now().Add(2 * time.Second))
			var size [2]byte
			io.ReadFull(c, size[:])
			b := make([]byte, binary.BigEndian.Uint16(size[:]))
			io.ReadFull(c, b)
			var m dnsmessage.Message
			if err := m.Unpack(b); err != nil || len(m.Answers) != 1 {
				t.Errorf("%s by TCP: %+v, %v", server, m, err)
			}
			c.Close()
		}
	})
}

func udpRules() *profiles.Network {
	n := rules()
	n.Hosts = append(n.Hosts,
		profiles.HostRule{Host: "good.example", Ports: []profiles.PortRange{{First: 443, Last: 443}}, Protocols: profiles.UDP},
		profiles.HostRule{Host: "budget.example", Ports: []profiles.PortRange{{First: 443, Last: 443}}, Protocols: profiles.UDP, MaxBytes: 10},
		profiles.HostRule{Host: "198.51.100.9", Ports: []profiles.PortRange{{First: 9999, Last: 9999}}, Protocols: profiles.UDP})
	return n
}

func TestDatagrams(t *testing.T) {
	w := newWorld(t)
	n := udpRules()
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	echo := func(host, text string, port uint16, patience time.Duration) (got string) {
		run.in(func() {
			a, err := netip.ParseAddr(host)
			if err != nil {
				h, err := place{w, insideDNS}.resolve(host)
				if err != nil {
					t.Error(err)
					return
				}
				a = h[0]
			}
			c, err := net.Dial("udp", netip.AddrPortFrom(a, port).String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			io.WriteString(c, text)
			c.SetDeadline(time.Now().Add(patience))
			b := make([]byte, 100)
			k, _ := c.Read(b)
			got = string(b[:k])
		})
		return got
	}
	for _, c := range []struct {
		host, text string
		port       uint16
		want       string
	}{
		{"good.example", "one", 443, "one"},
		{"198.51.100.9", "two", 9999, "two"},
		{"198.51.100.10", "three", 9999, ""},
		{"good.example", "four", 9999, ""},
		{"151.101.1.69", "five", 443, ""},
		{"budget.example", "5five", 443, "5five"},
		{"budget.example", "spent", 443, ""},
	} {
		patience := 10 * time.Second
		if c.want == "" {
			patience = 300 * time.Millisecond // the verdicts below say what became of it
		}
		if got := echo(c.host, c.text, c.port, patience); got != c.want {
			t.Errorf("%s:%d %q: %q, want %q", c.host, c.port, c.text, got, c.want)
		}
	}
	g.Close()
	count := map[egress.Reason]int{}
	for _, x := range v.all() {
		count[x.Reason]++
	}
	want := map[egress.Reason]int{egress.Granted: 3, egress.OverBytes: 1, egress.UnknownAddr: 1, egress.WrongPort: 2}
	if d := cmp.Diff(want, count); d != "" {
		t.Error(d)
	}
}

// TestManyFlows: flows of datagrams are bounded over all ports together, since each
// has a buffer, and with the connections, since each has a descriptor.
func TestManyFlows(t *testing.T) {
	newWorld(t)
	for limit, want := range map[int]int{0: 1024, 10: 10} {
		ports := []profiles.PortRange{{First: 443, Last: 443}, {First: 9999, Last: 9999}}
		n := &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "198.51.100.9", Ports: ports, Protocols: profiles.TCP | profiles.UDP}}}
		g, v := newGate(t, n, func(c *egress.Config) { c.MaxConnections = limit })
		run := newRun(t, g, n)
		try := func(network string, port uint16) {
			before := int(g.Live()) + len(v.all())
			c, err := net.Dial(network, fmt.Sprintf("198.51.100.9:%d", port))
			if err == nil { // reset, else
				t.Cleanup(func() { c.Close() })
				io.WriteString(c, "x")
			}
			for end := time.Now().Add(5 * time.Second); int(g.Live())+len(v.all()) == before && time.Now().Before(end); {
				time.Sleep(10 * time.Microsecond)
			}
		}
		run.in(func() {
			for i := range 1200 {
				try("udp", ports[i%2].First)
			}
			if limit != 0 {
				try("tcp", 443)
			}
		})
		refused := map[egress.Door]int{}
		for _, x := range v.all() {
			if x.Reason == egress.OverCount {
				refused[x.Door]++
			}
		}
		if live := int(g.Live()); live != want || refused[egress.DoorUDP] != 1200-want || limit != 0 && refused[egress.DoorGate] != 1 {
			t.Errorf("%d flows, refused: %v; want %d of 1200", live, refused, want)
		}
	}
}

// TestLater opens a port of a wide range when it is wanted.
func TestLater(t *testing.T) {
	w := newWorld(t)
	n := &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "192.0.2.7", Ports: []profiles.PortRange{{First: 6000, Last: 65000}}, Protocols: profiles.TCP | profiles.UDP}}}
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	echoes := func(network, addr string) (ok bool) {
		run.in(func() {
			c, err := net.Dial(network, addr)
			if err != nil {
				return
			}
			defer c.Close()
			io.WriteString(c, "x")
			c.SetDeadline(time.Now().Add(time.Second))
			k, _ := c.Read(make([]byte, 1))
			ok = k == 1
		})
		return ok
	}
	w.reached()
	for _, c := range []struct {
		proto profiles.Protocol
		port  uint16
	}{{profiles.TCP, 7000}, {profiles.UDP, 9999}} {
		name := c.proto.String()
		at := func(addr string) string { return fmt.Sprintf("%s:%d", addr, c.port) }
		if echoes(name, at("192.0.2.7")) {
			t.Errorf("%s: open before it was opened", name)
		}
		for range 2 {
			if meets, e := g.Meets(netip.MustParseAddrPort(at("192.0.2.7")), c.proto); !meets || e != 0 {
				t.Errorf("%s: not opened", name)
			}
		}
		if !echoes(name, at("192.0.2.7")) {
			t.Errorf("%s: shut after it was opened", name)
		}
		if echoes(name, at("192.0.2.8")) {
			t.Errorf("%s: another address is reached", name)
		}
		if meets, _ := g.Meets(netip.MustParseAddrPort("192.0.2.8:7001"), c.proto); meets || g.Open(80, c.proto) == nil {
			t.Errorf("%s: what no rule names was opened", name)
		}
		failed := 0
		for p := range 100 {
			if g.Open(uint16(20000+p), c.proto) != nil {
				failed++
			}
		}
		if failed != 85 {
			t.Errorf("%s: %d of 100 ports more than there are sockets for; want 85", name, failed)
		}
	}
	g.Close()
	before := len(v.all())
	var got []egress.Reason
	for _, missed := range []string{"192.0.2.7:30000", "192.0.2.7:80", "192.0.2.8:30000", "[::ffff:192.0.2.9]:30000"} {
		g.Missed(netip.MustParseAddrPort(missed))
	}
	for _, verdict := range v.all()[before:] {
		got = append(got, verdict.Reason)
	}
	if d := cmp.Diff([]egress.Reason{egress.NoRoom, egress.WrongPort, egress.UnknownAddr, egress.UnknownAddr}, got); d != "" {
		t.Error(d)
	}
}

// TestRegistered is the way without namespaces: a supervisor asks Connect,
// connects the socket to the door, and registers it, before or after the gate
// has accepted; and hands over datagrams.
func TestRegistered(t *testing.T) {
	newWorld(t)
	n := udpRules()
	g, v := newGate(t, n)
	at := netip.MustParseAddrPort
	if door, _, x := g.Connect(at("192.0.2.7:7000")); x.Allowed || door.IsValid() {
		t.Errorf("a door that is not served: %v %+v", door, x)
	}
	if err := g.ServeLoopback(); err != nil {
		t.Fatal(err)
	}
	for _, late := range []bool{false, true} {
		for _, dst := range []string{"192.0.2.7:7000", "[::ffff:192.0.2.7]:7000"} {
			door, register, x := g.Connect(at(dst))
			if !x.Allowed || !door.Addr().Is4() || !door.Addr().IsLoopback() {
				t.Fatalf("%s: %v %+v", dst, door, x)
			}
			c, err := net.Dial("tcp", door.String())
			if err != nil {
				t.Fatal(err)
			}
			if late {
				time.Sleep(20 * time.Millisecond) // the gate has accepted, and waits
			}
			register(at(c.LocalAddr().String()))
			io.WriteString(c, "x")
			c.SetDeadline(time.Now().Add(2 * time.Second))
			if k, err := c.Read(make([]byte, 1)); k != 1 {
				t.Errorf("%s, late %v: %v", dst, late, err)
			}
			c.Close()
		}
	}
	// A connection that nobody registered goes nowhere.
	before := len(settled(t, g, v))
	door, _, _ := g.Connect(at("192.0.2.7:7000"))
	c, err := net.Dial("tcp", door.String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("unregistered: %v", err)
	}
	c.Close()
	if all := settled(t, g, v)[before:]; len(all) != 1 || all[0].Reason != egress.NotRegistered {
		t.Errorf("unregistered: %+v", all)
	}
	// The resolver, by both ways.
	ask := query("good.example.", dnsmessage.TypeA, dnsmessage.ClassINET)
	answers := make(chan []byte, 1)
	answer := func(b []byte) { answers <- slices.Clone(b) }
	if !g.Datagram(7, at("8.8.8.8:53"), ask, answer) {
		t.Error("a question was refused")
	}
	var m dnsmessage.Message
	if err := m.Unpack(<-answers); err != nil || len(m.Answers) != 1 {
		t.Errorf("%v, %v", m, err)
	}
	door, none, x := g.Connect(at("8.8.8.8:53"))
	if !x.Allowed || none != nil {
		t.Fatalf("DNS: %+v", x)
	}
	if c, err = net.Dial("tcp", door.String()); err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(5 * time.Second))
	c.Write(append([]byte{0, byte(len(ask))}, ask...))
	reply := make([]byte, 2+512)
	k, err := c.Read(reply)
	if err != nil || m.Unpack(reply[2:k]) != nil || len(m.Answers) != 1 {
		t.Errorf("%v, %v", m, err)
	}
	c.Close()
	for dst, why := range map[string]egress.Reason{
		"9.9.9.9:80": egress.UnknownAddr, "127.0.0.1:80": egress.UnknownAddr, "192.0.2.7:81": egress.WrongPort, "[::1]:80": egress.UnknownAddr,
		"93.184.216.34:22": egress.WrongPort, "[fe80::1%lo]:80": egress.UnknownAddr,
	} {
		if door, register, x := g.Connect(at(dst)); x.Allowed || door.IsValid() || register != nil || x.Reason != why {
			t.Errorf("%s: %v %+v, want %s", dst, door, x, why)
		}
	}
	// Datagrams.
	if !g.Datagram(7, at("198.51.100.9:9999"), []byte("datagram"), answer) {
		t.Fatal("a datagram was refused")
	}
	if b := <-answers; string(b) != "datagram" {
		t.Errorf("datagram: %q", b)
	}
	for _, dst := range []string{"198.51.100.9:9998", "9.9.9.9:9999", "127.0.0.1:9999", "198.51.100.9:0"} {
		if g.Datagram(7, at(dst), []byte("datagram"), answer) {
			t.Errorf("a datagram to %s passed", dst)
		}
	}
}

// TestManyHeads: heads that do not end cannot fill the memory of the gate.
func TestManyHeads(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	before := inUse()
	run.in(func() {
		if _, err := (place{w, insideDNS}).resolve("good.example"); err != nil {
			t.Error(err)
		}
		head := "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 30000)
		for range 1500 {
			c, err := net.Dial("tcp", "93.184.216.34:80")
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			io.WriteString(c, head)
		}
	})
	refused := 0
	for end := time.Now().Add(6 * time.Second); refused == 0 && time.Now().Before(end); {
		for _, x := range v.all() {
			if x.Reason == egress.Malformed {
				refused++
			}
		}
		time.Sleep(time.Millisecond)
	}
	if used := int64(inUse() - before); refused == 0 || used > 200<<20 {
		t.Errorf("%d of 1500 refused, %d MB in use", refused, used>>20)
	}
}

// TestLongBody sends more by one connection than there may be of heads: what was
// passed on counts no more, in whatever pieces it came.
func TestLongBody(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, _ := newGate(t, n)
	run := newRun(t, g, n)
	const size = 40 << 20
	block := strings.Repeat("x", 7000)
	bodies := map[string]string{
		"length": fmt.Sprintf("Content-Length: %d\r\n\r\n", size) + strings.Repeat("x", size),
		"chunks": "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat(fmt.Sprintf("%x\r\n%s\r\n", len(block), block), size/len(block)) + "0\r\n\r\n",
	}
	for kind, body := range bodies {
		try := func(p place) (got string) {
			c, err := p.dial("good.example", 80)
			if err != nil {
				return err.Error()
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(20 * time.Second))
			_, err = io.WriteString(c, "POST / HTTP/1.1\r\nHost: good.example\r\n"+body)
			b := make([]byte, 200)
			k, _ := c.Read(b)
			return fmt.Sprintf("%q %v", b[:k], err)
		}
		want, got := try(place{w, nameServer}), ""
		if !strings.Contains(want, "method=POST body=4") {
			t.Fatalf("%s, outside: %s", kind, want)
		}
		if run.in(func() { got = try(place{w, insideDNS}) }); got != want {
			t.Errorf("%s: %s; want %s", kind, got, want)
		}
	}
}

func TestSummaryIsBounded(t *testing.T) {
	var s egress.Summary
	for i := range 10000 {
		s.Add(egress.Verdict{Name: "x" + strings.Repeat("y", i%50) + string(rune('a'+i%26)), Port: uint16(i), Reason: egress.UnknownName, Sent: 1})
	}
	var refused, sent int64
	rows := s.Rows()
	for _, r := range rows {
		refused += r.Refused
		sent += r.Sent
	}
	if len(rows) > 4097 || refused != 10000 || sent != 10000 {
		t.Errorf("%d rows, %d refused, %d sent", len(rows), refused, sent)
	}
}

// TestScarce: a lack of descriptors is no end, and the gate leaves some to
// others.
func TestScarce(t *testing.T) {
	for err, want := range map[error]int{
		&net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}: 0,
		syscall.ENOBUFS: 0,
		syscall.EINVAL:  201,
		&net.OpError{Op: "accept", Err: net.ErrClosed}: 1,
		nil: 0,
	} {
		if got := egress.Failures(err); got != want {
			t.Errorf("%v: over after %d; want %d", err, got, want)
		}
	}
	for files, want := range map[uint64]int{0: 128, 64: 128, 1024: 384, 4096: 1920, 20000: 9872, 1 << 20: 10000, 1<<64 - 1: 10000} {
		if got := egress.ConnectionsFor(files); got != want {
			t.Errorf("%d files: %d connections; want %d", files, got, want)
		}
		if pipes := egress.PipesFor(files); pipes < 32 || files >= 512 && files-2*uint64(want+pipes) < 192 {
			t.Errorf("%d files: %d connections and %d pipes", files, want, pipes)
		}
	}
}

// TestDeniedAddress: a granted name does not lead to an address that its rule
// excepts, by whatever way. The control is the same rule without the exception.
func TestDeniedAddress(t *testing.T) {
	w := newWorld(t)
	network := func(except ...string) *profiles.Network {
		n := &profiles.Network{Mode: profiles.NetHosts}
		for _, host := range []string{"cdn.example", "several.example", "*.wild.example", "151.101.0.0/16", "six.example", "translated.example"} {
			n.Hosts = append(n.Hosts, profiles.HostRule{Host: host, Protocols: profiles.TCP | profiles.UDP, Except: except,
				Ports: []profiles.PortRange{{First: 80, Last: 80}, {First: 9999, Last: 9999}}})
		}
		return n
	}
	file := func(cfg *egress.Config) {
		cfg.System.Hosts["b.wild.example"] = []netip.Addr{netip.MustParseAddr("93.184.216.70")}
	}
	denied := network("151.101.1.0/24", "93.184.216.34", "93.184.216.60", "93.184.216.70", "2606:2800:220:1::/64")
	shut, v := newGate(t, denied, file)
	open, _ := newGate(t, network(), file)
	shutRun, openRun := newRun(t, shut, denied), newRun(t, open, network())
	datagram := func(name, addr string) func(place) {
		return func(p place) {
			p.resolve(name)
			c, err := net.Dial("udp", addr+":9999")
			if err != nil {
				return
			}
			defer c.Close()
			send(c, "datagram")
		}
	}
	for _, c := range []struct {
		name string
		try  func(place)
		want string
	}{
		{"name", say("cdn.example", 80, get("cdn.example")), "at=151.101.1.69"},
		{"name beneath", say("a.wild.example", 80, get("a.wild.example")), "at=93.184.216.70"},
		{"name of the hosts file", say("b.wild.example", 80, get("b.wild.example")), "at=93.184.216.70"},
		{"its address", say("93.184.216.70", 80, get("b.wild.example")), "at=93.184.216.70"},
		{"address in a granted prefix", say("151.101.1.69", 80, get("x.test")), "at=151.101.1.69"},
		{"IPv6", say("six.example", 80, get("six.example")), "at=[2606:2800:220:1::1]"},
		{"IPv4 by a translator", say("translated.example", 80, get("translated.example")), "at=[64:ff9b::5db8:d822]"},
		{"datagram", datagram("cdn.example", "151.101.1.69"), "udp datagram"},
		{"datagram to a name of the hosts file", datagram("b.wild.example", "93.184.216.70"), "udp datagram"},
	} {
		w.reached()
		openRun.in(func() { c.try(place{w, insideDNS}) })
		if got := w.reached(); !noted(got, c.want) {
			t.Errorf("control: %s: %q was not reached: %q", c.name, c.want, got)
		}
		shutRun.in(func() { c.try(place{w, insideDNS}) })
		if got := w.reached(); noted(got, c.want) {
			t.Errorf("%s: reached: %q", c.name, got)
		}
	}
	// An address of the hosts file stands for no name that may not have it.
	refused := func(a netip.Addr) egress.Reason {
		if a == netip.MustParseAddr("93.184.216.70") {
			return egress.UnknownAddr
		}
		return egress.DeniedAddr
	}
	for _, x := range settled(t, shut, v) {
		if x.Reason != refused(x.Addr) || x.Allowed {
			t.Errorf("%s, %s: %s", x.Name, x.Addr, x.Reason)
		}
	}
	// Of several addresses the others are reached.
	w.reached()
	shutRun.in(func() { say("several.example", 80, get("several.example"))(place{w, insideDNS}) })
	if got := w.reached(); !noted(got, "at=93.184.216.61") || noted(got, "at=93.184.216.60") {
		t.Errorf("one of several: %q", got)
	}

	// Where a supervisor makes the run's sockets, and as a proxy.
	for _, g := range []*egress.Gate{open, shut} {
		if err := g.ServeLoopback(); err != nil {
			t.Fatal(err)
		}
		for _, dst := range []string{"151.101.1.69:80", "[::ffff:151.101.1.69]:80", "93.184.216.70:80"} {
			to, want := netip.MustParseAddrPort(dst), egress.Granted
			if g == shut {
				want = refused(to.Addr())
			}
			if _, _, v := g.Connect(to); v.Reason != want {
				t.Errorf("%s: %s, want %s", dst, v.Reason, want)
			}
		}
		if passed := g.Datagram(1, netip.MustParseAddrPort("93.184.216.70:9999"), []byte("x"), func([]byte) {}); passed != (g == open) {
			t.Errorf("a datagram that a supervisor holds: %v", passed)
		}
		at := proxy(t, g)
		for _, host := range []string{"cdn.example", "a.wild.example", "b.wild.example", "151.101.1.69"} {
			w.reached()
			before := len(v.all())
			c, err := net.Dial("tcp", at.String())
			if err != nil {
				t.Fatal(err)
			}
			send(c, tunnel(host+":80"), get(host))
			c.Close()
			if got := noted(w.reached(), "at="); got != (g == open) {
				t.Errorf("%s by the proxy: %v", host, got)
			}
			if g == shut {
				if all := settled(t, g, v)[before:]; len(all) != 1 || all[0].Reason != egress.DeniedAddr {
					t.Errorf("%s by the proxy: %+v", host, all)
				}
			}
		}
	}
}
