package linux

import (
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// serveSchedule serves the calls that change the priority or the processors of
// a thread named by number, argument call.path. It lets the caller go on if that
// thread is the run's, which is as good as acting for it: the number is in a
// register and cannot change, and only the caller has the right to real-time
// priorities that it may have. A number that is given to somebody else in
// between would have to be freed by the run and taken within microseconds.
func serveSchedule(r *request) {
	tid := int(int32(r.arg(r.call.path)))
	if r.call.nr == unix.SYS_SCHED_SETAFFINITY {
		r.s.leavePlaces()
	}
	if r.s.config.OwnProcesses || tid == 0 || tid == r.tid {
		r.resume()
		return
	}
	tgid, ok := number(r.s.proc, strconv.Itoa(tid)+"/status", "\nTgid:\t")
	switch {
	case !ok:
		r.fail(unix.ESRCH)
	case !r.reaches(int(tgid)):
		r.refuse(ruling{errno: errPerm, path: "process " + strconv.FormatInt(tgid, 10)})
	default:
		r.resume()
	}
}

// serveGroup serves setpgid with a group. The kernel lets a process into every
// group of its session, and signals all of a group that is in the background when
// one of it reads the terminal: so the run could stop the user's other jobs. It
// may join the group in which it was started, and those of its own processes. As
// above, the caller goes on itself: what was asked for is in registers.
func serveGroup(r *request) {
	pid, group := int(int32(r.args[0])), int(int32(r.args[1]))
	switch {
	case r.s.config.OwnProcesses, pid == group, pid == 0 && group == r.tid, group == unix.Getpgrp(), group == r.s.run.Guardian, r.ownGroup(group):
		r.resume()
	default:
		r.refuse(ruling{errno: errPerm, path: "process group " + strconv.Itoa(group)})
	}
}

// ownGroup says whether all of a process group are the run's. One that has
// nobody in it is: the kernel refuses it.
func (r *request) ownGroup(group int) bool {
	s := r.s
	if _, is, ok := s.stat(group); ok && is == group {
		return r.reaches(group) // nobody from outside gets into it but by joining the run
	}
	list, err := s.processes()
	return err == nil && !slices.ContainsFunc(list, func(pid int) bool {
		_, is, ok := s.stat(pid)
		return ok && is == group && !r.reaches(pid)
	})
}
