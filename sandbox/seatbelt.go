package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/darwin"
	"skillrun/profiles"
)

// seatbelt runs commands under sandbox-exec. What only macOS has is in its
// fields; all else is the same, and tested, on other systems.
type seatbelt struct {
	runner    darwin.Runner
	version   string   // of macOS
	roots     []string // where the run's own directory may be
	self      string   // this program, for [BecomeLimited]
	processes func() ([]darwin.Process, error)
	denials   func(tag string, since time.Time) []string // command line that prints the log
}

const (
	// maxLook bounds the entries of the workspace that are looked at before a
	// run; with more the policy is stricter.
	maxLook = 200_000
	// checkPatience bounds the pre-flight, logPatience the reading of the log.
	checkPatience = 10 * time.Second
	logPatience   = 5 * time.Second
)

func (s *seatbelt) run(spec *Spec) (Result, error) {
	room := spec.Room
	if room == nil {
		room = makeRoom(s.roots)
		defer room.Remove()
	}
	own, err := room.wait()
	if err != nil {
		return Result{}, err
	}
	if err := writeGitConfig(own.home(), spec.Profile.Home, spec.Profile.Workspace); err != nil {
		return Result{}, err
	}
	if err := linkHome(own.home(), spec.Profile); err != nil {
		return Result{}, err
	}
	linkStores(own.home(), spec.Profile)
	proxy, err := newProxy(spec)
	if err != nil {
		return Result{}, err
	}
	defer proxy.close()
	profile, all := darwin.WithLinked(spec.Files, own.guarded(spec.Profile, spec.Caches), darwin.MostSearched)
	policy, tag, err := s.compile(spec, profile, own, proxy, all)
	if err != nil {
		return Result{}, err
	}
	receipt := policy.Receipt
	if gaps := receipt.Gaps(spec.Strict, spec.AllowGaps); len(gaps) > 0 {
		return Result{}, &GapError{gaps}
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkPatience)
	defer cancel()
	if err := s.runner.Check(ctx, policy); err != nil {
		return Result{}, fmt.Errorf("cannot sandbox the command: %w", err)
	}
	if err := executable(spec.Path); err != nil {
		return Result{}, err
	}
	args, err := s.runner.Args(policy, append([]string{spec.Path}, spec.Argv[min(1, len(spec.Argv)):]...))
	if err != nil {
		return Result{}, err
	}
	if spec.Starting != nil {
		spec.Starting(Started{Receipt: receipt, Home: own.home(), Temp: own.temp()})
	}
	if spec.Started != nil {
		if err := spec.Started(); err != nil {
			return Result{}, err
		}
	}
	begin := time.Now()
	result, err := s.supervise(spec, limitArgs(s.self, &spec.Profile.Limits, args), Environ(proxy.environment(spec.Profile.Env), spec.Environ, own.home(), own.temp(), ""))
	if err != nil {
		return Result{}, err
	}
	if spec.Ended != nil {
		spec.Ended(own.home())
	}
	result.Receipt = receipt
	if policy.Repository != "" {
		if _, err := os.Lstat(policy.Repository); err == nil {
			result.ControlsMade = []string{policy.Repository}
		}
	}
	if spec.Observe && spec.Refused != nil && (result.TimedOut || result.Limit != "" || result.Status != 0) {
		s.tell(spec, profile, tag, begin)
	}
	return result, nil
}

// compile makes the policy of a run, with the tag of its denials.
func (s *seatbelt) compile(spec *Spec, p *profiles.Profile, own *own, proxy *proxy, searched bool) (*darwin.Policy, string, error) {
	facts := &darwin.Facts{
		OS: "darwin", Version: s.version, Home: p.Home, Workspace: p.Workspace,
		Tmp: own.temp(), PrivateHome: own.home(), Tag: "skillrun-" + filepath.Base(own.dir),
		Links: links(spec.Path), ProxyPort: proxy.at(), BoundOutput: spec.BoundOutput,
		Proxied: spec.Parents.Serve(&p.Network), Unsearched: !searched,
	}
	facts.Exists, facts.Contents = darwin.Look(spec.Files, p, maxLook)
	policy, err := darwin.Compile(p, facts)
	return policy, facts.Tag, err
}

// links lists the symbolic links on the way to a file, which the kernel asks
// about by their own names.
func links(file string) []string {
	var found []string
	for range 40 { // as many as the kernel follows (MAXSYMLINKS is 32)
		dir, link := "/", ""
		for _, name := range strings.Split(strings.Trim(file, "/"), "/") {
			dir = filepath.Join(dir, name)
			if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
				link = dir
				break
			}
		}
		if link == "" {
			return found
		}
		target, err := os.Readlink(link)
		if err != nil {
			return found
		}
		if darwin.Canonical(link) == nil {
			found = append(found, link)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		file = filepath.Join(target, strings.TrimPrefix(file, link))
	}
	return found
}

// notExecutable is a file that no policy would let start.
type notExecutable struct{ error }

func (notExecutable) NotExecutable() bool { return true }

// executable finds out before the start what sandbox-exec would only say in
// the command's name.
func executable(file string) error {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = syscall.EACCES
	}
	if err == nil {
		err = unix.Access(file, unix.X_OK)
	}
	if err != nil {
		return notExecutable{fmt.Errorf("start %q: %w", file, err)}
	}
	return nil
}

// supervise starts a command line, follows it, and ends whatever it leaves.
func (s *seatbelt) supervise(spec *Spec, args, env []string) (Result, error) {
	// A shell's job control works on groups: at a terminal the command stays in
	// this process's group, so that ^C and ^Z reach it and a pipeline stays one
	// job. Elsewhere a group of its own makes its processes known.
	grouped := !hasTerminal()
	tap, err := newTap(spec)
	if err != nil {
		return Result{}, fmt.Errorf("start the command: %w", err)
	}
	defer tap.close()
	envFile, err := writeEnv(env)
	if err != nil {
		return Result{}, fmt.Errorf("start the command: %w", err)
	}
	defer envFile.Close()
	signals, err := spec.signals()
	if err != nil {
		return Result{}, err
	}
	child, err := os.StartProcess(args[0], args, &os.ProcAttr{
		Dir: spec.Dir, Env: []string{},
		Files: []*os.File{tap.files[0], tap.files[1], tap.files[2], envDescriptor: envFile},
		Sys:   &syscall.SysProcAttr{Setpgid: grouped},
	})
	if err != nil {
		return Result{}, fmt.Errorf("start the command: %w", err)
	}
	pid := child.Pid
	child.Release()
	t, err := newTree(pid, s.processes)
	if err != nil {
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, nil, 0, nil)
		return Result{}, err
	}
	tooMuch := make(chan struct{}, len(tap.files))
	tap.start(func() { tooMuch <- struct{}{} })
	ended := make(chan exit, 1)
	go func() { ended <- await(pid) }()
	stop := forward(signals, func(sig syscall.Signal) error { return syscall.Kill(pid, sig) })
	defer stop()
	var wall <-chan time.Time
	if w := spec.Profile.Limits.Wall; w > 0 {
		timer := time.NewTimer(w)
		defer timer.Stop()
		wall = timer.C
	}
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	kill := func() {
		t.end()
		// Whatever the table shows of it. It has not been waited for, as far as is known,
		// and so its number is its own.
		if len(ended) == 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	var r Result
	for {
		select {
		case <-looks.C:
			t.look()
			continue
		case <-wall:
			r.TimedOut, wall = true, nil
			kill()
			continue
		case <-tooMuch:
			kill()
			continue
		case e := <-ended:
			if e.err != nil {
				t.end()
				return Result{}, fmt.Errorf("wait for the command: %w", e.err)
			}
			r.Status = e.status
			r.User, r.System = time.Duration(e.usage.Utime.Nano()), time.Duration(e.usage.Stime.Nano())
			r.MaxResident = int64(e.usage.Maxrss) // macOS counts bytes
		}
		break
	}
	if err := t.end(); err != nil {
		return Result{}, fmt.Errorf("end what the command left: %w", err)
	}
	r.Killed = len(t.killed)
	if !tap.wait(r.TimedOut) {
		r.TimedOut = true
	}
	r.Lost = tap.lostFor()
	switch {
	case tap.burst.Load():
		r.Limit = "output"
	case !r.TimedOut:
		r.Limit = limitMet(&spec.Profile.Limits, r.Status, r.User+r.System)
	}
	return r, nil
}

type exit struct {
	status syscall.WaitStatus
	usage  syscall.Rusage
	err    error
}

// await waits for the end of a child. Where only the child was stopped and a
// shell watches this process, it stops with it: what a terminal sends stops
// both anyway.
func await(pid int) (e exit) {
	for {
		_, err := syscall.Wait4(pid, &e.status, syscall.WUNTRACED, &e.usage)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			e.err = err
			return e
		case !e.status.Stopped():
			return e
		case e.status.StopSignal() == syscall.SIGSTOP && jobControl():
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
	}
}

// tell reports the denials that the log has of a run. The log drops lines and
// may be closed to this user: nothing depends on it.
func (s *seatbelt) tell(spec *Spec, p *profiles.Profile, tag string, since time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), logPatience)
	defer cancel()
	args := s.denials(tag, since)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = "/", []string{}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	denied, _ := darwin.ReadDenials(out, tag)
	cmd.Wait()
	for i := range denied {
		if r, ok := refusal(&denied[i], p); ok {
			spec.Refused(r)
		}
	}
}

// refusal says in this package's terms what the log says. Looks at names alone
// are left out, as on Linux: every walk along a path makes some.
func refusal(d *darwin.Denied, p *profiles.Profile) (Refusal, bool) {
	r := Refusal{Access: d.Access(), Path: d.Object, What: d.Operation, PID: d.PID}
	switch d.Operation {
	case "file-read-metadata", "file-read-xattr":
		return r, false
	case "network-outbound", "network-bind":
		if r.Socket = strings.HasPrefix(d.Object, "/"); !r.Socket {
			r.What, r.Path = "socket", d.Object
		}
		return r, true
	case "system-socket":
		r.What, r.Path = "socket", ""
		return r, true
	}
	if r.Access == 0 || !strings.HasPrefix(r.Path, "/") {
		return r, false
	}
	if v := p.Allows(r.Path, r.Access); !v.Allowed {
		r.Verdict = v
	}
	return r, true
}
