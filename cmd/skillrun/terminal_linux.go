package main

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// forgetInput throws away what was typed and not read yet.
func forgetInput(tty *os.File) { unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) }

// readLines has a terminal give a line at return, show it, and send the signals of keys.
func readLines(tty int) { setLines(tty, unix.TCGETS, unix.TCSETS) }

// startOutput lets output to a terminal go on that TCOOFF has stopped, and not what a
// person has by ^S.
func startOutput(tty int) {
	unstopped(func() { unix.IoctlSetInt(tty, unix.TCXONC, unix.TCOON) })
}

// setForeground puts a group into the foreground of a terminal.
func setForeground(tty, group int) {
	unstopped(func() { unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, group) })
}

// unstopped does something in the background, too, where SIGTTOU would stop this
// program.
func unstopped(do func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var was unix.Sigset_t
	if unix.PthreadSigmask(unix.SIG_BLOCK, &unix.Sigset_t{Val: [16]uint64{1 << (unix.SIGTTOU - 1)}}, &was) != nil {
		return
	}
	do()
	unix.PthreadSigmask(unix.SIG_SETMASK, &was, nil)
}
