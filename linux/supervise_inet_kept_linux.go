package linux

import (
	"time"

	"golang.org/x/sys/unix"
)

// Which sockets of the run are remembered, and how long a copy of each is held.

// find gives the socket with this inode number, nil if it is not remembered.
func (n *inet) find(ino uint64) *inetSocket {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.sockets[ino]
	if k != nil && k.fd >= 0 {
		n.held.MoveToBack(k.at)
	}
	return k
}

// keep remembers a socket by fd, which becomes the copy.
func (n *inet) keep(fd int, k *inetSocket) unix.Errno {
	ino, err := inodeOf(fd)
	if err != nil {
		return errno(err)
	}
	k.fd, k.ino = fd, ino
	n.mu.Lock()
	full := n.held.Len() >= n.most
	n.mu.Unlock()
	if full {
		n.sweep()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.sockets[k.ino]; old != nil {
		n.forget(old) // the number is used again
	}
	for n.held.Len() >= n.most {
		oldest := n.held.Front().Value.(*inetSocket)
		n.forget(oldest)
		if oldest.end != nil {
			oldest.end.file.SetReadDeadline(time.Now()) // the run still sends by it
		}
	}
	n.sockets[k.ino] = k
	k.at = n.held.PushBack(k)
	return 0
}

// letGo closes the copy of a stream and keeps what is known of it. n.mu is
// held.
func (n *inet) letGo(k *inetSocket) {
	if k.fd < 0 || n.sockets[k.ino] != k {
		return
	}
	unix.Close(k.fd)
	k.fd = -1
	n.held.Remove(k.at)
	for n.told.Len() >= toldMost {
		n.forget(n.told.Front().Value.(*inetSocket))
	}
	k.at = n.told.PushBack(k)
}

// forget drops all that is known of a socket. n.mu is held.
func (n *inet) forget(k *inetSocket) {
	if n.sockets[k.ino] != k {
		return
	}
	delete(n.sockets, k.ino)
	if k.fd < 0 {
		n.told.Remove(k.at)
	} else {
		n.held.Remove(k.at)
		unix.Close(k.fd)
		k.fd = -1
	}
	remove(n.serving, k.actual.Port(), k)
	if k.end != nil {
		remove(n.ports, k.asked.Port(), k)
		k.end.file.SetReadDeadline(time.Now().Add(carryWait)) // its carrier closes it
	}
}

func remove(m map[uint16][]*inetSocket, port uint16, k *inetSocket) {
	for i, other := range m[port] {
		if other == k {
			m[port] = append(m[port][:i:i], m[port][i+1:]...)
			break
		}
	}
	if len(m[port]) == 0 {
		delete(m, port)
	}
}

func (n *inet) release() {
	if n == nil {
		return
	}
	n.mu.Lock()
	for _, k := range n.sockets {
		n.forget(k)
	}
	if n.nobody >= 0 {
		unix.Close(n.nobody)
	}
	n.mu.Unlock()
	carried := make(chan struct{})
	go func() {
		n.carriers.Wait()
		close(carried)
	}()
	select {
	case <-carried:
	case <-time.After(carryWait):
	}
}
