//go:build linux

package attack

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// terminal is a pseudoterminal without echo and without lines, so that what is
// pushed into its input can be read at once.
type terminal struct{ master, slave *os.File }

func openTerminal() (*terminal, error) {
	// Not blocking, so that a read can be given up; os.File.Fd would undo it.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	master := os.NewFile(uintptr(fd), "/dev/ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	t, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		return nil, err
	}
	t.Lflag &^= unix.ECHO | unix.ICANON
	t.Lflag |= unix.NOFLSH // what was printed before a Ctrl-C stays
	t.Oflag &^= unix.OPOST
	return &terminal{master, slave}, unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, t)
}

// typed takes what waits in the input.
func (t *terminal) typed() string {
	var out []byte
	for {
		n, err := unix.IoctlGetInt(int(t.slave.Fd()), unix.TIOCINQ)
		if err != nil || n <= 0 {
			return string(out)
		}
		b := make([]byte, n)
		n, err = unix.Read(int(t.slave.Fd()), b)
		if err != nil || n <= 0 {
			return string(out)
		}
		out = append(out, b[:n]...)
	}
}
