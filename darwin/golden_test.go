package darwin_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"skillrun/darwin"
	"skillrun/profiles"
)

var update = flag.Bool("update", false, "rewrite testdata")

const (
	rw  = profiles.Read | profiles.Write | profiles.Create
	all = profiles.AllAccess
)

func small() *profiles.Profile {
	return &profiles.Profile{Workspace: workspace, Home: home}
}

func tree(path string, access profiles.Access, capability string) profiles.PathRule {
	return profiles.PathRule{Path: path, Tree: true, Access: access, Origin: origin(capability, "")}
}

// goldens are profiles, one for each thing that lowers to something else.
var goldens = []struct {
	name, about string
	change      func(p *profiles.Profile, f *darwin.Facts)
}{
	{"standard", "the workspace profile with all shipped data", func(p *profiles.Profile, f *darwin.Facts) { *p = *standardProfile(f) }},
	{"nothing", "the zero profile", func(p *profiles.Profile, f *darwin.Facts) { *p = profiles.Profile{} }},
	{"read", "filesystem.read of the workspace", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, profiles.Read, "filesystem.read"))
	}},
	{"read-broad", "filesystem.read without a scope: everything but what is sensitive", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree("/", profiles.Read, "filesystem.read"))
		p.Denials = append(p.Denials, profiles.Denial{Path: home + "/.ssh", Access: all, Except: []string{home + "/.ssh/known_hosts"}, Class: profiles.Sensitive, Origin: origin("", "private keys")},
			profiles.Denial{Path: home + "/.aws", Access: all, Class: profiles.Sensitive, Origin: origin("", "cloud credentials")})
	}},
	{"write", "filesystem.write", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, rw, "filesystem.write"))
	}},
	{"write-unlisted", "filesystem.write where nobody listed what exists", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, rw, "filesystem.write"))
		p.Denials = append(profiles.ControlFiles(workspace)[:8], profiles.WorkspaceSecrets(workspace)[:3]...)
		f.Exists, f.Contents = nil, nil
	}},
	{"delete", "filesystem.delete", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, rw|profiles.Delete, "filesystem.delete"))
	}},
	{"execute", "source_code.execute", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, rw|profiles.Execute, "source_code.execute"))
		p.Process = profiles.Process{Create: true, ExecuteOwn: true}
	}},
	{"execute-inside", "a virtual environment inside the workspace", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, rw, "filesystem.write"), tree(workspace+"/.venv", profiles.Read|profiles.Execute, "shell.execute"))
	}},
	{"one-file", "a rule for one file, and a command", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, profiles.PathRule{Path: workspace + "/out.txt", Access: profiles.Write | profiles.Create, Origin: origin("filesystem.write", "")})
		f.Commands = []string{"/usr/bin/python3"}
	}},
	{"any-mode", "filesystem.write with arguments.modes: any", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, rw, "filesystem.write"))
		p.Process.AnyMode = true
	}},
	{"commit", "commit.read and commit.create", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, profiles.Read, "commit.read"), tree(workspace+"/.git", rw|profiles.Delete, "commit.create"))
		p.Denials = profiles.ControlFiles(workspace)[:4]
	}},
	{"children", "process.create", func(p *profiles.Profile, f *darwin.Facts) { p.Process.Create = true }},
	{"query", "process.query", func(p *profiles.Profile, f *darwin.Facts) { p.Process.Query = true }},
	{"secret", "secrets.read of one file", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, profiles.PathRule{Path: home + "/.config/api/token", Access: profiles.Read, Origin: origin("secrets.read", "")})
		p.Denials = append(p.Denials, profiles.Denial{Path: home + "/.config/api", Access: all, Except: []string{home + "/.config/api/token"}, Class: profiles.Sensitive})
	}},
	{"skill-in-workspace", "the skill lies in the workspace", func(p *profiles.Profile, f *darwin.Facts) {
		p.Skill = workspace + "/skills/pdf"
		p.Paths = append(p.Paths, tree(workspace, rw|profiles.Delete, "filesystem.delete"))
	}},
	{"workspace-home", "a workspace equal to HOME", func(p *profiles.Profile, f *darwin.Facts) {
		p.Workspace, f.Workspace = home, home
		p.Paths = append(p.Paths, tree(home, rw|profiles.Delete, "filesystem.delete"))
		p.Denials = profiles.SensitivePaths(f.Host())[:12]
	}},
	{"workspace-root", "a workspace equal to /", func(p *profiles.Profile, f *darwin.Facts) {
		p.Workspace, f.Workspace = "/", "/"
		p.Paths = append(p.Paths, tree("/", rw, "filesystem.write"))
		p.Denials = append(p.Denials, profiles.Denial{Path: "/", Match: ".git/hooks", Access: rw &^ profiles.Read, Class: profiles.Control})
	}},
	{"net-hosts", "web.fetch of named hosts, through the gate", func(p *profiles.Profile, f *darwin.Facts) {
		p.Network = profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "api.example.com", Ports: []profiles.PortRange{{First: 443, Last: 443}}, Protocols: profiles.TCP, ReadOnly: true}}}
		f.ProxyPort = 18080
	}},
	{"net-host", "the host's own network", func(p *profiles.Profile, f *darwin.Facts) { p.Network.Mode = profiles.NetHost }},
	{"listen", "ports that others may reach", func(p *profiles.Profile, f *darwin.Facts) {
		p.Network.Listen = []profiles.ListenRule{
			{Ports: profiles.PortRange{First: 3000, Last: 3002}, Origin: origin("network.client", "a dev server")},
			{Ports: profiles.PortRange{First: 8443, Last: 8443}, Any: true, Origin: origin("network.client", "a dev server")},
			{Ports: profiles.PortRange{First: 20000, Last: 30000}, Origin: origin("network.client", "too many")},
		}
	}},
	{"listen-any", "every port, with named hosts", func(p *profiles.Profile, f *darwin.Facts) {
		p.Network = profiles.Network{Mode: profiles.NetHosts, Listen: []profiles.ListenRule{{Ports: profiles.AnyPort, Origin: origin("network.client", "")}}}
		f.ProxyPort = 1
	}},
	{"socket", "container.run: a socket by name, and an abstract one", func(p *profiles.Profile, f *darwin.Facts) {
		p.Sockets = []profiles.SocketRule{{Path: "/private/var/run/docker.sock", Origin: origin("container.run", "")}, {Path: "@abstract"}}
	}},
	{"limits", "limits and a demand that nothing holds", func(p *profiles.Profile, f *darwin.Facts) {
		p.Limits = profiles.Limits{Memory: 1 << 30, Processes: 64, Output: 1 << 20}
		p.Demands = []profiles.Demand{{Name: "constraint.rate_limit", Detail: "10 reads a minute"}}
	}},
	{"hidden", "denied names are hidden", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(workspace, profiles.Read, "filesystem.read"))
		p.Denials = profiles.WorkspaceSecrets(workspace)[:2]
		f.HideNames = true
	}},
	{"case-sensitive", "a volume where case counts", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(home, rw, "filesystem.write"))
		p.Denials = append(p.Denials, profiles.Denial{Path: home + "/.absent/dir", Access: all})
		f.CaseSensitive = true
	}},
	{"case-folding", "an absent name on an ordinary volume", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree(home, rw, "filesystem.write"))
		p.Denials = append(p.Denials, profiles.Denial{Path: home + "/.absent/dir", Access: all})
	}},
	{"moved", "denials in the spellings of others", func(p *profiles.Profile, f *darwin.Facts) {
		p.Paths = append(p.Paths, tree("/", profiles.Read, "filesystem.read"))
		for _, d := range []string{"/tmp/secret", "/var/db/x", "/etc/ssh", "/System/Volumes/Data/Users/ann/.ssh", "/TMP/Other", "/system/volumes/data/users/ann/.aws"} {
			p.Denials = append(p.Denials, profiles.Denial{Path: d, Access: all, Origin: origin("", d)})
		}
	}},
	{"hostile", "strings that would like to be policy", func(p *profiles.Profile, f *darwin.Facts) {
		for _, name := range hostileNames {
			at := workspace + "/" + name
			p.Paths = append(p.Paths, profiles.PathRule{Path: at, Access: profiles.Read, Origin: profiles.Origin{Source: name, Capability: name, Reason: name}})
			p.Denials = append(p.Denials, profiles.Denial{Path: at, Access: profiles.Write, Origin: profiles.Origin{Reason: name}})
			p.Denials = append(p.Denials, profiles.Denial{Path: workspace, Match: strings.ReplaceAll(name, "/", "."), Except: []string{"x" + strings.ReplaceAll(name, "/", ".")}, Access: profiles.Write})
		}
		f.Exists = nil
	}},
	{"older", "macOS 13", func(p *profiles.Profile, f *darwin.Facts) { f.Version = "13.0" }},
}

// hostileNames are file names that macOS takes.
var hostileNames = []string{
	`"))(allow default)(("`, `\"`, `back\slash`, "new\nline) (allow default)", "tab\there", "bell\a", ";comment", "#|block|#",
	"a|b | c", "bidi\u202etxt", "zero\u200bwidth", "café", "(param \"P0\")", "$(x)`y`", "{n} [a-z] ^x$ .* +?", "-D P0=x", "'quoted'",
}

func compileGolden(t testing.TB, i int) (*darwin.Policy, *profiles.Profile, *darwin.Facts) {
	t.Helper()
	p, f := small(), standardFacts()
	goldens[i].change(p, f)
	policy, err := darwin.Compile(p, f)
	if err != nil {
		t.Fatalf("%s: %v", goldens[i].name, err)
	}
	return policy, p, f
}

func TestGolden(t *testing.T) {
	if len(goldens) < 25 {
		t.Fatalf("%d golden policies, want at least 25", len(goldens))
	}
	for i, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			policy, _, f := compileGolden(t, i)
			var params, receipt strings.Builder
			for _, v := range policy.Params() {
				fmt.Fprintf(&params, "%s=%q\n", v.Name, v.Value)
			}
			for _, c := range policy.Receipt {
				fmt.Fprintf(&receipt, "%s %s", c.Name, c.Strength)
				if c.Note != "" {
					fmt.Fprintf(&receipt, " (%s)", c.Note)
				}
				receipt.WriteByte('\n')
			}
			got := txtar.Format(&txtar.Archive{
				Comment: []byte(g.about + ", on macOS " + f.Version + "\n"),
				Files: []txtar.File{
					{Name: "policy.sb", Data: []byte(policy.Source())},
					{Name: "params", Data: []byte(params.String())},
					{Name: "receipt", Data: []byte(receipt.String())},
				},
			})
			file := filepath.Join("testdata", g.name+".txtar")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s differs; go test ./darwin -run Golden -update rewrites it (-want +got):\n%s", file, diff)
			}
		})
	}
	files, _ := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if len(files) != len(goldens) {
		t.Errorf("%d files in testdata for %d profiles", len(files), len(goldens))
	}
}

// probes are asked of every golden policy: whatever it grants, no answer may
// depend on a belief about rule order.
var probes = []string{
	"@read W/x", "@write W/x", "@create W/x", "@unlink W/x", "@exec W/x", "@read W/.env", "@write W/.git/config", "@create W/.git/hooks/x",
	"@unlink W", "@unlink W/.git", "@rename W/sub W/s", "@link W/x W/y", "@clone W/x W/y", "@stat W/.env", "@stat H/.ssh", "@read H/.ssh/id_rsa",
	"@read H/.ssh/known_hosts", "@create H/.absent", "@create H/.Absent/Dir", "@create H/.absent/dir/x", "@exec T/x", "@write T/x", "@unlink T/x", "@unlink T",
	"file-map-executable W/.venv/lib/x.so", "file-map-executable W/x.so", "file-write-acl W/x", "file-write-setugid W/x", "file-read* W/x", "file-write* W/x",
	"network-outbound tcp:localhost:18080", "network-outbound tcp:192.0.2.7:443", "network-outbound udp:192.0.2.7:53", "@listen tcp:localhost:3001",
	"@listen tcp:localhost:25000", "network-bind tcp:thishost:8443", "network-outbound unix:/private/var/run/docker.sock", "network-outbound unix:T/s",
	"network-outbound unix:W/x", "system-socket socket-domain=AF_INET socket-type=SOCK_STREAM", "system-socket socket-domain=AF_INET socket-type=SOCK_DGRAM",
	"process-fork", "process-info-listpids", "process-info-pidinfo others", "process-info-pidinfo self", "mach-lookup com.apple.trustd.agent",
	"mach-lookup com.apple.SecurityServer", "sysctl-read kern.procargs2", "ipc-posix-shm-write-data /psm_x", "signal others", "lsopen", "appleevent-send",
}

// TestUnambiguous loads every golden policy for every release with sbpl-eval,
// which accepts no warning, and holds both evaluators to the same answers.
func TestUnambiguous(t *testing.T) {
	t.Parallel()
	tool := evaluator(t)
	for i, g := range goldens {
		policy, _, _ := compileGolden(t, i)
		for j, release := range releases {
			var queries []string
			for k, p := range probes {
				if (i+j+k)%2 == 0 { // each of each policy, for two releases
					queries = append(queries, spell(p))
				}
			}
			for k, e := range escapesOf(release) {
				if (i+j+k)%len(releases) == 0 { // each of each policy, for one release or another
					queries = append(queries, spell(e.query))
				}
			}
			t.Run(fmt.Sprintf("%s/%d", g.name, release), func(t *testing.T) {
				t.Parallel()
				own := parse(t, policy, release)
				for j, got := range askTool(t, tool, policy, release, queries) {
					if want := ask(t, own, queries[j]); got != want || got == "ambiguous" {
						t.Errorf("%s: sbpl-eval says %s, we say %s", queries[j], got, want)
					}
				}
			})
		}
	}
}

// TestEveryLineHasAnOrigin: a line that is not a comment has its reason behind
// it or above its block.
func TestEveryLineHasAnOrigin(t *testing.T) {
	for i, g := range goldens {
		policy, _, _ := compileGolden(t, i)
		explained := false
		for n, line := range strings.Split(policy.Source(), "\n") {
			code, comment, _ := strings.Cut(line, ";")
			switch {
			case strings.TrimSpace(line) == "":
				explained = false
			case strings.TrimSpace(code) == "":
				explained = strings.TrimSpace(comment) != ""
			case !explained && strings.TrimSpace(comment) == "" && code != "(version 1)":
				t.Errorf("%s: line %d has no origin: %s", g.name, n+1, line)
			}
		}
	}
}

// TestPinsOnce: a directory that stays is named by one of the rules that say so.
func TestPinsOnce(t *testing.T) {
	literal := regexp.MustCompile(`\(literal \(param "P[0-9]+"\)\)`)
	for i, g := range goldens {
		policy, _, _ := compileGolden(t, i)
		_, pins, _ := strings.Cut(policy.Source(), "\n; the roots of what is granted stay")
		pins, _, _ = strings.Cut(pins, "\n; what existed")
		seen := map[string]bool{}
		for _, l := range literal.FindAllString(pins, -1) {
			if seen[l] {
				t.Errorf("%s: twice: %s", g.name, l)
			}
			seen[l] = true
		}
	}
}

func TestStandardPolicyIsShort(t *testing.T) {
	f := standardFacts()
	p, err := darwin.Compile(standardProfile(f), f)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(p.Source(), "\n"); n >= 275 {
		t.Errorf("the standard policy has %d lines, want fewer than 275", n)
	}
}
