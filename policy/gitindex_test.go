package policy_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"skillrun/policy"
)

// index makes a git index with names.
func index(version uint32, sha256 bool, names ...string) []byte {
	b := binary.BigEndian.AppendUint32([]byte("DIRC"), version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	hash, last := 20, ""
	if sha256 {
		hash = 32
	}
	for _, name := range names {
		at := len(b)
		b = append(b, make([]byte, 40+hash)...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(name), 0xfff)))
		if version < 4 {
			b = append(append(b, name...), make([]byte, 8-(len(b)+len(name)-at)%8)...)
			continue
		}
		common := 0
		for common < len(last) && common < len(name) && last[common] == name[common] {
			common++
		}
		if strip := len(last) - common; strip >= 0x80 {
			b = append(b, byte(strip>>7-1)|0x80, byte(strip&0x7f))
		} else {
			b = append(b, byte(strip))
		}
		b = append(append(b, name[common:]...), 0)
		last = name
	}
	return b
}

func TestStrayInIndexRefused(t *testing.T) {
	long := string(bytes.Repeat([]byte("d/"), 2100))
	for name, want := range map[string]bool{
		"a": false, "a/b.git": false, ".gitignore": false, "sub/.gitmodules": false, "sparse/": false, "": false, "a/..b": false, long + "x": false, "é": false,
		".git/hooks/x": true, "a/.GIT/config": true, ".g\u200bit/config": true, "git~1/config": true, "../x": true, "/home/u/.bashrc": true, "a//b": true, "a/./b": true,
		".git": true, ".git/": true, "..": true, long + ".git/x": true, "a\x00b": true,
	} {
		for version := range uint32(3) {
			for _, sha := range []bool{false, true} {
				b := index(version+2, sha, "!", name, "z", "z1")
				if got, stray := policy.StrayInIndex(b, sha); stray != want || want && got != name {
					t.Errorf("version %d, %q: %q %v, want %v", version+2, name, got, stray, want)
				}
			}
		}
	}
	for _, b := range [][]byte{[]byte("DIRC"), []byte("0123456789abcdef"), index(5, false), index(2, false, "a")[:60], index(4, false, "a")[:76]} {
		if _, stray := policy.StrayInIndex(b, false); !stray {
			t.Errorf("%q is read", b)
		}
	}
}

// blocks is the extension IEOT, with where each row of entries begins and how many it has.
func blocks(numbers ...int) (b []byte) {
	b = binary.BigEndian.AppendUint32([]byte("IEOT"), uint32(4+4*len(numbers)))
	for _, n := range append([]int{1}, numbers...) {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// TestIndexBlocks: git's threads begin where IEOT says, which is where git has written it
// or the index is one that cannot be read.
func TestIndexBlocks(t *testing.T) {
	same, anew := index(4, false, "foo", "foo.git/x", "z"), index(4, false, "foo", "goo", "z")
	second, third := len(index(4, false, "foo")), len(index(4, false, "foo", "goo"))
	elsewhere := append(slices.Clone(anew), index(4, false, ".git/x")[12:]...)
	for _, c := range []struct {
		index []byte
		ieot  []byte
		want  bool
	}{
		{same, nil, false},
		{anew, blocks(12, 1, second, 2), false},
		{anew, blocks(12, 1, second, 0, second, 1, third, 1), false},
		{index(2, false, "aIEOT", "b1"), nil, false},
		{same, blocks(12, 1, second, 2), true},                                                   // .git/x
		{elsewhere, blocks(12, 2, len(anew), 1), true},                                           // .git/x
		{elsewhere, blocks(12, 1, second, 3), true},                                              // .git/x
		{anew, blocks(12, 1, second, 1), true},                                                   // and one by nobody
		{anew, blocks(second, 2), true},                                                          // nor the first
		{anew, blocks(12, 3)[:16], true},                                                         // cut
		{anew, append(blocks(12, 3), blocks()...), true},                                         // which of them?
		{index(4, false, slices.Repeat([]string{strings.Repeat("d", 16<<20)}, 9)...), nil, true}, // more names than it is long
	} {
		if _, got := policy.StrayInIndex(append(slices.Clone(c.index), c.ieot...), false); got != c.want {
			t.Errorf("%.100q, %q: %v", c.index, c.ieot, got)
		}
	}
}

func FuzzStrayInIndex(f *testing.F) {
	f.Add(index(2, false, "a", ".git/x"), false)
	f.Add(index(4, true, "a", "ab"), true)
	f.Fuzz(func(t *testing.T, b []byte, sha256 bool) { policy.StrayInIndex(b, sha256) })
}
