package profiles_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"skillrun/profiles"
)

func hosts(host string) profiles.Profile {
	return profiles.Profile{Network: profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: host, Ports: []profiles.PortRange{{First: 443, Last: 443}}, Protocols: profiles.TCP}}}}
}

func excepting(host string, except ...string) profiles.Profile {
	p := hosts(host)
	p.Network.Hosts[0].Except = except
	return p
}

func TestValidate(t *testing.T) {
	path := func(p string) profiles.Profile {
		return profiles.Profile{Paths: []profiles.PathRule{{Path: p, Access: profiles.Read}}}
	}
	deny := func(d profiles.Denial) profiles.Profile {
		if d.Access == 0 {
			d.Access = profiles.Read
		}
		return profiles.Profile{Denials: []profiles.Denial{d}}
	}
	for _, c := range []struct {
		p    profiles.Profile
		want string // "" for valid
	}{
		{profiles.Profile{}, ""},
		{path("/"), ""},
		{path("/a b\n\xff"), ""},
		{path("a"), "not an absolute path"},
		{path("/a/"), "not a clean path"},
		{path("/a/../b"), "not a clean path"},
		{path("/a\x00"), "NUL"},
		{profiles.Profile{Workspace: "w"}, "workspace"},
		{profiles.Profile{Paths: []profiles.PathRule{{Path: "/a"}}}, "none or unknown"},
		{profiles.Profile{Paths: []profiles.PathRule{{Path: "/a", Access: 0x80}}}, "none or unknown"},
		{deny(profiles.Denial{Path: "/a", Match: ".git/hooks", Except: []string{"x", "/a/b"}}), ""},
		{deny(profiles.Denial{Path: "/a", Match: "/x"}), "pattern component"},
		{deny(profiles.Denial{Path: "/a", Match: "../x"}), "pattern component"},
		{deny(profiles.Denial{Path: "/a", Match: "**/x"}), "any depth"},
		{deny(profiles.Denial{Path: "/a", Match: "*"}), "every name"},
		{deny(profiles.Denial{Path: "/a", Except: []string{"/b"}}), "not beneath"},
		{deny(profiles.Denial{Path: "/a", Except: []string{"/a"}}), "not beneath"},
		{deny(profiles.Denial{Path: "/a", Class: 9}), "class"},
		{deny(profiles.Denial{Path: "/a", UnlessMade: true}), "unless-made"},
		{profiles.Profile{Network: profiles.Network{Mode: 9}}, "network mode"},
		{hosts("api.example.com"), ""},
		{hosts("*.example.com"), ""},
		{hosts("xn--bcher-kva.example"), ""},
		{hosts("*"), ""},
		{hosts("192.0.2.7"), ""},
		{hosts("2001:db8::/32"), ""},
		{hosts("Example.com"), "upper case"},
		{hosts("example.com."), "a dot at the end"},
		{hosts("bücher.example"), "punycode"},
		{hosts("a..b"), "empty label"},
		{hosts("*.com"), "strangers"},
		{hosts("*.co.uk"), "strangers"},
		{hosts("*.github.io"), "strangers"},
		{hosts("*.s3.eu-west-1.amazonaws.com"), "strangers"},
		{hosts("*.eu-west-1.amazonaws.com"), "strangers"},
		{hosts("*.westeurope.cloudapp.azure.com"), "strangers"},
		{hosts("*.azure.com"), "strangers"},
		{hosts("*.amazonaws.com"), "strangers"},
		{hosts("a.*.com"), `"*" elsewhere`},
		{hosts("127.1"), "number"},
		{hosts("0x7f000001"), "number"},
		{hosts("2130706433"), "number"},
		{hosts("::ffff:10.0.0.1"), "canonical"},
		{hosts("10.0.0.1/8"), "canonical"},
		{hosts("10.0.0.1/32"), "one address"},
		{hosts("fe80::1%eth0"), "zone"},
		{hosts("a b"), "no host name"},
		{hosts("a\x00b"), "no host name"},
		{hosts(""), "empty"},
		{hosts(strings.Repeat("a", 64)), "63"},
		{hosts(strings.Repeat("a.", 127) + "a"), "253"},
		{profiles.Profile{Network: profiles.Network{Hosts: []profiles.HostRule{{Host: "a.b", Protocols: profiles.TCP}}}}, "no ports"},
		{excepting("a.b", "192.0.2.7", "2001:db8::/32"), ""},
		{excepting("a.b", "192.0.2.7/24"), "canonical"},
		{excepting("a.b", "c.d"), "no address"},
		{excepting("a.b", "*"), "no address"},
		{profiles.Profile{Network: profiles.Network{Listen: []profiles.ListenRule{{}}}}, "listen"},
		{profiles.Profile{Sockets: []profiles.SocketRule{{Path: "@x"}}}, ""},
		{profiles.Profile{Sockets: []profiles.SocketRule{{Path: "@"}}}, "socket"},
		{profiles.Profile{Env: profiles.Env{Pass: []profiles.EnvRule{{Name: "A*"}, {Name: "*"}}, Deny: []profiles.EnvRule{{Name: "*_A_*"}}}}, ""},
		{profiles.Profile{Env: profiles.Env{Pass: []profiles.EnvRule{{Name: "*A"}}}}, "passed"},
		{profiles.Profile{Env: profiles.Env{Allow: []profiles.EnvRule{{Name: "A*"}}}}, "allowed"},
		{profiles.Profile{Env: profiles.Env{Set: []profiles.EnvVar{{Name: "A=B"}}}}, `"="`},
		{profiles.Profile{Env: profiles.Env{Set: []profiles.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}}}, "two values"},
		{profiles.Profile{Demands: []profiles.Demand{{Name: "x"}}}, "constraint.KEY"},
		{profiles.Profile{Redact: []profiles.Secret{{Env: "A", Path: "/a"}}}, "exactly one"},
		{profiles.Profile{Limits: profiles.Limits{Memory: -1}}, "memory"},
		{profiles.Profile{Limits: profiles.Limits{Wall: time.Nanosecond}}, "wall"},
		{profiles.Profile{Limits: profiles.Limits{OpenFiles: 2}}, "open files"},
	} {
		err := c.p.Validate()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.p.Canonical(), err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want one with %q", c.p.Canonical(), err, c.want)
		}
	}
}

func TestCanonicalCannotBeForged(t *testing.T) {
	evil := "/a\" tree rwcdx\npath \"/etc"
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: evil, Access: profiles.Read}}, Env: profiles.Env{Set: []profiles.EnvVar{{Name: "A", Value: "x\nprocess create"}}}}
	want := "skillrun profile 1\n" + `path "/a\" tree rwcdx\npath \"/etc" file r` + "\n" + `env set "A" "x\nprocess create"` + "\n"
	if got := string(p.Canonical()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	a := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/\xff", Access: profiles.Read}}}
	b := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/\ufffd", Access: profiles.Read}}}
	if bytes.Equal(a.Canonical(), b.Canonical()) {
		t.Error("two different paths look alike")
	}
	b.Paths[0].Path, b.Paths[0].Origin = a.Paths[0].Path, profiles.Origin{Source: "x"}
	if a.Hash() != b.Hash() {
		t.Error("the origin is part of the hash")
	}
}

func TestUnmarshalIsStrict(t *testing.T) {
	good := `{"paths":[{"path":"/a","access":"r"}],"network":{"mode":"none"},"limits":{"wall":"1m0s"}}`
	var p profiles.Profile
	if err := json.Unmarshal([]byte(good), &p); err != nil || p.Limits.Wall != time.Minute {
		t.Fatalf("%v, %+v", err, p)
	}
	for _, bad := range []string{
		`null`, `[]`, `{"path":[]}`, `{"Paths":[]}`, `{"pathſ":[]}`, `{"paths":[],"paths":[]}`, `{"paths":null}`,
		`{"paths":[{"path":"/a","access":"R"}]}`, `{"paths":[{"path":"/a","access":"xr"}]}`, `{"paths":[{"path":"/a","access":"r","more":1}]}`,
		`{"paths":[{"path":"/a","access":"r","path":"/"}]}`, `{"paths":[{"path":"a","access":"r"}]}`,
		`{"paths":[{"path":"/a\\q","access":"r"}]}`, `{"paths":[{"path":"/a\\x41","access":"r"}]}`, `{"paths":[{"path":"/a\ud800","access":"r"}]}`, "{\"paths\":[{\"path\":\"/a\xff\",\"access\":\"r\"}]}",
		`{"network":{"mode":"all"}}`, `{"network":{"mode":1}}`, `{"limits":{"wall":"soon"}}`, `{"limits":{"wall":60}}`, `{"limits":{"weight":1}}`, `{"limits":{"memory":-1}}`,
		`{"network":{"mode":"hosts","hosts":[{"host":"a.b","ports":["080"],"protocols":"tcp"}]}}`,
		`{"denials":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`,
	} {
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("%.80s: accepted", bad)
		}
	}
}

// TestHostExceptions: what a rule excepts it does not reach by address, and the
// exception is kept as long as it takes something away.
func TestHostExceptions(t *testing.T) {
	for _, c := range []struct {
		host   string
		except []string
		line   string // of the canonical form, behind the ports
		asked  string
	}{
		{"a.b", nil, "", "a.b"},
		{"a.b", []string{"8.8.8.8", "8.8.8.0/24", "9.9.9.9"}, ` except "8.8.8.0/24" except "9.9.9.9"`, "a.b"},
		{"a.b", []string{"10.0.0.0/8", "fd00::/8"}, "", "a.b"},
		{"*", []string{"8.8.8.0/24"}, ` except "8.8.8.0/24"`, "8.8.4.4"},
		{"8.8.0.0/16", []string{"8.8.8.8", "9.9.9.9"}, ` except "8.8.8.8"`, "8.8.4.4"},
	} {
		p := excepting(c.host, c.except...)
		if want := `host "` + c.host + `" 443 tcp` + c.line + "\n"; !strings.Contains(string(p.Canonical()), want) {
			t.Errorf("%s: %s, want %s", c.host, p.Canonical(), want)
		}
		if !p.Reaches(c.asked, 443, profiles.TCP).Allowed {
			t.Errorf("%s: %s is not reached", c.host, c.asked)
		}
		if strings.Contains(c.line, "8.8.8") && p.Reaches("::ffff:8.8.8.8", 443, profiles.TCP).Allowed {
			t.Errorf("%s: 8.8.8.8 is reached", c.host)
		}
		text, err := json.Marshal(p)
		var again profiles.Profile
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || again.Hash() != p.Hash() {
			t.Errorf("%s: %v: %s", c.host, err, text)
		}
	}
	p := excepting("8.8.8.8", "8.8.8.0/24")
	if p.Normalize(); len(p.Network.Hosts) > 0 {
		t.Errorf("nothing is left of it: %+v", p.Network)
	}
	// A rule with an exception makes no other superfluous, nor one that has less.
	for _, c := range []struct {
		more, less string
		left       int
	}{
		{"8.8.0.0/16", "8.8.0.0/16", 1},
		{"*", "8.8.8.8", 2},
		{"*.example.com", "a.example.com", 2},
		{"*.example.com", "*.example.com", 1},
	} {
		p := excepting(c.more, "8.8.8.0/24")
		p.Network.Hosts = append(p.Network.Hosts, hosts(c.less).Network.Hosts...)
		p.Network.Hosts[1].Origin.Source = "the second"
		p.Normalize()
		if n := len(p.Network.Hosts); n != c.left || !slices.ContainsFunc(p.Network.Hosts, func(h profiles.HostRule) bool { return h.Host == c.less && h.Except == nil }) {
			t.Errorf("%s with an exception and %s: %+v", c.more, c.less, p.Network.Hosts)
		}
	}
}

// Of two rules that differ in their host alone the narrower goes.
func TestNormalizeDropsTheNarrower(t *testing.T) {
	for _, c := range []struct {
		wide, narrow string
		left         int
	}{
		{"*", "a.example.com", 1}, {"*.example.com", "b.a.example.com", 1}, {"*.example.com", "*.a.example.com", 1},
		{"*.example.com", "example.com", 2}, {"*.a.example.com", "a.example.org", 2},
		{"8.8.0.0/16", "8.8.8.8", 1}, {"0.0.0.0/0", "8.8.0.0/16", 1}, {"8.8.8.8/32", "8.8.8.8", 1}, {"2606:4700::/32", "2606:4700::1", 1},
		{"8.8.0.0/16", "8.9.0.1", 2}, {"0.0.0.0/0", "2606:4700::1", 2},
	} {
		p := hosts(c.wide)
		p.Network.Hosts = append(p.Network.Hosts, hosts(c.narrow).Network.Hosts...)
		if p.Normalize(); len(p.Network.Hosts) != c.left {
			t.Errorf("%s and %s: %+v", c.wide, c.narrow, p.Network.Hosts)
		}
	}
}

func TestReachesNamesTheWidestRule(t *testing.T) {
	p := hosts("*.example.com")
	p.Network.Hosts[0].ReadOnly = true
	wide := p.Network.Hosts[0]
	wide.Host, wide.ReadOnly = "a.example.com", false
	p.Network.Hosts = append(p.Network.Hosts, wide)
	if v := p.Reaches("a.example.com", 443, profiles.TCP); !v.Allowed || v.Host.ReadOnly {
		t.Errorf("%+v", v.Host)
	}
	if v := p.Reaches("b.example.com", 443, profiles.TCP); !v.Allowed || !v.Host.ReadOnly {
		t.Errorf("%+v", v.Host)
	}
}

func FuzzHosts(f *testing.F) {
	for _, s := range []string{"*.example.com", "example.com", "10.0.0.0/8", "::1", "*", "a.b.", "0x7f.1", "xn--a", "*.co.uk"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, a, b, request string) {
		p, q := hosts(a), hosts(b)
		if p.Validate() != nil || q.Validate() != nil {
			return
		}
		both := p.Intersect(&q)
		if err := both.Validate(); err != nil {
			t.Fatal(err)
		}
		reaches := func(p *profiles.Profile) bool { return p.Reaches(request, 443, profiles.TCP).Allowed }
		if reaches(both) != (reaches(&p) && reaches(&q)) {
			t.Fatalf("%q and %q at %q: %v", a, b, request, reaches(both))
		}
		if !strings.Contains(a, "*") && !strings.Contains(a, "/") && !p.Network.Hosts[0].Matches(a) {
			t.Fatalf("%q does not match itself", a)
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add(".git/hooks", "/w/.git/hooks/x", "node_modules")
	f.Add("*.pem", "/w/a/B.PEM", "ca.pem")
	f.Add("\u017f", "/w/s", "x")
	f.Fuzz(func(t *testing.T, match, path, except string) {
		d := profiles.Denial{Path: "/w", Match: match, Access: profiles.Read}
		p := profiles.Profile{Denials: []profiles.Denial{d}, Paths: []profiles.PathRule{{Path: path, Access: profiles.Read}}}
		if match == "" || p.Validate() != nil {
			return
		}
		covered := d.Covers(path)
		if covered && !d.Covers(path+"/below") {
			t.Fatalf("%q covers %q and not what is beneath", match, path)
		}
		if covered && !strings.HasPrefix(path, "/w/") {
			t.Fatalf("%q covers %q outside /w", match, path)
		}
		d.Except = []string{except}
		if except != "" && !covered && d.Covers(path) {
			t.Fatalf("the exception %q made %q cover %q", except, match, path)
		}
		if !strings.ContainsAny(match, "*?") {
			whole := profiles.Denial{Path: "/w", Match: match, Access: profiles.Read}
			if !whole.Covers("/w/x/"+match) || !whole.Covers("/w/"+strings.ToUpper(match)) && isASCII(match) {
				t.Fatalf("%q does not cover itself", match)
			}
		}
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"paths":[{"path":"/a\\\\b\\xff","tree":true,"access":"rx"}],"denials":[{"path":"/","match":"x","access":"d","class":"control","unless_made":true}]}`))
	f.Add([]byte(`{"network":{"mode":"hosts","hosts":[{"host":"a.b","ports":["1-2"],"protocols":"tcp+udp"}]},"limits":{"cpu":"1s"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p, q profiles.Profile
		if json.Unmarshal(data, &p) != nil {
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &q); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if p.Hash() != q.Hash() {
			t.Fatalf("%s\n%s", p.Canonical(), q.Canonical())
		}
	})
}
