package sandboxtest

import (
	"os"
	"os/signal"
	"syscall"
)

// CatchIgnored has the programs that tests start begin with the default
// actions, also where the tests were started by nohup(1) or in the background of
// a script: execve(2) keeps what is ignored, and resets what is caught. It is not
// undone: os/signal would ignore such a signal again, and not say so any more.
func CatchIgnored() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
