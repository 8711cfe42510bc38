package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/policy/skill"
	"skillrun/profiles"
)

// judged is a need with what was decided and what is needed to ask about it.
type judged struct {
	need    Need
	c       *policy.Capability
	request policy.Request
	answer  policy.Answer
	single  bool // a yes counts for this call only
	secret  bool // it gives a secret away
	// grants is what a run gets for a yes, where that is called otherwise than
	// what was asked for.
	grants string
	// refused is what was remembered, where that is what this is about.
	refused *refused
}

// look is what was found out about an action besides its needs.
type look struct {
	scanned bool // its command was read
	certain bool // the acting skills follow from the files that it runs
}

// Decide decides one call of a tool. Whatever fails on the way is a denial with
// the reason.
func (s *Session) Decide(ctx context.Context, a Action) Verdict {
	begin := time.Now()
	v, needs, look, err := s.decide(ctx, &a)
	if err != nil {
		v = Verdict{Reason: policy.Escape(err.Error()), Skills: v.Skills, Notes: v.Notes}
	}
	id := audit.NewID()
	if v.Effect == policy.Confirm {
		for i := range needs {
			if w := needs[i].refused; w != nil {
				w.Call = id
			}
		}
		if s.set.Asker != nil {
			s.ask(ctx, &a, &v, needs)
		}
	}
	if v.Effect != policy.Deny {
		c, err := s.callOf(id, &v, needs, look.certain)
		if err == nil {
			err = s.keep(&c)
		}
		if err != nil {
			v = Verdict{Reason: err.Error(), Skills: v.Skills, Notes: v.Notes, Needs: v.Needs}
		} else {
			v.Call = id
			s.more.Calls = append(s.more.Calls, c)
		}
	}
	record := &audit.Decision{
		Session: s.state.ID, Run: v.Call, Event: a.Event, Tool: a.Tool, Skill: strings.Join(v.Skills, ", "), Capability: a.capability(),
		Verdict: word(v.Effect), Reason: v.Reason, Source: v.Source, Input: cmp.Or(a.Input, a.command()), Scanned: look.scanned, Took: time.Since(begin),
	}
	for _, n := range v.Needs {
		record.Needs = append(record.Needs, audit.Need{Capability: n.Capability, Target: n.Target, Exact: n.Exact, Verdict: word(n.Effect), Reason: n.Reason, Source: n.Source})
	}
	if err := s.log.Append(record); err != nil {
		return Verdict{Reason: "cannot record the decision: " + policy.Escape(err.Error())}
	}
	if err := s.save(); err != nil {
		return Verdict{Reason: policy.Escape(err.Error())}
	}
	return v
}

// word is an effect as the audit log and hosts call it.
func word(e policy.Effect) string {
	switch e {
	case policy.Allow:
		return "allow"
	case policy.Confirm:
		return "ask"
	}
	return "deny"
}

// mostPaths is how many paths of one call are judged, each within a millisecond: an
// agent waits for it.
const mostPaths = 4096

func (s *Session) decide(ctx context.Context, a *Action) (v Verdict, needs []judged, look look, err error) {
	s.seen = &links{run: a.Confined, texts: map[string]string{}}
	if s.more.NoTask != "" {
		return v, nil, look, fmt.Errorf("the task has no scope: %s", s.more.NoTask)
	}
	if err := a.check(); err != nil {
		return v, nil, look, err
	}
	dir, err := s.dirOf(a.Dir)
	if err != nil {
		return v, nil, look, err
	}
	var read scan.Result
	if command := a.command(); command != "" {
		look.scanned = true
		files := &scripts{s: s}
		env := scan.Env{FS: files, Dir: dir, Roots: s.roots(), Home: s.set.Home}
		if a.Confined { // else nothing holds git to what its configuration says now
			env.Remote = s.set.Remote
		}
		read = scan.Command(command, env)
		if files.hidden {
			read.Opaque = append(read.Opaque, policy.Finding{Pos: policy.Pos{File: "command", Line: 1, Column: 1}, What: "a script that is a secret, or that a link leads to, is not read"})
		}
	}
	files := append(read.Files, s.executed(&read, dir)...)
	// A script of a skill that nobody loaded loads it, and so does reading its
	// text: that is how agents without a tool for it load skills.
	found, err := s.implied(ctx, append(s.texts(a, &read, dir), files...), dir)
	if err != nil {
		return v, nil, look, err
	}
	acting, certain := s.acting(a, dir, files)
	v.Skills, look.certain = acting, certain
	st, err := s.live(acting)
	if err != nil {
		return v, nil, look, err
	}
	now := s.now()
	for _, r := range a.Requests {
		target := strings.Join(slices.Concat(r.Paths, r.Hosts, r.Names), ", ")
		needs = append(needs, s.judge(st, s.requestOf(a, r, dir, now), target, true, ""))
	}
	needs = append(needs, found...)
	for i := range read.Needs {
		n := &read.Needs[i]
		if a.Confined && (unset(n) || s.standing(read.Needs, n, dir)) {
			continue
		}
		c := policy.Lookup(n.Capability)
		if c == nil {
			return v, nil, look, fmt.Errorf("the command needs %q, which nothing grants", n.Capability)
		}
		r, target := s.requestFor(a, c, n, dir, now), n.Target
		if ports := read.Ports[n.Target]; len(r.Hosts) > 0 && ports != nil {
			r.Hosts, target = ports, strings.Join(ports, ", ")
		}
		j := s.judge(st, r, target, n.Exact, n.Reason)
		if !a.Confined || !j.idle() && !s.anyway(&j, n) {
			j.explain(dir)
			needs = append(needs, j)
		}
	}
	for i := range read.Besides {
		if !a.Confined {
			break // an agent's own git is not held to it
		}
		n := s.inRepository(read.Besides[i], dir)
		if j := s.judge(st, s.requestFor(a, policy.Lookup(n.Capability), &n, dir, now), n.Target, n.Exact, n.Reason); j.need.Effect != policy.Allow {
			j.explain(dir)
			needs = append(needs, j)
		}
	}
	if _, no := s.set.Asker.(DenyAll); a.Confined && (a.Asks || s.set.Asker != nil) && !no {
		needs = append(needs, s.again(a, st, &read, dir, mostStands-asking(needs)-1)...)
	}
	needs = append(needs, s.unread(a, &read, &v)...)
	if n := &needs[0].need; a.Starts != "" && n.Effect != policy.Deny {
		n.Effect, n.Reason, needs[0].single = policy.Confirm, starts(a.Starts), true
	}
	if err := s.guard(ctx, a, needs); err != nil {
		return v, nil, look, err
	}
	v.sum(needs)
	v.Choices = s.choices(needs)
	if v.Effect == policy.Deny {
		return v, needs, look, nil
	}
	counted := map[string]bool{} // a call is one use, whatever it needs the capability for
	for i := range needs {
		if name := needs[i].c.Name; !counted[name] {
			counted[name] = true
			s.used(st, name, now)
		}
		s.touch(&needs[i])
	}
	return v, needs, look, nil
}

// starts says in a question what the agent starts by itself.
func starts(what string) string {
	return "the agent itself starts " + what + ", outside of skillrun and with all of the user's rights"
}

// check finds what no call has that is to be decided.
func (a *Action) check() error {
	if len(a.Requests) == 0 {
		return errors.New("the call has no request")
	}
	if strings.ContainsRune(a.command(), 0) {
		return errors.New("the command has a zero byte in it")
	}
	paths := 0
	for i := range a.Requests {
		if slices.ContainsFunc(a.Requests[i].Paths, func(p string) bool { return len(p) > policy.MaxPath }) {
			return fmt.Errorf("a path of more than %d bytes", policy.MaxPath)
		}
		if paths += len(a.Requests[i].Paths); paths > mostPaths {
			return fmt.Errorf("more than %d paths; in several calls it may pass", mostPaths)
		}
	}
	return nil
}

// unset says that n is for a variable that nobody has set: a confined command
// will not find it either.
func unset(n *scan.Need) bool {
	name, ok := strings.CutPrefix(n.Target, "$")
	if n.Capability != "env_var.read" || !n.Exact || !ok {
		return false
	}
	_, set := os.LookupEnv(name)
	return !set
}

// standing says of a directory that a command makes that it is there, and of the rest
// that it writes that the text names it: a yes need not open all of the directory.
func (s *Session) standing(needs []scan.Need, made *scan.Need, dir string) bool {
	if !made.Makes || !made.Exact {
		return false
	}
	if info, err := os.Stat(s.resolve(made.Target, dir)); err != nil || !info.IsDir() {
		return false
	}
	named := false
	for i := range needs {
		switch n := &needs[i]; {
		case n.Makes || n.Capability != made.Capability:
		case !n.Exact || strings.ContainsAny(n.Target, wild):
			return false
		case strings.HasPrefix(n.Target, strings.TrimSuffix(made.Target, "/")+"/"):
			named = true
		}
	}
	return named
}

// idle says that a run does it without anybody's leave, and to nobody else: it
// signals its own processes, lists the variables that it was given, and deletes what
// it made, to which it is held where nothing says what is deleted and nobody can be
// asked for more. Only who forbids it is heard.
func (j *judged) idle() bool {
	switch {
	case j.answer.Entry != nil:
		return false
	case j.need.Capability == "env_var.read":
		return j.need.Target == "*"
	case j.need.Capability == "filesystem.delete" || j.need.Capability == "source_code.delete":
		return j.need.Effect == policy.Deny && !j.need.Exact
	}
	return j.need.Capability == "process.kill" || j.need.Capability == "repl.terminate"
}

// anyway says that every run may do it to the files that are meant: read what all
// programs may, delete what is not there, since the run then made it, and do anything to
// temporary files of its own. Only who forbids it is heard.
func (s *Session) anyway(j *judged, n *scan.Need) bool {
	r := &j.request
	switch {
	case j.need.Effect == policy.Allow || j.answer.Entry != nil || s.set.Risky > policy.RiskNone && j.c.Risk() >= s.set.Risky:
		return false
	case n.Own:
		return true
	case len(r.Paths) == 0:
		return false
	}
	switch j.need.Capability {
	case "filesystem.read":
		return s.set.Readable != nil && !slices.ContainsFunc(r.Paths, func(p string) bool { return !s.set.Readable(p) })
	case "filesystem.delete":
		return !slices.ContainsFunc(slices.Concat(r.Paths, r.Given), func(p string) bool {
			_, err := os.Lstat(p)
			return !errors.Is(err, fs.ErrNotExist)
		})
	}
	return false
}

// whole is what a run gets for a yes to a need of its command that nobody can
// hold to anything, since what it is about is decided at run time, and what that
// comes to; "" if there is no such thing, and nothing to ask.
func (j *judged) whole() (g policy.Entry, what string) {
	r := &j.request
	if j.need.Effect != policy.Confirm || !r.Confined || len(r.Paths)+len(r.Hosts)+len(r.Names) > 0 || j.answer.Entry != nil {
		return g, ""
	}
	g = policy.Entry{Capability: r.Capability, Effect: policy.Allow, Source: "user-grant", Pos: policy.Pos{File: "prompt"}}
	switch group, _, _ := strings.Cut(r.Capability, "."); group {
	case "filesystem", "source_code":
		g.Constraints.WorkspaceOnly = policy.Yes
		return g, "the whole workspace"
	case "web", "external_api":
		return g, "every public host"
	case "commit":
		return g, "the repository's remotes"
	}
	return g, ""
}

// explain says in the question what a yes opens to a run beyond what is asked, or
// where a pattern is asked about.
func (j *judged) explain(dir string) {
	n, r := &j.need, &j.request
	if n.Effect != policy.Confirm || !r.Confined {
		return
	}
	if _, what := j.whole(); what != "" {
		n.more = "a yes opens " + what
	} else if n.Capability == "secrets.delete" {
		n.more = "no run deletes one that was there before: do that yourself"
	} else if n.Target != "" && (!n.Exact || strings.ContainsAny(n.Target, wild)) && len(r.Paths) > 0 {
		var list []string
		for _, p := range r.Paths[:min(len(r.Paths), shownTargets)] {
			if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
				p = rel
			}
			list = append(list, shown(p))
		}
		n.more = "a yes opens " + strings.Join(list, ", ")
		if more := len(r.Paths) - len(list); more > 0 {
			n.more += fmt.Sprintf(" and %d more", more)
		}
	} else if slices.ContainsFunc(r.Hosts, func(h string) bool { return ownPort(h) != "" }) {
		n.more = "a yes lets it serve there, too"
	}
	if n.more != "" {
		n.Reason += "; " + n.more
	}
}

// inRepository has a path in ".git" be that of the repository which dir is in.
func (s *Session) inRepository(n scan.Need, dir string) scan.Need {
	before, name, ok := strings.Cut("/"+n.Target, "/.git/")
	if !ok || !n.Exact || s.state.Workspace == "" {
		return n
	}
	top := s.resolve(strings.TrimPrefix(before+"/.", "/"), dir)
	for at := top; profiles.Within(s.state.Workspace, at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			n.Target = filepath.Join(at, ".git", name)
			break
		}
	}
	return n
}

// shownTargets is how many of the files that a pattern stands for a reason names.
const shownTargets = 5

// sum gives the verdict on all needs: the strictest. Of several that are as
// strict the reason is that of the gravest, and names the others, every
// one of them, the graver first: a yes is to all of them.
func (v *Verdict) sum(needs []judged) {
	v.Effect = policy.Allow
	worst := 0
	for i := range needs {
		n, w := &needs[i].need, &needs[worst].need
		v.Needs = append(v.Needs, *n)
		if n.Effect < w.Effect || n.Effect == w.Effect && n.Effect != policy.Allow && n.Level > w.Level {
			worst = i
		}
	}
	if len(needs) == 0 {
		v.Effect, v.Reason = policy.Deny, "nothing to decide"
		return
	}
	n := &needs[worst].need
	v.Effect, v.Reason, v.Source = n.Effect, n.Reason, n.Source
	if n.Target != "" && n.Effect != policy.Allow {
		v.Reason = shown(n.Target) + ": " + v.Reason
	}
	if n.Effect != policy.Confirm {
		return
	}
	var others []*Need
	for i := range v.Needs {
		o := &v.Needs[i]
		same := func(k *Need) bool { return k.Capability == o.Capability && k.Target == o.Target }
		if o.Effect == n.Effect && !same(n) && !slices.ContainsFunc(others, same) {
			others = append(others, o)
		}
	}
	if len(others) >= mostStands {
		v.Effect, v.Reason = policy.Deny, fmt.Sprintf("it asks for more than %d things, which no question shows; in several calls it may pass", mostStands)
		return
	}
	slices.SortStableFunc(others, func(a, b *Need) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(a.Capability, b.Capability))
	})
	for i := 0; i < len(others); {
		capability, first := others[i].Capability, i
		for i < len(others) && others[i].Capability == capability {
			i++
		}
		if first == 0 {
			v.Reason += "; also "
		} else {
			v.Reason += ", "
		}
		v.Reason += capability + targets(others[first:i])
	}
}

// shown is a target as a question names it.
func shown(target string) string { return policy.Shown(clip(target, 200)) }

// asking is how many needs ask.
func asking(needs []judged) (n int) {
	for i := range needs {
		if needs[i].need.Effect == policy.Confirm {
			n++
		}
	}
	return n
}

// targets names those of needs of one capability, a space before each, with what a yes
// opens besides.
func targets(needs []*Need) string {
	var list []string
	for _, n := range needs {
		var words string
		if n.Target != "" {
			words = " " + shown(n.Target)
		}
		if n.more != "" {
			words += " (" + n.more + ")"
		}
		if words != "" {
			list = append(list, words)
		}
	}
	return strings.Join(list, ",")
}

// dirOf is where an action happens: as the host says, if that exists, else the
// session's.
func (s *Session) dirOf(dir string) (string, error) {
	if dir == "" {
		dir = s.state.Workspace
	}
	if dir == "" {
		return "/", nil
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the directory %q is not absolute", clip(dir, 200))
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("the directory %q cannot be found", clip(dir, 200))
	}
	return resolved, nil
}

// roots are the directories whose scripts are read.
func (s *Session) roots() []string {
	var roots []string
	if s.state.Workspace != "" {
		roots = append(roots, s.state.Workspace)
	}
	for _, k := range s.more.Skills {
		roots = append(roots, k.Dir)
	}
	for _, r := range skill.Roots() {
		switch {
		case r.Scope == skill.User && s.set.Home != "":
			roots = append(roots, filepath.Join(s.set.Home, r.Path))
		case r.Scope == skill.System:
			roots = append(roots, r.Path)
		}
	}
	return roots
}

// acting are the skills that an action belongs to: what the host says, those
// whose files it runs (that is certain), else all that are loaded.
func (s *Session) acting(a *Action, dir string, files []string) (names []string, certain bool) {
	note := func(k *loaded) {
		if k != nil && !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	for i := range s.more.Skills {
		if k := &s.more.Skills[i]; a.Skill != "" && (k.Name == a.Skill || k.Dir == a.Skill) {
			note(k)
		}
	}
	for _, f := range files {
		note(s.skillAt(s.resolve(f, dir)))
	}
	if certain = len(names) > 0; certain {
		return names, true
	}
	for i := range s.more.Skills {
		note(&s.more.Skills[i])
	}
	return names, false
}

// texts are the files named SKILL.md that a call reads: by name, by a pattern, or in
// a directory of a skill, of skills, or of an agent, that it searches or copies.
func (s *Session) texts(a *Action, read *scan.Result, dir string) (files []string) {
	searched := read.Searched
	text := func(file string) bool { return strings.EqualFold(filepath.Base(file), "SKILL.md") }
	note := func(capability, path string) {
		if capability == "filesystem.read" || capability == "source_code.read" {
			for _, file := range append(s.matches(path, dir), path, filepath.Clean(s.absolute(path, dir))) {
				if text(file) || text(s.resolve(file, dir)) {
					files = append(files, file)
				}
			}
		}
	}
	for _, r := range a.Requests {
		for _, p := range r.Paths {
			note(r.Capability, p)
		}
		if a.Searches {
			searched = append(searched, r.Paths...)
		}
	}
	some := false
	for i := range read.Needs {
		n := &read.Needs[i]
		note(n.Capability, n.Target)
		some = some || n.Capability == "filesystem.read" && !n.Exact
		if n.Capability == "filesystem.read" && strings.Contains(n.Target, "**") {
			searched = append(searched, beneath(n.Target)) // shopt -s globstar
		}
	}
	for i := range read.Needs {
		if n := &read.Needs[i]; some && n.Capability == "filesystem.read" && n.Exact {
			searched = append(searched, n.Target) // find | xargs cat
		}
	}
	for _, at := range searched {
		note("filesystem.read", at)
		files = append(files, s.matches(at+"/[Ss][Kk][Ii][Ll][Ll].md", dir)...)
		files = append(files, s.matches(at+"/*/[Ss][Kk][Ii][Ll][Ll].md", dir)...)
		if strings.HasPrefix(filepath.Base(s.resolve(at, dir)), ".") { // .claude, which has "skills"
			files = append(files, s.matches(at+"/*/*/[Ss][Kk][Ii][Ll][Ll].md", dir)...)
		}
	}
	return files
}

// executed are the files that a command runs without its having read them: by a
// pattern, by a directory, in a language that is not read.
func (s *Session) executed(read *scan.Result, dir string) (files []string) {
	for i := range read.Needs {
		n := &read.Needs[i]
		if n.Capability != "source_code.execute" || n.Target == "" {
			continue
		}
		known := n.Target
		files = append(files, s.matches(known, dir)...)
		if i := strings.IndexAny(known, wild+"$"); i >= 0 {
			known = filepath.Dir(known[:i] + "-")
		}
		files = append(files, known, known+"/-") // it may be a directory
	}
	return files
}

const (
	wild       = "*?[{"
	maxMatches = 1000 // that one pattern counts for
	maxWild    = 3    // directories with wildcards that are looked at
	mostStands = 64   // files that a pattern is judged by, and a yes to it opens; things that one question is about
)

// made is what a need of a confined command is about: where directories on the way to
// it are not there either ("mkdir -p ../a/b && cp x ../a/b"), the first of them, since
// what a run makes in it it could not read otherwise. In the workspace it makes them
// anyway, and in what begins with a dot (~/.config) much is obeyed.
func (s *Session) made(r *policy.Request, path, dir string) string {
	at := s.absolute(path, dir)
	if !r.Confined || s.state.Workspace == "" || profiles.Within(s.state.Workspace, s.resolve(at, "/")) {
		return path
	}
	for {
		parent := filepath.Dir(at)
		if _, err := os.Lstat(parent); !errors.Is(err, fs.ErrNotExist) {
			return at
		}
		if at = parent; strings.HasPrefix(filepath.Base(at), ".") {
			return path
		}
	}
}

// stands are the files that a pattern in a confined command stands for now, to which
// a yes is held; none if that is not known, or they are many. Links among them, which
// would lead a yes elsewhere, are not. A pattern that stands for nothing is a name to
// delete: of a file that is not there.
func (s *Session) stands(pattern, dir string, deleting bool) (files []string) {
	found := slices.DeleteFunc(s.matches(strings.ReplaceAll(pattern, "[!", "[^"), dir), func(f string) bool { return hidden(s.absolute(pattern, dir), f) })
	if name := s.absolute(pattern, dir); !slices.Contains(found, name) {
		if _, err := os.Lstat(name); err == nil {
			found = append(found, name) // "app/[id].tsx", in quotes
		}
	}
	switch {
	case len(found) == 0 && deleting && wilds(pattern) <= maxWild && !strings.ContainsAny(pattern, "[{("):
		return []string{pattern}
	case len(found) > mostStands && deleting:
		return s.known(pattern, dir)
	case len(found) > mostStands:
		return nil
	}
	top := s.resolve(beneath(pattern), dir)
	for _, f := range found {
		if real := s.resolve(f, "/"); real == filepath.Join(s.resolve(filepath.Dir(f), "/"), filepath.Base(f)) && profiles.Within(top, real) {
			files = append(files, f)
		}
	}
	return files
}

// hidden says of what a pattern matches that a shell leaves it out: what begins with a
// dot is found by a dot only.
func hidden(pattern, name string) bool {
	for more := true; more; {
		var a, b string
		a, pattern, more = strings.Cut(pattern, "/")
		b, name, _ = strings.Cut(name, "/")
		if strings.HasPrefix(b, ".") && !strings.HasPrefix(a, ".") {
			return true
		}
	}
	return false
}

// beneath is the directory that all is in which a pattern, or a name that is decided
// at run time, can stand for; "." where nothing is known of it.
func beneath(pattern string) string {
	if i := strings.IndexAny(pattern, wild+"$"); i >= 0 {
		pattern = pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
	}
	return cmp.Or(pattern, ".")
}

// known is what is known of a name that a confined command deletes, part of which is
// decided when it runs: the directory that it is in, if that lies beneath the
// workspace, and the run is held to that; what has the shell's own number in its name
// is not there yet.
func (s *Session) known(name, dir string) []string {
	if strings.Contains(name, "$$") && !strings.Contains(strings.ReplaceAll(name, "$$", ""), "$") {
		return []string{name}
	}
	if !strings.ContainsAny(name, wild+"$") {
		return nil
	}
	at := filepath.Clean(s.absolute(beneath(name), dir))
	if real := s.resolve(at, "/"); real == s.state.Workspace || !profiles.Within(s.state.Workspace, real) {
		return nil
	}
	return []string{at}
}

// matches are the files that a pattern of the shell stands for now; none if it
// is none, or would take long.
func (s *Session) matches(pattern, dir string) []string {
	if n := wilds(pattern); n == 0 || n > maxWild {
		return nil
	}
	found, _ := filepath.Glob(s.absolute(pattern, dir))
	return found[:min(len(found), maxMatches)]
}

// wilds is how many parts of a pattern have wildcards.
func wilds(pattern string) (n int) {
	for part := range strings.SplitSeq(pattern, "/") {
		if strings.ContainsAny(part, wild) {
			n++
		}
	}
	return n
}

// capability and command are the first that a call has.
func (a *Action) capability() string {
	if len(a.Requests) == 0 {
		return ""
	}
	return a.Requests[0].Capability
}

func (a *Action) command() string {
	for i := range a.Requests {
		if a.Requests[i].Command != "" {
			return a.Requests[i].Command
		}
	}
	return ""
}

// requestOf fills in a request of the action itself.
func (s *Session) requestOf(a *Action, r policy.Request, dir string, now time.Time) policy.Request {
	paths := r.Paths
	r.Paths = nil
	for _, p := range paths {
		r.Paths = append(r.Paths, s.resolveAll(p, dir)...)
		r.Given = append(r.Given, filepath.Clean(s.absolute(p, dir)))
	}
	r.Confined, r.Time, r.Uses = a.Confined && r.Command != "", now, s.uses(r.Capability, now)
	r.Place = s.place(r.Paths)
	return r
}

// requestFor is one need of a command as a request.
func (s *Session) requestFor(a *Action, c *policy.Capability, n *scan.Need, dir string, now time.Time) policy.Request {
	r := policy.Request{Capability: c.Name, Confined: a.Confined && c.Enforced(), Time: now, Uses: s.uses(c.Name, now)}
	add := func(path string) {
		r.Paths = append(r.Paths, s.resolveAll(path, dir)...)
		r.Given = append(r.Given, filepath.Clean(s.absolute(path, dir)))
	}
	each := func(paths []string) {
		for _, p := range paths {
			add(p)
		}
	}
	deleting := c.Name == "filesystem.delete" || c.Name == "source_code.delete"
	switch {
	case n.Target != "" && !n.Exact && deleting && r.Confined:
		each(s.known(n.Target, dir))
	case n.Target == "" || !n.Exact:
	case strings.HasPrefix(n.Target, "$"):
		r.Names = []string{n.Target[1:]}
	case c.Group == "Network":
		r.Hosts = []string{n.Target}
	case c.Group == "Storage", c.Group == "Code Repository", c.Group == "Secrets", c.Group == "System" && c.Name != "package.install", c.Group == "Hardware":
		if !strings.ContainsAny(n.Target, "*?[") {
			add(s.made(&r, n.Target, dir))
		} else if r.Confined {
			each(s.stands(n.Target, dir, deleting))
		}
	default:
		r.Names = []string{n.Target}
	}
	if c.Group == "Code Repository" && strings.HasPrefix(c.Name, "commit.") && len(r.Paths) == 0 && n.Target == "" {
		r.Paths = []string{dir}
	}
	if c.Name == "shell.execute" || s.broader(&r) == "shell.execute" {
		r.Command = a.command() // it is the typed command that specifiers hold
	}
	r.Place = s.place(r.Paths)
	return r
}

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

// unread are what could not be read of a command, as the preset wants it.
func (s *Session) unread(a *Action, read *scan.Result, v *Verdict) (needs []judged) {
	add := func(f policy.Finding, effect policy.Effect, what string) {
		note := what + ": " + f.String()
		v.Notes = append(v.Notes, policy.Escape(note))
		if !a.Confined {
			effect = min(effect, policy.Confirm)
		}
		if effect != policy.Allow {
			needs = append(needs, judged{
				c: policy.Lookup("shell.execute"), single: true,
				need: Need{Capability: "shell.execute", Level: policy.Dangerous, Effect: effect, Reason: policy.Escape(note), Source: "preset:" + s.set.Preset.Name},
			})
		}
	}
	for _, f := range read.Opaque {
		add(f, s.set.Preset.Opaque, "decided at run time")
	}
	for _, f := range read.Unknown {
		add(f, s.set.Preset.Unread, "not read")
	}
	return needs
}
