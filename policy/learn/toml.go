package learn

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"skillrun/policy"
)

// write adds the entry: what it is and where it was seen, as comments, and its lines,
// as comments too if it is aside. There is nothing of the skill's in a line but a word,
// or a string that has nothing in it to escape but quotes.
func (e *entry) write(b *strings.Builder) {
	c := policy.Lookup(e.capability)
	fmt.Fprintf(b, "\n# %s: %s\n", c.Name, c.About)
	if why := e.why(c); why != "" {
		fmt.Fprintf(b, "# %s\n", why)
	}
	for _, seen := range e.seen {
		fmt.Fprintf(b, "#   %s\n", seen)
	}
	if e.more > 0 {
		fmt.Fprintf(b, "#   and %d more\n", e.more)
	}
	mark := ""
	switch {
	case e.kind == idle:
		return
	case e.aside():
		mark = "#"
	}
	fmt.Fprintf(b, "%s[[permissions]]\n%scapability = %q\n%seffect = \"confirm\"\n", mark, mark, c.Name, mark)
	if constraints := e.constraints(c); constraints != "" {
		fmt.Fprintf(b, "%sconstraints = {%s}\n", mark, constraints)
	}
}

// aside says that the entry is for the author to decide.
func (e *entry) aside() bool {
	return e.kind >= aside || e.kind == named && len(e.items()) == 0
}

// why says what keeps an entry from being proposed as it is; "" if nothing does.
func (e *entry) why(c *policy.Capability) string {
	switch group, _, _ := strings.Cut(c.Name, "."); {
	case !c.Enforced():
		return c.Why
	case !e.aside():
		return ""
	case e.kind == outside:
		return "outside of the workspace; \"~\" in a run is its own, unless this is granted"
	case c.Name == "filesystem.delete":
		return "for what was there before: what a run makes it may delete"
	case c.Name == "commit.push", c.Name == "package.install":
		return "for those who need it; it is asked about each time"
	case c.Group == "Network":
		return "the host is decided at run time: name those that it may be"
	case c.Group == "Secrets":
		return "a secret: the user gives it away by a yes to this"
	case c.Name == "env_var.read":
		return "name the variables"
	case group == "container" || group == "screen":
		return "no manifest gives it: whoever runs the skill grants the socket by name"
	}
	return "for those who need it"
}

// constraints are what holds the entry to what was seen.
func (e *entry) constraints(c *policy.Capability) string {
	switch {
	case e.kind == whole:
		return ""
	case e.kind == workspace, c.Name == "filesystem.delete" && e.kind == aside:
		return "workspace_only = true"
	case e.kind == aside && c.Group != "Network" && c.Group != "Secrets" && c.Name != "env_var.read":
		return ""
	}
	items := e.items()
	for i := range items {
		items[i] = `"` + strings.ReplaceAll(items[i], `"`, `\"`) + `"`
	}
	return "resource_scope = [" + strings.Join(items, ", ") + "]"
}

// items are those of the scope that a manifest can name and that are not all there is.
func (e *entry) items() (items []string) {
	network := policy.Lookup(e.capability).Group == "Network"
	for _, s := range e.scope {
		_, _, fault := policy.ParseHost(s)
		switch {
		case len(items) == maxScope, len(s) > maxWord, policy.Escape(s) != s, strings.ContainsRune(s, utf8.RuneError), s == "*", s == "/", s == "~", s == ".":
		case network && (fault != "" || strings.ContainsAny(s, "/?#")):
		case e.kind == outside && (strings.HasPrefix(s, "..") || strings.HasPrefix(s, "~") && !strings.HasPrefix(s, "~/")):
		default:
			items = append(items, s)
		}
	}
	return items
}

// word is a name from a skill as it may stand in a comment.
func word(s string) string {
	if s = policy.Escape(s); len(s) > maxWord {
		s = strings.ToValidUTF8(s[:maxWord], "") + "..."
	}
	return s
}
