package hook

import "skillrun/policy"

// generic are the forms of hosts without an adapter of their own: always one
// object, whose decision is "allow", "ask" or "deny".
type generic struct{}

func (generic) before(e *Event, a *Answer) []byte {
	input := e.rewritten(a.Command)
	if a.Effect == policy.Deny {
		input = nil
	}
	return members("decision", decision(a.Effect), "reason", a.Reason, "input", input, "context", a.Context)
}

func decision(effect policy.Effect) string {
	switch effect {
	case policy.Allow:
		return "allow"
	case policy.Confirm:
		return "ask"
	}
	return "deny"
}

func (g generic) permission(e *Event, a *Answer) []byte { return g.before(e, a) }

func (generic) after(e *Event, a *Answer) []byte {
	return members("decision", decision(a.Effect), "reason", a.Reason, "output", e.redacted(a.Redact), "context", a.Context)
}

func (generic) start(e *Event, a *Answer) []byte {
	return members("decision", decision(a.Effect), "reason", a.Reason, "context", a.Context)
}

func (generic) asks(*Event) bool { return true }
