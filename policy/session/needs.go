package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/profiles"
)

// scan reads the command of an action, as it would run in a directory.
func (s *Session) scan(a *Action, dir string) scan.Result {
	files := &scripts{s: s}
	env := scan.Env{FS: files, Dir: dir, Roots: s.roots(), Home: s.set.Home}
	if a.Confined { // else nothing holds git to what its configuration says now
		env.Remote = s.set.Remote
	}
	read := scan.Command(a.command(), env)
	if files.hidden {
		read.Opaque = append(read.Opaque, policy.Finding{Pos: policy.Pos{File: "command", Line: 1, Column: 1}, What: "a script that is a secret, or that a link leads to, is not read"})
	}
	return read
}

// needsOf judges what a command was read to need. Of a confined one only what its run
// would not get by itself counts.
func (s *Session) needsOf(a *Action, st *policy.State, read *scan.Result, dir string, now time.Time) (needs []judged, err error) {
	for i := range read.Needs {
		n := &read.Needs[i]
		if a.Confined && (unset(n) || s.standing(read.Needs, n, dir)) {
			continue
		}
		c := policy.Lookup(n.Capability)
		if c == nil {
			return nil, fmt.Errorf("the command needs %q, which nothing grants", n.Capability)
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
	return needs, nil
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
