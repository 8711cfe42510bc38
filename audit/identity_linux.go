package audit

import (
	"errors"

	"golang.org/x/sys/unix"
)

// identify looks at a path, or, if that is "", at the descriptor.
func identify(fd int, path string) (identity, error) {
	flags := 0
	if path == "" {
		flags = unix.AT_EMPTY_PATH
	}
	var st unix.Statx_t
	if err := unix.Statx(fd, path, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return identity{}, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return identity{}, errors.New("is not a regular file")
	}
	nano := func(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
	id := identity{
		dev: uint64(st.Dev_major)<<32 | uint64(st.Dev_minor), ino: st.Ino, size: int64(st.Size),
		mtime: nano(st.Mtime), ctime: nano(st.Ctime),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.born = nano(st.Btime)
	}
	return id, nil
}
