package linux

import (
	"time"

	"golang.org/x/sys/unix"
)

// ForgetsWhileCarrying says whether a datagram socket is forgotten while what
// the run sent by it is being passed on, within a time.
func ForgetsWhileCarrying(within time.Duration) (bool, error) {
	n := &inet{sockets: map[uint64]*inetSocket{}, ports: map[uint16][]*inetSocket{}, serving: map[uint16][]*inetSocket{}, most: 16, nobody: -1}
	k := &inetSocket{}
	fd, e := n.newDatagram(k, unix.AF_INET, unix.SOCK_DGRAM, 0)
	if e == 0 {
		e = n.keep(fd, k)
	}
	if e != 0 {
		return false, e
	}
	n.carriers.Add(1)
	go n.carry(k)
	n.mu.Lock() // at which whoever passes on stops, once it has read
	if _, err := unix.Write(fd, []byte("x")); err != nil {
		return false, err
	}
	for end := time.Now().Add(within); ; time.Sleep(time.Millisecond) {
		unread, err := unix.IoctlGetInt(fd, unix.TIOCOUTQ)
		if err != nil || time.Now().After(end) {
			return false, err
		}
		if unread == 0 {
			break
		}
	}
	forgotten := make(chan struct{})
	go func() {
		n.forget(k)
		close(forgotten)
	}()
	select {
	case <-forgotten:
		n.mu.Unlock()
		return true, nil
	case <-time.After(within):
		return false, nil
	}
}
