package skill

import (
	"fmt"
	"slices"
	"strings"

	"skillrun/policy"
)

// Diff is what changed between an approved version and another, for the prompt
// that asks again.
type Diff struct {
	Added                             []Permission // capabilities that were not there
	Removed                           []Permission
	Wider                             []Permission // with the scopes that were not there; no scope: unbounded now
	Narrower                          []Permission // with the scopes that are gone
	Altered                           []Permission // with other terms now, as a whole or for a scope
	NewFiles, GoneFiles, ChangedFiles []string     // sorted
}

// Compare gives the difference. Files are compared by contents, kind and link
// target; directories do not count.
func Compare(old, now []Permission, oldTree, nowTree []Entry) Diff {
	var d Diff
	before, after := scopes(old), scopes(now)
	wasTerms, isTerms := terms(old), terms(now)
	for _, c := range sortedKeys(after) {
		was, had := before[c]
		is := after[c]
		switch {
		case !had:
			d.Added = append(d.Added, Permission{Capability: c, Scope: is})
		case len(is) == 0 && len(was) > 0:
			d.Wider = append(d.Wider, Permission{Capability: c})
		case len(was) == 0 && len(is) > 0:
			d.Narrower = append(d.Narrower, Permission{Capability: c})
		default:
			if more := without(is, was); len(more) > 0 {
				d.Wider = append(d.Wider, Permission{Capability: c, Scope: more})
			}
			if less := without(was, is); len(less) > 0 {
				d.Narrower = append(d.Narrower, Permission{Capability: c, Scope: less})
			}
		}
	}
	for _, c := range sortedKeys(isTerms) {
		was, is := wasTerms[c], isTerms[c]
		if was != nil && was[allScopes] != is[allScopes] {
			d.Altered = append(d.Altered, Permission{Capability: c, Terms: is[allScopes]})
			continue
		}
		// The same terms, and for other scopes.
		for _, s := range sortedKeys(is) {
			if t, had := was[s]; had && t != is[s] {
				p := Permission{Capability: c, Terms: is[s]}
				if s != "" {
					p.Scope = []string{s}
				}
				d.Altered = append(d.Altered, p)
			}
		}
	}
	for _, c := range sortedKeys(before) {
		if _, has := after[c]; !has {
			d.Removed = append(d.Removed, Permission{Capability: c, Scope: before[c]})
		}
	}
	was := map[string]Entry{}
	for _, e := range oldTree {
		if e.Kind != Dir {
			was[e.Path] = e
		}
	}
	for _, e := range nowTree {
		o, had := was[e.Path]
		delete(was, e.Path)
		switch {
		case e.Kind == Dir && !had:
		case e.Kind == Dir:
			d.GoneFiles = append(d.GoneFiles, e.Path)
		case !had:
			d.NewFiles = append(d.NewFiles, e.Path)
		case o != e:
			d.ChangedFiles = append(d.ChangedFiles, e.Path)
		}
	}
	d.GoneFiles = append(d.GoneFiles, sortedKeys(was)...)
	slices.Sort(d.GoneFiles)
	slices.Sort(d.NewFiles)
	slices.Sort(d.ChangedFiles)
	return d
}

// Escalates says whether the new version asks for anything that the old one
// did not have. Other terms count: which of two is wider is not always clear.
func (d *Diff) Escalates() bool { return len(d.Added)+len(d.Wider)+len(d.Altered) > 0 }

// Lines tells the difference to people, rights first, at most max names of
// files for each kind of change. Every line is printable.
func (d *Diff) Lines(max int) []string {
	var out []string
	for _, g := range []struct {
		sign string
		list []Permission
		bare string
	}{{"+ ", d.Added, ""}, {"+ ", d.Wider, " without a scope"}, {"- ", d.Removed, ""}, {"- ", d.Narrower, " without a scope"}} {
		for _, p := range g.list {
			line := g.sign + p.scoped(show(p.Capability))
			if len(p.Scope) == 0 {
				line += g.bare
			}
			out = append(out, line)
		}
	}
	for _, p := range d.Altered {
		line := "~ " + show(p.Capability)
		for _, s := range p.Scope {
			line += ": " + show(s)
		}
		if p.Terms == "" {
			line += " without terms"
		} else {
			line += " " + policy.Row(policy.Escape(p.Terms))
		}
		out = append(out, line)
	}
	for _, g := range []struct {
		word  string
		files []string
	}{{"new", d.NewFiles}, {"changed", d.ChangedFiles}, {"gone", d.GoneFiles}} {
		for i, f := range g.files {
			if i == max {
				out = append(out, fmt.Sprintf("  and %d more %s files", len(g.files)-max, g.word))
				break
			}
			out = append(out, "  "+g.word+" "+show(f))
		}
	}
	return out
}

func scopes(list []Permission) map[string][]string {
	m := map[string][]string{}
	for _, p := range list {
		have, seen := m[p.Capability]
		switch {
		case seen && len(have) == 0: // unbounded already
		case len(p.Scope) == 0:
			m[p.Capability] = nil
		default:
			all := slices.Sorted(slices.Values(slices.Concat(have, p.Scope)))
			m[p.Capability] = slices.Compact(all)
		}
	}
	return m
}

func without(a, b []string) []string {
	var out []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// terms gives the terms of each capability as a whole, and for each of its scopes ("" for
// none), as one text whatever their order.
func terms(list []Permission) map[string]map[string]string {
	all := map[string]map[string][]string{}
	for _, p := range list {
		of := all[p.Capability]
		if of == nil {
			of = map[string][]string{}
			all[p.Capability] = of
		}
		of[allScopes] = append(of[allScopes], p.Terms)
		if len(p.Scope) == 0 {
			of[""] = append(of[""], p.Terms)
		}
		for _, s := range p.Scope {
			of[s] = append(of[s], p.Terms)
		}
	}
	m := map[string]map[string]string{}
	for c, of := range all {
		m[c] = map[string]string{}
		for s, l := range of {
			slices.Sort(l)
			m[c][s] = strings.Join(slices.Compact(l), "; ")
		}
	}
	return m
}

// allScopes stands for a capability as a whole; no scope has a zero byte.
const allScopes = "\x00"

// String tells a permission to people, in a printable line.
func (p Permission) String() string {
	line := show(p.Capability)
	if p.Terms != "" {
		line += " " + policy.Row(policy.Escape(p.Terms))
	}
	return p.scoped(line)
}

func (p *Permission) scoped(line string) string {
	for i, s := range p.Scope {
		line += [...]string{": ", ", "}[min(i, 1)] + show(s)
	}
	return line
}

// show makes one word of a text.
func show(s string) string {
	e := policy.Row(policy.Escape(s))
	if e == "" || strings.ContainsAny(e, ` ,"`) {
		return `"` + strings.ReplaceAll(e, `"`, `\"`) + `"`
	}
	return e
}

// Permissions gives what composed entries allow, in the form that approvals
// keep. Denials and empty scopes allow nothing and are left out.
func Permissions(entries []policy.Entry) []Permission {
	var list []Permission
	for _, e := range entries {
		if e.Effect == policy.Deny || e.Constraints.Scoped && len(e.Constraints.Scope) == 0 {
			continue
		}
		p := Permission{Capability: e.Capability}
		for _, s := range e.Constraints.Scope {
			p.Scope = append(p.Scope, s.Value)
		}
		slices.Sort(p.Scope)
		// The key of the entry without its scope is its terms.
		e.Constraints.Scoped, e.Constraints.Scope = false, nil
		p.Terms = strings.TrimSpace(strings.TrimPrefix(e.Key(), e.Capability))
		list = append(list, p)
	}
	return list
}
