package policy_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/policy"
	"skillrun/profiles"
)

func TestScriptOfCommand(t *testing.T) {
	for command, want := range map[string]string{
		"bash step.sh": "step.sh",
		"bash --noprofile --norc -eo pipefail step.sh": "step.sh",
		"bash -e -o pipefail +o posix step.sh x":       "step.sh",
		"sh -ex step.sh -c x":                          "step.sh",
		"bash --rcfile rc -O extglob step.sh":          "step.sh",
		"bash -c step.sh":                              "",
		"bash -ec step.sh":                             "",
		"bash -s step.sh":                              "",
		"bash -":                                       "",
		"bash -- step.sh":                              "",
		"bash":                                         "",
		"python3 a.py":                                 "a.py",
		"python3.12 -m x":                              "",
		"python3 -u a.py":                              "",
		"cat a.py":                                     "",
	} {
		if got := policy.ScriptOf(strings.Fields(command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// A script's first line opens nothing: what it names is the run's already, on
// PATH, or beside it. A script from elsewhere is the user's own.
func TestInterpreterOfScript(t *testing.T) {
	h := machine()
	files := h.FS.(fstest.MapFS)
	program := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o755} }
	program("home/u/data/run", "\x7fELF")
	program("home/u/env/bin/python", "\x7fELF")
	files["home/u/env/pyvenv.cfg"] = &fstest.MapFile{Mode: 0o644}
	files["home/u/env/x"] = &fstest.MapFile{Mode: 0o644}
	program("home/u/on/path/node", "\x7fELF")
	program("w/env/bin/python", "\x7fELF")
	program("home/u/cellar/deno", "\x7fELF")
	link := func(name, to string) { files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink} }
	link("home/u/on/path/deno", "/home/u/cellar/deno")
	program("home/u/cellar/python3.12", "\x7fELF")
	link("home/u/on/path/python3", "/home/u/cellar/python3.12")
	link("w/bin/run", "/home/u/data/run")
	h.Env["PATH"] += ":/home/u/on/path:/w/bin"
	for i, c := range []struct {
		line, file string
		own        bool // of a script of the workspace, too
	}{
		{"/home/u/data/run", "/home/u/data/run", false},
		{"/usr/bin/env -Sx /home/u/data/run", "/home/u/data/run", false},
		{"/home/u/env/bin/python", "/home/u/env/bin/python", false},
		{"/home/u/env/bin/python", "/home/u/env/x", false},
		{"/usr/bin/python3", "/usr/bin/python3", true},
		{"/home/u/on/path/node", "/home/u/on/path/node", true},
		{"/home/u/cellar/deno", "/home/u/cellar/deno", true},
		{"/home/u/on/path/python3", "/home/u/cellar/python3.12", true},
		{"/w/bin/run", "/home/u/data/run", false}, // a link that leads out
		{"/usr/bin/env node", "/home/u/on/path/node", true},
		{"/w/env/bin/python", "/w/env/bin/python", true},
	} {
		for dir, want := range map[string]bool{"/w": c.own, "/skills/pdf": c.own, "/home/u/elsewhere": true} {
			script := fmt.Sprintf("%s/s%d", dir, i)
			program(script[1:], "#!"+c.line+"\n")
			p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs(script))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Allows(c.file, profiles.Read).Allowed; got != (want && c.line != "/w/bin/run") {
				t.Errorf("%s with #!%s: read %s: %v", script, c.line, c.file, got)
			}
		}
	}
}
