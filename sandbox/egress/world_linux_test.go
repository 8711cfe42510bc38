package egress_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
	"skillrun/sandbox/sandboxtest"
)

// world is everything outside the run: servers that stand at every address at
// once and note who reached them, and a name server.
type world struct {
	ca    *x509.CertPool
	files map[string][]byte // what the web servers have, by path
	mu    sync.Mutex
	seen  []string
	busy  atomic.Int64 // connections being served
	// names is what the name server knows; lies makes the whole answer of a
	// question instead.
	names map[string][]string
	lies  map[string]func(q dnsmessage.Question, id uint16) []byte
}

const nameServer = "127.0.0.1:5353"

var worldNames = map[string][]string{
	"good.example":        {"93.184.216.34"},
	"other.example":       {"93.184.216.34"}, // granted too, on the same host
	"evil.example":        {"151.101.1.69"},
	"cdn.example":         {"151.101.1.69"}, // granted, shares the address with evil.example
	"read.example":        {"93.184.216.40"},
	"six.example":         {"2606:2800:220:1::1"},
	"both.example":        {"93.184.216.50", "2606:2800:220:1::5"},
	"several.example":     {"93.184.216.60", "93.184.216.61"},
	"rebind.example":      {"10.0.0.5"},
	"loop.example":        {"127.0.0.1"},
	"meta.example":        {"169.254.169.254"},
	"mapped.example":      {"::ffff:10.0.0.5"},
	"nat64.example":       {"64:ff9b::a00:5"},
	"translated.example":  {"64:ff9b::5db8:d822"}, // 93.184.216.34
	"ula.example":         {"fd00::5"},
	"linklocal.example":   {"fe80::5"},
	"multicast.example":   {"224.0.0.5"},
	"zero.example":        {"0.0.0.0"},
	"half.example":        {"10.0.0.5", "93.184.216.60"},
	"intranet.example":    {"10.0.0.7"}, // granted with Private
	"a.wild.example":      {"93.184.216.70"},
	"wild.example":        {"93.184.216.71"},
	"127.0.0.1.nip.io":    {"127.0.0.1"},
	"xn--bcher-kva.test":  {"93.184.216.80"},
	"budget.example":      {"93.184.216.90"},
	"few.example":         {"93.184.216.91"},
	"api.corp.example":    {"93.184.216.92"},
	"deep.alias.example":  {"93.184.216.93"},
	"server-first.test":   {"93.184.216.94"},
	"gone-host.example":   {"93.184.216.95"},
	"own4.example":        {"93.184.216.99"}, // this machine's in one test
	"own6.example":        {"2606:2800:220:99::99"},
	"beside4.example":     {"91.198.174.7"}, // on its network
	"beside6.example":     {"2606:2800:220:99::7"},
	"beside64.example":    {"64:ff9b::5bc6:ae07"}, // 91.198.174.7
	"mixed.example":       {"93.184.216.98"},      // the address is granted too, for reading
	"exfil.good.example":  {"93.184.216.34"},
	"post.example":        {"93.184.216.40"}, // at the address of read.example
	"notgood.example":     {"93.184.216.34"},
	"good.example.evil.x": {"151.101.1.69"},
	"2130706433":          {"93.184.216.96"},
	"0x7f000001":          {"93.184.216.96"},
	"127.1":               {"93.184.216.96"},
	"0177.0.0.1":          {"93.184.216.96"},
	"secret.good.example": {"93.184.216.96"},
}

func newWorld(t testing.TB) *world {
	t.Helper()
	needNetwork(t)
	w := &world{names: worldNames, lies: map[string]func(dnsmessage.Question, uint16) []byte{}}
	conf := w.certificate(t)
	serve := func(port int, f func(net.Conn)) {
		for _, network := range []string{"tcp4", "tcp6"} {
			ln, err := net.Listen(network, ":"+strconv.Itoa(port))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { ln.Close() })
			go func() {
				for {
					c, err := ln.Accept()
					if err != nil {
						return
					}
					w.busy.Add(1)
					go func() {
						defer w.busy.Add(-1)
						defer c.Close()
						f(c)
					}()
				}
			}()
		}
	}
	for _, p := range []int{80, 8080, 9999} {
		serve(p, func(c net.Conn) { w.http(c, c, "plain") })
	}
	for _, p := range []int{443, 8443} {
		serve(p, func(c net.Conn) {
			tc := tls.Server(c, conf)
			tc.SetDeadline(time.Now().Add(5 * time.Second))
			if err := tc.Handshake(); err != nil {
				return
			}
			w.http(tc, c, "tls")
		})
	}
	serve(7000, func(c net.Conn) {
		w.note("echo at=%s", c.LocalAddr())
		io.Copy(c, c)
	})
	serve(2222, func(c net.Conn) {
		w.note("ssh at=%s", c.LocalAddr())
		io.WriteString(c, "SSH-2.0-test\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		w.note("ssh client=%q", line)
		io.WriteString(c, "hello "+line)
	})
	for _, p := range []int{443, 9999} {
		pc, err := net.ListenPacket("udp4", ":"+strconv.Itoa(p))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pc.Close() })
		go func() {
			buf := make([]byte, 2000)
			for {
				n, from, err := pc.ReadFrom(buf)
				if err != nil {
					return
				}
				w.note("udp %s port=%d", buf[:n], p)
				pc.WriteTo(buf[:n], from)
			}
		}()
	}
	w.serveNamesAt(t, nameServer)
	return w
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, fmt.Sprintf(format, args...))
}

// reached gives what servers noted since the last call, once they are done
// with all connections.
func (w *world) reached() []string {
	for end := time.Now().Add(6 * time.Second); w.busy.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen
	w.seen = nil
	return s
}

// http is a server as lenient as servers get: bare line feeds, folded lines,
// blanks before a request, the last of several Host fields, and a body by
// whichever of the two lengths it sees last.
func (w *world) http(c io.ReadWriter, raw net.Conn, kind string) {
	raw.SetDeadline(time.Now().Add(5 * time.Second))
	r := bufio.NewReader(c)
	for {
		line := ""
		for line == "" {
			l, err := r.ReadString('\n')
			if err != nil {
				return
			}
			line = strings.TrimSpace(l)
		}
		f := strings.Fields(line)
		method, target, host := f[0], "", ""
		if len(f) > 1 {
			target = f[1]
		}
		length, chunked, upgrade, header := 0, false, false, ""
		for len(f) > 2 {
			l, err := r.ReadString('\n')
			l = strings.TrimRight(l, "\r\n")
			if err != nil || l == "" {
				break
			}
			k, v, _ := strings.Cut(l, ":")
			switch v = strings.TrimSpace(v); strings.ToLower(strings.TrimSpace(k)) {
			case "host":
				host, header = v, v
			case "content-length":
				length, _ = strconv.Atoi(v)
				chunked = false
			case "transfer-encoding":
				chunked = strings.Contains(strings.ToLower(v), "chunked")
			case "http2-settings":
				w.note("h2c settings target=%s", target)
			case "upgrade":
				if v == "h2c" {
					w.note("h2c upgrade target=%s", target)
				}
				upgrade = strings.EqualFold(v, "websocket") && strings.HasPrefix(target, "/ws")
			}
		}
		if _, rest, ok := strings.Cut(target, "://"); ok {
			host, _, _ = strings.Cut(rest, "/")
		}
		if method == "CONNECT" {
			host = target
		}
		w.note("%s method=%s host=%s header=%s target=%s at=%s", kind, method, host, header, target, raw.LocalAddr())
		body := length
		if chunked {
			body = 0
			for {
				l, err := r.ReadString('\n')
				n, perr := strconv.ParseInt(strings.TrimSpace(l), 16, 32)
				if err != nil || perr != nil {
					return
				}
				body += int(n)
				r.Discard(int(n) + 2)
				if n == 0 {
					break
				}
			}
		} else if strings.HasPrefix(target, "/ignore-body") {
			body = 0 // a server that takes a body for the next request
		} else {
			r.Discard(length)
		}
		if upgrade {
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
			io.Copy(c, r)
			return
		}
		answer := fmt.Sprintf("host=%s method=%s body=%d", host, method, body)
		if n, ok := strings.CutPrefix(target, "/bytes/"); ok {
			size, _ := strconv.Atoi(n)
			answer = strings.Repeat("x", size)
		}
		w.mu.Lock()
		b, ok := w.files[target]
		w.mu.Unlock()
		if ok {
			answer = string(b)
		} else if strings.HasPrefix(target, "/repo.git/") {
			fmt.Fprint(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
		if len(f) > 2 && f[2] == "HTTP/1.0" && !chunked {
			return
		}
	}
}

// certificate makes a CA and a server certificate for every name of the world.
func (w *world) certificate(t testing.TB) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for n := range w.names {
		leaf.DNSNames = append(leaf.DNSNames, n)
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, _ := x509.ParseCertificate(caDER)
	w.ca = x509.NewCertPool()
	w.ca.AddCert(parsed)
	return &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		w.note("tls sni=%s at=%s", h.ServerName, h.Conn.LocalAddr())
		return nil, nil
	}, Certificates: []tls.Certificate{{Certificate: [][]byte{leafDER}, PrivateKey: key}}}
}

// serveNamesAt is the world's name server, by UDP and TCP.
func (w *world) serveNamesAt(t testing.TB, addr string) {
	pc, err := net.ListenPacket("udp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close(); ln.Close() })
	go func() {
		buf := make([]byte, 2000)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := w.answer(buf[:n], "udp"); reply != nil {
				pc.WriteTo(reply, from)
			}
		}
	}()
	go sandboxtest.Serve(ln, func(c net.Conn) {
		sandboxtest.ServeDNS(c, func(msg []byte) []byte { return w.answer(msg, "tcp") })
	})
}

func (w *world) answer(msg []byte, network string) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(msg)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	w.mu.Lock()
	w.seen = append(w.seen, "asked "+name+" "+q.Type.String())
	lie := w.lies[network+" "+name]
	if lie == nil {
		lie = w.lies[name]
	}
	w.mu.Unlock()
	if lie != nil {
		return lie(q, h.ID)
	}
	return honest(q, h.ID, w.names[name])
}

// honest packs addresses, and CNAMEs for what is no address.
func honest(q dnsmessage.Question, id uint16, values []string) []byte {
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: id, Response: true}, Questions: []dnsmessage.Question{q}}
	owner := q.Name
	for _, v := range values {
		rh := dnsmessage.ResourceHeader{Name: owner, Class: dnsmessage.ClassINET, TTL: 60}
		a, err := netip.ParseAddr(v)
		switch {
		case err != nil:
			to := dnsmessage.MustNewName(v + ".")
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: rh, Body: &dnsmessage.CNAMEResource{CNAME: to}})
			owner = to
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: rh, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: rh, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	if values == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

// place is where a program runs: how it resolves and connects there. Its
// methods make sockets on the calling thread.
type place struct {
	w   *world
	dns string
}

func (p place) dial(host string, port int) (net.Conn, error) {
	addr := host
	if _, err := netip.ParseAddr(host); err != nil {
		addrs, err := p.resolve(host)
		if err != nil {
			return nil, err
		}
		addr = addrs[0].String()
	}
	c, err := net.DialTimeout("tcp", net.JoinHostPort(addr, strconv.Itoa(port)), 2*time.Second)
	if err == nil {
		c.SetDeadline(time.Now().Add(1500 * time.Millisecond))
	}
	return c, err
}

func (p place) resolve(name string) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, t := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
		m, err := p.ask(name, t)
		if err != nil {
			return nil, err
		}
		for _, a := range m.Answers {
			switch b := a.Body.(type) {
			case *dnsmessage.AResource:
				all = append(all, netip.AddrFrom4(b.A))
			case *dnsmessage.AAAAResource:
				all = append(all, netip.AddrFrom16(b.AAAA))
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no address for " + name)
	}
	return all, nil
}

func (p place) ask(name string, t dnsmessage.Type) (*dnsmessage.Message, error) {
	c, err := net.Dial("udp", p.dns)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	n, err := dnsmessage.NewName(strings.TrimSuffix(name, ".") + ".")
	if err != nil {
		return nil, err
	}
	q := dnsmessage.Message{Header: dnsmessage.Header{ID: 77, RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: n, Type: t, Class: dnsmessage.ClassINET}}}
	b, err := q.Pack()
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(8 * time.Second))
	if _, err := c.Write(b); err != nil {
		return nil, err
	}
	buf := make([]byte, 4096)
	k, err := c.Read(buf)
	if err != nil {
		return nil, err
	}
	var m dnsmessage.Message
	return &m, m.Unpack(buf[:k])
}

// rules are what the tests' run may reach.
func rules() *profiles.Network {
	web := []profiles.PortRange{{First: 80, Last: 80}, {First: 443, Last: 443}, {First: 8080, Last: 8080}}
	host := func(name string, more ...func(*profiles.HostRule)) profiles.HostRule {
		r := profiles.HostRule{Host: name, Ports: web, Protocols: profiles.TCP}
		for _, f := range more {
			f(&r)
		}
		return r
	}
	port := func(p ...uint16) func(*profiles.HostRule) {
		return func(r *profiles.HostRule) {
			r.Ports = nil
			for _, n := range p {
				r.Ports = append(r.Ports, profiles.PortRange{First: n, Last: n})
			}
		}
	}
	n := &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{
		host("good.example"), host("other.example", port(80, 443)), host("cdn.example"),
		host("read.example", func(r *profiles.HostRule) { r.ReadOnly = true }), host("post.example"),
		host("six.example"), host("both.example"), host("half.example"),
		host("rebind.example"), host("loop.example"), host("meta.example"), host("mapped.example"), host("nat64.example"), host("translated.example"), host("ula.example"), host("linklocal.example"), host("multicast.example"), host("zero.example"),
		host("intranet.example", func(r *profiles.HostRule) { r.Private = true }),
		host("*.wild.example"), host("xn--bcher-kva.test"),
		host("alias.example"), host("aliasloop.example"), host("liar.example"), host("dead.example"), host("gone.example"), host("gone-host.example", port(81)),
		host("budget.example", func(r *profiles.HostRule) { r.MaxBytes = 5000 }),
		host("few.example", func(r *profiles.HostRule) { r.MaxConnections = 2 }),
		host("server-first.test", port(2222, 7000)),
		host("mixed.example"), host("93.184.216.98", func(r *profiles.HostRule) { r.ReadOnly = true }),
		host("192.0.2.7", port(80, 7000)), host("198.51.100.0/24", port(7000)),
		host("203.0.113.9", func(r *profiles.HostRule) { r.ReadOnly = true }),
	}}
	return n
}

func everything() *profiles.Network { return &profiles.Network{Mode: profiles.NetHost} }

// verdicts collects reports.
type verdicts struct {
	mu sync.Mutex
	v  []egress.Verdict
}

func (v *verdicts) add(x egress.Verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.v = append(v.v, x)
}

func (v *verdicts) all() []egress.Verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.v)
}

func system() *egress.System {
	s := egress.ParseResolvConf("nameserver 127.0.0.1\nsearch corp.example\n")
	s.Servers = []netip.AddrPort{netip.MustParseAddrPort(nameServer)}
	s.Timeout = 100 * time.Millisecond
	s.Hosts = map[string][]netip.Addr{}
	return s
}

func newGate(t testing.TB, n *profiles.Network, change ...func(*egress.Config)) (*egress.Gate, *verdicts) {
	t.Helper()
	v := &verdicts{}
	cfg := egress.Config{Network: n, System: system(), Report: v.add}
	for _, f := range change {
		f(&cfg)
	}
	g, err := egress.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, v
}

// proxy serves the proxy form of a gate and gives its address.
func proxy(t testing.TB, g *egress.Gate) netip.AddrPort {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go g.ServeProxy(ln)
	return netip.MustParseAddrPort(ln.Addr().String())
}
