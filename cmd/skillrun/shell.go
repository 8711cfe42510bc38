package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"skillrun/policy/hook"
)

// shellName is what a link to this program is called that stands for a shell:
// where only a path fits, as in SHELL, CLAUDE_CODE_SHELL_PREFIX and some
// templates.
const shellName = "skillrun-shell"

func shellCommand(in *invocation) *cli.Command {
	return &cli.Command{
		Name:      "shell",
		Usage:     "run bash confined, for where a shell is expected",
		UsageText: "skillrun shell [flags] [-c TEXT [ARG...] | FILE [ARG...] | TEXT]",
		Flags:     append(policyFlags(), runFlags(recorded)...),
		Action: func(c *cli.Context) error {
			// Agents that have commands go through a shell of ours have hooks go
			// through it too. Ours confines what it lets run, and has to see the
			// session.
			if len(in.command) == 3 && in.command[1] == "-c" {
				if agent := ownHook(in.command[2]); agent != nil {
					return answerHook(agent)
				}
			}
			return run(c, in)
		},
	}
}

// shellArguments are the arguments of "skillrun shell": flags of ours, then what
// is bash's.
func shellArguments(args []string) (before, command []string) {
	before = []string{"shell"}
	flags := append(policyFlags(), runFlags(recorded)...)
	for len(args) > 0 {
		name, _, joined := strings.Cut(strings.TrimPrefix(args[0], "--"), "=")
		i := slices.IndexFunc(flags, func(f cli.Flag) bool { return f.Names()[0] == name })
		if !strings.HasPrefix(args[0], "--") || i < 0 {
			break
		}
		n := 1
		if !joined && takesValue(flags[i]) && len(args) > 1 {
			n = 2
		}
		before, args = append(before, args[:n]...), args[n:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return before, shellWords(args)
}

// shellWords are bash with its arguments. A single word that is neither an
// option nor a file is the text of a command.
func shellWords(args []string) []string {
	if len(args) == 1 && !strings.HasPrefix(args[0], "-") {
		if info, err := os.Stat(args[0]); err != nil || !info.Mode().IsRegular() {
			args = []string{"-c", args[0]}
		}
	}
	return append([]string{"bash"}, args...)
}

// takesValue says whether a flag is followed by a value.
func takesValue(f cli.Flag) bool {
	switch f := f.(type) {
	case *cli.BoolFlag:
		return false
	case *cli.GenericFlag:
		b, ok := f.Value.(interface{ IsBoolFlag() bool })
		return !ok || !b.IsBoolFlag()
	}
	return true
}

// ownHook gives the agent whose hook of ours a text registers, to the byte; nil
// for any other.
func ownHook(text string) *hook.Agent {
	program, err := thisProgram()
	if err != nil {
		return nil
	}
	for _, name := range hook.Names() {
		agent := hook.Find(name)
		if p := agent.Program(text); p == program || p == filepath.Join(filepath.Dir(program), "skillrun") {
			return agent
		}
	}
	return nil
}
