package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
)

// misused says what is wrong with the flags among the words of a command line,
// which it reads as the library does. The library has its own words for it, and
// of a flag that is given twice the last counts: which skill or preset decides is
// not to hang on the order of words, some of which a script may have put there.
func misused(commands []*cli.Command, words []string) error {
	i := slices.IndexFunc(commands, func(c *cli.Command) bool { return len(words) > 0 && c.HasName(words[0]) })
	if i < 0 || slices.ContainsFunc(words, isHelp) {
		return nil
	}
	cmd, given := commands[i], map[string]string{}
	for words = words[1:]; len(words) > 0; words = words[1:] {
		if len(words[0]) < 2 || words[0][0] != '-' {
			return misused(cmd.Subcommands, words)
		}
		as, value, joined := strings.Cut(words[0], "=")
		name := strings.TrimPrefix(as[1:], "-")
		i := slices.IndexFunc(cmd.Flags, func(f cli.Flag) bool { return slices.Contains(namesOf(f), name) })
		if i < 0 {
			return unknownFlag(cmd, as)
		}
		flag := cmd.Flags[i]
		switch {
		case joined:
		case !takesValue(flag):
			value = "true"
		case len(words) == 1:
			return fmt.Errorf("%s: nothing after it, and it takes a value", as)
		default:
			words = words[1:]
			value = words[0]
		}
		if fault := valueFault(flag, value); fault != "" {
			return fmt.Errorf("%s %s: %s", as, quote(value), fault)
		}
		if _, many := flag.(*cli.StringSliceFlag); many {
			continue
		}
		key := namesOf(flag)[0]
		if first, twice := given[key]; twice && first != value {
			return fmt.Errorf("%s is given twice, as %s and as %s: give the one that is meant", as, quote(first), quote(value))
		}
		given[key] = value
	}
	return nil
}

func unknownFlag(cmd *cli.Command, as string) error {
	var known []string
	for _, f := range cmd.Flags {
		known = append(known, "--"+namesOf(f)[0])
	}
	if s := policy.Nearest("--"+strings.TrimLeft(as, "-"), known); s != "" {
		return fmt.Errorf("unknown flag %s (did you mean %s?)", quote(as), s)
	}
	return fmt.Errorf("unknown flag %s", quote(as))
}

// valueFault says why a value is none for a flag of a type; texts are judged
// where they are used.
func valueFault(f cli.Flag, value string) string {
	switch f := f.(type) {
	case *cli.BoolFlag:
		if _, err := strconv.ParseBool(value); err != nil {
			return "not true or false"
		}
	case *cli.IntFlag:
		if _, err := strconv.ParseInt(value, 0, 64); err != nil {
			return "not a number"
		}
	case *cli.GenericFlag:
		if err := f.Value.Set(value); err != nil {
			return err.Error()
		}
	}
	return ""
}

// namesOf gives the names of a flag, its own first. The library finds them with
// regular expressions, which shows in the time of a launch.
func namesOf(f cli.Flag) []string {
	switch f := f.(type) {
	case *cli.BoolFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.StringFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.StringSliceFlag:
		return append([]string{f.Name}, f.Aliases...)
	}
	return f.Names()
}
