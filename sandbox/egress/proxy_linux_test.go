package egress_test

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"skillrun/sandbox/egress"
)

// knock is a try through a proxy at addr.
type knock struct {
	name, want string
	parts      []string
}

func socksName(name string, port uint16) string {
	return "\x05\x01\x00\x03" + string(rune(len(name))) + name + string([]byte{byte(port >> 8), byte(port)})
}

func socksAddr(a string, port uint16) string {
	ip := netip.MustParseAddr(a)
	kind := "\x01"
	if ip.Is6() {
		kind = "\x04"
	}
	return "\x05\x01\x00" + kind + string(ip.AsSlice()) + string([]byte{byte(port >> 8), byte(port)})
}

func tunnel(to string) string { return "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n\r\n" }

const greeting = "\x05\x01\x00"

// TestProxyBypass tries the proxy form. The control is the same proxy with no
// restriction.
func TestProxyBypass(t *testing.T) {
	w := newWorld(t)
	shut, _ := newGate(t, rules())
	open, _ := newGate(t, everything())
	shutAt, openAt := proxy(t, shut), proxy(t, open)
	for _, k := range []knock{
		{"tunnel to another", evil, []string{tunnel("evil.example:80"), get("evil.example")}},
		{"tunnel to an address", "at=151.101.1.70", []string{tunnel("151.101.1.70:80"), get("x.test")}},
		{"tunnel to a private address", "at=10.0.0.5", []string{tunnel("10.0.0.5:80"), get("x.test")}},
		{"tunnel to a mapped address", "at=10.0.0.5", []string{tunnel("[::ffff:10.0.0.5]:80"), get("x.test")}},
		{"tunnel to loopback", "at=127.0.0.1", []string{tunnel("127.0.0.1:80"), get("x.test")}},
		{"tunnel to localhost", "host=x.test", []string{tunnel("localhost:80"), get("x.test")}},
		{"tunnel to localhost with a dot", "host=x.test", []string{tunnel("localhost.:80"), get("x.test")}},
		{"tunnel to metadata", "at=169.254.169.254", []string{tunnel("169.254.169.254:80"), get("x.test")}},
		{"tunnel to a name that is private", "at=10.0.0.5", []string{tunnel("rebind.example:80"), get("rebind.example")}},
		{"tunnel to another port", "at=93.184.216.34:9999", []string{tunnel("good.example:9999"), get("good.example")}},
		{"tunnel, then Host of another", evil, []string{tunnel("cdn.example:80"), get("evil.example")}},
		{"tunnel, then a second request", evil, []string{tunnel("cdn.example:80"), get("cdn.example"), get("evil.example")}},
		{"tunnel, then SNI of another", "sni=evil.example", []string{tunnel("cdn.example:443"), string(hello("evil.example"))}},
		{"tunnel with the hello behind it", "sni=evil.example", []string{tunnel("cdn.example:443") + string(hello("evil.example"))}},
		{"tunnel, then a hidden name", "sni=cloudflare-ech.com", []string{tunnel("cdn.example:443"), string(extend(hello("cloudflare-ech.com"), ech()))}},
		{"tunnel with Host of an allowed name", evil, []string{"CONNECT evil.example:80 HTTP/1.1\r\nHost: good.example:80\r\n\r\n", get("evil.example")}},
		{"request to another", evil, []string{"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"}},
		{"request to a private address", "at=10.0.0.5", []string{"GET http://10.0.0.5/ HTTP/1.1\r\nHost: 10.0.0.5\r\n\r\n"}},
		{"request that posts, read-only", "method=POST", []string{"POST http://read.example/ HTTP/1.1\r\nHost: read.example\r\nContent-Length: 0\r\n\r\n"}},
		{"SOCKS name", evil, []string{greeting, socksName("evil.example", 80), get("evil.example")}},
		{"SOCKS name with a dot", evil, []string{greeting, socksName("evil.example.", 80), get("evil.example")}},
		{"SOCKS name that is private", "at=10.0.0.5", []string{greeting, socksName("rebind.example", 80), get("x.test")}},
		{"SOCKS address as a name", "at=10.0.0.5", []string{greeting, socksName("10.0.0.5", 80), get("x.test")}},
		{"SOCKS address", "at=151.101.1.70", []string{greeting, socksAddr("151.101.1.70", 80), get("x.test")}},
		{"SOCKS private address", "at=10.0.0.5", []string{greeting, socksAddr("10.0.0.5", 80), get("x.test")}},
		{"SOCKS mapped address", "at=10.0.0.5", []string{greeting, socksAddr("::ffff:10.0.0.5", 80), get("x.test")}},
		{"SOCKS IPv6 loopback", "at=[::1]", []string{greeting, socksAddr("::1", 80), get("x.test")}},
		{"SOCKS, then Host of another", evil, []string{greeting, socksName("cdn.example", 80), get("evil.example")}},
		{"SOCKS, then SNI of another", "sni=evil.example", []string{greeting, socksName("cdn.example", 443), string(hello("evil.example"))}},
	} {
		t.Run(k.name, func(t *testing.T) {
			try := func(at netip.AddrPort) []string {
				w.reached()
				c, err := net.Dial("tcp", at.String())
				if err != nil {
					t.Fatal(err)
				}
				send(c, k.parts...)
				c.Close()
				for end := time.Now().Add(6 * time.Second); open.Live()+shut.Live() > 0 && time.Now().Before(end); {
					time.Sleep(time.Millisecond)
				}
				return w.reached()
			}
			if got := try(openAt); !noted(got, k.want) {
				t.Fatalf("control: %q was not reached through an open proxy: %q", k.want, got)
			}
			if got := try(shutAt); noted(got, k.want) {
				t.Errorf("reached: %q", got)
			}
		})
	}
}

// TestProxyRefuses sends what no proxy of ours takes, and looks at the answer;
// an allowed request on the same proxy is the control.
func TestProxyRefuses(t *testing.T) {
	newWorld(t)
	g, v := newGate(t, rules())
	at := proxy(t, g)
	ask := func(parts ...string) string {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(2 * time.Second))
		for _, p := range parts[:len(parts)-1] {
			io.WriteString(c, p)
			c.Read(make([]byte, 512))
		}
		io.WriteString(c, parts[len(parts)-1])
		b := make([]byte, 512)
		n, _ := c.Read(b)
		return string(b[:n])
	}
	for _, k := range []struct {
		name, want string
		parts      []string
	}{
		{"control: tunnel", "HTTP/1.1 200 ", []string{tunnel("good.example:443")}},
		{"control: request", "HTTP/1.1 200 ", []string{"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n"}},
		{"control: request with body", "HTTP/1.1 200 ", []string{"POST http://good.example/x HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"}},
		{"control: SOCKS name", "\x05\x00", []string{greeting, socksName("good.example", 80)}},
		{"control: SOCKS granted address", "\x05\x00", []string{greeting, socksAddr("192.0.2.7", 80)}},
		{"name not granted", "HTTP/1.1 403 ", []string{tunnel("evil.example:443")}},
		{"host down", "HTTP/1.1 502 ", []string{tunnel("gone-host.example:81")}},
		{"decimal address", "HTTP/1.1 403 ", []string{tunnel("2130706433:80")}},
		{"hexadecimal address", "HTTP/1.1 403 ", []string{tunnel("0x7f000001:80")}},
		{"octal address", "HTTP/1.1 403 ", []string{tunnel("0177.0.0.1:80")}},
		{"short address", "HTTP/1.1 403 ", []string{tunnel("127.1:80")}},
		{"address with a zone", "HTTP/1.1 403 ", []string{tunnel("[fe80::1%lo]:80")}},
		{"userinfo", "HTTP/1.1 403 ", []string{tunnel("good.example@evil.example:80")}},
		{"two ports", "HTTP/1.1 403 ", []string{tunnel("good.example:443:80")}},
		{"port 0", "HTTP/1.1 403 ", []string{tunnel("good.example:0")}},
		{"no port", "HTTP/1.1 400 ", []string{tunnel("good.example")}},
		{"non-ASCII", "HTTP/1.1 403 ", []string{tunnel("gööd.example:80")}},
		{"userinfo in a request", "HTTP/1.1 400 ", []string{"GET http://good.example@evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"}},
		{"backslash in a request", "HTTP/1.1 400 ", []string{"GET http://evil.example\\@good.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"}},
		{"https in absolute form", "HTTP/1.1 400 ", []string{"GET https://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n"}},
		{"ftp in absolute form", "HTTP/1.1 400 ", []string{"GET ftp://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n"}},
		{"Host of another", "HTTP/1.1 403 ", []string{"GET http://good.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"}},
		{"no proxy request", "HTTP/1.1 400 ", []string{"GET / HTTP/1.1\r\nHost: good.example\r\n\r\n"}},
		{"two lengths", "HTTP/1.1 400 ", []string{"POST http://good.example/ HTTP/1.1\r\nHost: good.example\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"}},
		{"body of a tunnel request", "HTTP/1.1 400 ", []string{"CONNECT good.example:80 HTTP/1.1\r\nHost: good.example:80\r\nContent-Length: 1\r\n\r\na"}},
		{"SOCKS name not granted", "\x05\x02", []string{greeting, socksName("evil.example", 80)}},
		{"SOCKS name with NUL", "\x05\x08", []string{greeting, socksName("evil.example\x00.good.example", 80)}},
		{"SOCKS empty name", "\x05\x08", []string{greeting, socksName("", 80)}},
		{"SOCKS address type", "\x05\x08", []string{greeting, "\x05\x01\x00\x02\x01\x02\x03\x04\x00\x50"}},
		{"SOCKS bind", "\x05\x07", []string{greeting, "\x05\x02" + socksName("good.example", 80)[2:]}},
		{"SOCKS UDP", "\x05\x07", []string{greeting, "\x05\x03" + socksName("good.example", 80)[2:]}},
		{"SOCKS without our method", "\x05\xff", []string{"\x05\x01\x02"}},
		{"SOCKS4", "HTTP/1.1 400 ", []string{"\x04\x01\x00\x50\x5d\xb8\xd8\x22\x00"}},
	} {
		t.Run(k.name, func(t *testing.T) {
			if got := ask(k.parts...); !strings.HasPrefix(got, k.want) {
				t.Errorf("got %q, want %q", got, k.want)
			}
		})
	}
	g.Close()
	if len(v.all()) == 0 {
		t.Error("no verdict was reported")
	}
}

func TestProxyEnv(t *testing.T) {
	got := map[string]string{}
	for _, e := range egress.ProxyEnv("localhost:4711") {
		got[e.Name] = e.Value
	}
	for name, want := range map[string]string{
		"HTTP_PROXY": "http://localhost:4711", "https_proxy": "http://localhost:4711",
		"ALL_PROXY": "socks5h://localhost:4711", "NO_PROXY": "", "no_proxy": "",
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s=%q, want %q", name, v, want)
		}
	}
}
