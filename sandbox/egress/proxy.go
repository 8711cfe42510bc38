package egress

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"skillrun/profiles"
)

// ServeProxy is the gate as a proxy, for programs that are told of one: HTTP
// (CONNECT and absolute form) and SOCKS5 on the same port, which should be on
// loopback. The same policy, checks and verdicts hold as for a plain
// connection; a tunnel's bytes are compared with the name that it asked for.
func (g *Gate) ServeProxy(ln net.Listener) error {
	return g.accept(ln, func(c net.Conn) {
		x := g.exchange(c, DoorProxy)
		defer x.report()
		x.v.Reason = Malformed
		until := time.Now().Add(g.cfg.HeadTimeout)
		for {
			if len(x.buf) > 0 && x.buf[0] == socksVersion {
				x.v.Door = DoorSOCKS
				x.socks(until)
				return
			}
			h, err := parseHead(x.buf)
			switch {
			case err == nil:
				x.proxy(&h)
				return
			case !errors.Is(err, errMore):
				x.answer("400 Bad Request")
				return
			}
			if x.read(until) != nil {
				return
			}
		}
	}, nil)
}

func (x *exchange) answer(status string) {
	goodbye(x.c, httpRefusal(status, x.v.Name, x.v.Reason))
}

// fail refuses a request in HTTP's own way.
func (x *exchange) fail() {
	if x.v.Reason == Unreachable {
		x.answer("502 Bad Gateway")
		return
	}
	x.answer("403 Forbidden")
}

// proxy serves one request: a tunnel, or one request in absolute form. The
// latter is the only one of its connection, so that no second request can
// hide behind it.
func (x *exchange) proxy(h *head) {
	authority := h.authority
	if authority == "" || h.method != "CONNECT" && h.scheme != "http" {
		x.answer("400 Bad Request")
		return
	}
	t, port, err := splitHostPort(authority)
	if err != nil {
		x.v.HTTPHost, x.v.Reason = cut(authority), BadName
		x.fail()
		return
	}
	if port == 0 {
		if h.method == "CONNECT" {
			x.answer("400 Bad Request")
			return
		}
		port = 80
	}
	addrs, why := x.destination(t, port)
	if x.v.Reason = why; why != Granted {
		x.fail()
		return
	}
	if h.method == "CONNECT" {
		x.tunnel(addrs, h.size, []byte("HTTP/1.1 200 Connection established\r\n\r\n"), x.fail)
		return
	}
	x.http, x.seen = true, true
	if x.v.Reason = x.judgeForward(h, t); x.v.Reason != Granted {
		x.fail()
		return
	}
	if x.v.Reason = x.admit(); x.v.Reason != Granted {
		x.fail()
		return
	}
	up, err := x.reach(addrs)
	if err != nil {
		x.v.Reason = Unreachable
		x.fail()
		return
	}
	x.once(up, h)
}

// judgeForward checks a request in absolute form: the Host header, if there
// is one, must say the same as the target.
func (x *exchange) judgeForward(h *head, t Target) Reason {
	x.v.HTTPHost = cut(h.host)
	if h.host != "" {
		if ht, _, err := splitHostPort(h.host); err != nil || ht != t {
			return Mismatch
		}
	}
	if x.rule.ReadOnly && !h.readOnly() {
		return ReadOnly
	}
	if h.upgrade != "" {
		return Malformed
	}
	return Granted
}

// destination judges where a proxy request wants to go, resolving names, and
// keeps what may be connected to.
func (x *exchange) destination(t Target, port uint16) ([]netip.Addr, Reason) {
	x.v.Port = port
	if t.Name == "" {
		why := x.aim(netip.AddrPortFrom(t.Addr, port), x.g.Handed(t.Addr))
		return []netip.Addr{t.Addr}, why
	}
	x.v.Name = t.Name
	r, why := x.g.policy.decide(Request{Name: t.Name, Port: port, Protocol: profiles.TCP})
	if r == nil {
		return nil, why
	}
	x.rule = r
	addrs, why := x.g.Lookup(x.g.ctx, t.Name)
	if why != Granted {
		return nil, why
	}
	if x.stands = x.g.cfg.Parents.standsIn(addrs[0]); x.stands {
		x.names = map[string]*rule{t.Name: x.rule}
		return addrs, Granted
	}
	var keep []netip.Addr
	byAddr := true
	for _, a := range addrs {
		// Only addresses that one and the same rule grants, so that budgets
		// and read-only hold whichever answers.
		s, w := x.g.policy.decide(Request{Name: t.Name, Addr: a, Port: port, Protocol: profiles.TCP})
		switch {
		case s == nil:
			why = w
			continue
		case len(keep) == 0:
			x.rule = s
		case s != x.rule:
			continue
		}
		keep = append(keep, a)
		byAddr = byAddr && s.address(a)
	}
	if len(keep) == 0 {
		return nil, why
	}
	if byAddr {
		x.addr = x.rule
	}
	x.v.Addr = keep[0]
	x.names = map[string]*rule{t.Name: x.rule}
	return keep, Granted
}

// tunnel connects, says so, and from there on is a plain connection whose
// first bytes are judged when they come.
func (x *exchange) tunnel(addrs []netip.Addr, size int, yes []byte, no func()) {
	x.buf = x.buf[size:]
	if x.v.Reason = x.admit(); x.v.Reason != Granted {
		no()
		return
	}
	up, err := x.reach(addrs)
	if err != nil {
		x.v.Reason = Unreachable
		no()
		return
	}
	if _, err := x.c.Write(yes); err != nil {
		up.Close()
		return
	}
	x.relay(up)
}

// once forwards one request and its answer, then ends both connections.
func (x *exchange) once(up net.Conn, h *head) {
	if !x.g.hold(up, false) {
		return
	}
	defer x.g.release(up)
	x.dialed = true
	f := x.flow()
	first := originForm(x.buf[:h.size], h)
	if x.parent != nil {
		var err error
		if first, err = x.parent.absoluteForm(first, x.host()); err != nil {
			x.v.Reason = failure(err)
			x.fail()
			return
		}
	}
	x.buf = x.buf[h.size:]
	asked := make(chan error, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		err := f.write(up, first, &x.sent)
		if err == nil {
			err = x.body(f, up, h.length)
		}
		asked <- err
		x.g.settle(x.c)
		if err != nil {
			reset(up)
			return
		}
		for err == nil { // what comes after the one request goes nowhere
			x.drop()
			err = x.more(f)
		}
		closeWrite(up)
	}()
	err := f.pump(x.c, up, &x.rcvd)
	select {
	case e := <-asked:
		if e != nil {
			err = e
		}
	default: // the answer came before the request was over
	}
	up.Close()
	if t, ok := x.c.(*net.TCPConn); ok {
		t.CloseRead()
	} else {
		x.c.Close()
	}
	<-over
	if err != nil {
		x.v.Reason = failure(err)
	}
}

// originForm rewrites a checked head for the server itself: the path alone,
// our Host, and one request per connection.
func originForm(raw []byte, h *head) []byte {
	return h.rewrite(raw, h.path(), h.authority, "Connection: close\r\n", append(withoutH2C[:], "keep-alive", "te")...)
}

// ProxyEnv gives the variables that lead programs to a proxy at addr
// ("HOST:PORT"), and empties the ones that would lead them past it.
func ProxyEnv(addr string) []profiles.EnvVar {
	http := "http://" + addr
	socks := "socks5h://" + addr // h: names are resolved at the proxy
	origin := profiles.Origin{Source: "built-in:proxy", Reason: "the run's way out"}
	var vars []profiles.EnvVar
	add := func(value string, names ...string) {
		for _, n := range names {
			vars = append(vars, profiles.EnvVar{Name: n, Value: value, Origin: origin})
		}
	}
	add(http, "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy")
	add(socks, "ALL_PROXY", "all_proxy")
	add("", "NO_PROXY", "no_proxy")
	add("1", "NODE_USE_ENV_PROXY")
	add(addr, "RSYNC_PROXY")
	return vars
}
