package profiles

// Verdict is the answer to one question about a Profile.
type Verdict struct {
	Allowed bool
	// Denial is the denial that decided, nil if none did.
	Denial *Denial
	// Rule is the grant that decided, nil if none did. With several, it is
	// the most specific.
	Rule *PathRule
	// Host is the grant that decided about the network, nil if none did.
	Host *HostRule
}

// Origin is the origin of the rule that decided; the zero Origin means that
// nothing grants it.
func (v Verdict) Origin() Origin {
	switch {
	case v.Denial != nil:
		return v.Denial.Origin
	case v.Rule != nil:
		return v.Rule.Origin
	case v.Host != nil:
		return v.Host.Origin
	}
	return Origin{}
}

// Allows says whether the run may do all of access to path, which must be
// absolute, clean and resolved. It is the reference meaning of a Profile: back
// ends are tested against it.
//
// Delete is about what existed when the run started; the run may always remove
// what it made itself where it may create.
func (p *Profile) Allows(path string, access Access) Verdict {
	for i := range p.Denials {
		d := &p.Denials[i]
		if d.Access&access != 0 && d.Covers(path) {
			return Verdict{Denial: d}
		}
		// Moving a name away lifts whatever denial it was under.
		if access&Delete != 0 && (d.Covers(path) || d.Leads(path)) {
			return Verdict{Denial: d}
		}
	}
	if p.ChangesSkill(path, access) {
		return Verdict{}
	}
	var best *PathRule
	for bit := Read; bit <= Execute; bit <<= 1 {
		if access&bit == 0 {
			continue
		}
		granted := false
		for i := range p.Paths {
			r := &p.Paths[i]
			if r.Access&bit != 0 && r.covers(path) {
				granted = true
				if best == nil || len(r.Path) > len(best.Path) {
					best = r
				}
			}
		}
		if !granted {
			return Verdict{}
		}
	}
	return Verdict{Allowed: best != nil, Rule: best}
}

// ChangesSkill says whether access to path would change the skill, which no
// grant allows: its files, and the directories that lead to it, which do not go
// away.
func (p *Profile) ChangesSkill(path string, access Access) bool {
	if p.Skill == "" || access&Change == 0 {
		return false
	}
	if _, ok := beneathFolded(p.Skill, path); ok {
		return true
	}
	_, ok := beneathFolded(path, p.Skill)
	return ok && access&Delete != 0
}
