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
func leaveStops() (restore func()) {
	ignored := ignoredSignals()
	caught := make(chan os.Signal, 1) // of which nothing is read
	for _, s := range [...]syscall.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU} {
		if ignored>>(s-1)&1 == 0 {
			signal.Notify(caught, s)
		}
	}
	return func() { signal.Stop(caught) }
}

// ignoredSignals gives those that this process ignores, a bit each.
func ignoredSignals() uint64 {
	n, _ := strconv.ParseUint(ownStatus("SigIgn:"), 16, 64)
	return n
}
