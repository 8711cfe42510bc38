//go:build !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

func forgetInput(*os.File) {}

func readLines(tty int) { setLines(tty, unix.TIOCGETA, unix.TIOCSETA) }

// startOutput lets output to a terminal go on that was stopped, in the foreground: in
// the background this program could be stopped.
func startOutput(tty int) {
	if foreground(tty) {
		unix.IoctlSetInt(tty, unix.TIOCSTART, 0)
	}
}

// setForeground does nothing: this program is in the background, and could be stopped.
func setForeground(int, int) {}
