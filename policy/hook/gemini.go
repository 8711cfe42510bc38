package hook

import "skillrun/policy"

// gemini are the forms of Gemini CLI. What is no JSON on stdout counts as yes,
// and there is no question that a hook can put.
type gemini struct{}

func (gemini) before(e *Event, a *Answer) []byte {
	switch a.Effect {
	case policy.Allow:
		if a.Command == "" || e.Command() == "" {
			return members()
		}
		// Merged over the model's arguments.
		return members("hookSpecificOutput", members("tool_input", members("command", a.Command)))
	case policy.Confirm:
		return members("decision", "deny", "reason", a.Reason+cannotAsk)
	}
	return members("decision", "deny", "reason", a.Reason)
}

func (g gemini) permission(e *Event, a *Answer) []byte { return g.before(e, a) }

// after replaces what the tool gave by the reason of a refusal, which is the
// form that all versions know.
func (gemini) after(e *Event, a *Answer) []byte {
	output := e.redacted(a.Redact)
	switch {
	case a.Effect == policy.Deny:
		return members("decision", "deny", "reason", a.Reason)
	case output != nil:
		return members("decision", "deny", "reason", "skillrun: the result held secrets, and without them it is: "+string(output)+separated(a.Context))
	case a.Context != "":
		return members("hookSpecificOutput", members("additionalContext", a.Context))
	}
	return members()
}

func (gemini) start(e *Event, a *Answer) []byte {
	if a.Context == "" {
		return members()
	}
	return members("hookSpecificOutput", members("additionalContext", a.Context))
}

func (gemini) asks(*Event) bool { return false }
