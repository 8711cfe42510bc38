//go:build linux

package attack

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// python runs attempts; a fixed name, since shims of version managers cost more
// than the attempts.
const python = "/usr/bin/python3"

// scene is the surroundings of one try: a home with secrets and a workspace in
// it, a directory beside it, listeners, and what another program of the user
// has open. All of it is made for this try and judged after it.
type scene struct {
	dir, home, ws, outside, skill, state string
	tmp, shm                             string // another program's
	mark                                 string // is looked for outside
	job                                  bool   // ordinary work goes on here
	bystander                            bool   // the terminal has another job
	key                                  int    // of the System V objects

	secrets map[string]string // random word -> what holds it
	inherit []*os.File        // what the run finds open, from 3 on
	closers []func()

	victim   *exec.Cmd
	victimAt uint64
	was      string // the victim's state at the start
	before   tree

	listening  *net.TCPListener
	listening6 *net.TCPListener
	asking     *net.UDPConn
	terminal   *terminal // the run's own
	other      *terminal // somebody else's

	mu       sync.Mutex
	arrived  []string
	last     string         // says that all that was sent before has arrived
	heard    chan string    // where it has
	readers  sync.WaitGroup // of connections and pipes
	swapping chan struct{}
}

func word(prefix string) string {
	var b [10]byte
	rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}

func (s *scene) secret(place string) string {
	w := word("secret")
	s.mu.Lock()
	s.secrets[w] = place
	s.mu.Unlock()
	return w
}

// newScene makes the surroundings in a new directory below root.
func newScene(root string, p *Program) (*scene, error) {
	dir, err := os.MkdirTemp(root, "scene-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s := &scene{dir: dir, job: p.Job, bystander: strings.Contains(p.Code, "BYSTANDER"), mark: word("mark"), last: word("last"), heard: make(chan string, 64), secrets: map[string]string{}, key: 0x5ce0000 + int(time.Now().UnixNano()&0xffff)<<4 + os.Getpid()&15}
	s.home, s.outside, s.skill, s.state = dir+"/home", dir+"/home/Documents", dir+"/skill", dir+"/state"
	s.ws = s.home + "/project"
	for _, plant := range [...]func(*Program) error{s.plantFiles, s.listen, s.plantShared, s.open, s.startVictim} {
		if err := plant(p); err != nil {
			s.close()
			return nil, fmt.Errorf("set the scene: %w", err)
		}
	}
	s.before = s.look()
	return s, nil
}

// manifest is what the run is granted: the workspace without deleting, and
// programs.
const manifest = `{"skill_metadata": {"name": "suite", "version": "1.0.0", "description": "a skill", "trust_tier": 1}, "permissions": [
  {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}, "fallback_msg": "x"},
  {"capability": "filesystem.write", "effect": "allow", "constraints": {"workspace_only": true}, "fallback_msg": "x"},
  {"capability": "shell.execute", "effect": "allow", "fallback_msg": "x"}]}
`

// jobManifest is what ordinary jobs are granted.
const jobManifest = `{"skill_metadata": {"name": "suite", "version": "1.0.0", "description": "a skill", "trust_tier": 1}, "permissions": [
  {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}, "fallback_msg": "x"},
  {"capability": "filesystem.write", "effect": "allow", "constraints": {"workspace_only": true}, "fallback_msg": "x"},
  {"capability": "filesystem.delete", "effect": "allow", "constraints": {"workspace_only": true}, "fallback_msg": "x"},
  {"capability": "source_code.execute", "effect": "allow", "fallback_msg": "x"},
  {"capability": "commit.create", "effect": "allow", "fallback_msg": "x"},
  {"capability": "shell.execute", "effect": "allow", "fallback_msg": "x"}]}
`

// plantFiles makes home, workspace and skill. "$" in a text becomes a secret.
func (s *scene) plantFiles(p *Program) error {
	manifest := manifest
	if p.Job {
		manifest = jobManifest
	}
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		return err
	}
	for _, f := range [...]struct {
		path string
		mode os.FileMode
		text string
	}{
		{"home/.ssh/id_ed25519", 0o600, "$"}, {"home/.aws/credentials", 0o600, "$"}, {"home/.bashrc", 0o644, "alias\n"},
		{"home/.config/gh/hosts.yml", 0o600, "$"}, {"home/.config/skillrun/config.toml", 0o600, "# $\n"}, {"home/.local/bin/tool", 0o755, "#!/bin/sh\n"},
		{"home/.cache/app/data", 0o600, "$"}, {"home/Documents/file", 0o644, "$"}, {"home/Documents/victim", 0o644, "old\n"}, {"home/Documents/dir/inner", 0o644, "$"},
		{"home/Documents/setuid", 0o755, "x"},
		{"home/project/README.md", 0o644, "old\n"}, {"home/project/old.txt", 0o644, "old\n"}, {"home/project/olddir/inner.txt", 0o644, "old\n"},
		{"home/project/.env", 0o600, "TOKEN=$\n"}, {"home/project/server.key", 0o600, "$"}, {"home/project/sub/.env", 0o600, "$"}, {"home/project/sub/.git/config", 0o644, "[core]\n"},
		{"home/project/.git/HEAD", 0o644, "ref: refs/heads/main\n"}, {"home/project/.git/config", 0o644, "[core]\n\trepositoryformatversion = 0\n"},
		{"home/project/.git/hooks/pre-commit", 0o755, "#!/bin/sh\n"}, {"home/project/.git/objects/info/x", 0o644, ""}, {"home/project/.git/refs/heads/x", 0o644, ""},
		{"home/project/node_modules/pkg/index.js", 0o644, ""}, {"home/project/src/.vscode/settings.json", 0o644, "{}\n"}, {"home/project/.github/x.yml", 0o644, ""},
		{"home/project/.github/workflows/ci.yml", 0o644, "on: push\n"}, {"home/project/hard.txt", 0o644, "old\n"},
		{"skill/SKILL.md", 0o644, "---\nname: suite\ndescription: a skill\n---\n"}, {"skill/skillguard-manifest.json", 0o644, manifest},
		{"state/other", 0o600, "$"},
	} {
		if p.Plain && strings.HasPrefix(f.path, "home/project/") && strings.Contains(f.text, "$") {
			continue
		}
		path := filepath.Join(s.dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if head, tail, ok := strings.Cut(f.text, "$"); ok {
			f.text = head + s.secret(f.path) + tail
		}
		if err := os.WriteFile(path, []byte(f.text), f.mode); err != nil {
			return err
		}
		if err := os.Chmod(path, f.mode); err != nil { // whatever the umask
			return err
		}
	}
	if !p.Job {
		if err := s.leadElsewhere(); err != nil {
			return err
		}
	}
	if err := os.WriteFile(s.outside+"/program", program, 0o755); err != nil {
		return err
	}
	os.Chmod(s.state, 0o700)
	if !p.Plain {
		if err := os.Link(s.ws+"/.env", s.ws+"/hard"); err != nil {
			return err
		}
	}
	return errors.Join(
		os.Chmod(s.outside+"/setuid", 0o755|os.ModeSetuid),
		os.Mkdir(s.outside+"/empty", 0o755),
		os.Symlink("file", s.outside+"/link"),
		os.Symlink("../Documents/file", s.ws+"/out"),
		os.Symlink("README.md", s.ws+"/swap"),
		os.Link(s.ws+"/.git/config", s.ws+"/hardconfig"),
		unix.Setxattr(s.outside+"/file", "user.canary", []byte("1"), 0),
	)
}

// leadElsewhere makes what is denied or obeyed in the workspace by way of a link, a
// file that git follows or git's configuration.
func (s *scene) leadElsewhere() error {
	for name, text := range map[string]string{
		"conf/local": s.secret("home/project/conf/local"), "ai/settings.json": "{}\n", "tools/hooks/pre-commit": "#!/bin/sh\n", "tools/x.sh": "true\n", "tools/gitconfig": "",
		"mods.git/HEAD": "ref: refs/heads/main\n", "mods.git/config": "[core]\n", "mods.git/objects/info/x": "", "mods.git/refs/heads/x": "", "mods/.git": "gitdir: ../mods.git\n",
		".git/config": "[core]\n\trepositoryformatversion = 0\n\thooksPath = tools/hooks\n[include]\n\tpath = ../tools/gitconfig\n[alias]\n\tx = !sh tools/x.sh\n",
	} {
		path := filepath.Join(s.ws, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(os.Symlink("../conf/local", s.ws+"/sub/.env.local"), os.Symlink("ai", s.ws+"/.roo"))
}

// open makes what the run inherits, and its terminal.
func (s *scene) open(p *Program) (err error) {
	file, err := os.Open(s.outside + "/file")
	if err != nil {
		return err
	}
	dir, err := os.Open(s.outside)
	if err != nil {
		return err
	}
	pipe, end, err := os.Pipe()
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp4", s.listening.Addr().String())
	if err != nil {
		return err
	}
	tcp, err := conn.(*net.TCPConn).File()
	conn.Close()
	if err != nil {
		return err
	}
	conn, err = net.Dial("unix", s.outside+"/sock")
	if err != nil {
		return err
	}
	local, err := conn.(*net.UnixConn).File()
	conn.Close()
	if err != nil {
		return err
	}
	s.inherit = []*os.File{file, dir, end, tcp, local}
	s.readers.Go(func() { s.drain("an inherited pipe", pipe) })
	if p.Terminal {
		if s.terminal, err = openTerminal(); err != nil {
			return err
		}
	}
	if strings.Contains(p.Code, "PTS") {
		if s.other, err = openTerminal(); err != nil {
			return err
		}
		go s.drain("another terminal", s.other.master)
	}
	return nil
}

// facts are the places that attempts know by name, as Python.
func (s *scene) facts() string {
	port := func(a net.Addr) int {
		_, p, _ := net.SplitHostPort(a.String())
		n, _ := strconv.Atoi(p)
		return n
	}
	var b strings.Builder
	for _, v := range [...][2]string{
		{"HOME", s.home}, {"W", s.ws}, {"O", s.outside}, {"SKILL", s.skill}, {"STATE", s.state}, {"TMP", s.tmp}, {"SHM", s.shm}, {"MARK", s.mark},
		{"SOCK", s.outside + "/sock"}, {"DGRAM", s.outside + "/dgram"}, {"SEQ", s.outside + "/seq"}, {"ABSTRACT", s.mark},
	} {
		fmt.Fprintf(&b, "%s = %q\n", v[0], v[1])
	}
	fmt.Fprintf(&b, "TCP, UDP, SYSV = ('127.0.0.1', %d), ('127.0.0.1', %d), %d\n", port(s.listening.Addr()), port(s.asking.LocalAddr()), s.key)
	if s.listening6 != nil {
		fmt.Fprintf(&b, "TCP6 = ('::1', %d)\n", port(s.listening6.Addr()))
	}
	if s.victim != nil {
		fmt.Fprintf(&b, "VICTIM, VICTIM_AT = %d, %d\n", s.victim.Process.Pid, s.victimAt)
	}
	if s.other != nil {
		fmt.Fprintf(&b, "PTS = %q\n", s.other.slave.Name())
	}
	return b.String()
}

// plantShared makes what programs of one user share outside of their
// directories: names in /tmp and /dev/shm, System V and POSIX objects.
func (s *scene) plantShared(*Program) (err error) {
	if s.tmp, err = os.MkdirTemp("/tmp", "other-program-"); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { os.RemoveAll(s.tmp) })
	if err := os.WriteFile(s.tmp+"/file", []byte(s.secret("/tmp")), 0o600); err != nil {
		return err
	}
	s.shm = "/dev/shm/" + s.mark + "-other"
	s.closers = append(s.closers, func() { os.Remove(s.shm); os.Remove("/dev/shm/" + s.mark) })
	if err := os.WriteFile(s.shm, []byte(s.secret("/dev/shm")), 0o600); err != nil {
		return err
	}
	const create = unix.IPC_CREAT | unix.IPC_EXCL | 0o600
	if id, err := unix.SysvShmGet(s.key, 64, create); err == nil {
		s.closers = append(s.closers, func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
		at, err := unix.SysvShmAttach(id, 0, 0)
		if err != nil {
			return err
		}
		copy(at, s.secret("System V shared memory"))
		if err := unix.SysvShmDetach(at); err != nil {
			return err
		}
	}
	if id, _, e := syscall.Syscall(unix.SYS_MSGGET, uintptr(s.key), create, 0); e == 0 {
		s.closers = append(s.closers, func() { syscall.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0) })
		m := struct {
			kind int64
			text [64]byte
		}{kind: 1}
		copy(m.text[:], s.secret("System V messages"))
		syscall.Syscall6(unix.SYS_MSGSND, id, uintptr(unsafe.Pointer(&m)), 64, unix.IPC_NOWAIT, 0, 0)
	}
	if id, _, e := syscall.Syscall(unix.SYS_SEMGET, uintptr(s.key), 1, create); e == 0 {
		s.closers = append(s.closers, func() { syscall.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) })
	}
	name, err := syscall.BytePtrFromString("canary-" + s.mark)
	if err != nil {
		return err
	}
	small := [8]int{1: 1, 2: 64} // struct mq_attr: of the usual size a user may have nine
	if fd, _, e := syscall.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_EXCL|unix.O_RDWR, 0o600, uintptr(unsafe.Pointer(&small)), 0, 0); e == 0 {
		unix.Close(int(fd))
		s.closers = append(s.closers, func() { syscall.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0) })
	}
	return nil
}

// semaphore reads the System V semaphore, -1 if there is none.
func (s *scene) semaphore() int {
	id, _, e := syscall.Syscall(unix.SYS_SEMGET, uintptr(s.key), 1, 0)
	if e != 0 {
		return -1
	}
	const getval = 12
	n, _, _ := syscall.Syscall(unix.SYS_SEMCTL, id, 0, getval)
	return int(n)
}

func (s *scene) startVictim(p *Program) error {
	if !p.Victim {
		return nil
	}
	code, err := files.ReadFile("attempts/victim.py")
	if err != nil {
		return err
	}
	path := s.dir + "/victim.py"
	if err := os.WriteFile(path, code, 0o644); err != nil {
		return err
	}
	// Named so that its mapping can be told.
	if err := os.WriteFile(s.outside+"/secret", []byte(s.secret("a file of another process")), 0o600); err != nil {
		return err
	}
	in, err := os.Open(s.outside + "/secret")
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := exec.Command(python, "-I", "-S", "-B", path, s.secret("another process's arguments"))
	cmd.Dir, cmd.Stdin = s.outside, in
	cmd.Env = []string{"TOKEN=" + s.secret("another process's environment"), "IN_MEMORY=" + s.secret("another process's memory")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.victim = cmd
	// Not whatever this process was started with, which may be what an attempt sets.
	const bestEffort = 2<<13 | 4
	if _, _, err := syscall.Syscall(unix.SYS_IOPRIO_SET, 1, uintptr(cmd.Process.Pid), bestEffort); err != 0 {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the other process: %w", err)
	}
	if s.victimAt, err = strconv.ParseUint(strings.TrimSpace(line), 10, 64); err != nil {
		return err
	}
	s.was = s.victimState()
	return nil
}

func (s *scene) listen(*Program) (err error) {
	loopback := net.IPv4(127, 0, 0, 1)
	if s.listening, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: loopback}); err != nil {
		return err
	}
	if s.asking, err = net.ListenUDP("udp4", &net.UDPAddr{IP: loopback}); err != nil {
		return err
	}
	// A machine may have no IPv6; what needs it then has no control.
	s.listening6, _ = net.ListenTCP("tcp6", &net.TCPAddr{IP: net.IPv6loopback})
	open := []io.Closer{s.listening, s.asking}
	go s.accept("TCP", s.listening)
	go s.receive("UDP", s.asking)
	if s.listening6 != nil {
		open = append(open, s.listening6)
		go s.accept("TCP over IPv6", s.listening6)
	}
	// Paths of unix sockets are short: by the directory's descriptor.
	dir, err := os.Open(s.outside)
	if err != nil {
		return err
	}
	defer dir.Close()
	at := fmt.Sprintf("/proc/self/fd/%d/", dir.Fd())
	for _, l := range [...]struct{ where, network, name string }{
		{"a unix socket", "unix", at + "sock"}, {"unix packets", "unixpacket", at + "seq"}, {"an abstract socket", "unix", "@" + s.mark}, {"a unix datagram", "unixgram", at + "dgram"},
	} {
		if l.network == "unixgram" {
			c, err := net.ListenUnixgram(l.network, &net.UnixAddr{Name: l.name, Net: l.network})
			if err != nil {
				return err
			}
			open = append(open, c)
			go s.receive(l.where, c)
			continue
		}
		c, err := net.ListenUnix(l.network, &net.UnixAddr{Name: l.name, Net: l.network})
		if err != nil {
			return err
		}
		c.SetUnlinkOnClose(false)
		open = append(open, c)
		go s.accept(l.where, c)
	}
	s.closers = append(s.closers, func() {
		for _, c := range open {
			c.Close()
		}
	})
	return nil
}

func (s *scene) accept(where string, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.readers.Go(func() {
			defer c.Close()
			s.serve(where, c)
		})
	}
}

// serve notes what arrives, and hands out a file to who asks for it.
func (s *scene) serve(where string, c net.Conn) {
	var all []byte
	buf := make([]byte, 1<<12)
	for {
		n, err := c.Read(buf)
		all = append(all, buf[:n]...)
		s.note(where, all)
		if u, ok := c.(*net.UnixConn); ok && strings.Contains(string(all), "send the file") {
			if f, err := os.Open(s.outside + "/file"); err == nil {
				u.WriteMsgUnix([]byte("here"), unix.UnixRights(int(f.Fd())), nil)
				f.Close()
			}
			all = nil
		}
		if err != nil || len(all) > 1<<16 {
			return
		}
	}
}

func (s *scene) receive(where string, c net.Conn) {
	buf := make([]byte, 1<<12)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		s.note(where, buf[:n])
	}
}

func (s *scene) drain(where string, f *os.File) {
	defer f.Close()
	buf := make([]byte, 1<<12)
	var all []byte
	for {
		n, err := f.Read(buf)
		all = append(all, buf[:n]...)
		s.note(where, all)
		if err != nil {
			return
		}
	}
}

// note remembers what of this scene is in the data.
func (s *scene) note(where string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(string(data), s.last) {
		select {
		case s.heard <- where:
		default:
		}
	}
	if strings.Contains(string(data), s.mark) {
		s.arrived = append(s.arrived, "arrived by "+where)
	}
	for w, place := range s.secrets {
		if strings.Contains(string(data), w) {
			s.arrived = append(s.arrived, "the secret of "+place+" arrived by "+where)
		}
	}
}

// settle waits until what the run sent has arrived wherever it went: what is
// sent now to the same place arrives after it. Connections that something
// outside keeps open are not waited for longer than a moment.
func (s *scene) settle() {
	for _, f := range s.inherit {
		f.Close() // theirs and ours: the last end but the run's
	}
	dir, err := os.Open(s.outside)
	if err != nil {
		return
	}
	defer dir.Close()
	at, wait := fmt.Sprintf("/proc/self/fd/%d/", dir.Fd()), map[string]bool{}
	for _, to := range [...]struct{ where, network, address string }{
		{"TCP", "tcp4", s.listening.Addr().String()}, {"TCP over IPv6", "tcp6", s.address6()}, {"UDP", "udp4", s.asking.LocalAddr().String()},
		{"a unix socket", "unix", at + "sock"}, {"unix packets", "unixpacket", at + "seq"}, {"an abstract socket", "unix", "@" + s.mark}, {"a unix datagram", "unixgram", at + "dgram"},
	} {
		c, err := net.Dial(to.network, to.address)
		if err != nil {
			continue // none, or the control moved it
		}
		if _, err := c.Write([]byte(s.last)); err == nil {
			wait[to.where] = true
		}
		c.Close()
	}
	if s.other != nil {
		if _, err := s.other.slave.WriteString(s.last); err == nil {
			wait["another terminal"] = true
		}
	}
	moment := time.After(5 * time.Second)
	for len(wait) > 0 {
		select {
		case where := <-s.heard:
			delete(wait, where)
		case <-moment:
			return
		}
	}
	read := make(chan struct{})
	go func() { s.readers.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(time.Second):
	}
}

func (s *scene) address6() string {
	if s.listening6 == nil {
		return ""
	}
	return s.listening6.Addr().String()
}

// do is something done outside while the run goes on, because it asked for it.
func (s *scene) do(words []string) {
	switch {
	case words[0] == "plant" && len(words) == 2:
		w := s.secret(strings.TrimPrefix(words[1], s.dir+"/"))
		os.WriteFile(words[1], []byte(w), 0o600)
		s.before.add(s, words[1])
		s.before.add(s, filepath.Dir(words[1]))
	case words[0] == "swap" && len(words) == 3:
		stop, done := make(chan struct{}), make(chan struct{})
		s.swapping = stop
		go func() {
			defer close(done)
			next := words[1] + ".next"
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				os.Symlink([...]string{"README.md", words[2]}[i%2], next)
				os.Rename(next, words[1])
				runtime.Gosched()
			}
		}()
		s.closers = append(s.closers, func() { s.calm(); <-done })
	case words[0] == "dial" && len(words) == 2:
		if conn, err := net.Dial("unix", "@"+words[1]); err == nil {
			s.closers = append(s.closers, func() { conn.Close() })
		}
	case words[0] == "type" && s.other != nil:
		s.other.master.Write([]byte(s.secret("what is typed elsewhere") + "\n"))
	case words[0] == "interrupt" && s.terminal != nil:
		s.terminal.master.Write([]byte{3})
	case words[0] == "calm":
		s.calm()
	}
}

func (s *scene) calm() {
	if s.swapping != nil {
		close(s.swapping)
		s.swapping = nil
	}
}

// close ends what the scene started and removes what it made.
func (s *scene) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
	for _, f := range s.inherit {
		f.Close()
	}
	for _, t := range [...]*terminal{s.terminal, s.other} {
		if t != nil {
			t.slave.Close()
			t.master.Close()
		}
	}
	if s.victim != nil {
		s.victim.Process.Kill()
		s.victim.Wait()
	}
	// What a control made unreadable or immutable has to go all the same.
	filepath.WalkDir(s.dir, func(path string, d os.DirEntry, _ error) error {
		clearFlags(path, d)
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	os.RemoveAll(s.dir)
}
