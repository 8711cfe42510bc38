package main

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// keepTerminal notes the settings of the terminal before a run, and gives what puts
// them back, lets output go on there if the run has stopped it, and puts into the
// foreground what was there, if the run has taken its place. It leaves the
// settings as they are where others may have made them: where a pipe leads to the
// run or from it, to a pager maybe, and where the run is not in the foreground.
func keepTerminal() (restore func()) {
	var terminals, flags []int // flags of the open files, which programs after the run have too
	alone := true
	for _, f := range [...]*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if isTerminal(f) {
			fd := int(f.Fd())
			set, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			terminals, flags, alone = append(terminals, fd), append(flags, set), alone && err == nil
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
	group, _ := unix.IoctlGetInt(terminals[0], unix.TIOCGPGRP)
	return func() {
		for _, fd := range terminals {
			startOutput(fd)
		}
		// A group that is gone took the foreground while it was there: the run's own.
		if now, err := unix.IoctlGetInt(terminals[0], unix.TIOCGPGRP); err == nil && group > 1 && now > 1 && unix.Kill(-now, 0) == unix.ESRCH {
			setForeground(terminals[0], group)
		}
		if !alone || !foreground(stdin) {
			return
		}
		if is, err := term.GetState(stdin); err == nil && *is != *was {
			term.Restore(stdin, was)
		}
		for i, fd := range terminals {
			unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags[i])
		}
	}
}

// setLines has a terminal read by lines, by the calls of this system.
func setLines(tty int, get, set uint) {
	t, err := unix.IoctlGetTermios(tty, get)
	if err != nil {
		return
	}
	t.Iflag = t.Iflag&^(unix.IGNCR|unix.INLCR) | unix.ICRNL
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Lflag |= unix.ICANON | unix.ECHO | unix.ISIG
	t.Cc[unix.VINTR], t.Cc[unix.VEOF] = 'C'-'@', 'D'-'@'
	unix.IoctlSetTermios(tty, set, t)
}

func foreground(tty int) bool {
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
