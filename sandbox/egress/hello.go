package egress

import "errors"

// hello is what matters of a TLS ClientHello.
type hello struct {
	name string // as sent; "" without the extension
	ech  bool   // has an encrypted ClientHello (or GREASE that looks like one)
}

// maxHello bounds a ClientHello with its record headers. Real ones stay below
// 4 KB even with post-quantum keys.
const maxHello = 32 << 10

var (
	errMore  = errors.New("more bytes needed")
	errHello = errors.New("malformed ClientHello")
)

// TLS numbers (RFC 8446, RFC 6066, RFC 9849).
const (
	recordCipher    = 20
	recordAlert     = 21
	recordHandshake = 22
	recordData      = 23
	typeClientHello = 1
	extServerName   = 0
	extECH          = 0xfe0d
	alertDenied     = 49
	alertName       = 112
)

// parseHello reads the ClientHello at the start of b, which may be split over
// records in any way. It gives errMore as long as b is only a beginning.
func parseHello(b []byte) (hello, error) {
	if len(b) > maxHello {
		b = b[:maxHello]
	}
	var msg []byte
	for {
		if len(msg) >= 4 {
			size := int(msg[1])<<16 | int(msg[2])<<8 | int(msg[3])
			if msg[0] != typeClientHello || size > maxHello {
				return hello{}, errHello
			}
			if len(msg) >= 4+size {
				return parseHelloBody(msg[4 : 4+size])
			}
		}
		if len(b) < 5 {
			break
		}
		size := int(b[3])<<8 | int(b[4])
		if b[0] != recordHandshake || b[1] != 3 || size == 0 || size > 1<<14 {
			return hello{}, errHello
		}
		if len(b) < 5+size {
			break
		}
		msg = append(msg, b[5:5+size]...)
		b = b[5+size:]
	}
	return hello{}, errMore
}

// reader takes a message apart; once it runs over the end, bad is set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) number(bytes int) int {
	n := 0
	for _, c := range r.take(bytes) {
		n = n<<8 | int(c)
	}
	return n
}

// vector takes what a length of so many bytes announces.
func (r *reader) vector(bytes int) []byte { return r.take(r.number(bytes)) }

func parseHelloBody(b []byte) (hello, error) {
	r := reader{b: b}
	r.take(2 + 32) // version, random
	r.vector(1)    // session
	r.vector(2)    // cipher suites
	r.vector(1)    // compression
	if r.bad {
		return hello{}, errHello
	}
	var h hello
	if len(r.b) == 0 {
		return h, nil // before TLS 1.2 extensions were optional
	}
	exts := reader{b: r.vector(2)}
	if r.bad || len(r.b) != 0 {
		return hello{}, errHello
	}
	named := false
	for len(exts.b) > 0 {
		kind := exts.number(2)
		body := exts.vector(2)
		switch {
		case exts.bad:
			return hello{}, errHello
		case kind == extECH:
			h.ech = true
		case kind == extServerName:
			name, ok := serverName(body)
			if named || !ok {
				return hello{}, errHello
			}
			named, h.name = true, name
		}
	}
	return h, nil
}

// serverName reads the extension: exactly one name, of type host_name, not
// empty. RFC 6066 would allow others; nobody sends them, and two names are two
// readings.
func serverName(b []byte) (string, bool) {
	r := reader{b: b}
	list := reader{b: r.vector(2)}
	kind := list.number(1)
	name := list.vector(2)
	ok := !r.bad && len(r.b) == 0 && !list.bad && len(list.b) == 0 && kind == 0 && len(name) > 0
	return string(name), ok
}
