package linux_test

import (
	"bytes"
	"encoding/json"
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
	"syscall"
	"testing"
	"time"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
)

// What the supervisor's tests share: a stand-in for the launcher. It starts
// this test binary again as TestSupervisedEntry, which restricts itself with
// both Landlock layers, installs the shipped notifying filter, sends the
// listener over a socket and executes a command.

const entryVariable = "SKILLRUN_TEST_ENTRY"

// cell is one supervised run's surroundings.
type cell struct {
	t        testing.TB
	ws       string // workspace, with all rights but Delete
	own      string // the run's own TMPDIR
	outside  string // a directory beside the workspace with no rights
	profile  *profiles.Profile
	config   func(*linux.Supervision)
	features linux.FilterFeatures
	layers   bool              // Landlock; off to see the supervisor alone
	kernel   *profiles.Profile // what the layers grant, if not what profile does
	alone    bool              // the first layer alone, and no supervisor
	hasty    bool              // signals interrupt who waits for an answer, as before Linux 5.19
	env      []string
	stdin    io.Reader

	elapsed time.Duration // of the last command, without the start

	mu       sync.Mutex
	refusals []linux.Refusal
	before   func(*linux.Supervisor, *exec.Cmd) // after the start
	after    func(*linux.Supervisor)            // before Close
}

const workspaceRights = profiles.Read | profiles.Write | profiles.Create | profiles.Execute

// Programs are the system's, after go, which go test puts first: a version
// manager's python starts five times slower.
func TestMain(m *testing.M) {
	first, rest, _ := strings.Cut(os.Getenv("PATH"), ":")
	os.Setenv("PATH", first+":/usr/bin:"+rest)
	os.Exit(m.Run())
}

func newCell(t testing.TB) *cell {
	t.Helper()
	dir, err := os.MkdirTemp("", "sr") // short: unix sockets are bound in it
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return newCellAt(t, dir)
}

func newCellAt(t testing.TB, base string) *cell {
	t.Helper()
	base, err := filepath.EvalSymlinks(base)
	must(t, err)
	c := &cell{t: t, ws: base + "/ws", own: base + "/own", outside: base + "/outside", layers: true,
		features: linux.NotifyNames | linux.NotifyMetadata}
	for _, d := range []string{c.ws, c.own, c.outside} {
		must(t, os.Mkdir(d, 0o755))
	}
	c.profile = &profiles.Profile{Workspace: c.ws, Paths: []profiles.PathRule{
		{Path: c.ws, Tree: true, Access: workspaceRights},
		{Path: c.outside, Tree: true, Access: profiles.Read},
		{Path: filepath.Dir(testBinary(t)), Tree: true, Access: profiles.Read | profiles.Execute},
		{Path: "/proc", Tree: true, Access: profiles.Read},
	}, Denials: controlDenials(c.ws)}
	for _, d := range []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/root", "/home", "/sys", "/run", "/var/lib"} {
		if real, err := filepath.EvalSymlinks(d); err == nil {
			c.profile.Paths = append(c.profile.Paths, profiles.PathRule{Path: real, Tree: true, Access: profiles.Read | profiles.Execute})
		}
	}
	for _, d := range []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx"} {
		c.profile.Paths = append(c.profile.Paths, profiles.PathRule{Path: "/dev/" + d, Access: profiles.Read | profiles.Write})
	}
	return c
}

func controlDenials(root string) []profiles.Denial {
	var list []profiles.Denial
	row := func(match string, unlessMade bool, except ...string) {
		list = append(list, profiles.Denial{Path: root, Match: match, Access: profiles.Write | profiles.Create | profiles.Delete,
			UnlessMade: unlessMade, Except: except, Class: profiles.Control})
	}
	row(".git/hooks", true)
	row(".git/config", true)
	for _, m := range []string{".envrc", ".mcp.json", ".vscode", ".bashrc", ".github/workflows"} {
		row(m, false, "node_modules", "site-packages", "vendor")
	}
	for _, m := range []string{".zed", ".github/actions"} {
		row(m, false, "node_modules", "site-packages", "vendor")
		list[len(list)-1].UnlessWithin = true
	}
	return list
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *cell) write(path, text string) string {
	c.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.ws, path)
	}
	must(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(c.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// result is what a command did.
type result struct {
	out  string // stdout and stderr
	code int
}

type entry struct {
	Features linux.FilterFeatures
	Ruleset  bool // descriptor 4 is layer 1
	Alone    bool // neither layer 2 nor a filter
	Hasty    bool
	Argv     []string
}

// run executes argv supervised, in the workspace.
func (c *cell) run(argv ...string) result {
	c.t.Helper()
	return c.runWithin(5*time.Minute, argv...)
}

func (c *cell) runWithin(limit time.Duration, argv ...string) result {
	c.t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(c.t, err)
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	ruleset := -1
	files := []*os.File{theirs}
	if c.layers {
		ruleset = c.layerOne()
		f := os.NewFile(uintptr(ruleset), "ruleset")
		defer f.Close()
		files = append(files, f)
	}
	e, err := json.Marshal(entry{c.features, c.layers, c.alone, c.hasty, argv})
	must(c.t, err)
	cmd := exec.Command(testBinary(c.t), "-test.run=^TestSupervisedEntry$")
	cmd.Dir = c.ws
	cmd.Env = append(append(os.Environ(), "TMPDIR="+c.own, "HOME="+c.own, entryVariable+"="+string(e)), c.env...)
	cmd.ExtraFiles = files
	cmd.Stdin = c.stdin
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 30 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(c.t, cmd.Start())
	theirs.Close()
	if c.alone {
		return exitOf(cmd.Wait(), &out)
	}
	listener, err := receiveDescriptor(pair[0])
	if err != nil {
		cmd.Wait()
		c.t.Fatalf("no listener: %v\n%s", err, out.String())
	}
	s := linux.Supervision{Profile: c.profile,
		Own: []string{c.own}, Umask: 0o022,
		Redirects: []linux.Redirect{{From: "/tmp", To: c.own}, {From: "/var/tmp", To: c.own}, {From: "/dev/shm", To: c.own}},
		Verdict: func(r linux.Refusal) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.refusals) < 10000 {
				c.refusals = append(c.refusals, r)
			}
		}}
	if c.config != nil {
		c.config(&s)
	}
	sup, err := linux.NewSupervisor(s)
	must(c.t, err)
	must(c.t, sup.Serve(linux.Begun{Listener: listener, Ruleset: ruleset, Process: cmd.Process.Pid, Interrupts: c.hasty}))
	timer := time.AfterFunc(limit, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	start := time.Now()
	if _, err := ours.Write([]byte{1}); err != nil { // go ahead
		c.t.Fatal(err)
	}
	if c.before != nil {
		c.before(sup, cmd)
	}
	err = cmd.Wait()
	c.elapsed = time.Since(start)
	if !timer.Stop() {
		c.t.Errorf("%q ran into the time limit", argv)
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if c.after != nil {
		c.after(sup)
	}
	if err := sup.Close(); err != nil {
		c.t.Errorf("supervisor: %v", err)
	}
	return exitOf(err, &out)
}

func exitOf(err error, out *bytes.Buffer) result {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return result{out.String(), 0}
	case errors.As(err, &exit):
		return result{out.String(), exit.ExitCode()}
	}
	return result{out.String() + err.Error(), -1}
}

// bare executes argv unsupervised, in the same place: the positive control.
func (c *cell) bare(argv ...string) result {
	c.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = c.ws
	cmd.Env = append(append(os.Environ(), "TMPDIR="+c.own, "HOME="+c.own), c.env...)
	cmd.Stdin = c.stdin
	start := time.Now()
	out, err := cmd.CombinedOutput()
	c.elapsed = time.Since(start)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return result{string(out), exit.ExitCode()}
	}
	if err != nil {
		return result{err.Error(), -1}
	}
	return result{string(out), 0}
}

// layerOne builds the first layer from the profile, as Compile would. A rule
// for a file that does not exist is left out.
func (c *cell) layerOne() int {
	c.t.Helper()
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: fsRights}, 0)
	must(c.t, err)
	p := c.profile
	if c.kernel != nil {
		p = c.kernel
	}
	rules := append([]profiles.PathRule{{Path: c.own, Tree: true, Access: profiles.AllAccess &^ profiles.Execute}}, p.Paths...)
	for _, r := range rules {
		var rights uint64
		if r.Access&profiles.Read != 0 {
			rights |= ll.AccessFSReadFile | ll.AccessFSReadDir
		}
		if r.Access&profiles.Execute != 0 {
			rights |= ll.AccessFSExecute
		}
		if r.Access&profiles.Write != 0 {
			rights |= ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
		}
		if r.Access&profiles.Create != 0 {
			rights |= ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym |
				ll.AccessFSRefer | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
		}
		if !r.Tree {
			rights &= ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSReadFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
		}
		p, err := unix.Open(r.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		must(c.t, ll.LandlockAddPathBeneathRule(fd, &ll.PathBeneathAttr{AllowedAccess: rights, ParentFd: p}, 0))
		unix.Close(p)
	}
	return fd
}

const (
	fsRights = ll.AccessFSIoctlDev<<1 - 1 // ABI 5
	mediated = ll.AccessFSWriteFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir |
		ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym | ll.AccessFSRefer | ll.AccessFSTruncate
)

// testBinary is this test's executable, in a place that any user may reach.
func testBinary(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	return exe
}

// TestSupervisedEntry is the child of a cell. By itself it does nothing.
func TestSupervisedEntry(t *testing.T) {
	text := os.Getenv(entryVariable)
	if text == "" {
		return
	}
	// The one that the supervisor was told. Where a thread cannot have a umask
	// of its own, the performers of other tests have set this process's.
	unix.Umask(0o022)
	if err := superviseSelf(text); err != nil {
		fmt.Fprintln(os.Stderr, "entry:", err)
		os.Exit(99)
	}
}

func superviseSelf(text string) error {
	runtime.LockOSThread()
	os.Unsetenv(entryVariable)
	var e entry
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	path, err := exec.LookPath(e.Argv[0])
	if err != nil {
		return err
	}
	unix.CloseOnExec(3)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) == nil; c++ {
	}
	var nothing [2]unix.CapUserData
	if err := unix.Capset(&header, &nothing[0]); err != nil {
		return err
	}
	if e.Ruleset {
		unix.CloseOnExec(4)
		if err := ll.LandlockRestrictSelf(4, 0); err != nil {
			return err
		}
	}
	if e.Ruleset && !e.Alone {
		rights := uint64(mediated)
		two, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: rights}, 0)
		if err != nil {
			return err
		}
		if err := ll.LandlockRestrictSelf(two, 0); err != nil {
			return err
		}
	}
	if e.Alone {
		return unix.Exec(path, e.Argv, os.Environ())
	}
	filters, err := linux.Filters(runtime.GOARCH, e.Features)
	if err != nil {
		return err
	}
	for _, f := range filters {
		if !f.Notify {
			continue // the others are tested where they live
		}
		program := unix.SockFprog{Len: f.Instructions(), Filter: (*unix.SockFilter)(unsafe.Pointer(unsafe.StringData(f.Program)))}
		flags := uintptr(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
		if !e.Hasty {
			flags |= unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
		}
		listener, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
		if errno != 0 {
			return fmt.Errorf("cannot install the filter: %w", errno)
		}
		// From a thread that has no filter: this call may be notified.
		sent := make(chan error)
		go func() { sent <- unix.Sendmsg(3, []byte{1}, unix.UnixRights(int(listener)), nil, 0) }()
		if err := <-sent; err != nil {
			return err
		}
	}
	if n, err := unix.Read(3, make([]byte, 1)); n != 1 {
		return fmt.Errorf("no word from the launcher: %w", err)
	}
	return unix.Exec(path, e.Argv, os.Environ())
}

func receiveDescriptor(socket int) (int, error) {
	data, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	n, cn, _, _, err := unix.Recvmsg(socket, data, control, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return -1, fmt.Errorf("nothing received: %v", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:cn])
	if err != nil || len(messages) != 1 {
		return -1, fmt.Errorf("no descriptor received: %v", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

func (c *cell) explain() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, r := range c.refusals {
		fmt.Fprintf(&b, "refused %s %s %s: %v\n", r.Call, r.Access, strconv.Quote(r.Path), r.Errno)
	}
	return b.String()
}
