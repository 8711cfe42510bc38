package policy

import (
	"fmt"
	"slices"
	"strings"

	"skillrun/profiles"
)

// demandClauses are the clauses that a manifest's constraints can add to those
// that every profile has.
var demandClauses = [...]string{
	"constraint.denied_command_patterns", "constraint.arguments", "constraint.rate_limit", "constraint.resource_scope",
	"hook.allowed_commands", "hook.denied_command_patterns", "hook.arguments", "hook.rate_limit",
}

// Gaps gives the names of all clauses that a receipt can have.
func Gaps() []string { return append(profiles.Clauses(), demandClauses[:]...) }

// CheckGap says that a clause that a user would do without is called so. One that
// is no gap here is fine; a name that nothing has is a slip of the pen.
func CheckGap(name string) error {
	known := Gaps()
	if slices.Contains(known, name) {
		return nil
	}
	if s := Nearest(name, known); s != "" {
		return fmt.Errorf("unknown clause %q (did you mean %q?)", name, s)
	}
	group, _, _ := strings.Cut(name, ".")
	var near []string
	for _, k := range known {
		if k == group || strings.HasPrefix(k, group+".") {
			near = append(near, k)
		}
	}
	if near == nil {
		near = known
	}
	return fmt.Errorf("unknown clause %q: not one of %s", name, strings.Join(near, ", "))
}
