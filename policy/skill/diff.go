package skill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Diff is what changed between an approved version and another, for the prompt
// that asks again.
type Diff struct {
	Added                             []Permission // capabilities that were not there
	Removed                           []Permission
	Wider                             []Permission // with the scopes that were not there; no scope: unbounded now
	Narrower                          []Permission // with the scopes that are gone
	NewFiles, GoneFiles, ChangedFiles []string     // sorted
}

// Compare gives the difference. Files are compared by contents, kind and link
// target; directories do not count.
func Compare(old, now []Permission, oldTree, nowTree []Entry) Diff {
	var d Diff
	before, after := scopes(old), scopes(now)
	for _, c := range sortedKeys(after) {
		was, had := before[c]
		is := after[c]
		switch {
		case !had:
			d.Added = append(d.Added, Permission{c, is})
		case len(is) == 0 && len(was) > 0:
			d.Wider = append(d.Wider, Permission{Capability: c})
		case len(was) == 0 && len(is) > 0:
			d.Narrower = append(d.Narrower, Permission{Capability: c})
		default:
			if more := without(is, was); len(more) > 0 {
				d.Wider = append(d.Wider, Permission{c, more})
			}
			if less := without(was, is); len(less) > 0 {
				d.Narrower = append(d.Narrower, Permission{c, less})
			}
		}
	}
	for _, c := range sortedKeys(before) {
		if _, has := after[c]; !has {
			d.Removed = append(d.Removed, Permission{c, before[c]})
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
// did not have.
func (d *Diff) Escalates() bool { return len(d.Added)+len(d.Wider) > 0 }

// Empty says whether nothing changed.
func (d *Diff) Empty() bool {
	return !d.Escalates() && len(d.Removed)+len(d.Narrower)+len(d.NewFiles)+len(d.GoneFiles)+len(d.ChangedFiles) == 0
}

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
			line := g.sign + show(p.Capability)
			for i, s := range p.Scope {
				line += [...]string{": ", ", "}[min(i, 1)] + show(s)
			}
			if len(p.Scope) == 0 {
				line += g.bare
			}
			out = append(out, line)
		}
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

// show quotes what is not plain.
func show(s string) string {
	q := strconv.Quote(s)
	if q == `"`+s+`"` && !strings.ContainsAny(s, " ,") {
		return s
	}
	return q
}
