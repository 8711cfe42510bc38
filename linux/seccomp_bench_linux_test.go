package linux_test

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/linux"
)

// filtered runs f on a thread of its own, under filters, and waits for it.
func filtered(b *testing.B, filters []linux.Filter, f func()) {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		_, err := install(filters, false)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

var benchmarked = []struct {
	name     string
	features linux.FilterFeatures
}{
	{"base", 0},
	{"sealed", linux.NoInternet | linux.NoSupervisor},
	{"supervised", linux.NoInternet | linux.NotifyNames | linux.NotifyMetadata | linux.NotifySockets},
}

// BenchmarkInstall is what a launch pays, each time on a fresh thread.
func BenchmarkInstall(b *testing.B) {
	for _, row := range benchmarked {
		filters, err := linux.Filters(runtime.GOARCH, row.features)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(row.name, func(b *testing.B) {
			var total time.Duration
			for range b.N {
				done := make(chan time.Duration)
				go func() {
					runtime.LockOSThread()
					start := time.Now()
					if _, err := install(filters, false); err != nil {
						b.Error(err)
					}
					done <- time.Since(start)
				}()
				total += <-done
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/install")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkCall is what a call pays: one that no row looks into, which the
// kernel lets pass without running a program; and ones that are looked into.
func BenchmarkCall(b *testing.B) {
	for _, call := range []struct {
		name   string
		number uintptr
		args   [3]uintptr
	}{
		{"getppid", unix.SYS_GETPPID, [3]uintptr{}},
		{"openat", unix.SYS_OPENAT, [3]uintptr{bad, page}},
		{"ioctl", unix.SYS_IOCTL, [3]uintptr{bad, unix.TCGETS}},
		{"socketpair", unix.SYS_SOCKETPAIR, [3]uintptr{unix.AF_UNIX, bad}},
		{"socket", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET6, unix.SOCK_DGRAM, bad}},
	} {
		b.Run(call.name+"/bare", func(b *testing.B) {
			for range b.N {
				unix.RawSyscall(call.number, call.args[0], call.args[1], call.args[2])
			}
		})
		for _, row := range benchmarked {
			filters, err := linux.Filters(runtime.GOARCH, row.features)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(call.name+"/"+row.name, func(b *testing.B) {
				filtered(b, filters, func() {
					b.ResetTimer()
					for range b.N {
						unix.RawSyscall(call.number, call.args[0], call.args[1], call.args[2])
					}
				})
			})
		}
	}
}
