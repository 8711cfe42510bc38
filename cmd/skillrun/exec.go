package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/hook"
	"skillrun/policy/session"
	"skillrun/profiles"
	"skillrun/sandbox"
)

func execCommand(in *invocation) *cli.Command {
	return &cli.Command{
		Name:      "exec",
		Usage:     "run a command with the rights that an agent's session gives it",
		UsageText: "skillrun exec --session ID [flags] -- COMMAND [ARG...]",
		Flags: append(runFlags("`ID` of the agent's session, whose rights count"),
			&cli.StringFlag{Name: "call", Usage: "`ID` of the tool call that a hook decided about; without it the decision is made now"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "say what is being done"},
		),
		Action: func(c *cli.Context) error { return execSession(c, in) },
	}
}

// A sessionRun is what a run in an agent's session has besides a job.
type sessionRun struct {
	id, call string
	run      string // what the decision calls it
	place    bool   // the next command starts where this one ends
	calls    *calls
	settings session.Settings
	text     string   // of the command
	asks     bool     // the agent can ask its user
	unset    []string // variables that were set, and are not the user's word
}

func execSession(c *cli.Context, in *invocation) error {
	if err := in.check(c); err != nil {
		return err
	}
	id := c.String("session")
	if !hook.ValidID(id) {
		return usage(fmt.Errorf("--session %s: not the name of a session", quote(id)))
	}
	if c.IsSet("call") && !hook.ValidID(c.String("call")) {
		return usage(fmt.Errorf("--call %s: not the name of a call", quote(c.String("call"))))
	}
	room := sandbox.MakeRoom()
	defer room.Remove()
	cwd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("current directory: %w", err)
	}
	d, err := newDecider(c, id, "")
	if err != nil {
		return err
	}
	j, err := d.sessionJob(id, c.String("call"), cwd, in.command)
	if err != nil {
		return err
	}
	_, err = launch(c, j, room)
	return err
}

// sessionJob is the run of a command in a session: one that a hook let pass, or
// one that is decided about now.
func (d *decider) sessionJob(id, name, cwd string, argv []string) (*job, error) {
	ctx := context.Background()
	s, err := session.Open(ctx, d.settings, id)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	store, err := openCalls(d.settings.Dir)
	if err != nil {
		return nil, err
	}
	text := shellText(argv)
	var passed call
	if name != "" {
		found, err := store.take(id, name, callFile, &passed)
		if err != nil {
			return nil, err
		}
		if !found || passed.Command != commandDigest(text) {
			return nil, fmt.Errorf("call %s: no such command was let pass; each is run once", quote(name))
		}
		if passed.Proves {
			if err := store.put(id, "", provenFile, true); err != nil {
				return nil, err
			}
		}
	}
	var unset []string
	for _, variable := range passed.Unset {
		if d.host.Env[variable] != "" {
			unset = append(unset, variable)
		}
		delete(d.host.Env, variable)
	}
	// An agent may run it elsewhere than it said: then it runs other files.
	if name == "" || !sameDir(passed.Dir, cwd) {
		v := s.Decide(ctx, session.Action{Event: "exec", Tool: "exec", Requests: []policy.Request{{Capability: "shell.execute", Command: text}}, Dir: cwd, Confined: true})
		switch v.Effect {
		case policy.Confirm:
			return nil, withHint{errors.New("the user has to be asked: " + v.Reason), "nobody can be asked here: run it with skillrun --skill DIR -- COMMAND"}
		case policy.Deny:
			return nil, errors.New(v.Reason)
		}
		passed.Run = v.Call
	}
	run, err := s.Run(passed.Run)
	if err != nil {
		return nil, err
	}
	j := &job{
		host: d.host, cwd: cwd, workspace: run.Workspace, set: run.Set, preset: d.settings.Preset, approve: policy.ApproveNone,
		strict: d.strict, fresh: d.fresh, allowGaps: d.allowGaps, vars: d.vars, verbose: d.vars.verbose, argv: argv, decisive: d.decisive,
		session: &sessionRun{id: id, call: name, run: passed.Run, place: passed.Place, calls: store, settings: d.settings, text: text, asks: passed.Asks, unset: unset},
	}
	j.ownOutput = run.Set.Limits.Output != j.preset.Limits.Output
	if run.Skill != "" {
		if j.skill, err = loadSkill(run.Skill); err != nil {
			return nil, err
		}
		j.skill.tier, j.skill.why = run.Set.Tier, "loaded in the session"
	}
	return j, nil
}

// hookNice is the nice value of what agents run.
const hookNice = 10

// nice is that of the run: what an agent runs gives way to the hook that decides
// about its next command, for which the agent does not wait long.
func (j *job) nice() int {
	if j.session == nil {
		return 0
	}
	return hookNice
}

// sameDir says whether two paths lead to one directory.
func sameDir(a, b string) bool {
	x, err := filepath.EvalSymlinks(a)
	if err != nil {
		return false
	}
	y, err := filepath.EvalSymlinks(b)
	return err == nil && x == y
}

// shellText is the text of a command: as the agent's model wrote it, where it is
// a shell's.
func shellText(argv []string) string {
	if len(argv) == 3 && argv[0] == "bash" && argv[1] == "-c" {
		return argv[2]
	}
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = hook.Quote(a)
	}
	return strings.Join(words, " ")
}

// lastDirectory is the file in its HOME in which a run's shell leaves the
// directory that it ends in.
const lastDirectory = ".skillrun-directory"

// noting has the shell leave its last directory, unless the command itself ends
// the shell. (A trap would see that too, and have the shell wait for what it has
// started when it is told to end.) What it leaves is checked: anything in the
// run can write there.
func noting(argv []string) []string {
	if len(argv) != 3 || argv[1] != "-c" || filepath.Base(argv[0]) != "bash" {
		return argv
	}
	return []string{argv[0], argv[1], `skillrun_home=$HOME; eval -- ` + hook.Quote(argv[2]) +
		`; skillrun_code=$?; { pwd -P >|"$skillrun_home/` + lastDirectory + `"; } 2>/dev/null || :; exit "$skillrun_code"`}
}

// leave tells the shell outside where the run's shell ended, if that is in the
// workspace.
func (r *sessionRun) leave(j *job, home string) {
	dir := readNote(home)
	resolved, err := filepath.EvalSymlinks(dir)
	if dir == "" || err != nil || resolved != dir || dir != j.workspace && !strings.HasPrefix(dir, strings.TrimSuffix(j.workspace, "/")+"/") {
		return
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return
	}
	if err := os.WriteFile(r.calls.path(r.id, r.call), []byte(dir+"\n"), 0o600); err != nil {
		say("cannot leave the directory of the shell: %v", err)
	}
}

// readNote reads what a run left, "" if that is no path of one line.
func readNote(home string) string {
	root, err := os.OpenRoot(home)
	if err != nil {
		return ""
	}
	defer root.Close()
	f, err := root.OpenFile(lastDirectory, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(f, 8<<10))
	dir, ok := strings.CutSuffix(string(b), "\n")
	if err != nil || !ok || !filepath.IsAbs(dir) || policy.Escape(dir) != dir {
		return ""
	}
	return dir
}

// tell leaves what came of the run for the hook after it, and for the session what
// the user can be asked about when the command comes again.
func (r *sessionRun) tell(run string, denials []audit.Denial, more int, wants []session.Want, secrets []profiles.Secret) error {
	if r.call == "" {
		return nil
	}
	o := result{Run: run, Denials: denials, More: more}
	if r.asks && len(wants) > 0 {
		asks := false
		s, err := session.Open(context.Background(), r.settings, r.id)
		if err == nil {
			asks, err = s.Refused(r.text, wants)
			err = errors.Join(err, s.Close())
		}
		o.Asks = asks && err == nil // else it is refused again, and nobody asked
	}
	for _, s := range secrets {
		if s.Env != "" {
			o.Variables = append(o.Variables, s.Env)
		}
		if s.Path != "" {
			o.Files = append(o.Files, s.Path)
		}
	}
	return r.calls.put(r.id, r.call, resultFile, &o)
}
