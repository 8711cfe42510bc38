package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetInput throws away what was typed and not read yet.
func forgetInput(tty *os.File) { unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
