package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
)

// Digests remembers the digests of files and trees between runs, in a file of
// the state directory.
//
// The file is a table of slots, each found by its key alone and each with a
// checksum: reading is one small pread, writing one small pwrite, without a
// lock, and a slot that is damaged, half written or taken by another key is
// simply cold. A lost or corrupt file costs time, never a wrong digest.
type Digests struct {
	file *os.File
	now  func() time.Time
}

const (
	digestsName = "digests"
	slotCount   = 8192 // 640 KiB, most of it never written
	slotSize    = 32 + 32 + 16
)

// OpenDigests opens the cache in dir, under the same conditions as [Open].
func OpenDigests(dir string) (*Digests, error) {
	d, err := private.OpenDir(dir)
	if err != nil {
		return nil, fmt.Errorf("digest cache: %w", err)
	}
	defer d.Close()
	f, _, err := private.OpenFile(d, digestsName, unix.O_RDWR|unix.O_CREAT)
	if err != nil {
		return nil, fmt.Errorf("digest cache: %w", err)
	}
	return &Digests{file: f, now: time.Now}, nil
}

// Close releases the descriptor.
func (d *Digests) Close() error { return d.file.Close() }

func slot(key [32]byte) int64 {
	return int64(binary.LittleEndian.Uint64(key[:])%slotCount) * slotSize
}

// Lookup gives what was stored under the key, which must itself be a
// cryptographic digest of what makes the value valid.
func (d *Digests) Lookup(key [32]byte) (value [32]byte, ok bool) {
	var b [slotSize]byte
	if _, err := d.file.ReadAt(b[:], slot(key)); err != nil {
		return value, false
	}
	sum := sha256.Sum256(b[:64])
	if [32]byte(b[:32]) != key || [16]byte(b[64:]) != [16]byte(sum[:]) {
		return value, false
	}
	return [32]byte(b[32:64]), true
}

// Store keeps a value. That it may not be kept (a full disk) is not an error:
// the next run computes it again.
func (d *Digests) Store(key, value [32]byte) {
	b := make([]byte, 0, slotSize)
	b = append(append(b, key[:]...), value[:]...)
	sum := sha256.Sum256(b)
	d.file.WriteAt(append(b, sum[:16]...), slot(key))
}

// fileKey is the key of a file's digest.
func fileKey(id private.Identity) [32]byte {
	return sha256.Sum256(id.Append([]byte("file\x00")))
}

// Cached gives the SHA-256 of the regular file at path, links followed, if it
// is known without reading the file.
func (d *Digests) Cached(path string) (Digest, bool) {
	id, err := private.Identify(unix.AT_FDCWD, path, true)
	if err != nil || !id.Settled(d.now()) || !private.OrdinaryAt(path) {
		return Digest{}, false
	}
	sum, ok := d.Lookup(fileKey(id))
	return sum, ok
}

// File gives the SHA-256 of the regular file at path, links followed, from the
// cache or by reading it. It fails if the file changes while it is read, or
// when ctx is done.
func (d *Digests) File(ctx context.Context, path string) (Digest, error) {
	if sum, ok := d.Cached(path); ok {
		return sum, nil
	}
	sum, err := d.read(ctx, path)
	if err != nil {
		return Digest{}, fmt.Errorf("digest of %q: %w", path, err)
	}
	return sum, nil
}

func (d *Digests) read(ctx context.Context, path string) (sum Digest, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return sum, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	now := d.now()
	unwritten := private.Unwritten(fd) // and whoever writes from here on gives it new times
	before, err := private.Identify(fd, "", false)
	if err != nil {
		return sum, err
	}
	if before.Mode&unix.S_IFMT != unix.S_IFREG {
		return sum, errors.New("is not a regular file")
	}
	h := sha256.New()
	buf := make([]byte, min(128<<10, max(4<<10, before.Size+1)))
	for {
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return sum, err
		}
	}
	after, err := private.Identify(fd, "", false)
	if err != nil {
		return sum, err
	}
	if before != after {
		return sum, errors.New("changed while it was read")
	}
	sum = Digest(h.Sum(nil))
	if unwritten && before.Settled(now) && private.Ordinary(fd) {
		d.Store(fileKey(before), sum)
	}
	return sum, nil
}
