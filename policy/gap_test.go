package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/profiles"
)

// Every clause that a receipt can have may be named as a gap, also those that
// come from a manifest's constraints; nothing else may, wherever gaps are named.
func TestCheckGap(t *testing.T) {
	for _, name := range profiles.Clauses() {
		if err := policy.CheckGap(name); err != nil {
			t.Error(err)
		}
	}
	d := parse(t, "m.json", `{"permissions": [
		{"capability": "filesystem.read", "effect": "allow", "constraints": {"arguments": {"x": ["y"]}, "rate_limit": {"max": 3, "per": "hour"}}},
		{"capability": "shell.execute", "effect": "allow", "constraints": {"arguments": {"commands": ["git *"]}, "denied_command_patterns": ["rm .*"]}},
		{"capability": "external_api.call", "effect": "allow", "constraints": {"resource_scope": ["*.example.com"], "rate_limit": {"max": 3, "per": "hour"}}},
		{"capability": "external_api.call", "effect": "deny", "priority": 9, "constraints": {"resource_scope": ["x.example.com"]}}]}`)
	set := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved})
	seen := map[string]bool{}
	for _, set := range []*policy.Set{set, set.Decided()} {
		p, err := set.Profile(machine(), inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		for _, demand := range p.Demands {
			seen[demand.Name] = true
			if err := policy.CheckGap(demand.Name); err != nil {
				t.Error(err)
			}
		}
	}
	if len(seen) != 7 {
		t.Errorf("the manifest makes the clauses %v", seen)
	}
	for name, want := range map[string]string{
		"":         `unknown clause "": not one of fs.read, `,
		"fs.raed":  `unknown clause "fs.raed" (did you mean "fs.read"?)`,
		"fs.typo":  `unknown clause "fs.typo": not one of fs.read, fs.write, `,
		"FS.READ":  `unknown clause "FS.READ": not one of `,
		"fs.read ": `unknown clause "fs.read " (did you mean "fs.read"?)`,
		"\x1b[2J":  `unknown clause "\x1b[2J": not one of `,
	} {
		if err := policy.CheckGap(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := policy.ParseConfig("c.toml", []byte(`allow_gaps = ["limit.memory", "hook.arguments"]`)); err != nil {
		t.Error(err)
	}
	_, err := policy.ParseConfig("c.toml", []byte("strict = true\nallow_gaps = [\"limit.memory\", \"limit.mem\"]"))
	if want := `c.toml:2:31: unknown clause "limit.mem": not one of limit.memory, limit.others`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	presets := "[[preset]]\nname = \"x\"\nreason = \"y\"\nallow_gaps = [{clause = \"fs.stats\", reason = \"z\"}]"
	if _, err := policy.ParsePresets("p.toml", []byte(presets)); err == nil || !strings.Contains(err.Error(), `(did you mean "fs.stat"?)`) {
		t.Error(err)
	}
}

// TestDeniedHosts: what is denied of what is granted is taken away with it, or is a
// gap where only part of it is; whatever form names either.
func TestDeniedHosts(t *testing.T) {
	for _, c := range []struct {
		granted, denied string
		left, gap       bool
	}{
		{"a.com", "b.com", true, false},
		{"a.com", "a.com", false, false},
		{"a.com", "A.com.", false, false},
		{"a.com", "*.com.org", true, false},
		{"x.a.com", "*.a.com", false, false},
		{"*.x.a.com", "*.a.com", false, false},
		{"*.a.com", "x.a.com", true, true},
		{"*.a.com", "*.x.a.com", true, true},
		{"*.a.com", "*.b.com", true, false},
		{"10.1.2.3", "10.0.0.0/8", false, false},
		{"10.1.0.0/16", "10.0.0.0/8", false, false},
		{"10.0.0.0/8", "10.1.0.0/16", true, false},
		{"10.0.0.0/8", "10.1.2.3", true, false},
		{"10.0.0.0/8", "::ffff:10.1.2.3", true, false},
		{"10.0.0.0/8", "192.168.0.0/16", true, false},
		{"127.0.0.1", "localhost", false, false},
		{"127.0.0.0/8", "localhost", true, true},
		{"localhost", "127.0.0.0/8", true, false},
		{"localhost", "10.0.0.0/8", true, false},
		{"2001:db9::/32", "2001:db9:1::/48", true, false},
		{"2001:db9:1::/48", "2001:db9::/32", false, false},
	} {
		set := compose(t, policy.Input{Tier: policy.Approved, Approve: policy.ApproveDeclared, Documents: []*policy.Document{parse(t, "m.json", `{"permissions": [
			{"capability": "network.client", "effect": "allow", "constraints": {"resource_scope": ["`+c.granted+`"]}},
			{"capability": "network.client", "effect": "deny", "priority": 1, "constraints": {"resource_scope": ["`+c.denied+`"]}}]}`)}})
		p := lower(t, set, inputs("true"))
		gap := slices.ContainsFunc(p.Demands, func(d profiles.Demand) bool { return d.Name == "constraint.resource_scope" })
		if left := len(p.Network.Hosts) > 0; left != c.left || gap != c.gap {
			t.Errorf("%s less %s: left %v, a gap %v", c.granted, c.denied, left, gap)
		}
	}

	// Nor does the whole network, which only the user grants, lift what is denied.
	all, err := policy.ParseGrant("network.client", "--grant")
	if err != nil {
		t.Fatal(err)
	}
	for _, effect := range []string{"deny", "confirm"} {
		d := parse(t, "m.json", `{"permissions": [
			{"capability": "network.client", "effect": "`+effect+`", "priority": 1, "constraints": {"resource_scope": ["10.0.0.0/8"]}},
			{"capability": "network.client", "effect": "allow", "constraints": {"resource_scope": ["a.com"]}}]}`)
		p := lower(t, compose(t, policy.Input{Tier: policy.Approved, Documents: []*policy.Document{d}, Grants: []policy.Entry{all}}), inputs("true"))
		if gap := len(p.Demands) > 0; p.Network.Mode != profiles.NetHost || gap != (effect == "deny") {
			t.Errorf("all but what is %s: mode %v, %+v", effect, p.Network.Mode, p.Demands)
		}
	}
	floor, err := policy.ParseConfig("c.toml", []byte("[[permissions]]\ncapability = \"network.client\"\neffect = \"deny\"\nconstraints = {resource_scope = [\"169.254.169.254\"]}"))
	if err != nil {
		t.Fatal(err)
	}
	p := lower(t, compose(t, policy.Input{Floors: []*policy.Document{floor.Floors}, Grants: []policy.Entry{all}}), inputs("true"))
	if p.Network.Mode == profiles.NetHost && len(p.Demands) != 1 {
		t.Errorf("all but a floor: mode %v, %+v", p.Network.Mode, p.Demands)
	}
}

// TestDeniedAddress: rules do not reach an address that is denied, by whatever name.
func TestDeniedAddress(t *testing.T) {
	const allow = `{"capability": "network.client", "effect": "allow", "constraints": {"resource_scope": ["*.a.com", "10.0.0.0/8", "b.com:8443"]}}`
	deny := func(capability, effect, scope string, priority int) string {
		return fmt.Sprintf(`{"capability": %q, "effect": %q, "priority": %d, "constraints": {"resource_scope": [%q]}}`, capability, effect, priority, scope)
	}
	for _, c := range []struct {
		deny     string
		names    []string // denied to these
		prefix   []string // denied to this
		reaches1 bool     // 10.1.2.3
	}{
		{deny("network.client", "deny", "c.com", 1), nil, nil, true},
		{deny("network.client", "deny", "9.9.9.0/24", 1), []string{"9.9.9.0/24"}, nil, true},
		{deny("network.client", "deny", "9.9.9.9:22", 1), []string{"9.9.9.9"}, nil, true},
		{deny("network.client", "deny", "10.1.0.0/16", 1), nil, []string{"10.1.0.0/16"}, false}, // which no public name has
		{deny("network.client", "deny", "0.0.0.0/0", 1), []string{"0.0.0.0/0"}, nil, false},
		{deny("network.client", "deny", "9.9.9.9", -1), nil, nil, true},
		{deny("web.fetch", "deny", "9.9.9.9", 1), nil, nil, true},
	} {
		set := compose(t, policy.Input{Tier: policy.Approved, Approve: policy.ApproveDeclared, Documents: []*policy.Document{parse(t, "m.json", `{"permissions": [`+allow+`,`+c.deny+`]}`)}})
		p := lower(t, set, inputs("true"))
		for _, h := range p.Network.Hosts {
			want := c.names
			if h.Host == "10.0.0.0/8" {
				want = c.prefix
			}
			if !slices.Equal(h.Except, want) {
				t.Errorf("%s: %s but for %q, want %q", c.deny, h.Host, h.Except, want)
			}
		}
		if !p.Reaches("x.a.com", 443, profiles.TCP).Allowed || !p.Reaches("b.com", 8443, profiles.TCP).Allowed || len(p.Demands) > 0 {
			t.Errorf("%s: %+v, %+v", c.deny, p.Network, p.Demands)
		}
		if got := p.Reaches("10.1.2.3", 443, profiles.TCP).Allowed; got != c.reaches1 {
			t.Errorf("%s: reaches 10.1.2.3: %v", c.deny, got)
		}
	}

	floor, err := policy.ParseConfig("c.toml", []byte("[[permissions]]\ncapability = \"network.client\"\neffect = \"deny\"\nconstraints = {resource_scope = [\"9.9.9.0/24\"]}"))
	if err != nil {
		t.Fatal(err)
	}
	granted, err := policy.ParseGrant("network.client:a.com", "--grant")
	if err != nil {
		t.Fatal(err)
	}
	p := lower(t, compose(t, policy.Input{Floors: []*policy.Document{floor.Floors}, Grants: []policy.Entry{granted}}), inputs("true"))
	if len(p.Network.Hosts) != 1 || !slices.Equal(p.Network.Hosts[0].Except, []string{"9.9.9.0/24"}) {
		t.Errorf("a grant under a floor: %+v", p.Network)
	}
}

// TestDeniedWider: who denies one path of a host, or one user's, denies the host, since
// a denial of less would not hold.
func TestDeniedWider(t *testing.T) {
	for _, c := range []struct{ capability, item, want string }{
		{"web.fetch", "a.com", "a.com"},
		{"web.fetch", "a.com/x/*", "a.com"},
		{"web.post", "https://me@a.com:8443/x", "a.com:8443"},
		{"web.fetch", "https://a.com/x", "https://a.com/x"},
		{"network.client", "*://*/*", "*"},
		{"network.client", "ftp://a.com", "a.com"},
		{"web.fetch", "169.254.169.254/latest/meta-data", "169.254.169.254"},
		{"web.fetch", "10.0.0.0/8", "10.0.0.0/8"},
		{"filesystem.read", "$HOME/.x", "~/.x"},
		{"filesystem.read", "${HOME}", "~"},
		{"filesystem.read", "$HOMES/.x", "$HOMES/.x"},
	} {
		d := parse(t, "m.json", `{"permissions": [{"capability": "`+c.capability+`", "effect": "deny", "constraints": {"resource_scope": ["`+c.item+`"]}}]}`)
		if got := d.Entries[0].Constraints.Scope[0].Value; got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.capability, c.item, got, c.want)
		}
	}
}
