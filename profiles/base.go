package profiles

// BaseReads gives the rules for what any program needs to start on this host:
// programs and libraries, the parts of /etc that libraries read, the kernel's
// own files, harmless device nodes. What does not exist is left out; links are
// followed and the rules are on what they lead to.
func BaseReads(h *Host) []PathRule {
	var rules []PathRule
	for i := range baseRows {
		row := &baseRows[i]
		if row.OS != "" && row.OS != h.OS {
			continue
		}
		access, _ := ParseAccess(row.Access)
		rules = h.grant(rules, row.Path, access, Origin{Source: "built-in:base", Reason: row.Reason})
	}
	return rules
}

// grant appends a rule for the file or tree at name, unless there is none, or
// one with the same meaning has just been made.
func (h *Host) grant(rules []PathRule, name string, access Access, origin Origin) []PathRule {
	at, err := h.Resolve(name)
	if err != nil || at == "/" {
		return rules
	}
	for i := range rules {
		if rules[i].Access&access == access && rules[i].covers(at) {
			return rules
		}
	}
	return append(rules, PathRule{Path: at, Tree: h.isDir(at), Access: access, Origin: origin})
}
