// Command skillrun runs a command with the rights that a skill's permission
// manifest declares and its user accepts, and no others.
//
// Each subcommand is in the file of its name, "skillrun --skill X -- CMD" in
// run.go. To read the code, follow a run:
//
//   - main.go cuts the command line; job.go brings together what has a say
//     (skill.go, config.go, variables.go, limits.go, approval.go, workspace.go,
//     script.go); prompt.go asks the user.
//   - memo_linux.go takes an earlier launch's plan if nothing has changed that it
//     came from: snapshot.go, sifted_linux.go and plain.go know what that is.
//   - run.go starts the command, by package sandbox. Beside it, record.go writes
//     the audit log and report.go --report; live.go lists the runs that go on,
//     written.go the trees that runs could write. index.go and sequence.go take
//     away what git would obey afterwards.
//   - What a person is told of refusals: denial.go, useless.go and unchanged.go
//     for single ones; end.go when the run is over, with left.go of what went with it and
//     wanting.go of what it did not get; retry.go whether to try again.
//
// An agent's session comes in by hook.go or decide.go (session.go and call.go are
// what they share), and its commands by exec.go, which runs them as run.go does.
// message.go has the form of all messages.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
)

// Exit codes of our own; every other one is the command's.
const (
	exitLost          = 1 // where the command succeeded
	exitTimeout       = 124
	exitRefused       = 125 // refused, or failed before the command started
	exitNotExecutable = 126
	exitNotFound      = 127
)

func main() {
	// Before there is a command for them they do what they do to any program:
	// Go's runtime would print a trace, or nothing.
	for _, s := range [...]syscall.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		defaultAction(s)
	}
	become(os.Args)
	growStack(len(os.Args) == 0)
	os.Exit(realMain(os.Args))
}

// growStack makes the stack as large as a launch needs, at once: the runtime would do it
// in four steps, in each of which it goes through all frames, for what points into them.
// It looks at the size of this one's; nothing is in it.
//
//go:noinline
func growStack(never bool) {
	if never {
		var frame [20 << 10]byte
		os.Stdin.Read(frame[:])
		os.Stdout.Write(frame[:])
	}
}

func realMain(args []string) int {
	before, command, dashes := arrange(args)
	if len(before) == 1 && before[0] == "--version" && !dashes {
		before[0] = "version"
	}
	if len(before) > 0 && before[0] == "help" && !dashes {
		before = append(before[1:], "--help")
	}
	if dashes && len(before) == 0 || len(before) > 0 && strings.HasPrefix(before[0], "-") && !isHelp(before[0]) {
		before = slices.Insert(before, 0, "run")
	}
	app := newApp(command, dashes, before...)
	err := misused(app.Commands, before)
	if err != nil {
		err = usage(err)
	} else {
		leaveOut(app, before)
		err = app.Run(append([]string{"skillrun"}, before...))
	}
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	}
	printError(err)
	if u := (usageError{}); errors.As(err, &u) {
		hint("%s", usageOf(app, before))
	}
	if len(before) > 0 && before[0] == "hook" {
		return exitBlocked
	}
	return exitRefused
}

// usageOf says how the subcommand is used that the words begin with, or else the
// program.
func usageOf(app *cli.App, words []string) string {
	text, name := app.UsageText[:strings.IndexByte(app.UsageText, '\n')], "skillrun"
	if len(words) > 0 && words[0] != "run" {
		if cmd := app.Command(words[0]); cmd != nil {
			name += " " + cmd.Name
			text = cmd.UsageText
		}
	}
	return "usage: " + text + "; see " + name + " --help"
}

// arrange takes the command line apart. A shell's arguments are not split: what
// is after its own flags is bash's.
func arrange(args []string) (before, command []string, dashes bool) {
	switch {
	case filepath.Base(args[0]) == shellName:
		// Nobody who is given a path only says flags: these are a command's.
		return []string{"shell"}, shellWords(args[1:]), true
	case len(args) > 1 && args[1] == "shell" && !(len(args) > 2 && isHelp(args[2])):
		before, command = shellArguments(args[2:])
		return before, command, true
	}
	before, command, dashes = split(args[1:])
	if len(before) > 0 && (before[0] == "install-hook" || before[0] == "uninstall-hook") {
		// Their flags may come after the agent: none takes a value.
		slices.SortStableFunc(before[1:], func(a, b string) int { return rank(a) - rank(b) })
	}
	return before, command, dashes
}

// leaveOut takes from the subcommand the flags that no word is about and that are
// nothing without one: the library matches the names of all of a command's flags
// with regular expressions, for each of them, which is a twentieth of a launch.
func leaveOut(app *cli.App, words []string) {
	if len(words) == 0 || slices.ContainsFunc(words, isHelp) {
		return
	}
	cmd := app.Command(words[0])
	if cmd == nil {
		return
	}
	cmd.Flags = slices.DeleteFunc(cmd.Flags, func(f cli.Flag) bool {
		switch f := f.(type) {
		case *cli.BoolFlag, *cli.StringSliceFlag:
		case *cli.StringFlag:
			if f.Value != "" {
				return false
			}
		default:
			return false
		}
		names := namesOf(f)
		return !slices.ContainsFunc(words, func(word string) bool {
			word, _, _ = strings.Cut(strings.TrimLeft(word, "-"), "=")
			return slices.Contains(names, word)
		})
	})
}

// rank puts flags first.
func rank(word string) int {
	if strings.HasPrefix(word, "-") {
		return 0
	}
	return 1
}

// split cuts the arguments at the first "--", before any flag is parsed: what
// follows is the command's, whatever it looks like.
func split(args []string) (before, command []string, dashes bool) {
	if i := slices.Index(args, "--"); i >= 0 {
		return slices.Clone(args[:i]), args[i+1:], true
	}
	return slices.Clone(args), nil, false
}

func isHelp(word string) bool { return word == "-h" || word == "-help" || word == "--help" }

// exitError ends the program with a code; what there was to say has been said.
type exitError struct{ code int }

func (e exitError) Error() string { return "exit" }

// A usageError is a wrong command line: it is told with how to ask for help.
type usageError struct{ error }

func usage(err error) error { return usageError{err} }

// invocation is what the command line holds besides flags.
type invocation struct {
	command []string
	dashes  bool
}

// newApp describes the command line, or as much of it as words are about.
func newApp(command []string, dashes bool, words ...string) *cli.App {
	onUsage := func(_ *cli.Context, err error, _ bool) error { return usage(err) }
	app := &cli.App{
		Name:                      "skillrun",
		Usage:                     "run a skill's command with the rights its manifest declares, and no others",
		UsageText:                 "skillrun --skill DIR [flags] -- COMMAND [ARG...]\nskillrun SUBCOMMAND [flags]",
		HideVersion:               true,
		HideHelpCommand:           true,
		DisableSliceFlagSeparator: true,
		Writer:                    os.Stdout,
		ErrWriter:                 io.Discard,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              onUsage,
		CommandNotFound:           nil,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usage(errors.New("unknown subcommand " + quote(c.Args().First()) + "; a command to run goes after \"--\""))
			}
			return usage(errors.New("nothing to run"))
		},
		// Nothing shows it, and the library would ask the file system for it.
		Compiled: time.Unix(0, 0),
		Commands: subcommands(&invocation{command, dashes}, words),
	}
	for _, c := range app.Commands {
		finish(c, app.Name, onUsage)
	}
	return app
}

// subcommands gives all of them, in the order in which help lists them, or only
// the one that words begin with: nobody waits for the flags of the others.
func subcommands(in *invocation, words []string) (all []*cli.Command) {
	of := func(f func(*invocation) *cli.Command) func() *cli.Command {
		return func() *cli.Command { return f(in) }
	}
	table := []struct {
		name    string
		command func() *cli.Command
	}{
		{"run", of(runCommand)}, {"explain", of(explainCommand)}, {"profile", of(profileCommand)}, {"doctor", doctorCommand},
		{"audit", auditCommand}, {"version", versionCommand}, {"completion", completionCommand}, {"lint", lintCommand}, {"init", initCommand},
		{"schema", schemaCommand}, {"skills", skillsCommand}, {"grants", grantsCommand}, {"decide", decideCommand},
		{"hook", hookCommand}, {"install-hook", installHookCommand}, {"uninstall-hook", uninstallHookCommand},
		{"exec", of(execCommand)}, {"shell", of(shellCommand)},
	}
	// Completion is about all, and so is help.
	if len(words) > 0 && words[0] != "completion" && !slices.ContainsFunc(words, isHelp) {
		for i := range table {
			if table[i].name == words[0] {
				table = table[i : i+1]
				break
			}
		}
	}
	for _, c := range table {
		all = append(all, c.command())
	}
	return all
}

// wordless is for a subcommand that takes flags and nothing else: a word is a
// question that would go unanswered.
func wordless(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return usage(fmt.Errorf("%s: unexpected %s", strings.TrimPrefix(c.Command.HelpName, "skillrun "), quote(c.Args().First())))
		}
		return action(c)
	}
}

// finish gives a command and those beneath it what all have: the library must not
// print usage on stdout, which is the child's, and each says how it is used.
func finish(c *cli.Command, above string, onUsage cli.OnUsageErrorFunc) {
	c.OnUsageError = onUsage
	c.HideHelpCommand = true
	name := above + " " + c.Name
	switch {
	case c.UsageText != "":
	case len(c.Subcommands) > 0:
		c.UsageText = name + " SUBCOMMAND"
	case len(c.Flags) > 0:
		c.UsageText = name + " [flags]"
	default:
		c.UsageText = name
	}
	for _, f := range c.Flags {
		if f, ok := f.(*cli.BoolFlag); ok {
			f.DisableDefaultText = true // nobody wonders
		}
	}
	for _, sub := range c.Subcommands {
		finish(sub, name, onUsage)
	}
}
