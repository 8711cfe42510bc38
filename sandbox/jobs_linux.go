package sandbox

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// leaveStops leaves it to the command whether what a terminal stops jobs with
// stops it: this process, which gets the same, stops only after it. A program
// that catches or ignores the signal then goes on as if it had been started
// without skillrun. What is ignored already stays so, for the command, too.
//
// It is done beside other work, which [stops.wait] ends: each signal takes turns
// with a thread of the runtime's own.
func leaveStops() *stops {
	s := &stops{make(chan os.Signal, 1), make(chan struct{})}
	go func() {
		defer close(s.left)
		ignored := ignoredSignals()
		for _, n := range [...]syscall.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU} {
			if ignored>>(n-1)&1 == 0 {
				signal.Notify(s.caught, n)
			}
		}
	}()
	return s
}

type stops struct {
	caught chan os.Signal // of which nothing is read
	left   chan struct{}
}

func (s *stops) wait() {
	if s != nil {
		<-s.left
	}
}

func (s *stops) restore() {
	if s != nil {
		<-s.left
		signal.Stop(s.caught)
	}
}

// ignoredSignals gives those that this process ignores, a bit each.
func ignoredSignals() uint64 {
	n, _ := strconv.ParseUint(ownStatus("SigIgn:"), 16, 64)
	return n
}
