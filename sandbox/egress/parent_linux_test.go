package egress_test

import (
	"bufio"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// parents reads an environment.
func parents(t *testing.T, env ...string) *egress.Parents {
	t.Helper()
	p, err := egress.NewParents(func(name string) string {
		for _, v := range env {
			if k, v, _ := strings.Cut(v, "="); k == name {
				return v
			}
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestParents: a machine reaches the web by a proxy of either kind, and a run of
// it what it is granted, and nothing else.
func TestParents(t *testing.T) {
	w := newWorld(t)
	n := rules()
	n.Hosts = append(n.Hosts, profiles.HostRule{Host: "several.example", Ports: []profiles.PortRange{{First: 80, Last: 80}}, Protocols: profiles.TCP, Except: []string{"93.184.216.60/31"}})
	outside, asked := newGate(t, everything())
	at := proxy(t, outside).String()
	for _, scheme := range []string{"http", "socks5"} {
		t.Run(scheme, func(t *testing.T) {
			g, v := newGate(t, n, func(cfg *egress.Config) {
				cfg.Parents = parents(t, "ALL_PROXY="+scheme+"://"+at, "no_proxy=other.example,.corp.example")
				cfg.System.Hosts["both.example"] = []netip.Addr{netip.MustParseAddr("93.184.216.50")}
			})
			run := newRun(t, g, n)
			for _, c := range []struct {
				name string
				do   func(place)
				want string // what the servers saw, "" for nothing
				via  bool
				why  egress.Reason
			}{
				{"request", say("good.example", 80, get("good.example")), "plain method=GET host=good.example header=good.example", true, egress.Granted},
				{"request with a query", say("good.example", 80, "GET /2?a=b HTTP/1.1\r\nHost: good.example\r\n\r\n"), "target=/2?a=b", true, egress.Granted},
				{"body", say("good.example", 80, "POST /p HTTP/1.1\r\nHost: good.example\r\nContent-Length: 3\r\n\r\nabc"), "method=POST", true, egress.Granted},
				{"absolute form", say("good.example", 80, "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n"), "host=good.example", true, egress.Granted},
				{"another port", say("good.example", 8080, get("good.example:8080")), "header=good.example:8080", true, egress.Granted},
				{"WebSocket", say("good.example", 80, "GET /ws HTTP/1.1\r\nHost: good.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), "target=/ws", true, egress.Granted},
				{"TLS", say("good.example", 443, string(hello("good.example"))), "tls sni=good.example at=93.184.216.34:443", true, egress.Granted},
				{"TLS after a silence", later("good.example", 443, string(hello("good.example"))), "tls sni=good.example at=93.184.216.34:443", true, egress.Granted},
				{"WebSocket after a silence", later("good.example", 80, "GET /ws HTTP/1.1\r\nHost: good.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), "target=/ws", true, egress.Granted},
				{"what is not of the web", say("server-first.test", 2222, "x\n"), `ssh client="x\n" `, false, egress.Granted},
				{"a name that is excepted", say("other.example", 80, get("other.example")), "host=other.example", false, egress.Granted},
				{"a name of the hosts file", say("both.example", 80, get("both.example")), "host=both.example", false, egress.Granted},
				{"an address", say("192.0.2.7", 7000, "x"), "echo at=192.0.2.7:7000", false, egress.Granted},
				{"Host of another", say("good.example", 80, get("evil.example")), "", false, egress.Mismatch},
				{"Host of another that is granted", say("good.example", 80, get("cdn.example")), "", false, egress.Mismatch},
				{"a second request to another", say("cdn.example", 80, get("cdn.example"), get("evil.example")), "host=cdn.example", true, egress.Mismatch},
				{"SNI of another", say("good.example", 443, string(hello("evil.example"))), "", false, egress.Mismatch},
				{"another method", say("read.example", 80, "POST / HTTP/1.1\r\nHost: read.example\r\n\r\n"), "", false, egress.ReadOnly},
				{"a private name", say("rebind.example", 80, get("rebind.example")), "", false, egress.NotPublic},
				{"a name at a denied address", say("several.example", 80, get("several.example")), "", false, egress.DeniedAddr},
				{"another name", say("evil.example", 80, get("evil.example")), "", false, egress.UnknownName},
				{"an address that stands for nothing", say("198.18.77.7", 80, get("good.example")), "", false, egress.UnknownAddr},
				{"a port that is not granted", say("server-first.test", 80, get("server-first.test")), "", false, egress.WrongPort},
			} {
				w.reached()
				before, questions := len(v.all()), len(asked.all())
				run.in(func() { c.do(place{w, insideDNS}) })
				all := settled(t, g, v)[before:]
				if len(all) != 1 {
					t.Errorf("%s: %d verdicts: %+v", c.name, len(all), all)
					continue
				}
				x := all[0]
				settled(t, outside, asked)
				saw := slices.DeleteFunc(w.reached(), func(s string) bool { return strings.HasPrefix(s, "asked ") })
				if (c.want != "") != (len(saw) > 0) || c.want != "" && !noted(saw, c.want) {
					t.Errorf("%s: the servers saw %q, want %q", c.name, saw, c.want)
				}
				if via := x.Via != ""; x.Reason != c.why || via != c.via || via && x.Via != at || via && x.Addr.IsValid() {
					t.Errorf("%s: %s at %s via %q, want %s, %v", c.name, x.Reason, x.Addr, x.Via, c.why, c.via)
				}
				if n := len(asked.all()) - questions; (n > 0) != c.via {
					t.Errorf("%s: the proxy was asked %d times", c.name, n)
				}
			}
			run.in(func() {
				addrs, err := place{w, insideDNS}.resolve("good.example")
				if err != nil || len(addrs) != 1 || !netip.MustParsePrefix("198.18.0.0/15").Contains(addrs[0]) {
					t.Errorf("stands for the name: %v, %v", addrs, err)
				}
			})
		})
	}
}

// TestParentSlow: the proxy is asked on every port for what is TLS or HTTP, also when
// that takes a moment to show, or long where there is no other way.
func TestParentSlow(t *testing.T) {
	w := newWorld(t)
	n := rules()
	outside, _ := newGate(t, everything())
	at := proxy(t, outside).String()
	for _, c := range []struct {
		what    string
		resolve bool // the name without the proxy
		silence time.Duration
		say     string
		via     bool
		why     egress.Reason
	}{
		{"a moment", true, 200 * time.Millisecond, get("good.example"), true, egress.Granted},
		{"long", true, 1200 * time.Millisecond, get("good.example"), false, egress.Granted},
		{"long, with no other way", false, 1200 * time.Millisecond, get("good.example"), true, egress.Granted},
		{"long, with no other way, to another", false, 1200 * time.Millisecond, get("evil.example"), false, egress.Mismatch},
		{"what is not of the web, with no other way", false, 0, "\x00\x01", false, egress.Unreachable},
	} {
		g, v := newGate(t, n, func(cfg *egress.Config) {
			cfg.Parents = parents(t, "ALL_PROXY=http://"+at)
			if !c.resolve {
				cfg.System.Servers = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9")}
			}
		})
		run := newRun(t, g, n)
		w.reached()
		run.in(func() {
			conn, err := place{w, insideDNS}.dial("good.example", 8080)
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
				return
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			time.Sleep(c.silence) // it is what a slow program does
			send(conn, c.say)
		})
		all := settled(t, g, v)
		if len(all) != 1 || all[0].Reason != c.why || (all[0].Via != "") != c.via {
			t.Errorf("%s: %+v", c.what, all)
		}
		if got := noted(w.reached(), "host=good.example"); got != (c.why == egress.Granted) {
			t.Errorf("%s: reached %v", c.what, got)
		}
	}
}

// TestParentDialogue: what a proxy is told, and answers that are no tunnel.
func TestParentDialogue(t *testing.T) {
	newWorld(t)
	n := rules()
	for _, c := range []struct {
		name, url     string
		port          int
		say           string
		answer        string
		told, answer2 string
		want          string // what the run reads
		why           egress.Reason
	}{
		{"tunnel", "http://u:p%40ss@", 443, string(hello("good.example")), "HTTP/1.1 200 OK\r\nX: y\r\n\r\nfrom the server\n",
			"CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\nProxy-Authorization: Basic dTpwQHNz\r\n\r\n", "", "from the server\n", egress.Granted},
		{"request", "http://u:p%40ss@", 80, "GET /a HTTP/1.1\r\nHost: good.example\r\n\r\n", "HTTP/1.1 204 OK\r\n\r\n",
			"GET http://good.example/a HTTP/1.1\r\nHost: good.example\r\nProxy-Authorization: Basic dTpwQHNz\r\n\r\n", "", "HTTP/1.1 204 OK\r\n", egress.Granted},
		{"all of a server", "http://", 80, "OPTIONS * HTTP/1.1\r\nHost: good.example\r\n\r\n", "HTTP/1.1 204 OK\r\n\r\n",
			"OPTIONS http://good.example HTTP/1.1\r\nHost: good.example\r\n\r\n", "", "HTTP/1.1 204 OK\r\n", egress.Granted},
		{"another port in the target", "http://", 80, "GET http://good.example:8443/a?b#c HTTP/1.1\r\nHost: good.example:8443\r\nX: y\r\n\r\n", "HTTP/1.1 204 OK\r\n\r\n",
			"GET http://good.example/a?b HTTP/1.1\r\nHost: good.example\r\nX: y\r\n\r\n", "", "HTTP/1.1 204 OK\r\n", egress.Granted},
		{"another scheme in the target", "http://", 80, "GET https://good.example?b HTTP/1.1\r\nHost: good.example\r\n\r\n", "HTTP/1.1 204 OK\r\n\r\n",
			"GET http://good.example/?b HTTP/1.1\r\nHost: good.example\r\n\r\n", "", "HTTP/1.1 204 OK\r\n", egress.Granted},
		{"another port in the Host field", "http://", 80, "GET //evil.example/ HTTP/1.1\r\nHost: good.example:22\r\nproxy-authorization: Basic own\r\n\r\n", "HTTP/1.1 204 OK\r\n\r\n",
			"GET http://good.example//evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", "", "HTTP/1.1 204 OK\r\n", egress.Granted},
		{"an offer to go on in HTTP/2", "http://", 80, h2c("good.example"), "HTTP/1.1 204 OK\r\n\r\n",
			"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nX: y\r\n\r\n", "", "HTTP/1.1 204 OK\r\n", egress.Granted},
		{"a port that is granted", "http://", 8080, "GET http://good.example/ HTTP/1.0\r\n\r\n", "HTTP/1.1 204 OK\r\n\r\n",
			"GET http://good.example:8080/ HTTP/1.0\r\nHost: good.example:8080\r\n\r\n", "", "HTTP/1.1 204 OK\r\n", egress.Granted},
		{"what would be sent back by those that read any case", "http://u:p%40ss@", 80, "trace / HTTP/1.1\r\nHost: good.example\r\n\r\n", "",
			"", "", "", egress.Malformed},
		{"what would be sent back", "http://u:p%40ss@", 80, "TRACE / HTTP/1.1\r\nHost: good.example\r\nMax-Forwards: 0\r\n\r\n", "",
			"", "", "", egress.Malformed},
		{"refused", "http://", 443, string(hello("good.example")), "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
			"CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n", "", "", egress.Unreachable},
		{"no HTTP", "http://", 443, string(hello("good.example")), "220 smtp.example\r\n\r\n", "CONNECT ", "", "", egress.Unreachable},
		{"silence", "http://", 443, string(hello("good.example")), "", "CONNECT ", "", "", egress.Unreachable},
		{"a head without end", "http://", 443, string(hello("good.example")), "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 10000), "CONNECT ", "", "", egress.Unreachable},
		{"SOCKS with a password", "socks5h://u:p%40ss@", 443, string(hello("good.example")), "\x05\x02", "\x05\x02\x00\x02", "\x01\x00\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50from the server\n", "from the server\n", egress.Granted},
		{"SOCKS refuses", "socks5://", 443, string(hello("good.example")), "\x05\x00", "\x05\x01\x00", "\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00", "", egress.Unreachable},
		{"SOCKS wants more", "socks5://", 443, string(hello("good.example")), "\x05\x02", "\x05\x01\x00", "", "", egress.Unreachable},
	} {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		told := make(chan string, 1)
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(3 * time.Second))
			b := make([]byte, 4096)
			n, _ := conn.Read(b)
			told <- string(b[:n])
			io.WriteString(conn, c.answer)
			if c.answer2 != "" {
				conn.Read(b)
				io.WriteString(conn, c.answer2)
			}
			io.Copy(io.Discard, conn)
		}()
		g, v := newGate(t, n, func(cfg *egress.Config) {
			cfg.Parents = parents(t, "HTTPS_PROXY="+c.url+ln.Addr().String(), "HTTP_PROXY="+c.url+ln.Addr().String())
			cfg.HeadTimeout = time.Second
		})
		run := newRun(t, g, n)
		var line string
		run.in(func() {
			conn, err := place{nil, insideDNS}.dial("good.example", c.port)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, c.say)
			line, _ = bufio.NewReader(conn).ReadString('\n')
		})
		ln.Close()
		all := settled(t, g, v)
		if len(all) != 1 || all[0].Reason != c.why || line != c.want {
			t.Errorf("%s: read %q, want %q: %+v", c.name, line, c.want, all)
		}
		if got := <-told; got != c.told && (!strings.HasSuffix(c.told, " ") || !strings.HasPrefix(got, c.told)) {
			t.Errorf("%s: the proxy was told %q, want %q", c.name, got, c.told)
		}
	}
}

// TestNewParents reads what environments have.
func TestNewParents(t *testing.T) {
	for _, c := range []struct{ env, name, want string }{
		{"HTTPS_PROXY=http://proxy.corp:3128", "a.example:443", "proxy.corp:3128"},
		{"https_proxy=http://proxy.corp:3128", "a.example:443", "proxy.corp:3128"},
		{"HTTPS_PROXY=http://proxy.corp:3128", "a.example:80", ""},
		{"HTTPS_PROXY=proxy.corp:3128", "a.example:8443", "proxy.corp:3128"},
		{"HTTPS_PROXY=http://u:secret@proxy.corp", "a.example:443", "proxy.corp:80"},
		{"ALL_PROXY=socks5://[::1]:1080", "a.example:80", "[::1]:1080"},
		{"ALL_PROXY=http://a:1 HTTPS_PROXY=http://b:2", "a.example:443", "b:2"},
		{"ALL_PROXY=http://a:1 NO_PROXY=a.example", "a.example:443", ""},
		{"ALL_PROXY=http://a:1 NO_PROXY=.example", "a.example:443", ""},
		{"ALL_PROXY=http://a:1 NO_PROXY=*", "a.example:443", ""},
		{"ALL_PROXY=http://a:1", "localhost:443", ""},
		{"HTTP_PROXY=http://a:1 HTTPS_PROXY=http://b:2 REQUEST_METHOD=GET", "a.example:80", ""},
		{"http_proxy=http://a:1 REQUEST_METHOD=GET", "a.example:80", "a:1"},
	} {
		p := parents(t, strings.Fields(c.env)...)
		host, port, _ := strings.Cut(c.name, ":")
		number := map[string]uint16{"80": 80, "443": 443, "8443": 8443}[port]
		if got := p.Through(host, number); got != c.want {
			t.Errorf("%s: %s by %q, want %q", c.env, c.name, got, c.want)
		}
	}
	if p := parents(t); p != nil || p.Through("a.example", 443) != "" {
		t.Error("no proxy, and there is one")
	}
	for _, bad := range []string{"HTTPS_PROXY=https://u:secret@proxy.corp", "HTTP_PROXY=http://proxy.corp:99999", "ALL_PROXY=ftp://u:secret@x", "https_proxy=socks5://0x7f.1:80", "ALL_PROXY=socks5://:secret@proxy.corp"} {
		k, value, _ := strings.Cut(bad, "=")
		_, err := egress.NewParents(func(name string) string { return map[string]string{k: value}[name] })
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
