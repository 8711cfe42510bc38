package egress

import (
	"fmt"
	"net"
	"time"
)

// refuse ends a connection of the run in the way that what it speaks
// understands: a TLS alert, an HTTP answer that says why, or a reset.
func (x *exchange) refuse() {
	switch classify(x.buf) {
	case isTLS:
		alert := byte(alertDenied)
		if x.v.Reason == Mismatch {
			alert = alertName
		}
		goodbye(x.c, []byte{recordAlert, 3, 3, 0, 2, 2, alert})
	case isHTTP:
		goodbye(x.c, httpRefusal("403 Forbidden", x.v.Name, x.v.Reason))
	default:
		reset(x.c)
	}
}

// httpRefusal is an answer that a person reads in the output of the program.
// name must be canonical.
func httpRefusal(status, name string, why Reason) []byte {
	body := fmt.Sprintf("skillrun: refused: %s %s\n", why, name)
	return fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(body), body)
}

// goodbye sends last words so that they arrive: a close with unread bytes
// would be a reset, which overtakes them.
func goodbye(c net.Conn, b []byte) {
	c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write(b); err == nil {
		closeWrite(c)
		var sink [4096]byte
		for range 64 {
			if _, err := c.Read(sink[:]); err != nil {
				break
			}
		}
	}
	c.Close()
}
