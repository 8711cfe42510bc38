package profiles

import (
	"slices"
	"strings"
)

const ofEnvironment = "built-in:environment"

// EnvDefaults gives the rules of the environment that every run starts from:
// the variables that are passed (language, terminal, build settings), and those
// that are not, whatever else is passed by a wildcard: variables that make
// programs run other code, and secrets.
func EnvDefaults() (pass, deny []EnvRule) {
	pass, deny = make([]EnvRule, 0, len(passRows)), make([]EnvRule, 0, len(steerRows)+len(denyRows))
	for _, row := range passRows {
		pass = append(pass, EnvRule{Name: row.Name, Origin: Origin{Source: ofEnvironment, Reason: row.Reason}})
	}
	for _, row := range steerRows {
		deny = append(deny, EnvRule{Name: row.Name, Origin: Origin{Source: ofEnvironment, Reason: row.Reason}})
	}
	for _, row := range denyRows {
		deny = append(deny, EnvRule{Name: row.Name, Origin: Origin{Source: ofEnvironment, Reason: row.Reason}})
	}
	return pass, deny
}

// Steers says that no rule withholds a variable but of those for what programs obey,
// as PYTHONPATH: it is no secret, and no way to others.
func (e *Env) Steers(name string) bool {
	return !slices.ContainsFunc(e.Deny, func(r EnvRule) bool {
		return matchName(r.Name, name) && (r.Origin.Source != ofEnvironment || !slices.ContainsFunc(steerRows, func(row steerRow) bool { return row.Name == r.Name }))
	})
}

// Obeyed says that programs obey a variable: that by it they run other code, or read and
// write elsewhere.
func Obeyed(name string) bool {
	return slices.ContainsFunc(steerRows, func(row steerRow) bool { return matchName(row.Name, name) })
}

// EnvKept gives those of the caller's variables that EnvDefaults denies and whose
// value chooses nothing, such as GIT_EDITOR=true, unless another denial is of them.
func EnvKept(h *Host, deny []EnvRule) (kept []EnvVar) {
	for _, row := range keepRows {
		value, ok := h.Env[row.Name]
		if ok && slices.Contains(row.Values, value) && !slices.ContainsFunc(deny, func(r EnvRule) bool {
			return r.Origin.Source != ofEnvironment && matchName(r.Name, row.Name)
		}) {
			kept = append(kept, EnvVar{Name: row.Name, Value: value, Origin: Origin{Source: ofEnvironment, Reason: row.Reason}})
		}
	}
	return kept
}

// Passes says whether the run receives the caller's variable name, and the rule
// that decided: nil if nothing names it. It is the reference meaning of Pass,
// Deny and Allow; values in Set are given whatever it says.
func (e *Env) Passes(name string) (bool, *EnvRule) {
	for i := range e.Allow {
		if e.Allow[i].Name == name {
			return true, &e.Allow[i]
		}
	}
	for i := range e.Deny {
		if matchName(e.Deny[i].Name, name) {
			return false, &e.Deny[i]
		}
	}
	for i := range e.Pass {
		if passes(e.Pass[i].Name, name) {
			return true, &e.Pass[i]
		}
	}
	return false, nil
}

// Lets says whether a variable gets into a run, as Passes does, and not why: of
// most variables nothing says that they pass, and the many denials need no look.
func (e *Env) Lets(name string) bool {
	if slices.ContainsFunc(e.Allow, func(r EnvRule) bool { return r.Name == name }) {
		return true
	}
	return slices.ContainsFunc(e.Pass, func(r EnvRule) bool { return passes(r.Name, name) }) &&
		!slices.ContainsFunc(e.Deny, func(r EnvRule) bool { return matchName(r.Name, name) })
}

// passes says whether a name of Pass, which may end in "*", covers name.
func passes(rule, name string) bool {
	prefix, ok := strings.CutSuffix(rule, "*")
	return rule == name || ok && strings.HasPrefix(name, prefix)
}
