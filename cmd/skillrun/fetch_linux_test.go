package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

func init() { programs["unfetching"] = unfetching }

// Containers that are given namespaces (docker run --cap-add SYS_ADMIN) refuse
// pidfd_getfd all the same. The supervisor then makes the run's sockets, in its own
// network: that has to be the run's, or what is granted cannot be reached, and names
// are taken where programs outside look for each other.
func TestSocketsUnfetched(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go sandboxtest.Serve(ln, func(c net.Conn) { c.Write([]byte("served")) })
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	name := fmt.Sprintf("skillrun-test-%d", os.Getpid())
	// Prints the names that a program outside finds taken, and what the server says.
	script := fmt.Sprintf(`
import socket
s = socket.socket(socket.AF_UNIX)
try:
    s.bind("\0%s")
    print("bound", flush=True)
except PermissionError:
    print("refused", flush=True)
input()
print(socket.create_connection(("localhost", %s)).recv(9).decode())
`, name, port)
	attempt := func(t *testing.T, command ...string) (taken bool, said string) {
		dir, env := home(t)
		cmd := exec.Command(command[0], append(command[1:], "python3", "-c", script)...)
		cmd.Dir, cmd.Env = dir, env
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := make([]byte, 64)
		n, _ := out.Read(lines)
		said = string(lines[:n])
		mine, err := net.Listen("unix", "@"+name)
		if taken = err != nil; !taken {
			mine.Close()
		}
		in.Write([]byte("\n"))
		n, _ = out.Read(lines)
		said += string(lines[:n])
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		return taken, said
	}
	for _, namespaces := range []string{"auto", "off"} {
		t.Run(namespaces, func(t *testing.T) {
			taken, said := attempt(t, "unfetching", "", program(t), "--namespaces", namespaces, "--grant", "network.client:localhost:"+port, "--")
			if taken || !strings.HasSuffix(said, "served\n") {
				t.Errorf("the name outside is taken: %v; the run said %q", taken, said)
			}
		})
	}
	t.Run("control: bare", func(t *testing.T) {
		if taken, said := attempt(t, "env"); !taken || said != "bound\nserved\n" {
			t.Errorf("the name outside is taken: %v; the program said %q", taken, said)
		}
	})
}

// unfetching refuses pidfd_getfd to the command that it becomes.
func unfetching() {
	const load, jeq, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filtered([]unix.SockFilter{
		{Code: load, K: 0},
		{Code: jeq, Jf: 1, K: unix.SYS_PIDFD_GETFD},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	})
}
