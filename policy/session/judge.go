package session

import (
	"path/filepath"
	"slices"
	"strings"

	"skillrun/policy"
	"skillrun/profiles"
)

// judge decides one request, with what a session adds to the policy.
func (s *Session) judge(st *policy.State, r policy.Request, target string, exact bool, why string) judged {
	j := judged{answer: st.Decide(r)}
	if instead, because := s.protected(st, &r, &j.answer); instead != "" {
		why = because
		if j.secret = instead == "secrets.read"; !s.named(st, r) {
			if r.Confined {
				j.grants = r.Capability
			}
			r.Capability, r.Uses = instead, s.uses(instead, r.Time)
			j.answer = st.Decide(r)
		}
	}
	if a := &j.answer; a.Effect != policy.Allow && a.Entry == nil && s.broader(&r) != "" {
		wide := r
		wide.Capability = s.broader(&r)
		wide.Uses = s.uses(wide.Capability, r.Time)
		// Tools are coarser than capabilities: who lists these says what it means.
		coarse := r.Capability != "source_code.execute"
		if b := st.Decide(wide); b.Effect > a.Effect && (coarse || b.Entry != nil && filepath.Base(b.Entry.Pos.File) == "SKILL.md") {
			r, j.answer = wide, b
		}
	}
	j.c, j.request = policy.Lookup(r.Capability), r
	j.need = Need{Capability: r.Capability, Target: target, Exact: exact, Effect: j.answer.Effect, Reason: j.answer.Reason, Source: j.answer.Source}
	if j.c == nil {
		j.need.Reason = "unknown capability " + policy.Escape(clip(r.Capability, 100))
		return j
	}
	j.need.Level = j.c.Level
	j.single = j.answer.Entry == nil && slices.ContainsFunc(r.Paths, s.wide)
	if why != "" {
		j.need.Reason += " (" + policy.Escape(why) + ")"
	}
	s.ownFiles(st, &j)
	s.tighten(st, &j)
	return j
}

// protected says which capability the files of a request need instead of its
// own, and why. A run is held to it by the kernel, unless the user says yes to the
// control files of the workspace that its command is going to change; secrets and
// what lies elsewhere are asked for in their own names.
func (s *Session) protected(st *policy.State, r *policy.Request, a *policy.Answer) (instead, why string) {
	switch {
	case s.set.Protected == nil, len(r.Paths) == 0, a.Effect == policy.Deny && a.Entry != nil:
		return "", ""
	case r.Confined && !strings.HasSuffix(r.Capability, ".write") && !strings.HasSuffix(r.Capability, ".delete"):
		return "", ""
	}
	if s.files == nil {
		s.files = s.set.Protected()
	}
	if s.controls == nil && r.Confined {
		s.controls = s.files.InRuns(s.state.Workspace)
	}
	files := s.files
	if r.Confined {
		files = s.controls
	} else {
		files.Among(s.changeable(st))
	}
	looked := map[string]bool{}
	for _, p := range slices.Concat(r.Paths, r.Given) {
		if looked[p] {
			continue
		}
		looked[p] = true
		switch instead, why = files.Needs(r.Capability, p); {
		case r.Confined && s.skillAt(p) != nil:
			continue // no yes opens a loaded skill to a run
		case instead != "":
			return instead, why
		}
		if verb := r.Capability[strings.LastIndexByte(r.Capability, '.')+1:]; s.skillAt(p) != nil && (verb == "write" || verb == "delete") {
			return "policy.expand", "the file is a loaded skill's"
		}
	}
	return "", ""
}

// changeable are the directories in which entries let files be changed, of an entry
// for all there are the home.
func (s *Session) changeable(st *policy.State) (trees []string) {
	for _, e := range slices.Concat(st.Granted, st.Declared) {
		if e.Effect == policy.Deny || !slices.ContainsFunc(changing[:], e.Names) {
			continue
		}
		scope := e.Constraints.Scope
		if !e.Constraints.Scoped && e.Constraints.WorkspaceOnly == policy.No {
			scope = []policy.Text{{Value: s.set.Home}}
		}
		for _, t := range scope {
			dir := t.Value
			if i := strings.IndexAny(dir, "*?["); i >= 0 {
				dir = dir[:strings.LastIndexByte(dir[:i], '/')+1]
			}
			if dir = s.resolve(dir, s.state.Workspace); filepath.IsAbs(dir) && !slices.Contains(trees, dir) {
				trees = append(trees, dir)
			}
		}
	}
	return trees
}

var changing = [...]string{"filesystem.write", "filesystem.delete", "source_code.write", "source_code.delete"}

// named says whether a grant of the user names exactly the paths of a request.
func (s *Session) named(st *policy.State, r policy.Request) bool {
	alone := policy.State{Initialized: st.Initialized}
	for _, g := range st.Granted {
		if !slices.ContainsFunc(r.Paths, func(p string) bool {
			return !slices.ContainsFunc(g.Constraints.Scope, func(t policy.Text) bool { return s.resolve(t.Value, "/") == p })
		}) {
			alone.Granted = append(alone.Granted, g)
		}
	}
	return alone.Decide(r).Effect == policy.Allow
}

// broader names the capability that has another in it, where it covers the same
// paths: source code and commits are files, a program may be given a script, and
// what that starts are other programs. Who declares files and programs need not
// declare those, unless somebody says something on them; for scripts only who declares
// tools, as Bash. That holds for programs in a run only, which the kernel holds to the
// files and programs that it may open and start.
func (s *Session) broader(r *policy.Request) string {
	switch r.Capability {
	case "source_code.read", "commit.read":
		return "filesystem.read"
	case "source_code.write", "commit.create":
		return "filesystem.write"
	case "source_code.delete":
		return "filesystem.delete"
	case "process.create":
		if r.Confined {
			return "shell.execute"
		}
	case "source_code.execute":
		// Not so of what the run could not read, of which its user is asked.
		if r.Confined && len(r.Paths) > 0 && !slices.ContainsFunc(r.Paths, func(p string) bool {
			return s.secret(p) || !profiles.Within(s.state.Workspace, p) && s.skillAt(p) == nil
		}) {
			return "shell.execute"
		}
	}
	return ""
}

// ownFiles lets a loaded skill's own files be read, whatever other skills
// declare: that is what loading is. Ceilings of the configuration and entries
// that deny hold all the same.
func (s *Session) ownFiles(st *policy.State, j *judged) {
	if n := j.c.Name; len(j.request.Paths) == 0 || n != "filesystem.read" && n != "source_code.read" {
		return
	}
	for _, p := range j.request.Paths {
		if k := s.skillAt(p); k == nil || k.Pending {
			return
		}
	}
	effect := j.need.Effect
	if effect == policy.Deny && j.answer.Entry == nil && strings.HasPrefix(j.answer.Source, "skill:") {
		alone := *st
		alone.Bounds = slices.DeleteFunc(slices.Clone(st.Bounds), func(b policy.Bounded) bool { return strings.HasPrefix(b.Name, "skill:") })
		effect = alone.Decide(j.request).Effect
	}
	if effect != policy.Deny {
		j.need.Effect, j.need.Reason, j.need.Source = policy.Allow, "a loaded skill's own files can be read", "session"
	}
}

// wide says whether a yes to a directory would be one to all that the user has.
func (s *Session) wide(dir string) bool { return dir == "/" || profiles.Within(dir, s.set.Home) }
