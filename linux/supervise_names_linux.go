package linux

import (
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// The handlers of calls that make, remove, move or open names. Each resolves
// its paths once, rules on what it found, and has the rest done at the pinned
// parent by a performing thread.

const createFlags = unix.O_CREAT | unix.O_EXCL

// serveOpen serves open, openat and creat.
func serveOpen(r *request) {
	r.flags = int(r.arg(r.call.flags)) | int(r.call.preset)
	if r.flags&unix.O_PATH == 0 && r.flags&(unix.O_CREAT|unix.O_DIRECTORY) == unix.O_CREAT|unix.O_DIRECTORY {
		r.fail(unix.EINVAL)
		return
	}
	p, e := r.readString(r.arg(r.call.path), unix.PathMax)
	if e == 0 && r.flags&unix.O_CREAT != 0 && r.flags&unix.O_PATH == 0 && strings.HasSuffix(p, "/") {
		e = unix.EISDIR // no link is followed for it
	}
	if e == 0 && r.passes(p) {
		r.resume()
		return
	}
	if e == 0 {
		e = r.resolve(&r.a, r.dirfd(r.call.dir), p, followsOpen(r.flags))
	}
	switch {
	case r.flags&unix.O_PATH != 0:
		r.openPath(e)
	case e != 0:
		r.fail(e)
	default:
		r.open()
	}
}

// passes says whether an open is one that the caller may make itself. A descriptor
// for O_PATH gives no access, and the kernel injects none; to read, the caller has
// its layers above it where PassReads says so, but in a run inside, which goes by
// what is asked about and not by what is ruled on. Whatever the path is when the kernel
// reads it again, what asks for a right stands in a register. What a Redirect moves
// the caller would not find.
func (r *request) passes(p string) bool {
	const more = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC
	if r.flags&unix.O_PATH == 0 && (!r.s.config.PassReads || r.inner != nil || r.flags&more != unix.O_RDONLY) {
		return false
	}
	if p == "" || r.inner == nil && len(r.s.config.Redirects) == 0 {
		return true
	}
	_, _, redirected := r.redirected(r.spelt(r.dirfd(r.call.dir), p))
	return !redirected
}

func followsOpen(flags int) follow {
	switch {
	case flags&unix.O_PATH != 0:
		return followIf(flags&unix.O_NOFOLLOW == 0)
	case flags&createFlags == createFlags:
		return unseen // nothing may be there, a link either
	case flags&unix.O_NOFOLLOW != 0:
		return keepOpen
	}
	return followOpen
}

func (r *request) open() {
	o := &r.a
	// The descriptor is made in this process: it must not become our terminal.
	how := r.flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC) | unix.O_CLOEXEC | unix.O_NOCTTY
	if r.flags&unix.O_TMPFILE == unix.O_TMPFILE {
		r.openTemporary(how)
		return
	}
	if o.place.name != "" && r.flags&createFlags == createFlags {
		r.openNew(how)
		return
	}
	if o.kind == absent {
		switch {
		case r.flags&unix.O_CREAT == 0:
			r.fail(unix.ENOENT)
		case o.slash: // in a link's target
			r.fail(unix.EISDIR)
		default:
			r.openNew(how)
		}
		return
	}
	switch {
	case r.flags&createFlags == createFlags:
		r.fail(unix.EEXIST)
		return
	case o.kind == symlink:
		r.fail(unix.ELOOP)
		return
	case o.slash && o.kind != directory || r.flags&unix.O_DIRECTORY != 0 && o.kind != directory:
		r.fail(unix.ENOTDIR)
		return
	case o.kind == directory && (r.flags&unix.O_CREAT != 0 || r.flags&unix.O_ACCMODE != unix.O_RDONLY || r.flags&unix.O_TRUNC != 0):
		r.fail(unix.EISDIR)
		return
	}
	if o.kind == special && r.serveTerminal(how) {
		return
	}
	if r.isLaunchers(o) {
		r.refuse(ruling{errno: errAccess, path: o.place.path, access: accessOf(r.flags)})
		return
	}
	if !o.anonymous {
		rule := r.located(o, func(pl place) ruling { return r.deciders.write(pl, accessOf(r.flags)) })
		if !rule.ok() {
			r.refuse(rule)
			return
		}
		if r.denied(o.id()) {
			r.refuse(r.deniedFile(o, accessOf(r.flags)))
			return
		}
	}
	if how&(unix.O_ACCMODE|unix.O_TRUNC) == unix.O_RDONLY && r.isRuns(o) {
		r.openHere(how)
		return
	}
	if o.fd < 0 {
		r.openRegular(how)
		return
	}
	slow := func(r *request) unix.Errno {
		fd, err := unix.Open(fdPath(r.a.fd), how, 0)
		if err == nil && r.a.isMaster() {
			r.s.terminals.note(r, fd)
		}
		r.fd = fd
		return errno(err)
	}
	r.how = how
	switch {
	case o.st.Mode&unix.S_IFMT == unix.S_IFIFO:
		r.perform((*request).openFIFO)
		return
	case o.isMaster():
		r.perform(slow)
		return
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr, q.form = unix.SYS_OPENAT, formOpen
		q.args = [6]uintptr{^uintptr(0), q.pinned(0, &r.a), uintptr(r.how)}
	}, slow)
}

// openRegular opens the file that was looked at, by its name. If another has
// taken its place everything starts again; opening it changed nothing, since
// truncation comes afterwards.
func (r *request) openRegular(how int) {
	r.how = how
	slow := func(r *request) unix.Errno { return r.openAppeared(r.how) }
	if how&unix.O_TRUNC != 0 && how&unix.O_ACCMODE != unix.O_WRONLY && how&unix.O_ACCMODE != unix.O_RDWR {
		r.perform(slow) // ftruncate would want a right that the caller does not ask for
		return
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr, q.form, q.expected, q.truncate = unix.SYS_OPENAT, formExisting, r.a.id(), r.how&unix.O_TRUNC != 0
		q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.place.name), uintptr(r.how&^unix.O_TRUNC | unix.O_NOFOLLOW)}
		q.odd = [3]syscall.Errno{unix.ENOENT, unix.ELOOP, unix.ENXIO}
	}, slow)
}

// denied says whether a denial guards the contents of a file by another name.
func (r *request) denied(id fileID) bool {
	return r.s.denied[id] || slices.ContainsFunc(r.files, func(files map[fileID]bool) bool { return files[id] })
}

// deniedFile explains the refusal of another name of a denied file.
func (r *request) deniedFile(o *object, a profiles.Access) ruling {
	rule := ruling{errno: errAccess, path: o.place.path, access: a, inner: !r.s.denied[o.id()]}
	if rule.inner {
		return rule
	}
	for _, p := range r.s.config.Denied {
		var st unix.Stat_t
		if unix.Stat(p, &st) == nil && (fileID{st.Dev, st.Ino}) == o.id() {
			rule.verdict = r.s.decider.profile.Allows(p, a)
		}
	}
	return rule
}

// accessOf is what an open of something that exists asks for.
func accessOf(flags int) profiles.Access {
	var a profiles.Access
	switch flags & unix.O_ACCMODE {
	case unix.O_RDONLY:
		a = profiles.Read
	case unix.O_WRONLY:
		a = profiles.Write
	default:
		a = profiles.Read | profiles.Write
	}
	if flags&unix.O_TRUNC != 0 {
		a |= profiles.Write
	}
	return a
}

// openPath serves an open for O_PATH of a name that is redirected. In its place
// the caller gets a descriptor open for reading. What is not there it looks for
// itself: perhaps it is on the way to what is granted.
func (r *request) openPath(e unix.Errno) {
	o := &r.a
	switch {
	case e != 0, o.fd < 0, slices.ContainsFunc(r.redirects(), func(d Redirect) bool { return d.To == o.place.path }):
		r.resume()
	case r.inner != nil && !r.deciders.rule(o.place, profiles.Read).ok():
		r.fail(unix.EACCES)
	case (o.slash || r.flags&unix.O_DIRECTORY != 0) && o.kind != directory:
		r.fail(unix.ENOTDIR)
	case o.kind != directory && o.kind != regular:
		r.fail(unix.EACCES)
	default:
		r.perform(func(r *request) unix.Errno {
			fd, err := unix.Open(fdPath(r.a.fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			r.fd = fd
			return errno(err)
		})
	}
}

// openNew makes the file. O_EXCL: if the name has appeared meanwhile, what was
// ruled on is gone, and everything starts again.
func (r *request) openNew(how int) {
	if rule := r.deciders.create(r.a.place, regular); !rule.ok() {
		if e := r.a.look(); e != 0 || r.a.kind != absent {
			r.fail(unix.EEXIST)
			return
		}
		r.refuse(rule)
		return
	}
	r.s.making(&r.a)
	r.mode, r.how = r.newMode(0o7777), how
	r.performQuickly(quickNew, slowNew)
}

func quickNew(r *request, q *quick) {
	q.nr, q.form = unix.SYS_OPENAT, formNew
	q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.place.name), uintptr(r.how | createFlags), uintptr(r.mode)}
	if r.flags&unix.O_EXCL == 0 {
		q.odd[0] = unix.EEXIST
	}
	q.book = func(r *request, q *quick) {
		r.deciders.add(r.a.place, fileID{})
		if q.sx.Mask&unix.STATX_BTIME != 0 {
			id, birth := identity(&q.sx)
			r.s.recent.note(id, birth, r.a.place)
		}
	}
}

func slowNew(r *request) unix.Errno {
	fd, err := unix.Openat(r.a.parent, r.a.place.name, r.how|createFlags, r.mode)
	if err == unix.EEXIST && r.flags&unix.O_EXCL == 0 {
		return r.openAppeared(r.how)
	}
	r.fd = fd
	if err == nil {
		r.deciders.add(r.a.place, fileID{})
		r.s.recent.add(fd, r.a.place)
	}
	return errno(err)
}

// openAppeared opens a file that came into being between look and act. It
// rules again, on the performing thread: by name, which O_NOFOLLOW holds to
// this directory.
func (r *request) openAppeared(how int) unix.Errno {
	if rule := r.deciders.write(r.a.place, accessOf(r.flags)); !rule.ok() {
		r.report(rule)
		return unix.Errno(rule.errno)
	}
	fd, err := unix.Openat(r.a.parent, r.a.place.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return errno(err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return errno(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || r.denied(fileID{st.Dev, st.Ino}) {
		return unix.EACCES
	}
	r.fd, err = unix.Open(fdPath(fd), how, 0)
	return errno(err)
}

func (r *request) openTemporary(how int) {
	o := &r.a
	switch {
	case o.kind == absent:
		r.fail(unix.ENOENT)
		return
	case o.kind != directory:
		r.fail(unix.ENOTDIR)
		return
	}
	// The file has no name yet; one that it may not get it will not get.
	rule := r.deciders.rule(place{dir: o.id(), path: o.place.path + "/#", name: "#"}, profiles.Create)
	if !rule.ok() {
		rule.path = o.place.path
		r.refuse(rule)
		return
	}
	r.mode = r.newMode(0o7777)
	r.perform(func(r *request) unix.Errno {
		// O_EXCL: the file shall never get a name.
		fd, err := unix.Open(fdPath(r.a.fd), how|r.flags&unix.O_EXCL, r.mode)
		r.fd = fd
		return errno(err)
	})
}

// making notes that a name is made where a Redirect has it.
func (s *Supervisor) making(o *object) {
	if o.moved != "" && s.moved.Load() == nil {
		from := o.moved
		s.moved.Store(&from)
	}
}

// newMode is the mode of what is made, bits limited to what the call knows.
func (r *request) newMode(bits uint32) uint32 {
	return r.deciders.newMode(uint32(r.arg(r.call.mode))&bits, r.mask())
}

// target resolves the path of a call that acts on a name, and answers those
// that end in "/", "." or "..", which have no name, with what the kernel says.
func (r *request) target(o *object, dir, path argument, f follow, nameless unix.Errno) bool {
	if e := r.path(o, dir, path, f); e != 0 {
		r.fail(e)
		return false
	}
	if o.parent < 0 {
		r.fail(nameless)
		return false
	}
	return true
}

// fresh answers for a call that makes the name o, which is unseen: the kernel
// says by itself if something is there. But EEXIST comes before any refusal,
// since mkdir -p and others go by it.
func (r *request) fresh(o *object, k kind) bool {
	dirOnly := k == directory
	rule := r.deciders.create(o.place, k)
	if rule.ok() && (dirOnly || !o.slash) {
		r.s.making(o)
		return true
	}
	switch e := o.look(); {
	case e != 0:
		r.fail(e)
	case o.kind != absent:
		r.fail(unix.EEXIST)
	case o.slash && !dirOnly:
		r.fail(unix.ENOENT)
	default:
		r.refuse(rule)
	}
	return false
}

func serveMkdir(r *request) {
	if !r.target(&r.a, r.call.dir, r.call.path, unseen, unix.EEXIST) || !r.fresh(&r.a, directory) {
		return
	}
	r.mode = r.newMode(0o1777)
	r.performQuickly(func(r *request, q *quick) {
		q.nr, q.form = unix.SYS_MKDIRAT, formMkdir
		q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.place.name), uintptr(r.mode)}
		q.book = func(r *request, q *quick) {
			if kindOf(q.st.Mode) == directory {
				r.deciders.add(r.a.place, fileID{q.st.Dev, q.st.Ino})
			}
		}
	}, func(r *request) unix.Errno {
		if err := unix.Mkdirat(r.a.parent, r.a.place.name, r.mode); err != nil {
			return errno(err)
		}
		var st unix.Stat_t
		if unix.Fstatat(r.a.parent, r.a.place.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && kindOf(st.Mode) == directory {
			r.deciders.add(r.a.place, fileID{st.Dev, st.Ino})
		}
		return 0
	})
}

func serveMknod(r *request) {
	mode := uint32(r.arg(r.call.mode))
	switch mode & unix.S_IFMT {
	case 0, unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
	case unix.S_IFCHR, unix.S_IFBLK, unix.S_IFDIR:
		r.fail(unix.EPERM)
		return
	default:
		r.fail(unix.EINVAL)
		return
	}
	if !r.target(&r.a, r.call.dir, r.call.path, unseen, unix.EEXIST) || !r.fresh(&r.a, special) {
		return
	}
	r.mode = mode&unix.S_IFMT | r.newMode(0o7777)
	r.perform(func(r *request) unix.Errno {
		err := unix.Mknodat(r.a.parent, r.a.place.name, r.mode, 0)
		return r.made(err)
	})
}

// made records the name r.a after the call that makes it.
func (r *request) made(err error) unix.Errno {
	if err == nil {
		r.deciders.add(r.a.place, fileID{})
	}
	return errno(err)
}

func serveSymlink(r *request) {
	text, e := r.readString(r.arg(r.call.path2), unix.PathMax)
	if e != 0 {
		r.fail(e)
		return
	}
	if text == "" {
		r.fail(unix.ENOENT)
		return
	}
	if !r.target(&r.a, r.call.dir, r.call.path, unseen, unix.EEXIST) || !r.fresh(&r.a, symlink) {
		return
	}
	r.text = text
	slow := func(r *request) unix.Errno {
		return r.made(unix.Symlinkat(r.text, r.a.parent, r.a.place.name))
	}
	if len(text) > nameMax {
		r.perform(slow)
		return
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr = unix.SYS_SYMLINKAT
		q.args = [6]uintptr{q.text(1, r.text), uintptr(r.a.parent), q.text(0, r.a.place.name)}
		q.book = func(r *request, _ *quick) { r.made(nil) }
	}, slow)
}

func serveUnlink(r *request) {
	r.flags = int(int32(r.arg(r.call.flags))) | int(r.call.preset)
	if r.flags&^unix.AT_REMOVEDIR != 0 {
		r.fail(unix.EINVAL)
		return
	}
	o := &r.a
	rmdir := r.flags&unix.AT_REMOVEDIR != 0
	f := unseen
	if rmdir || r.s.config.Masks {
		f = neverFollow // the ledger must know which
	}
	if e := r.path(o, r.call.dir, r.call.path, f); e != 0 {
		r.fail(e)
		return
	}
	if o.parent < 0 {
		e := unix.EISDIR
		if rmdir {
			e = unix.EINVAL // ".", and for ".." and "/" as good an error as theirs
		}
		r.fail(e)
		return
	}
	rule := r.deciders.remove(o.place)
	if f == unseen && (!rule.ok() || o.slash) {
		if e := o.look(); e != 0 {
			r.fail(e)
			return
		}
		f = neverFollow
	}
	switch {
	case f == unseen: // the kernel has the same errors
	case o.kind == absent:
		r.fail(unix.ENOENT)
		return
	case rmdir && o.kind != directory:
		r.fail(unix.ENOTDIR)
		return
	case !rmdir && o.kind == directory:
		r.fail(unix.EISDIR)
		return
	case o.slash && !rmdir:
		r.fail(unix.ENOTDIR)
		return
	}
	switch {
	case !rule.ok() && rmdir && r.deciders.rule(o.place, profiles.Read).ok():
		// git tries to remove every directory above a file that it removes, also
		// the work tree's own: nothing that holds something goes, whoever asks.
		r.perform(func(r *request) unix.Errno {
			if holdsNames(r.a.parent, r.a.place.name) {
				return unix.ENOTEMPTY
			}
			r.report(rule)
			return unix.Errno(rule.errno)
		})
	case !rule.ok():
		r.refuse(rule)
	case r.s.mountPoint(o):
		r.fail(unix.EBUSY)
	default:
		r.removes(going{o.place, o.dirID()})
		r.performQuickly(func(r *request, q *quick) {
			q.nr = unix.SYS_UNLINKAT
			q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.place.name), uintptr(r.flags)}
			q.book = func(r *request, _ *quick) { r.deciders.forget(r.a.place, r.a.dirID()) }
		}, func(r *request) unix.Errno {
			err := unix.Unlinkat(r.a.parent, r.a.place.name, r.flags)
			if err == nil {
				r.deciders.forget(r.a.place, r.a.dirID())
			}
			return errno(err)
		})
	}
}

// holdsNames says whether the directory of that name can be seen to hold something.
func holdsNames(parent int, name string) bool {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var entries [4096]byte
	for {
		n, err := unix.ReadDirent(fd, entries[:])
		if err != nil || n <= 0 {
			return false
		}
		if _, some, _ := unix.ParseDirent(entries[:n], 1, nil); some > 0 {
			return true
		}
	}
}

// mountPoint says whether something is mounted on a name in the run's view of its
// own. The kernel, asked from outside that, would take the name away and the mount
// with it.
func (s *Supervisor) mountPoint(o *object) bool {
	if len(s.view) == 0 || o.kind == absent {
		return false
	}
	above, known := mountOf(o.parent)
	at, there := mountAt(o.parent, o.place.name)
	return known && there && at != above
}

func serveRename(r *request) {
	r.flags = int(uint32(r.arg(r.call.flags)))
	if r.flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0 ||
		r.flags == unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE {
		r.fail(unix.EINVAL) // RENAME_WHITEOUT makes devices
		return
	}
	from, e := r.readString(r.arg(r.call.path), unix.PathMax)
	to := ""
	if e == 0 {
		to, e = r.readString(r.arg(r.call.path2), unix.PathMax)
	}
	if e == 0 {
		e = r.resolve(&r.a, r.dirfd(r.call.dir), from, neverFollow)
	}
	if e == 0 && (r.dirfd(r.call.dir) != r.dirfd(r.call.dir2) || !r.beside(&r.b, &r.a, from, to, &e)) {
		e = r.resolve(&r.b, r.dirfd(r.call.dir2), to, neverFollow)
	}
	switch {
	case e != 0:
	case r.a.parent < 0, r.b.parent < 0 && r.flags&unix.RENAME_NOREPLACE == 0:
		e = unix.EBUSY
	case r.b.parent < 0:
		e = unix.EEXIST
	}
	if e != 0 {
		r.fail(e)
		return
	}
	a, b := &r.a, &r.b
	exchange := r.flags&unix.RENAME_EXCHANGE != 0
	switch {
	case a.kind == absent, exchange && b.kind == absent:
		r.fail(unix.ENOENT)
		return
	case (a.slash || b.slash && !exchange) && a.kind != directory, exchange && b.slash && b.kind != directory:
		r.fail(unix.ENOTDIR)
		return
	case b.kind != absent && r.flags&unix.RENAME_NOREPLACE != 0:
		r.fail(unix.EEXIST)
		return
	case b.kind != absent && !exchange && a.kind == directory && b.kind != directory:
		r.fail(unix.ENOTDIR)
		return
	case b.kind != absent && !exchange && a.kind != directory && b.kind == directory:
		r.fail(unix.EISDIR)
		return
	}
	if rule := r.deciders.rename(a.place, a.kind, b.place, b.kind, exchange); !rule.ok() {
		r.refuse(rule)
		return
	}
	if r.s.mountPoint(a) || r.s.mountPoint(b) {
		r.fail(unix.EBUSY)
		return
	}
	flags := uint(r.flags)
	if b.kind == absent {
		flags |= unix.RENAME_NOREPLACE // what was ruled on is an absent name
	}
	r.how = int(flags)
	r.s.recent.clear()
	if !exchange {
		r.removes(going{place: a.place}, going{dir: b.dirID()})
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr = unix.SYS_RENAMEAT2
		q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.last()), uintptr(r.b.parent), q.text(1, r.b.last()), uintptr(r.how)}
		q.odd[0], q.odd[1] = unix.EINVAL, unix.ENOSYS
		q.book = func(r *request, _ *quick) { r.renamed() }
	}, slowRename)
}

func slowRename(r *request) unix.Errno {
	a, b := &r.a, &r.b
	err := unix.Renameat2(a.parent, a.last(), b.parent, b.last(), uint(r.how))
	if (err == unix.EINVAL || err == unix.ENOSYS) && r.flags == 0 {
		// The file system lacks NOREPLACE. The name could only have come
		// from the run itself or from outside since.
		err = unix.Renameat(a.parent, a.last(), b.parent, b.last())
	}
	if err == nil {
		r.renamed()
	}
	return errno(err)
}

// renamed records that r.a has become r.b.
func (r *request) renamed() {
	a, b := &r.a, &r.b
	if r.flags&unix.RENAME_EXCHANGE != 0 || a.kind != directory && b.kind != absent && a.id() == b.id() {
		// Both names stay the run's, or Delete is granted; of two names
		// of one file the kernel leaves both.
		return
	}
	for _, d := range r.deciders {
		l := d.ledger
		made := l.made(a.place)
		l.remove(a.place, fileID{})
		if b.kind == absent && made {
			l.add(b.place, fileID{})
		}
		if b.kind == directory {
			l.remove(place{}, b.id()) // replaced while empty
		}
	}
}

func serveLink(r *request) {
	r.flags = int(int32(r.arg(r.call.flags)))
	if r.flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		r.fail(unix.EINVAL)
		return
	}
	p, e := r.readString(r.arg(r.call.path), unix.PathMax)
	if e != 0 {
		r.fail(e)
		return
	}
	if p == "" && r.flags&unix.AT_EMPTY_PATH != 0 {
		e = r.descriptor(&r.a, r.dirfd(r.call.dir))
	} else {
		e = r.resolve(&r.a, r.dirfd(r.call.dir), p, followIf(r.flags&unix.AT_SYMLINK_FOLLOW != 0))
	}
	if e != 0 {
		r.fail(e)
		return
	}
	if r.a.fd < 0 {
		r.fail(unix.ENOENT)
		return
	}
	if r.a.slash && r.a.kind != directory {
		r.fail(unix.ENOTDIR)
		return
	}
	if !r.target(&r.b, r.call.dir2, r.call.path2, neverFollow, unix.EEXIST) {
		return
	}
	a, b := &r.a, &r.b
	switch {
	case b.kind != absent:
		r.fail(unix.EEXIST)
		return
	case b.slash:
		r.fail(unix.ENOENT)
		return
	case a.kind == directory:
		r.fail(unix.EPERM)
		return
	}
	// A nameless temporary file of the run's: only its new name counts.
	var rule ruling
	if a.anonymous || a.st.Nlink == 0 {
		rule = r.deciders.create(b.place, regular)
	} else {
		rule = r.deciders.link(a.place, b.place)
		if rule.ok() && (r.denied(a.id()) || a.st.Mode&unix.S_IFMT == unix.S_IFSOCK && !r.deciders.made(a.place)) {
			// Another name of a socket would hide whose it is.
			rule = ruling{errno: errAccess, path: a.place.path, access: profiles.Read}
		}
	}
	if !rule.ok() {
		r.refuse(rule)
		return
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr = unix.SYS_LINKAT
		q.args = [6]uintptr{^uintptr(0), q.pinned(0, &r.a), uintptr(r.b.parent), q.text(1, r.b.place.name), unix.AT_SYMLINK_FOLLOW}
		q.odd = [3]syscall.Errno{unix.EXDEV, unix.ENOENT, unix.EPERM}
		q.book = func(r *request, _ *quick) { r.deciders.add(r.b.place, fileID{}) }
	}, func(r *request) unix.Errno {
		err := unix.Linkat(unix.AT_FDCWD, fdPath(r.a.fd), r.b.parent, r.b.place.name, unix.AT_SYMLINK_FOLLOW)
		if r.a.parent >= 0 && (err == unix.EXDEV || err == unix.ENOENT || err == unix.EPERM) {
			// Where /proc is another mount the kernel compares mounts, not
			// files; the pinned parent serves as well.
			err = unix.Linkat(r.a.parent, r.a.place.name, r.b.parent, r.b.place.name, 0)
		}
		if err == nil {
			r.deciders.add(r.b.place, fileID{})
		}
		return errno(err)
	})
}

func serveTruncate(r *request) {
	if e := r.path(&r.a, 0, r.call.path, followLink); e != 0 {
		r.fail(e)
		return
	}
	o := &r.a
	switch {
	case o.fd < 0:
		r.fail(unix.ENOENT)
	case o.slash && o.kind != directory:
		r.fail(unix.ENOTDIR)
	case o.kind == directory:
		r.fail(unix.EISDIR)
	case r.denied(o.id()):
		r.refuse(r.deniedFile(o, profiles.Write))
	case r.tooLong(o, int64(r.args[1])):
		r.fail(unix.EFBIG) // the performing thread has no such limit
	default:
		if rule := r.located(o, func(pl place) ruling { return r.deciders.write(pl, profiles.Write) }); !o.anonymous && !rule.ok() {
			r.refuse(rule)
			return
		}
		r.perform(func(r *request) unix.Errno {
			return errno(unix.Truncate(fdPath(r.a.fd), int64(r.args[1])))
		})
	}
}

// tooLong says whether a file would become longer than a limit allows, and than
// it is.
func (r *request) tooLong(o *object, size int64) bool {
	return slices.ContainsFunc(r.deciders, func(d *decider) bool {
		most := d.profile.Limits.FileSize
		return most > 0 && size > max(o.st.Size, most)
	})
}
