package linux

import (
	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

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
