package linux

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// inherited looks at the descriptors that a command starts with. The sockets among
// them, by inode number, were made outside, where no namespace and no filter of the
// run's was, so they may carry what was agreed on and nothing else: the Supervisor
// gives them no other address. The inputs are pipes and files of memory that are open
// for reading alone: a path in /proc opens them for writing, too, and somebody outside
// may read there next, such as the shell that takes its commands from the pipe. What is
// memory becomes no program.
//
// Datagram and raw sockets are an error, since they send to whatever address a
// message names, which no filter sees; so is a stream that is not connected,
// since listen(2) would bind it. So is a directory: what lies beneath it is reached
// through it in the view that it was opened in, where nothing is masked. So are the end
// of a pipe that others write to, which a path in /proc opens for reading, where it is
// no output, and what only the kernel knows the use of (another filter's listener,
// io_uring).
func inherited(stdio [3]int) (sockets map[uint64]bool, inputs []fileID, err error) {
	sockets = map[uint64]bool{}
	for i, fd := range stdio {
		var st unix.Stat_t
		if fd < 0 || unix.Fstat(fd, &st) != nil {
			continue
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			return nil, nil, fmt.Errorf("%s is a directory, in which nothing could be hidden: name it to the command", stdioNames[i])
		case unix.S_IFSOCK:
		default:
			if err := unstartable(fd, &st); err != nil {
				return nil, nil, fmt.Errorf("%s is memory that can be started as a program: %w", stdioNames[i], err)
			}
			input, err := isInput(i, fd, &st)
			if err != nil {
				return nil, nil, fmt.Errorf("%s %w", stdioNames[i], err)
			}
			if input {
				inputs = append(inputs, fileID{st.Dev, st.Ino})
			}
			continue
		}
		domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		if err != nil {
			return nil, nil, fmt.Errorf("look at %s: %w", stdioNames[i], err)
		}
		typ, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		if err != nil {
			return nil, nil, fmt.Errorf("look at %s: %w", stdioNames[i], err)
		}
		_, peer := unix.Getpeername(fd)
		switch {
		case domain == unix.AF_UNIX && (typ == unix.SOCK_STREAM || typ == unix.SOCK_SEQPACKET):
		case typ != unix.SOCK_STREAM:
			return nil, nil, fmt.Errorf("%s is a datagram or raw socket, which sends to any address: use a pipe", stdioNames[i])
		case peer == unix.ENOTCONN:
			return nil, nil, fmt.Errorf("%s is a socket without a connection, which can be given any: use a pipe", stdioNames[i])
		}
		sockets[st.Ino] = true
	}
	return sockets, inputs, nil
}

// unstartable takes from a file of memory, of which Landlock knows nothing, that it can
// be started: the mode that it has unless its maker says otherwise. The Supervisor
// lets no run give it back.
func unstartable(fd int, st *unix.Stat_t) error {
	var buf [unix.PathMax]byte
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0 || st.Nlink != 0 {
		return nil
	}
	if n, _ := unix.Readlink(fdPath(fd), buf[:]); !isAnonymous(string(buf[:max(n, 0)]), true) {
		return nil
	}
	return unix.Fchmod(fd, st.Mode&0o7666)
}

// isInput says whether a descriptor that is no directory or socket is open for reading
// alone, and has no path to go by, or what is wrong with it.
func isInput(i, fd int, st *unix.Stat_t) (bool, error) {
	var buf [unix.PathMax]byte
	n, err := unix.Readlink(fdPath(fd), buf[:])
	if err != nil {
		return false, fmt.Errorf("cannot be looked at: %w", err)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return false, fmt.Errorf("cannot be looked at: %w", err)
	}
	path, way, pipe := string(buf[:n]), flags&unix.O_ACCMODE, st.Mode&unix.S_IFMT == unix.S_IFIFO
	switch {
	case !isAnonymous(path, st.Nlink == 0):
		return false, nil
	case !pipe && !strings.HasPrefix(path, "/"):
		return false, fmt.Errorf("is no file, device, pipe or socket (%s)", path)
	case pipe && way == unix.O_WRONLY && i == 0:
		return false, errors.New("is the end of a pipe that is written to, and what others write there could be read: use </dev/null")
	}
	return way == unix.O_RDONLY, nil
}

// isAnonymous says whether what /proc has for the path of an open file, that is gone
// or not, is none.
func isAnonymous(path string, gone bool) bool {
	return !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/memfd:") && gone
}

var stdioNames = [3]string{"standard input", "standard output", "standard error"}
