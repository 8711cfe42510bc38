package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"skillrun/sandbox"
)

var written = []int{1}

// Code is given back and goes on; what was written is not given back.
func TestSettle(t *testing.T) {
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	maps := string(b)
	heap := new([1 << 16]int)
	heap[1], written[0] = 2, 3
	var stack int
	for name, at := range map[string]struct {
		address uintptr
		given   bool
	}{
		"code":   {reflect.ValueOf(TestSettle).Pointer(), true},
		"data":   {uintptr(unsafe.Pointer(&written)), false},
		"values": {uintptr(unsafe.Pointer(&written[0])), false},
		"heap":   {uintptr(unsafe.Pointer(heap)), false},
		"stack":  {uintptr(unsafe.Pointer(&stack)), false},
	} {
		if given := sandbox.Settle(maps, at.address); given != at.given {
			t.Errorf("%s at %#x: given back: %v\n%s", name, at.address, given, maps)
		}
	}
	if got := fmt.Sprint(heap[1], written[0]); got != "2 3" {
		t.Error(got)
	}
	unneeded := untouched(t)
	if resident(t, unneeded) == 0 {
		t.Fatal("nothing of a file that was read is in memory")
	}
	sandbox.Settle("", 0)
	if kib := resident(t, unneeded); kib != 0 {
		t.Errorf("%d KiB are still there of a file that nobody needs", kib)
	}
	const area = "00400000-008c0000 %s 00000000 %s /usr/bin/skillrun\nSize: 4864 kB\nAnonymous: %d kB\nVmFlags: rd mr\n"
	for maps, given := range map[string]bool{
		fmt.Sprintf(area, "r-xp", "fe:00 131", 0):                                         true,
		fmt.Sprintf(area, "r--p", "fe:00 131", 0):                                         true,
		fmt.Sprintf(area, "r--p", "fe:00 131", 4):                                         false, // what a linker filled in
		fmt.Sprintf(area, "rw-p", "fe:00 131", 0):                                         false,
		fmt.Sprintf(area, "r--s", "fe:00 131", 0):                                         false,
		fmt.Sprintf(area, "r-xp", "00:00 0", 0):                                           false,
		"00400000-008c0000 r-xp\nAnonymous: 0 kB\n":                                       false,
		"00400000-008c0000 r-xp 0 fe:00 131 /a\n":                                         false, // nothing known
		"x-y r-xp 0 fe:00 131 /a\nAnonymous: 0 kB\n":                                      false,
		"00400000-008c0000 r-xp 0 fe:00 131 /a\n1-2 rw-p 0 00:00 0 /b\nAnonymous: 0 kB\n": false,
	} {
		if got := sandbox.Settle(maps, 0x400000); got != given {
			t.Errorf("%q: %v", maps, got)
		}
	}
}

// untouched maps a file, reads it once, and gives its place.
func untouched(t *testing.T) uintptr {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 1 << 20
	if _, err := f.Write(bytes.Repeat([]byte("x"), size)); err != nil {
		t.Fatal(err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	if n := bytes.Count(mem, []byte("x")); n != size {
		t.Fatal(n)
	}
	return uintptr(unsafe.Pointer(&mem[0]))
}

// resident is how much of the mapping that begins at an address is in memory,
// in KiB.
func resident(t *testing.T, at uintptr) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut("\n"+string(maps), fmt.Sprintf("\n%08x-", at))
	_, rest, found := strings.Cut(rest, "\nRss:")
	f := strings.Fields(rest)
	if !ok || !found || len(f) == 0 {
		t.Fatalf("no mapping begins at %#x:\n%s", at, maps)
	}
	n, err := strconv.Atoi(f[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
