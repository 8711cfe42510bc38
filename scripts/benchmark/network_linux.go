package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A server on loopback: eight bytes say how many to send, at no more than its
// rate in bytes a second.
func serve(rate uint64) (net.Listener, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		block := make([]byte, 256<<10)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if raw, err := c.(*net.TCPConn).SyscallConn(); err == nil && rate != 0 {
					raw.Control(func(fd uintptr) {
						unix.SetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, rate)
					})
				}
				var size [8]byte
				for {
					if _, err := io.ReadFull(c, size[:]); err != nil {
						return
					}
					for n := binary.BigEndian.Uint64(size[:]); n > 0; {
						m, err := c.Write(block[:min(n, uint64(len(block)))])
						if err != nil {
							return
						}
						n -= uint64(m)
					}
				}
			}()
		}
	}()
	return ln, nil
}

// client is this program as a command of a run. Each line of its input is a
// task, each line of its output the nanoseconds that it took:
//
//	connect ADDRESS TIMES   each of calls, of each connection
//	fetch ADDRESS BYTES     over a connection that is there already
//	hold ADDRESS TIMES      connections that are opened, used once and kept
func client() error {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		files.Cur = files.Max
		unix.Setrlimit(unix.RLIMIT_NOFILE, &files)
	}
	there := map[string]net.Conn{}
	fetch := func(c net.Conn, size uint64) error {
		if _, err := c.Write(binary.BigEndian.AppendUint64(nil, size)); err != nil {
			return err
		}
		_, err := io.CopyN(sink{}, c, int64(size))
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var task, at string
		var count int
		if _, err := fmt.Sscan(in.Text(), &task, &at, &count); err != nil {
			return err
		}
		start := time.Now()
		switch task {
		case "connect":
			if err := connect(at, count); err != nil {
				return err
			}
			continue
		case "fetch":
			if there[at] == nil {
				c, err := net.Dial("tcp4", at)
				if err != nil {
					return err
				}
				there[at] = c
			}
			if err := fetch(there[at], uint64(count)); err != nil {
				return err
			}
		case "hold":
			for i := range count {
				c, err := net.Dial("tcp4", at)
				if err == nil {
					err = fetch(c, 1)
				}
				if err != nil {
					return fmt.Errorf("connection %d: %w", i, err)
				}
				there[at+" "+strconv.Itoa(i)] = c
			}
		}
		fmt.Println(time.Since(start).Nanoseconds())
	}
	return nil
}

// sink reads into one large buffer and forgets.
type sink struct{}

func (sink) Write(b []byte) (int, error) { return len(b), nil }

func (sink) ReadFrom(r io.Reader) (total int64, err error) {
	buf := make([]byte, 256<<10)
	for {
		n, err := r.Read(buf)
		total += int64(n)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// connect makes blocking connects, each used once before the next. It calls the
// kernel without telling Go's scheduler, whose own work would be measured with
// the calls: what is printed is the time of each as a program sees it, in four
// numbers for each connection.
func connect(at string, times int) error {
	_, port, _ := strings.Cut(at, ":")
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	sa := unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: [4]byte{127, 0, 0, 1}}
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&sa.Port))[:], uint16(number))
	question := binary.BigEndian.AppendUint64(nil, 1)
	answer := make([]byte, 1)
	raw := func(nr, a, b, c uintptr) (uintptr, error) {
		r, _, e := unix.RawSyscall(nr, a, b, c)
		if e != 0 {
			return 0, e
		}
		return r, nil
	}
	passed := make([]time.Duration, times) // while the gate rests
	for i := range passed {
		start := time.Now()
		raw(unix.SYS_UMASK, 0o22, 0, 0)
		passed[i] = time.Since(start)
	}
	taken := make([]time.Duration, 0, times*len(calls))
	for i := range times {
		start := time.Now()
		fd, err := raw(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		made := time.Now()
		if err == nil {
			_, err = raw(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&sa)), unsafe.Sizeof(sa))
		}
		connected := time.Now()
		if err == nil {
			_, err = raw(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&question[0])), uintptr(len(question)))
		}
		if err == nil {
			var n uintptr
			if n, err = raw(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&answer[0])), 1); err == nil && n != 1 {
				err = io.ErrUnexpectedEOF
			}
		}
		if err != nil {
			return err
		}
		taken = append(taken, passed[i], connected.Sub(made), connected.Sub(start), time.Since(start))
		raw(unix.SYS_CLOSE, fd, 0, 0)
	}
	out := bufio.NewWriter(os.Stdout)
	for _, d := range taken {
		fmt.Fprint(out, d.Nanoseconds(), " ")
	}
	fmt.Fprintln(out)
	return out.Flush()
}

// calls are what connect measures.
var calls = [...]string{"umask, notified and let pass", "connect", "socket, connect", "socket, connect, first byte"}

// worker is a client under way, bare or in a run.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (w *world) worker(argv ...string) (*worker, error) {
	program := filepath.Join(w.dir, "work", "client")
	argv = append(argv, program, "-client")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = filepath.Join(w.dir, "work"), w.env, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &worker{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

func (w *worker) do(format string, a ...any) (ns []time.Duration, err error) {
	fmt.Fprintf(w.in, format+"\n", a...)
	line, err := w.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s: the client has ended", fmt.Sprintf(format, a...))
	}
	for _, f := range strings.Fields(line) {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, err
		}
		ns = append(ns, time.Duration(n))
	}
	return ns, nil
}

func (w *worker) end() {
	w.in.Close()
	w.cmd.Wait()
}

// network measures what the way out costs a run that may reach one server, with
// a network namespace and without, against a bare client, round by round.
func (w *world) network(rounds int) error {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "work", "client"), self, 0o755); err != nil {
		return err
	}
	loop, err := serve(0)
	if err != nil {
		return err
	}
	defer loop.Close()
	link, err := serve(1250e6)
	if err != nil {
		return err
	}
	defer link.Close()
	ways := []string{"bare", "namespaces", "no namespaces"}
	var workers []*worker
	for i := range ways {
		var argv []string
		if i > 0 {
			argv = []string{w.skillrun, "--namespaces", []string{"on", "off"}[i-1], "--grant", "network.client:" + loop.Addr().String(),
				"--grant", "network.client:" + link.Addr().String(), "--"}
		}
		worker, err := w.worker(argv...)
		if err != nil {
			return err
		}
		defer worker.end()
		workers = append(workers, worker)
	}
	fmt.Printf("\nthe network, of %d interleaved rounds, medians where nothing else is said; + is what is added, x how many times as fast as bare\n", rounds)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\t%s, us\t%s\t\t%s\t\n", ways[0], ways[1], ways[2])
	measure := func(rounds int, format string, a ...any) (times [][]time.Duration, err error) {
		const warm = 2
		all := make([][][]time.Duration, len(workers))
		for round := range warm + rounds {
			for i, worker := range workers {
				ns, err := worker.do(format, a...)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", ways[i], err)
				}
				all[i] = append(all[i], make([][]time.Duration, len(ns)-min(len(ns), len(all[i])))...)
				for j := range ns {
					if round >= warm {
						all[i][j] = append(all[i][j], ns[j])
					}
				}
			}
		}
		times = make([][]time.Duration, len(all[0]))
		for j := range times {
			for i := range all {
				times[j] = append(times[j], median(all[i][j]))
			}
		}
		return times, nil
	}
	micro := func(d time.Duration) float64 { return float64(d) / 1e3 }
	const each = 200
	samples := make([][len(calls)][]time.Duration, len(workers))
	for round := range 1 + rounds {
		for i, worker := range workers {
			ns, err := worker.do("connect %s %d", loop.Addr(), each)
			if err != nil {
				return fmt.Errorf("%s: %w", ways[i], err)
			}
			for j := range ns {
				if round > 0 { // the first warms
					samples[i][j%len(calls)] = append(samples[i][j%len(calls)], ns[j])
				}
			}
		}
	}
	for j, name := range calls {
		for _, quantile := range []struct {
			name string
			of   float64
		}{{"best tenth", 0.1}, {"median", 0.5}} {
			var d [3]float64
			for i := range samples {
				slices.Sort(samples[i][j])
				d[i] = micro(samples[i][j][int(quantile.of*float64(len(samples[i][j])))])
			}
			fmt.Fprintf(t, "%s, %s of %d\t%.1f\t%.1f\t+%.1f\t%.1f\t+%.1f\n", name, quantile.name, len(samples[0][j]), d[0], d[1], d[1]-d[0], d[2], d[2]-d[0])
		}
	}
	for _, from := range []struct {
		name string
		net.Listener
	}{{"10 Gbit/s", link}, {"loopback", loop}} {
		for _, mib := range []int{1, 16, 128} {
			times, err := measure(max(5, rounds/mib), "fetch %s %d", from.Addr(), mib<<20)
			if err != nil {
				return err
			}
			d := times[0]
			fmt.Fprintf(t, "%d MiB, %s\t%.0f\t%.0f\t%.2fx\t%.0f\t%.2fx\n", mib, from.name, micro(d[0]), micro(d[1]), ratio(d[0], d[1]), micro(d[2]), ratio(d[0], d[2]))
		}
	}
	const many = 1000
	var took []time.Duration
	var grown []float64
	for i, worker := range workers {
		before, after := 0, 0
		if i > 0 {
			if before, err = tree(worker.cmd.Process.Pid, "client"); err != nil {
				return err
			}
		}
		ns, err := worker.do("hold %s %d", loop.Addr(), many)
		if err != nil {
			return err
		}
		if i > 0 {
			if after, err = tree(worker.cmd.Process.Pid, "client"); err != nil {
				return err
			}
		}
		took, grown = append(took, ns[0]), append(grown, float64(after-before)/1024)
	}
	fmt.Fprintf(t, "%d connections, used once and kept\t%.0f\t%.0f\t%.2fx\t%.0f\t%.2fx\n", many, micro(took[0]), micro(took[1]), ratio(took[0], took[1]), micro(took[2]), ratio(took[0], took[2]))
	fmt.Fprintf(t, "memory for them, MiB of PSS\t\t\t%.1f\t\t%.1f\n", grown[1], grown[2])
	return t.Flush()
}
