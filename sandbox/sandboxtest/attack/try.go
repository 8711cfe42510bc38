//go:build linux

package attack

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Confiner is a way to run a command: bare, under skillrun, under a peer.
type Confiner struct {
	Name string
	// Path is the program, "" for none.
	Path string
	// Args gives the arguments before the command's own.
	Args func(home, workspace, skill string, flags []string) []string
	// Patience bounds one run; zero is suitePatience.
	Patience time.Duration
}

// Bare runs as it is: the control.
var Bare = Confiner{Name: "bare"}

// Skillrun is the given skillrun program, under the suite's own manifest.
func Skillrun(path string, flags ...string) Confiner {
	return Confiner{Name: strings.Join(append([]string{"skillrun"}, flags...), " "), Path: path, Args: func(_, _, skill string, more []string) []string {
		args := append([]string{"--skill", skill, "--approve", "declared"}, flags...)
		return append(append(args, more...), "--")
	}}
}

// Peers are other tools, told to do the same as well as they can be told: the
// workspace to write, the system to read, the home hidden, no network. The scenes
// are not in the home that the system knows for the user, which is the only one
// that firejail shows without --allusers.
func Peers() []Confiner {
	return []Confiner{
		{Name: "bwrap", Path: "bwrap", Patience: peerPatience, Args: func(home, workspace, skill string, _ []string) []string {
			return []string{"--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
				"--tmpfs", filepath.Dir(home), "--bind", workspace, workspace, "--ro-bind", skill, skill, "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--chdir", workspace, "--"}
		}},
		{Name: "firejail", Path: "firejail", Patience: peerPatience, Args: func(home, workspace, skill string, _ []string) []string {
			return []string{"--quiet", "--noprofile", "--allusers", "--net=none", "--private-dev", "--private-tmp", "--caps.drop=all", "--nonewprivs", "--seccomp", "--nogroups", "--ipc-namespace",
				"--blacklist=" + home + "/.ssh", "--blacklist=" + home + "/.aws", "--blacklist=" + home + "/.config", "--blacklist=" + home + "/Documents", "--blacklist=" + filepath.Dir(home) + "/state",
				"--read-only=" + home, "--read-write=" + workspace, "--read-only=" + skill, "--"}
		}},
	}
}

// Outcome is what became of one try.
type Outcome struct {
	// Findings is what the run got, [] if nothing.
	Findings []string
	Output   []byte
	Exit     int
}

// suitePatience bounds one run; nothing waits that long on a machine that has the
// time.
const suitePatience = 4 * time.Minute

// peerPatience bounds a peer's: firejail waits for the daemons that a run leaves.
const peerPatience = time.Minute

// Try runs an attempt in surroundings of its own, made below root, and judges
// it.
func Try(p *Program, c Confiner, root string) (Outcome, error) {
	s, err := newScene(root, p)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	prelude, err := files.ReadFile("attempts/prelude.py")
	if err != nil {
		return Outcome{}, err
	}
	probe := s.skill + "/probe.py"
	if err := os.WriteFile(probe, []byte(s.facts()+string(prelude)+p.Code), 0o644); err != nil {
		return Outcome{}, err
	}
	s.before.add(s, probe)
	s.before.add(s, s.skill)
	o, err := s.run(c, p.Flags, python, "-I", "-S", "-B", probe)
	if err != nil {
		return o, err
	}
	if !bytes.Contains(o.Output, []byte("BEGUN")) {
		return o, fmt.Errorf("it did not begin: exit %d: %.600s", o.Exit, o.Output)
	}
	looks := 1
	if p.Group == "processes" {
		looks = 20
	}
	left := s.survivors(looks)
	s.settle()
	o.Findings = s.judge(o.Output)
	if left > 0 {
		o.Findings = append(o.Findings, fmt.Sprintf("outlived the run: %d processes", left))
	}
	return o, nil
}

// run starts argv as a user's shell would, which stays, and serves it until it
// ends.
func (s *scene) run(c Confiner, flags []string, argv ...string) (Outcome, error) {
	if c.Path != "" {
		argv = append(append([]string{c.Path}, c.Args(s.home, s.ws, s.skill, flags)...), argv...)
	}
	shell := []string{"/bin/sh", "-c", `trap : INT; "$@"; exit $?`}
	if s.bystander {
		shell = []string{"/bin/bash", "-pc", `trap : INT; set -m; sleep 600 & b=$!; set +m; "$@"; r=$?
read -r _ _ state _ <"/proc/$b/stat"; [ "$state" = T ] && echo "GOT another job stopped"; kill -KILL $b; wait $b 2>/dev/null; exit $r`}
	}
	cmd := exec.Command(shell[0], append(append(shell[1:], "sh"), argv...)...)
	cmd.Dir = s.ws
	cmd.Env = []string{
		"HOME=" + s.home, "PATH=" + searchPath(), "LANG=C.UTF-8", "USER=user", "LOGNAME=user", "XDG_STATE_HOME=" + s.state,
		"AWS_SECRET_ACCESS_KEY=" + s.secret("the environment"), "DEPLOY_TOKEN=" + s.secret("the environment, by a name of its own"),
	}
	if !s.job {
		cmd.Env = append(cmd.Env, "BASH_ENV="+s.ws+"/README.md", "PYTHONSTARTUP="+s.ws+"/README.md", "GIT_SSH_COMMAND=./evil")
	}
	cmd.ExtraFiles = s.inherit
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	var out io.Reader
	var in io.WriteCloser
	var err error
	if s.terminal != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = s.terminal.slave, s.terminal.slave, s.terminal.slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		out = s.terminal.master
	} else {
		if in, err = cmd.StdinPipe(); err != nil {
			return Outcome{}, err
		}
		r, w, err := os.Pipe()
		if err != nil {
			return Outcome{}, err
		}
		defer r.Close()
		defer w.Close()
		cmd.Stdout, cmd.Stderr = w, w
		out = r
	}
	if err := s.start(cmd); err != nil {
		return Outcome{}, err
	}
	patience := cmp.Or(c.Patience, suitePatience)
	timer := time.AfterFunc(patience, func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		s.survivors(1)
	})
	var output bytes.Buffer
	var reading sync.WaitGroup
	end := word("end")
	reading.Go(func() { s.follow(out, in, &output, end) })
	err = cmd.Wait()
	late := !timer.Stop()
	// What is left may hold the other end open for ever; what was printed is in
	// the pipe, or in the terminal before this word.
	if f, ok := out.(*os.File); ok {
		if s.terminal != nil {
			go unix.Write(int(s.terminal.slave.Fd()), []byte(end+"\n"))
		} else if w, ok := cmd.Stdout.(*os.File); ok {
			w.Close()
		}
		f.SetReadDeadline(time.Now().Add(3 * time.Second))
	}
	reading.Wait()
	o := Outcome{Output: output.Bytes(), Exit: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return o, err
	}
	if late {
		return o, fmt.Errorf("it did not end in %v:\n%.2000s", patience, o.Output)
	}
	return o, nil
}

// searchPath is the system's, and where Go is.
func searchPath() string {
	path := "/usr/local/bin:/usr/bin:/bin"
	if g, err := exec.LookPath("go"); err == nil {
		path += ":" + filepath.Dir(g)
	}
	return path
}

// Do does a job in surroundings of its own.
func Do(p *Program, c Confiner, root string) (Outcome, error) {
	s, err := newScene(root, p)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	o, err := s.run(c, p.Flags, "/bin/bash", "--norc", "-c", "set -e; mkdir job; cd job\n"+p.Code)
	// What one run prints has no names of its own surroundings in it.
	o.Output = bytes.ReplaceAll(bytes.ReplaceAll(o.Output, []byte(s.dir), []byte("DIR")), []byte("\r\n"), []byte("\n"))
	if strings.HasPrefix(c.Name, "skillrun") {
		o.Output = regexp.MustCompile(`skillrun: the run made what other programs obey: .*\n`).ReplaceAll(o.Output, nil)
	}
	if strings.HasSuffix(c.Name, "--denials") {
		o.Output = regexp.MustCompile(`(?m)^skillrun: denied .*\n`).ReplaceAll(o.Output, nil)
	}
	s.survivors(1)
	return o, err
}

// start starts cmd with a session keyring of its own that holds a secret, where
// there are keyrings.
func (s *scene) start(cmd *exec.Cmd) error {
	done := make(chan error)
	go func() {
		// Not unlocked: the thread ends with its keyring.
		runtime.LockOSThread()
		const anonymous = 0
		if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, anonymous, 0, 0, 0); err == nil {
			unix.AddKey("user", "canary", []byte(s.secret("the session keyring")), unix.KEY_SPEC_SESSION_KEYRING)
		}
		done <- cmd.Start()
	}()
	return <-done
}

// follow reads what the run prints, up to the word end, and does what it asks for.
func (s *scene) follow(out io.Reader, in io.WriteCloser, to *bytes.Buffer, end string) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		line, _, ended := bytes.Cut(line, []byte(end))
		if ended {
			err = io.EOF
		}
		if to.Len() < 16<<20 {
			to.Write(line)
		}
		if ask, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("ASK ")); ok {
			s.do(strings.Split(string(ask), "\t"))
			if in != nil {
				in.Write([]byte("\n"))
			}
		}
		if err != nil {
			return
		}
	}
}
