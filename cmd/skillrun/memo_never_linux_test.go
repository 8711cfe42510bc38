package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"skillrun/linux"
)

// Whatever users and runs did to a workspace meanwhile, a launch that may use an
// earlier one's plan gives what one that knows nothing gives. RANDOM_TIME is how
// long to try, RANDOM_SEED the first sequence.
func TestMemoNeverDiffers(t *testing.T) {
	t.Parallel()
	modes := []string{"off"}
	if linux.ProbeDeep().Namespaces {
		modes = append(modes, "on")
	}
	long, _ := time.ParseDuration(os.Getenv("RANDOM_TIME"))
	seed, err := strconv.ParseUint(os.Getenv("RANDOM_SEED"), 10, 64)
	if err != nil {
		if seed = 40; long > 0 {
			seed = uint64(time.Now().UnixNano())
		}
	}
	end := time.Now().Add(long)
	launches, used, closed := 0, 0, 0
	for first := seed; seed < first+3 || time.Now().Before(end); seed++ {
		r := rand.New(rand.NewPCG(seed, 0))
		l := newLaunches(t)
		l.args = []string{"--namespaces", modes[r.IntN(len(modes))]}
		if r.IntN(3) == 0 { // else a run of no skill reads only
			l.args = append(l.args, "--grant", "filesystem.delete")
		}
		var done []string
		for round := range 6 {
			change := randomChange(r, round)
			if round == 0 {
				change = "mkdir -p a/b c ../o; for d in . a a/b c; do echo $d >$d/f; echo $d >$d/g; done; echo s >.env; ln .env ../o/f; echo o >../o/g"
			}
			done = append(done, change)
			if r.IntN(3) == 0 {
				l.sh(change)
			} else {
				sh := exec.Command("sh", "-c", change)
				sh.Dir = l.dir
				sh.Run()
			}
			if r.IntN(16) == 0 {
				time.Sleep(2100 * time.Millisecond) // changes are settled
			}
			const show = `grep -Rs "" . | sort`
			kept := l.memos()
			with, _ := l.sh(show)
			if kept != "" && kept == l.memos() {
				used++
			}
			fresh := *l
			fresh.env = append(slices.Clone(l.env), fmt.Sprintf("XDG_STATE_HOME=%s/fresh%d", l.root(), round))
			without, _ := fresh.sh(show)
			if with != without {
				t.Fatalf("RANDOM_SEED=%d (%v) after\n%s\nwith what was kept:\n%s\nwithout:\n%s", seed, l.args, strings.Join(done, "\n"), with, without)
			}
			bare := exec.Command("sh", "-c", show)
			bare.Dir, bare.Env = l.dir, l.env
			if out, _ := bare.Output(); string(out) != with {
				closed++
			}
			launches++
		}
	}
	t.Logf("%d launches, %d with an earlier plan, %d with something closed", launches, used, closed)
	if used == 0 || closed == 0 {
		t.Error("this shows nothing")
	}
}

// randomChange is a shell command that changes something of a small tree.
func randomChange(r *rand.Rand, round int) string {
	dirs := []string{".", "a", "a/b", "c"}
	files := []string{".env", ".env.local", "f", "g", "id_rsa", "x.pem", ".npmrc"}
	dir := func() string { return dirs[r.IntN(len(dirs))] }
	file := func() string { return filepath.Join(dir(), files[r.IntN(len(files))]) }
	write := fmt.Sprintf("echo 'word %d' >%s", round, file())
	changes := []func() string{
		func() string { return write },
		func() string { return "mkdir -p a/b c; " + write },
		func() string { return "mv " + file() + " " + file() },
		func() string { return "mv -T " + dir() + " " + dir() },
		func() string { return "ln -f " + file() + " " + file() },
		func() string { return "ln -sfT " + file() + " " + file() },
		func() string { return "ln -sfn " + dir() + " " + dir() },
		func() string { return "cp -p " + file() + " " + file() },
		func() string { return "rm -f " + file() },
		func() string { d := dir(); return "mv -T " + d + " ../d; mv -T ../o " + d + "; mv -T ../d ../o" }, // with what has another's name
		func() string { return "rm -rf ./" + dir() + "/" + []string{"b", "c"}[r.IntN(2)] },
		func() string { f := file(); return "f=" + f + "; mv $f $f.old && mv $f.old $f" },
		func() string { return "touch -d 2020-01-01 " + file() + " " + dir() },
		func() string { return fmt.Sprintf("chmod %o %s", []int{0o755, 0o700, 0o711}[r.IntN(3)], dir()) },
		func() string { d := dir(); return "cp -a " + d + " new && rm -rf ./" + d + "/* && mv new " + d },
	}
	if r.IntN(3) == 0 {
		return write
	}
	return changes[r.IntN(len(changes))]()
}
