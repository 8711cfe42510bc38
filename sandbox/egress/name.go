package egress

import (
	"errors"
	"net/netip"
	"strings"
)

// Target is where a program says it wants to go: a name or an address, never
// both.
type Target struct {
	// Name is in lower case, without a trailing dot, ASCII.
	Name string
	// Addr has no zone and is not IPv4-mapped.
	Addr netip.Addr
}

func (t Target) String() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Addr.String()
}

// The reasons for which a host is no host. They are what a denial line shows.
var (
	errNameEmpty  = errors.New("empty host name")
	errNameLong   = errors.New("host name longer than 253 bytes")
	errNameByte   = errors.New("host name with a byte outside letters, digits, '-', '_' and '.'")
	errNameLabel  = errors.New("host name with an empty, overlong or hyphen-edged label")
	errNameNumber = errors.New("host name that ends in a number: programs disagree on which address it is")
	errNameZone   = errors.New("address with a zone")
)

// ParseTarget reads a host as it stands in a DNS question, a TLS server name,
// a Host header or a proxy request, with or without brackets around an IPv6
// address. It accepts one spelling per meaning and refuses the rest: names
// beyond ASCII (the punycode form is fine), NUL and other bytes, and addresses
// in decimal, octal, hexadecimal or short form, which one parser takes for a
// name and the next for 127.0.0.1 (the "ends in a number" rule of the WHATWG
// URL standard).
func ParseTarget(host string) (Target, error) {
	if h, ok := strings.CutPrefix(host, "["); ok {
		h, ok = strings.CutSuffix(h, "]")
		a, err := netip.ParseAddr(h)
		if !ok || err != nil || !a.Is6() {
			return Target{}, errNameByte
		}
		host = h
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return Target{}, errNameZone
		}
		return Target{Addr: a.Unmap()}, nil
	}
	name, err := canonical(host)
	return Target{Name: name}, err
}

// canonical checks a name and brings it into the one form that rules are
// compared with.
func canonical(host string) (string, error) {
	host = strings.TrimSuffix(host, ".")
	switch {
	case host == "":
		return "", errNameEmpty
	case len(host) > 253:
		return "", errNameLong
	}
	start, last := 0, 0
	for i := 0; i <= len(host); i++ {
		if i < len(host) && host[i] != '.' {
			if !nameByte(host[i]) {
				return "", errNameByte
			}
			continue
		}
		label := host[start:i]
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", errNameLabel
		}
		last, start = start, i+1
	}
	if isNumber(host[last:]) {
		return "", errNameNumber
	}
	return strings.ToLower(host), nil
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// isNumber says whether inet_aton would take a last label for a number.
func isNumber(label string) bool {
	digits := "0123456789"
	if len(label) >= 2 && label[0] == '0' && label[1]|0x20 == 'x' {
		label, digits = label[2:], "0123456789abcdefABCDEF"
	}
	return strings.Trim(label, digits) == ""
}
