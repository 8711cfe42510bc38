package hook

import "skillrun/policy"

// cursor are the forms of Cursor. What its settings have fail closed blocks without
// a word, so that each answer says something. "ask" counts for "allow" before a
// tool, and for "deny" before a shell command. Its model reads user_message;
// the documentation says that it reads agent_message.
type cursor struct{}

func (cursor) before(e *Event, a *Answer) []byte {
	reason := a.Reason
	switch a.Effect {
	case policy.Allow:
		return members("permission", "allow", "updated_input", e.rewritten(a.Command))
	case policy.Confirm:
		reason += cannotAsk
	}
	return members("permission", "deny", "user_message", reason, "agent_message", reason)
}

func (c cursor) permission(e *Event, a *Answer) []byte { return c.before(e, a) }

// after cannot take anything out of what a tool gave.
func (cursor) after(_ *Event, a *Answer) []byte {
	if a.Effect == policy.Deny {
		return members("additional_context", a.Reason+separated(a.Context))
	}
	return members("additional_context", a.Context)
}

func (cursor) start(_ *Event, a *Answer) []byte { return members("additional_context", a.Context) }

func (cursor) asks(*Event) bool { return false }
