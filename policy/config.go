package policy

import "skillrun/profiles"

// Config is a configuration file of the user or the system:
//
//	preset = "standard"
//	approve = "ask"                # ask, declared, none
//	approvals = "30d"              # how long an "always" holds
//	strict = false
//	fresh = false                  # true: no caches are kept from run to run
//	allow_gaps = ["limit.memory"]
//	grants = ["filesystem.read:~/data"]
//	ceilings = ["capabilities.yaml"]
//	configured = ["web_fetch"]     # what "when_configured" in a ceiling allows
//
//	[limits]
//	memory = "8GiB"
//
//	[[permissions]]                # floors: deny entries that nothing lifts
//	capability = "container.*"
//	effect = "deny"
//
//	[skills.pdf]
//	grants = ["web.fetch:api.example.com"]
//
//	[session]                      # see SessionConfig
//	ask = "terminal"
type Config struct {
	File       string
	Preset     string // "" if it names none
	Approve    Approve
	HasApprove bool
	Approvals  []Term // one at most
	Strict     Choice
	Fresh      Choice
	AllowGaps  []string
	Grants     []Entry
	Ceilings   []Text // files, relative to this one
	Configured []string
	Limits     profiles.Limits
	Floors     *Document // nil if there are none
	Skills     []SkillConfig
	Session    SessionConfig
}

// SkillConfig holds what a configuration says about one skill by name.
type SkillConfig struct {
	Name   string
	Grants []Entry
}

// ParseConfig reads a configuration file. Any fault is an [*Error]. Whether the
// file may be trusted (owner, mode, place) is for the caller to know.
func ParseConfig(file string, data []byte) (*Config, error) {
	known := []string{"preset", "approve", "approvals", "strict", "fresh", "allow_gaps", "grants", "ceilings", "configured", "limits", "permissions", "skills", "session"}
	n, err := parseTOML(file, data)
	if err == nil {
		err = n.table("the configuration", known...)
	}
	if err != nil {
		return nil, err
	}
	c := &Config{File: file}
	for i := range n.keys {
		switch v, name := &n.keys[i].node, n.keys[i].name; name {
		case "preset":
			if c.Preset, err = v.str(); err == nil {
				if _, fault := FindPreset(c.Preset); fault != nil {
					err = errorAt(v.pos, "%v", fault)
				}
			}
		case "approve":
			c.HasApprove = true
			err = word(v, approveWords, &c.Approve)
		case "approvals":
			var s string
			if s, err = v.str(); err == nil {
				var term Term
				if term, err = ParseTerm(s); err != nil {
					err = errorAt(v.pos, "approvals: %v", err)
				}
				c.Approvals = []Term{term}
			}
		case "strict":
			c.Strict, err = decodeChoice(v, name)
		case "fresh":
			c.Fresh, err = decodeChoice(v, name)
		case "allow_gaps":
			c.AllowGaps, err = decodeAllowed(v)
		case "grants":
			c.Grants, err = decodeGrants(v)
		case "ceilings":
			c.Ceilings, err = v.list()
		case "configured":
			c.Configured, err = v.strings()
		case "limits":
			c.Limits, err = decodeLimits(v)
		case "permissions":
			c.Floors = &Document{File: file, Form: TOML}
			if c.Floors.Entries, err = decodeEntries(v); err == nil {
				err = onlyDeny(c.Floors.Entries)
			}
		case "skills":
			c.Skills, err = decodeSkills(v)
		case "session":
			c.Session, err = decodeSession(v)
		}
		if err != nil {
			return nil, sunken(err, &n, known)
		}
	}
	return c, nil
}

func decodeAllowed(n *node) ([]string, error) {
	names, err := n.list()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := CheckGap(name.Value); err != nil {
			return nil, errorAt(name.Pos, "%v", err)
		}
	}
	return values(names), nil
}

func decodeChoice(n *node, name string) (Choice, error) {
	yes, err := n.bool(name)
	if yes {
		return Yes, err
	}
	return No, err
}

func onlyDeny(floors []Entry) error {
	for i := range floors {
		if floors[i].Effect != Deny {
			return errorAt(floors[i].Pos, "a floor can only deny; to allow more, use grants")
		}
	}
	return nil
}

func decodeGrants(n *node) ([]Entry, error) {
	texts, err := n.list()
	if err != nil {
		return nil, err
	}
	var grants []Entry
	for _, t := range texts {
		g, err := ParseGrant(t.Value, "grant")
		if err != nil {
			return nil, errorAt(t.Pos, "%v", err)
		}
		g.Pos, g.Source = t.Pos, "user-config"
		grants = append(grants, g)
	}
	return grants, nil
}

func decodeSkills(n *node) ([]SkillConfig, error) {
	if err := n.is(mapNode, "skills"); err != nil {
		return nil, err
	}
	var skills []SkillConfig
	for i := range n.keys {
		v := &n.keys[i].node
		if err := v.table("a skill", "grants"); err != nil {
			return nil, err
		}
		s := SkillConfig{Name: n.keys[i].name}
		if g := v.get("grants"); g != nil {
			var err error
			if s.Grants, err = decodeGrants(g); err != nil {
				return nil, err
			}
		}
		skills = append(skills, s)
	}
	return skills, nil
}
