package policy

import (
	"path"
	"time"
)

// SessionConfig is what a configuration says about agents' sessions:
//
//	[session]
//	defaults = "defaults.json"        # what seeds a session: the paper's DefaultsDocument
//	ask = "host"                      # host, deny, terminal, or ["/abs/program", "arg"]
//	risky = "none"                    # the risk from which on a call is asked although allowed
//	guard = ["/abs/program"]          # answers what the guard table wants looked at
//	task_scope = ["/abs/program"]     # narrows the pool for each task
//	task_scope_failure = "deny"       # or keep: the pool stays as it is
//	deadline = "5s"                   # of each of these programs
//	shared = ["~/shared"]             # directories with the role "shared"
//	undeclared = { system = "deny" }  # by level; "confirm" where it says nothing
//
// Zero values are as if the key were not there.
type SessionConfig struct {
	Defaults   Text
	Ask        string   // "", "host", "deny", "terminal", "command"
	AskCommand []string // with "command"
	Risky      Risk
	HasRisky   bool
	Guard      []string
	Scope      []string
	ScopeFails string // "", "deny", "keep"
	Deadline   time.Duration
	Shared     []string
	Undeclared map[Level]Effect // nil if it says nothing
}

func decodeSession(n *node) (c SessionConfig, err error) {
	if err = n.table("session", "defaults", "ask", "risky", "guard", "task_scope", "task_scope_failure", "deadline", "shared", "undeclared"); err != nil {
		return c, err
	}
	for i := range n.keys {
		switch v := &n.keys[i].node; n.keys[i].name {
		case "defaults":
			c.Defaults.Pos = v.pos
			c.Defaults.Value, err = v.str()
		case "ask":
			c.Ask, c.AskCommand, err = decodeAsk(v)
		case "risky":
			c.HasRisky = true
			err = word(v, riskWords[:], &c.Risky)
		case "guard":
			c.Guard, err = v.program()
		case "task_scope":
			c.Scope, err = v.program()
		case "task_scope_failure":
			var keep uint8
			err = word(v, []string{"deny", "keep"}, &keep)
			c.ScopeFails = v.text
		case "deadline":
			var s string
			if s, err = v.str(); err == nil {
				if c.Deadline, err = time.ParseDuration(s); err != nil || c.Deadline <= 0 || c.Deadline > time.Hour {
					err = errorAt(v.pos, "%q is not a time like 5s, of at most an hour", s)
				}
			}
		case "shared":
			c.Shared, err = v.strings()
		case "undeclared":
			c.Undeclared, err = decodeUndeclared(v)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

func decodeAsk(n *node) (string, []string, error) {
	if n.kind == listNode {
		argv, err := n.program()
		return "command", argv, err
	}
	var i uint8
	err := word(n, []string{"host", "deny", "terminal"}, &i)
	return n.text, nil, err
}

// program is a command: an absolute path and its arguments.
func (n *node) program() ([]string, error) {
	argv, err := n.strings()
	if err == nil && (len(argv) == 0 || !path.IsAbs(argv[0])) {
		err = errorAt(n.pos, "a program is a list that begins with an absolute path")
	}
	return argv, err
}

func decodeUndeclared(n *node) (map[Level]Effect, error) {
	if err := n.table("undeclared", levelWords[1:]...); err != nil {
		return nil, err
	}
	m := AskUndeclared()
	for l := Normal; l <= Redact; l++ {
		if v := n.get(l.String()); v != nil {
			effect, err := decodeEffect(v)
			if err != nil {
				return nil, err
			}
			if effect == Allow && l != Normal {
				return nil, errorAt(v.pos, "what is undeclared and %s cannot be allowed: to allow more, use grants", l)
			}
			m[l] = effect
		}
	}
	return m, nil
}
