package sandbox_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skillrun/darwin"
	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/egress"
)

// What a run on macOS does around sandbox-exec, with a stand-in that confines
// nothing.

// mac is a run with its stand-ins.
type mac struct {
	spec    sandbox.Spec
	program string
	looks   chan struct{} // gets a value after each look at the process table, if anybody waits
	log     string        // what the log prints; TAG stands for the run's
	out     bytes.Buffer
	blind   bool // the process table shows nothing
}

// through is a sandbox-exec that runs what comes after "--".
const through = `while [ "$1" != -- ]; do shift; done; shift; exec "$@"`

func newMac(t *testing.T, script string, argv ...string) *mac {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "mac") // /tmp is a link on macOS
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	m := &mac{program: filepath.Join(dir, "sandbox-exec"), looks: make(chan struct{})}
	if err := os.WriteFile(m.program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	m.spec = sandbox.Spec{
		Profile: &profiles.Profile{Workspace: ws, Home: dir, Process: profiles.Process{Create: true}},
		Path:    argv[0], Argv: argv, Dir: ws, Files: os.DirFS("/"),
	}
	return m
}

func (m *mac) run(t *testing.T) (sandbox.Result, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if m.spec.Stdout == nil {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		m.spec.Stdout = w
		read := make(chan struct{})
		go func() {
			defer close(read)
			io.Copy(&m.out, r)
		}()
		defer func() {
			w.Close()
			<-read
		}()
	}
	log := func(tag string, _ time.Time) []string {
		return []string{"/bin/sh", "-c", `printf '%s' "$1"`, "sh", strings.ReplaceAll(m.log, "TAG", tag)}
	}
	return sandbox.RunSeatbelt(&m.spec, m.program, self, m.processes, log)
}

// processes reads Linux's process table, zombies left out.
func (m *mac) processes() ([]darwin.Process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if m.blind {
		files = nil
	}
	var table []darwin.Process
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		text := string(b)
		rest := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		number := func(s string) int { n, _ := strconv.Atoi(s); return n }
		if p := (darwin.Process{PID: number(filepath.Base(filepath.Dir(file))), Parent: number(rest[1]), Group: number(rest[2]), Started: int64(number(rest[19]))}); rest[0] != "Z" {
			table = append(table, p)
		}
	}
	select {
	case m.looks <- struct{}{}:
	default:
	}
	return table, err
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

func TestSeatbeltRun(t *testing.T) {
	m := newMac(t, through, "/bin/sh", "-c", `printf '%s|' "$@"; pwd; env; ls -d "$HOME" "$TMPDIR"; exit 42`, "sh", "a b", "--", "-D")
	m.spec.Environ = []string{"KEPT=yes", "SECRET=no", "BASH_ENV=/nowhere"}
	m.spec.Profile.Env = profiles.Env{Pass: []profiles.EnvRule{{Name: "KEPT"}}, Set: []profiles.EnvVar{{Name: "OURS", Value: "two\nlines"}}}
	var started sandbox.Started
	m.spec.Starting = func(s sandbox.Started) { started = s }
	r, err := m.run(t)
	if err != nil || r.Status.ExitStatus() != 42 {
		t.Fatalf("%v, %v", r.Status, err)
	}
	out := m.out.String()
	if !strings.HasPrefix(out, "a b|--|-D|"+m.spec.Dir+"\n") {
		t.Errorf("arguments and directory: %q", out)
	}
	for _, want := range []string{"KEPT=yes\n", "OURS=two\nlines\n", "HOME=" + started.Home + "\n", "TMPDIR=" + started.Temp + "\n", "\n" + started.Home + "\n", "\n" + started.Temp + "\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if strings.Contains(out, "SECRET") || strings.Contains(out, "BASH_ENV") {
		t.Errorf("the environment has more than was passed: %q", out)
	}
	if _, err := os.Stat(filepath.Dir(started.Home)); !os.IsNotExist(err) {
		t.Errorf("the run's own directory is left: %v", err)
	}
	if len(r.Receipt) == 0 || len(started.Receipt) != len(r.Receipt) {
		t.Errorf("receipts: %v, %v", started.Receipt, r.Receipt)
	}
}

// TestSeatbeltLinked: a run's policy is of what denied names lead to when it starts.
func TestSeatbeltLinked(t *testing.T) {
	for target, want := range map[string]string{"conf/real": "named\n", "conf/other": ""} {
		m := newMac(t, `for a; do case $a in P*=*/ws/conf/real) echo named; esac; done; `+through, "/bin/true")
		p, ws := m.spec.Profile, m.spec.Dir
		p.Paths = []profiles.PathRule{{Path: ws, Tree: true, Access: profiles.AllAccess}}
		p.Denials = profiles.ControlFiles(ws)
		if err := os.Symlink(target, filepath.Join(ws, ".mcp.json")); err != nil {
			t.Fatal(err)
		}
		if _, err := m.run(t); err != nil || m.out.String() != want {
			t.Errorf("a link to %s: %v: %q", target, err, m.out.String())
		}
	}
}

// TestSeatbeltRepositoryMade: the repository that a run makes in a workspace without one
// is told of, and one that was there is not.
func TestSeatbeltRepositoryMade(t *testing.T) {
	for _, c := range []struct {
		before, makes string
		made          bool
	}{{"x", ".git", true}, {"x", "git", false}, {".git", ".git/x", false}} {
		m := newMac(t, through, "/bin/mkdir", c.makes)
		p, ws := m.spec.Profile, m.spec.Dir
		p.Paths = []profiles.PathRule{{Path: ws, Tree: true, Access: profiles.AllAccess}}
		p.Denials = profiles.ControlFiles(ws)
		if err := os.Mkdir(filepath.Join(ws, c.before), 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := m.run(t)
		if want := []string{filepath.Join(ws, ".git")}; err != nil || slices.Equal(r.ControlsMade, want) != c.made || len(r.ControlsMade) > 1 {
			t.Errorf("%s, %s: %v, %v", c.before, c.makes, err, r.ControlsMade)
		}
	}
}

// crowded is a file system of which one directory has so many files.
type crowded struct {
	fs.FS
	dir   string
	files int
}

func (c crowded) ReadDir(name string) ([]fs.DirEntry, error) {
	if "/"+name != c.dir {
		return fs.ReadDir(c.FS, name)
	}
	info, err := fs.Stat(c.FS, "bin/sh")
	return slices.Repeat([]fs.DirEntry{fs.FileInfoToDirEntry(info)}, c.files), err
}

// TestSeatbeltBounds: where there are too many files to find what denied names lead to,
// nothing runs, unless that is said to be no matter.
func TestSeatbeltBounds(t *testing.T) {
	for _, c := range []struct {
		files int
		allow []string
		gaps  bool
	}{{darwin.MostSearched, nil, false}, {darwin.MostSearched + 1, nil, true}, {darwin.MostSearched + 1, []string{profiles.ClauseDeny, profiles.ClauseControl}, false}} {
		m := newMac(t, through, "/bin/echo", "ran")
		p, ws := m.spec.Profile, m.spec.Dir
		p.Paths = []profiles.PathRule{{Path: ws, Tree: true, Access: profiles.AllAccess}}
		p.Denials = profiles.ControlFiles(ws)
		m.spec.Files, m.spec.AllowGaps = crowded{os.DirFS("/"), ws, c.files}, c.allow
		_, err := m.run(t)
		var gaps *sandbox.GapError
		if errors.As(err, &gaps) != c.gaps || c.gaps && len(gaps.Gaps) != 2 || (m.out.String() == "ran\n") == c.gaps {
			t.Errorf("%d files, %q: %v: %q", c.files, c.allow, err, m.out.String())
		}
	}
}

// TestSeatbeltFailures tells apart who failed, and nothing has run where it
// was not the command.
func TestSeatbeltFailures(t *testing.T) {
	const own = `echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2; exit 71`
	for _, tt := range []struct {
		name, script string
		change       func(*sandbox.Spec)
		want         func(error) bool
	}{
		{"taken", through, nil, func(err error) bool { return err == nil }},
		{"policy error", `echo "sandbox-exec: <input string>:3:2: unbound variable: x" >&2; exit 65`, nil, func(err error) bool { return errors.Is(err, darwin.ErrPolicy) }},
		{"already sandboxed", own, nil, func(err error) bool { return errors.Is(err, darwin.ErrSandboxed) }},
		{"memory, strict", through, func(s *sandbox.Spec) { s.Profile.Limits.Memory, s.Strict = 1<<20, true }, isGap},
		{"demand", through, func(s *sandbox.Spec) { s.Profile.Demands = []profiles.Demand{{Name: "constraint.x"}} }, isGap},
		{"not executable", through, func(s *sandbox.Spec) { s.Path = "/etc/passwd" }, notExecutable},
		{"directory", through, func(s *sandbox.Spec) { s.Path = "/" }, notExecutable},
		{"start refused", through, func(s *sandbox.Spec) {
			s.Started = func() error { return io.ErrUnexpectedEOF }
		}, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMac(t, tt.script, "/bin/sh", "-c", "echo ran; "+own)
			m.spec.Stderr, _ = os.Open(os.DevNull)
			if tt.change != nil {
				tt.change(&m.spec)
			}
			r, err := m.run(t)
			if !tt.want(err) {
				t.Errorf("%v", err)
			}
			if ran := m.out.String() == "ran\n"; ran != (err == nil) || ran && r.Status.ExitStatus() != 71 {
				t.Errorf("ran: %t, %v: %v", ran, err, r.Status.ExitStatus())
			}
		})
	}
}

func isGap(err error) bool {
	var gap *sandbox.GapError
	return errors.As(err, &gap)
}

func notExecutable(err error) bool {
	var start interface{ NotExecutable() bool }
	return errors.As(err, &start) && start.NotExecutable()
}

func TestSeatbeltLimits(t *testing.T) {
	const script = "cat /proc/self/limits; ls /proc/self/fd"
	limits := func(l profiles.Limits) string {
		m := newMac(t, through, "/bin/sh", "-c", script)
		m.spec.Profile.Limits = l
		if _, err := m.run(t); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(m.out.String()), " ")
	}
	// Inherited as from a shell: not close-on-exec.
	fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	free, held := limits(profiles.Limits{}), limits(profiles.Limits{CPU: 1500 * time.Millisecond, FileSize: 12345, OpenFiles: 61})
	for _, want := range []string{"Max cpu time 2 2", "Max file size 12345 12345", "Max open files 61 61"} {
		if !strings.Contains(held, want) || strings.Contains(free, want) {
			t.Errorf("%s: %t with limits, %t without", want, strings.Contains(held, want), strings.Contains(free, want))
		}
	}
	for _, out := range []string{free, held} {
		if !strings.Contains(out, "Max core file size 0 0") {
			t.Errorf("core files are written: %s", out)
		}
		// 3 is the listing's own.
		if !strings.HasSuffix(out, " 0 1 2 3") {
			t.Errorf("descriptors: %s", out)
		}
	}
}

// A limit that ended the command is named, and a signal of its own is none.
func TestSeatbeltLimitMet(t *testing.T) {
	for _, c := range []struct {
		script, want string
		limits       profiles.Limits
	}{
		{"while :; do :; done", "cpu", profiles.Limits{CPU: time.Second}},
		{"head -c 20000 /dev/zero >" + t.TempDir() + "/f", "file size", profiles.Limits{FileSize: 10000}},
		{"kill -KILL $$", "", profiles.Limits{CPU: time.Minute, FileSize: 10000}},
	} {
		m := newMac(t, through, "/bin/sh", "-c", c.script)
		m.spec.Profile.Limits = c.limits
		if r, err := m.run(t); err != nil || r.Limit != c.want || r.Status.ExitStatus() == 0 {
			t.Errorf("%s: %v: limit %q (status %v), want %q", c.script, err, r.Limit, r.Status, c.want)
		}
	}
}

func TestBecomeLimited(t *testing.T) {
	for _, args := range [][]string{nil, {"x"}, {"x", "--"}, {"x", "run", "--become-with-limits"}} {
		if err := sandbox.BecomeLimited(args); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestSeatbeltSurvivors: a descendant in a session of its own, whose parent
// has ended, is gone when the run is.
func TestSeatbeltSurvivors(t *testing.T) {
	m := newMac(t, through, "/bin/sh", "-c", `setsid sh -c 'echo $$; exec sleep 600' & read x; exit 3`)
	in, out, pid := m.pipes(t)
	result := make(chan sandbox.Result, 1)
	go func() {
		r, err := m.run(t)
		if err != nil {
			t.Error(err)
			m.spec.Stdout.Close()
		}
		result <- r
	}()
	detached := pid(out)
	<-m.looks // under way before the process was there, perhaps
	<-m.looks
	if !alive(detached) {
		t.Error("it is not there, so that its end proves nothing")
	}
	in.Close()
	r := <-result
	if r.Status.ExitStatus() != 3 || r.Killed != 1 || alive(detached) {
		t.Errorf("%v, %d killed, alive: %t", r.Status, r.Killed, alive(detached))
	}
}

// pipes gives the run a standard input and output to talk with.
func (m *mac) pipes(t *testing.T) (in *os.File, out *bufio.Reader, number func(*bufio.Reader) int) {
	t.Helper()
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m.spec.Stdin, m.spec.Stdout = stdin, stdout
	for _, f := range []*os.File{stdin, in, read, stdout} {
		t.Cleanup(func() { f.Close() })
	}
	read.SetDeadline(time.Now().Add(time.Minute))
	return in, bufio.NewReader(read), func(r *bufio.Reader) int {
		line, _ := r.ReadString('\n')
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		return n
	}
}

func TestSeatbeltWallClock(t *testing.T) {
	for wall := 300 * time.Millisecond; ; wall *= 2 {
		m := newMac(t, through, "/bin/sh", "-c", `sleep 600 & echo $!; sleep 600`)
		m.spec.Profile.Limits.Wall = wall
		r, err := m.run(t)
		if err != nil || !r.TimedOut || r.Status.Signal() != syscall.SIGKILL {
			t.Fatalf("%+v, %v", r, err)
		}
		if m.out.Len() == 0 && wall < time.Minute {
			continue // it was over before the command had begun
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(m.out.String())); err != nil || alive(pid) || r.Killed < 1 {
			t.Errorf("%d is alive, or %d were killed: %v", pid, r.Killed, err)
		}
		return
	}
}

// A command that the process table never shows is ended by its number.
func TestSeatbeltWallClockBlind(t *testing.T) {
	m := newMac(t, through, "/bin/sleep", "600")
	m.spec.Profile.Limits.Wall, m.blind = time.Second, true
	if r, err := m.run(t); err != nil || !r.TimedOut || r.Status.Signal() != syscall.SIGKILL {
		t.Errorf("%+v, %v", r, err)
	}
}

// fetchVar has a command of this binary fetch these addresses, by the proxy
// that its environment names.
const fetchVar = "SKILLRUN_TEST_FETCH"

func fetch(urls []string) {
	for _, name := range []string{"http_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		fmt.Printf("%s=%s\n", name, os.Getenv(name))
	}
	proxy, err := url.Parse(os.Getenv("http_proxy"))
	if err != nil || proxy.Host == "" {
		fmt.Println("no proxy")
		return
	}
	for _, host := range []string{"localhost", "127.0.0.1", "::1"} {
		through := *proxy
		through.Host = net.JoinHostPort(host, proxy.Port())
		client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&through)}}
		for _, u := range urls {
			answer, err := client.Get(u)
			if err != nil {
				fmt.Println(host, err)
				continue
			}
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			fmt.Println(host, answer.StatusCode, string(body))
		}
	}
}

// TestSeatbeltHosts: the policy of a run with named hosts opens one port of
// this machine, where the gate answers on each loopback address and lets the
// named hosts through and nobody else.
func TestSeatbeltHosts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	other := httptest.NewServer(server.Config.Handler)
	defer other.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := newMac(t, `printf '%s' "$2" >"$0.policy"; `+through, self)
	served := netip.MustParseAddrPort(server.Listener.Addr().String())
	m.spec.Profile.Network = profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{
		{Host: "127.0.0.1", Ports: []profiles.PortRange{{First: served.Port(), Last: served.Port()}}, Protocols: profiles.TCP},
	}}
	m.spec.Environ = []string{"NO_PROXY=*", "http_proxy=http://192.0.2.7:1"}
	m.spec.Profile.Env = profiles.Env{Pass: []profiles.EnvRule{{Name: "*"}}, Set: []profiles.EnvVar{{Name: fetchVar, Value: server.URL + " " + other.URL}}}
	var mu sync.Mutex
	var refused []string
	connected := 0
	m.spec.Refused = func(r sandbox.Refusal) {
		mu.Lock()
		defer mu.Unlock()
		refused = append(refused, r.Word()+" "+r.Target())
	}
	m.spec.Connected = func(v egress.Verdict) {
		mu.Lock()
		defer mu.Unlock()
		connected++
	}
	r, err := m.run(t)
	if err != nil || r.Status != 0 {
		t.Fatalf("%v, %v: %s", r.Status, err, m.out.String())
	}
	policy, err := os.ReadFile(m.program + ".policy")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(string(policy), `(allow network-outbound (remote tcp "localhost:`)
	port, _, _ = strings.Cut(port, `"`)
	if strings.Count(string(policy), "(remote ") != 1 || port == "" || port == "0" {
		t.Fatalf("what the policy opens: %q:\n%s", port, policy)
	}
	out := m.out.String()
	for _, want := range []string{
		"http_proxy=http://localhost:" + port + "\nHTTPS_PROXY=http://localhost:" + port + "\nALL_PROXY=socks5h://localhost:" + port + "\nNO_PROXY=\n",
		"localhost 200 hello\nlocalhost 403 ", "127.0.0.1 200 hello\n127.0.0.1 403 ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if six, err := net.Listen("tcp", "[::1]:0"); err == nil {
		six.Close()
		if want := "::1 200 hello\n::1 403 "; !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	slices.Sort(refused)
	if got := slices.Compact(refused); !slices.Equal(got, []string{"connect " + other.Listener.Addr().String()}) {
		t.Errorf("refused: %q", got)
	}
	if connected < 4 {
		t.Errorf("%d verdicts", connected)
	}
	// A process that is being started may have a copy of the listener until it executes.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			break
		}
		c.Close()
		if time.Now().After(end) {
			t.Error("the gate outlives the run")
			break
		}
	}
	if i := slices.IndexFunc(r.Receipt, func(c profiles.Clause) bool { return c.Name == profiles.ClauseNetwork }); r.Receipt[i].Strength != profiles.Supervised {
		t.Errorf("receipt: %+v", r.Receipt[i])
	}
}

// TestSeatbeltOutput: over the limit everything is ended, whatever it makes of
// a broken pipe.
func TestSeatbeltOutput(t *testing.T) {
	m := newMac(t, through, "/bin/sh", "-c", `trap '' PIPE; sleep 600 & echo $!; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`)
	var tee bytes.Buffer
	m.spec.Tee[1] = &tee
	m.spec.BoundOutput, m.spec.Profile.Limits.Output = true, 10_000
	r, err := m.run(t)
	if err != nil || r.Limit != "output" || r.TimedOut || r.Status.Signal() != syscall.SIGKILL || r.Killed < 1 {
		t.Errorf("limit %q, %v, %d killed, %v", r.Limit, r.Status, r.Killed, err)
	}
	out := m.out.String()
	if len(out) != 10_000 || tee.String() != out {
		t.Errorf("%d bytes of output, copy of %d", len(out), tee.Len())
	}
	line, _, _ := strings.Cut(out, "\n")
	if pid, err := strconv.Atoi(line); err != nil || alive(pid) {
		t.Errorf("%s is alive: %v", line, err)
	}
}

// TestSeatbeltCapture: streams that are copied go through pipes whole.
func TestSeatbeltCapture(t *testing.T) {
	m := newMac(t, through, "/bin/sh", "-c", `cat; echo err >&2; [ -p /dev/stdin ] && [ -p /dev/stdout ] && exit 5`)
	in, _, _ := m.pipes(t)
	io.WriteString(in, "asked\n")
	in.Close()
	stderr, err := os.OpenFile(filepath.Join(m.spec.Dir, "stderr"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	var tees [3]bytes.Buffer
	asked, copied := io.Pipe() // nobody waits for the copy of stdin
	m.spec.Tee = [3]io.Writer{copied, &tees[1], &tees[2]}
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.CopyN(&tees[0], asked, int64(len("asked\n")))
	}()
	m.spec.Stdout, m.spec.Stderr = nil, stderr
	m.spec.BoundOutput, m.spec.Profile.Limits.Output = true, 10_000
	r, err := m.run(t)
	if err != nil || r.Limit != "" || r.Status.ExitStatus() != 5 {
		t.Errorf("limit %q, %v, %v", r.Limit, r.Status, err)
	}
	<-read
	written, err := os.ReadFile(stderr.Name())
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{m.out.String(), string(written), tees[0].String(), tees[1].String(), tees[2].String()}; !slices.Equal(got, []string{"asked\n", "err\n", "asked\n", "asked\n", "err\n"}) {
		t.Errorf("%q", got)
	}
}

func TestSeatbeltSignals(t *testing.T) {
	m := newMac(t, through, "/bin/sh", "-c", `trap 'exit 9' TERM; echo $$; while :; do read x; done`)
	_, out, pid := m.pipes(t)
	signals := make(chan os.Signal, 1)
	m.spec.Signals = func() (<-chan os.Signal, error) { return signals, nil }
	go func() {
		pid(out)
		signals <- syscall.SIGTERM
	}()
	if r, err := m.run(t); err != nil || r.Status.ExitStatus() != 9 {
		t.Errorf("%v, %v", r.Status, err)
	}
}

func TestSeatbeltDenials(t *testing.T) {
	line := func(what string) string {
		return `{"timestamp":"2026-01-02 03:04:05.600000+0000","eventMessage":"Sandbox: cat(7) deny(1) ` + what + `\nTAG"}` + "\n"
	}
	for _, status := range []string{"0", "1"} {
		m := newMac(t, through, "/bin/sh", "-c", "exit "+status)
		secret := m.spec.Profile.Home + "/.ssh"
		m.spec.Profile.Denials = []profiles.Denial{{Path: secret, Access: profiles.AllAccess, Class: profiles.Sensitive}}
		m.log = line("file-read-data "+secret+"/id") + line("file-read-metadata /x") + line("mach-lookup com.apple.x") +
			line("network-outbound /s.sock") + line("network-outbound 192.0.2.1:443") + line("file-write-create /y")
		var got []string
		m.spec.Observe, m.spec.Refused = true, func(r sandbox.Refusal) {
			got = append(got, fmt.Sprint(r.Word(), " ", r.Target(), " ", r.Verdict.Denial != nil, " ", r.PID))
		}
		if _, err := m.run(t); err != nil {
			t.Fatal(err)
		}
		want := []string{"read " + secret + "/id true 7", "connect /s.sock false 7", "use of the network 192.0.2.1:443 false 7", "create /y false 7"}
		if status == "0" {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("exit %s: %q, want %q", status, got, want)
		}
	}
}

func TestLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for link, target := range map[string]string{"python": "opt/bin/python3", "opt": "cellar", "cellar/bin/python3": at("real"), "loop": "loop"} {
		os.MkdirAll(filepath.Dir(at(link)), 0o755)
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{at("python"), at("opt"), at("cellar/bin/python3")}
	// Where a test's directory lies is no business of the compiler's.
	want = slices.DeleteFunc(want, func(p string) bool { return darwin.Canonical(p) != nil })
	if got := sandbox.Links(at("python")); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := sandbox.Links(at("loop")); len(got) > 40 {
		t.Errorf("a link to itself: %d links", len(got))
	}
}
