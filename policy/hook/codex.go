package hook

import "skillrun/policy"

// codex are the forms of Codex. It runs the command as it was when an answer is
// not of a form that it knows: "ask", "allow" without an input, an input without
// "allow", a refusal without a reason, "continue": false. So nothing is said
// that is not needed, and a question is a refusal.
type codex struct{}

func (codex) before(e *Event, a *Answer) []byte {
	input := e.rewritten(a.Command)
	switch {
	case a.Effect == policy.Deny:
		return specific(e, "permissionDecision", "deny", "permissionDecisionReason", a.Reason)
	case a.Effect == policy.Confirm:
		return specific(e, "permissionDecision", "deny", "permissionDecisionReason", a.Reason+cannotAsk)
	case input != nil:
		return specific(e, "permissionDecision", "allow", "updatedInput", input, "additionalContext", a.Context)
	case a.Context != "":
		return specific(e, "additionalContext", a.Context)
	}
	return nil
}

// cannotAsk ends the refusal of what the user would have to be asked about.
const cannotAsk = " (the user would have to be asked, and this agent's hooks cannot: ask the user to allow it)"

func (codex) permission(e *Event, a *Answer) []byte { return claude{}.permission(e, a) }

// after replaces what the tool gave by the reason where it must: there is no
// other way to take something out.
func (codex) after(e *Event, a *Answer) []byte {
	output := e.redacted(a.Redact)
	switch {
	case a.Effect == policy.Deny:
		return members("decision", "block", "reason", a.Reason)
	case output != nil:
		return members("decision", "block", "reason", "skillrun: the result held secrets, and without them it is: "+string(output)+separated(a.Context))
	case a.Context != "":
		return specific(e, "additionalContext", a.Context)
	}
	return nil
}

func separated(s string) string {
	if s == "" {
		return ""
	}
	return "\n" + s
}

func (codex) start(e *Event, a *Answer) []byte { return claude{}.start(e, a) }

func (codex) asks(*Event) bool { return false }
