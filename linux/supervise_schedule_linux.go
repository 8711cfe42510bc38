package linux

import (
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
	tid := int(int32(r.args[r.call.path]))
	if r.s.config.OwnProcesses || tid == 0 || tid == r.tid {
		r.resume()
		return
	}
	tgid, ok := number(r.s.proc, strconv.Itoa(tid)+"/status", "\nTgid:\t", 10)
	switch {
	case !ok:
		r.fail(unix.ESRCH)
	case !r.s.belongs(int(tgid)):
		r.refuse(ruling{errno: errPerm, path: "process " + strconv.FormatInt(tgid, 10)})
	default:
		r.resume()
	}
}
