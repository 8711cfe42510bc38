package audit

import (
	"errors"

	"golang.org/x/sys/unix"
)

// identify looks at a path, or, if that is "", at the descriptor.
func identify(fd int, path string) (identity, error) {
	var st unix.Stat_t
	var err error
	if path == "" {
		err = unix.Fstat(fd, &st)
	} else {
		err = unix.Fstatat(fd, path, &st, 0)
	}
	if err != nil {
		return identity{}, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return identity{}, errors.New("is not a regular file")
	}
	return identity{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), born: st.Btim.Nano(),
	}, nil
}
