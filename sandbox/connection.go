package sandbox

import (
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
		Time: v.Start, Host: host, Port: port, Why: v.Reason.Text(), Grantable: v.Reason.Grantable(),
		Verdict: profiles.Verdict{Host: v.Rule}, What: string(v.Door) + " " + string(v.Reason),
	})
}
