package profiles

import (
	"errors"
	"net/netip"
	"strings"
)

// CheckHost says what is wrong with a host in the form that [HostRule] takes,
// nil if nothing. The error does not repeat the host.
func CheckHost(host string) error { return hostSyntax(host) }

// hostSyntax says what is wrong with the Host of a rule, nil if nothing.
func hostSyntax(host string) error {
	if host == "*" {
		return nil
	}
	if strings.Contains(host, "/") {
		p, err := netip.ParsePrefix(host)
		switch {
		case err != nil:
			return errors.New("not a prefix like 192.0.2.0/24")
		case p.Addr().Is4In6():
			return errors.New("an IPv4 prefix in an IPv6 form")
		case p.IsSingleIP():
			return errors.New("a prefix of one address, which is " + p.Addr().String())
		case p.Masked().String() != host:
			return errors.New("not in canonical form, which is " + p.Masked().String())
		}
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		switch {
		case a.Zone() != "":
			return errors.New("an address with a zone")
		case a.Unmap().String() != host:
			return errors.New("not in canonical form, which is " + a.Unmap().String())
		}
		return nil
	}
	if suffix, ok := strings.CutPrefix(host, "*."); ok {
		if err := hostName(suffix); err != nil {
			return err
		}
		if reason, ok := publicSuffix(suffix); ok {
			return errors.New("a wildcard over names of strangers (" + reason + ")")
		}
		return nil
	}
	return hostName(host)
}

// hostName says what is wrong with a DNS name, nil if nothing: lower case
// letters, digits, "-" and "_" in labels of 1 to 63 bytes, 253 together, with
// no dot at the end. International names are written in punycode ("xn--...").
// A last label that is a number is none of a name: "127.1" and "0x7f000001" are
// addresses to many resolvers (WHATWG URL, "ends in a number").
func hostName(host string) error {
	if host == "" {
		return errors.New("empty")
	}
	if len(host) > 253 {
		return errors.New("longer than 253 bytes")
	}
	if strings.HasSuffix(host, ".") {
		return errors.New("a dot at the end")
	}
	var label string
	for rest, more := host, true; more; {
		label, rest, more = strings.Cut(rest, ".")
		if label == "" {
			return errors.New("an empty label")
		}
		if len(label) > 63 {
			return errors.New("a label longer than 63 bytes")
		}
		if label[0] == '-' || label[len(label)-1] == '-' {
			return errors.New("a label that begins or ends with -")
		}
		for i := 0; i < len(label); i++ {
			switch c := label[i]; {
			case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_':
			case 'A' <= c && c <= 'Z':
				return errors.New("an upper case letter")
			case c == '*':
				return errors.New(`"*" elsewhere than as the first label`)
			case c >= 0x80:
				return errors.New("not ASCII; write international names in punycode (xn--...)")
			default:
				return errors.New("a character that no host name has")
			}
		}
	}
	if digits, hex := strings.CutPrefix(label, "0x"); strings.Trim(label, "0123456789") == "" || hex && strings.Trim(digits, "0123456789abcdef") == "" {
		return errors.New("ends in a number and is not an address")
	}
	return nil
}

// publicSuffix says whether strangers register names directly beneath suffix:
// a top-level domain, a country's second level (co.uk), or a service whose
// customers choose names (github.io; rows [[suffix]] of data/hosts.toml).
func publicSuffix(suffix string) (reason string, ok bool) {
	before, last := cutDot(suffix)
	if before == "" {
		return "a top-level domain", true
	}
	if len(last) == 2 && !strings.Contains(before, ".") {
		for _, row := range secondLevelRows {
			if row.Label == before {
				return row.Reason, true
			}
		}
	}
	for _, row := range suffixRows {
		if endsIn(row.Name, suffix) {
			return row.Reason, true
		}
	}
	return "", false
}

// endsIn says whether suffix is the last labels of a row's name, where "*" stands for
// any label.
func endsIn(name, suffix string) bool {
	for {
		var n, s string
		name, n = cutDot(name)
		suffix, s = cutDot(suffix)
		switch {
		case n != s && n != "*":
			return false
		case suffix == "":
			return true
		case name == "":
			return false
		}
	}
}

// cutDot splits a name at its last dot; without one, everything is last.
func cutDot(name string) (before, last string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}
