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
// run or from it, to a pager maybe, and where the run is not in the foreground. A file
// is appended to again if it was, or what comes later would take the place of what is there,
// and who reads on from a pipe or socket that was standard input waits again.
func keepTerminal() (restore func()) {
	type stream struct{ fd, flags int } // of the open file, which programs after the run have too
	var terminals, files []stream
	alone := true
	for _, f := range [...]*os.File{os.Stdin, os.Stdout, os.Stderr} {
		fd := int(f.Fd())
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if isTerminal(f) {
			terminals, alone = append(terminals, stream{fd, flags}), alone && err == nil
		} else if info, fault := f.Stat(); fault == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			alone = false
			if f == os.Stdin && err == nil {
				files = append(files, stream{fd, flags})
			}
		} else if fault == nil && err == nil && info.Mode().IsRegular() {
			files = append(files, stream{fd, flags})
		}
	}
	reset := func(streams []stream) {
		for _, s := range streams {
			unix.FcntlInt(uintptr(s.fd), unix.F_SETFL, s.flags)
		}
	}
	if len(terminals) == 0 {
		return func() { reset(files) }
	}
	stdin := int(os.Stdin.Fd())
	was, err := term.GetState(stdin)
	alone = alone && err == nil
	group, _ := unix.IoctlGetInt(terminals[0].fd, unix.TIOCGPGRP)
	return func() {
		reset(files)
		for _, t := range terminals {
			startOutput(t.fd)
		}
		// A group that is gone took the foreground while it was there: the run's own.
		if now, err := unix.IoctlGetInt(terminals[0].fd, unix.TIOCGPGRP); err == nil && group > 1 && now > 1 && unix.Kill(-now, 0) == unix.ESRCH {
			setForeground(terminals[0].fd, group)
		}
		if !alone || !foreground(stdin) {
			return
		}
		if is, err := term.GetState(stdin); err == nil && *is != *was {
			term.Restore(stdin, was)
		}
		reset(terminals)
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
