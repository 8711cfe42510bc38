package sandbox_test

import (
	"fmt"
	"os"
	"reflect"
	"testing"
	"unsafe"

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
