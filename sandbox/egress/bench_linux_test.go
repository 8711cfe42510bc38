package egress_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// source serves a stream: eight bytes say how many to send.
func source(t testing.TB, addr string) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	block := make([]byte, 256<<10)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
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
}

func byAddress() *profiles.Network {
	return &profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{
		Host: "93.184.216.34", Ports: []profiles.PortRange{{First: 7100, Last: 7100}}, Protocols: profiles.TCP,
	}}}
}

// places runs f outside, then inside a run.
func places(b *testing.B, f func(b *testing.B, in func(func()))) {
	source(b, "93.184.216.34:7100")
	n := byAddress()
	g, err := egress.New(egress.Config{Network: n, System: system()})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	run := newRun(b, g, n)
	outside := locked()
	defer close(outside.do)
	b.Run("direct", func(b *testing.B) { f(b, outside.in) })
	b.Run("gate", func(b *testing.B) { f(b, run.in) })
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

// BenchmarkThroughput moves bytes over a connection that is there already.
func BenchmarkThroughput(b *testing.B) {
	needNetwork(b)
	for _, size := range []int{64 << 10, 1 << 20, 16 << 20, 256 << 20} {
		b.Run(fmt.Sprintf("%dK", size>>10), func(b *testing.B) {
			places(b, func(b *testing.B, in func(func())) {
				var c net.Conn
				in(func() { c, _ = net.Dial("tcp", "93.184.216.34:7100") })
				defer c.Close()
				buf := make([]byte, 256<<10)
				ask := binary.BigEndian.AppendUint64(nil, uint64(size))
				b.SetBytes(int64(size))
				for b.Loop() {
					c.Write(ask)
					for left := size; left > 0; {
						n, err := c.Read(buf[:min(left, len(buf))])
						if err != nil {
							b.Fatal(err)
						}
						left -= n
					}
				}
			})
		})
	}
}

// BenchmarkConnect is one connection with one byte both ways.
func BenchmarkConnect(b *testing.B) {
	needNetwork(b)
	places(b, func(b *testing.B, in func(func())) {
		ask := binary.BigEndian.AppendUint64(nil, 1)
		var one [1]byte
		var connect time.Duration
		in(func() {
			for b.Loop() {
				start := time.Now()
				c, err := net.Dial("tcp", "93.184.216.34:7100")
				if err != nil {
					b.Fatal(err)
				}
				connect += time.Since(start)
				c.Write(ask)
				io.ReadFull(c, one[:])
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}
		})
		b.ReportMetric(float64(connect.Microseconds())/float64(b.N), "us-connect/op")
	})
}

// BenchmarkIdle is the memory of connections that are open and silent.
func BenchmarkIdle(b *testing.B) {
	needNetwork(b)
	places(b, func(b *testing.B, in func(func())) {
		const many = 1000
		ask := binary.BigEndian.AppendUint64(nil, 1)
		for b.Loop() {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var all []net.Conn
			in(func() {
				for range many {
					c, err := net.Dial("tcp", "93.184.216.34:7100")
					if err != nil {
						b.Fatal(err)
					}
					all = append(all, c)
				}
			})
			var one [1]byte
			for _, c := range all {
				c.Write(ask)
				io.ReadFull(c, one[:])
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Sys-before.Sys)/many, "sys-B/conn")
			b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/many, "inuse-B/conn")
			for _, c := range all {
				c.Close()
			}
		}
	})
}
