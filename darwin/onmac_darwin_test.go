package darwin_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"skillrun/darwin"
	"skillrun/darwin/sbpl"
	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// What only a Mac can prove: that the system's compiler takes the policies, and
// that the kernel's answers are the evaluator's.

func requireSandbox(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, darwin.ErrSandboxed) {
		sandboxtest.Skip(t, sandboxtest.Machine, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnMacGoldenPoliciesLoad(t *testing.T) {
	for i, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			policy, _, _ := compileGolden(t, i)
			requireSandbox(t, darwin.Runner{}.Check(context.Background(), policy))
		})
	}
}

// attempt is one thing a program may try. The command gets the paths as
// arguments of sh; the queries are what the kernel is asked by it.
type attempt struct {
	name, script string
	args         []string
	queries      []sbpl.Query
}

// fixture makes a workspace, a home with a secret and the run's directories.
func fixture(t *testing.T) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ws/main.py", "ws/.env", "ws/sub/.env", "ws/.git/config", "ws/.git/hooks/x", "ws/.vscode/x", "skill/SKILL.md", "home/.ssh/id", "home/plain", "tmp/x"} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("canary\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func compileFixture(t *testing.T, root string) (*darwin.Policy, *darwin.Facts) {
	t.Helper()
	version, err := darwin.Version()
	if err != nil {
		t.Fatal(err)
	}
	host := &profiles.Host{OS: "darwin", Home: filepath.Join(root, "home"), Env: map[string]string{}, FS: os.DirFS("/")}
	ws := filepath.Join(root, "ws")
	p := &profiles.Profile{Workspace: ws, Skill: filepath.Join(root, "skill"), Home: host.Home, Process: profiles.Process{Create: true}}
	p.Paths = append(profiles.BaseReads(host),
		profiles.PathRule{Path: ws, Tree: true, Access: rw},
		profiles.PathRule{Path: p.Skill, Tree: true, Access: profiles.Read})
	p.Denials = append(profiles.ControlFiles(ws), profiles.WorkspaceSecrets(ws)...)
	p.Denials = append(p.Denials, profiles.SensitivePaths(host)...)
	f := &darwin.Facts{OS: "darwin", Version: version, Home: host.Home, Workspace: ws, Tmp: filepath.Join(root, "tmp"), Tag: "skillrun-onmac"}
	f.Exists, f.Contents = darwin.Look(os.DirFS("/"), p, 10_000)
	policy, err := darwin.Compile(p, f)
	if err != nil {
		t.Fatal(err)
	}
	return policy, f
}

// byNumber names a file by its volume's and its own number, "" if there is none
// (fsgetpath(2), volfs).
func byNumber(file string) string {
	var s syscall.Stat_t
	if syscall.Stat(file, &s) != nil {
		return ""
	}
	return fmt.Sprintf("/.vol/%d/%d", s.Dev, s.Ino)
}

// cloned clones by clonefileat(2), system call 462: cp(1) copies where that is refused.
const cloned = `/usr/bin/perl -e 'exit(syscall(462, -2, $ARGV[0], -2, $ARGV[1], 0) != 0)' "$1" "$2"`

// attempts lists them; renameatx_np(2) with RENAME_SWAP has no program, and is
// system call 488.
func attempts(root string, port int) []attempt {
	at := func(p string) string { return filepath.Join(root, p) }
	file := func(op, p string) sbpl.Query { return query(op, at(p)) }
	var all []attempt
	for _, p := range []string{"ws/main.py", "ws/.env", "ws/sub/.env", "ws/.git/config", "skill/SKILL.md", "home/.ssh/id", "home/plain", "tmp/x"} {
		all = append(all,
			attempt{"read " + p, `exec 3<"$1"`, []string{at(p)}, []sbpl.Query{file("file-read-data", p)}},
			attempt{"write " + p, `printf x | /bin/dd of="$1" conv=notrunc 2>/dev/null`, []string{at(p)}, []sbpl.Query{file("file-write-data", p)}},
			attempt{"unlink " + p, `/bin/rm -f "$1" && [ ! -e "$1" ]`, []string{at(p)}, []sbpl.Query{file("file-write-unlink", p)}},
			attempt{"stat " + p, `/usr/bin/stat "$1" >/dev/null`, []string{at(p)}, []sbpl.Query{file("file-read-metadata", p)}},
			attempt{"rename " + p, `/bin/mv "$1" "$2"`, []string{at(p), at("tmp/moved")}, []sbpl.Query{file("file-write-unlink", p), file("file-write-create", "tmp/moved")}},
			attempt{"link " + p, `/bin/ln "$1" "$2"`, []string{at(p), at("tmp/linked")}, []sbpl.Query{file("file-link", p), file("file-write-create", "tmp/linked")}},
			attempt{"clone " + p, cloned, []string{at(p), at("tmp/cloned")}, []sbpl.Query{file("file-clone", p), file("file-write-create", "tmp/cloned")}},
			attempt{"chmod " + p, `/bin/chmod 600 "$1"`, []string{at(p)}, []sbpl.Query{file("file-write-mode", p)}})
	}
	for _, p := range []string{"ws/new", "ws/.envrc", "ws/.ENVRC", "ws/.git/hooks/pre-commit", "ws/.claude", "ws/clone", "tmp/new", "home/new", "skill/new"} {
		all = append(all, attempt{"create " + p, `/bin/mkdir "$1"`, []string{at(p)}, []sbpl.Query{file("file-write-create", p)}})
	}
	for _, p := range []string{"ws/sub", "ws/.git", "ws/.vscode"} {
		all = append(all, attempt{"clone " + p, cloned, []string{at(p), at("tmp/cloned")}, []sbpl.Query{file("file-clone", p), file("file-write-create", "tmp/cloned")}})
		all = append(all, attempt{"rename " + p, `/bin/mv "$1" "$2"`, []string{at(p), at("tmp/dir")}, []sbpl.Query{file("file-write-unlink", p), file("file-write-create", "tmp/dir")}})
	}
	for _, p := range []string{"ws/main.py", "ws/.env", "home/.ssh/id"} {
		// Another way to name a file, and one to exchange two.
		all = append(all,
			attempt{"read by number " + p, `exec 3<"$1"`, []string{byNumber(at(p))}, []sbpl.Query{file("file-read-data", p)}},
			attempt{"swap " + p, `/usr/bin/perl -e 'exit(syscall(488, -2, $ARGV[0], -2, $ARGV[1], 2) != 0)' "$1" "$2"`, []string{at(p), at("tmp/x")},
				[]sbpl.Query{file("file-write-unlink", p), file("file-write-create", p), file("file-write-unlink", "tmp/x"), file("file-write-create", "tmp/x")}})
	}
	target := "tcp:127.0.0.1:" + strconv.Itoa(port)
	return append(all,
		attempt{"connect", `/usr/bin/nc -z -w 2 127.0.0.1 "$1"`, []string{strconv.Itoa(port)}, []sbpl.Query{query("network-outbound", target)}},
		attempt{"fork", `(/usr/bin/true)`, nil, []sbpl.Query{{Operation: "process-fork"}}},
		attempt{"signal", `/bin/kill -0 "$1"`, []string{strconv.Itoa(os.Getpid())}, []sbpl.Query{query("signal", "others")}},
		attempt{"sysctl", `/usr/sbin/sysctl -n kern.osrelease >/dev/null`, nil, []sbpl.Query{query("sysctl-read", "kern.osrelease")}})
}

// TestOnMacAnswers compares what happens with what the evaluator says. Each
// attempt also runs unsandboxed, where it has to succeed.
func TestOnMacAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	for i := range attempts("/x", port) {
		root := fixture(t)
		a := attempts(root, port)[i]
		t.Run(a.name, func(t *testing.T) {
			policy, facts := compileFixture(t, root)
			requireSandbox(t, darwin.Runner{}.Check(context.Background(), policy))
			own := parse(t, policy, facts.Release())
			want := true
			for _, q := range a.queries {
				want = want && answer(t, own, q) == "allow"
			}
			argv := append([]string{"/bin/sh", "-c", a.script, "sh"}, a.args...)
			args, err := darwin.Runner{}.Args(policy, argv)
			if err != nil {
				t.Fatal(err)
			}
			run := func(args []string) (bool, string) {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir = "/"
				out, err := cmd.CombinedOutput()
				return err == nil, strings.TrimSpace(string(out))
			}
			if got, out := run(args); got != want {
				t.Errorf("succeeds: %t, evaluator says %t: %s", got, want, out)
			}
			control := fixture(t)
			if ok, out := run(append([]string{"/bin/sh", "-c", a.script, "sh"}, attempts(control, port)[i].args...)); !ok {
				t.Errorf("fails without a sandbox, so that it proves nothing: %s", out)
			}
		})
	}
}
