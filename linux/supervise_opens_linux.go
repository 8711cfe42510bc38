package linux

import (
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// The handlers of calls that open: as those that change names do.

// Input stands for the path of one of [Begun.Inputs].
const Input = "write to standard input"

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
	if e == 0 && r.readsEmpty(p) {
		p = emptyFile
	} else if e == 0 && r.passes(p) {
		r.resume()
		return
	}
	if e == 0 {
		e = r.resolve(&r.a, r.dirfd(r.call.dir), p, followsOpen(r.flags))
	}
	switch {
	case r.flags&unix.O_PATH != 0:
		r.openPath(e)
	case e != 0 && r.watch != "":
		r.resume() // what could not be looked at the caller may be able to open
	case e == unix.EACCES && r.openStream():
	case e != 0:
		r.fail(e)
	default:
		r.open()
	}
}

// readsEmpty says whether an open only reads one of the files that read as empty.
func (r *request) readsEmpty(p string) bool {
	const more = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC | unix.O_PATH | unix.O_DIRECTORY
	return r.flags&more == unix.O_RDONLY && slices.ContainsFunc(r.s.config.Empty, func(file string) bool {
		return strings.HasSuffix(p, path.Base(file)) && r.spelt(r.dirfd(r.call.dir), p) == file
	})
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
	if p == "" {
		return true
	}
	if r.inner != nil || len(r.s.config.Redirects) > 0 {
		if _, _, redirected := r.redirected(r.spelt(r.dirfd(r.call.dir), p)); redirected {
			return false
		}
	}
	if r.flags&unix.O_PATH != 0 || !r.s.config.WatchReads {
		return true
	}
	r.watch = p
	return r.s.passed[p]
}

// mostPassed is how many paths are kept that need no second look.
const mostPassed = 4096

// pass lets the caller make an open that was looked at to be told of, and found
// allowed. A whole path is not looked at again: should it lead elsewhere later, what
// is lost is a line. Not so in /proc or through it, where paths are of one process
// today and of another tomorrow.
func (r *request) pass() {
	if r.watch[0] == '/' && !r.jumped && !profiles.Within("/proc", r.a.place.path) {
		if r.s.passed == nil || len(r.s.passed) >= mostPassed {
			r.s.passed = map[string]bool{}
		}
		r.s.passed[r.watch] = true
	}
	r.resume()
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
	case o.slash && o.kind != directory || r.flags&unix.O_DIRECTORY != 0 && o.kind != directory:
		r.fail(unix.ENOTDIR)
		return
	case o.kind == symlink:
		r.fail(unix.ELOOP)
		return
	case o.kind == directory && (r.flags&unix.O_CREAT != 0 || r.flags&unix.O_ACCMODE != unix.O_RDONLY || r.flags&unix.O_TRUNC != 0):
		r.fail(unix.EISDIR)
		return
	}
	if o.kind == special && r.serveTerminal(how) {
		return
	}
	if r.isLaunchers(o) {
		r.refuse(ruling{errno: errAccess, path: o.place.path, access: accessOf(r.flags), why: OwnProcess})
		return
	}
	if !o.anonymous {
		rule := r.located(o, func(pl place) ruling { return r.deciders.write(pl, accessOf(r.flags)) })
		if !rule.ok() {
			if !r.openStream() {
				r.refuse(rule)
			}
			return
		}
	}
	if r.denied(o.id(), accessOf(r.flags)) {
		r.refuse(r.deniedFile(o, accessOf(r.flags)))
		return
	}
	if r.watch != "" && o.moved == "" { // what a link led to instead the caller would not find
		r.pass()
		return
	}
	if r.ofOpener(o) {
		r.refuse(ruling{errno: errAccess, path: o.place.path, why: OfOpener}) // which no grant shows
		return
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
		q.args = [6]uintptr{^uintptr(0), q.pinned(&r.a), uintptr(r.how)}
	}, slow)
}

// openStream serves what may not be opened by its path and is, through /proc, a file
// that the command started with as standard input or output, such as a log outside
// (echo >/dev/stderr): the caller gets that stream itself, as by /dev/fd elsewhere, in
// a direction in which it has it. To read, Landlock has a rule for it.
func (r *request) openStream() bool {
	if r.through == (fileID{}) || r.inner != nil || r.flags&(unix.O_PATH|unix.O_DIRECTORY) != 0 {
		return false
	}
	for _, fd := range r.s.run.Streams {
		var st unix.Stat_t
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		way := flags & unix.O_ACCMODE
		if err != nil || flags&unix.O_PATH != 0 || way != unix.O_RDWR && way != r.flags&unix.O_ACCMODE ||
			unix.Fstat(fd, &st) != nil || (fileID{st.Dev, st.Ino}) != r.through {
			continue
		}
		if r.watch != "" {
			r.resume()
			return true
		}
		r.perform(func(r *request) unix.Errno {
			dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
			r.fd = dup
			return errno(err)
		})
		return true
	}
	return false
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

// denied says whether a denial keeps access a from the contents of a file, by any
// of its names.
func (r *request) denied(id fileID, a profiles.Access) bool {
	return r.s.denied[id]&a != 0 || slices.ContainsFunc(r.files, func(files deniedFiles) bool { return files[id]&a != 0 })
}

// deniedFile explains the refusal of another name of a denied file.
func (r *request) deniedFile(o *object, a profiles.Access) ruling {
	rule := ruling{errno: errAccess, path: o.place.path, access: a, inner: r.s.denied[o.id()]&a == 0}
	if o.anonymous {
		rule.path, rule.access, rule.why = Input, 0, "others read from it, and may obey what they read: no grant allows it"
	}
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
// the caller gets a descriptor open for reading, if it may read what that leads to:
// a link may lead anywhere. What is not there it looks for itself: perhaps it is on
// the way to what is granted.
func (r *request) openPath(e unix.Errno) {
	o := &r.a
	switch {
	case e != 0, o.fd < 0, slices.ContainsFunc(r.redirects(), func(d Redirect) bool { return d.To == o.place.path }):
		r.resume()
	case o.kind != directory && o.kind != regular:
		r.fail(unix.EACCES)
	default:
		r.flags &= unix.O_DIRECTORY | unix.O_CLOEXEC
		r.open()
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
	if !r.turn(false, r.a.place.dir) {
		return
	}
	r.mode, r.how = r.newMode(0o7777), how
	r.performQuickly(quickNew, slowNew)
}

func quickNew(r *request, q *quick) {
	q.nr, q.form = unix.SYS_OPENAT, formNew
	q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.place.name), uintptr(r.how | createFlags), uintptr(r.mode)}
	if r.flags&unix.O_EXCL == 0 {
		q.odd[0] = unix.EEXIST
	}
	q.renews(&r.a)
	q.book = func(r *request, q *quick) {
		q.renewed(&r.a)
		r.deciders.add(r.a.place, dirID{})
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
		r.add(&r.a, dirID{})
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
	if st.Mode&unix.S_IFMT != unix.S_IFREG || r.denied(fileID{st.Dev, st.Ino}, accessOf(r.flags)) {
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
	id, e := directoryAt(o.fd, "")
	if e != 0 {
		r.fail(e)
		return
	}
	rule := r.deciders.rule(place{dir: id, path: o.place.path + "/#", name: "#"}, profiles.Create)
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
