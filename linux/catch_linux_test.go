package linux_test

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"skillrun/linux"
)

// What is caught arrives, also while goroutines grow their stacks and the
// collector runs, and what was ignored stays ignored. Once released, a signal
// does what it did before.
func TestCatch(t *testing.T) {
	signal.Ignore(syscall.SIGUSR2)
	defer signal.Reset(syscall.SIGUSR2)
	before := make(chan os.Signal, 1)
	signal.Notify(before, syscall.SIGWINCH)
	defer signal.Stop(before)

	signals, release, err := linux.Catch(syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	done := make(chan struct{})
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					deep(100)
					runtime.GC()
				}
			}
		})
	}
	self := os.Getpid()
	for range 200 {
		for _, s := range []syscall.Signal{syscall.SIGUSR2, syscall.SIGUSR1, syscall.SIGWINCH} {
			syscall.Kill(self, s)
			if s == syscall.SIGUSR2 {
				continue
			}
			if got := <-signals; got != s {
				t.Fatalf("%v arrived for %v", got, s)
			}
		}
	}
	close(done)
	busy.Wait()
	release()
	release()
	syscall.Kill(self, syscall.SIGWINCH)
	if s := <-before; s != syscall.SIGWINCH {
		t.Error(s)
	}
	select {
	case s := <-signals:
		t.Errorf("%v was caught after the release", s)
	default:
	}
}

func deep(n int) int {
	var frame [1024]byte
	if n == 0 {
		return len(frame)
	}
	return deep(n-1) + int(frame[n%len(frame)])
}

// A storm is survived, and what one thread is doing meanwhile is not disturbed.
func TestCatchStorm(t *testing.T) {
	signals, release, err := linux.Catch(syscall.SIGUSR1)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range 20000 {
			syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		}
	}()
	list := make([]int, 1<<16)
	for i := range list {
		list[i] = i * 7919 % len(list)
	}
	for over := false; !over; {
		select {
		case <-sent:
			over = true
		default:
			slices.Sort(list)
			if !slices.IsSorted(list) || list[1] != 1 {
				t.Fatal("a computation was disturbed")
			}
		}
	}
	if s := <-signals; s != syscall.SIGUSR1 {
		t.Error(s)
	}
}

// Where it is not caught the same signal ends a process, and once it is
// released again.
func TestCatchReleased(t *testing.T) {
	if how := os.Getenv("SKILLRUN_TEST_CATCH"); how != "" {
		if how != "never" {
			_, release, err := linux.Catch(syscall.SIGTERM)
			if err != nil {
				t.Fatal(err)
			}
			if how == "released" {
				release()
			}
		}
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		if how != "caught" {
			time.Sleep(time.Minute)
		}
		return
	}
	for how, ends := range map[string]bool{"never": true, "caught": false, "released": true} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCatchReleased$")
		cmd.Env = append(os.Environ(), "SKILLRUN_TEST_CATCH="+how)
		cmd.Run()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if got := status.Signaled() && status.Signal() == syscall.SIGTERM; got != ends {
			t.Errorf("%s: ended by SIGTERM: %v (%v)", how, got, cmd.ProcessState)
		}
	}
}
