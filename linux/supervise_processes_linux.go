package linux

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What /proc tells of processes: of the launcher's nobody learns anything, of
// the run's all that it would without a Supervisor.

// readStart reads what fits into buf of a file below dir.
func readStart(dir int, name string, buf []byte) ([]byte, unix.Errno) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errno(err)
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	return buf[:max(n, 0)], errno(err)
}

// number reads the decimal number after key in a file below dir.
func number(dir int, name, key string) (int64, bool) { return numberOf(dir, name, key, 10) }

func numberOf(dir int, name, key string, base int) (int64, bool) {
	var buf [1024]byte
	text, e := readStart(dir, name, buf[:])
	_, rest, ok := bytes.Cut(text, []byte(key))
	if e != 0 || !ok {
		return 0, false
	}
	word, _, _ := bytes.Cut(rest, []byte("\n"))
	v, err := strconv.ParseInt(string(word), base, 64)
	return v, err == nil
}

// isLaunchers says whether o is something that /proc tells of this process. The
// kernel keeps environment, memory and descriptors of processes outside a Landlock
// domain from those inside; but a performing thread is one of this process's own,
// and may look at all of it. In a PID namespace of its own a run does not see this
// process, and a thread of it may well have the number that one of the run has there.
func (r *request) isLaunchers(o *object) bool {
	inside, ok := r.s.inProc(o)
	if !ok || inside && r.s.config.OwnProcesses {
		return false
	}
	for part := range strings.SplitSeq(o.place.path, "/") {
		if part != "" && part[0] >= '0' && part[0] <= '9' && unix.Faccessat(r.s.self, "../task/"+part, unix.F_OK, 0) == nil {
			return true
		}
	}
	return false
}

// ofOpener says whether o is a file in which a /proc tells of the IPC or user namespace of
// whoever opens it, be it the run's own /proc: here that would be ours. Programs go on to
// ask the kernel (ipcs).
func (r *request) ofOpener(o *object) bool {
	if dir, name := path.Split(o.place.path); !r.s.config.OwnProcesses || path.Base(dir) != "sysvipc" && name != "keys" && name != "key-users" {
		return false
	}
	_, ok := r.s.inProc(o)
	return ok
}

// isRuns says whether o is a file that /proc has of a process of the run's. Much
// of it the kernel shows to those only that may trace the process, which no thread
// of ours in a Landlock domain of its own may.
func (r *request) isRuns(o *object) bool {
	inside, ok := r.s.inProc(o)
	if !ok || !inside || o.kind != regular || o.parent < 0 {
		return false
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(o.place.path, "/proc/"), "/")
	if r.inner != nil {
		// Not of the processes around it, among which its guardian is, whose
		// memory has the launcher's environment: of its own process alone.
		process, _, e := r.numbers(o.parent)
		return e == 0 && number == process
	}
	pid, err := strconv.Atoi(number)
	return err == nil && (r.s.config.OwnProcesses || r.s.belongs(pid))
}

// openHere opens a file of isRuns for reading, outside Landlock: the directory
// that is held is one process's for good, and this thread has no more rights over
// it than the command.
func (r *request) openHere(how int) {
	fd, err := unix.Openat(r.a.parent, r.a.place.name, how|unix.O_NOFOLLOW, 0)
	if err != nil {
		r.fail(errno(err))
		return
	}
	r.fd = fd
	r.perform(func(*request) unix.Errno { return 0 })
}

// inProc says whether o lies in a /proc, and whether that is the one which the
// run sees there.
func (s *Supervisor) inProc(o *object) (inside, ok bool) {
	if o.st.Size != 0 || unix.Major(o.st.Dev) != 0 || o.anonymous {
		return false, false
	}
	at := o.fd
	if at < 0 {
		at = o.parent
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(at, &fs); err != nil {
		return false, true
	}
	return o.st.Dev == s.runsProc, fs.Type == unix.PROC_SUPER_MAGIC
}
