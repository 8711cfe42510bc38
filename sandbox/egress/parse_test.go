package egress_test

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

func TestParseHead(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "GET / HTTP/1.1\r\nHost: x.test\r\n\r\n", "GET x.test"},
		{"more", "GET / HTTP/1.1\r\nHost: x.test\r\n", "more"},
		{"body", "POST / HTTP/1.1\r\nHost: x.test\r\nContent-Length: 3\r\n\r\nabc", "POST x.test"},
		{"tab before value", "GET / HTTP/1.1\r\nHost:\tx.test \r\n\r\n", "GET x.test"},
		{"two blanks", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "bad"},
		{"blank in target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", "bad"},
		{"trailing blank", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", "bad"},
		{"version 1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n", "bad"},
		{"version 01.1", "GET / HTTP/01.1\r\nHost: x\r\n\r\n", "bad"},
		{"lower version", "GET / http/1.1\r\nHost: x\r\n\r\n", "bad"},
		{"no host", "GET / HTTP/1.1\r\n\r\n", "bad"},
		{"empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "bad"},
		{"relative target", "GET x HTTP/1.1\r\nHost: x\r\n\r\n", "bad"},
		{"asterisk", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", "bad"},
		{"asterisk of OPTIONS", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS x"},
		{"signed length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\n", "bad"},
		{"length list", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\n", "bad"},
		{"hex length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3\r\n\r\n", "bad"},
		{"huge length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", "bad"},
		{"empty length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", "bad"},
		{"gzip, chunked", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "bad"},
		{"identity", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", "bad"},
		{"underscore length", "POST / HTTP/1.1\r\nHost: x\r\nContent_Length: 3\r\n\r\n", "bad"},
		{"vertical tab in coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n", "bad"},
		{"NUL in value", "GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", "bad"},
		{"bare CR", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n", "bad"},
		{"bare LF", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", "bad"},
		{"folded", "GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", "bad"},
		{"no colon", "GET / HTTP/1.1\r\nHost: x\r\nabc\r\n\r\n", "bad"},
		{"empty name", "GET / HTTP/1.1\r\nHost: x\r\n: abc\r\n\r\n", "bad"},
		{"leading CRLF", "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "bad"},
		{"too long", "GET / HTTP/1.1\r\nA: " + strings.Repeat("a", 70000), "bad"},
		{"absolute form", "GET http://x.test/a\\b HTTP/1.1\r\nHost: x.test\r\n\r\n", "GET x.test"},
		{"backslash in the authority", "GET http://x.test\\@y.test/ HTTP/1.1\r\nHost: x.test\r\n\r\n", "bad"},
		{"binary", "\x16\x03\x01", "bad"},
	} {
		method, _, host, _, _, err := egress.ParseHead([]byte(c.in))
		got := method + " " + host
		switch {
		case errors.Is(err, egress.ErrMore):
			got = "more"
		case err != nil:
			got = "bad"
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestClassify(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "unclear",
		"\x16":                               "unclear",
		"\x16\x03":                           "tls",
		"\x16\x02":                           "unclear",
		"\x16\x02\x00\x00\x05\x01":           "odd tls",
		"\x16\x00\x00\x02\x05\x01":           "odd tls",
		"\x15\x02\x00\x00\x02\x01":           "odd tls",
		"\x14\x01\x00\x00\x01\x01":           "odd tls",
		"\x15":                               "unclear",
		"\x15\x03\x01\x00\x02\x01Z":          "odd tls",
		"\x14\x03\x03\x00\x01\x01":           "odd tls",
		"\x17\x03\x03":                       "odd tls",
		"\x15\x02":                           "unclear",
		"\x15\x10\x01\x00\x02\x01":           "odd tls",
		"\x16\x25\x01\x05\xea\x01":           "odd tls",
		"\x16\x10":                           "unclear",
		"\x16\x01\x00\x00\x00\x16":           "odd tls",
		"\x16\x25\x01\x00\x00\x02":           "opaque",
		"\x16\x25\x01\x05\xea\x02":           "opaque",
		"\x18\x03":                           "opaque",
		"GE":                                 "unclear",
		"GET ":                               "http",
		"get\t":                              "unclear",
		"get k:/x\r\n":                       "opaque", // memcached
		"put 0 0 60 5\r\n":                   "opaque", // beanstalkd
		"get / HTTP/1.1\r\n":                 "http",
		"CONNECT ":                           "unclear",
		"CONNECT x:443 ":                     "http",
		"CONNECT {\"a\": 1}\r\n":             "opaque", // NATS
		"CONNECT {} HTTP/1.1\r\n":            "http",
		"SETUP /x RTSP/1.0\r\n":              "http",
		"SOURCE /x ice/1.0":                  "http",
		"GET\x85/":                           "http", // what Python takes for blanks
		"\xa0GET\x1c":                        "http",
		"GET\r/":                             "http",
		"FROB\x85/x":                         "http",
		"NOTIFY /x\r\n":                      "http",
		"NOTIFY *":                           "http",
		"NOTIFY */x\r\n":                     "http",
		"FROB %2fx":                          "http",
		"set %2Fx":                           "http",
		"FROB %2x 1\r\n":                     "opaque",
		"FROB x:/y 1\r\n":                    "http",
		"set x:/y 0 60 5\r\n":                "opaque",
		"KEYS x*\r\n":                        "opaque",
		"a http://x/\r\n":                    "http",
		"GET\r":                              "unclear",
		"PING\r":                             "unclear",
		"PING \r\n/x\r\n":                    "opaque",
		"CAP LS 302\r\n":                     "opaque", // IRC
		"\x85\x00\x00\x01":                   "opaque", // MySQL
		"\x30\x1c\x02\x01\x01":               "opaque", // LDAP
		"USER service/x\r\n":                 "opaque",
		"\r\n":                               "unclear",
		"\r\nGET":                            "unclear",
		"\r\nGET ":                           "http",
		" \t\v\f\n GET ":                     "http",
		" FROB /x HTTP/":                     "http",
		strings.Repeat(" ", 32<<10):          "http",
		"\r\n\r\n\x00\r\nQUIT\n":             "http", // a proxy's preamble, version 2
		"FROB \xc3\xa9 HTTP/":                "http",
		"FROB /x HTTP":                       "http",
		"FROB":                               "unclear",
		"FROB x HTTP":                        "unclear",
		"FROB x HTTP/":                       "http",
		"FROB /x HTTP/":                      "http",
		"EHLO me.example\r\n":                "opaque",
		"SSH-2.0-OpenSSH_9.9 x\r\n":          "opaque",
		"003egit-upload-pack /r":             "unclear",
		"003egit-upload-pack /r\x00":         "opaque",
		"003egit-upload-pack / HTTP/1.1\x00": "http",
		"003egit-upload-packs /r\x00":        "http",
		"git-upload-pack /r\x00":             "http",
		"PING\r\n":                           "opaque",
		"\x00\x00\x00\x08":                   "opaque",
		"PRI * HTTP/2.0":                     "http",
		// Others, whose first bytes are lengths.
		"\x20\x00\x00\x01\x85\xae": "opaque", // MySQL asks for TLS
		"\x0a\x01\x00\x01\x85\xae": "opaque", // MySQL
		"\x16\x01\x00\x00\x01\x00": "opaque", // MongoDB
		"\x14\x01\x00\x00\x01\x00": "opaque", // MongoDB
		"\x30\x0c\x02\x01\x01":     "opaque", // LDAP
		"\x30\x20\x02\x01\x01":     "opaque", // LDAP
	} {
		if got := egress.Classify([]byte(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
		// What is clear of a beginning stays so, however it is cut.
		for i := range min(len(in), 64) {
			if got := egress.Classify([]byte(in[:i])); got != "unclear" && got != want {
				t.Errorf("%q: %s, and %q: %s", in[:i], got, in, want)
			}
		}
	}
}

func TestChunkSize(t *testing.T) {
	for in, want := range map[string]string{
		"0\r\n": "0", "1a\r\nx": "26", "FF\r\n": "255", "": "more", "1": "more", "1\r": "more",
		"\r\n": "bad", "1;x=y\r\n": "bad", " 1\r\n": "bad", "+1\r\n": "bad", "0x1\r\n": "bad", "1\n": "bad", "fffffffffffffffff\r\n": "bad", "1_0\r\n": "bad",
	} {
		n, _, err := egress.ChunkSize([]byte(in))
		got := "bad"
		switch {
		case errors.Is(err, egress.ErrMore):
			got = "more"
		case err == nil:
			got = strconv.FormatInt(n, 10)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func FuzzParseHead(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add([]byte("POST http://x.test:80/a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		method, authority, host, length, size, err := egress.ParseHead(b)
		if err != nil {
			return
		}
		// What is accepted is one head: no line end but CRLF, no second Host,
		// one way to find the end of the body.
		head := b[:size]
		if bytes.Count(head, []byte("\n")) != bytes.Count(head, []byte("\r\n")) || bytes.Count(head, []byte("\r")) != bytes.Count(head, []byte("\r\n")) {
			t.Errorf("bare CR or LF in %q", head)
		}
		lower := bytes.ToLower(head)
		if bytes.Count(lower, []byte("\r\nhost:")) > 1 || bytes.Count(lower, []byte("\r\ncontent-length:"))+bytes.Count(lower, []byte("\r\ntransfer-encoding:")) > 1 {
			t.Errorf("two readings of %q", head)
		}
		if method == "" || length < -1 || bytes.Contains(head[:size-2], []byte("\r\n\r\n")) || strings.ContainsAny(host, "\r\n\x00") {
			t.Errorf("%q: method %q, length %d, host %q", head, method, length, host)
		}
		if egress.Classify(b) != "http" {
			t.Errorf("%q is a request and was not taken for one", head)
		}
		// Another parser that takes it reads the same of it. What cannot be a name
		// is refused later.
		want := authority
		if want == "" {
			want = host
		}
		named := strings.Trim(want, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:") == ""
		if r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head))); err == nil && named {
			if r.Method != method || r.Host != want || r.ContentLength != length {
				t.Errorf("%q: method %q, host %q, length %d; net/http: %q, %q, %d", head, method, want, length, r.Method, r.Host, r.ContentLength)
			}
		}
		// A request is the same whatever follows, and however it is cut.
		if _, _, h2, l2, s2, err := egress.ParseHead(append(bytes.Clone(head), "GET / HTTP/1.1\r\n\r\n"...)); err != nil || h2 != host || l2 != length || s2 != size {
			t.Errorf("%q reads differently with more behind it", head)
		}
		if _, _, _, _, _, err := egress.ParseHead(head[:size-1]); !errors.Is(err, egress.ErrMore) {
			t.Errorf("%q without its end: %v", head, err)
		}
	})
}

func FuzzParseHello(f *testing.F) {
	f.Add([]byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		name, ech, err := egress.ParseHello(b)
		if err != nil {
			return
		}
		if egress.Classify(b) != "tls" {
			t.Errorf("%x is a hello and was not taken for one", b)
		}
		n2, e2, err := egress.ParseHello(append(bytes.Clone(b), 23, 3, 3, 0, 1, 0))
		if err != nil || n2 != name || e2 != ech {
			t.Errorf("%x reads differently with more behind it", b)
		}
	})
}

func FuzzParseSOCKS(f *testing.F) {
	f.Add([]byte("\x05\x01\x00\x03\x06x.test\x00\x50"))
	f.Add([]byte("\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50"))
	f.Fuzz(func(t *testing.T, b []byte) {
		target, _, size, err := egress.ParseSOCKS(b)
		if err != nil {
			return
		}
		if size > len(b) || (target.Name == "") == !target.Addr.IsValid() || strings.ContainsAny(target.Name, "\x00 /@:") || target.Addr.Is4In6() {
			t.Errorf("%x: %+v", b, target)
		}
	})
}

func FuzzReply(f *testing.F) {
	for _, q := range []string{"x.test.", "localhost.", "y.example.", "."} {
		m := dnsmessage.Message{Header: dnsmessage.Header{ID: 1}, Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(q), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
		b, _ := m.Pack()
		f.Add(b)
	}
	g, err := egress.New(egress.Config{
		Network: &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "x.test", Ports: []profiles.PortRange{profiles.AnyPort}, Protocols: profiles.TCP}}},
		// All that is allowed is in the hosts file: nothing is asked upstream.
		System: &egress.System{Hosts: map[string][]netip.Addr{"x.test": {netip.MustParseAddr("1.1.1.1")}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		reply := g.Reply(b)
		if reply == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(reply); err != nil {
			t.Fatalf("reply to %x does not parse: %v", b, err)
		}
		if !m.Response || m.ID != uint16(b[0])<<8|uint16(b[1]) || len(reply) > 4096 {
			t.Errorf("reply to %x: %+v", b, m.Header)
		}
		for _, a := range m.Answers {
			name := strings.ToLower(a.Header.Name.String())
			if name != "x.test." && !strings.HasSuffix("."+name, ".localhost.") {
				t.Errorf("an answer for %q", name)
			}
		}
	})
}

// FuzzAnswer reads what a name server may say.
func FuzzAnswer(f *testing.F) {
	name := dnsmessage.MustNewName("x.test.")
	for _, body := range []dnsmessage.ResourceBody{
		&dnsmessage.AResource{A: [4]byte{10, 0, 0, 5}},
		&dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("y.test.")},
		&dnsmessage.HTTPSResource{SVCBResource: dnsmessage.SVCBResource{Priority: 1, Target: dnsmessage.MustNewName("."), Params: []dnsmessage.SVCParam{
			{Key: dnsmessage.SVCParamALPN, Value: []byte("\x02h2")}, {Key: dnsmessage.SVCParamECH, Value: []byte("secret")}}}},
	} {
		m := dnsmessage.Message{Header: dnsmessage.Header{Response: true}, Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}},
			Answers: []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: 5}, Body: body}}}
		b, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		for kind := range uint8(4) {
			f.Add(kind, b)
		}
	}
	g, err := egress.New(egress.Config{
		Network: &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "x.test", Ports: []profiles.PortRange{profiles.AnyPort}, Protocols: profiles.TCP}}},
		System:  &egress.System{},
	})
	if err != nil {
		f.Fatal(err)
	}
	kinds := []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypeHTTPS, dnsmessage.TypeSVCB, dnsmessage.TypeSRV}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		addrs, services, next, err := g.Records(b, "x.test", kinds[kind%5])
		if err != nil {
			return
		}
		if len(addrs)+len(services) > 16 {
			t.Errorf("%x: %d records", b, len(addrs)+len(services))
		}
		if tgt, err := egress.ParseTarget(next); next != "" && (err != nil || tgt.Name != next) {
			t.Errorf("%x: leads to %q", b, next)
		}
		for _, a := range addrs {
			if a.Is4() != (kind%5 == 0) || kind%5 > 1 {
				t.Errorf("%x: address %v", b, a)
			}
		}
		for _, s := range services {
			if target := strings.ToLower(s.Target.String()); target != "." && target != "x.test." {
				t.Errorf("%x: a service at %q", b, target)
			}
			for _, p := range s.Params {
				switch p.Key {
				case dnsmessage.SVCParamMandatory, dnsmessage.SVCParamALPN, dnsmessage.SVCParamNoDefaultALPN, dnsmessage.SVCParamPort:
				default:
					t.Errorf("%x: parameter %v", b, p.Key)
				}
			}
		}
	})
}

func FuzzResolvConf(f *testing.F) {
	f.Add("nameserver 1.1.1.1\nsearch a.test\noptions timeout:1 attempts:9\n127.0.0.1 localhost # x")
	f.Fuzz(func(t *testing.T, s string) {
		c := egress.ParseResolvConf(s)
		if len(c.Servers) == 0 || len(c.Servers) > 3 || c.Timeout <= 0 || c.Attempts < 1 || c.Attempts > 3 {
			t.Errorf("%q: %+v", s, c)
		}
		for name := range egress.ParseHosts(s) {
			if tgt, err := egress.ParseTarget(name); err != nil || tgt.Name != name {
				t.Errorf("%q: host name %q", s, name)
			}
		}
	})
}
