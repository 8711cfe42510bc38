package egress

import (
	"io"
	"net/netip"

	"golang.org/x/net/dns/dnsmessage"
)

// The parsers, for fuzzing and tables.

func ParseHello(b []byte) (name string, ech bool, err error) {
	h, err := parseHello(b)
	return h.name, h.ech, err
}

func ParseHead(b []byte) (method, authority, host string, length int64, size int, err error) {
	h, err := parseHead(b)
	return h.method, h.authority, h.host, h.length, h.size, err
}

func ParseSOCKS(b []byte) (Target, uint16, int, error) {
	r, err := parseSOCKS(b)
	return r.target, r.port, r.size, err
}

func Classify(b []byte) string {
	return [...]string{"unclear", "tls", "http", "opaque", "odd tls"}[classify(b)]
}

// Failures gives after how many errors like this one a server is over, 0 if
// after none of a thousand.
func Failures(err error) int {
	var f failures
	for n := range 1000 {
		if _, over := f.count(err); over {
			return n + 1
		}
	}
	return 0
}

func ConnectionsFor(files uint64) int { return connectionsFor(files) }

func PipesFor(files uint64) int { return pipesFor(files) }

func ChunkSize(b []byte) (int64, int, error) { return chunkSize(b) }

func (g *Gate) Reply(msg []byte) []byte { return g.reply(msg, true) }

// Live is the number of connections alive.
func (g *Gate) Live() int64 { return g.live.Load() }

// Records gives what is kept of a name server's answer, and the name to ask for
// next.
func (g *Gate) Records(msg []byte, name string, t dnsmessage.Type) ([]netip.Addr, []dnsmessage.SVCBResource, string, error) {
	a, seen := answer{ttl: ^uint32(0)}, 0
	next, err := a.read(msg, name, t, &seen)
	return a.addrs, g.services(a.svcb), next, err
}

var ErrMore = errMore

// Drains passes by c, as a port does that is opened after the run has ended.
func (g *Gate) Drains(c io.Closer) {
	g.drain()
	g.hold(c, true)
	g.release(c)
}
