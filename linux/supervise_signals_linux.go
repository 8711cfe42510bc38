package linux

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The handlers of calls that send signals, for kernels whose Landlock does not
// scope them. They are used without a PID namespace, so that the caller's
// numbers are ours; only the caller's own group is asked about in one, too, which
// takes no number. Targets are pinned by a pidfd before they are looked at.

// stat gives parent and process group of a process.
func (s *Supervisor) stat(pid int) (parent, group int, ok bool) {
	var buf [512]byte
	line, e := readStart(s.proc, strconv.Itoa(pid)+"/stat", buf[:])
	if e != 0 {
		return 0, 0, false
	}
	// pid (comm) state ppid pgrp: comm may hold anything, but it ends last.
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 3 {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	group, _ = strconv.Atoi(string(fields[2]))
	return parent, group, true
}

// belongs says whether a process is one of the run's: the command, or beneath
// it or beneath the guardian, to whom orphans go.
func (s *Supervisor) belongs(pid int) bool {
	for depth := 0; pid > 1 && depth < 1<<16; depth++ {
		if pid == s.run.Process {
			return true
		}
		parent, _, ok := s.stat(pid)
		if !ok {
			return false
		}
		if s.run.Guardian != 0 && parent == s.run.Guardian {
			return true
		}
		pid = parent
	}
	return false
}

// sign is a signal on its way.
type sign struct {
	number int
	tid    int    // one thread, 0 for the process
	info   []byte // siginfo, nil for the plain one
}

const siginfoSize = 128

// signal sends to one process, if it is the run's.
func (r *request) signal(pid int, sg sign) unix.Errno {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if err == unix.EINVAL {
			return unix.ESRCH // a thread, not a process
		}
		return errno(err)
	}
	defer unix.Close(pidfd)
	if !r.reaches(pid) {
		r.report(ruling{errno: errPerm, path: "process " + strconv.Itoa(pid)})
		return unix.EPERM
	}
	if sg.tid != 0 {
		// tgkill fails unless the thread is that process's. A pidfd does not keep a
		// number from being given away, but all others are given away before it is.
		if sg.info != nil {
			_, _, e := unix.Syscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(pid), uintptr(sg.tid), uintptr(sg.number), uintptr(unsafe.Pointer(&sg.info[0])), 0, 0)
			return e
		}
		return errno(unix.Tgkill(pid, sg.tid, unix.Signal(sg.number)))
	}
	var info unsafe.Pointer
	if sg.info != nil {
		info = unsafe.Pointer(&sg.info[0])
	}
	_, _, e := unix.Syscall6(unix.SYS_PIDFD_SEND_SIGNAL, uintptr(pidfd), uintptr(sg.number), uintptr(info), 0, 0, 0)
	return e
}

// itself says whether a process is the caller's, which stays it as long as it waits:
// what it sends to itself it sends itself. It expects that before the call is over,
// and where a signal interrupts a caller that waits, a signal from here would.
func (r *request) itself(pid int) bool {
	own, ok := number(r.task.dir, "status", "\nTgid:\t")
	return ok && int(own) == pid
}

// signalMany sends to the run's processes of a group, or to all but the
// caller's own, as kill(2) with a negative number.
func (r *request) signalMany(group int, sg sign) unix.Errno {
	own, _ := number(r.task.dir, "status", "\nTgid:\t")
	if group == 0 {
		if _, group, _ = r.s.stat(int(own)); group == 0 {
			return unix.ESRCH
		}
	}
	pids, err := r.s.processes()
	if err != nil {
		return errno(err)
	}
	result := unix.ESRCH
	self := false
	for _, pid := range pids {
		_, g, ok := r.s.stat(pid)
		if !ok || group != everyone && g != group || group == everyone && pid == int(own) || !r.reaches(pid) {
			continue
		}
		if pid == int(own) {
			self = true // last, or a deadly signal would spare the others
			continue
		}
		if e := r.signal(pid, sg); e == 0 || result == unix.ESRCH {
			result = e
		}
	}
	if self && r.s.run.Interrupts && sg.number > 0 && sg.number <= 64 {
		r.succeed(0) // what follows would interrupt this call; no second answer finds it
	}
	if self {
		return r.signal(int(own), sg)
	}
	return result
}

const everyone = -1

// processes lists all that /proc shows.
func (s *Supervisor) processes() (pids []int, err error) {
	fd, err := unix.Openat(s.proc, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for buf := make([]byte, 8192); ; {
		n, err := unix.Getdents(fd, buf)
		if err != nil || n <= 0 {
			return pids, err
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil {
				pids = append(pids, pid)
			}
		}
	}
}

func serveKill(r *request) {
	pid, sg := int(int32(r.args[0])), sign{number: int(int32(r.args[1]))}
	switch {
	case r.s.config.Scoped, pid > 0 && r.itself(pid):
		r.resume() // the kernel decides, by numbers in registers
	case pid > 0:
		r.fail(r.signal(pid, sg))
	case pid == -1:
		r.fail(r.signalMany(everyone, sg))
	default:
		r.fail(r.signalMany(-pid, sg))
	}
}

func serveTkill(r *request) {
	tid := int(int32(r.args[0]))
	if tid <= 0 {
		r.fail(unix.EINVAL)
		return
	}
	if tid == r.tid {
		r.resume()
		return
	}
	tgid, ok := number(r.s.proc, strconv.Itoa(tid)+"/status", "\nTgid:\t")
	if !ok {
		r.fail(unix.ESRCH)
		return
	}
	r.fail(r.signal(int(tgid), sign{number: int(int32(r.args[1])), tid: tid}))
}

func serveTgkill(r *request) {
	tgid, tid := int(int32(r.args[0])), int(int32(r.args[1]))
	if tgid <= 0 || tid <= 0 {
		r.fail(unix.EINVAL)
		return
	}
	if r.itself(tgid) {
		r.resume()
		return
	}
	r.fail(r.signal(tgid, sign{number: int(int32(r.args[2])), tid: tid}))
}

// info reads a siginfo. Codes of the kernel's own are for oneself, and we are
// not the caller.
func (r *request) info(at uint64) ([]byte, unix.Errno) {
	info := make([]byte, siginfoSize)
	if e := r.read(at, info); e != 0 {
		return nil, e
	}
	if code := int32(binary.NativeEndian.Uint32(info[8:])); code >= 0 || code == -6 {
		return nil, unix.EPERM
	}
	return info, 0
}

func serveSigqueue(r *request) {
	r.sigqueue(sign{number: int(int32(r.args[1]))}, r.args[2])
}

func serveTgsigqueue(r *request) {
	r.sigqueue(sign{number: int(int32(r.args[2])), tid: int(int32(r.args[1]))}, r.args[3])
}

// sigqueue serves a signal with the siginfo that is at an address.
func (r *request) sigqueue(sg sign, at uint64) {
	pid := int(int32(r.args[0]))
	if r.itself(pid) {
		r.resume()
		return
	}
	var e unix.Errno
	if sg.info, e = r.info(at); e != 0 {
		r.fail(e)
		return
	}
	r.fail(r.signal(pid, sg))
}

func servePidfdSignal(r *request) {
	pid, ok := number(r.task.dir, "fdinfo/"+strconv.Itoa(r.dirfd(arg1)), "\nPid:\t")
	switch {
	case !ok:
		r.fail(unix.EBADF)
		return
	case pid <= 0:
		r.fail(unix.ESRCH)
		return
	case r.args[3] != 0:
		r.fail(unix.EINVAL)
		return
	}
	sg := sign{number: int(int32(r.args[1]))}
	if r.args[2] != 0 {
		var e unix.Errno
		if sg.info, e = r.info(r.args[2]); e != 0 {
			r.fail(e)
			return
		}
	}
	r.fail(r.signal(int(pid), sg))
}
