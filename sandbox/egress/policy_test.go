package egress_test

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

func TestParseTarget(t *testing.T) {
	longest := strings.Repeat("a.", 126) + "b" // 253 bytes
	for _, c := range []struct{ in, want string }{
		{"example.com", "example.com"},
		{"EXAMPLE.Com.", "example.com"},
		{"_dmarc.example.com", "_dmarc.example.com"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"1e100.net", "1e100.net"},
		{"0x.example", "0x.example"},
		{"localhost", "localhost"},
		{"localhost.", "localhost"},
		{longest, longest},
		{"192.0.2.7", "192.0.2.7"},
		{"2001:DB8::1", "2001:db8::1"},
		{"[2001:db8::1]", "2001:db8::1"},
		{"::ffff:192.0.2.7", "192.0.2.7"},
		{"[::ffff:7f00:1]", "127.0.0.1"},
		{"", ""},
		{".", ""},
		{"example.com..", ""},
		{".example.com", ""},
		{"a..b", ""},
		{longest + "b", ""},
		{strings.Repeat("a", 64) + ".com", ""},
		{"-oProxyCommand.example", ""},
		{"a-.example", ""},
		{"bücher.example", ""},
		{"ｅxample.com", ""},
		{"exa mple.com", ""},
		{"example.com\x00.evil.com", ""},
		{"example.com/evil", ""},
		{"user@example.com", ""},
		{"example.com:80", ""},
		{"*.example.com", ""},
		{"2130706433", ""},
		{"0x7f000001", ""},
		{"0x7f.1", ""},
		{"127.1", ""},
		{"127.0.0.1.", ""},
		{"0177.0.0.1", ""},
		{"127.0.0.08", ""},
		{"1.2.3.4.5", ""},
		{"example.0x", ""},
		{"0", ""},
		{"fe80::1%eth0", ""},
		{"[192.0.2.7]", ""},
		{"[example.com]", ""},
		{"[::1", ""},
		{"example.com%00", ""},
	} {
		got, err := egress.ParseTarget(c.in)
		if (err == nil) != (c.want != "") {
			t.Errorf("%q: %v, want %q", c.in, err, c.want)
		} else if err == nil && got.String() != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestAnswer(t *testing.T) {
	net := func(h profiles.HostRule) *egress.Policy {
		h.Ports, h.Protocols = []profiles.PortRange{profiles.AnyPort}, profiles.TCP
		return egress.NewPolicy(&profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{h}})
	}
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.0.1", "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::a00:1", "100::1", "2001::1", "2001:db8::1", "2002:a00:1::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "4000::1",
	} {
		addr := netip.MustParseAddr(a).Unmap()
		if net(profiles.HostRule{Host: "x.test"}).Answer("x.test", addr) {
			t.Errorf("%s may stand for a name", a)
		}
		if !net(profiles.HostRule{Host: "x.test", Private: true}).Answer("x.test", addr) {
			t.Errorf("control: %s may not stand for a name with Private", a)
		}
		if net(profiles.HostRule{Host: "*"}).Answer("x.test", addr) {
			t.Errorf("%s may stand for a name under *", a)
		}
	}
	for _, a := range []string{"93.184.216.34", "2606:2800:220:1::1", "100.128.0.1", "172.32.0.1", "64:ff9b::808:808"} {
		if !net(profiles.HostRule{Host: "x.test"}).Answer("x.test", netip.MustParseAddr(a)) {
			t.Errorf("%s may not stand for a name", a)
		}
	}
	// A private address that is granted, too, but for one.
	all := []profiles.PortRange{profiles.AnyPort}
	p := egress.NewPolicy(&profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{
		{Host: "x.test", Ports: all, Protocols: profiles.TCP},
		{Host: "10.0.0.0/8", Ports: all, Protocols: profiles.TCP, Except: []string{"10.1.2.3"}},
	}})
	if !p.Answer("x.test", netip.MustParseAddr("10.1.2.4")) || p.Answer("x.test", netip.MustParseAddr("10.1.2.3")) {
		t.Error("a name does not stand for what is granted, or stands for what is excepted")
	}
}

func TestDecideRank(t *testing.T) {
	all := []profiles.PortRange{profiles.AnyPort}
	hosts := []profiles.HostRule{
		{Host: "x.test", Ports: all, Protocols: profiles.TCP, ReadOnly: true},
		{Host: "x.test", Ports: all, Protocols: profiles.TCP, MaxBytes: 1},
		{Host: "*.test", Ports: all, Protocols: profiles.TCP},
		{Host: "93.184.216.34", Ports: all, Protocols: profiles.TCP},
	}
	p := egress.NewPolicy(&profiles.Network{Mode: profiles.NetHosts, Hosts: hosts})
	for _, c := range []struct {
		name, addr string
		proto      profiles.Protocol
		want       int
		why        egress.Reason
	}{
		{"x.test", "", profiles.TCP, 2, egress.Granted},
		{"x.test", "93.184.216.34", profiles.TCP, 3, egress.Granted},
		{"", "93.184.216.34", profiles.TCP, 3, egress.Granted},
		{"y.example", "93.184.216.34", profiles.TCP, 3, egress.Granted},
		{"x.test", "10.0.0.1", profiles.TCP, -1, egress.NotPublic},
		{"x.test", "1.1.1.1", profiles.UDP, -1, egress.WrongPort},
		{"y.example", "1.1.1.1", profiles.TCP, -1, egress.UnknownName},
		{"", "1.1.1.1", profiles.TCP, -1, egress.UnknownAddr},
		{"x.test", "1.1.1.1", 0, -1, egress.WrongPort},
	} {
		q := egress.Request{Name: c.name, Port: 80, Protocol: c.proto}
		if c.addr != "" {
			q.Addr = netip.MustParseAddr(c.addr)
		}
		r, why := p.Decide(q)
		got := -1
		for i := range hosts {
			if r == &hosts[i] {
				got = i
			}
		}
		if got != c.want || why != c.why {
			t.Errorf("%+v: rule %d, %s; want %d, %s", q, got, why, c.want, c.why)
		}
	}
}

func TestEmptyIsNone(t *testing.T) {
	for _, n := range []*profiles.Network{{}, {Mode: profiles.NetHosts}, {Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "x.test"}}}} {
		p := egress.NewPolicy(n)
		if r, _ := p.Decide(egress.Request{Name: "x.test", Addr: netip.MustParseAddr("1.1.1.1"), Port: 80, Protocol: profiles.TCP}); r != nil {
			t.Errorf("%+v allows something", n)
		}
	}
}

// TestDecideAgreesWithReaches holds decisions to the reference meaning: what a
// Policy grants to a name or an address alone is what the Profile reaches.
func TestDecideAgreesWithReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.SampledFrom([]string{"a.test", "b.a.test", "*.a.test", "*.test", "*", "1.1.1.1", "10.0.0.0/8", "10.1.0.0/16", "2606:4700::/32", "64:ff9b::/96"})
		port := rapid.Uint16Range(1, 5)
		proto := rapid.SampledFrom([]profiles.Protocol{profiles.TCP, profiles.UDP, profiles.TCP | profiles.UDP})
		n := profiles.Network{Mode: profiles.NetHosts}
		for range rapid.IntRange(0, 4).Draw(t, "rules") {
			a, b := port.Draw(t, "first"), port.Draw(t, "last")
			n.Hosts = append(n.Hosts, profiles.HostRule{
				Host: host.Draw(t, "host"), Ports: []profiles.PortRange{{First: min(a, b), Last: max(a, b)}},
				Protocols: proto.Draw(t, "protocols"), ReadOnly: rapid.Bool().Draw(t, "ro"), Private: false,
				Except: rapid.SliceOfN(rapid.SampledFrom([]string{"1.1.1.0/24", "10.1.0.0/16", "10.2.2.3", "::/0"}), 0, 2).Draw(t, "except"),
			})
		}
		asked := rapid.SampledFrom([]string{"a.test", "b.a.test", "c.b.a.test", "x.example", "1.1.1.1", "10.1.2.3", "10.2.2.3", "127.0.0.1", "2606:4700::1", "64:ff9b::a01:203", "64:ff9b::101:101", "::1"}).Draw(t, "asked")
		q := egress.Request{Port: port.Draw(t, "port"), Protocol: rapid.SampledFrom([]profiles.Protocol{profiles.TCP, profiles.UDP}).Draw(t, "protocol")}
		target, err := egress.ParseTarget(asked)
		if err != nil {
			t.Fatal(err)
		}
		q.Name, q.Addr = target.Name, target.Addr
		profile := &profiles.Profile{Network: n}
		want := profile.Reaches(asked, q.Port, q.Protocol).Allowed
		if got, why := egress.NewPolicy(&n).Decide(q); (got != nil) != want {
			t.Fatalf("%+v: %v (%s), Reaches says %v; rules %+v", q, got, why, want, n.Hosts)
		}
	})
}
