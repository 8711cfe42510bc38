package main

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// forgetInput throws away what was typed and not read yet.
func forgetInput(tty *os.File) { unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) }

// startOutput lets output to a terminal go on that TCOOFF has stopped, and not what a
// person has by ^S. In the background, too, where SIGTTOU would stop this program.
func startOutput(tty int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var was unix.Sigset_t
	if unix.PthreadSigmask(unix.SIG_BLOCK, &unix.Sigset_t{Val: [16]uint64{1 << (unix.SIGTTOU - 1)}}, &was) != nil {
		return
	}
	unix.IoctlSetInt(tty, unix.TCXONC, unix.TCOON)
	unix.PthreadSigmask(unix.SIG_SETMASK, &was, nil)
}
