package main

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v2"
)

// A flag that a word is about is there, however it is spelt; help shows all.
func TestLeaveOut(t *testing.T) {
	left := func(words ...string) []cli.Flag {
		app := newApp(nil, false)
		leaveOut(app, words)
		return app.Command(words[0]).Flags
	}
	for _, cmd := range newApp(nil, false).Commands {
		for _, f := range cmd.Flags {
			for _, name := range f.Names() {
				for _, word := range []string{"-" + name, "--" + name, "-" + name + "=x", "--" + name + "="} {
					if !slices.ContainsFunc(left(cmd.Name, "--other", word, "y"), func(g cli.Flag) bool { return slices.Equal(g.Names(), f.Names()) }) {
						t.Errorf("%s %s: the flag was left out", cmd.Name, word)
					}
				}
			}
		}
		if n := len(left(cmd.Name, "-h")); n != len(cmd.Flags) {
			t.Errorf("%s -h: %d of %d flags", cmd.Name, n, len(cmd.Flags))
		}
	}
	if n := len(left("run")); n > 4 {
		t.Errorf("run without a flag has %d", n)
	}
}

// Words that begin with a subcommand's name get that one as it is among all, and
// any others get all.
func TestSubcommands(t *testing.T) {
	all := newApp(nil, false).Commands
	for _, cmd := range all {
		for _, words := range [][]string{{cmd.Name}, {cmd.Name, "--other", "x"}} {
			some := newApp(nil, false, words...).Commands
			switch {
			case cmd.Name == "completion":
				if len(some) != len(all) {
					t.Errorf("%q: %d subcommands of %d", words, len(some), len(all))
				}
			case len(some) != 1 || some[0].Name != cmd.Name || some[0].UsageText != cmd.UsageText || len(some[0].Flags) != len(cmd.Flags):
				t.Errorf("%q: %d subcommands, the first %s", words, len(some), some[0].Name)
			}
		}
	}
	for _, words := range [][]string{nil, {"nothing"}, {"run", "--help"}, {"-h"}} {
		if n := len(newApp(nil, false, words...).Commands); n != len(all) {
			t.Errorf("%q: %d subcommands of %d", words, n, len(all))
		}
	}
}
