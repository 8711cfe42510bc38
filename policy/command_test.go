package policy_test

import (
	"fmt"
	"io/fs"
	"path"
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
	files["home/u/env/lib/python3.12/x"] = &fstest.MapFile{Mode: 0o644}
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
		{"/home/u/env/bin/python", "/home/u/env/lib/python3.12/x", false},
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

// What makes a directory of any sort look like a program's environment opens of it
// what an environment has, without the secrets; control: what it opens of those that
// tools make.
func TestEnvironmentOpensItsOwnOnly(t *testing.T) {
	made := func(names ...string) *profiles.Host {
		h := machine()
		files := h.FS.(fstest.MapFS)
		for _, name := range append(names, "bin/tool", ".env", "data/x", ".git/config", "main.py") {
			name, to, link := strings.Cut(name, " -> ")
			f := &fstest.MapFile{Data: []byte("\x7fELF"), Mode: 0o755}
			if link {
				f = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
			}
			files[path.Join("home/u/proj/x/y", name)] = f
		}
		return h
	}
	venv := []string{"pyvenv.cfg", "bin/python -> /usr/bin/python3", "lib/python3.12/site-packages/a.py", "lib64 -> lib"}
	version := []string{"../../shims/tool", "lib/ruby/a.rb"}
	for _, c := range []struct {
		what  string
		files []string
		reads string // of x/y, which is a version's directory where that matters
		not   string
	}{
		{"a planted pyvenv.cfg", []string{"pyvenv.cfg"}, "bin/tool", "lib/s"},
		{"without an interpreter", []string{"pyvenv.cfg", "lib/python3.12/a.py"}, "bin/tool", "lib/python3.12/a.py"},
		{"with one that is not there", []string{"pyvenv.cfg", "bin/python -> nowhere", "lib/python3.12/a.py"}, "bin/tool", "lib/python3.12/a.py"},
		{"an environment", venv, "lib/python3.12/site-packages/a.py pyvenv.cfg bin/python", "etc/s src/s"},
		{"its certificates and keys", append(venv, "lib/python3.12/site-packages/grpc/roots.pem", "lib/python3.12/test/key.pem", "lib/.env", "lib/server.key", "share/a.tfstate"), "lib/python3.12/site-packages/grpc/roots.pem lib/python3.12/test/key.pem", "lib/.env lib/server.key share/a.tfstate"},
		{"its links", append(venv, "share -> ..", "include -> ../../other", "../../other/s"), "pyvenv.cfg", "../../other/s ../z"},
		{"of PyPy", []string{"pyvenv.cfg", "bin/pypy3", "lib/pypy3.10/a.py"}, "lib/pypy3.10/a.py", ""},
		{"no version", []string{"lib/ruby/a.rb", "../../shims/other"}, "bin/tool", "lib/ruby/a.rb"},
		{"a version", version, "lib/ruby/a.rb bin/tool", "../z"},
		{"its secrets", append(version, "lib/.env", "lib/ruby/gems/a/test.pem", "src/crypto/testdata/a.key"), "lib/ruby/gems/a/test.pem src/crypto/testdata/a.key", "lib/.env"},
	} {
		h := made(append(c.files, "../z", "lib/s", "etc/s", "src/s")...)
		files := h.FS.(fstest.MapFS)
		dir := "/home/u/proj/x/y"
		if strings.Contains(c.what, "version") || c.what == "its secrets" {
			dir = "/home/u/proj/versions/y"
			for name, f := range files {
				if rest, ok := strings.CutPrefix(name, "home/u/proj/x/"); ok {
					files["home/u/proj/versions/"+rest] = f
				}
			}
		}
		h.Env["PATH"] += ":" + dir + "/bin"
		for _, command := range []string{"tool", dir + "/bin/tool"} {
			p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs(command))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(c.reads) {
				at, _ := h.Resolve(path.Join(dir, name))
				if !p.Allows(at, profiles.Read).Allowed {
					t.Errorf("control: %s: %s cannot read %s", c.what, command, name)
				}
			}
			for _, name := range strings.Fields(c.not + " .env data/x main.py .git/config") {
				if p.Allows(path.Join(dir, name), profiles.Read).Allowed {
					t.Errorf("%s: %s reads %s", c.what, command, name)
				}
			}
		}
	}
	// What the user grants by its name stays.
	h := made(append(venv, "lib/server.key")...)
	grant, err := policy.ParseGrant("filesystem.read:/home/u/proj/x/y/lib/server.key", "--grant")
	if err != nil {
		t.Fatal(err)
	}
	p, err := compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{grant}}).Profile(h, inputs("/home/u/proj/x/y/bin/tool"))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Allows("/home/u/proj/x/y/lib/server.key", profiles.Read).Allowed {
		t.Error("a key that was granted by its name is not read")
	}
}
