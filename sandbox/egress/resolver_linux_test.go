package egress_test

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// asker asks a gate's resolver over a loopback socket.
func asker(t *testing.T, w *world, g *egress.Gate) place {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go g.ServeDNS(pc)
	return place{w, pc.LocalAddr().String()}
}

func addrs(p place, name string) string {
	a, err := p.resolve(name)
	if err != nil {
		return "none"
	}
	s := make([]string, len(a))
	for i := range a {
		s[i] = a[i].String()
	}
	return strings.Join(s, " ")
}

// TestLies gives the gate a name server that misbehaves in each way.
func TestLies(t *testing.T) {
	w := newWorld(t)
	good, bad := []string{"93.184.216.34"}, []string{"93.184.216.66"}
	edit := func(f func(m *dnsmessage.Message)) func(dnsmessage.Question, uint16) []byte {
		return func(q dnsmessage.Question, id uint16) []byte {
			var m dnsmessage.Message
			if err := m.Unpack(honest(q, id, bad)); err != nil {
				t.Error(err)
			}
			f(&m)
			b, err := m.Pack()
			if err != nil {
				t.Error(err)
			}
			return b
		}
	}
	answer := func(values ...string) func(dnsmessage.Question, uint16) []byte {
		return func(q dnsmessage.Question, id uint16) []byte { return honest(q, id, values) }
	}
	owner := func(name string) func(m *dnsmessage.Message) {
		return func(m *dnsmessage.Message) {
			for i := range m.Answers {
				m.Answers[i].Header.Name = dnsmessage.MustNewName(name)
			}
		}
	}
	for _, c := range []struct {
		name     string
		udp, tcp func(dnsmessage.Question, uint16) []byte
		want     string
	}{
		{"control", answer(good...), nil, good[0]},
		{"wrong id", edit(func(m *dnsmessage.Message) { m.ID++ }), nil, "none"},
		{"no response bit", edit(func(m *dnsmessage.Message) { m.Response = false }), nil, "none"},
		{"another question", edit(func(m *dnsmessage.Message) { m.Questions[0].Name = dnsmessage.MustNewName("evil.example.") }), nil, "none"},
		{"another type", edit(func(m *dnsmessage.Message) { m.Questions[0].Type = dnsmessage.TypeMX }), nil, "none"},
		{"no question", edit(func(m *dnsmessage.Message) { m.Questions = nil }), nil, "none"},
		{"letters in lower case by UDP, so asked again by TCP", edit(func(m *dnsmessage.Message) {
			m.Questions[0].Name = dnsmessage.MustNewName(strings.ToLower(m.Questions[0].Name.String()))
		}), answer(good...), good[0]},
		{"cut by UDP, so asked again by TCP", edit(func(m *dnsmessage.Message) { m.Truncated = true }), answer(good...), good[0]},
		{"record of another name", edit(owner("evil.example.")), nil, "none"},
		{"record of another class", edit(func(m *dnsmessage.Message) {
			for i := range m.Answers {
				m.Answers[i].Header.Class = dnsmessage.ClassCHAOS
			}
		}), nil, "none"},
		{"aliases", answer("one.example", "two.example", "93.184.216.67"), nil, "93.184.216.67"},
		{"alias to a private address", answer("one.example", "10.0.0.5"), nil, "none"},
		{"alias to itself", answer("liar.example", "liar.example"), nil, "none"},
		{"alias that leads out, and on", answer("alias-2.example"), nil, "93.184.216.68"},
		{"no end of aliases", answer("endless.example"), nil, "none"},
		{"failure", edit(func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeServerFailure }), nil, "none"},
		{"refused", edit(func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeRefused }), nil, "none"},
		{"garbage", func(dnsmessage.Question, uint16) []byte { return []byte("garbage") }, nil, "none"},
		{"silence", func(dnsmessage.Question, uint16) []byte { return nil }, nil, "none"},
		{"private", answer("192.168.1.1"), nil, "none"},
		{"private among public", answer("192.168.1.1", "93.184.216.69"), nil, "93.184.216.69"},
		{"mapped", answer("::ffff:93.184.216.34"), nil, "none"},
		{"too many", answer(many()...), nil, strings.Join(many()[:16], " ")},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _ := newGate(t, rules())
			p := asker(t, w, g)
			var endless atomic.Int64
			w.mu.Lock()
			w.lies = map[string]func(dnsmessage.Question, uint16) []byte{
				"liar.example":    c.udp,
				"alias-2.example": answer("alias-3.example"),
				"alias-3.example": answer("93.184.216.68"),
				"endless.example": func(q dnsmessage.Question, id uint16) []byte {
					endless.Add(1)
					return honest(q, id, []string{"endless.example"})
				},
			}
			if c.tcp != nil {
				w.lies["tcp liar.example"] = c.tcp
			}
			w.mu.Unlock()
			start := time.Now()
			if got := addrs(p, "liar.example"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
			if n := endless.Load(); n > 64 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func many() []string {
	var s []string
	for i := range 30 {
		s = append(s, netip.AddrFrom4([4]byte{93, 184, 217, byte(i)}).String())
	}
	return s
}

func TestResolverAnswers(t *testing.T) {
	w := newWorld(t)
	g, v := newGate(t, rules(), func(c *egress.Config) {
		c.System.Hosts = egress.ParseHosts("93.184.216.200 api.wild.example\n10.9.9.9 good.example # private\n169.254.169.254 db.wild.example\n127.0.1.1 thishost\n")
	})
	p := asker(t, w, g)
	// A granted name is looked for behind search domains where it has few dots, if
	// there is none of it alone.
	few, _ := newGate(t, &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{rules().Hosts[0], {Host: "a.wild", Ports: rules().Hosts[0].Ports, Protocols: profiles.TCP}}}, func(c *egress.Config) {
		conf := egress.ParseResolvConf("search corp.example example\noptions ndots:2\n")
		c.System.Search, c.System.Dots = conf.Search, conf.Dots
	})
	w.reached()
	searched := asker(t, w, few)
	if got := addrs(searched, "a.wild"); got != "93.184.216.70" {
		t.Errorf("a.wild: %s with a search domain", got)
	}
	w.reached()
	if got := addrs(searched, "good.example"); got != "93.184.216.34" || noted(w.reached(), "good.example.corp") {
		t.Errorf("good.example: %s, or asked for behind a search domain", got)
	}
	for name, want := range map[string]string{
		"other.example":              "93.184.216.34",
		"OTHER.example":              "93.184.216.34",
		"api.wild.example":           "93.184.216.200", // from the hosts file
		"db.wild.example":            "none",
		"good.example":               "none", // there it is private, and the hosts file wins
		"localhost":                  "127.0.0.1 ::1",
		"a.localhost":                "127.0.0.1 ::1",
		"both.example":               "93.184.216.50 2606:2800:220:1::5",
		"evil.example":               "none",
		"thishost":                   "none",
		"other.example.corp.example": "none",
	} {
		if got := addrs(p, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	refused := map[string]egress.Reason{}
	for _, x := range v.all() {
		refused[x.Name] = x.Reason
		if x.Allowed || x.Door != egress.DoorDNS {
			t.Errorf("verdict %+v", x)
		}
		// What would have to be granted is told of a private address only.
		at := netip.Addr{}
		if x.Name == "good.example" {
			at = netip.MustParseAddr("10.9.9.9")
		}
		if x.Addr != at || (x.Rule != nil) != (at.IsValid()) {
			t.Errorf("%s is at %v by %v, want %v", x.Name, x.Addr, x.Rule, at)
		}
	}
	// The name with a search domain behind it is not worth a line.
	want := map[string]egress.Reason{"good.example": egress.NotPublic, "db.wild.example": egress.NotPublic, "evil.example": egress.UnknownName, "thishost": egress.UnknownName}
	if d := cmp.Diff(want, refused); d != "" {
		t.Error(d)
	}
	if got := g.Handed(netip.MustParseAddr("93.184.216.200")); !slices.Contains(got, "api.wild.example") {
		t.Errorf("hosts file: %v", got)
	}
}

// TestServices checks what is left of HTTPS records.
func TestServices(t *testing.T) {
	w := newWorld(t)
	param := func(k dnsmessage.SVCParamKey, v string) dnsmessage.SVCParam {
		return dnsmessage.SVCParam{Key: k, Value: []byte(v)}
	}
	record := func(q dnsmessage.Question, target string, p ...dnsmessage.SVCParam) dnsmessage.Resource {
		return dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60},
			Body:   &dnsmessage.HTTPSResource{SVCBResource: dnsmessage.SVCBResource{Priority: 1, Target: dnsmessage.MustNewName(target), Params: p}},
		}
	}
	w.mu.Lock()
	w.lies["liar.example"] = func(q dnsmessage.Question, id uint16) []byte {
		m := dnsmessage.Message{Header: dnsmessage.Header{ID: id, Response: true}, Questions: []dnsmessage.Question{q}}
		if q.Type == dnsmessage.TypeHTTPS {
			m.Answers = []dnsmessage.Resource{
				record(q, ".", param(dnsmessage.SVCParamALPN, "\x02h2"), param(dnsmessage.SVCParamIPv4Hint, "\x0a\x00\x00\x05"), param(dnsmessage.SVCParamECH, "secret")),
				record(q, "evil.example.", param(dnsmessage.SVCParamALPN, "\x02h3")),
				record(q, "good.example.", param(dnsmessage.SVCParamPort, "\x20\xfb")),
				record(q, ".", param(dnsmessage.SVCParamMandatory, "\x00\x05"), param(dnsmessage.SVCParamECH, "secret")),
			}
		}
		b, err := m.Pack()
		if err != nil {
			t.Error(err)
		}
		return b
	}
	w.mu.Unlock()
	ask := func(n *profiles.Network) []dnsmessage.SVCBResource {
		g, _ := newGate(t, n)
		m, err := asker(t, w, g).ask("liar.example", dnsmessage.TypeHTTPS)
		if err != nil {
			t.Fatal(err)
		}
		var out []dnsmessage.SVCBResource
		for _, a := range m.Answers {
			out = append(out, a.Body.(*dnsmessage.HTTPSResource).SVCBResource)
		}
		return out
	}
	got := ask(rules())
	if len(got) != 2 || got[0].Target.String() != "." || got[1].Target.String() != "good.example." {
		t.Fatalf("records %+v", got)
	}
	for _, r := range got {
		for _, p := range r.Params {
			if p.Key == dnsmessage.SVCParamECH || p.Key == dnsmessage.SVCParamIPv4Hint || p.Key == dnsmessage.SVCParamIPv6Hint {
				t.Errorf("%v was not taken out", p.Key)
			}
		}
	}
	if n := len(got[0].Params) + len(got[1].Params); n != 2 {
		t.Errorf("%d parameters left, want alpn and port: %+v", n, got)
	}
}

// TestServiceLocations: records of services lead to granted names alone, and are
// given of granted names alone.
func TestServiceLocations(t *testing.T) {
	w := newWorld(t)
	w.mu.Lock()
	for _, name := range []string{"_mongodb._tcp.wild.example", "_mongodb._tcp.evil.example"} {
		w.lies[name] = func(q dnsmessage.Question, id uint16) []byte {
			m := dnsmessage.Message{Header: dnsmessage.Header{ID: id, Response: true}, Questions: []dnsmessage.Question{q}}
			for _, target := range []string{"a.wild.example.", "evil.example.", "secret.evil.example.", "."} {
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60},
					Body:   &dnsmessage.SRVResource{Priority: 1, Weight: 2, Port: 27017, Target: dnsmessage.MustNewName(target)},
				})
			}
			b, err := m.Pack()
			if err != nil {
				t.Error(err)
			}
			return b
		}
	}
	w.mu.Unlock()
	for _, c := range []struct {
		network *profiles.Network
		name    string
		want    []string
	}{
		{rules(), "_mongodb._tcp.wild.example", []string{"1 2 27017 a.wild.example."}},
		{rules(), "_mongodb._tcp.evil.example", nil},
		{rules(), "good.example", nil},
		{everything(), "_mongodb._tcp.evil.example", []string{"1 2 27017 a.wild.example.", "1 2 27017 evil.example.", "1 2 27017 secret.evil.example."}},
	} {
		g, _ := newGate(t, c.network)
		w.reached()
		m, err := asker(t, w, g).ask(c.name, dnsmessage.TypeSRV)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range m.Answers {
			r := a.Body.(*dnsmessage.SRVResource)
			got = append(got, fmt.Sprint(r.Priority, r.Weight, r.Port, r.Target))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if asked := noted(w.reached(), "asked "+c.name); asked != (c.want != nil || c.name == "good.example") {
			t.Errorf("%s: asked %v", c.name, asked)
		}
	}
}

// TestHandedExpires: an address stands for a name for an hour after it was
// last given out.
func TestHandedExpires(t *testing.T) {
	w := newWorld(t)
	now := time.Unix(1000, 0)
	g, _ := newGate(t, rules(), func(c *egress.Config) { c.Now = func() time.Time { return now } })
	p := asker(t, w, g)
	a := netip.MustParseAddr("93.184.216.34")
	if got := g.Handed(a); len(got) != 0 {
		t.Fatalf("before: %v", got)
	}
	addrs(p, "good.example")
	if got := g.Handed(a); !slices.Equal(got, []string{"good.example"}) {
		t.Errorf("after: %v", got)
	}
	now = now.Add(59 * time.Minute)
	if got := g.Handed(a); len(got) != 1 {
		t.Errorf("after 59 minutes: %v", got)
	}
	now = now.Add(2 * time.Minute)
	if got := g.Handed(a); len(got) != 0 {
		t.Errorf("after 61 minutes: %v", got)
	}
}

func TestNoServerIsNoAnswer(t *testing.T) {
	w := newWorld(t)
	g, _ := newGate(t, rules(), func(c *egress.Config) {
		c.System.Servers = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9")}
	})
	p := asker(t, w, g)
	m, err := p.ask("good.example", dnsmessage.TypeA)
	if err != nil || m.RCode != dnsmessage.RCodeServerFailure {
		t.Errorf("%v, %v", m, err)
	}
}
