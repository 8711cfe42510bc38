//go:build amd64

package linux_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
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
			c.profile.Paths[0].Access &^= profiles.Execute // no more than what comes there had
			c.env = []string{turnsVariable + "=" + limit.String() + " " + kind}
			r := c.runWithin(limit+time.Minute, self...)
			if r.code != 0 {
				t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
			}
			if won(c) {
				t.Error("a race was won: what was moved is not what was ruled on")
			}
			if !strings.Contains(r.out, "the file moved") || !strings.Contains(r.out, "they changed places") {
				t.Errorf("control: nothing raced:\n%s", r.out)
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
	made := os.Getenv("TMPDIR")
	file, other := made+"/file", made+"/dir"
	must(t, os.MkdirAll(other+"/workflows", 0o755))
	must(t, os.WriteFile(other+"/workflows/evil.yml", []byte("evil"), 0o644))
	must(t, os.WriteFile(file, nil, 0o644))
	if kind == "link" {
		must(t, os.Symlink(other, made+"/link"))
		other = made + "/link"
	}
	changed := make(chan bool)
	go func() {
		runtime.LockOSThread()
		did := false
		for time.Now().Before(end) {
			did = unix.Renameat2(unix.AT_FDCWD, file, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE) == nil || did
		}
		changed <- did
	}()
	moved := false
	for time.Now().Before(end) {
		if unix.Renameat2(unix.AT_FDCWD, file, unix.AT_FDCWD, ".github", unix.RENAME_NOREPLACE) != nil {
			continue
		}
		moved = true
		if _, err := os.Stat(".github/workflows/evil.yml"); err == nil {
			return
		}
		must(t, os.Remove(".github"))
		must(t, os.WriteFile(file, nil, 0o644))
	}
	if moved {
		t.Log("the file moved")
	}
	if <-changed {
		t.Log("they changed places")
	}
}

// TestSupervisedMovedCopies moves a file to the name of a directory on the way to
// control files: in the workspace another run could put one in its place.
func TestSupervisedMovedCopies(t *testing.T) {
	const moves = `
import os
def move(a, b):
    open(a, "w").write("file")
    try: os.rename(a, b)
    except OSError as e: return os.strerror(e.errno)
    return "moved"
os.makedirs("made/p")
print(move("a", "made/b"), move("a", "made/.github"), move(os.environ["TMPDIR"] + "/a", "made/p/.github"), sep=", ")
`
	c := newCell(t)
	c.profile.Paths[0].Access &^= profiles.Execute
	if r := c.run("python3", "-c", moves); r.out != "moved, Invalid cross-device link, moved\n" {
		t.Errorf("%s%s", r.out, c.explain())
	}
	if r := c.run("sh", "-c", "mkdir new; echo text >new/a; mv new/a new/.github && cat new/.github"); r.out != "text\n" {
		t.Errorf("mv: %s%s", r.out, c.explain())
	}
	if r := newCell(t).bare("python3", "-c", moves); r.out != "moved, moved, moved\n" {
		t.Errorf("control: %s", r.out)
	}
}

const makersVariable = "SKILLRUN_TEST_MAKERS"

// TestSupervisedNothingAfterClose ends a run in the midst of many calls that make
// names. The next run may have its directory as soon as the supervisor is closed.
func TestSupervisedNothingAfterClose(t *testing.T) {
	for _, call := range []string{"mknod", "open"} {
		t.Run(call, func(t *testing.T) {
			for i := range 10 {
				c := newCell(t)
				c.env = []string{makersVariable + "=" + call + " " + c.own}
				if r := c.run(testBinary(t), "-test.run=^TestSupervisedMakers$"); r.code != 0 {
					t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
				}
				count := func() int {
					entries, err := os.ReadDir(c.own)
					must(t, err)
					return len(entries)
				}
				first := count()
				if first == 0 {
					t.Fatal("nothing was made")
				}
				for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
					if now := count(); now != first {
						t.Fatalf("%d: %d names were made, and %d afterwards", i, first, now-first)
					}
				}
			}
		})
	}
}

// TestSupervisedMakers makes names until it ends in the midst of it.
func TestSupervisedMakers(t *testing.T) {
	call, dir, ok := strings.Cut(os.Getenv(makersVariable), " ")
	if !ok {
		return
	}
	made := make(chan bool, 1)
	for k := range 100 {
		go func() {
			runtime.LockOSThread()
			for i := 0; ; i++ {
				path := fmt.Sprintf("%s/%d-%d", dir, k, i)
				var err error
				if call == "mknod" {
					err = unix.Mknod(path, unix.S_IFREG|0o600, 0)
				} else {
					_, err = unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
				}
				if err == unix.ENOSYS {
					unix.Exit(1) // nobody is there to perform it
				}
				if err == nil && i == 3 {
					select {
					case made <- true:
					default:
					}
				}
			}
		}()
	}
	<-made
	unix.Exit(0)
}
