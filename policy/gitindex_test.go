package policy_test

import (
	"bytes"
	"encoding/binary"
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
	// A block of entries begins with a whole name, whatever the one before was.
	b := index(4, false, "foo", "foo.git/x")
	second := len(index(4, false, "foo"))
	if name, stray := policy.StrayInIndex(b, false); stray {
		t.Errorf("control: %q", name)
	}
	block := append([]byte("IEOT"), 0, 0, 0, 12, 0, 0, 0, 1)
	block = append(binary.BigEndian.AppendUint32(block, uint32(second)), 0, 0, 0, 1)
	if name, stray := policy.StrayInIndex(append(b, block...), false); !stray || name != ".git/x" {
		t.Errorf("a block: %q %v", name, stray)
	}
	for _, b := range [][]byte{[]byte("DIRC"), []byte("0123456789abcdef"), index(5, false), index(2, false, "a")[:60], index(4, false, "a")[:76]} {
		if _, stray := policy.StrayInIndex(b, false); !stray {
			t.Errorf("%q is read", b)
		}
	}
}

func FuzzStrayInIndex(f *testing.F) {
	f.Add(index(2, false, "a", ".git/x"), false)
	f.Add(index(4, true, "a", "ab"), true)
	f.Fuzz(func(t *testing.T, b []byte, sha256 bool) { policy.StrayInIndex(b, sha256) })
}
