package sbpl

import (
	"errors"
	"net/netip"
	"strings"
)

// truth is yes, no, or unknown for lack of a fact.
type truth uint8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// asked is a query with its object taken apart.
type asked struct {
	op         string
	facts      map[string]string
	protocol   string // "tcp", "udp", "unix", or "" if not about a network
	host, port string
}

// object files the object of the query under the fact that it is.
func (x *asked) object(text string) error {
	for _, o := range objects {
		if !strings.HasPrefix(x.op, o[0]) {
			continue
		}
		if o[1] == "address" {
			return x.address(text)
		}
		if o[1] == "path" && !strings.HasPrefix(text, "/") {
			return errors.New("path is not absolute")
		}
		x.facts[o[1]] = text
		return nil
	}
	return errors.New("takes no object")
}

func (x *asked) address(text string) error {
	proto, rest, _ := strings.Cut(text, ":")
	switch proto {
	case "unix":
		if !strings.HasPrefix(rest, "/") {
			return errors.New("path is not absolute")
		}
		x.protocol, x.facts["path"] = proto, rest
		return nil
	case "tcp", "udp":
		i := strings.LastIndexByte(rest, ':')
		if i < 0 {
			return errors.New("address has no port")
		}
		x.protocol, x.host, x.port = proto, strings.Trim(rest[:i], "[]"), rest[i+1:]
		return nil
	}
	return errors.New("address does not begin with tcp:, udp: or unix: in lower case")
}

// absent lists the facts that are no rather than unknown where a query lacks
// them: the object has no such thing.
const absent = " path global-name extension "

// holds says whether the filter applies.
func (f *filter) holds(x *asked) truth {
	switch f.kind {
	case all, anyOf:
		result, stop := yes, no
		if f.kind == anyOf {
			result, stop = no, yes
		}
		for i := range f.parts {
			switch t := f.parts[i].holds(x); t {
			case stop:
				return stop
			case unknown:
				result = unknown
			}
		}
		return result
	case not:
		return yes - f.parts[0].holds(x)
	case network:
		return truthOf(f.reaches(x))
	}
	v, ok := x.facts[f.key]
	if !ok {
		if strings.Contains(absent, " "+f.key+" ") {
			return no
		}
		return unknown
	}
	for i, a := range f.args {
		if f.one(i, a, v) {
			return yes
		}
	}
	return no
}

// one holds a value against one argument.
func (f *filter) one(i int, arg, v string) bool {
	switch f.kind {
	case literal:
		return v == arg
	case subpath:
		base := strings.TrimRight(arg, "/")
		return v == arg || v == base || strings.HasPrefix(v, base+"/")
	case prefix:
		return strings.HasPrefix(v, arg)
	case regex:
		return f.re[i].MatchString(v)
	case constant:
		return v == arg || f.key == "target" && arg == "same-sandbox" && (v == "self" || v == "children")
	}
	return false
}

// reaches is for (local PROTO "HOST:PORT") and (remote ...).
func (f *filter) reaches(x *asked) bool {
	outbound := x.op == "network-outbound"
	if x.protocol == "" || x.protocol == "unix" || f.key == "remote" && !outbound {
		return false
	}
	if f.args[0] != "ip" && f.args[0] != x.protocol {
		return false
	}
	if f.key == "local" && outbound {
		return true // each outgoing socket has a local end: measured, by others
	}
	host, port, _ := strings.Cut(f.args[1], ":")
	if host == "localhost" && !thisMachine(x.host) {
		return false
	}
	return port == "*" || port == x.port
}

// thisMachine says whether Seatbelt's "localhost" covers the host. It covers
// every address of the machine, which a query writes as "thishost".
func thisMachine(host string) bool {
	if host == "localhost" || host == "thishost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
