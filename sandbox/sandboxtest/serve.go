package sandboxtest

import (
	"io"
	"net"
)

// Serve hands each connection to serve, in a goroutine of its own, and closes it
// then. It returns when the listener is closed.
func Serve(ln net.Listener, serve func(net.Conn)) error {
	for {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			serve(c)
		}()
	}
}

// ServeDNS answers the questions that come over TCP, until one has no answer.
func ServeDNS(c net.Conn, answer func(question []byte) []byte) {
	var size [2]byte
	for {
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		question := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		reply := answer(question)
		if reply == nil {
			return
		}
		c.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...))
	}
}
