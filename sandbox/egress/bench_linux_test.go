package egress_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

const sourceAt = "93.184.216.34:7100"

// source is a server process: eight bytes say how many to send, at no more
// than rate bytes a second. It ends with its standard input.
func source(rate string) int {
	pace, err := strconv.Atoi(rate)
	if err != nil {
		return 1
	}
	ln, err := net.Listen("tcp", sourceAt)
	if err != nil {
		return 1
	}
	fmt.Println("ready")
	block := make([]byte, 256<<10)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				raw, err := c.(*net.TCPConn).SyscallConn()
				if err != nil {
					return
				}
				raw.Control(func(fd uintptr) {
					unix.SetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, uint64(pace))
				})
				var size [8]byte
				for {
					if _, err := io.ReadFull(c, size[:]); err != nil {
						return
					}
					for n := int(binary.BigEndian.Uint64(size[:])); n > 0; {
						m, err := c.Write(block[:min(n, len(block))])
						if err != nil {
							return
						}
						n -= m
					}
				}
			}()
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// fetcher is a client process. Each line of its input is a task, each line of
// its output the nanoseconds that it took: "connect", or a number of bytes to
// fetch over a connection that is there already.
func fetcher() int {
	var c net.Conn
	buf := make([]byte, 256<<10)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		size, err := strconv.Atoi(in.Text())
		if err == nil && c == nil {
			if c, err = net.Dial("tcp", sourceAt); err != nil {
				return 1
			}
		}
		start := time.Now()
		if in.Text() == "connect" {
			other, err := net.Dial("tcp", sourceAt)
			if err != nil {
				return 1
			}
			fmt.Println(time.Since(start).Nanoseconds())
			other.Close()
			continue
		}
		c.Write(binary.BigEndian.AppendUint64(nil, uint64(size)))
		for size > 0 {
			n, err := c.Read(buf[:min(size, len(buf))])
			if err != nil {
				return 2
			}
			size -= n
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
	return 0
}

// worker is this binary as another process, driven line by line.
type worker struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

func newWorker(b *testing.B, in func(func()), role string) *worker {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "EGRESS_TEST_ROLE="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	in(func() { err = cmd.Start() })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stdin.Close(); cmd.Wait() })
	return &worker{stdin, bufio.NewScanner(stdout)}
}

func (w *worker) do(b *testing.B, task string) float64 {
	fmt.Fprintln(w.in, task)
	if !w.out.Scan() {
		b.Fatalf("%s: the worker has ended", task)
	}
	ns, err := strconv.ParseFloat(w.out.Text(), 64)
	if err != nil {
		b.Fatal(err)
	}
	return ns
}

// locked is a thread like the run's, outside.
func locked() *thread {
	r := &thread{do: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range r.do {
			f()
		}
	}()
	return r
}

// BenchmarkGate compares a client inside a run with one outside, round by
// round: three processes, with the gate in a fourth.
func BenchmarkGate(b *testing.B) {
	b.Run("loopback", func(b *testing.B) { benchGate(b, "100000000000") })
	// A server behind a link of 10 Gbit/s, and of 1.
	b.Run("10Gbit", func(b *testing.B) { benchGate(b, "1250000000") })
	b.Run("1Gbit", func(b *testing.B) { benchGate(b, "125000000") })
}

func benchGate(b *testing.B, rate string) {
	needNetwork(b)
	outside := locked()
	defer close(outside.do)
	server := newWorker(b, outside.in, "source "+rate)
	server.out.Scan()
	n := &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{
		Host: "93.184.216.34", Ports: []profiles.PortRange{{First: 7100, Last: 7100}}, Protocols: profiles.TCP,
	}}}
	g, err := egress.New(egress.Config{Network: n, System: system()})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	run := newRun(b, g, n)
	bare, inside := newWorker(b, outside.in, "fetcher"), newWorker(b, run.in, "fetcher")
	for _, task := range []string{"connect", "65536", "1048576", "16777216", "134217728"} {
		b.Run(task, func(b *testing.B) {
			var direct, gated, ratio []float64
			for range 5 { // warm
				bare.do(b, task)
				inside.do(b, task)
			}
			for b.Loop() {
				d, g := bare.do(b, task), inside.do(b, task)
				direct, gated, ratio = append(direct, d), append(gated, g), append(ratio, d/g)
			}
			b.ReportMetric(median(direct)/1000, "us-direct")
			b.ReportMetric(median(gated)/1000, "us-gate")
			b.ReportMetric(median(ratio), "direct/gate")
		})
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkIdle is the memory of connections that are open and silent: of
// gate, client and server together.
func BenchmarkIdle(b *testing.B) {
	w := newWorld(b)
	n := rules()
	g, _ := newGate(b, n)
	run := newRun(b, g, n)
	const many = 1000
	outside := locked()
	defer close(outside.do)
	for _, at := range []struct {
		name string
		in   func(func())
	}{{"direct", outside.in}, {"gate", run.in}} {
		b.Run(at.name, func(b *testing.B) {
			for b.Loop() {
				before := inUse()
				var all []net.Conn
				at.in(func() {
					for range many {
						c, err := net.Dial("tcp", "192.0.2.7:7000")
						if err != nil {
							b.Fatal(err)
						}
						all = append(all, c)
					}
				})
				for _, c := range all {
					io.WriteString(c, "x")
					c.Read(make([]byte, 1))
				}
				b.ReportMetric(float64(inUse()-before)/many, "B/conn")
				for _, c := range all {
					c.Close()
				}
				w.reached()
			}
		})
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// role is what this binary is when a test has started it again.
func role(name string) int {
	switch {
	case strings.HasPrefix(name, "source "):
		return source(strings.TrimPrefix(name, "source "))
	case name == "fetcher":
		return fetcher()
	case name == "child":
		return child()
	}
	return 3
}
