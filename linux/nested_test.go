package linux_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"skillrun/linux"
	"skillrun/profiles"
)

// registration is what a launcher hands over for a run inside another.
func registration(t testing.TB) (text []byte, of *profiles.Profile) {
	p := &profiles.Profile{
		Workspace: "/w",
		Paths: []profiles.PathRule{
			{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create},
			{Path: "/usr\xff", Tree: true, Access: profiles.Read | profiles.Execute},
		},
		Denials: []profiles.Denial{
			{Path: "/w/.env", Access: profiles.Read, Class: profiles.Sensitive},
			{Path: "/w", Match: ".git/hooks", Access: profiles.Write | profiles.Create, UnlessMade: true, Class: profiles.Control},
		},
		Network: profiles.Network{Mode: profiles.NetHost},
		Process: profiles.Process{Create: true},
	}
	p.Normalize()
	facts := linux.Facts{
		FS:        fstest.MapFS{"w/x": {}, "w/.env": {}, "usr\xff/x": {}, "own/tmp/x": {}, "tmp/x": {}},
		Own:       []string{"/own/tmp"},
		Private:   []linux.Substitute{{From: "/tmp", To: "/own/tmp"}},
		Supervise: true,
	}
	plan := linux.Compile(p, linux.Features{Landlock: 6, Seccomp: true, Outer: linux.NotifyNames | linux.NotifyMetadata}, facts)
	if !plan.Nested {
		t.Fatal("not the plan of a run inside another")
	}
	text, err := linux.DescribeNested(plan, p, facts.Own, facts.Private, 0o27)
	if err != nil {
		t.Fatal(err)
	}
	return text, p
}

// TestNarrowingRefused: what a launcher hands over is read as it is meant, and
// what no launcher would say is no description of a run.
func TestNarrowingRefused(t *testing.T) {
	text, p := registration(t)
	n, err := linux.ReadNarrowing(text)
	if err != nil {
		t.Fatalf("control: %v: %s", err, text)
	}
	if d := cmp.Diff(p, n.Profile); d != "" || n.Umask != 0o27 || n.Run != "0123456789ab" || len(n.Rules) == 0 || string(n.Redirects[0][0]) != "/tmp" {
		t.Errorf("%+v: %s", n, d)
	}
	change := func(old, new string) string {
		t.Helper()
		changed := strings.Replace(string(text), old, new, 1)
		if changed == string(text) {
			t.Fatalf("no %s in %s", old, text)
		}
		return changed
	}
	for name, bad := range map[string]string{
		"nothing":             "",
		"no profile":          `{"run":"0123456789ab","umask":18}`,
		"null":                change(`"profile":{`, `"profile":null,"x":{`),
		"unknown key":         change(`"umask"`, `"mask"`),
		"unknown right":       change(`"access":"rwc"`, `"access":"rwz"`),
		"relative rule":       change(`"path":"/w"`, `"path":"w"`),
		"unclean rule":        change(`"path":"/w"`, `"path":"/w/../x"`),
		"unknown class":       change(`"class":"control"`, `"class":"other"`),
		"unknown network":     change(`"mode":"host"`, `"mode":"hostess"`),
		"workspace":           change(`"workspace":"/w"`, `"workspace":"."`),
		"limit":               change(`"process":`, `"limits":{"memory":1},"process":`),
		"more after it":       string(text) + "{}",
		"half of it":          string(text[:len(text)/2]),
		"no name":             change(`"run":"0123456789ab",`, ""),
		"short name":          change(`"0123456789ab"`, `"0123456789a"`),
		"name of other bytes": change(`"0123456789ab"`, `"0123456789\n"`),
		"another's spelling":  change(`"0123456789ab"`, `"0123456789AB"`),
		"umask":               change(`"umask":23`, `"umask":512`),
		"relative own":        change(`"own":["L293bi90bXA="]`, `"own":["b3du"]`),
		"redirect of nothing": change(`"redirects":[["L3RtcA==",`, `"redirects":[["",`),
		"unclean redirect":    change(`"redirects":[["L3RtcA==",`, `"redirects":[["L3RtcC8uLg==",`),
		"NUL in a denial":     change(`"denied":null`, `"denied":["L3cAeA=="]`),
	} {
		if n, err := linux.ReadNarrowing([]byte(bad)); err == nil {
			t.Errorf("%s: read as %+v", name, n)
		}
	}
}

// FuzzNarrowing: whatever is taken for a description validates, means the same
// when it is written again, and takes away from the run around it and gives
// nothing.
func FuzzNarrowing(f *testing.F) {
	text, _ := registration(f)
	f.Add(text)
	f.Add([]byte(`{"run":"0123456789ab","profile":{"paths":[{"path":"/","tree":true,"access":"rwxcd"}],"network":{"mode":"host"}},"own":["Lw=="],"umask":0}`))
	outer := &profiles.Profile{
		Paths: []profiles.PathRule{
			{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create},
			{Path: "/data", Tree: true, Access: profiles.Read},
		},
		Denials: []profiles.Denial{{Path: "/w", Match: ".git", Access: profiles.AllAccess}},
		Network: profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{
			{Host: "*.example.com", Ports: []profiles.PortRange{{First: 443, Last: 443}}, Protocols: profiles.TCP},
		}},
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := linux.ReadNarrowing(text)
		if err != nil {
			return
		}
		if err := n.Profile.Validate(); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		m, err := linux.ReadNarrowing(again)
		if err != nil || m.Profile.Hash() != n.Profile.Hash() || !cmp.Equal(n.Rules, m.Rules) || !cmp.Equal(n.Own, m.Own) {
			t.Fatalf("%v: %s", err, again)
		}
		both := outer.Intersect(n.Profile)
		if err := both.Validate(); err != nil {
			t.Fatal(err)
		}
		paths := []string{"/", "/w", "/w/a", "/w/.git/x", "/data/a", "/etc/passwd"}
		for _, r := range n.Profile.Paths {
			paths = append(paths, r.Path, strings.TrimSuffix(r.Path, "/")+"/a")
		}
		for _, dir := range n.Own {
			paths = append(paths, strings.TrimSuffix(string(dir), "/")+"/a")
		}
		for _, path := range paths {
			for access := profiles.Read; access <= profiles.Execute; access <<= 1 {
				if outer.Allows(path, access).Allowed {
					continue
				}
				if both.Allows(path, access).Allowed {
					t.Fatalf("%v %q is in both and not in the outer run's: %s", access, path, text)
				}
				if n.Allows(outer, path, access) {
					t.Fatalf("%v %q is allowed inside and not outside: %s", access, path, text)
				}
			}
		}
		for _, host := range []string{"a.example.com", "example.org", "127.0.0.1", "8.8.8.8"} {
			for _, port := range []uint16{80, 443} {
				if both.Reaches(host, port, profiles.TCP).Allowed && !outer.Reaches(host, port, profiles.TCP).Allowed {
					t.Fatalf("%s:%d is reached in both and not from the outer run: %s", host, port, text)
				}
			}
		}
	})
}
