package hook

import "skillrun/policy"

// copilot are the forms of GitHub Copilot CLI. Silence leaves a call to its own
// rules and questions, as a command in the place of its own does: "allow" would
// skip them. "ask" is a refusal, since not every host of its hooks asks (github/app
// issue 228), and none does without a terminal.
type copilot struct{}

func (copilot) before(e *Event, a *Answer) []byte {
	switch a.Effect {
	case policy.Allow:
		if input := e.rewritten(a.Command); input != nil {
			return members("modifiedArgs", input)
		}
		return nil
	case policy.Confirm:
		return members("permissionDecision", "deny", "permissionDecisionReason", a.Reason+cannotAsk)
	}
	return members("permissionDecision", "deny", "permissionDecisionReason", a.Reason)
}

// permission and after have no event that is registered: its calls have no names, by
// which what became of one could be found.
func (c copilot) permission(e *Event, a *Answer) []byte { return c.before(e, a) }

func (copilot) after(*Event, *Answer) []byte { return nil }

func (copilot) start(_ *Event, a *Answer) []byte {
	if a.Context == "" {
		return nil
	}
	return members("additionalContext", a.Context)
}

func (copilot) asks(*Event) bool { return false }
