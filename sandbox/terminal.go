package sandbox

import (
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// jobControl says whether a shell with job control started this process: then
// its process group is not the session's, and it can be stopped and continued.
func jobControl() bool {
	sid, err := unix.Getsid(0)
	return err == nil && sid != unix.Getpgrp() && os.Getpid() != 1
}

// passedOn are the signals that end a program or tell it something, and that
// nobody sends to skillrun for its own sake.
var passedOn = [...]syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// stops are the signals that stop a job and that it can catch.
var stops = [...]syscall.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}

// signals are those to forward, nil for none.
func (s *Spec) signals() (<-chan os.Signal, error) {
	if s.Signals == nil {
		return nil, nil
	}
	return s.Signals()
}

// forward passes signals on to the command until stop is called. What a
// terminal sends goes to its whole foreground group, so the command has it
// already.
func forward(signals <-chan os.Signal, send func(syscall.Signal) error) (stop func()) {
	if signals == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				n, ok := s.(syscall.Signal)
				if ok && (slices.Contains(passedOn[:], n) || slices.Contains(stops[:], n)) && !sentToAll(n) {
					send(n)
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// hasTerminal says whether this process has a terminal that controls it.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}
