package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/profiles"
	"skillrun/sandbox"
)

func runCommand(in *invocation) *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a command under a skill's rights (the default)",
		UsageText: "skillrun [run] --skill DIR [flags] -- COMMAND [ARG...]",
		Flags:     append(policyFlags(), runFlags(recorded)...),
		Action:    func(c *cli.Context) error { return run(c, in) },
	}
}

// recorded is the help of --session where it gives no rights.
const recorded = "`ID` of the agent's session, for the audit log only"

func namespacesFlag() cli.Flag {
	return &cli.StringFlag{Name: "namespaces", Value: "auto", Usage: "`HOW` the run gets namespaces of its own: on, off, or auto (where they work)"}
}

// runFlags are the flags of run and exec that say how, and not what for; session
// is the help of --session.
func runFlags(session string) []cli.Flag {
	return []cli.Flag{
		namespacesFlag(),
		&cli.BoolFlag{Name: "denials", Usage: "show each refusal as it happens, those of reads too"},
		&cli.BoolFlag{Name: "receipt", Usage: "show what holds each clause here, and how strongly"},
		&cli.BoolFlag{Name: "net-summary", Usage: "say at the end which hosts were reached, with connections and bytes"},
		&cli.StringFlag{Name: "report", Usage: "write to `FILE`, as JSON, what happened"},
		&cli.GenericFlag{Name: "capture", Value: new(captureMode), Usage: "record SHA-256 and size of stdin, stdout and stderr, which then are pipes; with `[=full]` also the beginning of the outputs"},
		&cli.StringFlag{Name: "session", Usage: session},
	}
}

// check wants a command, and nothing before it but flags.
func (in *invocation) check(c *cli.Context) error {
	if c.Args().Present() {
		return usage(fmt.Errorf("unexpected %s: the command to run goes after \"--\"", quote(c.Args().First())))
	}
	if !in.dashes || len(in.command) == 0 {
		return usage(errors.New("no command: put it after \"--\""))
	}
	return nil
}

func run(c *cli.Context, in *invocation) error {
	if err := in.check(c); err != nil {
		return err
	}
	said := &answers{}
	for {
		again, err := attempt(c, in, *said)
		if again == nil {
			return err
		}
		said = again
	}
}

// attempt runs the command once. It gives what the user said for another run,
// if there is to be one.
func attempt(c *cli.Context, in *invocation, said answers) (again *answers, err error) {
	room := sandbox.MakeRoom()
	defer room.Remove()
	limits, err := flagLimits(c)
	if err != nil {
		return nil, err
	}
	started := startWithin(limits.Wall)
	j, err := newJob(c, in.command, said)
	started()
	if err != nil {
		return nil, err
	}
	for _, f := range j.findings {
		say("%s", f)
	}
	if !j.set.Declared && (j.skill != nil || j.verbose) && said.lasting == "" {
		say("%s", j.undeclared())
	}
	if why, grant := j.typed(in.command); grant != "" {
		return nil, j.refused(c, withHint{errors.New(why), "--grant " + grant + " runs any command, with the skill's other rights"})
	} else if why != "" {
		return nil, j.refused(c, errors.New(why))
	}
	if err := j.consent(); err != nil {
		return nil, j.refused(c, err)
	}
	return launch(c, j, room)
}

// typed says why the command is not what the skill declares, as it was typed and with
// files by their whole paths.
func (j *job) typed(command []string) (why, grant string) {
	whole := slices.Clone(j.argv)
	for i, word := range whole {
		if strings.Contains(word, "/") && !filepath.IsAbs(word) {
			whole[i] = filepath.Join(j.cwd, word)
		}
	}
	for _, argv := range [...][]string{command, whole} {
		if why, grant = j.set.Typed(argv, time.Now()); grant == "" {
			break
		}
	}
	return why, grant
}

// launch runs the command of a job to its end, and exits as it did.
func launch(c *cli.Context, j *job, room *sandbox.Room) (again *answers, err error) {
	mode, err := parseMode(c.String("namespaces"))
	if err != nil {
		return nil, usage(err)
	}
	state, err := j.stateDir()
	if err != nil {
		return nil, err
	}
	if j.unsettled != nil {
		return nil, j.refused(c, j.unsettled)
	}
	if err := j.makeState(state); err != nil {
		return nil, err
	}
	look := j.lookAtSkill()
	known := approvalsAsOf(j.host)
	started := startWithin(j.set.Limits.Wall)
	defer started()
	observe := showsDenials(c, j) || j.session != nil && j.session.call != "" || c.String("report") != ""
	streams := fmt.Sprint(observe, isTerminal(os.Stdout), isTerminal(os.Stderr), j.ownOutput, c.Generic("capture"))
	plan, keep, err := j.plan(state, mode, streams)
	if err != nil {
		return nil, err
	}
	if j.session == nil {
		j.tellStart(&plan.Profile)
	}
	path, err := j.program(c)
	if err != nil {
		return nil, err
	}
	parents, err := j.parents(&plan.Profile)
	if err != nil {
		return nil, err
	}
	rec, err := newRecorder(c, j, state, plan, path, look)
	if err != nil {
		return nil, err
	}
	defer rec.close()
	live, err := j.enlist(state, &plan.Profile)
	if err != nil {
		return nil, err
	}
	defer live.Close()
	if !slices.EqualFunc(known, approvalsAsOf(j.host), time.Time.Equal) {
		return nil, j.refused(c, withHint{errors.New("a skill was approved or revoked while this run was prepared"), "run it again"})
	}
	release, restore := func() {}, keepTerminal()
	result, err := sandbox.Run(&sandbox.Spec{
		Run:      rec.id,
		Profile:  &plan.Profile,
		Compiled: &plan.Compiled,
		Room:     room,
		Path:     path,
		Argv:     rec.argv(),
		Dir:      j.cwd,
		Caches:   j.caches(),
		Cache:    plan.Cache,
		Uncached: j.uncached,
		Environ:  os.Environ(),
		Parents:  parents,
		Files:    j.host.FS,
		Mounts:   j.host.Mounts,
		Stdin:    os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Tee:         rec.tees(),
		BoundOutput: j.ownOutput,
		Firm:        j.firm(),
		Nice:        j.nice(),
		Namespaces:  mode,
		Observe:     observe,
		Strict:      j.strict,
		AllowGaps:   j.allowGaps,
		Starting:    rec.starting,
		Started: func() error {
			defer started() // the log may be another's for a while
			return rec.started()
		},
		Refused:   rec.refused,
		Ended:     rec.left,
		Connected: rec.traffic.add,
		Nested:    rec.nested,
		Signals: sync.OnceValues(func() (signals <-chan os.Signal, err error) {
			signals, release, err = sandbox.CatchSignals()
			return signals, err
		}),
	})
	restore()
	if err != nil {
		return nil, rec.unbegun(err)
	}
	go room.Remove() // beside the record of the end
	if keep != nil && !result.TimedOut {
		keep(result.Compiled) // which looks at files
	}
	return rec.conclude(c, result, room, release)
}

// unbegun records that the command did not start, and gives how skillrun exits.
func (r *recorder) unbegun(err error) error {
	var start interface{ NotExecutable() bool }
	if errors.As(err, &start) && start.NotExecutable() {
		r.refusedToRun(err, exitNotExecutable)
		printError(err)
		return exitError{exitNotExecutable}
	}
	r.refusedToRun(err, exitRefused)
	return err
}

// conclude records and tells of the end of a run, and exits as its command did, but
// where the user wants another try.
func (r *recorder) conclude(c *cli.Context, result sandbox.Result, room *sandbox.Room, release func()) (again *answers, err error) {
	code, err := r.ended(result, room)
	if err != nil {
		return nil, err
	}
	if c.Bool("receipt") || r.job.vars.receipt {
		printReceipt(result.Receipt)
	}
	if c.Bool("net-summary") {
		r.traffic.tell(r.profile.Network.Mode)
	}
	if result.Status.Signaled() && !result.TimedOut && result.Limit == "" {
		room.Remove()
		dieBy(result.Status.Signal())
	}
	if again, err := r.offer(code, release); again != nil || err != nil {
		return again, err
	}
	if code != 0 {
		return nil, exitError{code}
	}
	return nil, nil
}

// program finds the file of the command's first word, and says why there is none. A
// version manager's shim gives way to what it would start.
func (j *job) program(c *cli.Context) (string, error) {
	word := j.argv[0]
	if strings.Contains(word, "/") && !filepath.IsAbs(word) {
		word = filepath.Join(j.cwd, word)
	}
	path, err := j.host.Lookup(word, j.host.Env["PATH"])
	if err != nil {
		code := exitNotExecutable
		if errors.Is(err, fs.ErrNotExist) {
			code = exitNotFound
		}
		say("%s", j.refusedAs(c, err, code))
		if what := j.unstartable(word, j.argv[0]); what != "" {
			hint("%s", what)
		}
		return "", exitError{code}
	}
	if real := j.host.Unshim(path, j.cwd); real != path {
		path, j.argv = real, append([]string{real}, j.argv[1:]...)
	}
	return path, nil
}

// enlist leaves in the state directory what later launches need to know of this run,
// before it begins: where it may make links, which manifest decided, and, until what
// it gives is closed, that it goes on.
func (j *job) enlist(state string, p *profiles.Profile) (*os.File, error) {
	// An earlier run that had the plan noted it, in a list that may have been removed.
	if _, err := os.Lstat(filepath.Join(state, writtenFile)); err != nil || !j.recalled {
		if err := noteWritten(j.host, state, p); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(j.manifest); err == nil && info.Mode().IsRegular() { // no pipe
		if err := note(state, manifestsFile, []string{filepath.Clean(j.manifest)}); err != nil {
			return nil, err
		}
	}
	begun := time.Unix(0, 0)
	if files, ok := j.host.FS.(*snapshot); ok {
		begun = files.begun
	}
	return registered(state, p, begun)
}

// interpreterOf names that of a script by the end of its name.
func interpreterOf(script string) string {
	switch filepath.Ext(script) {
	case ".py":
		return "python3"
	case ".js", ".cjs", ".mjs":
		return "node"
	case ".pl":
		return "perl"
	case ".rb":
		return "ruby"
	}
	return "bash"
}

// unstartable says what a first word, as it was typed, may be a slip for that names no
// program.
func (j *job) unstartable(word, typed string) string {
	program, _, several := strings.Cut(typed, " ")
	info, err := os.Stat(word)
	if j.skill != nil && err != nil {
		for _, name := range [...]string{typed, filepath.Join("scripts", typed)} {
			if file, ok := j.skillFile(name); ok {
				return quote(typed) + " is not here; the skill has one: " + quote(file)
			}
		}
	}
	switch {
	case several && err != nil:
		return "the program and each of its arguments are words of their own: not " + quote(typed) + " but " + quote(program) + " ...; for a shell's text: sh -c " + quote(typed)
	case err != nil || !strings.Contains(word, "/"):
		return ""
	case info.IsDir():
		return "that is a directory"
	case info.Mode().Perm()&0o111 == 0:
		return "its mode has no x: chmod +x, or give it to its interpreter, as in " + interpreterOf(word) + " " + quote(word)
	}
	return ""
}

// startWithin ends this program if what it gives is not called in time: a command
// with a limit of time is not waited for any longer because a file system on its
// way does not answer, or the audit log is another's. 0 is no limit.
func startWithin(limit time.Duration) (started func()) {
	if limit == 0 {
		return func() {}
	}
	timer := time.AfterFunc(limit, func() {
		time.AfterFunc(time.Second, func() { os.Exit(exitTimeout) }) // where nobody reads this
		say("timed out after %v: the command was not started", limit)
		os.Exit(exitTimeout)
	})
	return sync.OnceFunc(func() {
		if !timer.Stop() {
			select {} // it has been said, and is about to be so
		}
	})
}

// tellStart says that the command starts, as any does, where the user is, which is
// not the workspace that was named: relative names do not lead there.
func (j *job) tellStart(p *profiles.Profile) {
	cwd, err := j.host.Resolve(j.cwd)
	if err != nil || j.workspace == "" || enclosing(j.host, cwd, j.workspace) != "" || p.Allows(cwd, profiles.Read).Allowed {
		return
	}
	say("the command starts in %s, outside the workspace %s, and may not read there: change to the workspace first, or name its files by their whole paths", quote(cwd), quote(j.workspace))
}

func parseMode(s string) (sandbox.Mode, error) {
	switch s {
	case "auto":
		return sandbox.Auto, nil
	case "on":
		return sandbox.On, nil
	case "off":
		return sandbox.Off, nil
	}
	return 0, fmt.Errorf("--namespaces %s: not auto, on or off", quote(s))
}

// exitCode is the code of a run in a shell's terms.
func exitCode(r *sandbox.Result) int {
	switch {
	case r.TimedOut || r.Limit != "":
		return exitTimeout
	case r.Status.Signaled():
		return 128 + int(r.Status.Signal())
	case r.Lost != nil && r.Status.ExitStatus() == 0:
		return exitLost
	}
	return r.Status.ExitStatus()
}

func printReceipt(r profiles.Receipt) {
	for _, c := range r {
		say("receipt: %s", clauseLine(c))
	}
}
