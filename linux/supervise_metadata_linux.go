package linux

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The handlers of calls that change mode, owner, times and attributes.
// Landlock has no say in these, so that the resolving thread makes them
// itself: it has the user and the capabilities of the command, which bound
// them, and a change of thread would double their cost.

// subject resolves what a metadata call is about, or ends it.
func (r *request) subject() bool {
	flags := int(int32(r.arg(r.call.flags))) | int(r.call.preset)
	e := unix.EINVAL
	if flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) == 0 {
		e = r.named(flags)
	}
	if e != 0 {
		r.fail(e)
	}
	return e == 0
}

// named resolves what a call is about: a path, or a descriptor (no path argument, a
// null path, or an empty one with AT_EMPTY_PATH).
func (r *request) named(flags int) unix.Errno {
	o, dirfd := &r.a, r.dirfd(r.call.dir)
	var e unix.Errno
	switch {
	case r.call.path == 0, r.call.nr == unix.SYS_UTIMENSAT && r.arg(r.call.path) == 0:
		e = r.descriptor(o, dirfd)
	default:
		var p string
		if p, e = r.readString(r.arg(r.call.path), unix.PathMax); e != 0 {
			return e
		}
		if p == "" && flags&unix.AT_EMPTY_PATH != 0 {
			e = r.descriptor(o, dirfd)
		} else {
			e = r.resolve(o, dirfd, p, followIf(flags&unix.AT_SYMLINK_NOFOLLOW == 0))
		}
	}
	switch {
	case e != 0:
		return e
	case o.fd < 0:
		return unix.ENOENT
	case o.slash && o.kind != directory:
		return unix.ENOTDIR
	}
	return 0
}

// OfDevices is why nothing about a device is changed.
const OfDevices = "a device is the whole machine's: who may write to it changes nothing else about it"

// permit ends the request unless the ruling lets it pass and the caller still
// waits, so that what was read is its own. What has no path the caller holds
// already. Every run may write to some devices, which root owns: /dev/null with
// another mode stops everybody's programs, and for good.
func (r *request) permit(rule func(place) ruling) bool {
	if !r.a.anonymous {
		if rule := r.located(&r.a, rule); !rule.ok() {
			r.refuse(rule)
			return false
		}
	}
	if t := r.a.st.Mode & unix.S_IFMT; t == unix.S_IFCHR || t == unix.S_IFBLK {
		r.refuse(ruling{errno: errPerm, path: r.a.place.path, why: OfDevices})
		return false
	}
	if !r.valid() {
		r.fail(unix.EINTR)
		return false
	}
	return true
}

var emptyPath byte // and its NUL

func (r *request) end(err error) { r.fail(errno(err)) }

func serveChmod(r *request) {
	if !r.subject() {
		return
	}
	r.mode = uint32(r.arg(r.call.mode)) & 0o7777
	if !r.permit(func(pl place) ruling { return r.deciders.mode(pl, r.a.kind, r.mode) }) {
		return
	}
	if r.a.kind == symlink {
		r.fail(unix.EOPNOTSUPP)
		return
	}
	if r.a.memory() && r.mode&0o111 != 0 {
		r.fail(unix.EPERM)
		return
	}
	kept := uint32(0) // of a directory what it had stays
	if r.a.kind == directory {
		kept = r.mode & r.a.st.Mode & modeSetID
	}
	r.mode = r.deciders.narrowMode(r.mode) | kept
	if r.a.caller && r.call.nr == unix.SYS_FCHMOD { // which one for O_PATH does not do for
		r.end(unix.Fchmod(r.a.fd, r.mode))
		return
	}
	r.end(unix.Fchmodat(unix.AT_FDCWD, fdPath(r.a.fd), r.mode, 0))
}

func serveChown(r *request) {
	if !r.subject() {
		return
	}
	uid, gid := int(int32(r.arg(r.call.mode))), int(int32(r.arg(r.call.mode+1)))
	foreign := gid != -1 && gid != int(r.a.st.Gid) && gid != unix.Getegid()
	if !r.permit(func(pl place) ruling { return r.deciders.group(pl, r.a.st.Mode, foreign) }) {
		return
	}
	r.end(unix.Fchownat(r.a.fd, "", uid, gid, unix.AT_EMPTY_PATH))
}

func serveTimes(r *request) { r.setTimes(2, 1) }

// serveUtimes serves utimes and futimesat, which count in microseconds.
func serveUtimes(r *request) { r.setTimes(2, 1000) }

// serveUtime serves utime, which counts in seconds.
func serveUtime(r *request) { r.setTimes(1, 1) }

// setTimes sets the times that the caller gives in so many words each, seconds and
// what is a unit of so many nanoseconds; without any, to now.
func (r *request) setTimes(words int, unit int64) {
	r.times = [2]unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	if at := r.arg(r.call.mode); at != 0 {
		var given [4]int64
		if e := r.read(at, unsafe.Slice((*byte)(unsafe.Pointer(&given)), 16*words)); e != 0 {
			r.fail(e)
			return
		}
		for i := range r.times {
			parts := int64(0)
			if words == 2 {
				parts = given[2*i+1]
			}
			if unit == 1000 && (parts < 0 || parts >= 1e6) {
				r.fail(unix.EINVAL) // multiplied, it could be anything
				return
			}
			r.times[i] = unix.Timespec{Sec: given[words*i], Nsec: parts * unit}
		}
	}
	if !r.subject() || !r.permit(r.deciders.edit) {
		return
	}
	if r.a.kind == symlink {
		if r.a.parent < 0 {
			r.fail(unix.EBADF)
			return
		}
		r.end(unix.UtimesNanoAt(r.a.parent, r.a.place.name, r.times[:], unix.AT_SYMLINK_NOFOLLOW))
		return
	}
	// Kernels before 5.8 do not know the empty path.
	_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(r.a.fd), uintptr(unsafe.Pointer(&emptyPath)), uintptr(unsafe.Pointer(&r.times)), unix.AT_EMPTY_PATH, 0, 0)
	if e == unix.EINVAL {
		e = errno(unix.UtimesNanoAt(unix.AT_FDCWD, fdPath(r.a.fd), r.times[:], 0))
	}
	r.fail(e)
}

// Limits of include/uapi/linux/limits.h.
const (
	xattrNameMax = 255
	xattrSizeMax = 65536
)

func (r *request) attributeName() bool {
	name, e := r.readString(r.arg(r.call.mode), xattrNameMax+1)
	if e == unix.ENAMETOOLONG || e == 0 && name == "" {
		e = unix.ERANGE
	}
	if e != 0 {
		r.fail(e)
		return false
	}
	r.text = name
	return true
}

func serveSetxattr(r *request) {
	nested := r.call.nr == unix.SYS_FSETXATTR && r.dirfd(arg1) == -1
	if nested && r.args[1] == 0 {
		r.proveNested()
		return
	}
	if !r.attributeName() {
		return
	}
	if nested {
		r.serveNested()
		return
	}
	size := r.arg(r.call.mode + 2)
	if size > xattrSizeMax {
		r.fail(unix.E2BIG)
		return
	}
	if e := r.hold(r.arg(r.call.mode+1), size, unix.ENOMEM); e != 0 {
		r.fail(e)
		return
	}
	if !r.subject() || !r.permit(func(pl place) ruling { return r.deciders.attribute(pl, r.a.kind, r.text, r.value, true) }) {
		return
	}
	if r.text == accessACL {
		if r.a.memory() {
			r.fail(unix.EOPNOTSUPP)
			return
		}
		r.deciders.narrowACL(r.value)
	}
	flags := int(int32(r.arg(r.call.mode + 3)))
	r.end(unix.Setxattr(fdPath(r.a.fd), r.text, r.value, flags))
}

func serveRemovexattr(r *request) {
	if !r.attributeName() || !r.subject() || !r.permit(func(pl place) ruling { return r.deciders.attribute(pl, r.a.kind, r.text, nil, false) }) {
		return
	}
	r.end(unix.Removexattr(fdPath(r.a.fd), r.text))
}
