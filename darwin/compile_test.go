package darwin_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/darwin"
	"skillrun/darwin/sbpl"
	"skillrun/profiles"
)

func TestCompileRefuses(t *testing.T) {
	absent := func(f *darwin.Facts) { f.Exists = []string{} }
	tests := []struct {
		name, want string
		change     func(p *profiles.Profile, f *darwin.Facts)
	}{
		{"dots", "not absolute and clean", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/Users/ann/../bob" }},
		{"relative", "not absolute and clean", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "work" }},
		{"empty", "not absolute and clean", func(p *profiles.Profile, f *darwin.Facts) { p.Denials = []profiles.Denial{{Path: "x"}} }},
		{"slash", "not absolute and clean", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/Users/ann/" }},
		{"tmp", "/tmp is a link to /private/tmp", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/tmp/x" }},
		{"var", "/var is a link to /private/var", func(p *profiles.Profile, f *darwin.Facts) { f.Tmp = "/var/folders/x" }},
		{"firmlink", "/System/Volumes/Data/Users is /Users", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/System/Volumes/Data/Users/ann" }},
		{"tmp in another case", "/tmp is a link to /private/tmp", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/TMP/x" }},
		{"firmlink in another case", "/System/Volumes/Data/Users is /Users", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/system/volumes/data/users/ann" }},
		{"system's case", `the system spells it "/Users/ann"`, func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/USERS/ann" }},
		{"nul", "a NUL byte", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/Users/ann/\x00" }},
		{"utf-8", "not UTF-8", func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Path = "/Users/ann/\xff" }},
		{"pattern", "not UTF-8", func(p *profiles.Profile, f *darwin.Facts) {
			p.Denials = []profiles.Denial{{Path: workspace, Match: "\xff"}}
		}},
		{"except", "not UTF-8", func(p *profiles.Profile, f *darwin.Facts) {
			p.Denials = []profiles.Denial{{Path: workspace, Except: []string{"\xff"}}}
		}},
		{"combining", "another spelling", func(p *profiles.Profile, f *darwin.Facts) {
			p.Denials = []profiles.Denial{{Path: workspace + "/cafe\u0301"}}
		}},
		{"combining pattern", "another spelling", func(p *profiles.Profile, f *darwin.Facts) {
			p.Denials = []profiles.Denial{{Path: workspace, Match: "caf\u00e9"}}
		}},
		{"proxy", "proxy port is 0", func(p *profiles.Profile, f *darwin.Facts) { p.Network.Mode = profiles.NetHosts; f.ProxyPort = 0 }},
		{"mode", "unknown network mode 9", func(p *profiles.Profile, f *darwin.Facts) { p.Network.Mode = 9 }},
		{"linux", `"linux" is not darwin`, func(p *profiles.Profile, f *darwin.Facts) { f.OS = "linux" }},
		{"old", "older than 13", func(p *profiles.Profile, f *darwin.Facts) { f.Version = "12.7" }},
		{"version", "older than 13", func(p *profiles.Profile, f *darwin.Facts) { f.Version = "fifteen" }},
		{"tag", "is not letters", func(p *profiles.Profile, f *darwin.Facts) { f.Tag = `x") (allow default` }},
		{"socket", "not absolute and clean", func(p *profiles.Profile, f *darwin.Facts) { p.Sockets = []profiles.SocketRule{{Path: "x"}} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, f := small(), standardFacts()
			p.Paths = []profiles.PathRule{tree(workspace, rw, "filesystem.write")}
			absent(f)
			if _, err := darwin.Compile(p, f); err != nil {
				t.Fatalf("unchanged: %v", err)
			}
			tt.change(p, f)
			_, err := darwin.Compile(p, f)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "compile for darwin: ") {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// A name with combining characters is fine where it exists, so that it has one
// spelling, and where the run cannot create it.
func TestCombiningNames(t *testing.T) {
	for name, change := range map[string]func(p *profiles.Profile, f *darwin.Facts){
		"exists":    func(p *profiles.Profile, f *darwin.Facts) { f.Exists = append(f.Exists, workspace+"/cafe\u0301") },
		"read only": func(p *profiles.Profile, f *darwin.Facts) { p.Paths[0].Access = profiles.Read },
	} {
		p, f := small(), standardFacts()
		p.Paths = []profiles.PathRule{tree(workspace, rw, "filesystem.write")}
		p.Denials = []profiles.Denial{{Path: workspace + "/cafe\u0301", Access: all}}
		change(p, f)
		policy, err := darwin.Compile(p, f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := ask(t, parse(t, policy, 15), "@read "+workspace+"/cafe\u0301/x"); got != "deny" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestManyRules(t *testing.T) {
	t.Parallel()
	p, f := small(), standardFacts()
	for i := range 5000 {
		p.Paths = append(p.Paths, profiles.PathRule{Path: fmt.Sprintf("%s/d%d", workspace, i), Tree: true, Access: rw, Origin: origin("filesystem.write", "")})
		p.Denials = append(p.Denials, profiles.Denial{Path: fmt.Sprintf("%s/d%d/secret", workspace, i), Access: all})
	}
	policy, err := darwin.Compile(p, f)
	if err != nil {
		t.Fatal(err)
	}
	own := parse(t, policy, 26)
	for query, want := range map[string]string{"@write W/d4999/x": "allow", "@read W/d4999/secret": "deny", "@write W/d5000/x": "deny"} {
		if got := ask(t, own, spell(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestCompileIsDeterministic(t *testing.T) {
	f := standardFacts()
	first, err := darwin.Compile(standardProfile(f), f)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := darwin.Compile(standardProfile(f), f)
		if err != nil {
			t.Fatal(err)
		}
		if again.Source() != first.Source() || !slices.Equal(again.Params(), first.Params()) {
			t.Fatal("equal profiles, different policies")
		}
	}
}

// TestReceipt: every clause is reported, and the standard profile has no gap.
func TestReceipt(t *testing.T) {
	f := standardFacts()
	p := standardProfile(f)
	policy, err := darwin.Compile(p, f)
	if err != nil {
		t.Fatal(err)
	}
	clauses := []string{
		profiles.ClauseRead, profiles.ClauseWrite, profiles.ClauseDeny, profiles.ClauseExecute, profiles.ClauseControl, profiles.ClauseMetadata,
		profiles.ClauseNetwork, profiles.ClauseListen, profiles.ClauseUnix, profiles.ClauseProcesses, profiles.ClauseSurvivors, profiles.ClauseChildren,
		profiles.ClauseTerminal, profiles.ClauseEnvironment, profiles.ClauseDescriptors, profiles.ClauseCapabilities, profiles.ClauseKernel,
		profiles.ClauseKeep, profiles.ClauseStat, profiles.ClauseCmdline, profiles.ClauseLoad, profiles.ClauseLater, profiles.ClauseShm, profiles.ClauseMemory,
		profiles.ClauseLimits, profiles.ClauseFronting, profiles.ClauseMethod,
	}
	var got []string
	for _, c := range policy.Receipt {
		got = append(got, c.Name)
		if c.Must != profiles.Must(c.Name) {
			t.Errorf("%s: must is %t", c.Name, c.Must)
		}
		if c.Strength == profiles.None && c.Note == "" {
			t.Errorf("%s is not held, and nothing says why", c.Name)
		}
	}
	if !slices.Equal(got, clauses) {
		t.Errorf("clauses %v, want %v", got, clauses)
	}
	if gaps := policy.Receipt.Gaps(false, nil); len(gaps) > 0 {
		t.Errorf("the standard profile has gaps: %+v", gaps)
	}
	p.Demands = []profiles.Demand{{Name: "constraint.rate_limit"}}
	policy, err = darwin.Compile(p, f)
	if err != nil {
		t.Fatal(err)
	}
	if gaps := policy.Receipt.Gaps(false, nil); len(gaps) != 1 || gaps[0].Name != "constraint.rate_limit" {
		t.Errorf("a demand that nothing holds: gaps %+v", gaps)
	}
}

// TestNewerOperations: what a release lacks is guarded, what it has is closed.
func TestNewerOperations(t *testing.T) {
	policy, _, _ := compileGolden(t, 0)
	for _, release := range releases {
		own := parse(t, policy, release)
		for op, since := range map[string]int{"file-graft": 26, "file-ungraft": 26, "fs-snapshot-mount": 14} {
			a, err := sbpl.Evaluate(own, sbpl.Query{Operation: op})
			if release < since {
				if err == nil {
					t.Errorf("macOS %d knows %s", release, op)
				}
			} else if err != nil || a.Allowed {
				t.Errorf("macOS %d: %s: %+v, %v", release, op, a, err)
			}
		}
	}
}

func TestLook(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{
		"w/.git/config", "w/.git/info/exclude", "w/sub/.git/HEAD", "w/sub/.env", "w/src/main.py", "w/node_modules/x/.vscode/a.json",
		"Users/ann/.ssh/id", "o/file",
	} {
		fsys[name] = &fstest.MapFile{}
	}
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: rw | profiles.Delete}, {Path: "/o", Tree: true, Access: rw}}}
	p.Denials = append(profiles.ControlFiles("/w"), profiles.WorkspaceSecrets("/w")...)
	p.Denials = append(p.Denials, profiles.Denial{Path: "/Users/ann/.ssh"}, profiles.Denial{Path: "/Users/ann/.aws/x"})
	exists, contents := darwin.Look(fsys, p, 100)
	for _, want := range []string{"/w/.git", "/w/sub/.git", "/w/sub/.env", "/w/.git/config", "/w/.git/info", "/Users/ann/.ssh", "/Users/ann"} {
		if !slices.Contains(exists, want) {
			t.Errorf("%s is not listed: %v", want, exists)
		}
	}
	for _, not := range []string{"/w/src/main.py", "/Users/ann/.aws"} {
		if slices.Contains(exists, not) {
			t.Errorf("%s is listed: %v", not, exists)
		}
	}
	if !slices.Equal(contents, []string{"/o/file"}) {
		t.Errorf("contents %v, want what lies in /o", contents)
	}
	many := fstest.MapFS{}
	for i := range 5000 {
		many[fmt.Sprintf("w/%0100d.pem", i)] = &fstest.MapFile{}
	}
	if exists, contents := darwin.Look(many, p, 100_000); exists != nil || contents != nil {
		t.Errorf("more than a policy holds: %d %d", len(exists), len(contents))
	}
	if exists, contents := darwin.Look(fsys, p, 3); exists != nil || contents != nil {
		t.Errorf("over the limit: %v %v", exists, contents)
	}
}

// TestManyFiles: a large workspace makes no policy that is too long to run.
// As many names stay as fit; with more none do, and the receipt says so.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	for n, listed := range map[int]bool{2000: true, 8000: false} {
		fsys := fstest.MapFS{}
		for i := range n {
			fsys[fmt.Sprintf("%s/f%0100d", strings.TrimPrefix(workspace, "/"), i)] = &fstest.MapFile{}
		}
		f := standardFacts()
		p := standardProfile(f)
		f.Exists, f.Contents = darwin.Look(fsys, p, 10_000)
		if f.Exists == nil || (f.Contents != nil) != listed {
			t.Fatalf("%d files: %d of them listed, %d exist", n, len(f.Contents), len(f.Exists))
		}
		policy, err := darwin.Compile(p, f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (darwin.Runner{}).Args(policy, []string{"/usr/bin/true"}); err != nil {
			t.Errorf("%d files: %v", n, err)
		}
		i := slices.IndexFunc(policy.Receipt, func(c profiles.Clause) bool { return c.Name == profiles.ClauseKeep })
		if kept := policy.Receipt[i].Strength == profiles.Kernel; kept != listed {
			t.Errorf("%d files: %+v", n, policy.Receipt[i])
		}
	}
}

// A host file's keys are in its documentation.
func TestDocumentedFacts(t *testing.T) {
	doc, err := os.ReadFile("../docs/macos.md")
	if err != nil {
		t.Fatal(err)
	}
	for f := range reflect.TypeFor[darwin.Facts]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(string(doc), "`"+key+"`") && !strings.Contains(string(doc), `"`+key+`":`) {
			t.Errorf("docs/macos.md does not have the key %q", key)
		}
	}
}

func TestParseFacts(t *testing.T) {
	const good = `{"os":"darwin","version":"15.6","home":"/Users/a","user":"a","workspace":"/Users/a/w","tmp":"/private/tmp/x","case_sensitive":false,"exists":["/Users/a/.ssh/","/Users/a/w/.env"],"proxy_port":8080}`
	f, err := darwin.ParseFacts([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if f.Release() != 15 || f.Home != "/Users/a" || f.ProxyPort != 8080 {
		t.Errorf("%+v", f)
	}
	h := f.Host()
	for path, want := range map[string]string{"/users/A/.SSH/id": "/Users/a/.ssh/id", "/TMP/x": "/private/tmp/x", "/Users/a/W/.Env": "/Users/a/w/.env", "/Users/a/New": "/Users/a/New"} {
		if got, err := h.ResolvePrefix(path); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", path, got, err, want)
		}
	}
	f.CaseSensitive = true
	if f.Host().Exists("/users/A") {
		t.Error("case does not count")
	}
	for path, want := range map[string]bool{"/Users/a/.ssh": true, "/Users/a/w": true, "/Users/a/w/.env": true, "/tmp/x": true, "/usr/bin/env": true, "/Users/a/.aws": false} {
		if got := h.Exists(path); got != want {
			t.Errorf("%s exists: %t", path, got)
		}
	}
	if at, err := h.Resolve("/tmp/x"); err != nil || at != "/private/tmp/x" {
		t.Errorf("/tmp/x is %s, %v", at, err)
	}
	for _, bad := range []string{``, `{}`, `[]`, good + `x`, `{"os":"linux","version":"15"}`, `{"os":"darwin","version":"15","surprise":1}`, `{"os":"darwin","version":"15","proxy_port":0}`, `{"os":"darwin","version":"15","proxy_port":65536}`, `{"os":"darwin","version":"15","tmp":"/tmp"}`,
		strings.Replace(good, `"home":"/Users/a",`, "", 1), strings.Replace(good, `"/private/tmp/x"`, `""`, 1), strings.Replace(good, `"workspace":"/Users/a/w",`, "", 1), `{"os":"darwin","version":"15","exists":["a/../b"]}`} {
		if f, err := darwin.ParseFacts([]byte(bad)); err == nil {
			t.Errorf("%s: %+v, want an error", bad, f)
		}
	}
}

// TestUnresolved: what is denied to a name is not held where a proxy of the machine
// resolves it, and that is a gap.
func TestUnresolved(t *testing.T) {
	for _, proxied := range []bool{true, false} {
		f := standardFacts()
		p := standardProfile(f)
		p.Network = profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "a.example", Except: []string{"9.9.9.9"}}}}
		f.ProxyPort, f.Proxied = 18080, proxied
		policy, err := darwin.Compile(p, f)
		if err != nil {
			t.Fatal(err)
		}
		gap := slices.ContainsFunc(policy.Receipt.Gaps(false, nil), func(g profiles.Clause) bool { return g.Name == profiles.ClauseScope })
		if gap != proxied {
			t.Errorf("proxied %v: a gap %v", proxied, gap)
		}
	}
}
