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
