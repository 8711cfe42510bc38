package linux

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// The handlers of calls that make, remove or move names. Each resolves its paths
// once, rules on what it found, and has the rest done at the pinned parent by a
// performing thread.

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

func serveRename(r *request) {
	r.flags = int(uint32(r.arg(r.call.flags)))
	if r.flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0 ||
		r.flags == unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE {
		r.fail(unix.EINVAL) // RENAME_WHITEOUT makes devices
		return
	}
	others := r.s.turns.some()
	if e := r.fromAndTo(); e != 0 {
		r.fail(e)
		return
	}
	a, b := &r.a, &r.b
	if !r.turn(true, a.place.dir, b.place.dir) {
		return
	}
	if others {
		// They may have changed what was found.
		e := a.look()
		if e == 0 {
			e = b.look()
		}
		if e != 0 {
			r.fail(e)
			return
		}
	}
	if e := cannotRename(a, b, r.flags); e != 0 {
		r.fail(e)
		return
	}
	exchange := r.flags&unix.RENAME_EXCHANGE != 0
	over := b.kind
	if over == symlink && !exchange && !r.deciders.made(b.place) {
		switch to, e := r.leadsTo(b); {
		case e == 0 && to != directory:
		case e == unix.ENOENT && (a.kind != symlink || r.leadsToFile(a)): // nothing had a name through it
		default:
			over = directory // so that what is beneath its name does not become something else
		}
	}
	if rule := r.deciders.rename(a.place, a.kind, b.place, over, exchange); !rule.ok() {
		r.refuse(rule)
		return
	}
	rule := r.othersSocket(a)
	if rule.ok() && exchange {
		rule = r.othersSocket(b)
	}
	if !rule.ok() {
		r.refuse(rule)
		return
	}
	if r.s.mountPoint(a) || r.s.mountPoint(b) {
		r.fail(unix.EBUSY)
		return
	}
	replaces := b.kind != absent && !exchange && !r.deciders.made(b.place)
	if replaces && b.kind != directory && !r.s.kept.owns(b) && !r.deciders.rule(b.place, profiles.Delete).ok() {
		if e := b.pin(); e != 0 {
			r.fail(e)
			return
		}
		r.s.kept.keep(b)
	}
	for _, d := range r.deciders {
		if a.kind == directory {
			d.ledger.moving(a.place.path, b.place.path)
		}
		if exchange && b.kind == directory {
			d.ledger.moving(b.place.path, a.place.path)
		}
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
	if a.fd >= 0 || b.fd >= 0 {
		r.perform(slowRename)
		return
	}
	r.performQuickly(func(r *request, q *quick) {
		q.nr = unix.SYS_RENAMEAT2
		q.args = [6]uintptr{uintptr(r.a.parent), q.text(0, r.a.last()), uintptr(r.b.parent), q.text(1, r.b.last()), uintptr(r.how)}
		q.odd[0], q.odd[1] = unix.EINVAL, unix.ENOSYS
		q.renews(&r.b)
		q.book = func(r *request, q *quick) {
			q.renewed(&r.b)
			r.renamed()
		}
	}, slowRename)
}

// OfOthers is why a socket gets no other name.
const OfOthers = "by another name it could be taken for a socket that a run has made"

// othersSocket rules on another name for a socket: none for one that the run has not
// made. Another run, which has just bound one of that name, would take it for its own.
func (r *request) othersSocket(o *object) ruling {
	if o.kind != special || o.st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return ruling{}
	}
	if o.fd < 0 && (o.pin() != 0 || o.fd < 0) || !r.s.decider.ledger.ownSocket(o.id(), birth(o.fd), o.place) {
		return ruling{errno: errAccess, path: o.place.path, why: OfOthers}
	}
	return ruling{}
}

// leadsTo gives what a link leads to.
func (r *request) leadsTo(link *object) (kind, unix.Errno) {
	var to object
	defer to.close()
	e := r.resolve(&to, unix.AT_FDCWD, link.place.path, followLink)
	if e == 0 && to.fd < 0 {
		e = unix.ENOENT
	}
	return to.kind, e
}

// leadsToFile says whether a link is known to lead to something without names in it.
func (r *request) leadsToFile(link *object) bool {
	to, e := r.leadsTo(link)
	return e == 0 && to != directory
}

// fromAndTo resolves the two names of a rename, and gives the kernel's error for what
// has none.
func (r *request) fromAndTo() unix.Errno {
	from, e := r.readString(r.arg(r.call.path), unix.PathMax)
	if e != 0 {
		return e
	}
	to, e := r.readString(r.arg(r.call.path2), unix.PathMax)
	if e == 0 {
		e = r.resolve(&r.a, r.dirfd(r.call.dir), from, neverFollow)
	}
	if e == 0 && (r.dirfd(r.call.dir) != r.dirfd(r.call.dir2) || !r.beside(&r.b, &r.a, from, to, &e)) {
		e = r.resolve(&r.b, r.dirfd(r.call.dir2), to, neverFollow)
	}
	switch {
	case e != 0:
		return e
	case r.a.parent < 0, r.b.parent < 0 && r.flags&unix.RENAME_NOREPLACE == 0:
		return unix.EBUSY
	case r.b.parent < 0:
		return unix.EEXIST
	}
	return 0
}

// cannotRename gives the kernel's error for a rename of a to b as they are, 0 if it has
// none.
func cannotRename(a, b *object, flags int) unix.Errno {
	exchange := flags&unix.RENAME_EXCHANGE != 0
	switch {
	case a.kind == absent, exchange && b.kind == absent:
		return unix.ENOENT
	case (a.slash || b.slash && !exchange) && a.kind != directory, exchange && b.slash && b.kind != directory:
		return unix.ENOTDIR
	case b.kind != absent && flags&unix.RENAME_NOREPLACE != 0:
		return unix.EEXIST
	case b.kind == absent || exchange:
		return 0
	case a.kind == directory && b.kind != directory:
		return unix.ENOTDIR
	case a.kind != directory && b.kind == directory:
		return unix.EISDIR
	}
	return 0
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
		b.renew()
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
	saved := false
	for _, d := range r.deciders {
		l := d.ledger
		made := l.made(a.place)
		saved = saved || !l.made(b.place)
		l.remove(a.place, dirID{})
		if b.kind == absent && made {
			l.add(b.place, dirID{}, d.secret(b.place))
		}
		if b.kind == directory {
			l.remove(place{}, r.going[1].dir) // replaced while empty
		}
	}
	if saved && b.kind != absent && b.kind != directory {
		r.s.kept.saved(b.place, a.id())
	}
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

// kept holds what atomic saves replaced, until the run ends. The descriptors
// keep the old files alive without any name, and so without litter and on any
// file system; who wants one back copies it from the launcher's /proc/PID/fd.
type kept struct {
	mu    sync.Mutex
	most  int // descriptors, at most keptMost
	files []int
	last  map[entry]fileID // what the run saved at an old name: not worth keeping
}

// keptMost bounds the descriptors held, and so does the table that they are in;
// beyond it the oldest are let go.
const keptMost = 1024

func (k *kept) limit() {
	k.most = keptMost
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		k.most = int(max(1, min(keptMost, files.Cur/8)))
	}
}

func (k *kept) keep(o *object) {
	if o.fd < 0 {
		return
	}
	fd, e := dup(o.fd)
	if e != 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.files) >= k.most {
		unix.Close(k.files[0])
		k.files = k.files[1:]
	}
	k.files = append(k.files, fd)
}

// owns says whether what stands at an old name is what the run last saved there.
func (k *kept) owns(o *object) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last[entryOf(o.place)] == o.id()
}

// saved notes the file that an atomic save has put at an old name.
func (k *kept) saved(pl place, id fileID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil {
		k.last = map[entry]fileID{}
	}
	if len(k.last) < ledgerMost {
		k.last[entryOf(pl)] = id
	}
}

func (k *kept) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, fd := range k.files {
		unix.Close(fd)
	}
	k.files = nil
}
