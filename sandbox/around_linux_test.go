package sandbox_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// What a program knows of what is around it.
const (
	heldVar     = "PROGRAM_HELD"     // how many descriptors it starts with
	executedVar = "PROGRAM_EXECUTED" // it only says that this was executed
	victimVar   = "PROGRAM_VICTIM"   // a process outside
	portVar     = "PROGRAM_PORT"     // of a server outside
	abstractVar = "PROGRAM_ABSTRACT" // the abstract name of another
)

// surroundings are outside of a program: a process, and servers. Nobody may
// disturb the one and reach the others.
type surroundings struct {
	t        *testing.T
	victim   *exec.Cmd
	input    *os.File
	was      string         // what can be told of the victim
	word     string         // in its environment
	sockets  map[string]int // by path or abstract name
	tcp      *net.TCPListener
	udp      *net.UDPConn
	abstract string
}

const victimProgram = "sleep"

var socketTypes = []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_SEQPACKET}

func newSurroundings(t *testing.T, root, outside string) *surroundings {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a := &surroundings{t: t, word: fmt.Sprintf("word %x", rand.Uint64()), sockets: map[string]int{}, abstract: fmt.Sprintf("@random-%x", rand.Uint64())}
	a.victim = exec.Command(victimProgram, "1000")
	a.victim.Env, a.victim.Dir = []string{"SECRET=" + a.word}, outside
	a.victim.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: 0}
	var err error
	a.input, err = os.OpenFile(filepath.Join(outside, fileNames[0]), os.O_RDWR, 0)
	must(err)
	a.victim.Stdin = a.input
	must(a.victim.Start())
	a.was = a.describe()
	for i, name := range []string{root + "/listen", root + "/a/listen", outside + "/listen", a.abstract} {
		fd, err := unix.Socket(unix.AF_UNIX, socketTypes[i%len(socketTypes)]|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		must(err)
		must(unix.Bind(fd, &unix.SockaddrUnix{Name: name}))
		if i%len(socketTypes) != 1 {
			must(unix.Listen(fd, 16))
		}
		a.sockets[name] = fd
	}
	a.tcp, a.udp, err = sandboxtest.ListenBoth()
	must(err)
	return a
}

func (a *surroundings) close() {
	a.victim.Process.Kill()
	a.victim.Wait()
	// Children that nobody waited for came to this process, which runs have made
	// the one that orphans go to.
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
			break
		}
	}
	a.input.Close()
	for _, fd := range a.sockets {
		unix.Close(fd)
	}
	a.tcp.Close()
	a.udp.Close()
}

// env tells a program.
func (a *surroundings) env() []profiles.EnvVar {
	return []profiles.EnvVar{
		{Name: abstractVar, Value: a.abstract},
		{Name: portVar, Value: strconv.Itoa(a.tcp.Addr().(*net.TCPAddr).Port)},
		{Name: victimVar, Value: strconv.Itoa(a.victim.Process.Pid)},
	}
}

// describe is what others can change of the victim.
func (a *surroundings) describe() string {
	pid := a.victim.Process.Pid
	var text strings.Builder
	for _, name := range []string{"stat", "status", "limits", "oom_score_adj", "timerslack_ns"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil && name == "stat" {
			return "gone"
		}
		switch name { // what may not be read is told by nothing
		case "stat":
			f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
			if !strings.Contains("TtZX", f[0]) {
				f[0] = "goes on"
			}
			// State, process group, session, priority, nice value, policy.
			fmt.Fprintln(&text, f[0], f[2], f[3], f[15], f[16], f[38])
		case "status":
			for line := range strings.Lines(string(b)) {
				if strings.HasPrefix(line, "TracerPid") || strings.HasPrefix(line, "SigPnd") || strings.HasPrefix(line, "ShdPnd") || strings.HasPrefix(line, "Cpus_allowed:") {
					text.WriteString(line)
				}
			}
		default:
			text.Write(b)
		}
	}
	io, _, _ := syscall.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(pid), 0)
	fmt.Fprintln(&text, "priority of its files", io)
	return text.String()
}

// crimes are what a program did to its surroundings; it may talk to one socket.
func (a *surroundings) crimes(p *profiles.Profile, output []byte) []string {
	var list []string
	if now := a.describe(); now != a.was {
		list = append(list, fmt.Sprintf("disturbed: a process outside: %s -> %s", a.was, now))
	}
	if bytes.Contains(output, []byte(a.word)) {
		list = append(list, "read: the environment of a process outside")
	}
	for name, fd := range a.sockets {
		if slices.ContainsFunc(p.Sockets, func(r profiles.SocketRule) bool { return r.Path == name }) {
			continue
		}
		if conn, _, err := unix.Accept(fd); err == nil {
			unix.Close(conn)
			list = append(list, "connected: "+name)
		}
		if n, _, err := unix.Recvfrom(fd, make([]byte, 8), unix.MSG_DONTWAIT); err == nil && n >= 0 {
			list = append(list, "sent: "+name)
		}
	}
	meets := func(c syscall.Conn) (met bool) {
		raw, err := c.SyscallConn()
		if err != nil {
			a.t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			met = err == nil && n > 0
		})
		return met
	}
	if meets(a.tcp) {
		list = append(list, "connected: tcp")
	}
	if meets(a.udp) {
		list = append(list, "sent: udp")
	}
	return list
}

// tangle adds second names: links of files, and of directories and of each other.
func tangle(t *testing.T, r *rand.Rand, dirs, files []string) (names []string) {
	t.Helper()
	add := func(call func(from, to string) error, from, to string) {
		if err := call(from, to); err != nil {
			t.Fatal(err)
		}
		names = append(names, to)
	}
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	for i := range r.IntN(5) {
		to := pick(dirs) + "/link" + strconv.Itoa(i)
		target := pick([]string{pick(dirs), pick(files), "../f", "../a", ".", ".git", filepath.Base(to), "/proc/self/cwd", "new1"})
		add(os.Symlink, target, to)
	}
	for i := range r.IntN(3) {
		add(os.Link, pick(files), pick(dirs)+"/second"+strconv.Itoa(i))
	}
	return names
}

// environ is this environment, with another value of one variable.
func environ(name, value string) []string {
	return append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, name+"=") }), name+"="+value)
}

// child has a child process do the rest, with the descriptors that are held. Who
// does not wait for it leaves it to itself.
func (p *performer) child(rest []step, n uint64) bool {
	env := append(environ(programVar, encoded(rest)), heldVar+"="+strconv.Itoa(len(p.held)))
	files := []uintptr{0, 1, 2}
	for _, fd := range p.held {
		files = append(files, uintptr(fd))
	}
	pid, err := syscall.ForkExec(os.Args[0], os.Args[:1], &syscall.ProcAttr{Env: env, Files: files, Sys: &syscall.SysProcAttr{Setsid: n&2 == 0}})
	if err != nil {
		return false
	}
	if n&1 == 0 {
		syscall.Wait4(pid, nil, 0, nil)
	}
	return true
}

// connect talks to a unix socket by name.
func (p *performer) connect(s step) {
	fd, err := unix.Socket(unix.AF_UNIX, socketTypes[s.N%3]|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	name := s.A
	switch s.N >> 8 & 7 {
	case 0:
		name = os.Getenv(abstractVar)
	case 1:
		if o, err := unix.Open(s.A, unix.O_PATH, 0); err == nil {
			defer unix.Close(o)
			name = proc(o)
		}
	}
	to := &unix.SockaddrUnix{Name: name}
	switch s.N >> 4 & 3 {
	case 0:
		unix.Sendto(fd, []byte("sent"), unix.MSG_NOSIGNAL, to)
	case 1:
		unix.Sendmsg(fd, []byte("sent"), nil, to, unix.MSG_NOSIGNAL)
	default:
		if unix.Connect(fd, to) == nil {
			unix.Sendto(fd, []byte("sent"), unix.MSG_NOSIGNAL, nil)
		}
	}
}

// internet talks to a server on this machine.
func internet(n uint64) {
	port, _ := strconv.Atoi(os.Getenv(portVar))
	family, to := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if n&1 == 0 {
		family, to = unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: [16]byte{10: 255, 11: 255, 12: 127, 15: 1}}
	}
	kind := [][2]int{{unix.SOCK_STREAM, 0}, {unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, {unix.SOCK_DGRAM, 0}, {unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE}}[n>>8%4]
	fd, err := unix.Socket(family, kind[0]|unix.SOCK_NONBLOCK, kind[1])
	if err != nil {
		return
	}
	defer unix.Close(fd)
	switch n >> 4 & 3 {
	case 0:
		unix.Sendto(fd, []byte("sent"), unix.MSG_FASTOPEN|unix.MSG_NOSIGNAL, to)
	case 1:
		unix.Sendmsg(fd, []byte("sent"), nil, to, unix.MSG_NOSIGNAL)
	default:
		unix.Connect(fd, to)
		unix.Sendto(fd, []byte("sent"), unix.MSG_NOSIGNAL, nil)
	}
}

// disturb does something to the process outside.
func disturb(n uint64) {
	pid, _ := strconv.Atoi(os.Getenv(victimVar))
	if pid <= 1 {
		return
	}
	// Who outlived a bare run may come here when the number is another's.
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && string(b) != victimProgram+"\n" {
		return
	}
	sig := []unix.Signal{unix.SIGTERM, unix.SIGSTOP, unix.SIGUSR1, unix.SIGKILL, unix.SIGIO}[n>>8%5]
	id := uintptr(pid)
	call := func(nr, a, b, c, d uintptr) { syscall.RawSyscall6(nr, a, b, c, d, 0, 0) }
	switch n % 14 {
	case 0:
		unix.Kill(pid, sig)
	case 1:
		unix.Kill(-pid, sig)
	case 2:
		unix.Tgkill(pid, pid, sig)
	case 3:
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			unix.PidfdSendSignal(fd, sig, nil, 0)
			unix.Close(fd)
		}
	case 4:
		unix.Setpriority(unix.PRIO_PROCESS, pid, 7)
	case 5:
		unix.Setpriority(unix.PRIO_PGRP, pid, 7)
	case 6:
		var set unix.CPUSet
		set.Set(0)
		unix.SchedSetaffinity(pid, &set)
	case 7:
		unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}, 0)
	case 8:
		unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	case 9:
		call(unix.SYS_IOPRIO_SET, 1, id, 3<<13, 0)
	case 10:
		call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, id, 0, 0)
		call(unix.SYS_PTRACE, unix.PTRACE_INTERRUPT, id, 0, 0)
	case 11:
		unix.Setpgid(pid, 0)
	case 12:
		// A descriptor's owner is signalled when it can be read.
		var pipe [2]int
		if unix.Pipe(pipe[:]) == nil {
			unix.FcntlInt(uintptr(pipe[0]), unix.F_SETOWN, pid)
			unix.FcntlInt(uintptr(pipe[0]), unix.F_SETFL, unix.O_ASYNC)
			unix.Write(pipe[1], []byte{0})
			unix.Close(pipe[0])
			unix.Close(pipe[1])
		}
	case 13:
		call(unix.SYS_PTRACE, unix.PTRACE_ATTACH, id, 0, 0)
	}
}
