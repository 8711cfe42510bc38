package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/hook"
	"skillrun/policy/session"
	"skillrun/policy/skill"
	"skillrun/profiles"
)

// exitBlocked is the exit code that agents take for no.
const exitBlocked = 2

// hookDeadline is when a hook that has not decided refuses: before the agent
// gives up on it after 10 s and goes on. It may take as long again to start and to
// end on a machine that a run keeps busy.
const hookDeadline = 4 * time.Second

func hookCommand() *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "answer an agent's hook: its event on stdin, the decision on stdout",
		UsageText: "skillrun hook AGENT",
		Action: func(c *cli.Context) error {
			agent, err := agentNamed(c.Args().Slice())
			if err != nil {
				return err
			}
			return answerHook(agent)
		},
	}
}

// answerHook answers the event on stdin.
func answerHook(agent *hook.Agent) error {
	reply := serve(agent, os.Stdin, hookDeadline)
	os.Stderr.Write(reply.Stderr)
	if len(reply.Stdout) > 0 {
		signal.Ignore(syscall.SIGPIPE) // an agent that reads no more is an error as others
		_, err := os.Stdout.Write(shownJSON(reply.Stdout))
		if err == nil && discarded(os.Stdout) {
			err = errors.New("the answer goes to nobody: standard output is closed")
		}
		if err != nil {
			return err
		}
	}
	if reply.Code != 0 {
		return exitError{reply.Code}
	}
	return nil
}

// discarded says that what is written to a file is lost. In the place of a standard
// output that is closed Go opens /dev/null.
func discarded(f *os.File) bool {
	to, err := f.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(to, null)
}

// serve answers one event. Whatever goes wrong, or takes too long, is refused.
func serve(agent *hook.Agent, in io.Reader, deadline time.Duration) hook.Reply {
	var seen atomic.Pointer[hook.Event]
	replies := make(chan hook.Reply, 1)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	go func() {
		defer func() {
			if p := recover(); p != nil {
				replies <- agent.Refuse(seen.Load(), policy.Escape(fmt.Sprint("internal error: ", p)))
			}
		}()
		data, err := io.ReadAll(io.LimitReader(in, hook.MaxEvent+1))
		if err == nil {
			// To an agent that could not write all of its event the hook has
			// failed, whatever it answers, and the tool is used.
			_, err = io.Copy(io.Discard, in)
		}
		if err == nil {
			var e *hook.Event
			e, err = agent.Read(data, os.Getenv("HOME"))
			seen.Store(e)
			if err == nil {
				var answer hook.Answer
				if answer, err = answerTo(ctx, agent, e); err == nil {
					replies <- agent.Reply(e, answer)
					return
				}
			}
		}
		replies <- agent.Refuse(seen.Load(), policy.Escape(err.Error()))
	}()
	select {
	case r := <-replies:
		return r
	case <-ctx.Done():
		return agent.Refuse(seen.Load(), fmt.Sprintf("no decision within %v", deadline))
	}
}

// answerTo finds the answer to an event.
func answerTo(ctx context.Context, agent *hook.Agent, e *hook.Event) (hook.Answer, error) {
	switch e.Kind {
	case hook.SessionStart:
		return startSession(ctx, agent, e)
	case hook.BeforeTool:
		return beforeTool(ctx, agent, e)
	case hook.AfterTool:
		return afterTool(ctx, e)
	}
	// The agent asks its user, as it was told to or by rules of its own.
	return hook.Answer{Effect: policy.Allow}, nil
}

// told is what the model is told at the start, so that a refusal is no riddle.
const told = "Shell commands run confined by skillrun, with the rights that the loaded skills declare and the user accepted. " +
	"What it refuses is policy, not a fault: do not look for a way around it, ask the user. " +
	"Put temporary files into $TMPDIR, which ends with the command, or into the project: the user is asked about each name in /tmp."

func startSession(ctx context.Context, agent *hook.Agent, e *hook.Event) (hook.Answer, error) {
	// After the first start of an agent, its directory may be the model's choice.
	d, err := newDecider(nil, e.Session, cmp.Or(projectOf(agent), e.Cwd))
	if err != nil {
		return hook.Answer{}, err
	}
	s, err := session.Start(ctx, d.settings, e.Session)
	if err != nil {
		return hook.Answer{}, err
	}
	if store, err := openCalls(d.settings.Dir); err == nil {
		store.sweep(time.Now())
		store.drop(e.Session, "") // what was proven, of another version perhaps
		store.close()
	}
	answer := hook.Answer{Effect: policy.Allow, Context: told}
	if agent.Unproven {
		answer.Context += " If it refuses a command and names one to run instead, run that one."
	}
	return answer, s.Close()
}

// openSession opens the session of an event. One that was not seen to start
// (the hook was installed since) starts where the agent says its project is;
// the event's own directory may be the model's choice.
func openSession(ctx context.Context, agent *hook.Agent, e *hook.Event) (*decider, *session.Session, error) {
	d, err := newDecider(nil, e.Session, projectOf(agent))
	if errors.Is(err, errNoSession) {
		return nil, nil, fmt.Errorf("this session began before skillrun was asked about it, or was refused when it began: restart the agent; if this comes again, skillrun doctor --agent %s in the project says why", agent.Name)
	}
	if err != nil {
		return nil, nil, err
	}
	if at, err := filepath.EvalSymlinks(e.Cwd); err == nil && profiles.Within(d.settings.Workspace, at) {
		d.settings.Places.Current = at
	}
	s, err := session.Start(ctx, d.settings, e.Session)
	return d, s, err
}

// projectOf is where an agent says that its project is, "" if it does not say.
func projectOf(agent *hook.Agent) string {
	if agent.ProjectVariable == "" {
		return ""
	}
	return os.Getenv(agent.ProjectVariable)
}

func beforeTool(ctx context.Context, agent *hook.Agent, e *hook.Event) (hook.Answer, error) {
	if len(e.Requests) == 0 {
		return hook.Answer{Effect: policy.Allow}, nil
	}
	program, err := thisProgram()
	if err != nil {
		return hook.Answer{}, err
	}
	offered, altered := false, false
	if agent.Unproven && e.Command() != "" {
		door := hook.Door{Program: program, Session: e.Session}
		if command, call, ok := door.Inside(e.Command()); ok {
			if e.Fixed() {
				return hook.Answer{Effect: policy.Allow}, nil // the run has it decided
			}
			e.Replace(command)
			offered = call == ""
		} else {
			altered = door.Altered(e.Command())
		}
	}
	d, s, err := openSession(ctx, agent, e)
	if err != nil {
		return hook.Answer{}, err
	}
	defer s.Close()
	var passed call
	passed.Asks = agent.Asks(e)
	v := d.decide(ctx, s, e, &passed)
	if altered {
		return hook.Answer{Reason: hook.Changed}, nil
	}
	answer := hook.Answer{Effect: v.Effect, Reason: v.Reason}
	passed.Run = v.Call
	for _, n := range v.Needs {
		passed.Withhold = passed.Withhold || n.Level == policy.Redact && e.Command() == ""
	}
	if answer.Effect == policy.Deny {
		return answer, nil
	}
	command := e.Command()
	passed.Asked = answer.Effect == policy.Confirm
	if command == "" && !passed.Asked && !passed.Withhold {
		return answer, nil
	}
	store, err := openCalls(d.settings.Dir)
	if err != nil {
		return hook.Answer{}, err
	}
	defer store.close()
	if command != "" && agent.Unproven {
		var proven bool
		if _, err := store.get(e.Session, "", provenFile, &proven); err != nil {
			return hook.Answer{}, err
		}
		if !passed.Asked && (e.Fixed() || !proven && !offered) {
			door := hook.Door{Program: program, Session: e.Session, Tell: true}
			return hook.Answer{Reason: hook.Instead(door.Command(command))}, nil
		}
		passed.Proves = !proven
	}
	id := e.Call
	if id == "" || passed.Proves {
		id = audit.NewID()
	}
	if command != "" {
		door := hook.Door{Program: program, Session: e.Session, Call: id, Tell: !agent.Explains || id != e.Call}
		if passed.Place = agent.KeepsDirectory; passed.Place {
			door.Directory = store.path(e.Session, id)
		}
		passed.Unset = slices.Sorted(maps.Keys(projectProxies(agent, d.settings.Workspace, projectOf(agent), e.Cwd)))
		passed.Command, passed.Dir, answer.Command = commandDigest(command), e.Dir(), door.Command(command)
	}
	return answer, store.put(e.Session, id, callFile, &passed)
}

// projectProxies gives the variables that name proxies and that files of a project
// set for what an agent starts, each with such a file: those of the directories that
// it may have been started in, and above, up to the workspace.
func projectProxies(agent *hook.Agent, workspace string, from ...string) map[string]string {
	set := map[string]string{}
	if agent.Settings == nil {
		return set
	}
	dirs := []string{workspace}
	for _, dir := range from {
		at, err := filepath.EvalSymlinks(dir)
		for err == nil && filepath.IsAbs(at) {
			dirs = append(dirs, at)
			if !profiles.Within(workspace, at) || at == workspace {
				break
			}
			at = filepath.Dir(at)
		}
	}
	for _, dir := range dirs {
		for _, name := range agent.Settings.Env {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err != nil || info.IsDir() {
				continue // the agent cannot read it either
			}
			data, err := readSettings(file)
			if err != nil {
				data = nil
			}
			for _, variable := range agent.Proxies(name, data) {
				set[variable] = file
			}
		}
	}
	return set
}

// decide decides about the use of a tool. That of a skill that is found is the
// loading of it.
func (d *decider) decide(ctx context.Context, s *session.Session, e *hook.Event, passed *call) session.Verdict {
	if r := &e.Requests[0]; r.Capability == "context.load" {
		found := map[string]skill.Found{}
		unknown := false
		for _, name := range r.Names {
			if f, ok := d.skillNamed(name); ok {
				found[f.Dir] = f
			} else {
				unknown = true
			}
		}
		if len(found) > 1 || unknown && len(found) > 0 {
			return session.Verdict{Reason: "one call names several skills"}
		}
		for dir, f := range found {
			by := session.ByAgent
			if f.Given != dir && enclosing(d.host, filepath.Dir(f.Given), d.settings.Places.Project) != "" {
				by = session.ByLink
			}
			passed.Skill = dir
			return s.Load(ctx, dir, by)
		}
	}
	a := session.Action{
		Event: "PreToolUse", Tool: policy.Escape(e.Tool), Requests: e.Requests, Dir: e.Dir(), Confined: e.Command() != "", Asks: passed.Asks, Searches: e.Searches(),
	}
	if r := &e.Requests[0]; r.Capability == "subagent.delegate" {
		a.Starts = subagentStarts(d.settings.Workspace, e.Cwd, r.Names)
	}
	v := s.Decide(ctx, a)
	if e.Requests[0].Capability == "context.load" && v.Effect == policy.Confirm {
		v.Reason += " (it is not found where agents look first, so nobody looked into it: what the agent itself starts of it has all of the user's rights)"
	}
	return v
}

// skillNamed gives the skill that an agent calls by a name, if one is found where
// agents look. Some go by the directory and some by the
// header, and of several with that name each takes another: the least trusted
// counts. Agents let blanks, a command's slash and a plugin's name before it pass; where
// such a name stands, or there was too much to look through, it may as well be another
// that is not found, such as "dir:name" of a directory of the project.
func (d *decider) skillNamed(name string) (f skill.Found, ok bool) {
	bare := strings.TrimLeft(strings.TrimSpace(name), "/")
	bare = strings.TrimSpace(bare[strings.LastIndexByte(bare, ':')+1:])
	is := func(other string) bool { return other == name || strings.EqualFold(strings.TrimSpace(other), bare) }
	found, complete := d.settings.Places.Discover()
	named := slices.DeleteFunc(found, func(f skill.Found) bool {
		if is(f.Name) {
			return false
		}
		s, err := skill.Open(f.Dir)
		return err != nil || !is(s.Name)
	})
	if len(named) == 0 {
		return f, false
	}
	f = slices.MinFunc(named, func(a, b skill.Found) int { return cmp.Compare(a.Scope, b.Scope) })
	return f, f.Scope <= skill.Project || complete && !strings.Contains(name, ":")
}

// subagents is where a directory of a project has definitions of subagents.
const subagents = ".claude/agents"

// subagentStarts says what the definitions of subagents with one of these names have the
// agent start: those of the directories from cwd up to the workspace. "" is nothing.
func subagentStarts(workspace, cwd string, called []string) (what string) {
	if len(called) == 0 {
		called = []string{"general-purpose"} // the agent's own, unless the project has one
	}
	left := 1000 // files and directories
	var search func(dir string, depth int)
	search = func(dir string, depth int) {
		entries, _ := os.ReadDir(dir) // what cannot be listed the agent does not find
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			info, err := os.Stat(file) // by links, too
			switch left--; {
			case what != "":
				return
			case left < 0, depth > 6:
				what = "what stands in " + policy.Shown(dir)
			case err != nil:
			case info.IsDir():
				search(file, depth+1)
			case strings.EqualFold(filepath.Ext(file), ".md"):
				data, err := readSettings(file)
				for _, name := range called {
					if starts := policy.SubagentStarts(data, name); starts != "" {
						what = starts + " (" + policy.Shown(file) + ")"
					}
				}
				if err != nil {
					what = "what stands in " + policy.Shown(file)
				}
			}
		}
	}
	at, err := filepath.EvalSymlinks(cwd)
	for err == nil && profiles.Within(workspace, at) && at != workspace {
		search(filepath.Join(at, subagents), 0)
		at = filepath.Dir(at)
	}
	search(filepath.Join(workspace, subagents), 0)
	return what
}

// afterTool tells the model what was refused, and takes secrets out of what it
// gets to read.
func afterTool(ctx context.Context, e *hook.Event) (hook.Answer, error) {
	answer := hook.Answer{Effect: policy.Allow}
	if e.Call == "" {
		return answer, nil
	}
	d, err := newDecider(nil, e.Session, "")
	if errors.Is(err, errNoSession) {
		return answer, nil // nothing was let pass
	}
	if err != nil {
		return answer, err
	}
	store, err := openCalls(d.settings.Dir)
	if err != nil {
		return answer, err
	}
	defer store.close()
	var passed call
	found, err := store.get(e.Session, e.Call, callFile, &passed)
	if err != nil {
		return answer, err
	}
	if found && passed.Command == "" {
		defer store.drop(e.Session, e.Call)
		if passed.Withhold {
			answer.Redact = withhold
		}
		if passed.Asked {
			if err := d.accepted(ctx, e, &passed); err != nil {
				return answer, err
			}
		}
	}
	// A command in the background has only begun: its files are still to be
	// read and written.
	var o result
	if found, err = store.get(e.Session, e.Call, resultFile, &o); err != nil {
		return answer, err
	}
	if found {
		defer store.drop(e.Session, e.Call)
		redact := o.redaction()
		answer.Context = o.explanation(redact)
		if redact != nil {
			answer.Redact = redact
		}
	}
	return answer, nil
}

// accepted takes the user's yes, of which the use of the tool is the proof.
func (d *decider) accepted(ctx context.Context, e *hook.Event, passed *call) error {
	s, err := session.Open(ctx, d.settings, e.Session)
	if err != nil {
		return err
	}
	defer s.Close()
	if passed.Skill != "" {
		if v := s.Load(ctx, passed.Skill, session.ByUser); v.Effect != policy.Allow {
			return errors.New(v.Reason)
		}
		return nil
	}
	if passed.Run == "" {
		return nil
	}
	return s.Answer(passed.Run, session.Once)
}
