package hook

import "skillrun/policy"

// claude are the forms of Claude Code. Silence leaves a call to its own rules
// and questions; "allow" skips its question, and never its deny and ask rules.
type claude struct{}

// specific is a member hookSpecificOutput for the event.
func specific(e *Event, pairs ...any) []byte {
	return members("hookSpecificOutput", members(append([]any{"hookEventName", e.wire}, pairs...)...))
}

func (c claude) before(e *Event, a *Answer) []byte {
	decision, input := "", e.rewritten(a.Command)
	switch {
	case a.Effect == policy.Deny:
		return specific(e, "permissionDecision", "deny", "permissionDecisionReason", a.Reason)
	case a.Effect == policy.Confirm && !c.asks(e):
		return specific(e, "permissionDecision", "deny", "permissionDecisionReason", a.Reason+" (the user would have to be asked, and mode "+policy.Escape(e.Mode)+" is not known to do that: the user can switch to Manual mode, \"default\", or allow it)")
	case a.Effect == policy.Confirm, input != nil && e.Mode == "plan":
		decision = "ask"
	case input != nil:
		// A rewritten input is taken with a decision only. What runs is confined.
		decision = "allow"
	case a.Context == "":
		return nil
	default:
		return specific(e, "additionalContext", a.Context)
	}
	return specific(e, "permissionDecision", decision, "permissionDecisionReason", a.Reason, "updatedInput", input, "additionalContext", a.Context)
}

// asks says whether the agent is known to put a question to its user in this
// mode, and not to answer it itself.
func (claude) asks(e *Event) bool {
	return e.Mode == "" || e.Mode == "default" || e.Mode == "plan" || e.Mode == "acceptEdits"
}

func (claude) permission(e *Event, a *Answer) []byte {
	if a.Effect != policy.Deny {
		return nil // the user is asked
	}
	return specific(e, "decision", members("behavior", "deny", "message", a.Reason))
}

func (claude) after(e *Event, a *Answer) []byte {
	output := e.redacted(a.Redact)
	if a.Effect == policy.Deny {
		return members("decision", "block", "reason", a.Reason,
			"hookSpecificOutput", members("hookEventName", e.wire, "additionalContext", a.Context, "updatedToolOutput", output))
	}
	if output == nil && a.Context == "" {
		return nil
	}
	return specific(e, "additionalContext", a.Context, "updatedToolOutput", output)
}

func (claude) start(e *Event, a *Answer) []byte {
	if a.Context == "" {
		return nil
	}
	return specific(e, "additionalContext", a.Context)
}
