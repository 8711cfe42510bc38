package darwin_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"skillrun/darwin"
	"skillrun/policy"
)

// scopes are for capabilities that mean nothing, or everything, without.
var scopes = map[string]string{
	"secrets.read": "~/.netrc", "secrets.write": "~/.netrc", "secrets.delete": "~/.netrc", "env_var.read": "TOKEN",
	"web.fetch": "api.example.com", "web.post": "api.example.com", "web.interact": "api.example.com",
	"external_api.call": "api.example.com", "network.client": "db.example.com:5432",
}

// TestCapabilities compiles what each capability of the taxonomy lowers to on
// the standard Mac. The golden file has the answers that it changes.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "capabilities", "answers.txtar")
	tool := ""
	t.Run("tool", func(t *testing.T) { tool = evaluator(t) })
	asked := append(slices.Clone(probes), "@read H/.netrc", "@write H/.netrc", "@unlink H/.netrc", "@read H/.zshrc", "@create H/Library/LaunchAgents/x.plist",
		"@unlink W/main.py", "@read W/.git/config", "@create W/.git/index.lock", "network-outbound unix:H/.docker/run/docker.sock")
	queries := make([]string, len(asked))
	for i, p := range asked {
		queries[i] = spell(p)
	}
	answers := func(p *darwin.Policy, release int) (all []string) {
		own := parse(t, p, release)
		for _, q := range queries {
			all = append(all, ask(t, own, q))
		}
		return all
	}
	bare := answers(compileCapability(t, "tool.invoke"), 15) // decided by the hook: nothing for an operating system
	done := map[string]bool{}
	got := &txtar.Archive{Comment: []byte("What each capability changes; go test ./darwin -run Capabilities -update rewrites it.\n")}
	for i, c := range policy.Taxonomy() {
		if !c.Enforced() {
			continue
		}
		p := compileCapability(t, c.Name)
		release := releases[i%len(releases)]
		var text strings.Builder
		ours := answers(p, release)
		for j, a := range ours {
			if a != bare[j] {
				fmt.Fprintf(&text, "%-5s %s\n", a, asked[j])
			}
		}
		for _, g := range p.Receipt.Gaps(false, nil) {
			fmt.Fprintf(&text, "gap   %s: %s\n", g.Name, g.Note)
		}
		got.Files = append(got.Files, txtar.File{Name: c.Name, Data: []byte(text.String())})
		whole := fmt.Sprint(p.Source(), p.Params())
		if tool == "" || done[whole] {
			continue // several capabilities lower to the same
		}
		done[whole] = true
		for j, verdict := range askTool(t, tool, p, release, queries) {
			if verdict != ours[j] || verdict == "ambiguous" {
				t.Errorf("%s, macOS %d: %s: sbpl-eval says %s, we say %s", c.Name, release, queries[j], verdict, ours[j])
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

func compileCapability(t *testing.T, name string) *darwin.Policy {
	t.Helper()
	preset, err := policy.FindPreset("standard")
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Input{Preset: preset, Approve: policy.ApproveDeclared, Tier: policy.Approved}
	constraints := `"workspace_only": true`
	if scope := scopes[name]; scope != "" {
		constraints = `"resource_scope": ["` + scope + `"]`
	}
	d, err := policy.ParseManifest("skillguard-manifest.json", []byte(`{"skill_metadata": {"name": "x", "version": "1"}, "permissions": [
			{"capability": "`+name+`", "effect": "allow", "constraints": {`+constraints+`}}]}`))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	in.Documents = []*policy.Document{d}
	set, _, err := policy.Compose(in)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	f := standardFacts()
	f.ProxyPort = 18080
	p, err := set.Profile(f.Host(), policy.Inputs{Workspace: workspace, Cwd: workspace, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	compiled, err := darwin.Compile(p, f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return compiled
}
