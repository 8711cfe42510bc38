package linux

import "golang.org/x/sys/unix"

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
	gone      bool   // reached through a descriptor, and has no name (any more)
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

// memory says whether o is a file of memory. No Landlock rule forbids to start one, so
// that its mode has to: the seal with which it is made keeps fchmod from making it
// executable, but no ACL, and not that of huge pages or one made outside.
func (o *object) memory() bool { return o.anonymous && o.kind == regular }

// dirID is the object's identity if it is a directory, else zero.
func (o *object) dirID() dirID {
	id := dirID{}
	if o.kind == directory {
		id, _ = directoryAt(o.parent, o.place.name)
	}
	return id
}

// ages says whether the directory may have another identity once something was made in
// it: one of an overlay's lower layers is in the upper one by then, with that one's time
// of birth. A file system of a disk is none.
func (o *object) ages() bool { return o.place.dir.born != 0 && unix.Major(o.place.dir.dev) == 0 }

// renew finds that out.
func (o *object) renew() {
	if !o.ages() {
		return
	}
	if id, e := directoryAt(o.parent, ""); e == 0 {
		o.place.dir = id
	}
}

// directoryAt gives the identity of the directory of that name in the one open as
// fd, or of that itself if name is "".
func directoryAt(fd int, name string) (dirID, unix.Errno) {
	var sx unix.Statx_t
	if err := unix.Statx(fd, name, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW, directoryMask, &sx); err != nil {
		return dirID{}, errno(err)
	}
	if kindOf(uint32(sx.Mode)) != directory {
		return dirID{}, unix.ENOTDIR
	}
	return dirIDOf(&sx), 0
}

// directoryMask is what dirIDOf wants to be told.
const directoryMask = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_BTIME

func dirIDOf(sx *unix.Statx_t) dirID {
	id, birth := identity(sx)
	if sx.Mask&unix.STATX_BTIME == 0 {
		return dirID{fileID: id}
	}
	return dirID{id, birth.Sec*1e9 + int64(birth.Nsec)}
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
