package policy

import (
	"bytes"
	"encoding/binary"
	"strings"

	"skillrun/profiles"
)

// StrayInIndex gives a name in a git index (gitformat-index(5)) by which git would
// write, or remove, what is no file of the work tree: one beneath a ".git", or one that
// leads out. Git looks at names when it makes an entry and not when it reads one, so
// that "git restore ." and "git stash" follow what a run has put there. An index that
// cannot be read is one whose names nobody knows; of an empty file git takes none.
func StrayInIndex(b []byte, sha256 bool) (name string, stray bool) {
	const unread = "what cannot be read"
	if len(b) == 0 {
		return "", false
	}
	if len(b) < 12 || string(b[:4]) != "DIRC" {
		return unread, true
	}
	version, n := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return unread, true
	}
	fixed := 40 + 20 + 2
	if sha256 {
		fixed = 40 + 32 + 2
	}
	blocks, ok := indexBlocks(b)
	if !ok {
		return unread, true
	}
	left, names := n, 0 // entries of the block, bytes of all names
	if len(blocks) > 0 {
		left = 0
	}
	var last []byte
	for at := 12; n > 0; n-- {
		if len(b)-at < fixed+3 {
			return unread, true
		}
		flags, start := binary.BigEndian.Uint16(b[at+fixed-2:]), at+fixed
		if flags&0x4000 != 0 && version > 2 { // extended
			start += 2
		}
		name, end, kept, ok := b[start:], 0, 0, true
		if version == 4 {
			if name, kept, ok = withoutPrefix(name, len(last)); !ok {
				return unread, true
			}
			start = len(b) - len(name)
		}
		// Git goes by the length in the flags where that fits.
		if length := int(flags & 0xfff); length < 0xfff {
			end = length - kept
		} else {
			end = bytes.IndexByte(name, 0)
		}
		if end < 0 || end >= len(name) || name[end] != 0 {
			return unread, true
		}
		name = name[:end]
		if left == 0 { // git may begin anew here, with a whole name
			if len(blocks) == 0 || blocks[0].at != uint32(at) || kept != 0 {
				return unread, true
			}
			left, blocks = blocks[0].entries, blocks[1:]
		}
		left--
		if names += kept + end; names > mostNames {
			return unread, true
		}
		if version == 4 {
			last = append(last[:kept], name...)
			at = start + end + 1
		} else {
			last = name
			at += (start + end - at + 8) &^ 7
		}
		if isStray(string(last)) {
			return string(last), true
		}
	}
	if left != 0 || len(blocks) > 0 {
		return unread, true
	}
	return "", false
}

// withoutPrefix reads how much of the name before a name of version 4 goes without, and
// gives how much of that is kept.
func withoutPrefix(b []byte, before int) (rest []byte, kept int, ok bool) {
	strip := 0
	for i, c := range b {
		if strip = strip<<7 | int(c&0x7f); strip > before {
			return nil, 0, false
		}
		if c&0x80 == 0 {
			return b[i+1:], before - strip, true
		}
		strip++
	}
	return nil, 0, false
}

// mostNames bounds the bytes of all names together, most of which an entry of version 4
// has from the one before.
const mostNames = 128 << 20

// block is a row of entries that git may read by itself, without what is before it.
type block struct{ at, entries uint32 }

// indexBlocks gives those that the extension IEOT lists. Git follows it wherever it
// leads, to where no entry begins, too. It is false for what cannot be read, and for two,
// of which git has its own way to find one.
func indexBlocks(b []byte) (list []block, ok bool) {
	const head, version = 12, 1
	for found := false; ; {
		i := bytes.Index(b, []byte("IEOT"))
		if i < 0 || len(b)-i < head {
			return list, true
		}
		if binary.BigEndian.Uint32(b[i+8:]) != version { // a name
			b = b[i+4:]
			continue
		}
		size := binary.BigEndian.Uint32(b[i+4:])
		b = b[i+head:]
		if found || size < 4 || uint64(size-4) > uint64(len(b)) {
			return nil, false
		}
		found = true
		for pairs := b[:(size-4)&^7]; len(pairs) > 0; pairs = pairs[8:] {
			if n := binary.BigEndian.Uint32(pairs[4:]); n > 0 {
				list = append(list, block{binary.BigEndian.Uint32(pairs), n})
			}
		}
	}
}

// isStray is what git's verify_path refuses. A split index has names that are empty, a
// sparse one those of directories, which end in a slash.
func isStray(name string) bool {
	if name == "" {
		return false
	}
	odd := false
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
		odd = odd || part == "" || part == "." || part == ".." || strings.EqualFold(part, "git~1")
	}
	git := profiles.Denial{Path: "/", Match: ".git"}
	return odd || strings.IndexByte(name, 0) >= 0 || git.Covers("/"+name)
}
