package sandbox

import (
	"os"
	"syscall"

	"skillrun/linux"
)

// CatchSignals catches what is sent to this process and is the command's, for
// Spec.Signals. What this process ignores, as under nohup(1), it goes on to
// ignore, and so does the command. release gives all of it back.
func CatchSignals() (signals <-chan os.Signal, release func(), err error) {
	return linux.Catch(passedOn[:]...)
}

// leaveStops leaves it to the command whether what stops jobs stops it: this
// process, which gets the same from a terminal and passes on what somebody sends
// to it alone, stops only after it. A program that catches or ignores the signal
// then goes on as if it had been started without skillrun. What is ignored
// already stays so, for the command, too.
func leaveStops() (release func(), err error) {
	_, release, err = linux.Catch(stops[:]...)
	return release, err
}

// passOn sends a signal to the command. What ends programs goes to all of its group,
// if that is the run's own: who ended this process's group by it meant them, too.
func passOn(p *linux.Process, sig syscall.Signal) error {
	if sig == syscall.SIGUSR1 || sig == syscall.SIGUSR2 {
		return p.Signal(sig)
	}
	return p.SignalAll(sig)
}

// sentToAll says whether a signal went to the command by itself. What a terminal
// sends does, and is not caught.
func sentToAll(syscall.Signal) bool { return false }
