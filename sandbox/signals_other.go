//go:build !linux

package sandbox

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// CatchSignals catches what is sent to this process and is the command's, for
// Spec.Signals. What this process ignores, as under nohup(1), it goes on to
// ignore, and so does the command. release gives all of it back.
func CatchSignals() (signals <-chan os.Signal, release func(), err error) {
	c := make(chan os.Signal, 16)
	for _, s := range passedOn {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c, func() { signal.Stop(c) }, nil
}

// sentToAll says whether a signal went to the command by itself: who sent it is
// not known here, and from a terminal it goes to the whole foreground group.
func sentToAll(s syscall.Signal) bool {
	return (s == syscall.SIGINT || s == syscall.SIGQUIT) && foreground()
}

// foreground says whether this process is in its terminal's foreground group.
func foreground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	pgrp, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}
