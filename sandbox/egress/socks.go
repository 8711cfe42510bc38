package egress

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// SOCKS5 numbers (RFC 1928).
const (
	socksVersion  = 5
	socksConnect  = 1
	socksIPv4     = 1
	socksName     = 3
	socksIPv6     = 4
	socksOK       = 0
	socksDenied   = 2
	socksNoRoute  = 4
	socksNotDone  = 7 // command not supported
	socksBadAddr  = 8 // address type not supported
	socksNoMethod = 0xff
)

// socksRequest is what a client asks for.
type socksRequest struct {
	command byte
	target  Target
	port    uint16
	size    int // bytes of the request
}

// parseGreeting reads the client's list of methods and says whether it takes
// "no authentication"; size is how many bytes it was.
func parseGreeting(b []byte) (ok bool, size int, err error) {
	if len(b) < 2 {
		return false, 0, errMore
	}
	size = 2 + int(b[1])
	if len(b) < size {
		return false, 0, errMore
	}
	for _, m := range b[2:size] {
		ok = ok || m == 0
	}
	return ok && b[0] == socksVersion, size, nil
}

// parseSOCKS reads a request. The error is errMore, or what makes a name no
// name.
func parseSOCKS(b []byte) (r socksRequest, err error) {
	if len(b) < 5 {
		return r, errMore
	}
	var n int
	switch b[3] {
	case socksIPv4:
		n = 4
	case socksIPv6:
		n = 16
	case socksName:
		n = 1 + int(b[4])
	default:
		return r, errNameByte
	}
	if r.size = 4 + n + 2; len(b) < r.size {
		return r, errMore
	}
	r.command = b[1]
	host := b[4 : 4+n]
	r.port = binary.BigEndian.Uint16(b[4+n:])
	if b[0] != socksVersion || b[2] != 0 {
		return r, errNameByte
	}
	if b[3] == socksName {
		r.target, err = ParseTarget(string(host[1:]))
		return r, err
	}
	a, _ := netip.AddrFromSlice(host)
	r.target.Addr = a.Unmap()
	return r, nil
}

// socks serves one SOCKS5 client. Only CONNECT is there: BIND would listen,
// and UDP ASSOCIATE would carry what nothing checks.
func (x *exchange) socks(until time.Time) {
	for {
		ok, size, err := parseGreeting(x.buf)
		if err != nil {
			if x.read(until) != nil {
				return
			}
			continue
		}
		x.buf = x.buf[size:]
		if !ok {
			goodbye(x.c, []byte{socksVersion, socksNoMethod})
			return
		}
		break
	}
	if _, err := x.c.Write([]byte{socksVersion, 0}); err != nil {
		return
	}
	var r socksRequest
	for {
		var err error
		if r, err = parseSOCKS(x.buf); err == nil {
			break
		}
		if err != errMore {
			x.v.Reason = BadName
			x.socksReply(socksBadAddr)
			return
		}
		if x.read(until) != nil {
			return
		}
	}
	if r.command != socksConnect {
		x.v.Name, x.v.Addr, x.v.Port = r.target.Name, r.target.Addr, r.port
		x.socksReply(socksNotDone)
		return
	}
	addrs, why := x.destination(r.target, r.port)
	no := func() {
		code := byte(socksDenied)
		if x.v.Reason == Unreachable {
			code = socksNoRoute
		}
		x.socksReply(code)
	}
	if x.v.Reason = why; why != Granted {
		no()
		return
	}
	x.tunnel(addrs, r.size, socksAnswer(socksOK), no)
}

func (x *exchange) socksReply(code byte) { goodbye(x.c, socksAnswer(code)) }

// socksAnswer is a reply with a bound address of zeros, which is nobody's
// business.
func socksAnswer(code byte) []byte {
	return []byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0}
}
