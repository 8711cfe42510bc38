package audit_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"skillrun/audit"
)

// The test binary is also the processes that the tests need.
func TestMain(m *testing.M) {
	switch os.Getenv("AUDIT_TEST_ROLE") {
	case "writer":
		writer()
		os.Exit(0)
	case "full", "full-ends", "read-only":
		os.Exit(mounted(os.Getenv("AUDIT_TEST_ROLE")))
	}
	os.Exit(m.Run())
}

func role(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "AUDIT_TEST_ROLE="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// writer DIR NAME COUNT appends records and says on stdout when each is in.
func writer() {
	dir, name := os.Args[1], os.Args[2]
	count, _ := strconv.Atoi(os.Args[3])
	for i := range count {
		l, err := audit.Open(dir, audit.Options{FileSize: fileSize})
		if err == nil {
			e := sample()
			e.Run = fmt.Sprintf("%s-%d", name, i)
			err = l.Append(e)
			l.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

func TestConcurrentProcesses(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 6, 40
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			if out, err := role("writer", dir, fmt.Sprint("w", w), fmt.Sprint(each)).Output(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Go(func() { // a reader meanwhile sees a whole log, however long
		for range 20 {
			if r := verify(t, dir); !r.Whole() {
				t.Errorf("while it is written: %+v", r.Breaks)
				return
			}
		}
	})
	wg.Wait()
	r := verify(t, dir)
	if !r.Whole() || len(r.Torn) != 0 || r.Records != writers*each || r.Files < 2 {
		t.Fatalf("%+v", r)
	}
	next := map[string]int{}
	for _, rec := range records(t, dir) {
		name, number, _ := strings.Cut(rec.Start.Run, "-")
		if number != fmt.Sprint(next[name]) {
			t.Fatalf("%s comes after %d of its records", rec.Start.Run, next[name])
		}
		next[name]++
	}
}

// A reader that comes while a log begins sees none or a whole one.
func TestVerifyWhileALogBegins(t *testing.T) {
	for range 400 {
		dir := t.TempDir()
		appended := make(chan error, 1)
		go func() {
			l, err := audit.Open(dir, audit.Options{})
			if err == nil {
				err = l.Append(sample())
				l.Close()
			}
			appended <- err
		}()
		for last := false; !last; {
			select {
			case err := <-appended:
				check(t, err)
				last = true
			default:
			}
			r := verify(t, dir)
			if !r.Whole() || last && r.Records != 1 {
				t.Fatalf("%d records, %+v", r.Records, r.Breaks)
			}
		}
	}
}

// fileSize is that of every writer here.
const fileSize = 100_000

// Writers killed at any moment break nothing, and no record that was
// acknowledged is lost.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	const rounds = 25
	for round := range rounds {
		name := fmt.Sprint("k", round)
		var cmds []*exec.Cmd
		var outs []*bufio.Scanner
		for range 2 {
			cmd := role("writer", dir, name+string(rune('a'+len(cmds))), "1000000")
			out, err := cmd.StdoutPipe()
			check(t, err)
			check(t, cmd.Start())
			cmds, outs = append(cmds, cmd), append(outs, bufio.NewScanner(out))
		}
		for i, out := range outs {
			for range rand.IntN(20) {
				if !out.Scan() {
					t.Fatal("the writer ended")
				}
				acknowledged[fmt.Sprintf("%s%c-%s", name, 'a'+i, out.Text())] = true
			}
			check(t, cmds[i].Process.Kill())
			for out.Scan() {
				n, err := strconv.Atoi(out.Text())
				check(t, err)
				acknowledged[fmt.Sprintf("%s%c-%d", name, 'a'+i, n)] = true
			}
			cmds[i].Wait()
		}
	}
	appendAll(t, open(t, dir, audit.Options{FileSize: fileSize}), sample()) // a writer of another size would not look into the last one's next file
	r := verify(t, dir)
	if !r.Whole() {
		t.Fatalf("%+v", r.Breaks)
	}
	for _, rec := range records(t, dir) {
		run, _ := rec.IDs()
		delete(acknowledged, run)
	}
	if len(acknowledged) > 0 {
		t.Errorf("lost: %v", acknowledged)
	}
	t.Logf("%d records, %d torn ends, %d processes killed", r.Records, len(r.Torn), 2*rounds)
}
