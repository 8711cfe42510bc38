package linux_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/linux"
)

const floodVariable = "SKILLRUN_TEST_FLOOD"

// What a flood consists of. Each thread has a call under way all the time, and
// the supervisor serves one after the other: more come than it can serve for as
// long as it lasts.
const (
	floodProcesses, floodThreads = 3, 8
	floodRounds                  = 4 // of each thread, at least
	floodKilled                  = 3 // processes, in the middle of a call
	floodNeighbour               = 4 // rounds of one thread that has nothing to do with it
)

// TestSupervisedFlood asks the supervisor for more than it can do, from many
// threads of many processes, of which some are killed while they ask. Each call
// that returns has done what it says, one process among them gets on with its
// work, and what the supervisor holds for them stays bounded.
func TestSupervisedFlood(t *testing.T) {
	c := newCell(t)
	c.features |= linux.NotifySockets
	c.env = []string{floodVariable + "=all"}
	self := []string{testBinary(t), "-test.run=^TestSupervisedFloodCalls$", "-test.v"}
	if r := c.bare(self...); r.code != 0 || !strings.Contains(r.out, "PASS") {
		t.Fatalf("bare: exit %d\n%s", r.code, r.out)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	first, most := descriptors(t), 0
	over, looked := make(chan struct{}), make(chan struct{})
	c.before = func(*linux.Supervisor, *exec.Cmd) {
		go func() {
			defer close(looked)
			for {
				select {
				case <-over:
					return
				case <-time.After(5 * time.Millisecond):
					most = max(most, descriptors(t))
				}
			}
		}()
	}
	c.after = func(*linux.Supervisor) {
		close(over)
		<-looked
		runtime.GC()
		runtime.ReadMemStats(&after)
	}
	r := c.run(self...)
	if r.code != 0 || !strings.Contains(r.out, "PASS") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, c.explain())
	}
	calls := 0
	if _, said, ok := strings.Cut(r.out, "calls: "); ok {
		fmt.Sscan(said, &calls)
	}
	if least := floodProcesses * floodThreads * floodRounds * floodCalls; calls < least {
		t.Errorf("%d calls, fewer than %d", calls, least)
	}
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d calls, %.0f a second; at most %d descriptors, %d before; the heap has grown by %d bytes",
		calls, float64(calls)/c.elapsed.Seconds(), most, first, grown)
	// What it keeps of 64 threads, and of the calls that it has looked at: four
	// descriptors each, one for each thread that there can be.
	if most > first+2*64+4*floodProcesses*floodThreads+100 {
		t.Errorf("%d descriptors, %d before", most, first)
	}
	if grown > 8<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	until(t, "the supervisor's descriptors are closed", func() bool { return descriptors(t) <= first })
}

func descriptors(t *testing.T) int {
	d, err := os.Open("/proc/self/fd")
	if err != nil {
		t.Error(err)
		return 0
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		t.Error(err)
	}
	return len(names) - 1
}

// TestSupervisedFloodCalls is the programs inside. By itself it does nothing.
func TestSupervisedFloodCalls(t *testing.T) {
	role, dir, _ := strings.Cut(os.Getenv(floodVariable), ":")
	switch role {
	case "all":
		floodAll(t)
	case "many":
		floodMany(t, dir)
	case "neighbour":
		must(t, os.Mkdir(dir, 0o700))
		for i := range floodNeighbour {
			floodRound(t, dir, i)
		}
		must(t, os.Remove(dir))
	}
}

func floodAll(t *testing.T) {
	start := func(role, dir string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSupervisedFloodCalls$", "-test.v")
		cmd.Env = append(os.Environ(), floodVariable+"="+role+":"+dir)
		stdin, err := cmd.StdinPipe()
		must(t, err)
		out, err := cmd.StdoutPipe()
		must(t, err)
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		return cmd, stdin, bufio.NewReader(out)
	}
	begun := func(out *bufio.Reader) {
		for {
			line, err := out.ReadString('\n')
			must(t, err)
			if line == "begun\n" {
				return
			}
		}
	}
	type many struct {
		cmd   *exec.Cmd
		stdin io.WriteCloser
		out   *bufio.Reader
	}
	var flood []many
	for i := range floodProcesses {
		cmd, stdin, out := start("many", fmt.Sprint("d", i))
		flood = append(flood, many{cmd, stdin, out})
	}
	for _, f := range flood {
		begun(f.out)
	}
	for i := range floodKilled {
		cmd, _, out := start("many", fmt.Sprint("killed", i))
		begun(out)
		cmd.Process.Kill()
		cmd.Wait()
		// What it had asked for may still be done.
		until(t, "what was left is removed", func() bool { return os.RemoveAll(fmt.Sprint("killed", i)) == nil })
	}
	cmd, _, out := start("neighbour", "neighbour")
	said, err := io.ReadAll(out)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		t.Errorf("the neighbour: %v\n%s", err, said)
	}
	// It got on with them beside it; now they may end.
	total := 0
	for _, f := range flood {
		f.stdin.Close()
		said, err := io.ReadAll(f.out)
		if err := errors.Join(err, f.cmd.Wait()); err != nil {
			t.Errorf("%v\n%s", err, said)
		}
		if _, n, ok := bytes.Cut(said, []byte("calls: ")); ok {
			word, _, _ := bytes.Cut(n, []byte("\n"))
			calls, err := strconv.Atoi(string(word))
			must(t, err)
			total += calls
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	t.Logf("calls: %d", total)
}

// floodMany calls from many threads, until its input ends.
func floodMany(t *testing.T, dir string) {
	must(t, os.Mkdir(dir, 0o700))
	var ended atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		ended.Store(true)
	}()
	var group sync.WaitGroup
	var rounds atomic.Int64
	for i := range floodThreads {
		mine := filepath.Join(dir, fmt.Sprint(i))
		must(t, os.Mkdir(mine, 0o700))
		group.Go(func() {
			runtime.LockOSThread()
			for j := 0; j < floodRounds || !ended.Load(); j++ {
				floodRound(t, mine, j)
				rounds.Add(1)
			}
			must(t, os.Remove(mine))
		})
	}
	fmt.Println("begun")
	group.Wait()
	must(t, os.Remove(dir))
	fmt.Printf("calls: %d\n", rounds.Load()*floodCalls)
}

// floodCalls is how many supervised calls a round makes.
const floodCalls = 9

// floodRound makes files and directories and looks at what came of it.
func floodRound(t *testing.T, dir string, i int) {
	a, b, d := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "d")
	text := []byte(fmt.Sprint(dir, " ", i))
	fd, err := unix.Open(a, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	must(t, err)
	if _, err := unix.Write(fd, text); err != nil {
		t.Error(err)
	}
	var st, named unix.Stat_t
	must(t, errors.Join(unix.Fchmod(fd, 0o640), unix.Fstat(fd, &st), unix.Lstat(a, &named)))
	if st.Ino != named.Ino || named.Mode&0o777 != 0o640 {
		t.Errorf("%s: the descriptor is of %d, the name of %d, mode %o", a, st.Ino, named.Ino, named.Mode)
	}
	must(t, errors.Join(unix.Close(fd), unix.Rename(a, b), unix.Mkdir(d, 0o700), unix.Symlink("../b", d+"/link")))
	fd, err = unix.Open(d+"/link", unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(t, err)
	got := make([]byte, 256)
	n, err := unix.Read(fd, got)
	if err != nil || !bytes.Equal(got[:n], text) {
		t.Errorf("%s: read %q, %v, want %q", b, got[:max(n, 0)], err, text)
	}
	if err := unix.Mkdir(d, 0o700); err != unix.EEXIST {
		t.Errorf("a second mkdir: %v", err)
	}
	must(t, errors.Join(unix.Close(fd), unix.Unlink(d+"/link"), unix.Rmdir(d), unix.Unlink(b)))
}
