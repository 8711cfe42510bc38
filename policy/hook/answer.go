package hook

import (
	"slices"

	"skillrun/policy"
)

// Answer is what is said to an event. The zero Answer refuses.
type Answer struct {
	Effect policy.Effect
	// Reason is for the model and the user: one line, escaped.
	Reason string
	// Command stands in the place of the shell command; "" leaves it.
	Command string
	// Context is told to the model besides; "" is nothing.
	Context string
	// Redact changes each text of what a tool gave; nil leaves it.
	Redact func(string) string
}

// Reply is an answer in the words of an agent. Stdout holds one JSON object, or
// nothing.
type Reply struct {
	Stdout, Stderr []byte
	Code           int
}

// forms are the answers of one agent.
type forms interface {
	// before answers BeforeTool, permission Permission, after AfterTool.
	before(e *Event, a *Answer) []byte
	permission(e *Event, a *Answer) []byte
	after(e *Event, a *Answer) []byte
	// start answers SessionStart, which no agent lets a hook refuse.
	start(e *Event, a *Answer) []byte
	// asks says whether its user can be asked about the use of a tool.
	asks(e *Event) bool
}

// Asks says whether the agent is known to put a question about an event to its user.
func (a *Agent) Asks(e *Event) bool { return a.forms.asks(e) }

// Reply writes an answer. What the agent cannot be told is refused: a question
// where it asks nobody, above all.
func (a *Agent) Reply(e *Event, ans Answer) Reply {
	if ans.Reason == "" {
		if ans.Reason = "not allowed"; ans.Effect == policy.Allow {
			ans.Reason = "allowed"
		}
	}
	if e.fixed && ans.Command != "" && ans.Effect == policy.Allow {
		ans.Effect, ans.Reason = policy.Deny, Instead(ans.Command)
	}
	ans.Reason = "skillrun: " + ans.Reason
	r := Reply{}
	switch e.Kind {
	case SessionStart:
		r.Stdout = a.forms.start(e, &ans)
		if ans.Effect == policy.Deny {
			r.Stderr, r.Code = []byte(ans.Reason+"\n"), 2
		}
	case BeforeTool:
		r.Stdout = a.forms.before(e, &ans)
	case Permission:
		r.Stdout = a.forms.permission(e, &ans)
	case AfterTool:
		r.Stdout = a.forms.after(e, &ans)
	default:
		return a.Refuse(e, ans.Reason)
	}
	if len(r.Stdout) > 0 {
		r.Stdout = append(r.Stdout, '\n')
	}
	return r
}

// Instead is the reason of a refusal that names the command to run.
func Instead(command string) string {
	return "allowed, through skillrun: run this instead, as it stands: " + command
}

// Changed is the reason of a refusal of such a command that does not stand as it was
// named.
const Changed = "this is not the line that skillrun named: run that line to the letter and alone; for any other command ask with the command itself, without skillrun before it"

// Refuse is the agent's own refusal, for what went wrong: its JSON, and exit
// code 2 with the reason on stderr for those that read that; the JSON alone where
// the code would hide the reason. After a tool there is
// nothing to refuse, and its result is withheld. e may be nil, or as far as it was
// understood.
func (a *Agent) Refuse(e *Event, reason string) Reply {
	if e == nil {
		e = &Event{}
	}
	kind := e.Kind
	if kind == Unknown {
		// Every agent takes this form for a refusal of what it asks most.
		kind = BeforeTool
	}
	known := *e
	known.Kind = kind
	if known.wire == "" || e.Kind == Unknown {
		for _, n := range a.events {
			if n.kind == kind {
				known.wire = n.name
			}
		}
	}
	r := a.Reply(&known, Answer{Reason: reason, Redact: func(string) string { return "withheld: skillrun could not check it" }})
	r.Stderr, r.Code = append([]byte("skillrun: "+reason), '\n'), 2
	if kind == AfterTool && a.ReadsSuccess || kind == BeforeTool && a.SaysWhy {
		r.Code = 0
	}
	return r
}

// object is a JSON object of names and values in turn: a string, JSON as
// []byte, or nil. Members without a value are left out.
func members(pairs ...any) []byte {
	b := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		var text []byte
		switch v := pairs[i+1].(type) {
		case string:
			if v != "" {
				text = quoteJSON(nil, v)
			}
		case []byte:
			text = v
		}
		if text == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(quoteJSON(b, pairs[i].(string)), ':')
		b = append(b, text...)
	}
	return append(b, '}')
}

// rewritten is the tool's input with another command, all else as it was; nil if
// the command stays.
func (e *Event) rewritten(command string) []byte {
	if command == "" || e.Command() == "" || e.fixed {
		return nil
	}
	v := e.input.Get(e.Row.arguments[0])
	b := append([]byte(nil), e.source[e.input.Start:v.Start]...)
	b = quoteJSON(b, command)
	return append(b, e.source[v.End:e.input.End]...)
}

// redacted is what the tool gave with each text changed; nil if nothing changes.
// Its shape stays, since agents know each tool's, and may go on with what the tool
// gave if they do not find it.
func (e *Event) redacted(change func(string) string) []byte {
	if change == nil || e.output == nil {
		return nil
	}
	b, changed := redact(e.data, e.output, change)
	if !changed {
		return nil
	}
	return b
}

// shapes are what a member "type" says of the object that it is in: in MCP's content
// blocks, and in the results of Claude Code's Read and Write.
var shapes = [...]string{
	"audio", "base64", "image", "resource", "resource_link", "text",
	"create", "file_unchanged", "notebook", "parts", "pdf", "update",
	"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp",
}

func redact(data []byte, v *value, change func(string) string) (b []byte, changed bool) {
	if v.Kind == '"' {
		text := change(v.Text)
		return quoteJSON(nil, text), text != v.Text
	}
	last := v.Start
	next := func(part *value) {
		text, c := redact(data, part, change)
		b = append(append(b, data[last:part.Start]...), text...)
		last, changed = part.End, changed || c
	}
	for i := range v.Items {
		next(&v.Items[i])
	}
	for i := range v.Members {
		if m := &v.Members[i]; m.Name != "type" || !slices.Contains(shapes[:], m.Value.Text) {
			next(&m.Value)
		}
	}
	return append(b, data[last:v.End]...), changed
}
