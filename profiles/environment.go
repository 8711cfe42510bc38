package profiles

import "strings"

// EnvDefaults gives the rules of the environment that every run starts from:
// the variables that are passed (language, terminal, build settings), and those
// that are not, whatever else is passed by a wildcard: variables that make
// programs run other code, and secrets.
func EnvDefaults() (pass, deny []EnvRule) {
	for _, row := range passRows {
		pass = append(pass, EnvRule{Name: row.Name, Origin: Origin{Source: "built-in:environment", Reason: row.Reason}})
	}
	for _, row := range denyRows {
		deny = append(deny, EnvRule{Name: row.Name, Origin: Origin{Source: "built-in:environment", Reason: row.Reason}})
	}
	return pass, deny
}

// Passes says whether the run receives the caller's variable name, and the rule
// that decided: nil if nothing names it. It is the reference meaning of Pass
// and Deny; values in Set are given whatever it says.
func (e *Env) Passes(name string) (bool, *EnvRule) {
	for i := range e.Deny {
		if e.Deny[i].Denies(name) {
			return false, &e.Deny[i]
		}
	}
	for i := range e.Pass {
		rule := e.Pass[i].Name
		if prefix, ok := strings.CutSuffix(rule, "*"); rule == name || ok && strings.HasPrefix(name, prefix) {
			return true, &e.Pass[i]
		}
	}
	return false, nil
}

// Denies says whether the rule, as one of Deny, covers name.
func (r *EnvRule) Denies(name string) bool {
	if !matchName(r.Name, name) {
		return false
	}
	for _, e := range r.Except {
		if e == name {
			return false
		}
	}
	return true
}

// Lift makes every rule of Deny leave name alone: the user granted that very
// variable. It does not pass the variable; a rule in Pass does. The lists that
// rules share with others are copied, not changed.
func (e *Env) Lift(name string) {
	deny := make([]EnvRule, len(e.Deny))
	for i, r := range e.Deny {
		if r.Denies(name) {
			r.Except = append(r.Except[:len(r.Except):len(r.Except)], name)
		}
		deny[i] = r
	}
	e.Deny = deny
}
