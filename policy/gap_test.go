package policy_test

import (
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
