package sandbox_test

import (
	"testing"

	"skillrun/profiles"
	"skillrun/sandbox"
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
		{sandbox.Refusal{Access: profiles.Delete, Path: "/data/a", Link: true}, "filesystem.delete:/data"},
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
