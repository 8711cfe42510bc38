package linux

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// object is what a path leads to. Its descriptors are O_PATH: they pin what
// was decided about, and give no access.
type object struct {
	parent int   // directory that holds the name, -1 if there is none
	place  place // where the name stands; only place.path for "/", "." and ".."
	slash  bool  // a slash follows the name: it must be a directory
	fd     int   // the object, -1 if absent or not pinned
	st     unix.Stat_t
	kind   kind
	// caller says that fd is the caller's own open file, fetched from it.
	caller bool
	// anonymous says that no path leads to it: a pipe, a socket, a memfd,
	// reached through a descriptor that the caller has.
	anonymous bool
	moved     string // the From of the Redirect that led here
	opened    bool   // parent and fd are to be closed
}

func (o *object) close() {
	if !o.opened {
		return
	}
	o.opened = false
	if o.parent >= 0 {
		unix.Close(o.parent)
	}
	if o.fd >= 0 {
		unix.Close(o.fd)
	}
}

// last is the name as the kernel should see it.
func (o *object) last() string {
	if o.slash {
		return o.place.name + "/"
	}
	return o.place.name
}

func (o *object) id() fileID { return fileID{o.st.Dev, o.st.Ino} }

// dirID is the object's identity if it is a directory, else zero.
func (o *object) dirID() fileID {
	if o.kind == directory {
		return o.id()
	}
	return fileID{}
}

func kindOf(mode uint32) kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return regular
	case unix.S_IFDIR:
		return directory
	case unix.S_IFLNK:
		return symlink
	}
	return special
}

// follow says what to do at the end of a path: whether a symbolic link there
// is followed, and how closely the name is looked at.
type follow uint8

const (
	// keepLink is for calls about an object: a slash behind the link follows
	// it all the same.
	keepLink follow = iota
	followLink
	// keepOpen and followOpen are the same for opens, which pin all but
	// regular files.
	keepOpen
	followOpen
	// neverFollow is for calls about a name. It is looked at and not pinned.
	neverFollow
	// unseen is for those that the kernel answers well enough: the name is not
	// looked at, and its kind is unknown.
	unseen
)

func (f follow) follows() bool { return f == followLink || f == followOpen }
func (f follow) names() bool   { return f == neverFollow || f == unseen }

// pins says whether what is found is to be held by a descriptor.
func (f follow) pins(k kind) bool {
	return f == keepLink || f == followLink || !f.names() && k != regular
}

func followIf(yes bool) follow {
	if yes {
		return followLink
	}
	return keepLink
}

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
	if fetched {
		e = r.s.inView(fd)
	} else if e != unix.EBADF || dirfd == unix.AT_FDCWD {
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
	if err := unix.Fstat(fd, &o.st); err != nil {
		return errno(err)
	}
	o.kind = kindOf(o.st.Mode)
	if o.kind == regular {
		if pl, ok := r.s.recent.find(fd, &o.st); ok {
			o.place = pl
			return 0
		}
	}
	p, e := r.s.pathOf(fd)
	if e != 0 {
		return e
	}
	if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "/memfd:") && o.st.Nlink == 0 {
		o.anonymous = true
		o.place.path = p
		return 0
	}
	if o.st.Nlink == 0 {
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
	for _, dir := range s.config.Private {
		if e == 0 && isBeneath(dir, p) {
			e = unix.EACCES
		}
	}
	if e != 0 {
		unix.Close(fd)
	}
	return e
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

// located rules on an object, and once more with its name where it was reached
// through a descriptor and has been refused: the run may have made it.
func (r *request) located(o *object, rule func(place) ruling) ruling {
	is := rule(o.place)
	if is.ok() || o.place.name != "" || o.anonymous || o.kind == directory {
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
	var st, again unix.Stat_t
	if unix.Fstat(dir, &st) == nil && unix.Fstatat(dir, p[i+1:], &again, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		again.Dev == o.st.Dev && again.Ino == o.st.Ino {
		o.place.dir, o.place.name = fileID{st.Dev, st.Ino}, p[i+1:]
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
		if isBeneath(rd.From, p) && !d.knows(p) && (p == rd.From || !d.onTheWay(p)) {
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
	if err := unix.Fstat(cur, &o.st); err != nil {
		return errno(err)
	}
	if o.st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return unix.ENOTDIR
	}
	dir, e := r.s.directoryOf(cur)
	if e != 0 {
		return e
	}
	if dir == "/" {
		dir = ""
	}
	o.place = place{dir: fileID{o.st.Dev, o.st.Ino}, path: dir + "/" + name, name: name}
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

// nameMax is the longest name that any file system has.
const nameMax = 255

// look finds out what stands at the name, if anything does.
func (o *object) look() unix.Errno {
	o.kind = absent
	err := unix.Fstatat(o.parent, o.place.name, &o.st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil {
		o.kind = kindOf(o.st.Mode)
	}
	if err == unix.ENOENT {
		return 0
	}
	return errno(err)
}

// pin holds what stands at the name, if anything does.
func (o *object) pin() unix.Errno {
	o.kind = absent
	fd, err := unix.Openat(o.parent, o.place.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return 0
	}
	if err != nil {
		return errno(err)
	}
	o.fd = fd
	if err := unix.Fstat(fd, &o.st); err != nil {
		return errno(err)
	}
	o.kind = kindOf(o.st.Mode)
	return 0
}

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
	return fd, r.s.inView(fd)
}

// numbers gives those of the caller's process and thread in the /proc that cur
// lies in.
func (r *request) numbers(cur int) (process, thread string, e unix.Errno) {
	var ours, theirs unix.Stat_t
	if err := errors.Join(unix.Fstat(r.s.proc, &ours), unix.Fstat(cur, &theirs)); err != nil {
		return "", "", unix.EACCES
	}
	fd, err := unix.Openat(r.task.dir, "status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", "", errno(err)
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return "", "", errno(err)
	}
	// NStgid and NSpid list the numbers from our namespace inwards.
	for line := range strings.SplitSeq(string(buf[:n]), "\n") {
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
