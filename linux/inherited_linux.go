package linux

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// inheritedSockets gives the inode numbers of the sockets among the descriptors
// that a command starts with. These were made outside, where no namespace and
// no filter of the run's was, so they may carry what was agreed on and nothing
// else: the Supervisor gives them no other address.
//
// Datagram and raw sockets are an error, since they send to whatever address a
// message names, which no filter sees; so is a stream that is not connected,
// since listen(2) would bind it. So is a directory: what lies beneath it is reached
// through it in the view that it was opened in, where nothing is masked.
func inheritedSockets(stdio [3]int) (map[uint64]bool, error) {
	sockets := map[uint64]bool{}
	for i, fd := range stdio {
		var st unix.Stat_t
		if fd < 0 || unix.Fstat(fd, &st) != nil {
			continue
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			return nil, fmt.Errorf("%s is a directory, in which nothing could be hidden: name it to the command", stdioNames[i])
		case unix.S_IFSOCK:
		default:
			continue
		}
		domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", stdioNames[i], err)
		}
		typ, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", stdioNames[i], err)
		}
		_, peer := unix.Getpeername(fd)
		switch {
		case domain == unix.AF_UNIX && (typ == unix.SOCK_STREAM || typ == unix.SOCK_SEQPACKET):
		case typ != unix.SOCK_STREAM:
			return nil, fmt.Errorf("%s is a datagram or raw socket, which sends to any address: use a pipe", stdioNames[i])
		case peer == unix.ENOTCONN:
			return nil, fmt.Errorf("%s is a socket without a connection, which can be given any: use a pipe", stdioNames[i])
		}
		sockets[st.Ino] = true
	}
	return sockets, nil
}

var stdioNames = [3]string{"standard input", "standard output", "standard error"}
