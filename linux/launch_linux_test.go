package linux_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
)

// profileFor grants the system's programs, and one directory for writing.
func profileFor(t *testing.T, dir string) *profiles.Profile {
	t.Helper()
	h := &profiles.Host{OS: "linux", Home: "/nonexistent", FS: os.DirFS("/"), Env: map[string]string{}}
	p := &profiles.Profile{Workspace: dir, Process: profiles.Process{Create: true}, Paths: profiles.BaseReads(h)}
	p.Paths = append(p.Paths, profiles.PathRule{Path: dir, Tree: true, Access: profiles.Read | profiles.Write | profiles.Create})
	return p
}

// start runs a shell command line and gives its output and state.
func start(t *testing.T, f linux.Features, dir, line string) (string, linux.State) {
	t.Helper()
	return startWith(t, profileFor(t, dir), f, dir, line)
}

func startWith(t *testing.T, profile *profiles.Profile, f linux.Features, dir, line string) (string, linux.State) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	plan := linux.Compile(profile, f, linux.Facts{FS: os.DirFS("/"), Namespaces: f.Namespaces})
	p, err := linux.Start(plan, &linux.Command{
		Path: "/bin/sh", Argv: []string{"sh", "-c", line}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: dir,
		Stdio: [3]int{-1, int(w.Fd()), int(w.Fd())},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Begin(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	out := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		out <- string(b)
	}()
	state, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return <-out, state
}

func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// modes runs f with namespaces where they work, and without.
func modes(t *testing.T, f func(t *testing.T, features linux.Features)) {
	features := linux.ProbeDeep()
	if features.Landlock == 0 || !features.Seccomp {
		t.Fatalf("this kernel has no Landlock or no seccomp: %+v", features)
	}
	if features.Namespaces {
		t.Run("namespaces", func(t *testing.T) { f(t, features) })
	}
	features.Namespaces = false
	t.Run("none", func(t *testing.T) { f(t, features) })
}

func TestStart(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		dir := tempDir(t)
		secret := filepath.Join(tempDir(t), "secret")
		if err := os.WriteFile(secret, []byte("canary"), 0o644); err != nil {
			t.Fatal(err)
		}
		line := "echo in; echo new > new; cat new; cat " + secret + "; echo >> " + secret + "; exit 7"
		// Control: outside, the same line reads and writes the secret.
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Dir = dir
		if out, _ := cmd.Output(); !strings.Contains(string(out), "canary") {
			t.Fatalf("unconfined: %q", out)
		}
		os.WriteFile(secret, []byte("canary"), 0o644)
		out, state := start(t, f, dir, line)
		if state.Status.ExitStatus() != 7 || !strings.HasPrefix(out, "in\nnew\n") || strings.Contains(out, "canary") {
			t.Errorf("exit %d, output %q", state.Status.ExitStatus(), out)
		}
		if b, _ := os.ReadFile(secret); string(b) != "canary" {
			t.Errorf("the secret was changed: %q", b)
		}
	})
}

// Without a PID namespace the guardian has a session of its own: no signal to
// the process group of the run is for it, and its end orphans no group.
func TestGuardianApart(t *testing.T) {
	f := linux.Probe()
	f.Namespaces = false
	dir := tempDir(t)
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := linux.Start(linux.Compile(profileFor(t, dir), f, linux.Facts{FS: os.DirFS("/")}), &linux.Command{
		Path: "/bin/sh", Argv: []string{"sh", "-c", "echo $PPID; read x"}, Dir: dir, Stdio: [3]int{int(in.Fd()), int(say.Fd()), -1},
	})
	if err == nil {
		defer p.Close()
		err = p.Begin()
	}
	if err != nil {
		t.Fatal(err)
	}
	say.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	guardian, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	session := own
	for try := 0; err == nil && session == own && try < 1000; try++ { // it may come to that after the command
		time.Sleep(10 * time.Millisecond)
		session, err = unix.Getsid(guardian)
	}
	if err != nil || session == own {
		t.Errorf("the guardian, %d, is in session %d (%v), and this process in %d", guardian, session, err, own)
	}
	hold.Close()
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
	in.Close()
	out.Close()
}

// Limits only lower: one that is above the caller's own is no error, with and
// without the capability to raise it.
func TestLimitsOnlyLower(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		dir := tempDir(t)
		p := profileFor(t, dir)
		p.Limits.OpenFiles, p.Limits.FileSize = 1<<19, 512<<10
		own, err := exec.Command("/bin/sh", "-c", "ulimit -Hn").Output()
		if err != nil {
			t.Fatal(err)
		}
		out, state := startWith(t, p, f, dir, "ulimit -Hn; ulimit -Hf")
		hard, size, _ := strings.Cut(out, "\n")
		if want := strings.TrimSpace(string(own)); state.Status != 0 || hard != want && hard != "524288" || size != "1024\n" {
			t.Errorf("status %v: %q open files and %q blocks, want %s and 1024", state.Status, hard, size, want)
		}
	})
}

// For a limit of 1, and for no other, the kernel starts no program that would be given
// the memory of a process that crashes. The caller's own soft limit, most often 0, does
// not matter, and a run that lowers its own keeps it.
func TestCoresReachNobody(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &was); err != nil {
		t.Fatal(err)
	}
	defer unix.Prlimit(0, unix.RLIMIT_CORE, &was, nil)
	if err := unix.Prlimit(0, unix.RLIMIT_CORE, &unix.Rlimit{Max: was.Max}, nil); err != nil {
		t.Fatal(err)
	}
	bare, err := exec.Command("/bin/sh", "-c", "ulimit -c 1 || exit 0; ulimit -c 0; ulimit -c").Output()
	if err != nil || was.Max != 0 && string(bare) != "0\n" {
		t.Fatalf("control: %q, %v", bare, err)
	}
	modes(t, func(t *testing.T, f linux.Features) {
		out, _ := start(t, f, tempDir(t), "ulimit -c 0 && grep core /proc/self/limits")
		limits := strings.Fields(strings.TrimPrefix(out, "Max core file size"))
		if len(limits) < 2 || limits[0] != limits[1] || limits[0] != "1" && (was.Max != 0 || limits[0] != "0") {
			t.Errorf("%q, want 1 and 1", out)
		}
	})
}

// A daemon does not outlive the run, and what was killed is counted.
func TestNothingSurvives(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		dir := tempDir(t)
		_, state := start(t, f, dir, "for i in 1 2 3; do (setsid sh -c 'sleep 60 & sleep 60' >/dev/null 2>&1 &); done; sleep 0.1 & wait $!; exit 0")
		if state.Killed < 3 {
			t.Errorf("%d processes were ended, want at least the 3 daemons", state.Killed)
		}
	})
}

// tracing is Python that leaves a daemon which traces its parent: whoever is traced
// is its parent's to wait for only when the tracer has ended and, with
// PTRACE_O_TRACEEXIT, does not end before the tracer lets it.
const tracing = `
import ctypes, os, signal, sys, time
ready, say = os.pipe()
if os.fork() == 0:
    parent = os.getpid()
    ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0) # for Yama
    if os.fork() == 0:
        traced = ctypes.CDLL(None).ptrace(0x4206, parent, 0, ctypes.c_long(int(sys.argv[1]))) == 0
        os.write(say, b"traced" if traced else b"not traced")
        os.closerange(0, 10)
        time.sleep(30)
        os._exit(0)
    os.closerange(0, 10)
    time.sleep(30)
print(os.read(ready, 10).decode(), flush=True)
`

// The end of a run waits for nobody who is traced.
func TestTracedIsKilled(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		for _, options := range []int{0, unix.PTRACE_O_TRACEEXIT} {
			began := time.Now()
			out, state := start(t, f, tempDir(t), "exec python3 -c '"+tracing+"' "+strconv.Itoa(options))
			if took := time.Since(began); out != "traced\n" || state.Killed != 2 || took > 20*time.Second {
				t.Errorf("options %#x: %q, %d processes were ended in %v, want 2", options, out, state.Killed, took)
			}
		}
	})
}

// A run of many processes is ended whole: of more than the guardian takes between
// two looks at the clock, too.
func TestManyEnded(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		dir := tempDir(t)
		if err := unix.Mkfifo(filepath.Join(dir, "wait"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, state := start(t, f, dir, "exec 3<>wait; i=0; while [ $i -lt 100 ]; do : & i=$((i+1)); done; wait; i=0; while [ $i -lt 1100 ]; do read x <&3 & i=$((i+1)); done; echo $!")
		if last, err := strconv.Atoi(strings.TrimSpace(out)); err != nil || last == 0 || state.Killed != 1100 {
			t.Errorf("%q, %d processes were ended, want 1100", out, state.Killed)
		}
	})
}

// The fork has to hold up while the collector runs and on a single processor.
func TestStartUnderLoad(t *testing.T) {
	f := linux.ProbeDeep()
	dir := tempDir(t)
	stop := make(chan struct{})
	defer close(stop)
	for range 4 {
		go func() {
			var keep [][]byte
			for {
				select {
				case <-stop:
					return
				default:
					keep = append(keep, make([]byte, 64<<10))
					if len(keep) > 64 {
						keep = nil
						runtime.Gosched()
					}
				}
			}
		}()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	for _, procs := range []int{1, runtime.NumCPU()} {
		old := runtime.GOMAXPROCS(procs)
		for range 25 {
			out, state := start(t, f, dir, "echo ok")
			if out != "ok\n" || state.Status != 0 {
				t.Fatalf("with %d processors: status %v, output %q", procs, state.Status, out)
			}
		}
		runtime.GOMAXPROCS(old)
	}
}

// What fails in the child before the command runs is told with its step.
func TestStartErrors(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		dir := tempDir(t)
		script := filepath.Join(dir, "script")
		if err := os.WriteFile(script, []byte("#!/nonexistent/interpreter\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		plan := linux.Compile(profileFor(t, dir), f, linux.Facts{FS: os.DirFS("/"), Namespaces: f.Namespaces})
		for _, tt := range []struct{ path, dir, want string }{
			{"/bin/true", filepath.Join(dir, "none"), "cannot enter the working directory: no such file or directory"},
			{filepath.Join(dir, "program"), dir, "cannot execute: no such file or directory"},
			{script, dir, "cannot execute: permission denied"},
		} {
			p, err := linux.Start(plan, &linux.Command{Path: tt.path, Argv: []string{"x"}, Dir: tt.dir, Stdio: [3]int{-1, -1, -1}})
			if err == nil {
				if err = p.Begin(); err == nil {
					_, err = p.Wait()
				}
				p.Close()
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("start %s in %s: %v, want %s", tt.path, tt.dir, err, tt.want)
			}
		}
	})
}

// The guardian, which lives as long as the run, has nothing of the launcher's heap:
// no secret in it, and no time is spent on copying it.
func TestGuardianHeap(t *testing.T) {
	const ballast = 24 << 20
	if os.Getenv("GUARDIAN_HEAP") == "" { // where the heap is small
		cmd := exec.Command(testBinary(t), "-test.run=^TestGuardianHeap$", "-test.v")
		cmd.Env = append(os.Environ(), "GUARDIAN_HEAP=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	heap := make([]byte, ballast)
	for i := range heap {
		heap[i] = 1
	}
	resident := func(pid int) int {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(b), "\nRssAnon:")
		n, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		return n << 10
	}
	f := linux.ProbeDeep()
	dir := tempDir(t)
	plan := linux.Compile(profileFor(t, dir), f, linux.Facts{FS: os.DirFS("/"), Namespaces: f.Namespaces})
	p, err := linux.Start(plan, &linux.Command{Path: "/bin/sleep", Argv: []string{"sleep", "60"}, Dir: dir, Stdio: [3]int{-1, -1, -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Begin(); err != nil {
		t.Fatal(err)
	}
	defer p.Signal(unix.SIGKILL)
	own, guardian := resident(os.Getpid()), resident(p.Begun().Guardian)
	runtime.KeepAlive(heap)
	if own-guardian < ballast*3/4 {
		t.Errorf("the guardian has %d KiB of memory, the launcher %d", guardian>>10, own>>10)
	}
}

// What keeps the launcher's heap from its guardian can fail for want of memory:
// the run is started all the same.
func TestGuardianWithoutRoom(t *testing.T) {
	const advised = "GUARDIAN_ADVICE"
	if name := os.Getenv(advised); name != "" {
		advice, _ := strconv.Atoi(name)
		if err := unix.Madvise(make([]byte, os.Getpagesize()), advice); err == nil {
			t.Error("madvise is answered")
		}
		f := linux.ProbeDeep()
		if out, state := start(t, f, tempDir(t), "echo started"); out != "started\n" || state.Status != 0 {
			t.Errorf("%q, %v", out, state.Status)
		}
		return
	}
	for _, advice := range []uint32{unix.MADV_DONTFORK, unix.MADV_DOFORK} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // and never unlocked: the thread has a filter
			refuse := []unix.SockFilter{
				{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
				{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_MADVISE, Jf: 3},
				{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16 + 2*8}, // its third argument
				{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: advice, Jf: 1},
				{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EAGAIN)},
				{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
			}
			program := unsafe.String((*byte)(unsafe.Pointer(&refuse[0])), len(refuse)*int(unsafe.Sizeof(refuse[0])))
			if _, err := install([]linux.Filter{{Program: program}}, false); err != nil {
				t.Error(err)
				return
			}
			cmd := exec.Command(testBinary(t), "-test.run=^TestGuardianWithoutRoom$", "-test.v")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", advised, advice))
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
				t.Errorf("%v: %s", err, out)
			}
		}()
		<-done
	}
}

// Whose guardian was killed before the command began is told that.
func TestGuardianKilledFirst(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		dir := tempDir(t)
		plan := linux.Compile(profileFor(t, dir), f, linux.Facts{FS: os.DirFS("/"), Namespaces: f.Namespaces})
		for range 20 {
			p, err := linux.Start(plan, &linux.Command{Path: "/bin/true", Argv: []string{"true"}, Dir: dir, Stdio: [3]int{-1, -1, -1}})
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.Kill(p.Begun().Guardian, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_, gone := p.Wait()
			if err := p.Begin(); err == nil || err != gone || !strings.HasPrefix(err.Error(), "the run's guardian was killed") {
				t.Errorf("wait: %v, begin: %v", gone, err)
			}
			p.Close()
		}
	})
}

// A run that is closed without having begun ends, however often it is closed, and
// nobody else is ended for it.
func TestCloseUnbegun(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		dir := tempDir(t)
		plan := linux.Compile(profileFor(t, dir), f, linux.Facts{FS: os.DirFS("/"), Namespaces: f.Namespaces})
		for range 20 {
			p, err := linux.Start(plan, &linux.Command{Path: "/bin/sh", Argv: []string{"sh", "-c", "echo > begun"}, Dir: dir, Stdio: [3]int{-1, -1, -1}})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Ready(); err != nil {
				t.Fatal(err)
			}
			guardian := p.Begun().Guardian
			p.Close()
			p.Abort()
			if err := unix.Kill(guardian, 0); err != unix.ESRCH {
				t.Fatalf("the guardian is still there: %v", err)
			}
		}
		if list, _ := os.ReadDir(dir); len(list) > 0 {
			t.Errorf("the command ran: %v", list)
		}
	})
}
