package main

import (
	"fmt"
	"slices"
	"strings"

	"skillrun/policy"
	"skillrun/profiles"
)

// variables are what SKILLRUN_* in the environment may set. A project's agent
// settings can set them, so they only narrow, or set what is shown; every other
// name is refused rather than passed over, since its author took it to hold.
type variables struct {
	strict, noApprove         bool
	verbose, denials, receipt bool
	narrowing                 *policy.Document // limits; nil if there are none
}

var switches = [...]string{"SKILLRUN_STRICT", "SKILLRUN_VERBOSE", "SKILLRUN_DENIALS", "SKILLRUN_RECEIPT"}

// limitVariable is the variable of a limit's flag: SKILLRUN_OPEN_FILES.
func limitVariable(flag string) string {
	return "SKILLRUN_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func readVariables(h *profiles.Host) (v variables, err error) {
	known := slices.Clone(switches[:])
	known = append(known, "SKILLRUN_APPROVE")
	limits, err := parseLimits(func(flag string) (string, string) {
		name := limitVariable(flag)
		known = append(known, name)
		if text, ok := h.Env[name]; ok {
			return text, name
		}
		return "", ""
	})
	if err != nil {
		return v, err
	}
	if limits != (profiles.Limits{}) {
		v.narrowing = &policy.Document{File: "SKILLRUN_*", Limits: limits}
	}
	for name, value := range h.Env {
		switch {
		case !strings.HasPrefix(name, "SKILLRUN_"):
		case name == "SKILLRUN_APPROVE":
			if value != "none" {
				return v, fmt.Errorf("SKILLRUN_APPROVE=%s: a variable can only narrow: none", quote(value))
			}
			v.noApprove = true
		case slices.Contains(switches[:], name):
			if value != "1" && value != "0" {
				return v, fmt.Errorf("%s=%s: want 1 or 0", name, quote(value))
			}
			on := value == "1"
			switch name {
			case "SKILLRUN_STRICT":
				v.strict = on
			case "SKILLRUN_VERBOSE":
				v.verbose = on
			case "SKILLRUN_DENIALS":
				v.denials = on
			case "SKILLRUN_RECEIPT":
				v.receipt = on
			}
		case !slices.Contains(known, name):
			slices.Sort(known)
			return v, withHint{
				fmt.Errorf("%s: a variable cannot set that: variables only narrow or set output", quote(name)),
				"known: " + strings.Join(known, ", "),
			}
		}
	}
	return v, nil
}
