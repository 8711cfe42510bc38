package audit_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrun/audit"
	"skillrun/sandbox/sandboxtest"
)

// story writes a session with a parent run, a child run, decisions and a grant,
// at fixed times.
func story(t testing.TB) string {
	dir := t.TempDir()
	clock := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	l := open(t, dir, audit.Options{Now: func() time.Time { clock = clock.Add(time.Second); return clock }})
	a := &audit.Start{Run: "aaa", Session: "s1", Skill: audit.Skill{Name: "csv", Version: "1", Dir: "/skills/csv", Tier: "approved"},
		Argv: []string{"python3", "a b.py", "\x1b[2J\n\u202e"}, Dir: "/w", Workspace: "/w", Script: audit.File{Path: "/skills/csv/a b.py"},
		Capabilities: []audit.Capability{{Name: "web.fetch", Scope: []string{"a.example", "b.example"}, Effect: "allow", Source: "skillguard-manifest.json:3"}},
		Receipt:      []audit.Clause{{Name: "fs.read", Must: true, Strength: "kernel", Mechanism: "landlock"}, {Name: "fs.stat", Strength: "none", Note: "names of denied files can be seen"}},
		Gaps:         []string{"net.unix"}}
	appendAll(t, l,
		&audit.Decision{Session: "s1", Run: "aaa", Event: "PreToolUse", Tool: "Bash", Skill: "csv", Capability: "shell.execute", Verdict: "ask", Reason: "not declared", Needs: []audit.Need{{Capability: "web.fetch", Target: "a.example", Verdict: "allow"}}},
		&audit.Grant{Action: "grant", For: "session", Session: "s1", Run: "aaa", Skill: audit.Skill{Name: "csv"}, Capabilities: []audit.Capability{{Name: "shell.execute"}}, By: "terminal", Until: clock.AddDate(0, 0, 30)},
		a,
		&audit.Start{Run: "bbb", Parent: "aaa", Depth: 1, Session: "s1", Skill: audit.Skill{Name: "other"}, Argv: []string{"true"}},
		&audit.End{Run: "bbb", Session: "s1", Status: audit.Success, Wall: 3 * time.Millisecond},
		&audit.End{Run: "aaa", Session: "s1", Status: audit.Denied, Code: 1, Wall: 1500 * time.Millisecond, Script: audit.Digest{0xab},
			Denials: []audit.Denial{{Access: "read", Target: "/home/u/.ssh/id\n", Rule: "built-in:sensitive-paths", Class: "sensitive", Count: 3}}, MoreDenials: 2,
			Runs: []audit.Inner{{Run: "bbb", Parent: "aaa", Depth: 1}, {Run: "e\ne", Parent: "bbb", Depth: 2}}, MoreRuns: 3,
			Stdout: audit.Stream{Size: 3, SHA256: audit.Digest{1}, Text: "hi\n"}},
		&audit.Decision{Session: "s2", Event: "PreToolUse", Tool: "Read", Verdict: "deny"},
		&audit.Start{Run: "ccc", Argv: []string{"sleep", "9"}},
		&audit.End{Run: "ddd", Status: audit.Refused, Code: 125, Reason: "gap net"})
	return dir
}

func TestRecordLines(t *testing.T) {
	var got []string
	for _, r := range records(t, story(t)) {
		got = append(got, r.String())
	}
	want := []string{
		`2026-11-21 10:00:01Z #1 decision ask: Bash, shell.execute, not declared`,
		`2026-11-21 10:00:02Z #2 grant for session to csv: shell.execute (by terminal) until 2026-12-21T10:00:00Z`,
		`2026-11-21 10:00:03Z #3 start aaa csv@1: python3 'a b.py' '\x1b[2J\n\u202e'`,
		`2026-11-21 10:00:04Z #4 start bbb other: true`,
		`2026-11-21 10:00:05Z #5 end bbb success, 3ms`,
		`2026-11-21 10:00:06Z #6 end aaa denied, exit 1, 1.5s, 5 refused`,
		`2026-11-21 10:00:07Z #7 decision deny: Read`,
		`2026-11-21 10:00:08Z #8 start ccc: sleep 9`,
		`2026-11-21 10:00:09Z #9 end ddd refused, exit 125, gap net, 0s`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestExplain(t *testing.T) {
	dir := story(t)
	x, err := audit.Explain(dir, "aaa")
	check(t, err)
	want := `run          aaa
started      2026-11-21T10:00:03Z
command      python3 'a b.py' '\x1b[2J\n\u202e'
directory    /w
workspace    /w
skill        csv@1 /skills/csv
tier         approved
session      s1
script       /skills/csv/a b.py ab00000000000000000000000000000000000000000000000000000000000000
capability   allow web.fetch:a.example,b.example from skillguard-manifest.json:3
held         fs.read: kernel, landlock
held         fs.stat: none, names of denied files can be seen
gap          net.unix
decision     2026-11-21 10:00:01Z #1 decision ask: Bash, shell.execute, not declared
grant        2026-11-21 10:00:02Z #2 grant for session to csv: shell.execute (by terminal) until 2026-12-21T10:00:00Z
refused      read /home/u/.ssh/id\n (built-in:sensitive-paths) x3
started run  bbb (inside aaa, depth 1)
started run  e\ne (inside bbb, depth 2)
started run  3 more
stdout       3 bytes, sha256 0100000000000000000000000000000000000000000000000000000000000000
             hi\n
ended        2026-11-21T10:00:06Z denied, exit 1, 1.5s, 5 refused`
	if diff := cmp.Diff(want, strings.Join(x.Lines(), "\n")); diff != "" {
		t.Error(diff)
	}
	if x, err = audit.Explain(dir, "ccc"); err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"), "no record of it") {
		t.Errorf("%v %v", x, err)
	}
	if x, err = audit.Explain(dir, "bbb"); err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"), "\ninside       aaa (depth 1)\n") {
		t.Errorf("%v %v", x, err)
	}
	if x, err := audit.Explain(dir, "e\ne"); err == nil || !strings.Contains(err.Error(), `inside, "aaa"`) {
		t.Errorf("%v %v", x, err)
	}
	for _, none := range []string{"zzz", ""} {
		if x, err := audit.Explain(dir, none); err == nil && none != "" {
			t.Errorf("%q: %+v", none, x)
		}
	}
}

func TestSessions(t *testing.T) {
	list, err := audit.Sessions(story(t))
	check(t, err)
	var got []string
	for _, s := range list {
		got = append(got, s.String())
	}
	want := []string{
		"2026-11-21 10:00:01Z s1, 5s: 2 runs (1 failed, 5 refusals), decisions 0 allowed 1 asked 0 denied, 1 grants, skills csv, other",
		"2026-11-21 10:00:07Z s2, 0s: 0 runs (0 failed, 0 refusals), decisions 0 allowed 0 asked 1 denied, 0 grants, skills none",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTail(t *testing.T) {
	dir := story(t)
	for _, tt := range []struct {
		n    int
		want string
	}{
		{100, "[1 2 3 4 5 6 7 8 9]"},
		{2, "[8 9]"},
		{0, "[]"},
	} {
		list, err := audit.Tail(dir, tt.n)
		check(t, err)
		got := []uint64{}
		for _, r := range list {
			got = append(got, r.Seq)
			if r.Line != int(r.Seq) {
				t.Errorf("record %d on line %d", r.Seq, r.Line)
			}
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%+v: %v, want %s", tt, got, tt.want)
		}
	}
}

func TestFollow(t *testing.T) {
	dir := story(t)
	l := open(t, dir, audit.Options{FileSize: 1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const n = 5
	done := make(chan error, 1)
	go func() {
		for i := range n {
			if err := l.Append(&audit.Grant{Reason: fmt.Sprint(i)}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var got []string
	for r, err := range audit.Follow(ctx, dir, 9, time.Millisecond) {
		check(t, err)
		if got = append(got, r.Grant.Reason); len(got) == n {
			break
		}
	}
	if err := <-done; err != nil || fmt.Sprint(got) != "[0 1 2 3 4]" {
		t.Error(got, err)
	}
	cancel()
	for r, err := range audit.Follow(ctx, dir, 9+n-1, time.Millisecond) {
		if err != nil || r.Seq != 9+n {
			t.Error(r, err)
		}
	}
}

// Argv beyond the bound is cut at a word and accounted for; other texts are cut
// with their digest.
func TestLongTexts(t *testing.T) {
	dir := t.TempDir()
	words := make([]string, 3000)
	for i := range words {
		words[i] = strings.Repeat("w", 99)
	}
	appendAll(t, open(t, dir, audit.Options{}), &audit.Start{Argv: words}, &audit.Decision{Input: strings.Repeat("\x00", audit.MaxText+1)})
	all := records(t, dir)
	s := all[0].Start
	if len(s.Argv) != audit.MaxText/100 || s.ArgvCut == nil || s.ArgvCut.Count != 3000 || s.ArgvCut.Bytes != 300000 || s.ArgvCut.SHA256 == (audit.Digest{}) {
		t.Errorf("%d words, %+v", len(s.Argv), s.ArgvCut)
	}
	if in := all[1].Decision.Input; !strings.HasSuffix(in, "]") || !strings.Contains(in, "...[65537 bytes, sha256 ") {
		t.Errorf("%d bytes", len(in))
	}
}

// The script for third parties agrees with Verify, on whole, torn and broken
// logs.
func TestVerifyScript(t *testing.T) {
	python := sandboxtest.Program(t, "python3")
	dir := t.TempDir()
	l := open(t, dir, audit.Options{FileSize: 10000})
	script := func() (string, bool) {
		out, err := exec.Command(python, "../scripts/verify-audit.py", dir).CombinedOutput()
		return string(out), err == nil
	}
	for range 7 {
		appendAll(t, l, sample(), &audit.End{Reason: "\xff\u202e\n"})
	}
	names, _ := filepath.Glob(dir + "/*.jsonl")
	last := names[len(names)-1]
	f, err := os.OpenFile(last, os.O_APPEND|os.O_WRONLY, 0)
	check(t, err)
	_, err = f.WriteString("{\"seq\":1\n\nxx")
	check(t, err)
	f.Close()
	// What a killed writer has left is no break, now and once it is closed off.
	r := verify(t, dir)
	if out, ok := script(); !ok || !r.Whole() || len(r.Torn) != 1 {
		t.Fatalf("script: %s\nVerify: %+v", out, r)
	}
	appendAll(t, l, sample())
	r = verify(t, dir)
	if out, ok := script(); !ok || !r.Whole() || len(r.Torn) != 1 || !strings.Contains(out, fmt.Sprintf("%d records, the last is %s", r.Last, r.Hash)) {
		t.Fatalf("script: %s\nVerify: %+v", out, r)
	}
	for _, path := range names {
		b, err := os.ReadFile(path)
		check(t, err)
		for _, at := range []int{0, 10, len(b) / 2, len(b) - 1} {
			edited := append([]byte{}, b...)
			edited[at] ^= 1
			check(t, os.WriteFile(path, edited, 0o600))
			if out, ok := script(); ok || verify(t, dir).Whole() {
				t.Errorf("%s byte %d: script says %s", path, at, out)
			}
		}
		check(t, os.Truncate(path, int64(len(b)/2)))
		if out, ok := script(); ok || verify(t, dir).Whole() {
			t.Errorf("%s cut: script says %s", path, out)
		}
		check(t, os.WriteFile(path, b, 0o600))
	}
	if out, ok := script(); !ok {
		t.Fatal(out)
	}
	// A head that is not as it was written says nothing of the end.
	head := filepath.Join(dir, "audit.head")
	b, err := os.ReadFile(head)
	check(t, err)
	flipped := append([]byte{}, b...)
	flipped[len(b)-2] ^= 1
	for kind, text := range map[string][]byte{"flipped": flipped, "longer": append(b[:len(b):len(b)], 'x'), "shorter": b[:len(b)-1], "empty": {}} {
		check(t, os.WriteFile(head, text, 0o600))
		if out, ok := script(); ok || verify(t, dir).Whole() {
			t.Errorf("%s head: script says %s", kind, out)
		}
	}
	check(t, os.WriteFile(head, b, 0o600))
	if out, ok := script(); !ok {
		t.Fatal(out)
	}
	// Every record is there, in files that no writer called so.
	for kind, name := range map[string]string{"another number": "audit-000000000999.jsonl", "fewer digits": "audit-99.jsonl", "no number": "audit-x.jsonl"} {
		renamed := filepath.Join(dir, name)
		check(t, os.Rename(last, renamed))
		if out, ok := script(); ok || verify(t, dir).Whole() {
			t.Errorf("%s: script says %s", kind, out)
		}
		check(t, os.Rename(renamed, last))
		check(t, os.WriteFile(renamed, nil, 0o600))
		if out, ok := script(); ok != verify(t, dir).Whole() {
			t.Errorf("%s, empty: script says %s", kind, out)
		}
		check(t, os.Remove(renamed))
	}
	// The same bytes under another name, and what never ends.
	aside := filepath.Join(t.TempDir(), "aside")
	check(t, os.Rename(last, aside))
	for kind, put := range map[string]func() error{
		"link": func() error { return os.Symlink(aside, last) },
		"FIFO": func() error { return syscall.Mkfifo(last, 0o600) },
	} {
		check(t, put())
		if out, ok := script(); ok {
			t.Errorf("%s: script says %s", kind, out)
		}
		if r, err := audit.Verify(dir); err == nil && r.Whole() {
			t.Errorf("%s: Verify says that the log is whole", kind)
		}
		check(t, os.Remove(last))
	}
	check(t, os.Rename(aside, last))
	if out, ok := script(); !ok {
		t.Error(out)
	}
}

func FuzzReaders(f *testing.F) {
	dir, path, _ := small(f, 2) // short, since the engine takes minutes to minimize long ones
	b, err := os.ReadFile(path)
	check(f, err)
	head, err := os.ReadFile(dir + "/audit.head")
	check(f, err)
	f.Add(b, head)
	f.Add(b[:len(b)/2], head)
	f.Add([]byte("{}\n\n\x00"), []byte{})
	f.Fuzz(func(t *testing.T, log, head []byte) {
		dir := t.TempDir()
		check(t, os.WriteFile(dir+"/audit-000000000001.jsonl", log, 0o600))
		check(t, os.WriteFile(dir+"/audit.head", head, 0o600))
		before := verify(t, dir)
		for _, r := range records(t, dir) {
			if r.Damage == "" && r.Seq == 0 {
				t.Fatalf("%+v", r)
			}
			if strings.ContainsAny(r.String(), "\n\r\x1b") {
				t.Fatalf("%q", r)
			}
		}
		if _, err := audit.Sessions(dir); err != nil {
			t.Fatal(err)
		}
		// A writer goes on from anything, and the log is then no better than
		// before and ends in its record.
		l := open(t, dir, audit.Options{})
		if err := l.Append(&audit.Grant{Reason: "fuzz"}); err != nil {
			return // a head that names a file that cannot be
		}
		after, all := verify(t, dir), records(t, dir)
		if last := all[len(all)-1]; last.Grant == nil || last.Grant.Reason != "fuzz" || after.Last != last.Seq || after.Hash != last.Hash {
			t.Fatalf("the new record is not the last: %+v, %+v", last, after)
		}
		// (Without a head, a torn end cannot be told from a cut one before.)
		headless := slices.ContainsFunc(before.Breaks, func(b audit.Break) bool { return b.File == "audit.head" })
		if len(before.Breaks) > 0 && !headless && after.Whole() {
			t.Fatalf("%v is forgotten", before.Breaks)
		}
	})
}
