package skill

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
)

// Bounds of a skill's tree. Beyond them it has no digest, and so no approval.
const (
	MaxEntries = 100_000
	MaxDepth   = 64
	MaxBytes   = 4 << 30
)

// Kind is what an entry of a tree is.
type Kind byte

// The kinds; there are no others in a skill.
const (
	Plain   Kind = 'f'
	Program Kind = 'x' // a file that somebody may execute
	Dir     Kind = 'd'
	Link    Kind = 'l'
)

// Entry is one entry of a skill's tree.
type Entry struct {
	Path   string // relative, separated by "/", any bytes
	Kind   Kind
	Size   int64    // of a file or of a link's target; 0 for a directory
	SHA256 [32]byte // of the same; zero for a directory
}

// Digest is the digest of a tree: the SHA-256 over the line "skillrun-tree 1\n"
// and, for each entry in the byte order of their paths, the kind (1 byte), the
// length of the path (8 bytes, big-endian), the path, the size (8 bytes) and
// the SHA-256 of the contents or link target (32 bytes; zeros for a directory).
// Times, owners and modes other than "somebody may execute" have no part in it.
// Nothing is left out: whatever lies in the skill can be run or read.
func Digest(entries []Entry) (sum [32]byte) {
	h := sha256.New()
	io.WriteString(h, "skillrun-tree 1\n")
	var b []byte
	for i := range entries {
		e := &entries[i]
		b = append(b[:0], byte(e.Kind))
		b = binary.BigEndian.AppendUint64(b, uint64(len(e.Path)))
		b = append(b, e.Path...)
		b = binary.BigEndian.AppendUint64(b, uint64(e.Size))
		b = append(b, e.SHA256[:]...)
		h.Write(b)
	}
	h.Sum(sum[:0])
	return sum
}

// Cache keeps digests under keys that are digests themselves. *audit.Digests is
// one.
type Cache interface {
	Lookup(key [32]byte) (value [32]byte, ok bool)
	Store(key, value [32]byte)
}

// A Look is what the file system tells of a skill's tree, without a file read.
type Look struct {
	w   nodes
	err error
	at  time.Time
}

// LookAt looks at every entry of the skill in dir, which must be resolved.
func LookAt(dir string, now time.Time) *Look {
	w, err := walk(dir)
	return &Look{w, err, now}
}

// Cached gives the tree's digest if the cache has it. Not ok means: use Tree, perhaps
// while the command runs.
func (l *Look) Cached(cache Cache) (sum [32]byte, ok bool, err error) {
	if l.err != nil {
		return sum, false, l.err
	}
	if !l.w.settled(l.at) {
		return sum, false, nil
	}
	sum, ok = cache.Lookup(l.w.key())
	return sum, ok, nil
}

// Cached looks at every entry of the skill in dir and gives what [Look.Cached] does.
func Cached(dir string, cache Cache, now time.Time) (sum [32]byte, ok bool, err error) {
	return LookAt(dir, now).Cached(cache)
}

// Tree reads the whole tree of the skill in dir, which must be resolved. It
// fails on what cannot be read, on a device, fifo or socket, on a tree beyond
// the bounds, on a file that changes meanwhile, and when ctx is done. cache may
// be nil; the digest goes there if nothing changed in the last 2 s and nobody has a
// file open for writing.
func Tree(ctx context.Context, dir string, cache Cache, now time.Time) ([]Entry, error) {
	w, err := walk(dir)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(w))
	var largest int64
	for i := range w {
		largest = max(largest, w[i].Size)
	}
	buf := make([]byte, min(128<<10, max(4<<10, largest+1)))
	var total int64
	for i := range w {
		n := &w[i]
		e := &entries[i]
		*e = Entry{Path: n.path, Kind: n.kind}
		if n.kind != Dir {
			if total += n.Size; total > MaxBytes {
				return nil, fmt.Errorf("skill %q: more than %d bytes", dir, int64(MaxBytes))
			}
			if err := e.read(ctx, dir, n, buf); err != nil {
				return nil, fmt.Errorf("skill %q: %q: %w", dir, n.path, bare(err))
			}
		}
	}
	again, err := walk(dir)
	if err != nil {
		return nil, err
	}
	if w.key() != again.key() {
		return nil, fmt.Errorf("skill %q: changed while it was read", dir)
	}
	if cache != nil && w.settled(now) {
		cache.Store(w.key(), Digest(entries))
	}
	return entries, nil
}

// read digests a file or link. What it reads is what the walk saw: the file is
// opened without following a link and compared, and a second walk follows.
func (e *Entry) read(ctx context.Context, dir string, n *node, buf []byte) error {
	path := filepath.Join(dir, n.path)
	if n.kind == Link {
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		e.Size, e.SHA256 = int64(len(target)), sha256.Sum256([]byte(target))
		return nil
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	n.written = n.shown && !private.Unwritten(fd) // whoever writes from here on gives it new times
	if id, err := private.Identify(fd, "", false); err != nil || id != n.Identity {
		return cmp.Or(err, errors.New("changed while it was read"))
	}
	h := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, err := f.Read(buf)
		h.Write(buf[:k])
		e.Size += int64(k)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	h.Sum(e.SHA256[:0])
	return nil
}

// node is one entry as the file system describes it.
type node struct {
	path string
	kind Kind
	private.Identity
	shown   bool // lies on a file system that tells of every change
	written bool // somebody has it open for writing
}

// nodes are sorted by path.
type nodes []node

// walk looks at every entry beneath dir.
func walk(dir string) (nodes, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("skill %q: %w", dir, err)
	}
	var w nodes
	if err := w.add(fd, "", 1); err != nil {
		return nil, fmt.Errorf("skill %q: %w", dir, err)
	}
	slices.SortFunc(w, func(a, b node) int { return cmp.Compare(a.path, b.path) })
	return w, nil
}

// add appends what is in the directory fd, which it closes.
func (w *nodes) add(fd int, prefix string, depth int) error {
	d := os.NewFile(uintptr(fd), prefix)
	defer d.Close()
	if depth > MaxDepth {
		return fmt.Errorf("%q: more than %d directories deep", prefix, MaxDepth)
	}
	shown := private.Shown(fd)
	self, err := private.Identify(fd, "", false)
	if err != nil {
		return fmt.Errorf("%q: %w", prefix, err)
	}
	names, err := d.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("%q: %w", prefix, bare(err))
	}
	*w = slices.Grow(*w, min(len(names), MaxEntries-len(*w)))
	slices.Sort(names) // which leaves next to nothing to do where all are sorted, in larger pieces
	for _, name := range names {
		if len(*w) == MaxEntries {
			return fmt.Errorf("more than %d files", MaxEntries)
		}
		n := node{path: prefix + name, shown: shown}
		if n.Identity, err = private.Identify(fd, name, false); err != nil {
			return fmt.Errorf("%q: %w", n.path, err)
		}
		if n.Dev != self.Dev {
			n.shown = private.ShownIn(fd, name)
		}
		switch n.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			n.kind = Plain
			if n.Mode&0o111 != 0 {
				n.kind = Program
			}
		case unix.S_IFLNK:
			n.kind = Link
		case unix.S_IFDIR:
			n.kind = Dir
			*w = append(*w, n) // before what is in it, as they are sorted
			sub, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("%q: %w", n.path, err)
			}
			if err := w.add(sub, n.path+"/", depth+1); err != nil {
				return err
			}
			continue
		default:
			return fmt.Errorf("%q: is a device, fifo or socket", n.path)
		}
		*w = append(*w, n)
	}
	return nil
}

// Linked gives until when a file of the skill in dir, which must be resolved, may have
// got one of several names; the zero time if each has one.
func Linked(dir string) (last time.Time, err error) {
	w, err := walk(dir)
	for i := range w {
		if n := &w[i]; n.kind != Dir && n.Links > 1 {
			if at := time.Unix(0, n.Ctime).Add(private.Settles); at.After(last) {
				last = at
			}
		}
	}
	return last, err
}

func (w nodes) settled(now time.Time) bool {
	for i := range w {
		if !w[i].shown || w[i].written || !w[i].Settled(now) {
			return false
		}
	}
	return true
}

// key is a digest of everything the file system tells of the tree: if it is
// the same, so are the contents.
func (w nodes) key() (sum [32]byte) {
	h := sha256.New()
	io.WriteString(h, "tree\x00")
	var b []byte
	for i := range w {
		n := &w[i]
		b = binary.BigEndian.AppendUint64(b[:0], uint64(len(n.path)))
		b = n.Append(append(b, n.path...))
		h.Write(b)
	}
	h.Sum(sum[:0])
	return sum
}
