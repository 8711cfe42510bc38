package main_test

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"skillrun/sandbox/sandboxtest"
)

// A granted socket is reached where it is, in a /tmp that is otherwise the run's own,
// too: ssh-agent's and that of an X server. The one beside it is not.
func TestSocketsInTmp(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify")
	place, err := os.MkdirTemp("/tmp", "sr")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(place)
	for _, name := range []string{"granted", "beside"} {
		ln, err := net.Listen("unix", place+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go sandboxtest.Serve(ln, func(c net.Conn) { c.Write([]byte(name)) })
	}
	const script = `
import errno, socket, sys
for name in "granted", "beside":
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(sys.argv[1] + "/" + name)
        print(s.recv(9).decode())
    except OSError as e:
        print(errno.errorcode[e.errno])
`
	connect := func(t *testing.T, command ...string) string {
		dir, env := home(t)
		cmd := exec.Command(command[0], append(command[1:], "python3", "-c", script, place)...)
		cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Error(err)
		}
		return string(out)
	}
	if said := connect(t, "env"); said != "granted\nbeside\n" {
		t.Fatalf("control: %q", said)
	}
	for _, namespaces := range []string{"auto", "off"} {
		t.Run(namespaces, func(t *testing.T) {
			said := connect(t, program(t), "--namespaces", namespaces, "--grant", "unix:"+place+"/granted", "--")
			if said != "granted\nENOENT\n" {
				t.Errorf("the run said %q", said)
			}
		})
	}
}
