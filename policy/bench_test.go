package policy_test

import (
	"os"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/profiles"
)

// BenchmarkLaunch is the policy's share of a launch, on this machine.
func BenchmarkLaunch(b *testing.B) {
	h := &profiles.Host{OS: "linux", Home: b.TempDir(), User: "u", CaseSensitive: true, Env: map[string]string{}, FS: os.DirFS("/")}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		h.Env[name] = value
	}
	data := []byte(`{"skill_metadata":{"name":"x"},"permissions":[
		{"capability":"shell.execute","effect":"allow"},{"capability":"source_code.execute","effect":"allow"},
		{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}},
		{"capability":"filesystem.write","effect":"allow","constraints":{"workspace_only":true}}]}`)
	workspace := b.TempDir()
	for b.Loop() {
		doc, err := policy.ParseManifest("skillguard-manifest.json", data)
		if err != nil {
			b.Fatal(err)
		}
		set, _, err := policy.Compose(policy.Input{Documents: []*policy.Document{doc}, Tier: policy.Approved})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := set.Profile(h, policy.Inputs{Workspace: workspace, Cwd: workspace, Program: "sh", Now: noon}); err != nil {
			b.Fatal(err)
		}
	}
}
