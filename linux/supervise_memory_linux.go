package linux

import "golang.org/x/sys/unix"

// memoryName is the longest name of a memory file, with its end.
const memoryName = 250

// serveMemory serves memfd_create without MFD_EXEC and MFD_NOEXEC_SEAL. What
// has no name no Landlock rule forbids to execute: the caller gets a file that
// never can be, as on a system with vm.memfd_noexec=1.
func serveMemory(r *request) {
	flags := int(uint32(r.arg(r.call.flags)))
	name, e := r.readString(r.arg(r.call.path), memoryName)
	if e == unix.ENAMETOOLONG {
		e = unix.EINVAL
	}
	if e != 0 {
		r.fail(e)
		return
	}
	if flags&unix.MFD_CLOEXEC != 0 {
		r.flags = unix.O_CLOEXEC
	}
	r.perform(func(r *request) unix.Errno {
		fd, err := unix.MemfdCreate(name, flags|unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
		if err == unix.EINVAL && flags&^(unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING) == 0 {
			err = unix.EACCES // before Linux 6.3 all memory may be executed
		}
		r.fd = fd
		return errno(err)
	})
}
