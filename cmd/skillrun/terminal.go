package main

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// keepTerminal notes the settings of the terminal before a run, and gives what puts
// them back and lets output go on there if the run has stopped it. It leaves the
// settings as they are where others may have made them: where a pipe leads to the
// run or from it, to a pager maybe, and where the run is not in the foreground.
func keepTerminal() (restore func()) {
	var terminals []int
	alone := true
	for _, f := range [...]*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if isTerminal(f) {
			terminals = append(terminals, int(f.Fd()))
		} else if info, err := f.Stat(); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			alone = false
		}
	}
	if len(terminals) == 0 {
		return func() {}
	}
	stdin := int(os.Stdin.Fd())
	was, err := term.GetState(stdin)
	alone = alone && err == nil
	return func() {
		for _, fd := range terminals {
			startOutput(fd)
		}
		if !alone {
			return
		}
		if is, err := term.GetState(stdin); err == nil && *is != *was && foreground(stdin) {
			term.Restore(stdin, was)
		}
	}
}

func foreground(tty int) bool {
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
