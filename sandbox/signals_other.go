//go:build !linux

package sandbox

import (
	"os"
	"os/signal"
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
