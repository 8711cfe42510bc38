package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skillrun/sandbox/sandboxtest"
)

// Many launches at a time, and many whose launcher is killed at some moment or
// other, leave nothing: no process, no mount, no directory, no control group, no
// file that is neither record nor cache, no broken chain.
func TestStorm(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	kills := 24
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		kills = n
	}
	launches := 2 * kills
	if os.Getenv("E2E") != "" {
		launches = 1000
	}
	const atOnce = 8
	dir, env := home(t)
	marker := fmt.Sprintf("storm-%016x", rand.Uint64())
	script := []string{"sh", "-c", `(setsid sh -c 'sleep 1000; :' $0 >/dev/null 2>&1 &); echo did`, marker}
	launch := func(flags ...string) *exec.Cmd {
		cmd := exec.Command(program(t), append(append(flags, "--"), script...)...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	// The control: the daemon outlives what does not end it.
	if err := exec.Command(script[0], script[1:]...).Run(); err != nil {
		t.Fatal(err)
	}
	// A program that is just being executed has no arguments to show.
	var survivors []string
	for deadline := time.Now().Add(time.Minute); len(survivors) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the daemon is no daemon without skillrun either")
		}
		survivors = withArgument(t, marker)
	}
	for _, s := range survivors {
		pid, err := strconv.Atoi(s[:strings.IndexByte(s, ' ')])
		if err != nil {
			t.Fatal(err)
		}
		syscall.Kill(-pid, syscall.SIGKILL)
		syscall.Kill(pid, syscall.SIGKILL)
	}
	begin := time.Now()
	for range 3 {
		if out, err := launch().CombinedOutput(); err != nil || string(out) != "did\n" {
			t.Fatalf("a launch: %v: %s", err, out)
		}
	}
	usual := time.Since(begin) / 3

	// The kills come among the launches, at moments from the first to some after
	// the usual end.
	work := make(chan func())
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for f := range work {
				f()
			}
		})
	}
	finished := 3
	var mu sync.Mutex
	for i := range launches + kills {
		var flags []string
		if i%4 == 0 {
			flags = []string{"--memory", "2GiB"} // not the preset's: in a control group, where one can be made
		}
		if i*kills/(launches+kills) == (i+1)*kills/(launches+kills) {
			work <- func() {
				out, err := launch(flags...).CombinedOutput()
				if err != nil || string(out) != "did\n" {
					t.Errorf("a launch among others: %v: %s", err, out)
				}
				mu.Lock()
				finished++
				mu.Unlock()
			}
			continue
		}
		work <- func() {
			cmd := launch(flags...)
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			end := time.AfterFunc(rand.N(atOnce*usual), func() { cmd.Process.Kill() })
			cmd.Wait()
			end.Stop()
		}
	}
	close(work)
	workers.Wait()

	for deadline := time.Now().Add(time.Minute); ; {
		left := withArgument(t, marker)
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("processes left: %q", left)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || bytes.Contains(mounts, []byte("/skillrun-")) {
		t.Errorf("mounts left: %v\n%s", err, mounts)
	}
	// The next run removes what the killed ones left. Directories of others,
	// which run just now, come and go.
	var left map[string]bool
	for deadline := time.Now().Add(time.Minute); left == nil || len(left) > 0 && time.Now().Before(deadline); {
		if out, err := launch().CombinedOutput(); err != nil {
			t.Fatalf("the next run: %v: %s", err, out)
		}
		finished++
		free := unlocked(t)
		for _, group := range groups(t) {
			free[group] = true
		}
		for name := range left {
			if !free[name] {
				delete(left, name)
			}
		}
		if left == nil {
			left = free
		}
	}
	if len(left) > 0 {
		t.Errorf("directories or control groups left: %v", left)
	}

	verify := exec.Command(program(t), "audit", "verify")
	verify.Env = env
	if out, err := verify.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "whole: ") {
		t.Errorf("audit verify: %v: %s", err, out)
	}
	state := filepath.Join(filepath.Dir(dir), "state", "skillrun")
	starts, ends := 0, 0
	err = filepath.WalkDir(state, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(state, path)
		switch {
		case strings.HasPrefix(rel, "audit-"):
			b, err := os.ReadFile(path)
			starts += bytes.Count(b, []byte(`"kind":"run.start"`))
			ends += bytes.Count(b, []byte(`"kind":"run.end"`))
			return err
		case rel == "audit.head" || rel == "digests" || rel == "written" || rel == "live" || rel == "lists" || filepath.Dir(rel) == "memo" && len(filepath.Base(rel)) == 32:
		default:
			t.Errorf("%s left in the state directory", rel)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if ends < finished || starts < ends || starts > finished+kills {
		t.Errorf("%d runs were started and %d ended on record; %d came to their end, %d were killed", starts, ends, finished, kills)
	}
	t.Logf("%d launches, %d killed, of which %d had started and %d had come to their end", finished, kills, starts-finished, ends-finished)
}

// withArgument gives the processes that have a word among their arguments.
func withArgument(t *testing.T, word string) (lines []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && bytes.Contains(b, []byte(word)) {
			lines = append(lines, e.Name()+" "+strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return lines
}

// unlocked gives the directories of this user's runs that no run holds, but those
// that wait for one.
func unlocked(t *testing.T) map[string]bool {
	t.Helper()
	free := map[string]bool{}
	dirs, err := filepath.Glob("/tmp/skillrun-" + strconv.Itoa(os.Getuid()) + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		var st syscall.Stat_t
		if syscall.Flock(fd, syscall.LOCK_SH|syscall.LOCK_NB) == nil && syscall.Fstat(fd, &st) == nil && st.Mode&syscall.S_ISVTX == 0 {
			free[dir] = true
		}
		syscall.Close(fd)
	}
	return free
}

// groups gives the control groups of runs whose directory is gone.
func groups(t *testing.T) (gone []string) {
	t.Helper()
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // other groups come and go
		}
		if id, ok := strings.CutPrefix(d.Name(), "skillrun-"); ok && len(id) == 12 {
			if found, _ := filepath.Glob("/tmp/skillrun-*/" + id); len(found) == 0 {
				gone = append(gone, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return gone
}
