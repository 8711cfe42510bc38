package egress

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"

	"skillrun/profiles"
)

// Parents are the proxies through which this machine reaches the web: some
// machines reach it in no other way, and their name servers know nothing of it. A
// nil Parents is none.
//
// A name that is reached so is resolved by the proxy. The run gets an address
// that stands for it, and the name, which the bytes have to agree with as ever,
// is what the proxy is asked for: what it resolves to is not seen here. Only a
// name that this machine's own name servers know as a private one is refused.
type Parents struct {
	of          func(*url.URL) (*url.URL, error) // nil for no proxy, as NO_PROXY says
	http, https *parent

	mu      sync.Mutex
	stands  map[string]netip.Addr
	standIn map[netip.Addr]bool
}

// NewParents reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in upper or
// lower case, as programs do (golang.org/x/net/http/httpproxy). It gives nil if
// they name no proxy, and fails if one is named that is neither "http://" nor
// "socks5://".
func NewParents(getenv func(string) string) (*Parents, error) {
	get := func(name string) string {
		v := getenv(strings.ToLower(name))
		if v == "" && (name != "HTTP_PROXY" || getenv("REQUEST_METHOD") == "") { // there it is a client's header (httpoxy.org)
			v = getenv(name)
		}
		return v
	}
	all := get("ALL_PROXY")
	c := httpproxy.Config{HTTPProxy: get("HTTP_PROXY"), HTTPSProxy: get("HTTPS_PROXY"), NoProxy: get("NO_PROXY")}
	if c.HTTPProxy == "" {
		c.HTTPProxy = all
	}
	if c.HTTPSProxy == "" {
		c.HTTPSProxy = all
	}
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil, nil
	}
	p := &Parents{of: c.ProxyFunc(), stands: map[string]netip.Addr{}, standIn: map[netip.Addr]bool{}}
	alone := (&httpproxy.Config{HTTPProxy: c.HTTPProxy, HTTPSProxy: c.HTTPSProxy}).ProxyFunc() // whatever NO_PROXY says
	for _, f := range [...]struct {
		scheme string
		to     **parent
	}{{"http", &p.http}, {"https", &p.https}} {
		u, err := alone(&url.URL{Scheme: f.scheme, Host: "proxied.invalid"})
		if err == nil && u != nil {
			*f.to, err = newParent(u)
		}
		if err != nil {
			return nil, fmt.Errorf("%s_PROXY or ALL_PROXY: %w", strings.ToUpper(f.scheme), errParent)
		}
	}
	return p, nil
}

// A parent is one proxy.
type parent struct {
	host  string // as its URL names it: a name or an address
	port  uint16
	socks bool
	user  *url.Userinfo
}

var errParent = errors.New("a proxy that is not like http://HOST:PORT or socks5://HOST:PORT")

func newParent(u *url.URL) (*parent, error) {
	p := &parent{user: u.User}
	port := u.Port()
	switch u.Scheme {
	case "http":
		port = cmp.Or(port, "80")
	case "socks5", "socks5h":
		if u.User != nil && u.User.Username() == "" {
			return nil, errParent // RFC 1929 has no such user
		}
		p.socks = true
		port = cmp.Or(port, "1080")
	default:
		return nil, errParent
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil, errParent
	}
	t, err := ParseTarget(u.Hostname())
	if err != nil {
		return nil, errParent
	}
	p.host, p.port = t.String(), uint16(n)
	return p, nil
}

func (p *parent) String() string { return net.JoinHostPort(p.host, strconv.Itoa(int(p.port))) }

// through gives the proxy for a name, nil for none.
func (p *Parents) through(scheme, name string, port uint16) *parent {
	if p == nil {
		return nil
	}
	u, err := p.of(&url.URL{Scheme: scheme, Host: net.JoinHostPort(name, strconv.Itoa(int(port)))})
	switch {
	case err != nil || u == nil:
		return nil
	case scheme == "http":
		return p.http
	}
	return p.https
}

// Through says by which proxy ("HOST:PORT") a name is reached at a port, "" for
// none: with TLS, where the port is not that of plain HTTP.
func (p *Parents) Through(name string, port uint16) string {
	scheme := "https"
	if port == 80 {
		scheme = "http"
	}
	if one := p.through(scheme, name, port); one != nil {
		return one.String()
	}
	return ""
}

// Serve says whether any name that a network grants is reached by a proxy.
func (p *Parents) Serve(n *profiles.Network) bool {
	return p != nil && n.Mode == profiles.NetHosts && slices.ContainsFunc(n.Hosts, func(h profiles.HostRule) bool {
		name := strings.TrimPrefix(strings.TrimPrefix(h.Host, "*"), ".")
		if name == "" {
			name = "proxied.invalid" // any name
		}
		_, err := netip.ParseAddr(name)
		return err != nil && !strings.Contains(name, "/") && !local(name) && p.serves(name)
	})
}

// serves says whether a proxy is asked for a name on the ports of the web.
func (p *Parents) serves(name string) bool {
	return p.through("https", name, 443) != nil || p.through("http", name, 80) != nil
}

// pool is where addresses that stand for names come from: a block that is on no
// network but a test bench's (RFC 2544), so that no run is granted it by chance.
var pool = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, 0, 0}), 15)

// stand gives the address that stands for a name, if a proxy is asked for it.
func (p *Parents) stand(name string) (netip.Addr, bool) {
	if !p.serves(name) {
		return netip.Addr{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.stands[name]
	if n := len(p.stands) + 1; !ok && n < maxHanded {
		b := pool.Addr().As4()
		binary.BigEndian.PutUint16(b[2:], uint16(n))
		a, ok = netip.AddrFrom4(b), true
		p.stands[name], p.standIn[a] = a, true
	}
	return a, ok
}

// standsIn says whether an address stands for a name.
func (p *Parents) standsIn(a netip.Addr) bool {
	if p == nil || !pool.Contains(a) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.standIn[a]
}

// reach connects to where the run may go, or asks a proxy to.
func (x *exchange) reach(addrs []netip.Addr) (net.Conn, error) {
	if !x.stands {
		return x.dial(addrs)
	}
	ctx, cancel := context.WithTimeout(x.g.ctx, x.g.cfg.HeadTimeout)
	defer cancel()
	scheme := ""
	switch {
	case x.http:
		scheme = "http"
	case x.tls || x.v.Door != DoorGate:
		scheme = "https"
	}
	if p := x.g.cfg.Parents.through(scheme, x.v.Name, x.v.Port); scheme != "" && p != nil {
		return x.ask(ctx, p)
	}
	// What is not of the web is made directly, as programs do.
	var direct []netip.Addr
	for _, t := range [...]dnsmessage.Type{dnsmessage.TypeAAAA, dnsmessage.TypeA} {
		v, _ := x.g.resolve(ctx, x.v.Name, t)
		for _, a := range v.ans.addrs {
			if r, _ := x.g.policy.decide(Request{Name: x.v.Name, Addr: a, Port: x.v.Port, Protocol: x.v.Protocol}); r == x.rule {
				direct = append(direct, a)
			}
		}
	}
	if len(direct) == 0 {
		return nil, errNoName
	}
	return x.dial(direct)
}

// ask connects to a proxy, and has it connect.
func (x *exchange) ask(ctx context.Context, p *parent) (net.Conn, error) {
	up, err := x.g.dialParent(ctx, p)
	if err != nil {
		return nil, err
	}
	x.v.Via = p.String()
	if x.http && !p.socks && !x.upgrades() {
		x.parent = p
		return up, nil
	}
	stop := context.AfterFunc(ctx, func() { up.Close() })
	target := net.JoinHostPort(x.v.Name, strconv.Itoa(int(x.v.Port)))
	if p.socks {
		err = p.greet(up, target)
	} else {
		err = p.connect(up, target)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		up.Close()
		return nil, err
	}
	return up, nil
}

// upgrades says whether the first request asks to leave HTTP, which proxies
// pass on in a tunnel only.
func (x *exchange) upgrades() bool {
	h, err := parseHead(x.buf)
	return err == nil && h.upgrade != ""
}

// host is what a URL of plain HTTP has for where this goes.
func (x *exchange) host() string {
	if x.v.Port == 80 {
		return x.v.Name
	}
	return net.JoinHostPort(x.v.Name, strconv.Itoa(int(x.v.Port)))
}

// dialParent connects to a proxy: an address, or a name that the hosts file or
// a name server knows.
func (g *Gate) dialParent(ctx context.Context, p *parent) (net.Conn, error) {
	var addrs []netip.Addr
	if a, err := netip.ParseAddr(p.host); err == nil {
		addrs = []netip.Addr{a}
	} else if addrs = g.cfg.System.Hosts[p.host]; len(addrs) == 0 && local(p.host) {
		addrs = loopback[:]
	}
	err := errNoName
	for _, t := range [...]dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
		for _, name := range g.cfg.System.candidates(p.host) {
			if len(addrs) > 0 {
				break
			}
			var ans answer
			if ans, err = g.client.resolve(ctx, name, t); err == nil {
				addrs = ans.addrs
			}
		}
	}
	for _, a := range addrs {
		var up net.Conn
		if up, err = g.cfg.Dial(ctx, "tcp", netip.AddrPortFrom(a, p.port).String()); err == nil {
			return up, nil
		}
	}
	return nil, err
}

// credentials is the Proxy-Authorization field, "" without a password.
func (p *parent) credentials() string {
	if p.user == nil {
		return ""
	}
	password, _ := p.user.Password()
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(p.user.Username()+":"+password)) + "\r\n"
}

// connect asks for a tunnel.
func (p *parent) connect(up net.Conn, target string) error {
	if _, err := up.Write([]byte("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n" + p.credentials() + "\r\n")); err != nil {
		return err
	}
	// One by one: what follows the head is the server's.
	head := make([]byte, 0, 512)
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		var b [1]byte
		if _, err := up.Read(b[:]); err != nil {
			return err
		}
		if head = append(head, b[0]); len(head) > maxHead {
			return errRequest
		}
	}
	if status := string(head[:min(len(head), 12)]); len(status) < 12 || !strings.HasPrefix(status, "HTTP/1.") || status[8:10] != " 2" {
		return errParent
	}
	return nil
}

// greet asks a SOCKS5 proxy for a tunnel.
func (p *parent) greet(up net.Conn, target string) error {
	var auth *proxy.Auth
	if p.user != nil {
		password, _ := p.user.Password()
		auth = &proxy.Auth{User: p.user.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", p.String(), auth, dialed{up})
	if err != nil {
		return err
	}
	_, err = d.Dial("tcp", target)
	return err
}

// dialed is a dialer of what is connected.
type dialed struct{ net.Conn }

func (d dialed) Dial(string, string) (net.Conn, error) { return d.Conn, nil }

// absoluteForm rewrites a checked head for a proxy, which goes where the head
// says: to the host and port that were granted, whatever port the run wrote. What
// a proxy would send back as it came is refused.
func (p *parent) absoluteForm(raw []byte, host string) ([]byte, error) {
	h, err := parseHead(raw)
	if err != nil || strings.EqualFold(h.method, "TRACE") || strings.EqualFold(h.method, "TRACK") {
		return nil, refusal(Malformed)
	}
	target := h.path()
	if target == "*" {
		target = ""
	}
	return h.rewrite(raw, "http://"+host+target, host, p.credentials()), nil
}
