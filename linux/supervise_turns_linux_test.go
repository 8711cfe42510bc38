//go:build amd64

package linux_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const turnsVariable = "SKILLRUN_TEST_TURNS" // how long, and what comes in the place of a file

// TestSupervisedRaceOfMoves moves a file to a name that may be a file's and no
// directory's or link's, while a directory, or a link, keeps coming in its place.
func TestSupervisedRaceOfMoves(t *testing.T) {
	for _, kind := range []string{"directory", "link"} {
		t.Run(kind, func(t *testing.T) {
			won := func(c *cell) bool {
				_, err := os.Stat(c.ws + "/.github/workflows/evil.yml")
				return err == nil
			}
			self := []string{testBinary(t), "-test.run=^TestSupervisedMover$", "-test.v"}
			limit := raceTime(t)
			c := newCell(t)
			c.env = []string{turnsVariable + "=" + limit.String() + " " + kind}
			r := c.runWithin(limit+time.Minute, self...)
			if r.code != 0 {
				t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
			}
			if won(c) {
				t.Error("a race was won: what was moved is not what was ruled on")
			}
			if !strings.Contains(r.out, "the file moved") || !strings.Contains(r.out, "they changed places") {
				t.Errorf("nothing raced:\n%s", r.out)
			}

			control := newCell(t)
			control.env = []string{turnsVariable + "=20s " + kind}
			if r := control.bare(self...); r.code != 0 || !won(control) {
				t.Errorf("control: exit %d, not won\n%s", r.code, r.out)
			}
		})
	}
}

// TestSupervisedMover is the attacking program. It ends when it has won.
func TestSupervisedMover(t *testing.T) {
	word, kind, ok := strings.Cut(os.Getenv(turnsVariable), " ")
	if !ok {
		return
	}
	limit, err := time.ParseDuration(word)
	must(t, err)
	end := time.Now().Add(limit)
	must(t, os.MkdirAll("made/dir/workflows", 0o755))
	must(t, os.WriteFile("made/dir/workflows/evil.yml", []byte("evil"), 0o644))
	must(t, os.WriteFile("made/file", nil, 0o644))
	other := "made/dir"
	if kind == "link" {
		other = "made/link"
		must(t, os.Symlink(filepath.Dir("made/dir/workflows"), other))
	}
	changed := make(chan bool)
	go func() {
		runtime.LockOSThread()
		did := false
		for time.Now().Before(end) {
			did = unix.Renameat2(unix.AT_FDCWD, "made/file", unix.AT_FDCWD, other, unix.RENAME_EXCHANGE) == nil || did
		}
		changed <- did
	}()
	moved := false
	for time.Now().Before(end) {
		if unix.Renameat2(unix.AT_FDCWD, "made/file", unix.AT_FDCWD, ".github", unix.RENAME_NOREPLACE) != nil {
			continue
		}
		moved = true
		if _, err := os.Stat(".github/workflows/evil.yml"); err == nil {
			return
		}
		must(t, unix.Renameat2(unix.AT_FDCWD, ".github", unix.AT_FDCWD, "made/file", unix.RENAME_NOREPLACE))
	}
	if moved {
		t.Log("the file moved")
	}
	if <-changed {
		t.Log("they changed places")
	}
}
