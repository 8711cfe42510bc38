package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate has the disk keep the first bytes of a file for it, whose size stays.
func allocate(f *os.File, bytes int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, bytes)
}
