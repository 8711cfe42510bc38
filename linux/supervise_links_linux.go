package linux

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// Symbolic links on the way, and those of /proc that lead where no name does.

// passLink walks rest from cur name by name until it has passed a symbolic
// link, and gives where it stands and what is left. It takes cur over.
func (r *request) passLink(cur int, rest string) (int, string, unix.Errno) {
	for {
		rest = strings.TrimLeft(rest, "/")
		name, tail, _ := strings.Cut(rest, "/")
		if name == "" {
			return cur, ".", 0
		}
		fd, err := unix.Openat2(cur, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC})
		if err != nil {
			unix.Close(cur)
			return -1, "", errno(err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			unix.Close(cur)
			unix.Close(fd)
			return -1, "", errno(err)
		}
		if kindOf(st.Mode) != symlink {
			unix.Close(cur)
			cur, rest = fd, tail
			continue
		}
		target, jump, e := r.link(cur, fd, name)
		unix.Close(fd)
		switch {
		case e != 0:
			unix.Close(cur)
			return -1, "", e
		case jump >= 0:
			unix.Close(cur)
			return jump, "./" + tail, 0
		}
		cur, e = r.restart(cur, target)
		return cur, target + "/" + tail, e
	}
}

// link reads the symbolic link fd, which is name in cur: either its target, or
// where a magic link of /proc jumps to.
//
// The kernel would resolve /proc/self as ours, and would let us through the
// magic links of processes that the caller may not look into; so these are
// followed for the caller's own process alone.
func (r *request) link(cur, fd int, name string) (target string, jump int, e unix.Errno) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return "", -1, errno(err)
	}
	if fs.Type == unix.PROC_SUPER_MAGIC {
		where, e := r.s.pathOf(cur)
		if e != 0 {
			return "", -1, e
		}
		if where != "/proc" || name == "self" || name == "thread-self" {
			jump, e := r.magic(cur, where, name)
			return "", jump, e
		}
	}
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(fd, "", buf[:])
	switch {
	case err != nil:
		return "", -1, errno(err)
	case n == 0:
		return "", -1, unix.ENOENT
	case n == len(buf):
		return "", -1, unix.ENAMETOOLONG
	}
	return string(buf[:n]), -1, 0
}

// magic follows one of the caller's own magic links.
func (r *request) magic(cur int, where, name string) (int, unix.Errno) {
	r.jumped = true
	process, thread, e := r.numbers(cur)
	if e != 0 {
		return -1, e
	}
	if where == "/proc" {
		// In the /proc that the caller sees: Landlock's rules are about that one.
		if name == "thread-self" {
			process += "/task/" + thread
		}
		fd, err := unix.Openat(cur, process, openDir, 0)
		return fd, errno(err)
	}
	parts := strings.Split(strings.TrimPrefix(where, "/proc/"), "/")
	if len(parts) >= 3 && parts[1] == "task" {
		parts = parts[2:]
	}
	if !strings.HasPrefix(where, "/proc/") || parts[0] != process && parts[0] != thread {
		return -1, unix.EACCES
	}
	switch parts = append(parts[1:], name); {
	case len(parts) == 1 && (name == "cwd" || name == "root" || name == "exe"):
	case len(parts) == 2 && parts[0] == "fd":
	default:
		return -1, unix.EACCES
	}
	fd, err := unix.Openat(r.task.dir, strings.Join(parts, "/"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, errno(err)
	}
	var st unix.Stat_t
	if len(parts) == 2 && unix.Fstat(fd, &st) == nil {
		r.through = fileID{st.Dev, st.Ino}
	}
	return fd, r.s.inView(fd)
}

// numbers gives those of the caller's process and thread in the /proc that cur
// lies in.
func (r *request) numbers(cur int) (process, thread string, e unix.Errno) {
	var ours, theirs unix.Stat_t
	if err := errors.Join(unix.Fstat(r.s.proc, &ours), unix.Fstat(cur, &theirs)); err != nil {
		return "", "", unix.EACCES
	}
	var buf [4096]byte
	status, e := readStart(r.task.dir, "status", buf[:])
	if e != 0 {
		return "", "", e
	}
	// NStgid and NSpid list the numbers from our namespace inwards.
	for line := range strings.SplitSeq(string(status), "\n") {
		key, value, _ := strings.Cut(line, ":")
		all := strings.Fields(value)
		if key != "NStgid" && key != "NSpid" || len(all) == 0 {
			continue
		}
		number := all[len(all)-1]
		if ours.Dev == theirs.Dev {
			number = all[0]
		}
		if key == "NSpid" {
			thread = number
		} else {
			process = number
		}
	}
	if process == "" || thread == "" {
		return "", "", unix.EACCES
	}
	return process, thread, 0
}
