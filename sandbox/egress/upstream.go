package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	maxAnswers = 16 // records kept of one answer
	maxChain   = 16 // CNAMEs followed
	maxJunk    = 16 // datagrams ignored while waiting for the right one
	udpSize    = 1232
)

var (
	errNoName   = errors.New("no such name")
	errLoop     = errors.New("alias loop")
	errUpstream = errors.New("no usable answer from any name server")
	errJunk     = errors.New("answer does not fit the question")
)

// answer is what upstream said about one name and type, flattened: aliases are
// followed and gone.
type answer struct {
	addrs []netip.Addr
	svcb  []dnsmessage.SVCBResource
	srv   []dnsmessage.SRVResource
	ttl   uint32 // seconds, the least on the way
}

// size is how many records it has.
func (a *answer) size() int { return len(a.addrs) + len(a.svcb) + len(a.srv) }

// client asks the host's name servers. It trusts them for nothing but the
// mapping itself: an answer counts only if it comes from the server asked,
// with the id and the question, letter case included (0x20), and everything
// is bounded.
type client struct {
	sys  *System
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// resolve follows aliases until there is an answer of type t.
func (c *client) resolve(ctx context.Context, name string, t dnsmessage.Type) (answer, error) {
	ans := answer{ttl: ^uint32(0)}
	seen := 0
	for {
		msg, err := c.ask(ctx, name, t)
		if err != nil {
			return answer{}, err
		}
		next, err := ans.read(msg, name, t, &seen)
		if err != nil {
			return answer{}, err
		}
		if next == "" {
			return ans, nil
		}
		name = next
	}
}

// record is one of an answer, of the type that was asked for.
type record struct {
	owner string
	ttl   uint32
	addr  netip.Addr
	svcb  *dnsmessage.SVCBResource
	srv   *dnsmessage.SRVResource
}

// records gives those of type t that a message has, and where its aliases lead, with
// the shortest time that one of these holds.
func records(msg []byte, t dnsmessage.Type) (list []record, alias map[string]string, ttl uint32, err error) {
	alias, ttl = map[string]string{}, math.MaxUint32
	var p dnsmessage.Parser
	if _, err := p.Start(msg); err != nil {
		return nil, nil, 0, err
	}
	if err := p.SkipAllQuestions(); err != nil {
		return nil, nil, 0, err
	}
	for {
		h, err := p.AnswerHeader()
		if err == dnsmessage.ErrSectionDone {
			return list, alias, ttl, nil
		}
		if err != nil {
			return nil, nil, 0, err
		}
		r := record{owner: fold(h.Name.String()), ttl: h.TTL}
		switch {
		case h.Class != dnsmessage.ClassINET:
			err = p.SkipAnswer()
		case h.Type == dnsmessage.TypeCNAME:
			var n dnsmessage.CNAMEResource
			if n, err = p.CNAMEResource(); err == nil {
				alias[r.owner] = fold(n.CNAME.String())
				ttl = min(ttl, h.TTL)
			}
		case h.Type != t:
			err = p.SkipAnswer()
		case t == dnsmessage.TypeA:
			var v dnsmessage.AResource
			v, err = p.AResource()
			r.addr = netip.AddrFrom4(v.A)
		case t == dnsmessage.TypeAAAA:
			var v dnsmessage.AAAAResource
			v, err = p.AAAAResource()
			r.addr = netip.AddrFrom16(v.AAAA)
		case t == dnsmessage.TypeHTTPS:
			var v dnsmessage.HTTPSResource
			v, err = p.HTTPSResource()
			r.svcb = &v.SVCBResource
		case t == dnsmessage.TypeSVCB:
			var v dnsmessage.SVCBResource
			v, err = p.SVCBResource()
			r.svcb = &v
		case t == dnsmessage.TypeSRV:
			var v dnsmessage.SRVResource
			v, err = p.SRVResource()
			r.srv = &v
		}
		if err != nil {
			return nil, nil, 0, err
		}
		if (r.addr.IsValid() || r.svcb != nil || r.srv != nil) && len(list) < 4*maxAnswers {
			list = append(list, r)
		}
	}
}

// read collects the records of type t that name leads to. It gives the name
// to ask for next when an alias leads out of the message.
func (a *answer) read(msg []byte, name string, t dnsmessage.Type, seen *int) (next string, err error) {
	list, alias, ttl, err := records(msg, t)
	if err != nil {
		return "", err
	}
	a.ttl = min(a.ttl, ttl)
	start := name
	for {
		for _, r := range list {
			if r.owner != name || a.size() >= maxAnswers {
				continue
			}
			a.ttl = min(a.ttl, r.ttl)
			switch {
			case r.svcb != nil:
				a.svcb = append(a.svcb, *r.svcb)
			case r.srv != nil:
				a.srv = append(a.srv, *r.srv)
			default:
				a.addrs = append(a.addrs, r.addr)
			}
		}
		to, ok := alias[name]
		if !ok || a.size() > 0 {
			break
		}
		if *seen++; *seen > maxChain {
			return "", errLoop
		}
		name = to
	}
	if a.size() == 0 && name != start {
		// The chain may end in a name that has nothing of this type; asking
		// for it tells. Its answer cannot alias to itself for ever: seen counts.
		if _, err := canonical(name); err != nil {
			return "", err
		}
		return name, nil
	}
	return "", nil
}

// ask sends one question, to each server in turn.
func (c *client) ask(ctx context.Context, name string, t dnsmessage.Type) ([]byte, error) {
	err := errUpstream
	for range c.sys.Attempts {
		for _, server := range c.sys.Servers {
			msg, e := c.exchange(ctx, server, name, t)
			if e == nil {
				return msg, nil
			}
			if errors.Is(e, errNoName) {
				return nil, e
			}
			err = fmt.Errorf("%w: %s: %v", errUpstream, server, e)
			if ctx.Err() != nil {
				return nil, err
			}
		}
	}
	return nil, err
}

// exchange asks one server: by UDP, and by TCP if the answer is cut, or if it
// does not repeat the letter case (a server that does not, or a forgery).
func (c *client) exchange(ctx context.Context, server netip.AddrPort, name string, t dnsmessage.Type) ([]byte, error) {
	for _, network := range []string{"udp", "tcp"} {
		msg, again, err := c.once(ctx, network, server, name, t)
		if err != nil || !again {
			return msg, err
		}
	}
	return nil, errJunk
}

func (c *client) once(ctx context.Context, network string, server netip.AddrPort, name string, t dnsmessage.Type) (msg []byte, again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.sys.Timeout)
	defer cancel()
	asked := mixCase(name)
	id := uint16(rand.Uint32())
	query, err := question(id, asked, t)
	if err != nil {
		return nil, false, err
	}
	conn, err := c.dial(ctx, network, server.String())
	if err != nil {
		return nil, false, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	tcp := network == "tcp"
	if tcp {
		query = append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)
	}
	if _, err := conn.Write(query); err != nil {
		return nil, false, err
	}
	buf := make([]byte, udpSize)
	for range maxJunk {
		var msg []byte
		if tcp {
			if msg, err = readTCP(conn); err != nil {
				return nil, false, err
			}
		} else {
			n, err := conn.Read(buf)
			if err != nil {
				return nil, false, err
			}
			msg = buf[:n]
		}
		var p dnsmessage.Parser
		h, err := p.Start(msg)
		if err != nil || h.ID != id || !h.Response || h.OpCode != 0 {
			if tcp {
				return nil, false, errJunk
			}
			continue
		}
		q, err := p.Question()
		if err != nil || q.Type != t || q.Class != dnsmessage.ClassINET || fold(q.Name.String()) != name {
			if tcp {
				return nil, false, errJunk
			}
			continue
		}
		switch {
		case !tcp && (h.Truncated || q.Name.String() != asked):
			return nil, true, nil
		case h.RCode == dnsmessage.RCodeNameError:
			return nil, false, errNoName
		case h.RCode != dnsmessage.RCodeSuccess:
			return nil, false, fmt.Errorf("server says %v", h.RCode)
		}
		return msg, false, nil
	}
	return nil, true, nil
}

// question builds a query that wants recursion and takes answers up to udpSize.
func question(id uint16, name string, t dnsmessage.Type) ([]byte, error) {
	n, err := dnsmessage.NewName(name)
	if err != nil {
		return nil, err
	}
	b := dnsmessage.NewBuilder(make([]byte, 0, 512), dnsmessage.Header{ID: id, RecursionDesired: true})
	if err := b.StartQuestions(); err != nil {
		return nil, err
	}
	if err := b.Question(dnsmessage.Question{Name: n, Type: t, Class: dnsmessage.ClassINET}); err != nil {
		return nil, err
	}
	if err := b.StartAdditionals(); err != nil {
		return nil, err
	}
	var rh dnsmessage.ResourceHeader
	if err := rh.SetEDNS0(udpSize, dnsmessage.RCodeSuccess, false); err != nil {
		return nil, err
	}
	if err := b.OPTResource(rh, dnsmessage.OPTResource{}); err != nil {
		return nil, err
	}
	return b.Finish()
}

// readTCP reads one length-prefixed message.
func readTCP(r io.Reader) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	msg := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(r, msg)
	return msg, err
}

// mixCase makes the full form of a name with letters in random case, which a
// forger who cannot see the question has to guess.
func mixCase(name string) string {
	b := []byte(name + ".")
	var bits uint64
	for i, c := range b {
		if i%64 == 0 {
			bits = rand.Uint64()
		}
		if 'a' <= c && c <= 'z' && bits&1 != 0 {
			b[i] = c - 'a' + 'A'
		}
		bits >>= 1
	}
	return string(b)
}

// fold is a name as records compare: lower case, no trailing dot. It is not
// canonical: records may hold any byte.
func fold(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
