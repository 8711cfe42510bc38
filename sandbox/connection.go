package sandbox

import (
	"net/netip"

	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// connection passes a verdict of the gate on.
func (s *Spec) connection(v egress.Verdict) {
	if s.Connected != nil {
		s.Connected(v)
	}
	if v.Allowed || s.Refused == nil || v.Reason == egress.Unreachable {
		return
	}
	host, port := v.Name, v.Port
	if v.Door == egress.DoorDNS {
		port = 0
	}
	if host == "" {
		if !v.Addr.IsValid() {
			return // nothing was asked for that could be understood
		}
		host = v.Addr.String()
	}
	s.Refused(Refusal{
		Host: host, Port: port, Why: v.Reason.Text(), Grantable: v.Reason.Grantable(), Private: private(&v),
		Verdict: profiles.Verdict{Host: v.Rule}, What: string(v.Door) + " " + string(v.Reason),
	})
}

// private gives the address and port that would have to be granted for a name that
// is, and that stands for a private address, as in a company's own network, or for one
// of this machine. It is "" for special addresses, such as those that clouds keep
// credentials at.
func private(v *egress.Verdict) string {
	if v.Reason != egress.NotPublic || !v.Addr.IsPrivate() && !profiles.Public(v.Addr) {
		return ""
	}
	port := v.Port
	if v.Door == egress.DoorDNS {
		if v.Rule == nil || len(v.Rule.Ports) == 0 {
			return ""
		}
		port = v.Rule.Ports[0].First
		for _, r := range v.Rule.Ports {
			if r.First <= 443 && 443 <= r.Last {
				port = 443 // what a name is reached at whose grant has several
			}
		}
	}
	return netip.AddrPortFrom(v.Addr, port).String()
}
