package sbpl

import (
	"fmt"
	"slices"
	"strings"
)

// Query asks about one operation on one object. In the notation of
// sbpl-eval a Query is one line, see [Query.String].
type Query struct {
	Operation string
	// Object is, by operation: a canonical path (file-*, process-exec*); an
	// address "tcp:HOST:PORT", "udp:HOST:PORT" or "unix:PATH" (network-*); a
	// name (mach-lookup, sysctl-*, ipc-posix-*); "self", "same-sandbox",
	// "children" or "others" (signal, process-info-*). Empty if there is none.
	Object string
	// Facts are further things known of the object: "socket-domain".
	Facts map[string]string
}

// objects says which fact the object of an operation is, by name prefix.
var objects = [...][2]string{
	{"file-", "path"}, {"process-exec", "path"}, {"mach-priv-task-port", "target"}, {"mach-task-name", "target"},
	{"mach-", "global-name"}, {"sysctl", "sysctl-name"}, {"ipc-posix", "ipc-posix-name"}, {"signal", "target"},
	{"process-info", "target"}, {"network", "address"}, {"iokit", "iokit-registry-entry-class"}, {"user-preference", "preference-domain"},
	{"managed-preference", "preference-domain"}, {"load-", "path"}, {"process-codesigning", "target"}, {"qtn-", "path"}, {"system-automount", "path"},
	{"distributed-", "notification-name"}, {"darwin-", "notification-name"}, {"nvram", "nvram-variable"}, {"authorization", "right-name"}, {"appleevent", "appleevent-destination"},
}

// String writes the query as sbpl-eval reads it.
func (q Query) String() string {
	var b strings.Builder
	b.WriteString(q.Operation)
	if q.Object != "" {
		b.WriteString(" " + shellQuote(q.Object))
	}
	keys := make([]string, 0, len(q.Facts))
	for k := range q.Facts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b.WriteString(" " + shellQuote(k+"="+q.Facts[k]))
	}
	return b.String()
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Answer is what a policy decides about a Query.
type Answer struct {
	Allowed bool
	// Ambiguous says that the beliefs about rule order differ here.
	Ambiguous bool
	// Line is the line of the policy that decided: the filter that matched,
	// else the rule; 0 if what is built in decided.
	Line int
	// Text is that line without its comment, Comment the comment on it or,
	// if there is none, above it.
	Text, Comment string
}

// Evaluate answers a query. It fails on an operation or an object that the
// release does not know.
//
// The answer is that of the operation tree: of the rules that name exactly the
// operation the last whose filter matches, else the last without filter, else
// what is built in, else the same for the parent. Ambiguous compares it with a
// tree where rules without filter take their turn, and with "the last rule
// that matches wins".
func Evaluate(p *Policy, q Query) (Answer, error) {
	op, ok := p.ops[q.Operation]
	if !ok {
		return Answer{}, fmt.Errorf("unknown operation %q", q.Operation)
	}
	x := &asked{op: op.name, facts: map[string]string{}}
	for k, v := range q.Facts {
		x.facts[k] = v
	}
	if q.Object != "" {
		if err := x.object(q.Object); err != nil {
			return Answer{}, fmt.Errorf("%s: %w", q.Operation, err)
		}
	}
	allow, at := p.tree(op, x, true)
	ordered, _ := p.tree(op, x, false)
	flat := p.flat(op, x)
	a := Answer{Allowed: allow, Ambiguous: allow != ordered || allow != flat, Line: at.line}
	a.Text, a.Comment = p.describe(at)
	return a, nil
}

// tree decides by the operation tree. With bareLast a rule without filter is
// its operation's default; else it takes its turn.
func (p *Policy) tree(op *operation, x *asked, bareLast bool) (allow bool, at site) {
	for ; ; op = p.ops[op.parent] {
		bare := -1
		for i := len(p.rules) - 1; i >= 0; i-- {
			r := &p.rules[i]
			if !slices.Contains(r.ops, op.name) {
				continue
			}
			if len(r.filters) == 0 {
				if !bareLast {
					return r.allow, site{line: r.line}
				}
				if bare < 0 {
					bare = i
				}
				continue
			}
			if at := r.matches(x); at.line > 0 {
				return r.allow, at
			}
		}
		if bare >= 0 {
			return p.rules[bare].allow, site{line: p.rules[bare].line}
		}
		if op.builtin != inherit {
			return op.builtin == allowed, site{}
		}
	}
}

// flat decides by the last rule that matches, wildcard or not.
func (p *Policy) flat(op *operation, x *asked) bool {
	var names []string
	for o := op; o.parent != ""; o = p.ops[o.parent] {
		names = append(names, o.name)
	}
	for i := len(p.rules) - 1; i >= 0; i-- {
		r := &p.rules[i]
		named := slices.ContainsFunc(r.ops, func(o string) bool { return slices.Contains(names, o) })
		if named && (len(r.filters) == 0 || r.matches(x).line > 0) {
			return r.allow
		}
	}
	if op.builtin != inherit {
		return op.builtin == allowed
	}
	for i := len(p.rules) - 1; i >= 0; i-- {
		if r := &p.rules[i]; slices.Contains(r.ops, "default") && len(r.filters) == 0 {
			return r.allow
		}
	}
	return false
}

// site is where in the text a decision was taken.
type site struct{ line, index, count int }

// matches gives the site of the filter that applies, no line if none does.
func (r *rule) matches(x *asked) site {
	for i := range r.filters {
		if r.filters[i].holds(x) == yes {
			return r.filters[i].site(x)
		}
	}
	return site{}
}

// site gives where a filter that holds does so: in the part that stands on a
// line of its own.
func (f *filter) site(x *asked) site {
	for i := range f.parts {
		if p := &f.parts[i]; f.kind != not && p.holds(x) == yes {
			if at := p.site(x); at.line != f.line {
				return at
			}
		}
	}
	return site{f.line, f.index, f.count}
}

// describe gives the text of a line and the comment that explains it: of the
// notes behind the line's filters the one of the filter (without its source,
// if that is the one before's), else what stands there, else what stands above.
func (p *Policy) describe(at site) (text, comment string) {
	line := at.line
	if line < 1 || line > len(p.lines) {
		return "", ""
	}
	text, _, _ = strings.Cut(p.lines[line-1], ";")
	text = strings.TrimSpace(text)
	if notes := strings.Split(p.comments[line], " | "); len(notes) == at.count {
		n := notes[at.index]
		for i := at.index; strings.HasPrefix(n, ", ") && i > 0; i-- {
			if source, _, ok := strings.Cut(notes[i-1], ", "); ok && source != "" {
				n = source + n
			}
		}
		return text, n
	}
	for ; line > 0 && strings.TrimSpace(p.lines[line-1]) != ""; line-- {
		if c := p.comments[line]; c != "" {
			return text, c
		}
	}
	return text, ""
}
