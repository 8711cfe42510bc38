package sandbox

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settleAfter is how long a command has run when it is taken for one that goes
// on for a while.
const settleAfter = 100 * time.Millisecond

// settle gives back the pages of this program's own file, which starting it has
// touched and serving a run needs few of: two thirds of all that it holds. What
// is needed again comes from the page cache.
func settle() {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unwritten(string(maps)) {
		unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

type mapping struct{ start, end uintptr }

// unwritten lists the mappings, of those in a /proc/PID/smaps, that hold nothing
// but what their file does. Of a mapping that cannot be written that need not be
// so: a dynamic linker makes some read-only when it has filled them in.
func unwritten(maps string) (list []mapping) {
	var m mapping
	for line := range strings.Lines(maps) {
		f := strings.Fields(line)
		switch {
		case len(f) >= 6 && len(f[1]) == 4:
			// 00400000-008c0000 r-xp 00000000 fe:00 131 /usr/bin/skillrun
			m = mapping{}
			from, to, _ := strings.Cut(f[0], "-")
			start, err1 := strconv.ParseUint(from, 16, 64)
			end, err2 := strconv.ParseUint(to, 16, 64)
			if f[1][1] == '-' && f[1][3] == 'p' && f[4] != "0" && err1 == nil && err2 == nil && start < end {
				m = mapping{uintptr(start), uintptr(end)}
			}
		case len(f) == 3 && f[0] == "Anonymous:" && f[1] == "0" && m.end != 0:
			list = append(list, m)
		}
	}
	return list
}
