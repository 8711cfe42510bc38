package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// ServeDNS answers questions that come as datagrams. A *net.UDPConn bound to a
// wildcard address answers from the address that was asked.
func (g *Gate) ServeDNS(pc net.PacketConn) error {
	if !g.hold(pc, true) {
		return net.ErrClosed
	}
	defer g.release(pc)
	d, err := newDatagrams(pc)
	if err != nil {
		return err
	}
	failed := failures(0)
	for !g.over(pc) {
		buf := make([]byte, 1500)
		n, peer, err := d.read(buf)
		if failed.over(err) {
			return err
		}
		if err != nil {
			continue
		}
		select {
		case g.questions <- struct{}{}:
		default:
			continue // the program asks again
		}
		go func() {
			defer func() { <-g.questions }()
			if reply := g.reply(buf[:n], true); reply != nil {
				d.write(reply, peer)
			}
		}()
	}
	return net.ErrClosed
}

// serveDNSTCP answers questions that come over connections.
func (g *Gate) serveDNSTCP(ln net.Listener) error {
	return g.accept(ln, func(conn net.Conn) {
		for {
			conn.SetDeadline(time.Now().Add(g.cfg.HeadTimeout))
			msg, err := readTCP(conn)
			if err != nil {
				return
			}
			g.questions <- struct{}{}
			reply := g.reply(msg, false)
			<-g.questions
			if reply == nil {
				return
			}
			if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
				return
			}
		}
	}, nil)
}

// reply gives the answer to one message, nil for what deserves none.
func (g *Gate) reply(msg []byte, datagram bool) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(msg)
	if err != nil || h.Response {
		return nil
	}
	r := response{Header: dnsmessage.Header{ID: h.ID, Response: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true}}
	if h.OpCode != 0 {
		r.OpCode, r.RCode = h.OpCode, dnsmessage.RCodeNotImplemented
		return r.pack(512)
	}
	qs, err := p.AllQuestions()
	if err != nil || len(qs) != 1 || qs[0].Class != dnsmessage.ClassINET {
		r.RCode = dnsmessage.RCodeFormatError
		return r.pack(512)
	}
	r.question = &qs[0]
	limit := 512
	if size, ok := ednsSize(&p); ok {
		r.edns = true
		limit = max(512, min(size, 4096))
	}
	if !datagram {
		limit = 65535
	}
	g.answer(&r)
	return r.pack(limit)
}

// ednsSize finds the size of answers that the asking program takes.
func ednsSize(p *dnsmessage.Parser) (int, bool) {
	if p.SkipAllAnswers() != nil || p.SkipAllAuthorities() != nil {
		return 0, false
	}
	for {
		h, err := p.AdditionalHeader()
		if err != nil {
			return 0, false
		}
		if h.Type == dnsmessage.TypeOPT {
			return int(h.Class), true
		}
		if p.SkipAdditional() != nil {
			return 0, false
		}
	}
}

// answer fills in what the policy and upstream say.
func (g *Gate) answer(r *response) {
	t := r.question.Type
	name, err := canonical(r.question.Name.String())
	if err != nil {
		r.RCode = dnsmessage.RCodeNameError
		if r.question.Name.String() != "." { // probing for the root is not a name
			g.tell(r.question.Name.String(), BadName)
		}
		return
	}
	if local(name) && !g.policy.Name(name) {
		switch t {
		case dnsmessage.TypeA:
			r.addrs = loopback[:1]
		case dnsmessage.TypeAAAA:
			r.addrs = loopback[1:]
		}
		r.ttl = hostsTTL
		return
	}
	switch t {
	case dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypeHTTPS, dnsmessage.TypeSVCB, dnsmessage.TypeSRV:
	default:
		// No other type helps to connect, and free text is a channel: an
		// allowed name has none, and another does not exist.
		if !g.policy.Name(name) {
			g.refuse(r, name, UnknownName)
		}
		return
	}
	ctx, cancel := context.WithTimeout(g.ctx, lookupFor)
	defer cancel()
	ans, why, err := g.lookup(ctx, name, t)
	switch {
	case err == nil || errors.Is(err, errNoData):
		r.answer = ans
	case why == Unreachable && errors.Is(err, errNoName):
		r.RCode = dnsmessage.RCodeNameError // allowed, and upstream has no such name
	case errors.Is(err, errNoName):
		g.refuse(r, name, why)
	default:
		r.RCode = dnsmessage.RCodeServerFailure
	}
}

// refuse answers that there is no such name, and says so to whoever watches;
// but not for reverse lookups, nor for the names that a program's own
// resolver makes of an allowed one by appending search domains.
func (g *Gate) refuse(r *response, name string, why Reason) {
	r.RCode = dnsmessage.RCodeNameError
	if strings.HasSuffix(name, ".arpa") {
		return
	}
	if short, ok := g.cfg.System.unsearched(name); ok && (local(short) || g.policy.Name(short)) {
		return
	}
	g.tell(name, why)
}

// response is a DNS message under construction.
type response struct {
	dnsmessage.Header
	question *dnsmessage.Question
	edns     bool
	answer
}

// pack writes the message; cut, without answers, if it exceeds limit.
func (r *response) pack(limit int) []byte {
	msg, err := r.build()
	if err != nil || len(msg) > limit {
		r.answer, r.Truncated = answer{}, err == nil
		if err != nil {
			r.RCode = dnsmessage.RCodeServerFailure
		}
		msg, _ = r.build()
	}
	return msg
}

func (r *response) build() ([]byte, error) {
	b := dnsmessage.NewBuilder(make([]byte, 0, 512), r.Header)
	b.EnableCompression()
	if err := b.StartQuestions(); err != nil {
		return nil, err
	}
	if r.question != nil {
		if err := b.Question(*r.question); err != nil {
			return nil, err
		}
		h := dnsmessage.ResourceHeader{Name: r.question.Name, Class: dnsmessage.ClassINET, TTL: r.ttl}
		if err := r.records(&b, h); err != nil {
			return nil, err
		}
	}
	if r.edns {
		if err := b.StartAdditionals(); err != nil {
			return nil, err
		}
		var h dnsmessage.ResourceHeader
		if err := h.SetEDNS0(4096, dnsmessage.RCodeSuccess, false); err != nil {
			return nil, err
		}
		if err := b.OPTResource(h, dnsmessage.OPTResource{}); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

func (r *response) records(b *dnsmessage.Builder, h dnsmessage.ResourceHeader) error {
	if err := b.StartAnswers(); err != nil {
		return err
	}
	for _, a := range r.addrs {
		var err error
		if a.Is4() {
			err = b.AResource(h, dnsmessage.AResource{A: a.As4()})
		} else {
			err = b.AAAAResource(h, dnsmessage.AAAAResource{AAAA: a.As16()})
		}
		if err != nil {
			return err
		}
	}
	for _, s := range r.srv {
		if err := b.SRVResource(h, s); err != nil {
			return err
		}
	}
	for _, s := range r.svcb {
		var err error
		if r.question.Type == dnsmessage.TypeHTTPS {
			err = b.HTTPSResource(h, dnsmessage.HTTPSResource{SVCBResource: s})
		} else {
			err = b.SVCBResource(h, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
