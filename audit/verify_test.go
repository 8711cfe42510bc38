package audit_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skillrun/audit"
)

// small makes a log of n short records and gives its only file and lines.
func small(t testing.TB, n int) (dir, path string, lines [][]byte) {
	t.Helper()
	dir = t.TempDir()
	l := open(t, dir, audit.Options{Now: func() time.Time { return time.Unix(1e9, 0) }})
	for i := range n {
		appendAll(t, l, &audit.End{Run: fmt.Sprint("run", i), Status: audit.Success})
	}
	path = filepath.Join(dir, "audit-000000000001.jsonl")
	b, err := os.ReadFile(path)
	check(t, err)
	return dir, path, bytes.SplitAfter(b, []byte("\n"))[:n]
}

// first checks that the first break is on the line.
func first(r *audit.Report, line int) error {
	if r.Whole() {
		return fmt.Errorf("not found")
	}
	if r.Breaks[0].Line != line {
		return fmt.Errorf("first break is %v, want line %d", r.Breaks[0], line)
	}
	return nil
}

// Every single byte of a log of three records, changed to each of some others,
// is found, and the line named.
func TestEveryByteCounts(t *testing.T) {
	dir, path, lines := small(t, 3)
	whole := bytes.Join(lines, nil)
	line := 1
	for i, c := range whole {
		for _, d := range []byte{c ^ 1, c ^ 0x20, c ^ 0x80, '\n', 0} {
			if d == c {
				continue
			}
			b := bytes.Clone(whole)
			b[i] = d
			check(t, os.WriteFile(path, b, 0o600))
			if err := first(verify(t, dir), line); err != nil {
				t.Fatalf("byte %d, %q -> %q: %v", i, c, d, err)
			}
		}
		if c == '\n' {
			line++
		}
	}
	check(t, os.WriteFile(path, whole, 0o600))
	if r := verify(t, dir); !r.Whole() || r.Records != 3 {
		t.Fatalf("the untouched log: %+v", r)
	}
}

// Any edit of whole lines is found and named: removal, repetition, exchange,
// and lines of another log.
func TestEveryLineCounts(t *testing.T) {
	const n = 12
	dir, path, lines := small(t, n)
	rapid.Check(t, func(rt *rapid.T) {
		edited := append([][]byte{}, lines...)
		i := rapid.IntRange(0, n-1).Draw(rt, "i")
		want := i + 1
		switch rapid.SampledFrom([]string{"remove", "repeat", "exchange", "insert", "join"}).Draw(rt, "edit") {
		case "remove":
			edited = append(edited[:i], edited[i+1:]...)
			if i == n-1 {
				want = 0 // the head file knows
			}
		case "repeat":
			edited = append(edited[:i+1], append([][]byte{lines[i]}, edited[i+1:]...)...)
			want = i + 2
		case "exchange":
			j := rapid.IntRange(0, n-2).Draw(rt, "j")
			if j >= i {
				j++
			}
			edited[i], edited[j] = edited[j], edited[i]
			want = min(i, j) + 1
		case "insert":
			edited = append(edited[:i], append([][]byte{[]byte("{}\n")}, edited[i:]...)...)
		case "join":
			edited[i] = bytes.TrimSuffix(bytes.Clone(edited[i]), []byte("\n"))
		}
		check(t, os.WriteFile(path, bytes.Join(edited, nil), 0o600))
		if err := first(verify(t, dir), want); err != nil {
			rt.Fatal(err)
		}
	})
}

// A record that was rewritten with a hash that fits it is named too, although
// only the one after it can tell, or of the last the head.
func TestReplacedRecord(t *testing.T) {
	dir, path, lines := small(t, 5)
	other := t.TempDir()
	l := open(t, other, audit.Options{})
	for i := range 5 {
		appendAll(t, l, &audit.End{Run: fmt.Sprint("other", i), Status: audit.Success})
	}
	b, err := os.ReadFile(filepath.Join(other, "audit-000000000001.jsonl"))
	check(t, err)
	foreign := bytes.SplitAfter(b, []byte("\n"))
	for _, i := range []int{0, 4} {
		edited := append([][]byte{}, lines...)
		edited[i] = foreign[i]
		check(t, os.WriteFile(path, bytes.Join(edited, nil), 0o600))
		r := verify(t, dir)
		if r.Whole() || !strings.Contains(r.Breaks[0].What, "replaced") && r.Breaks[0].Line != i {
			t.Errorf("record %d: %+v", i+1, r.Breaks)
		}
	}
	edited, _, _ := small(t, 4)
	appendAll(t, open(t, edited, audit.Options{Now: func() time.Time { return time.Unix(1e9, 0) }}), &audit.End{Run: "other", Status: audit.Success})
	if b, err = os.ReadFile(filepath.Join(edited, filepath.Base(path))); err != nil || !bytes.HasPrefix(b, bytes.Join(lines[:4], nil)) {
		t.Fatal("control: the first four records differ: ", err)
	}
	check(t, os.WriteFile(path, b, 0o600))
	if r := verify(t, dir); len(r.Breaks) != 1 || r.Breaks[0].Line != 5 || !strings.Contains(r.Breaks[0].What, "replaced") {
		t.Errorf("the last record: %+v", r.Breaks)
	}
}

// A file under another name than its first record gives it is named.
func TestRenamedFile(t *testing.T) {
	dir, path, _ := small(t, 3)
	check(t, os.Rename(path, filepath.Join(dir, "audit-000000000002.jsonl")))
	if r := verify(t, dir); len(r.Breaks) != 1 || !strings.Contains(r.Breaks[0].What, "its name says 2") {
		t.Errorf("%+v", r.Breaks)
	}
}

// A cut end is known from the head, at every length.
func TestCutEnd(t *testing.T) {
	dir, path, lines := small(t, 3)
	whole := bytes.Join(lines, nil)
	for n := range whole {
		check(t, os.WriteFile(path, whole[:n], 0o600))
		if verify(t, dir).Whole() {
			t.Fatalf("cut at byte %d of %d is not found", n, len(whole))
		}
	}
	// The next writer says so in the log, and it stays found.
	for _, n := range []int{0, 10, len(lines[0]), len(whole) - 2} {
		dir, path, _ := small(t, 3)
		check(t, os.Truncate(path, int64(n)))
		appendAll(t, open(t, dir, audit.Options{}), sample())
		all := records(t, dir)
		r := all[len(all)-2].Repair
		if r == nil || r.Found != "cut" || r.LastSeq != 3 || r.Bytes != int64(len(whole)-n) {
			t.Fatalf("cut at byte %d: repair is %+v", n, r)
		}
		if v := verify(t, dir); v.Whole() {
			t.Fatalf("cut at byte %d is not found after the next record", n)
		}
	}
	check(t, os.Remove(path))
	if verify(t, dir).Whole() {
		t.Fatal("a removed file is not found")
	}
}

// What a killed writer leaves is closed off by the next one and told from
// damage: at every length of the torn record.
func TestTornEnd(t *testing.T) {
	_, _, lines := small(t, 3)
	for n := 1; n < len(lines[2]); n++ {
		dir, path, _ := small(t, 2)
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		check(t, err)
		_, err = f.Write(lines[2][:n])
		check(t, err)
		f.Close()
		if r := verify(t, dir); !r.Whole() || len(r.Torn) != 1 {
			t.Fatalf("torn at byte %d, before repair: %+v", n, r)
		}
		appendAll(t, open(t, dir, audit.Options{}), sample())
		r := verify(t, dir)
		if n == len(lines[2])-1 { // only its newline is missing: it counts
			if !r.Whole() || len(r.Torn) != 0 || r.Records != 4 {
				t.Fatalf("torn before the newline: %+v", r)
			}
			break
		}
		if !r.Whole() || len(r.Torn) != 1 || r.Torn[0].Line != 3 || r.Records != 4 {
			t.Fatalf("torn at byte %d: %+v", n, r)
		}
		// The torn bytes are covered by the record that closes them off.
		b, err := os.ReadFile(path)
		check(t, err)
		b[len(lines[0])+len(lines[1])] ^= 1
		check(t, os.WriteFile(path, b, 0o600))
		if err := first(verify(t, dir), 3); err != nil {
			t.Fatal(err)
		}
	}
}

// A writer that was killed between its write and that of the head left a whole
// record: it counts.
func TestHeadBehind(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, audit.Options{})
	appendAll(t, l, sample())
	old, err := os.ReadFile(dir + "/audit.head")
	check(t, err)
	appendAll(t, l, sample(), sample())
	check(t, os.WriteFile(dir+"/audit.head", old, 0o600))
	if r := verify(t, dir); !r.Whole() || r.Records != 3 {
		t.Fatalf("%+v", r)
	}
	appendAll(t, l, sample())
	if r := verify(t, dir); !r.Whole() || r.Records != 4 || len(r.Torn) != 0 {
		t.Fatalf("%+v", r)
	}
}

func logs(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(dir + "/*.jsonl")
	check(t, err)
	return names
}

// Writers that are killed one after the other, each within its write or between
// that and the head's, break nothing and lose nothing that was acknowledged.
func TestKilledInARow(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		check(t, err)
		opt := audit.Options{FileSize: rapid.Int64Range(1, 4000).Draw(rt, "file size")}
		acknowledged := map[string]bool{}
		for i := range rapid.IntRange(1, 12).Draw(rt, "writers") {
			head, _ := os.ReadFile(dir + "/audit.head")
			before := map[string]int{}
			for _, name := range logs(t, dir) {
				b, err := os.ReadFile(name)
				check(t, err)
				before[name] = len(b)
			}
			l := open(t, dir, opt)
			e := sample()
			e.Run = fmt.Sprint(i)
			err := l.Append(e, sample())
			check(t, err)
			l.Close()
			switch rapid.SampledFrom([]string{"", "in the write", "before the head"}).Draw(rt, "killed") {
			case "":
				acknowledged[e.Run] = true
				continue
			case "in the write":
				for _, name := range logs(t, dir) {
					b, err := os.ReadFile(name)
					check(t, err)
					if n := len(b) - before[name]; n > 0 {
						check(t, os.Truncate(name, int64(before[name]+rapid.IntRange(0, n).Draw(rt, "written"))))
					}
				}
			}
			check(t, os.WriteFile(dir+"/audit.head", head, 0o600))
			if r := verify(t, dir); !r.Whole() && len(head) > 0 {
				rt.Fatalf("after writer %d: %+v", i, r)
			}
		}
		appendAll(t, open(t, dir, opt), sample())
		if r := verify(t, dir); !r.Whole() {
			rt.Fatalf("%+v", r)
		}
		for _, r := range records(t, dir) {
			run, _ := r.IDs()
			delete(acknowledged, run)
		}
		if len(acknowledged) > 0 {
			rt.Fatalf("lost: %v", acknowledged)
		}
	})
}

func TestHeadLost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(path string) error
	}{
		{"removed", os.Remove},
		{"emptied", func(p string) error { return os.Truncate(p, 0) }},
		{"overwritten", func(p string) error { return os.WriteFile(p, []byte("skillrun-audit 1 0"), 0o600) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir, audit.Options{FileSize: 8000})
			appendAll(t, l, sample(), sample(), sample())
			check(t, tt.spoil(dir+"/audit.head"))
			if r := verify(t, dir); len(r.Breaks) != 1 || r.Breaks[0].File != "audit.head" {
				t.Fatalf("%+v", r)
			}
			appendAll(t, l, sample()) // through the old descriptor
			all := records(t, dir)
			if r := all[3].Repair; r == nil || r.Found != "no-head" {
				t.Fatalf("%+v", all[3])
			}
			if r := verify(t, dir); !r.Whole() || r.Records != 5 {
				t.Fatalf("%+v", r)
			}
		})
	}
}

// An edited end of the same length, even without its newline, does not swallow
// the next record.
func TestWriterAfterEditedEnd(t *testing.T) {
	dir, path, lines := small(t, 2)
	b := bytes.Join(lines, nil)
	b[len(b)-1] = 'x'
	check(t, os.WriteFile(path, b, 0o600))
	check(t, open(t, dir, audit.Options{}).Append(sample()))
	r, all := verify(t, dir), records(t, dir)
	if last := all[len(all)-1]; first(r, 2) != nil || last.Start == nil || r.Last != last.Seq {
		t.Fatalf("%v, %+v, %+v", first(r, 2), last, r)
	}
}
