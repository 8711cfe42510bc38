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
		pairs := append([]any{f.event, name, f.session, session, f.cwd, cwd, f.mode, "default"}, more...)
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == "" {
				pairs[i+1] = nil // a member that the agent does not send
			}
		}
		return members(pairs...)
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

// Denies says that a reply before a tool is a refusal, in its words or by its exit
// code.
func (r *Reply) Denies() bool {
	v, err := parseJSON(r.Stdout, false)
	if err != nil {
		return r.Code == 2
	}
	for _, name := range [...]string{"permission", "permissionDecision", "decision"} {
		for _, said := range [...]*value{v.Get(name), v.Get("hookSpecificOutput").Get(name)} {
			if said != nil && said.Text == "deny" {
				return true
			}
		}
	}
	return r.Code == 2
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
	if c := v.Get("command"); c != nil && c.Kind == '"' {
		return c.Text
	}
	for i := range v.Members {
		if c := commandIn(&v.Members[i].Value); c != "" {
			return c
		}
	}
	return ""
}
