package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillrun/audit"
	"skillrun/sandbox/sandboxtest"
)

func open(t testing.TB, dir string, opt audit.Options) *audit.Log {
	t.Helper()
	l, err := audit.Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func appendAll(t testing.TB, l *audit.Log, entries ...audit.Entry) {
	t.Helper()
	for _, e := range entries {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func records(t testing.TB, dir string) []*audit.Record {
	t.Helper()
	var all []*audit.Record
	for r, err := range audit.Records(dir) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func verify(t testing.TB, dir string) *audit.Report {
	t.Helper()
	r, err := audit.Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sample is a start record of ordinary size.
func sample() *audit.Start {
	s := &audit.Start{
		Run:       "k3f9a2m7qxtv",
		Session:   "s1",
		Skill:     audit.Skill{Name: "csv-report", Version: "1.2.0", Dir: "/home/u/.claude/skills/csv-report", Tier: "approved", Tree: audit.Digest{1}, Manifest: audit.Digest{2}},
		Argv:      []string{"python3", "scripts/report.py", "in put.csv"},
		Dir:       "/home/u/project",
		Workspace: "/home/u/project",
		Preset:    "standard",
		Profile:   audit.Digest{3}, Interpreter: audit.File{Path: "/usr/bin/python3.12", SHA256: audit.Digest{4}},
		Script:   audit.File{Path: "/home/u/.claude/skills/csv-report/scripts/report.py", SHA256: audit.Digest{5}},
		Launcher: "0.1.0", PID: 4711, UID: 1000,
	}
	for _, c := range []string{"filesystem.read", "filesystem.write", "source_code.execute", "process.create"} {
		s.Capabilities = append(s.Capabilities, audit.Capability{Name: c, Scope: []string{"/home/u/project"}, Effect: "allow", Source: "skillguard-manifest.json:12"})
	}
	for _, c := range strings.Fields("fs.read fs.write fs.deny fs.execute fs.control fs.metadata net net.listen net.unix proc.others proc.survive proc.create terminal env descriptors capabilities kernel fs.keep fs.stat proc.cmdline fs.load ipc.shm limit.memory limit.others") {
		s.Receipt = append(s.Receipt, audit.Clause{Name: c, Must: true, Strength: "kernel", Mechanism: "landlock, carved"})
	}
	return s
}

// draw fills a record with random values. Strings are bytes of any kind.
func draw(t *rapid.T) audit.Entry {
	text := func() string { return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes")) }
	if rapid.Bool().Draw(t, "unicode") {
		text = func() string { return rapid.StringN(0, 8, -1).Draw(t, "text") }
	}
	texts := func() []string {
		var l []string
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			l = append(l, text())
		}
		return l
	}
	number := func() int { return rapid.IntRange(-5, 1<<40).Draw(t, "number") }
	micros := func() time.Duration {
		return time.Duration(rapid.IntRange(0, 1<<30).Draw(t, "micros")) * time.Microsecond
	}
	yes := func() bool { return rapid.Bool().Draw(t, "bool") }
	digest := func() (d audit.Digest) {
		if yes() {
			copy(d[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		}
		return d
	}
	skill := func() audit.Skill {
		return audit.Skill{Name: text(), Version: text(), Dir: text(), Tier: text(), Tree: digest(), Manifest: digest()}
	}
	capabilities := func() (l []audit.Capability) {
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			l = append(l, audit.Capability{Name: text(), Scope: texts(), Effect: text(), Source: text()})
		}
		return l
	}
	stream := func() audit.Stream {
		return audit.Stream{Size: int64(number()), SHA256: digest(), Text: text(), Cut: yes()}
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		s := &audit.Start{Run: text(), Parent: text(), Depth: number(), Session: text(), Skill: skill(), Argv: append([]string{text()}, texts()...),
			Dir: text(), Workspace: text(), Preset: text(), Interpreter: audit.File{Path: text(), SHA256: digest()}, Script: audit.File{Path: text(), SHA256: digest()},
			Profile: digest(), Capabilities: capabilities(), Gaps: texts(), Launcher: text(), PID: number(), UID: number()}
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			s.Receipt = append(s.Receipt, audit.Clause{Name: text(), Must: yes(), Strength: text(), Mechanism: text(), Note: text()})
		}
		return s
	case 1:
		e := &audit.End{Run: text(), Session: text(), Status: audit.Status(text()), Code: number(), Signal: text(), Reason: text(),
			Wall: micros(), User: micros(), System: micros(), Memory: int64(number()), MoreDenials: number(), MoreControls: number(), MoreRuns: number(),
			Stdin: stream(), Stdout: stream(), Stderr: stream(), Tree: digest(), Interpreter: digest(), Script: digest()}
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			e.Denials = append(e.Denials, audit.Denial{Access: text(), Target: text(), Rule: text(), Class: text(), Count: number()})
		}
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			e.Connections = append(e.Connections, audit.Connection{Host: text(), Addr: text(), Port: number(), Protocol: text(), Door: text(),
				TLSName: text(), HTTPHost: text(), Verdict: text(), Rule: text(), Count: number(), Sent: int64(number()), Received: int64(number())})
		}
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			e.Runs = append(e.Runs, audit.Inner{Run: text(), Parent: text(), Depth: number()})
		}
		return e
	case 2:
		d := &audit.Decision{Session: text(), Run: text(), Event: text(), Tool: text(), Skill: text(), Capability: text(), Verdict: text(),
			Reason: text(), Source: text(), Input: text(), Scanned: yes(), Took: micros()}
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			d.Needs = append(d.Needs, audit.Need{Capability: text(), Target: text(), Exact: yes(), Verdict: text(), Reason: text(), Source: text()})
		}
		return d
	}
	g := &audit.Grant{Action: text(), For: text(), Session: text(), Run: text(), Skill: skill(), Capabilities: capabilities(), By: text(), Reason: text()}
	if yes() {
		g.Until = time.UnixMicro(int64(rapid.IntRange(0, 1<<50).Draw(t, "until"))).UTC()
	}
	return g
}

func entry(r *audit.Record) audit.Entry {
	switch {
	case r.Start != nil:
		return r.Start
	case r.End != nil:
		return r.End
	case r.Decision != nil:
		return r.Decision
	case r.Grant != nil:
		return r.Grant
	}
	return r.Repair
}

// The encoder is written by hand: what it writes, encoding/json must read back
// as the same value, for any bytes.
func TestRecordsComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := filepath.Join(t.TempDir(), "audit")
		l, err := audit.Open(dir, audit.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer l.Close()
		var want []audit.Entry
		for range rapid.IntRange(1, 4).Draw(rt, "records") {
			want = append(want, draw(rt))
		}
		if err := l.Append(want...); err != nil {
			rt.Fatal(err)
		}
		var got []audit.Entry
		for r, err := range audit.Records(dir) {
			if err != nil || r.Damage != "" {
				rt.Fatalf("%v %s\n%s", err, r.Damage, r.Raw)
			}
			for _, c := range string(r.Raw) {
				if unicode.IsControl(c) {
					rt.Fatalf("control character %q in %q", c, r.Raw)
				}
			}
			got = append(got, entry(r))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "audit")
	appendAll(t, open(t, dir, audit.Options{}), sample())
	for path, want := range map[string]os.FileMode{
		"": os.ModeDir | 0o700, "audit.head": 0o600, "audit-000000000001.jsonl": 0o600,
	} {
		st, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode() != want {
			t.Errorf("%q has mode %v, want %v", path, st.Mode(), want)
		}
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, audit.Options{FileSize: 10000})
	for range 20 {
		appendAll(t, l, sample())
	}
	r := verify(t, dir)
	if !r.Whole() || r.Records != 20 || r.Files < 5 {
		t.Fatalf("%+v", r)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(names) != r.Files {
		t.Fatal(names, err)
	}
	for i, rec := range records(t, dir) {
		if rec.Seq != uint64(i+1) {
			t.Fatalf("record %d has number %d", i+1, rec.Seq)
		}
	}
	// A file that is gone is named by what follows it.
	if err := os.Remove(names[1]); err != nil {
		t.Fatal(err)
	}
	r = verify(t, dir)
	if r.Whole() || r.Breaks[0].File != filepath.Base(names[2]) || r.Breaks[0].Line != 1 || !strings.Contains(r.Breaks[0].What, "missing") {
		t.Fatalf("%+v", r.Breaks)
	}
}

// A directory that cannot be trusted or written is refused; the same directory
// without the fault is taken.
func TestRefusedDirectories(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  string
	}{
		{"sound", nil, ""},
		{"group can write", func(t *testing.T, dir string) { check(t, os.Chmod(dir, 0o770)) }, "written by others"},
		{"others can write", func(t *testing.T, dir string) { check(t, os.Chmod(dir, 0o707)) }, "written by others"},
		{"symbolic link", func(t *testing.T, dir string) {
			check(t, os.Rename(dir, dir+".real"))
			check(t, os.Symlink(dir+".real", dir))
		}, "symbolic link"},
		{"a file", func(t *testing.T, dir string) {
			check(t, os.RemoveAll(dir))
			check(t, os.WriteFile(dir, nil, 0o600))
		}, "not a directory"},
		{"head is a link", func(t *testing.T, dir string) {
			check(t, os.Rename(dir+"/audit.head", dir+".head"))
			check(t, os.Symlink(dir+".head", dir+"/audit.head"))
		}, "symbolic link"},
		{"head others can write", func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/audit.head", 0o606)) }, "written by others"},
		{"log is a link", func(t *testing.T, dir string) {
			check(t, os.Rename(dir+"/audit-000000000001.jsonl", dir+".log"))
			check(t, os.Symlink(dir+".log", dir+"/audit-000000000001.jsonl"))
		}, "symbolic link"},
		{"log has two names", func(t *testing.T, dir string) {
			check(t, os.Link(dir+"/audit-000000000001.jsonl", dir+".log"))
		}, "second name"},
		{"log is a directory", func(t *testing.T, dir string) {
			check(t, os.Remove(dir+"/audit-000000000001.jsonl"))
			check(t, os.Mkdir(dir+"/audit-000000000001.jsonl", 0o700))
		}, "is a directory"},
		{"log is a fifo", func(t *testing.T, dir string) {
			check(t, os.Remove(dir+"/audit-000000000001.jsonl"))
			check(t, mkfifo(dir+"/audit-000000000001.jsonl"))
		}, "not a regular file"},
		{"foreign directory", func(t *testing.T, dir string) { chown(t, dir) }, "belongs to uid"},
		{"foreign head", func(t *testing.T, dir string) { chown(t, dir+"/audit.head") }, "belongs to uid"},
		{"foreign log", func(t *testing.T, dir string) { chown(t, dir+"/audit-000000000001.jsonl") }, "belongs to uid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "audit")
			l := open(t, dir, audit.Options{})
			appendAll(t, l, sample())
			if tt.spoil != nil {
				tt.spoil(t, dir)
			}
			l, err := audit.Open(dir, audit.Options{})
			if err == nil {
				defer l.Close()
				err = l.Append(sample())
			}
			switch {
			case tt.want == "" && err != nil:
				t.Fatal(err)
			case tt.want != "" && err == nil:
				t.Fatal("taken")
			case tt.want != "" && !strings.Contains(err.Error(), tt.want):
				t.Fatalf("error %q does not say %q", err, tt.want)
			}
		})
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// chown gives path to another user, which takes root.
func chown(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		sandboxtest.Skip(t, sandboxtest.Root, "only root can make a file of another user; audit/private tests the check as any user")
	}
	check(t, os.Lchown(path, 12345, 12345))
}

func BenchmarkAppend(b *testing.B) {
	l := open(b, b.TempDir(), audit.Options{})
	s := sample()
	for b.Loop() {
		if err := l.Append(s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenAppend is what a launch pays.
func BenchmarkOpenAppend(b *testing.B) {
	dir := b.TempDir()
	s := sample()
	for b.Loop() {
		l, err := audit.Open(dir, audit.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Append(s); err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}

// A file too large to have been written here is neither read nor written.
func TestTooLargeFile(t *testing.T) {
	dir := t.TempDir()
	appendAll(t, open(t, dir, audit.Options{}), sample())
	path := filepath.Join(dir, "audit-000000000001.jsonl")
	was, err := os.Stat(path)
	check(t, err)
	check(t, os.Truncate(path, 1<<40))
	if err := open(t, dir, audit.Options{}).Append(sample()); err == nil || !strings.Contains(err.Error(), "1099511627776 bytes are too many for a log file") {
		t.Errorf("%v", err)
	}
	check(t, os.Truncate(path, was.Size()))
	appendAll(t, open(t, dir, audit.Options{}), sample())
}
