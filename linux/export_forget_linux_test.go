package linux

import (
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// oneDatagramSocket gives a run's only socket, and the run's end of it.
func oneDatagramSocket() (*inet, *inetSocket, int, error) {
	n := &inet{sockets: map[uint64]*inetSocket{}, ports: map[uint16][]*inetSocket{}, serving: map[uint16][]*inetSocket{}, most: 16, nobody: -1}
	k := &inetSocket{}
	fd, e := n.newDatagram(k, unix.AF_INET, unix.SOCK_DGRAM, 0)
	if e == 0 {
		e = n.keep(fd, k)
	}
	if e != 0 {
		return nil, nil, -1, e
	}
	return n, k, fd, nil
}

// PassedOnWhileSending says how many datagrams are passed on before a call that has
// to come after them goes on, of a run that had sent one, and sends another whenever
// one is passed on, so many in all.
func PassedOnWhileSending(most int) (int, error) {
	n, k, fd, err := oneDatagramSocket()
	if err != nil {
		return 0, err
	}
	k.peer = netip.MustParseAddrPort("192.0.2.1:9")
	passed := 0
	n.egress = &Egress{Send: func(uint64, netip.AddrPort, []byte, func([]byte)) bool {
		if passed++; passed < most {
			_, err = unix.Write(fd, []byte("x"))
		}
		return true
	}}
	if _, err := unix.Write(fd, []byte("x")); err != nil {
		return 0, err
	}
	k.flush(n)
	return passed, err
}

// ForgetsWhileCarrying says whether a datagram socket is forgotten while what
// the run sent by it is being passed on, within a time.
func ForgetsWhileCarrying(within time.Duration) (bool, error) {
	n, k, fd, err := oneDatagramSocket()
	if err != nil {
		return false, err
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
