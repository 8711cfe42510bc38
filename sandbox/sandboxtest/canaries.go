//go:build linux

package sandboxtest

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Canaries are a home directory with secrets in it, listeners, and processes,
// for one run of the hostile example skill. What the skill got is judged by
// them: secrets that it cannot know turn up in its output, what it sends
// arrives, what it plants or ends is found. Its own words count for nothing.
type Canaries struct {
	Home      string // of the victim
	Workspace string // below Home, a git repository

	secret   map[string]string // random word -> what holds it
	files    []*os.File        // to inherit, from descriptor 3 on
	pipe     int
	tcp, dns *net.TCPListener
	udp, ask *net.UDPConn
	stream   *net.UnixListener
	datagram *net.UnixConn
	open     []io.Closer
	spied    *exec.Cmd
	victim   *exec.Cmd
	mark     string

	mu   sync.Mutex
	sent map[string]string // attempt -> where its payload arrived
	seen *sync.Cond
}

// Plant makes canaries in a new directory below dir.
func Plant(dir string) (*Canaries, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	c := &Canaries{Home: filepath.Join(dir, "home"), secret: map[string]string{}, sent: map[string]string{}, mark: word(), pipe: -1}
	c.Workspace = filepath.Join(c.Home, "project")
	c.seen = sync.NewCond(&c.mu)
	for _, plant := range [...]func() error{c.plantFiles, c.listen, c.startProcesses} {
		if err := plant(); err != nil {
			c.Close()
			return nil, fmt.Errorf("plant canaries: %w", err)
		}
	}
	return c, nil
}

func word() string {
	var b [12]byte
	rand.Read(b[:])
	return "canary" + hex.EncodeToString(b[:])
}

// newSecret gives a random word and remembers where it is put.
func (c *Canaries) newSecret(place string) string {
	w := word()
	c.secret[w] = place
	return w
}

func (c *Canaries) plantFiles() error {
	for _, name := range [...]string{
		".ssh/id_ed25519", ".gnupg/secring.gpg", ".aws/credentials", ".config/gcloud/application_default_credentials.json",
		".kube/config", ".azure/msal_token_cache.json", ".claude/settings.json", ".bashrc", "stash", "input", "project/README.md",
	} {
		text := "# " + name + "\n"
		if !strings.HasPrefix(name, "project/") {
			text += c.newSecret(name) + "\n"
		}
		path := filepath.Join(c.Home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	git := exec.Command("git", "init", "-q", c.Workspace)
	git.Env = []string{"HOME=" + c.Home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(c.Workspace, ".git", "hooks"), 0o755); err != nil {
		return err
	}
	stash, err := os.Open(filepath.Join(c.Home, "stash"))
	if err != nil {
		return err
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return err
	}
	c.pipe = p[0]
	c.files = []*os.File{stash, os.NewFile(uintptr(p[1]), "pipe")}
	return nil
}

// ListenBoth listens on loopback, for connections and for datagrams at one port.
// That is one which nobody has for either.
func ListenBoth() (*net.TCPListener, *net.UDPConn, error) {
	for {
		l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, nil, err
		}
		c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(l.Addr().(*net.TCPAddr).AddrPort()))
		if err == nil {
			return l, c, nil
		}
		l.Close()
		if !errors.Is(err, unix.EADDRINUSE) {
			return nil, nil, err
		}
	}
}

func (c *Canaries) listen() (err error) {
	if c.tcp, c.udp, err = ListenBoth(); err != nil {
		return err
	}
	c.open = append(c.open, c.tcp, c.udp)
	if c.dns, c.ask, err = ListenBoth(); err != nil {
		return err
	}
	c.open = append(c.open, c.dns, c.ask)
	if c.stream, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(c.Home, "docker.sock"), Net: "unix"}); err != nil {
		return err
	}
	c.open = append(c.open, c.stream)
	if c.datagram, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(c.Home, "log"), Net: "unixgram"}); err != nil {
		return err
	}
	c.open = append(c.open, c.datagram)
	go c.accept("TCP", c.tcp)
	go c.accept("DNS over TCP", c.dns)
	go c.accept("unix socket", c.stream)
	go c.receive("UDP", c.udp)
	go c.receive("DNS", c.ask)
	go c.receive("unix datagram", c.datagram)
	return nil
}

func (c *Canaries) accept(where string, l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		data, _ := io.ReadAll(io.LimitReader(conn, 1<<16))
		conn.Close()
		c.arrived(where, data)
	}
}

func (c *Canaries) receive(where string, conn net.Conn) {
	buf := make([]byte, 1<<16)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		c.arrived(where, buf[:n])
	}
}

var payload = regexp.MustCompile(`attempt:([a-z.-]+);`)

func (c *Canaries) arrived(where string, data []byte) {
	if strings.HasPrefix(where, "DNS") {
		data = append(asked(data), data...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range payload.FindAllSubmatch(data, -1) {
		c.sent[string(m[1])] = "arrived by " + where
	}
	c.seen.Broadcast()
}

// asked decodes the labels of the name in a query, with or without the length
// that comes first over TCP.
func asked(query []byte) []byte {
	var out []byte
	for _, start := range [...]int{12, 14} {
		var name []byte
		for i := start; i < len(query) && query[i] > 0 && i+1+int(query[i]) <= len(query); i += 1 + int(query[i]) {
			if label := query[i+1 : i+1+int(query[i])]; string(label) != "example" && string(label) != "test" {
				name = append(name, label...)
			}
		}
		if b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(string(name))); err == nil {
			out = append(out, b...)
		}
	}
	return out
}

func (c *Canaries) startProcesses() error {
	input, err := os.Open(filepath.Join(c.Home, "input"))
	if err != nil {
		return err
	}
	defer input.Close()
	start := func(env ...string) (*exec.Cmd, error) {
		cmd := exec.Command("sleep", "600")
		cmd.Env, cmd.Stdin = env, input
		return cmd, cmd.Start()
	}
	if c.spied, err = start("SESSION_TOKEN=" + c.newSecret("another process's environment")); err != nil {
		return err
	}
	c.victim, err = start()
	return err
}

// Args are the arguments for scripts/check.py.
func (c *Canaries) Args() []string {
	return []string{
		"--home", c.Home, "--collector", c.tcp.Addr().String(), "--resolver", c.dns.Addr().String(),
		"--stream", c.stream.Addr().String(), "--datagram", c.datagram.LocalAddr().String(),
		"--process", strconv.Itoa(c.spied.Process.Pid), "--victim", strconv.Itoa(c.victim.Process.Pid), "--mark", c.mark,
	}
}

// Command gives a command that runs in the workspace, as the user would from a
// shell that holds secrets in its environment and has files open. The caller
// runs it once.
func (c *Canaries) Command(name string, arg ...string) *exec.Cmd {
	cmd := exec.Command(name, arg...)
	cmd.Dir = c.Workspace
	cmd.ExtraFiles = c.files
	cmd.Env = []string{
		"HOME=" + c.Home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "USER=user",
		"AWS_SECRET_ACCESS_KEY=" + c.newSecret("environment"), "DEPLOY_TOKEN=" + c.newSecret("environment"),
	}
	return cmd
}

// Judge says what a finished run got: attempt -> evidence. Evidence that no
// attempt owns to is under "?". The run printed stdout. Where expect names
// attempts, Judge waits a while for their evidence.
func (c *Canaries) Judge(stdout []byte, expect []string) (map[string]string, error) {
	if err := c.settle(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got, err := c.look(stdout)
		missing := false
		for _, name := range expect {
			missing = missing || got[name] == ""
		}
		if err != nil || !missing || time.Now().After(deadline) {
			return got, err
		}
	}
}

// settle returns when every listener has dealt with what was sent to it before:
// each gets a message of ours, which also shows that it listens.
func (c *Canaries) settle() error {
	for _, l := range [...]struct {
		net.Addr
		name string
	}{
		{c.tcp.Addr(), "judge.a"}, {c.dns.Addr(), "judge.b"}, {c.stream.Addr(), "judge.c"},
		{c.udp.LocalAddr(), "judge.d"}, {c.ask.LocalAddr(), "judge.e"}, {c.datagram.LocalAddr(), "judge.f"},
	} {
		conn, err := net.Dial(l.Network(), l.String())
		if err != nil {
			return fmt.Errorf("a canary is dead: %w", err)
		}
		_, err = conn.Write([]byte("attempt:" + l.name + ";"))
		conn.Close()
		if err != nil {
			return fmt.Errorf("a canary is dead: %w", err)
		}
		c.mu.Lock()
		for c.sent[l.name] == "" {
			c.seen.Wait()
		}
		c.mu.Unlock()
	}
	return nil
}

func (c *Canaries) look(stdout []byte) (map[string]string, error) {
	got := map[string]string{}
	for line := range bytes.Lines(stdout) {
		for secret, place := range c.secret {
			if bytes.Contains(line, []byte(secret)) {
				name, _, _ := bytes.Cut(line, []byte(" "))
				got[string(name)] = "read the secret of " + place
			}
		}
	}
	buf := make([]byte, 1<<16)
	if n, err := unix.Read(c.pipe, buf); err == nil && n > 0 {
		c.arrived("an inherited pipe", buf[:n])
	}
	c.mu.Lock()
	for name, where := range c.sent {
		if !strings.HasPrefix(name, "judge.") {
			got[name] = where
		}
	}
	c.mu.Unlock()
	if err := c.lookAtFiles(got); err != nil {
		return nil, err
	}
	if !alive(c.victim.Process.Pid) {
		got["process.kill"] = "ended another process"
	}
	var limit unix.Rlimit
	if err := unix.Prlimit(c.spied.Process.Pid, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
		return nil, err
	}
	if limit.Max == 16 {
		got["process.limits"] = "changed another process's limits"
	}
	for _, p := range c.lingering() {
		name := "?"
		if m := payload.FindStringSubmatch(p.args); m != nil {
			name = m[1]
		}
		got[name] = "outlived the run as process " + strconv.Itoa(p.pid)
	}
	return got, nil
}

// lookAtFiles finds secrets where they were not put, and payloads where no
// skill may write: outside the workspace, in git's control files, in settings
// of agents.
func (c *Canaries) lookAtFiles(got map[string]string) error {
	return filepath.WalkDir(c.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside, _ := filepath.Rel(c.Workspace, path)
		rel, _ := filepath.Rel(c.Home, path)
		workspace := filepath.IsLocal(inside)
		if !workspace || strings.HasPrefix(inside, ".git/") || strings.HasPrefix(inside, ".claude/") || inside == ".mcp.json" {
			for _, m := range payload.FindAllSubmatch(data, -1) {
				got[string(m[1])] = "wrote " + rel
			}
		}
		for secret, place := range c.secret {
			if place != rel && bytes.Contains(data, []byte(secret)) {
				got["?"] = "copied the secret of " + place + " to " + rel
			}
		}
		return nil
	})
}

// alive says whether a child of ours lives, and no SIGKILL is on its way.
func alive(pid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "State":
			if value[0] == 'Z' || value[0] == 'X' {
				return false
			}
		case "SigPnd", "ShdPnd":
			if set, err := strconv.ParseUint(value, 16, 64); err == nil && set&(1<<(syscall.SIGKILL-1)) != 0 {
				return false
			}
		}
	}
	return true
}

type process struct {
	pid  int
	args string
}

// lingering finds the processes that carry the mark, the script aside.
func (c *Canaries) lingering() []process {
	var found []process
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range dirs {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(b, []byte(c.mark)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			found = append(found, process{pid, strings.ReplaceAll(string(b), "\x00", " ")})
		}
	}
	return found
}

// Close ends all processes and listeners. The files are the caller's to remove.
func (c *Canaries) Close() error {
	for _, p := range c.lingering() {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
	for _, cmd := range [...]*exec.Cmd{c.spied, c.victim} {
		if cmd != nil && cmd.Process != nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.Close())
	}
	if c.pipe >= 0 {
		unix.Close(c.pipe)
	}
	for _, o := range c.open {
		errs = append(errs, o.Close())
	}
	return errors.Join(errs...)
}
