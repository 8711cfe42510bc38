package linux

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// mostLinks is how many symbolic links the kernel follows in one path.
const mostLinks = 40

// path reads the argument path and resolves it, from the directory of the argument
// dir, as the kernel would for the caller.
func (r *request) path(o *object, dir, path argument, f follow) unix.Errno {
	p, e := r.readString(r.arg(path), unix.PathMax)
	if e != 0 {
		return e
	}
	return r.resolve(o, r.dirfd(dir), p, f)
}

// start opens what a relative path starts from, and gives what is left of the
// path: without the directory, where that can be had in one go from the caller's
// working directory, which we then enter; that costs less than a descriptor of it.
func (r *request) start(dirfd int, p string) (int, string, unix.Errno) {
	dir, _, _ := split(p)
	if dirfd == unix.AT_FDCWD && dir != "" && r.s.ownCwd && unix.Fchdir(r.task.dir) == nil && unix.Chdir("cwd") == nil {
		fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{Flags: openDir, Resolve: unix.RESOLVE_NO_SYMLINKS})
		if err != unix.ELOOP {
			return fd, p[len(dir):], errno(err)
		}
	}
	fd, e := r.base(dirfd)
	return fd, p, e
}

// base opens the directory, or file, that a relative path starts from.
func (r *request) base(dirfd int) (int, unix.Errno) {
	fd, e := r.openBase(dirfd)
	if e == 0 {
		e = r.s.inView(fd)
	}
	return fd, e
}

func (r *request) openBase(dirfd int) (int, unix.Errno) {
	name := "cwd"
	if dirfd != unix.AT_FDCWD {
		if dirfd < 0 {
			return -1, unix.EBADF
		}
		// A third of the price of looking through /proc.
		if fd, e := r.fetch(dirfd); e == 0 || e == unix.EBADF {
			return fd, e
		}
		name = "fd/" + strconv.Itoa(dirfd)
	}
	fd, err := unix.Openat(r.task.dir, name, unix.O_PATH|unix.O_CLOEXEC, 0)
	switch err {
	case nil:
		return fd, 0
	case unix.ENOENT:
		if dirfd != unix.AT_FDCWD {
			return -1, unix.EBADF
		}
	}
	return -1, errno(err)
}

func errno(err error) unix.Errno {
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	if err == nil {
		return 0
	}
	return unix.EIO
}

// descriptor makes an object of the caller's descriptor dirfd itself.
func (r *request) descriptor(o *object, dirfd int) unix.Errno {
	fd, e := -1, unix.EBADF
	if dirfd >= 0 {
		fd, e = r.fetch(dirfd)
	}
	fetched := e == 0
	if !fetched && (e != unix.EBADF || dirfd == unix.AT_FDCWD) {
		fd, e = r.base(dirfd)
	}
	if e != 0 {
		return e
	}
	e = r.fromDescriptor(o, fd)
	o.caller = fetched
	return e
}

// fromDescriptor fills o from a descriptor, which it takes over.
func (r *request) fromDescriptor(o *object, fd int) unix.Errno {
	*o = object{parent: -1, fd: fd, opened: true}
	var sx unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &sx); err != nil {
		return errno(err)
	}
	id, birth := identity(&sx)
	o.st = unix.Stat_t{Dev: id.dev, Ino: id.ino, Mode: uint32(sx.Mode), Gid: sx.Gid, Size: int64(sx.Size), Rdev: unix.Mkdev(sx.Rdev_major, sx.Rdev_minor)}
	o.kind = kindOf(o.st.Mode)
	if o.kind == regular && sx.Nlink == 1 && sx.Mask&unix.STATX_BTIME != 0 {
		if pl, ok := r.s.recent.find(id, birth); ok {
			o.place = pl
			return 0
		}
	}
	p, e := r.s.pathOf(fd)
	if e != 0 {
		return e
	}
	if r.s.elsewhere(fd, p) || r.s.hidden[id] {
		return unix.EACCES
	}
	if isAnonymous(p, sx.Nlink == 0) {
		o.anonymous = true
		o.place.path = p
		return 0
	}
	if o.gone = sx.Nlink == 0; o.gone {
		// A deleted file is still what its name made it.
		p = strings.TrimSuffix(p, " (deleted)")
	}
	o.place.path = p
	return 0
}

// findView notes the mounts of which it is known that they are of the run's view.
func (s *Supervisor) findView() error {
	s.view = map[uint64]bool{}
	if len(s.config.Private) == 0 {
		return nil
	}
	for _, dir := range append(append([]string{"/"}, s.config.Private...), s.config.MountPoints...) {
		fd, err := unix.Openat2(s.root, "."+dir, &unix.OpenHow{Flags: openDir, Resolve: unix.RESOLVE_IN_ROOT})
		if err != nil {
			return fmt.Errorf("cannot look at %s in the run: %w", dir, err)
		}
		id, ok := mountOf(fd)
		unix.Close(fd)
		if !ok {
			return fmt.Errorf("cannot tell the mount of %s", dir)
		}
		s.view[id] = true
	}
	return nil
}

// inView refuses, and closes, a descriptor that the caller got from outside for
// something whose path, in the run's view, is that of something of the run's own:
// its standard input in everybody's /tmp.
func (s *Supervisor) inView(fd int) unix.Errno {
	if len(s.view) == 0 {
		return 0
	}
	if id, ok := mountOf(fd); ok && s.view[id] {
		return 0
	}
	p, e := s.pathOf(fd)
	if e == 0 && s.elsewhere(fd, p) {
		e = unix.EACCES
	}
	if e != 0 {
		unix.Close(fd)
	}
	return e
}

// elsewhere says whether what is open at p only has the path of something of the
// run's own: from a directory that the caller got from outside ".." leads there, too.
func (s *Supervisor) elsewhere(fd int, p string) bool {
	if !slices.ContainsFunc(s.config.Private, func(dir string) bool { return profiles.Within(dir, p) }) {
		return false
	}
	id, ok := mountOf(fd)
	return !ok || !s.view[id]
}

// mountOf identifies the mount through which a descriptor was opened, for as long
// as it is there.
func mountOf(fd int) (uint64, bool) { return mountAt(fd, "") }

// mountAt identifies that of a name in a directory, and is false for none.
func mountAt(dir int, name string) (uint64, bool) {
	var sx unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &sx)
	return sx.Mnt_id, err == nil && sx.Mask&unix.STATX_MNT_ID != 0
}

// findHidden notes the files that the command starts with whose path, in its view, is
// another's: they were opened in another mount namespace (docker exec <file), or
// something has been mounted over them since.
func (s *Supervisor) findHidden() {
	s.hidden = map[fileID]bool{}
	for _, fd := range s.run.Streams {
		var st, is unix.Stat_t
		p, e := s.pathOf(fd)
		if e != 0 || unix.Fstat(fd, &st) != nil || st.Nlink == 0 || isAnonymous(p, false) {
			continue
		}
		if form := st.Mode & unix.S_IFMT; form != unix.S_IFREG && form != unix.S_IFIFO {
			continue // in many a view devices are elsewhere
		}
		at, err := unix.Openat2(s.root, "."+p, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS})
		if err == nil {
			err = unix.Fstat(at, &is)
			unix.Close(at)
		}
		if err != nil || is.Dev != st.Dev || is.Ino != st.Ino {
			s.hidden[fileID{st.Dev, st.Ino}] = true
		}
	}
}

// located rules on an object, and once more with its name where it was reached
// through a descriptor and has been refused: the run may have made it.
func (r *request) located(o *object, rule func(place) ruling) ruling {
	is := rule(o.place)
	if is.ok() || o.place.name != "" || o.anonymous {
		return is
	}
	p := o.place.path
	i := strings.LastIndexByte(p, '/')
	dir, err := unix.Openat2(r.s.root, "."+p[:i+1], &unix.OpenHow{
		Flags: openDir, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return is
	}
	defer unix.Close(dir)
	var again unix.Stat_t
	if id, e := directoryAt(dir, ""); e == 0 && unix.Fstatat(dir, p[i+1:], &again, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		again.Dev == o.st.Dev && again.Ino == o.st.Ino {
		o.place.dir, o.place.name = id, p[i+1:]
		return rule(o.place)
	}
	return is
}

// pathOf gives the path of an open descriptor, in its own mount namespace.
func (s *Supervisor) pathOf(fd int) (string, unix.Errno) {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(s.self, strconv.Itoa(fd), buf[:])
	if err != nil {
		return "", errno(err)
	}
	if n == len(buf) {
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), 0
}

// directoryOf gives the path of an open directory. Asking the kernel for our
// working directory costs a third of a look into /proc.
func (s *Supervisor) directoryOf(fd int) (string, unix.Errno) {
	if s.ownCwd && unix.Fchdir(fd) == nil {
		var buf [unix.PathMax]byte
		if n, err := unix.Getcwd(buf[:]); err == nil && n > 1 {
			// What lies in the run's mount namespace alone is marked.
			return strings.TrimPrefix(string(buf[:n-1]), "(unreachable)"), 0
		}
	}
	return s.pathOf(fd) // not to be entered, deleted, or too deep
}

const openDir = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC

// resolve walks a path for the caller, and once more where the place it leads
// to is served from a directory of the run's own.
func (r *request) resolve(o *object, dirfd int, p string, f follow) unix.Errno {
	*o = object{parent: -1, fd: -1}
	if p == "" {
		return unix.ENOENT
	}
	if p[0] == '/' {
		if by, rest, ok := r.redirected(path.Clean(p)); ok {
			return r.walkIn(o, by, rest+p[len(strings.TrimRight(p, "/")):], f)
		}
		cur, e := dup(r.s.root)
		if e != 0 {
			return e
		}
		return r.walk(o, cur, p, f)
	}
	cur, rest, e := r.start(dirfd, p)
	if e == 0 {
		e = r.walk(o, cur, rest, f)
	}
	if e == unix.ENOENT && (r.inner != nil || len(r.s.config.Redirects) > 0) {
		// Below a directory that is only where it is moved to.
		if by, rest, ok := r.redirected(r.spelt(dirfd, p)); ok {
			return r.walkIn(o, by, rest+p[len(strings.TrimRight(p, "/")):], f)
		}
	}
	if e != 0 || o.anonymous {
		return e
	}
	if by, rest, ok := r.redirected(o.place.path); ok {
		slash := o.slash
		o.close()
		if slash {
			rest += "/"
		}
		return r.walkIn(o, by, rest, f)
	}
	return 0
}

// spelt gives a path from the root as the caller spells it, links and all; "" if
// there is none.
func (r *request) spelt(dirfd int, p string) string {
	if p[0] == '/' {
		return path.Clean(p)
	}
	from, e := r.base(dirfd)
	if e != 0 {
		return ""
	}
	defer unix.Close(from)
	dir, e := r.s.directoryOf(from)
	if e != 0 {
		return ""
	}
	return path.Join(dir, p)
}

// beside resolves to, of which all but the last name is spelt as in from, with
// what from led to: o gets its directory. It is false where that does not do.
func (r *request) beside(o, a *object, from, to string, e *unix.Errno) bool {
	dir, _, _ := split(from)
	same, name, slash := split(to)
	if dir != same || name == "" || a.parent < 0 {
		return false
	}
	is := a.place.path[:len(a.place.path)-len(a.place.name)] + name
	if r.inner != nil || len(r.s.config.Redirects) > 0 {
		_, _, whole := r.redirected(path.Clean(to))
		if _, _, found := r.redirected(is); whole || found || r.s.decider.ours(a.place.path) {
			return false
		}
	}
	*o = object{parent: -1, fd: -1, slash: slash, opened: true}
	if o.parent, *e = dup(a.parent); *e != 0 {
		return true
	}
	o.place = place{dir: a.place.dir, path: is, name: name}
	*e = o.look()
	return true
}

// redirected says where a path is served from, if not from where it is: what
// lies beneath a Redirect, unless the Profile grants something there.
func redirected(list []Redirect, d *decider, p string) (by Redirect, rest string, ok bool) {
	for _, rd := range list {
		if profiles.Within(rd.From, p) && !d.knows(p) && (p == rd.From || !d.onTheWay(p)) {
			return rd, p[len(rd.From):], true
		}
	}
	return Redirect{}, "", false
}

// knows says whether p is the run's own or something is granted there.
func (d *decider) knows(p string) bool {
	return d.ours(p+"/x") || slices.ContainsFunc([]profiles.Access{profiles.Read, profiles.Write, profiles.Create}, func(a profiles.Access) bool {
		return d.grants.Allows(p, a).Allowed
	})
}

func (r *request) walkIn(o *object, by Redirect, rest string, f follow) unix.Errno {
	cur, e := dup(r.s.root)
	if e != 0 {
		return e
	}
	e = r.walk(o, cur, by.To+"/"+strings.TrimLeft(rest, "/"), f)
	if r.inner == nil {
		o.moved = by.From
	}
	return e
}

func dup(fd int) (int, unix.Errno) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	return n, errno(err)
}

// split takes a path's last name off it. A path that ends in "." or ".." is
// all directory.
func split(p string) (dir, name string, slash bool) {
	end := strings.TrimRight(p, "/")
	i := strings.LastIndexByte(end, '/') + 1
	if n := end[i:]; n == "" || n == "." || n == ".." {
		return p, "", false
	}
	return p[:i], end[i:], len(end) < len(p)
}

// walk resolves rest from cur, which it takes over.
//
// The fast way to the parent is one openat2 that meets no symbolic link: the
// kernel then does for us what it would do for the caller, since without links
// neither our root directory nor our /proc/self comes into play. Where there
// is a link, names are walked one by one until it is passed.
func (r *request) walk(o *object, cur int, rest string, f follow) unix.Errno {
	for links := 0; ; {
		rest = strings.TrimLeft(rest, "/")
		dir, name, slash := split(rest)
		if dir != "" {
			fd, err := unix.Openat2(cur, dir, &unix.OpenHow{Flags: openDir, Resolve: unix.RESOLVE_NO_SYMLINKS})
			if err == unix.ELOOP {
				if links++; links > mostLinks {
					unix.Close(cur)
					return unix.ELOOP
				}
				var e unix.Errno
				if cur, rest, e = r.passLink(cur, rest); e != 0 {
					return e
				}
				continue
			}
			unix.Close(cur)
			if err != nil {
				return errno(err)
			}
			cur = fd
		}
		if name == "" {
			return r.fromDescriptor(o, cur)
		}
		if e := r.find(o, cur, name, slash, f); e != 0 {
			o.close()
			return e
		}
		if o.kind != symlink || f.names() || !f.follows() && !slash {
			return 0
		}
		if links++; links > mostLinks {
			o.close()
			return unix.ELOOP
		}
		target, jump, e := r.link(cur, o.fd, name)
		if e != 0 {
			o.close()
			return e
		}
		if jump >= 0 {
			o.close()
			if !slash {
				return r.fromDescriptor(o, jump)
			}
			cur, rest = jump, "."
			continue
		}
		unix.Close(o.fd) // cur lives on: a relative target starts there
		*o = object{parent: -1, fd: -1}
		if slash {
			target += "/"
		}
		if cur, e = r.restart(cur, target); e != 0 {
			return e
		}
		rest = target
	}
}

// restart gives where a link's target starts: the run's root, or cur.
func (r *request) restart(cur int, target string) (int, unix.Errno) {
	if target[0] != '/' {
		return cur, 0
	}
	unix.Close(cur)
	return dup(r.s.root)
}

// find fills o with name in the directory cur, which it takes over.
func (r *request) find(o *object, cur int, name string, slash bool, f follow) unix.Errno {
	*o = object{parent: cur, fd: -1, slash: slash, opened: true}
	id, e := directoryAt(cur, "")
	if e != 0 {
		return e
	}
	dir, e := r.s.directoryOf(cur)
	if e != 0 {
		return e
	}
	if dir == "/" {
		dir = ""
	}
	o.place = place{dir: id, path: dir + "/" + name, name: name}
	if r.s.elsewhere(cur, dir) {
		return unix.EACCES
	}
	switch f {
	case unseen:
		if len(name) > nameMax {
			return unix.ENAMETOOLONG
		}
		return 0
	case keepLink, followLink:
		return o.pin()
	}
	if e := o.look(); e != 0 || o.kind == absent || !f.pins(o.kind) {
		return e
	}
	return o.pin()
}
