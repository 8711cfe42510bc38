package hook

// Probe gives events as the agent would send them, for trying a registration: a
// session that starts, and the use of its shell for a command.
func (a *Agent) Probe(session, cwd, command string) (start, before []byte) {
	f := &a.fields
	event := func(kind Kind, more ...any) []byte {
		name := ""
		for _, n := range a.events {
			if n.kind == kind {
				name = n.name
				break
			}
		}
		return members(append([]any{f.event, name, f.session, session, f.cwd, cwd, f.mode, "default"}, more...)...)
	}
	shell := ""
	for _, t := range a.tools {
		if t.kind == shellCommand {
			shell = t.Name
			break
		}
	}
	return event(SessionStart, "source", "startup"),
		event(BeforeTool, f.tool, shell, f.call, "probe", f.input, members("command", command))
}

// Command finds the command that a reply puts in the place of the agent's, ""
// if there is none.
func (r *Reply) Command() string {
	v, err := parseJSON(r.Stdout, false)
	if err != nil {
		return ""
	}
	return commandIn(&v)
}

func commandIn(v *value) string {
	if c := v.get("command"); c != nil && c.kind == '"' {
		return c.text
	}
	for i := range v.members {
		if c := commandIn(&v.members[i].value); c != "" {
			return c
		}
	}
	return ""
}
