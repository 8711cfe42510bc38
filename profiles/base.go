package profiles

// BaseReads gives the rules for what any program needs to start on this host:
// programs and libraries, the parts of /etc that libraries read, the kernel's
// own files, harmless device nodes. What does not exist is left out, and settings in
// which something may be a credential; links are
// followed and the rules are on what they lead to.
func BaseReads(h *Host) []PathRule {
	look := newLookout(h)
	rules := make([]PathRule, 0, len(baseRows))
	for i := range baseRows {
		row := &baseRows[i]
		if row.OS != "" && row.OS != h.OS {
			continue
		}
		if row.Credentials && !h.WithoutCredentials(row.Path) {
			continue
		}
		access, _ := ParseAccess(row.Access)
		rules = look.grant(rules, row.Path, access, Origin{Source: "built-in:base", Reason: row.Reason})
	}
	return rules
}

// grant appends a rule for the file or tree at name, unless there is none, or
// a rule grants it already.
func (l *lookout) grant(rules []PathRule, name string, access Access, origin Origin) []PathRule {
	at, exists, isDir := l.at(name)
	if !exists || at == "/" {
		return rules
	}
	for i := range rules {
		if rules[i].Access&access == access && rules[i].covers(at) {
			return rules
		}
	}
	return append(rules, PathRule{Path: at, Tree: isDir, Access: access, Origin: origin})
}
