package sandbox_test

import (
	"net/netip"
	"testing"

	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/egress"
)

// A grant that is offered for a refusal allows what was refused, and no more,
// whatever name the command chose for it.
func TestRefusalGrant(t *testing.T) {
	for _, tt := range []struct {
		refusal sandbox.Refusal
		want    string
	}{
		{sandbox.Refusal{Access: profiles.Read, Path: "/data/a b"}, "filesystem.read:/data/a b"},
		{sandbox.Refusal{Access: profiles.Write | profiles.Create, Path: "/data/a"}, "filesystem.write:/data/a"},
		{sandbox.Refusal{Access: profiles.Delete, Path: "/data/a"}, "filesystem.delete:/data/a"},
		{sandbox.Refusal{Access: profiles.Execute, Path: "/data/a"}, "source_code.execute:/data/a"},
		{sandbox.Refusal{Access: profiles.Execute, Path: "/data/a", Made: true}, "source_code.execute"},
		{sandbox.Refusal{Access: profiles.Execute, Path: "/data/bin/a", Made: true, Within: "/data"}, "source_code.execute:/data"},
		{sandbox.Refusal{Access: profiles.Read, Path: "/"}, ""},
		{sandbox.Refusal{Access: profiles.Delete, Path: "/data/a", Link: true}, "filesystem.delete:/data/a"},
		{sandbox.Refusal{Socket: true, Path: "/run/bus"}, "unix:/run/bus"},
		{sandbox.Refusal{Access: profiles.Read, Path: "/data/*"}, ""},
		{sandbox.Refusal{Access: profiles.Read, Path: "/**"}, ""},
		{sandbox.Refusal{Access: profiles.Read, Path: "/proc/4711/stat"}, ""},
		{sandbox.Refusal{Access: profiles.Read, Path: "/proc/swaps"}, "filesystem.read:/proc/swaps"},
		{sandbox.Refusal{Access: profiles.Delete, Path: "/data/?"}, ""},
		{sandbox.Refusal{Socket: true, Path: "/run/*"}, ""},
		{sandbox.Refusal{Access: profiles.Read, Path: "/data/a", Inner: true}, ""},
		{sandbox.Refusal{Host: "api.example.com", Port: 443, Grantable: true}, "network.client:api.example.com:443"},
		{sandbox.Refusal{Host: "_dmarc.Example-1.com", Grantable: true}, "network.client:_dmarc.Example-1.com"},
		{sandbox.Refusal{Host: "192.0.2.1", Port: 80, Grantable: true}, "network.client:192.0.2.1:80"},
		{sandbox.Refusal{Host: "2001:db8::1", Port: 80, Grantable: true}, "network.client:[2001:db8::1]:80"},
		{sandbox.Refusal{Host: "192.0.2.1", Port: 80}, ""},
		{sandbox.Refusal{Host: "git.corp.example", Private: "10.0.0.7:443"}, "network.client:10.0.0.7:443"},
		{sandbox.Refusal{Host: "git.corp.example", Private: "[fd00::7]:22"}, "network.client:[fd00::7]:22"},
		{sandbox.Refusal{Host: "*", Port: 443, Grantable: true}, ""},
		{sandbox.Refusal{Host: "*.example.com", Port: 443, Grantable: true}, ""},
		{sandbox.Refusal{Host: "0.0.0.0/0", Port: 443, Grantable: true}, ""},
		{sandbox.Refusal{Host: "a:1-65535", Grantable: true}, ""},
		{sandbox.Refusal{Host: "https://a", Grantable: true}, ""},
	} {
		if got := tt.refusal.Grant(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.refusal, got, tt.want)
		}
	}
}

// Of a granted name that stands for a private address the grant of that is told, at
// the port that the name is granted at; of a special address nothing.
func TestPrivateAddress(t *testing.T) {
	rule := func(ports ...profiles.PortRange) *profiles.HostRule { return &profiles.HostRule{Ports: ports} }
	for _, c := range []struct {
		verdict egress.Verdict
		want    string
	}{
		{egress.Verdict{Door: egress.DoorDNS, Port: 53, Addr: netip.MustParseAddr("10.0.0.7"), Rule: rule(profiles.PortRange{First: 22, Last: 22})}, "network.client:10.0.0.7:22"},
		{egress.Verdict{Door: egress.DoorDNS, Port: 53, Addr: netip.MustParseAddr("10.0.0.7"), Rule: rule(profiles.PortRange{First: 80, Last: 80}, profiles.PortRange{First: 443, Last: 443})}, "network.client:10.0.0.7:443"},
		{egress.Verdict{Door: egress.DoorDNS, Port: 53, Addr: netip.MustParseAddr("fd00::7"), Rule: rule(profiles.AnyPort)}, "network.client:[fd00::7]:443"},
		{egress.Verdict{Door: egress.DoorProxy, Port: 8443, Addr: netip.MustParseAddr("192.168.1.2"), Rule: rule(profiles.AnyPort)}, "network.client:192.168.1.2:8443"},
		{egress.Verdict{Door: egress.DoorProxy, Port: 443, Addr: netip.MustParseAddr("93.184.216.34"), Rule: rule(profiles.AnyPort)}, "network.client:93.184.216.34:443"}, // this machine's
		{egress.Verdict{Door: egress.DoorDNS, Port: 53, Rule: rule(profiles.AnyPort)}, ""},
		{egress.Verdict{Door: egress.DoorProxy, Port: 80, Addr: netip.MustParseAddr("169.254.169.254"), Rule: rule(profiles.AnyPort)}, ""},
		{egress.Verdict{Door: egress.DoorProxy, Port: 80, Addr: netip.MustParseAddr("127.0.0.1"), Rule: rule(profiles.AnyPort)}, ""},
	} {
		got := "none"
		c.verdict.Name, c.verdict.Reason = "git.corp.example", egress.NotPublic
		sandbox.TellConnection(c.verdict, func(r sandbox.Refusal) { got = r.Grant() })
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.verdict, got, c.want)
		}
	}
}
