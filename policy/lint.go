package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"skillrun/profiles"
)

// Lint says what is wrong or unwise in the manifests of a skill whose directory
// has this name. files are those of its top level; others are passed over. The
// worst, with which the skill would not run, come first.
func Lint(dir string, files []File) []Finding {
	var faults, notes []Finding
	var docs []*Document
	header := false
	for _, f := range files {
		d, found, err := ParseFile(f)
		if err != nil {
			e := err.(*Error)
			faults = append(faults, Finding{e.Pos, e.What})
		}
		notes = append(notes, found...)
		if d != nil {
			docs = append(docs, d)
		}
		if f.Name == "SKILL.md" || f.Name == "skill.md" {
			if header {
				notes = append(notes, Finding{Pos{File: f.Name}, "both SKILL.md and skill.md are there: neither header gives rights"})
			}
			header = true
			notes = append(notes, lintHeader(f.Name, dir, f.Data)...)
		}
	}
	if !header {
		notes = append(notes, Finding{Pos{File: dir}, "there is no SKILL.md"})
	}
	if len(docs) > 1 {
		if _, found, err := Compose(Input{Documents: docs, Tier: Approved}); err == nil {
			notes = append(notes, found...)
		}
	}
	for _, d := range docs {
		notes = append(notes, lintRest(d)...)
		for i := range d.Entries {
			notes = append(notes, lintEntry(&d.Entries[i])...)
		}
	}
	return append(faults, notes...)
}

// lintHeader checks the rules of the Agent Skills specification that agents
// rely on.
func lintHeader(file, dir string, data []byte) []Finding {
	var found []Finding
	say := func(format string, args ...any) {
		found = append(found, Finding{Pos{File: file, Line: 1, Column: 1}, fmt.Sprintf(format, args...)})
	}
	header, fault := cutHeader(data)
	if header == nil {
		say("%s: there is no header", fault)
		return found
	}
	s, _ := ParseHeader(file, data)
	switch {
	case s.Name == "":
		say("the header has no name")
	case !skillName(s.Name):
		say("name %s: 1 to 64 lower-case letters, digits and single hyphens", quoted(s.Name))
	case s.Name != path.Base(dir):
		say("name %s is not that of the directory, %s", quoted(s.Name), quoted(path.Base(dir)))
	}
	switch {
	case s.Description == "":
		say("the header has no description")
	case len(s.Description) > 1024:
		say("the description is longer than 1024 characters")
	}
	return found
}

// lintRest checks what a manifest has beside permissions, and the names of tools in a
// header: what nothing knows there gives nothing.
func lintRest(d *Document) []Finding {
	var found []Finding
	say := func(t Text, format string) {
		found = append(found, Finding{t.Pos, fmt.Sprintf(format, quoted(t.Value))})
	}
	for _, t := range d.Toolchains {
		if !profiles.IsToolchain(t.Value) {
			say(t, "%s is no toolchain that is known, and grants nothing")
		}
	}
	_, deny := profiles.EnvDefaults()
	for _, v := range d.Environment {
		if _, rule := (&profiles.Env{Deny: deny}).Passes(v.Name); rule != nil {
			say(Text{v.Name, v.Pos}, "%s is not set by a manifest ("+rule.Origin.Reason+")")
		}
	}
	return append(found, MisnamedTools(d)...)
}

// MisnamedTools tells of names in a header's allowed-tools that are no tools of an agent's,
// and give nothing: misspelt ones, and capabilities.
func MisnamedTools(d *Document) (found []Finding) {
	for i := range d.Entries {
		e := &d.Entries[i]
		if d.Form != Header || e.Capability != "tool.invoke" {
			continue
		}
		for _, t := range e.Constraints.Scope {
			if Lookup(t.Value) != nil {
				found = append(found, Finding{t.Pos, quoted(t.Value) + " is a capability, and no tool of an agent: permissions of a skillguard-manifest.json name those"})
			} else if meant := nearestTool(t.Value); meant != "" && meant != t.Value { // capabilities has other tools
				found = append(found, Finding{t.Pos, quoted(t.Value) + " is no tool that gives a run something (did you mean " + quoted(meant) + "?)"})
			}
		}
	}
	return found
}

// nearestTool suggests the tool that a misspelt name means: in another case of letters, or
// with the same first letter and one letter too many, too few, wrong, or in the place of
// the next. "" if there is none: agents have many tools, and "Patch" is not "Fetch".
func nearestTool(name string) string {
	lower := strings.ToLower(name)
	for _, t := range toolRights {
		known := strings.ToLower(t.tool)
		if known == lower || len(name) > 3 && known[0] == lower[0] && (edits(lower, known, 2) < 2 || swapped(lower, known)) {
			return t.tool
		}
	}
	return ""
}

// swapped says whether two letters that follow each other are all in which a and b differ.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

func skillName(s string) bool {
	for _, r := range s {
		if r != '-' && !unicode.IsDigit(r) && !(unicode.IsLetter(r) && unicode.ToLower(r) == r) {
			return false
		}
	}
	return len(s) <= 64 && !strings.HasPrefix(s, "-") && !strings.HasSuffix(s, "-") && !strings.Contains(s, "--")
}

func lintEntry(e *Entry) []Finding {
	var found []Finding
	say := func(format string, args ...any) {
		found = append(found, Finding{e.Pos, fmt.Sprintf(format, args...)})
	}
	c := Lookup(e.Capability)
	switch {
	case c == nil && e.Effect != Deny:
		say("%s names %d capabilities: name those that the skill needs", e.Capability, len(Expand(e.Capability)))
	case c == nil || e.Effect == Deny:
	case networked(c) && !e.Constraints.Scoped:
		say("%s names no hosts: the user is asked for those that the skill's files name, or for any public host", c.Name)
	case c.Group == "Secrets" && !e.Constraints.Scoped:
		say("%s has no resource_scope: it grants nothing", c.Name)
	case (c.means == readFiles) && !e.Constraints.Scoped && e.Constraints.WorkspaceOnly != Yes:
		say("filesystem.read without workspace_only or resource_scope is everything but credentials")
	case c.means == containerSocket || c.means == displaySocket:
		say("%s needs the user's grant of the socket by name", c.Name)
	}
	if e.Constraints.Scoped && len(e.Constraints.Scope) == 0 {
		say("an empty resource_scope grants nothing")
	}
	for _, s := range e.Constraints.Scope {
		if c == nil || e.Effect == Deny {
			break
		}
		if _, _, fault := ParseHost(s.Value); networked(c) && fault != "" {
			found = append(found, Finding{s.Pos, fmt.Sprintf("%s is not a host and grants nothing: %s", quoted(s.Value), fault)})
		} else if rest := uncounted(s.Value); networked(c) && fault == "" && len(rest) > 1 {
			found = append(found, Finding{s.Pos, fmt.Sprintf("%s grants the whole host: %s does not count", quoted(s.Value), quoted(rest))})
		}
		if (strings.HasPrefix(c.Name, "filesystem.") || strings.HasPrefix(c.Name, "source_code.")) && notPath(s.Value) {
			found = append(found, Finding{s.Pos, fmt.Sprintf("%s is taken for a path in the workspace: of variables, other users' homes, URLs and drives nothing is read", quoted(s.Value))})
		}
		if _, ok := profiles.HostGroup(s.Value); c.means == installPackages && !ok {
			found = append(found, Finding{s.Pos, fmt.Sprintf("%s is not a group of package registries and grants nothing", quoted(s.Value))})
		}
	}
	if c != nil && c.means == passVariables && e.Effect != Deny {
		_, deny := profiles.EnvDefaults()
		for _, name := range slices.Concat(e.Constraints.argument("names"), values(e.Constraints.Scope)) {
			if _, rule := (&profiles.Env{Deny: deny}).Passes(name); name != "*" && !variableName(strings.TrimSuffix(name, "*")) {
				say("%s is not the name of a variable and grants nothing", quoted(name))
			} else if rule != nil {
				say("%s is not passed by env_var.read (%s): name it in a secrets.read", quoted(name), rule.Origin.Reason)
			}
		}
	}
	for _, p := range e.Constraints.DeniedCommands {
		found = append(found, Finding{p.Pos, "no kernel matches child processes against denied_command_patterns: the run is refused unless the user allows that gap"})
	}
	return found
}

// notPath says whether a scope looks like what others understand and no path: $HOME/x,
// ~user/x, file:///x, C:\x.
func notPath(s string) bool {
	return strings.HasPrefix(s, "$") || strings.HasPrefix(s, "~") && s != "~" && !strings.HasPrefix(s, "~/") ||
		strings.Contains(s, "://") || len(s) > 1 && s[1] == ':'
}
