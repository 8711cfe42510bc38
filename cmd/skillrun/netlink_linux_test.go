package main_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/sandbox/sandboxtest"
)

// netlinkScript gives the loopback of its network namespace an address, which wants
// CAP_NET_ADMIN there: by a message with an address, by one without, by another call.
// It does nothing in the namespace that it is told of.
const netlinkScript = `
import os, socket, struct, sys
if os.readlink("/proc/self/ns/net") == sys.argv[1]:
    sys.exit("in the namespace of the test")
def add(n, send):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
    s.bind((0, 0))
    body = struct.pack("BBBBI", 2, 32, 0, 0, 1) + struct.pack("HH4B", 8, 2, 127, 9, 9, n)
    send(s, struct.pack("IHHII", 16 + len(body), 20, 0x405, 1, 0) + body) # RTM_NEWADDR
    return struct.unpack_from("i", s.recv(4096), 16)[0]
print(add(1, lambda s, m: s.sendto(m, (0, 0))), add(2, lambda s, m: s.send(m)), add(3, lambda s, m: s.sendmsg([m], [], 0, (0, 0))))
`

// The supervisor made the run's user namespace, so that the kernel lets it do
// everything in the run's network: it does none of it for the run, which has no
// capability there.
func TestNetlinkAttack(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp", "notify", "namespaces")
	here, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	dir, env := home(t)
	cmd := exec.Command("python3", "-c", netlinkScript, here)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "0 0 0\n" {
		t.Fatalf("control: %v: %s", err, out)
	}
	cmd = exec.Command(program(t), "--namespaces", "on", "--grant", "network.client:localhost:9", "--", "python3", "-c", netlinkScript, here)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "-1 -1 -1\n" {
		t.Errorf("%v: %s", err, out)
	}
}
