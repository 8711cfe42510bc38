package egress_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// child is a process cloned into namespaces of its own: it makes the sockets,
// hands them over on descriptor 3, and once told to go on is the run.
func child() int {
	ns := egress.AnyIP(rules())
	fds, err := ns.Make()
	if err != nil || slices.Contains(fds, -1) {
		return 10
	}
	for part := range slices.Chunk(fds, 200) {
		if err := unix.Sendmsg(3, []byte{1}, unix.UnixRights(part...), nil, 0); err != nil {
			return 11
		}
	}
	for _, fd := range fds {
		unix.Close(fd)
	}
	if n, _ := unix.Read(3, make([]byte, 1)); n != 1 {
		return 12
	}
	p := place{dns: insideDNS}
	c, err := p.dial("good.example", 80)
	if err != nil {
		return 13
	}
	io.WriteString(c, get("good.example"))
	line, _ := bufio.NewReader(c).ReadString('\n')
	os.Stdout.WriteString(line)
	if _, err = p.dial("evil.example", 80); err == nil {
		return 14
	}
	return 0
}

// TestOwner does what a launcher without privileges does: everything from
// outside of a namespace that it made and is not in.
func TestOwner(t *testing.T) {
	newWorld(t)
	n := rules()
	g, _ := newGate(t, n)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "pair")
	var out strings.Builder
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "EGRESS_TEST_ROLE=child")
	cmd.Stdout, cmd.ExtraFiles = &out, []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	ns := egress.AnyIP(n)
	var fds []int
	for len(fds) < len(ns.Sockets) {
		oob := make([]byte, 4096)
		_, k, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
		if err != nil || k == 0 {
			t.Fatalf("descriptors: %v", err)
		}
		messages, _ := unix.ParseSocketControlMessage(oob[:k])
		for _, m := range messages {
			got, _ := unix.ParseUnixRights(&m)
			fds = append(fds, got...)
		}
	}
	served := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread has lost its capabilities
		none := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		sets := new([2]unix.CapUserData)
		err := unix.Capset(none, &sets[0])
		served <- errors.Join(err, g.ServeNamespace(&ns, fds))
	}()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	unix.Write(pair[0], []byte{1})
	if err := cmd.Wait(); err != nil || out.String() != "HTTP/1.1 200 OK\r\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// TestOwnNamespace: sockets of the machine's own namespace are refused before
// anything is changed.
func TestOwnNamespace(t *testing.T) {
	needNetwork(t)
	n := rules()
	g, _ := newGate(t, n)
	ns := egress.AnyIP(n)
	fds, err := ns.Make()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.ServeNamespace(&ns, fds); err == nil || !strings.Contains(err.Error(), "our own") {
		t.Errorf("%v", err)
	}
	for _, fd := range fds {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			t.Errorf("descriptor %d was left open", fd)
		}
	}
}

// TestFamilies: the run has an address of IPv4 beside loopback, and one of IPv6 if
// this machine has, so that programs do ask for names of that family.
func TestFamilies(t *testing.T) {
	newWorld(t)
	of := func(at string) (run []string) {
		addAddress(t, netip.MustParsePrefix(at))
		n := rules()
		g, _ := newGate(t, n)
		newRun(t, g, n).in(func() {
			all, err := net.InterfaceAddrs()
			if err != nil {
				t.Error(err)
			}
			for _, a := range all {
				if !a.(*net.IPNet).IP.IsLoopback() {
					run = append(run, a.String())
				}
			}
		})
		return run
	}
	if egress.HasIPv6() {
		t.Log("an earlier test gave this network an address of IPv6")
	} else if d := cmp.Diff([]string{"192.0.0.8/32"}, of("10.0.0.99/32")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"192.0.0.8/32", "100::8/128"}, of("fd00::99/64")); d != "" {
		t.Error(d)
	}
}

func TestAnyIPPorts(t *testing.T) {
	rule := func(proto profiles.Protocol, ports ...profiles.PortRange) profiles.HostRule {
		return profiles.HostRule{Host: "x.test", Ports: ports, Protocols: proto}
	}
	one := func(p uint16) profiles.PortRange { return profiles.PortRange{First: p, Last: p} }
	for _, c := range []struct {
		name   string
		hosts  []profiles.HostRule
		gate   []uint16
		udp    []uint16
		later  int
		spares int
	}{
		{"none", nil, nil, nil, 0, 0},
		{"two", []profiles.HostRule{rule(profiles.TCP, one(443), one(80)), rule(profiles.TCP, one(80))}, []uint16{80, 443}, nil, 0, 0},
		{"small range", []profiles.HostRule{rule(profiles.TCP, profiles.PortRange{First: 8000, Last: 8003})}, []uint16{8000, 8001, 8002, 8003}, nil, 0, 0},
		{"the resolver's port", []profiles.HostRule{rule(profiles.TCP|profiles.UDP, one(53))}, nil, nil, 0, 0},
		{"datagrams", []profiles.HostRule{rule(profiles.UDP, one(443))}, nil, []uint16{443}, 0, 0},
		{"wide range", []profiles.HostRule{rule(profiles.TCP, profiles.PortRange{First: 400, Last: 1000})}, []uint16{443, 587}, nil, 1, 16},
		{"wide range of datagrams", []profiles.HostRule{rule(profiles.UDP, profiles.AnyPort)}, nil, []uint16{123, 443}, 1, 16},
		{"wide range of both", []profiles.HostRule{rule(profiles.TCP|profiles.UDP, profiles.PortRange{First: 400, Last: 1000})}, []uint16{443, 587}, []uint16{443}, 2, 32},
		{"single port beside any", []profiles.HostRule{rule(profiles.TCP, profiles.AnyPort), rule(profiles.TCP, one(12345))}, nil, nil, 1, 16},
	} {
		ns := egress.AnyIP(&profiles.Network{Mode: profiles.NetHosts, Hosts: c.hosts})
		ports := map[egress.Use][]uint16{}
		for _, s := range ns.Sockets {
			if !s.Optional {
				ports[s.Use] = append(ports[s.Use], s.Port)
			}
		}
		gate := ports[egress.UseGate]
		if c.name == "single port beside any" {
			if !slices.Contains(gate, 12345) || !slices.Contains(gate, 443) {
				t.Errorf("%s: %v", c.name, gate)
			}
			gate = nil
		}
		if !slices.Equal(gate, c.gate) || !slices.Equal(ports[egress.UseUDP], c.udp) || len(ns.Later) != c.later || len(ports[egress.UseSpare]) != c.spares {
			t.Errorf("%s: %v, later %v", c.name, ports, ns.Later)
		}
		if ns.Sockets[0].Use != egress.UseNetlink || len(ports[egress.UseDNS]) != 1 || len(ports[egress.UseDNSTCP]) != 1 {
			t.Errorf("%s: %v", c.name, ports)
		}
	}
}

// TestOwnServices: what the run serves on loopback works among its own
// processes, on ports that no rule names.
func TestOwnServices(t *testing.T) {
	newWorld(t)
	n := rules()
	g, v := newGate(t, n)
	run := newRun(t, g, n)
	run.in(func() {
		for _, at := range []string{"127.0.0.1:3456", "[::1]:3456"} {
			ln, err := net.Listen("tcp", at)
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				c, err := ln.Accept()
				if err == nil {
					io.WriteString(c, "own")
					c.Close()
				}
			}()
			c, err := net.DialTimeout("tcp", at, time.Second)
			if err != nil {
				t.Error(err)
				return
			}
			if b, _ := io.ReadAll(c); string(b) != "own" {
				t.Errorf("%s: %q", at, b)
			}
			ln.Close()
		}
	})
	if len(v.all()) != 0 || len(g.Handed(netip.MustParseAddr("127.0.0.1"))) != 0 {
		t.Errorf("%+v", v.all())
	}
}
