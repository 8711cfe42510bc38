package linux

import (
	"slices"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// The handlers of calls that make or remove names; for those that move them see
// supervise_rename_linux.go. Each resolves its paths once, rules on what it found,
// and has the rest done at the pinned parent by a performing thread.

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

// target resolves the path of a call that makes a name, and answers those that
// end in "/", "." or "..", which have none, as the kernel does.
func (r *request) target(o *object, dir, path argument, f follow) bool {
	if e := r.path(o, dir, path, f); e != 0 {
		r.fail(e)
		return false
	}
	if o.parent < 0 {
		r.fail(unix.EEXIST)
		return false
	}
	return true
}

// fresh says whether a call may make the name o, and has its turn; else it answers
// the call. The name is unseen: the kernel says by itself if something is there. But
// EEXIST comes before any refusal, since mkdir -p and others go by it.
func (r *request) fresh(o *object, k kind) bool {
	dirOnly := k == directory
	rule := r.deciders.create(o.place, k)
	if rule.ok() && (dirOnly || !o.slash) {
		r.s.making(o)
		return r.turn(false, o.place.dir)
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

// led goes on to where a link in the run's own HOME leads, if nothing is there yet.
// The kernel would say EEXIST, and no program knows what to do about that: in the
// user's home there is neither a link nor a directory.
func (r *request) led() {
	if !profiles.Within(r.s.config.Home, r.a.place.path) || r.a.look() != 0 || r.a.kind != symlink {
		return
	}
	e := r.resolve(&r.b, unix.AT_FDCWD, r.a.place.path, followOpen)
	if e == 0 && r.b.kind == absent {
		r.a, r.b = r.b, r.a
	}
}

func serveMkdir(r *request) {
	if !r.target(&r.a, r.call.dir, r.call.path, unseen) {
		return
	}
	if r.led(); !r.fresh(&r.a, directory) {
		return
	}
	r.mode = r.newMode(0o1777)
	r.performQuickly(func(r *request, q *quick) {
		q.nr, q.form = unix.SYS_MKDIRAT, formMkdir
		q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.place.name), uintptr(r.mode)}
		q.holder = int32(r.a.parent)
		q.book = func(r *request, q *quick) {
			q.renewed(&r.a)
			if kindOf(uint32(q.sx.Mode)) == directory && justBorn(&q.sx, &q.above) {
				r.deciders.add(r.a.place, dirIDOf(&q.sx))
			}
		}
	}, func(r *request) unix.Errno {
		if err := unix.Mkdirat(r.a.parent, r.a.place.name, r.mode); err != nil {
			return errno(err)
		}
		if id, ok := justMade(r.a.parent, r.a.place.name, unix.S_IFDIR); ok {
			r.add(&r.a, id)
		}
		return 0
	})
}

// justMade gives the identity of what was made a moment ago by this name, a directory or
// a socket, if that is what stands there.
func justMade(parent int, name string, format uint16) (id dirID, ok bool) {
	var sx, above unix.Statx_t
	ok = unix.Statx(parent, name, unix.AT_SYMLINK_NOFOLLOW, directoryMask, &sx) == nil && sx.Mode&unix.S_IFMT == format &&
		unix.Statx(parent, "", unix.AT_EMPTY_PATH, unix.STATX_CTIME, &above) == nil && justBorn(&sx, &above)
	return dirIDOf(&sx), ok
}

// justBorn says whether this can be what was made a moment ago in the directory that
// above describes, whose time of change tells when: another run may have moved one of the
// user's in its place since. By the clock of the file system, and no time that anybody
// can set. Where births are not known it can.
func justBorn(sx, above *unix.Statx_t) bool {
	return sx.Mask&unix.STATX_BTIME == 0 || sx.Btime.Sec >= above.Ctime.Sec-1
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
	if !r.target(&r.a, r.call.dir, r.call.path, unseen) || !r.fresh(&r.a, special) {
		return
	}
	r.mode = mode&unix.S_IFMT | r.newMode(0o7777)
	r.perform(func(r *request) unix.Errno {
		err := unix.Mknodat(r.a.parent, r.a.place.name, r.mode, 0)
		if err == nil && r.mode&unix.S_IFMT == unix.S_IFSOCK {
			r.madeSocket(&r.a) // at which nobody listens
		}
		return r.made(&r.a, err)
	})
}

// madeSocket notes the socket that was just made by this name: the run may connect to it,
// and give it other names.
func (r *request) madeSocket(o *object) {
	if id, ok := justMade(o.parent, o.place.name, unix.S_IFSOCK); ok {
		r.s.decider.ledger.madeSocket(id)
	}
}

// add notes a name that was made; dir is its identity if it is a directory.
func (r *request) add(o *object, dir dirID) {
	o.renew()
	r.deciders.add(o.place, dir)
}

// made records the name o after the call that makes it.
func (r *request) made(o *object, err error) unix.Errno {
	if err == nil {
		r.add(o, dirID{})
	}
	return errno(err)
}

// removed records that the name r.a is gone, after the call that removes it.
func (r *request) removed(err error) unix.Errno {
	if err == nil {
		r.deciders.forget(r.a.place, r.going[0].dir)
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
	if !r.target(&r.a, r.call.dir, r.call.path, unseen) || !r.fresh(&r.a, symlink) {
		return
	}
	r.text = text
	slow := func(r *request) unix.Errno {
		return r.made(&r.a, unix.Symlinkat(r.text, r.a.parent, r.a.place.name))
	}
	if len(text) > nameMax {
		r.perform(slow)
		return
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr = unix.SYS_SYMLINKAT
		q.args = [6]uintptr{q.text(1, r.text), uintptr(r.a.parent), q.text(0, r.a.place.name)}
		q.renews(&r.a)
		q.book = func(r *request, q *quick) {
			q.renewed(&r.a)
			r.deciders.add(r.a.place, dirID{})
		}
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
	case r.turn(false, o.place.dir):
		r.removes(going{o.place, o.dirID()})
		r.performQuickly(func(r *request, q *quick) {
			q.nr = unix.SYS_UNLINKAT
			q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.place.name), uintptr(r.flags)}
			q.book = func(r *request, _ *quick) { r.removed(nil) }
		}, func(r *request) unix.Errno {
			return r.removed(unix.Unlinkat(r.a.parent, r.a.place.name, r.flags))
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

func serveLink(r *request) {
	r.flags = int(int32(r.arg(r.call.flags)))
	if r.flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		r.fail(unix.EINVAL)
		return
	}
	how := r.flags & unix.AT_EMPTY_PATH
	if r.flags&unix.AT_SYMLINK_FOLLOW == 0 {
		how |= unix.AT_SYMLINK_NOFOLLOW
	}
	if e := r.named(how); e != 0 {
		r.fail(e)
		return
	}
	if !r.target(&r.b, r.call.dir2, r.call.path2, neverFollow) {
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
	if a.anonymous || a.gone {
		if rule = r.deciders.across(a.place, b.place); rule.ok() {
			rule = r.deciders.create(b.place, regular)
		}
	} else {
		rule = r.deciders.link(a.place, a.kind, b.place)
		if rule.ok() && r.denied(a.id(), profiles.AllAccess) {
			rule = ruling{errno: errAccess, path: a.place.path, access: profiles.Read}
		}
		if rule.ok() {
			rule = r.othersSocket(a)
		}
	}
	if !rule.ok() {
		r.refuse(rule)
		return
	}
	if !r.turn(false, b.place.dir) {
		return
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr = unix.SYS_LINKAT
		q.args = [6]uintptr{^uintptr(0), q.pinned(&r.a), uintptr(r.b.parent), q.text(1, r.b.place.name), unix.AT_SYMLINK_FOLLOW}
		q.renews(&r.b)
		q.book = func(r *request, q *quick) {
			q.renewed(&r.b)
			r.deciders.add(r.b.place, dirID{})
		}
	}, func(r *request) unix.Errno {
		// By the descriptor alone: its name may have become something else's.
		return r.made(&r.b, unix.Linkat(unix.AT_FDCWD, fdPath(r.a.fd), r.b.parent, r.b.place.name, unix.AT_SYMLINK_FOLLOW))
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
	case r.denied(o.id(), profiles.Write):
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
