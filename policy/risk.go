package policy

import (
	"strings"
)

// Risk is how much harm one use of a capability can do: OpenSkills' levels of
// risky tools.
type Risk uint8

// The levels. Read, Grep, Glob and LS are of low risk; Write, Edit, MultiEdit,
// WebSearch and Fetch of medium risk; Bash, Terminal and Delete of high risk.
const (
	RiskNone Risk = iota // as a setting: no call is risky
	RiskLow
	RiskMedium
	RiskHigh
)

var riskWords = [...]string{"none", "low", "medium", "high"}

func (r Risk) String() string {
	if int(r) < len(riskWords) {
		return riskWords[r]
	}
	return "risk?"
}

// Risk is the risk of using the capability: OpenSkills' for the tools that it
// names, and for the rest by the same measure. What executes, deletes, spends
// or acts beyond the workspace is high, what changes or reaches the network
// medium, what only reads low. Reading secrets is high.
func (c *Capability) Risk() Risk {
	verb := c.Name[strings.LastIndexByte(c.Name, '.')+1:]
	switch {
	case c.Level == System, c.Level == Redact, verb == "delete", verb == "execute" && c.Group != "Agent Ecosystem",
		c.Group == "Secrets", c.Group == "Hardware", verb == "run", verb == "kill", verb == "terminate":
		return RiskHigh
	case c.Level == Dangerous && verb != "read", c.Group == "Network":
		return RiskMedium
	}
	return RiskLow
}
