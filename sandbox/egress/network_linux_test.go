package egress_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
	"skillrun/sandbox/sandboxtest"
)

const inside = "EGRESS_TEST_NETWORK"

// inOwnNetwork runs this binary again in new user and network namespaces.
func inOwnNetwork(m *testing.M) (int, error) {
	if os.Getenv(inside) != "" {
		nl, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
		if err != nil {
			return 1, err
		}
		if err := egress.AnyAddress(nl); err != nil && !errors.Is(err, unix.EEXIST) { // a fuzz worker inherits it
			return 1, err
		}
		unix.Close(nl)
		return m.Run(), nil
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// needNetwork skips where the tests have no network of their own.
func needNetwork(t testing.TB) {
	t.Helper()
	if os.Getenv(inside) == "" {
		sandboxtest.Skip(t, sandboxtest.Namespaces, "no network namespace")
	}
}

// thread is a thread in a network namespace of its own: the run.
type thread struct {
	do chan func()
}

// newRun makes the namespace of a run, and serves it.
func newRun(t testing.TB, g *egress.Gate, n *profiles.Network) *thread {
	t.Helper()
	needNetwork(t)
	r := &thread{do: make(chan func())}
	ns := egress.AnyIP(n)
	var fds []int
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with us
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			fds, err = ns.Make()
		}
		made <- err
		for f := range r.do {
			f()
		}
	}()
	err := <-made
	if err == nil {
		err = g.ServeNamespace(&ns, fds)
	}
	if err != nil {
		t.Fatalf("namespace of the run: %v", err)
	}
	t.Cleanup(func() { close(r.do) })
	return r
}

// in runs f inside the run's network namespace, sockets included.
func (r *thread) in(f func()) {
	done := make(chan struct{})
	r.do <- func() { defer close(done); f() }
	<-done
}
