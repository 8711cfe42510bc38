package linux

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// /dev/pts holds the terminals of all of the user's programs, and what is typed
// into them can be read by who opens one. No Landlock rule tells them apart
// before they are made, so none grants any but to read the one that is a stream of
// the run's: the Supervisor opens those that the run made and the one that it runs on.
//
// On it is a run of whose caller's stdin, stdout and stderr at least one is that
// terminal: others, as those of agents that have pipes for all three, have no
// business with what is typed to the agent. No terminal controls these (leaveTerminal).
//
// A rule would also be needed by a performing thread. These terminals are opened
// outside Landlock instead, which is safe since it is done by a descriptor that
// was looked at: a slave of a pseudoterminal and nothing else, opening which does
// nothing but open it.

// terminals are the slaves whose masters the run opened, as O_PATH descriptors,
// with the run inside it that did, if one did. A slave's number is given again
// when its master is closed, but the descriptor then has no name left.
type terminals struct {
	mu    sync.Mutex
	slave []slave
}

type slave struct {
	fd    int
	inner *inner
}

// terminalsMost bounds the descriptors that a run can make the Supervisor hold.
const terminalsMost = 256

// note keeps the slave of a master. It runs on a performing thread.
func (t *terminals) note(r *request, master int) {
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return
	}
	fd, err := unix.Openat2(r.s.root, "./dev/pts/"+strconv.Itoa(n), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slave = slices.DeleteFunc(t.slave, func(old slave) bool {
		var st unix.Stat_t
		gone := unix.Fstat(old.fd, &st) != nil || st.Nlink == 0
		if gone {
			unix.Close(old.fd)
		}
		return gone
	})
	if len(t.slave) == terminalsMost {
		unix.Close(fd)
		return
	}
	t.slave = append(t.slave, slave{fd, r.inner})
}

// made says whether the caller's run opened the master of the slave that st
// describes.
func (t *terminals) made(r *request, st *unix.Stat_t) bool {
	return t.has(st, func(of slave) bool { return r.inner == nil || r.inner == of.inner })
}

// known says whether the run or one inside it did.
func (t *terminals) known(st *unix.Stat_t) bool {
	return t.has(st, func(slave) bool { return true })
}

func (t *terminals) has(st *unix.Stat_t, which func(slave) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.slave, func(of slave) bool {
		var is unix.Stat_t
		return which(of) && unix.Fstat(of.fd, &is) == nil && is.Nlink > 0 && is.Dev == st.Dev && is.Ino == st.Ino && is.Rdev == st.Rdev
	})
}

// controls says whether a terminal is the one that controls this process, and so
// the run's. A number alone does not tell: where /dev/pts is of a later instance
// than that terminal, as in "bwrap --dev", it is there somebody else's.
func controls(fd int) bool {
	_, err := unix.IoctlGetInt(fd, unix.TIOCGSID)
	return err == nil
}

// ttyPath means the terminal that controls whoever opens it.
const ttyPath = "/dev/tty"

// hasTerminal says whether one controls this process.
func hasTerminal() bool {
	fd, err := unix.Open(ttyPath, unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err == nil
}

// onTerminal says whether the caller's stdin, stdout or stderr is that terminal.
func onTerminal() bool { return controls(0) || controls(1) || controls(2) }

func (t *terminals) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range t.slave {
		unix.Close(of.fd)
	}
	t.slave = nil
}

// isMaster says whether o is what opens a new pseudoterminal.
func (o *object) isMaster() bool { return o.kind == special && o.st.Rdev == unix.Mkdev(5, 2) }

// slaveNumber gives the number of the pseudoterminal whose slave o is.
func (o *object) slaveNumber() (uint64, bool) {
	major := unix.Major(o.st.Rdev)
	if o.kind != special || o.st.Mode&unix.S_IFMT != unix.S_IFCHR || major < 136 || major > 143 {
		return 0, false
	}
	return uint64(major-136)<<20 | uint64(unix.Minor(o.st.Rdev)), true
}

// serveTerminal opens the run's terminals: /dev/tty, which means the opener's
// and would be ours, and slaves by their names. It is false for everything else,
// terminals of others as well.
func (r *request) serveTerminal(how int) bool {
	o := &r.a
	number, slave := o.slaveNumber()
	tty, made := false, false
	switch {
	case o.kind == special && o.st.Rdev == unix.Mkdev(5, 0):
		number, dev, e := r.controlling()
		if e == unix.ENXIO && r.onConsole(dev) && r.openStream() {
			return true
		}
		if e == 0 {
			o.close()
			e = r.resolve(o, unix.AT_FDCWD, "/dev/pts/"+strconv.FormatUint(number, 10), followLink)
		}
		if _, slave := o.slaveNumber(); e == 0 && (!slave || o.fd < 0) {
			e = unix.ENXIO
		}
		if e != 0 {
			r.fail(e)
			return true
		}
		tty = true
	case !slave || o.fd < 0:
		return false
	default:
		made = r.s.terminals.made(r, &o.st)
		if own, _, e := r.controlling(); (e != 0 || own != number) && !made {
			return false
		}
	}
	fd, err := unix.Open(fdPath(o.fd), how, 0)
	if err != nil {
		r.fail(errno(err))
		return true
	}
	if !made && !r.s.terminals.known(&o.st) && !(r.s.onTTY && controls(fd)) {
		unix.Close(fd)
		if tty {
			r.fail(unix.ENXIO)
		}
		return tty
	}
	unix.Close(o.fd)
	o.fd = fd
	r.perform(func(r *request) unix.Errno {
		fd, err := unix.FcntlInt(uintptr(r.a.fd), unix.F_DUPFD_CLOEXEC, 0)
		r.fd = fd
		return errno(err)
	})
	return true
}

// controlling gives the terminal that controls the caller: its device, 0 for none, and
// the number of it, or that it is no pseudoterminal.
func (r *request) controlling() (number, dev uint64, e unix.Errno) {
	var buf [1024]byte
	stat, e := readStart(r.task.dir, "stat", buf[:])
	if e != 0 {
		return 0, 0, e
	}
	// pid (comm) state ppid pgrp session tty_nr: comm may hold anything.
	line := string(stat)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 5 {
		return 0, 0, unix.ENXIO
	}
	dev, _ = strconv.ParseUint(fields[4], 10, 32)
	if major := dev >> 8 & 0xfff; major < 136 || major > 143 {
		return 0, dev, unix.ENXIO
	}
	return dev&0xff | dev>>12&0xfff00, dev, 0
}

// onConsole says whether a terminal of another kind, a serial line or a virtual one, is
// the caller's and what the run is started with, by which it is then opened.
func (r *request) onConsole(dev uint64) bool {
	for fd := range 3 {
		var st unix.Stat_t
		is, err := unix.IoctlGetInt(fd, unix.TIOCGDEV)
		if err == nil && uint64(is) == dev && controls(fd) && unix.Fstat(fd, &st) == nil {
			r.through = fileID{st.Dev, st.Ino}
			return true
		}
	}
	return false
}
