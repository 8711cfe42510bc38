package darwin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrun/darwin"
	"skillrun/profiles"
)

// stand writes a stand-in for sandbox-exec that ends as the real one does.
func stand(t *testing.T, script string) darwin.Runner {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sandbox-exec")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return darwin.Runner{Program: file}
}

func TestCheck(t *testing.T) {
	policy, _, _ := compileGolden(t, 0)
	tests := []struct {
		name, script string
		want         error
	}{
		{"taken", `exit 0`, nil},
		{"policy error", `echo "sandbox-exec: <input string>:3:2: unbound variable: file-graft" >&2; exit 65`, darwin.ErrPolicy},
		{"already sandboxed", `echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2; exit 71`, darwin.ErrSandboxed},
		{"another failure to apply", `echo "sandbox-exec: sandbox_apply: Cannot allocate memory" >&2; exit 71`, darwin.ErrPolicy},
		{"the program may not start", `echo "sandbox-exec: execvp() of '/usr/bin/true' failed: Operation not permitted" >&2; exit 71`, nil},
		{"the program dies", `kill -ABRT $$`, nil},
		{"no message", `exit 3`, darwin.ErrPolicy},
		{"warnings before", `echo "dyld: warning" >&2; echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2; exit 71`, darwin.ErrSandboxed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := stand(t, tt.script).Check(context.Background(), policy)
			if !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	err := darwin.Runner{Program: filepath.Join(t.TempDir(), "absent")}.Check(context.Background(), policy)
	if !errors.Is(err, darwin.ErrNoSandboxExec) {
		t.Errorf("got %v, want %v", err, darwin.ErrNoSandboxExec)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := stand(t, `exit 0`).Check(ctx, policy); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestArgs: the stand-in gets the policy, each parameter and the command
// whole, whatever they hold.
func TestArgs(t *testing.T) {
	i := slices.IndexFunc(goldens, func(g struct {
		name, about string
		change      func(*profiles.Profile, *darwin.Facts)
	}) bool {
		return g.name == "hostile"
	})
	policy, _, _ := compileGolden(t, i)
	args, err := darwin.Runner{}.Args(policy, []string{"/bin/echo", "-p", "--", "x y"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/usr/bin/sandbox-exec", "-p", policy.Source()}
	for _, v := range policy.Params() {
		want = append(want, "-D", v.Name+"="+v.Value)
	}
	want = append(want, "--", "/bin/echo", "-p", "--", "x y")
	if diff := cmp.Diff(want, args); diff != "" {
		t.Error(diff)
	}
	for _, argv := range [][]string{nil, {"echo"}, {""}, {"./x"}} {
		if _, err := (darwin.Runner{}).Args(policy, argv); err == nil {
			t.Errorf("%q is taken", argv)
		}
	}
	p, f := small(), standardFacts()
	for i := range 200 {
		p.Paths = append(p.Paths, profiles.PathRule{Path: workspace + "/" + strings.Repeat("x", 5000) + string(rune('a'+i%26)) + strings.Repeat("y", i), Access: profiles.Read})
	}
	long, err := darwin.Compile(p, f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (darwin.Runner{}).Args(long, []string{"/bin/echo"}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a policy that is too long: %v", err)
	}
}

func TestReadDenials(t *testing.T) {
	const log = `Filtering the log data using "eventMessage ENDSWITH "run-1""
{"timestamp":"2026-01-02 03:04:05","eventMessage":"Sandbox: cat(123) deny(1) file-read-data \/Users\/ann\/.ssh\/id\nrun-1"}
{"timestamp":"2026-01-02 03:04:06","eventMessage":"2 duplicate reports for Sandbox: cat(123) deny(1) file-read-data \/Users\/ann\/.ssh\/id\nrun-1"}
{"timestamp":"2026-01-02 03:04:06","eventMessage":"Sandbox: my (odd) app(7) deny(1) file-write-create \/a b\nc\nrun-1"}
{"eventMessage":"Sandbox: ls(9) deny(1) lsopen\nrun-1"}
{"eventMessage":"Sandbox: ls(9) deny(1) file-read-data \/other\nrun-2"}
{"eventMessage":"Sandbox: ls(9) allow(1) file-read-data \/x\nrun-1"}
{"eventMessage":"Sandbox: ls(x) deny(1) file-read-data \/x\nrun-1"}
{"eventMessage":"Sandbox: ls(9) deny(1) FILE \/x\nrun-1"}
{"eventMessage":"run-1"}
{"count":5,"finished":1}
`
	got, err := darwin.ReadDenials(strings.NewReader(log), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	want := []darwin.Denied{
		{Process: "cat", PID: 123, Operation: "file-read-data", Object: "/Users/ann/.ssh/id"},
		{Process: "my (odd) app", PID: 7, Operation: "file-write-create", Object: "/a b\nc"},
		{Process: "ls", PID: 9, Operation: "lsopen"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for op, access := range map[string]profiles.Access{
		"file-read-data": profiles.Read, "file-write-data": profiles.Write, "file-write-create": profiles.Create,
		"file-write-unlink": profiles.Delete, "process-exec*": profiles.Execute, "mach-lookup": 0, "file-clone": 0,
	} {
		if got := (&darwin.Denied{Operation: op}).Access(); got != access {
			t.Errorf("%s: %s, want %s", op, got, access)
		}
	}
	long := `{"eventMessage":"` + strings.Repeat("x", 3<<20) + "run-1\"}\n" + strings.Split(log, "\n")[1] + "\n"
	if got, err := darwin.ReadDenials(strings.NewReader(long), "run-1"); err != nil || len(got) != 1 {
		t.Errorf("after a line that is too long: %v, %v", got, err)
	}
	if got, _ := darwin.ReadDenials(strings.NewReader(log), ""); len(got) != 0 {
		t.Errorf("without a tag: %v", got)
	}
}

func TestLogArgs(t *testing.T) {
	got := strings.Join(darwin.LogArgs("run-1", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), " ")
	want := `/usr/bin/log show --style ndjson --info --start 2026-01-02 03:04:05 --predicate eventMessage ENDSWITH "run-1"`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDescendants(t *testing.T) {
	d := darwin.NewDescendants(darwin.Process{PID: 10, Started: 1})
	see := func(want []int, table ...darwin.Process) {
		t.Helper()
		if got := d.See(table); !slices.Equal(got, want) {
			t.Errorf("alive %v, want %v", got, want)
		}
	}
	leader := darwin.Process{PID: 10, Parent: 5, Group: 10, Started: 1}
	shell := darwin.Process{PID: 5, Parent: 1, Group: 5, Started: 1}
	see([]int{10, 12, 13}, darwin.Process{PID: 13, Parent: 12, Group: 13, Started: 3}, darwin.Process{PID: 12, Parent: 10, Group: 10, Started: 2}, leader, shell)
	// 12 has ended, and 13, which left the group, belongs to launchd.
	see([]int{10, 13}, leader, shell, darwin.Process{PID: 13, Parent: 1, Group: 13, Started: 3})
	// The leader has ended; its group still has a member.
	see([]int{13, 14}, shell, darwin.Process{PID: 13, Parent: 1, Group: 13, Started: 3}, darwin.Process{PID: 14, Parent: 1, Group: 10, Started: 4})
	// The number of 13 was given to a stranger.
	see(nil, shell, darwin.Process{PID: 13, Parent: 5, Group: 5, Started: 9})
	// So was that of the leader, and of its group.
	see(nil, darwin.Process{PID: 10, Parent: 5, Group: 10, Started: 9}, darwin.Process{PID: 15, Parent: 10, Group: 10, Started: 10})
	// A leader that was in no table when the run began is found later; a stranger of its
	// number is not.
	for parent, want := range map[int][]int{5: {10, 12}, 1: nil} {
		d = darwin.NewDescendants(darwin.Process{PID: 10, Parent: 5})
		see(nil, shell)
		leader.Parent = parent
		see(want, leader, shell, darwin.Process{PID: 12, Parent: 10, Group: 10, Started: 2})
	}
}
