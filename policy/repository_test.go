package policy_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/policy"
	"skillrun/profiles"
)

// What ".git" leads to is written for a commit only where git made a work tree, and
// what git obeys there is written by nobody; who can write the workspace chose the
// rest.
func TestRepository(t *testing.T) {
	const change = profiles.Write | profiles.Create | profiles.Delete
	repo := func(dir string) []string {
		return []string{dir + "/HEAD", dir + "/objects/x", dir + "/refs/x", dir + "/config"}
	}
	worktree := func(dir string) []string {
		return append(repo(dir), "w/.git=gitdir: /"+dir+"/worktrees/t", dir+"/worktrees/t/commondir=../..", dir+"/worktrees/t/gitdir=/w/.git")
	}
	for _, c := range []struct {
		what    string
		files   []string // "name", "name=text", "name->target"
		written string   // the run may change and delete what is here
		not     string   // and not here
	}{
		{"a directory", repo("w/.git"), "/w/.git/index /w/.git/objects/x", "/w/.git/config /w/.git/hooks/x"},
		{"nothing", nil, "", "/w/.git/hooks"},
		{"a work tree", worktree("home/u/m/.git"), "/home/u/m/.git/objects/x /home/u/m/.git/worktrees/t/index",
			"/home/u/m/.git/config /home/u/m/.git/hooks /home/u/m/.git/hooks/post-commit /home/u/m/.git/commondir /home/u/m/.git/modules/x/config /home/u/m/.git/worktrees/t/modules/x/config /home/u/m/.git/info/attributes " +
				"/home/u/m/.git/worktrees/t/commondir /home/u/m/.git/worktrees/t/gitdir /home/u/m/.git/worktrees/t/config.worktree /home/u/m/src"},
		{"a work tree of a bare repository", worktree("home/u/r.git"), "/home/u/r.git/objects/x", "/home/u/r.git/config /home/u/r.git/hooks/x /home/u/r.git/worktrees/t/commondir"},
		{"whose parts are links", append(worktree("home/u/r.git"), "home/u/r.git/logs->/home/u"), "", "/home/u/data/a.csv"},
		{"what only looks like one", append(worktree("home/u/src"), "home/u/src/main.py"), "", "/home/u/src/main.py /home/u/src/objects/x /home/u/src/worktrees/t/index"},
		{"beside what is a repository's", append(worktree("home/u/r.git"), "home/u/r.git/.env"), "/home/u/r.git/refs/x", "/home/u/r.git/.env /home/u/r.git/new"},
		// What a run can write in a workspace.
		{"made in the workspace", []string{"w/.git=gitdir: .f/w", "w/.f/w/gitdir=../../.git", "w/.f/w/commondir=/"}, "", "/home/u/data/a.csv /usr/bin/x"},
		{"made there, as git does", []string{"w/.git=gitdir: f/worktrees/t", "w/f/worktrees/t/gitdir=/w/.git", "w/f/worktrees/t/commondir=../..", "w/f/HEAD", "w/f/objects/x", "w/f/refs/x"}, "", "/home/u/data/a.csv /w/f/config /w/f/hooks/x"},
		{"another's work tree", append(repo("home/u/m/.git"), "w/.git=gitdir: /home/u/m/.git/worktrees/t", "home/u/m/.git/worktrees/t/commondir=../..", "home/u/m/.git/worktrees/t/gitdir=/other/.git", "other/.git=x"), "", "/home/u/m/.git/objects/x"},
		{"shared with more", append(worktree("home/u/m/.git"), "home/u/m/.git/worktrees/t/commondir=/"), "", "/home/u/data/a.csv /home/u/m/.git/objects/x"},
		{"shared with what is none", []string{"w/.git=gitdir: /home/u/worktrees/t", "home/u/worktrees/t/commondir=../..", "home/u/worktrees/t/gitdir=/w/.git"}, "", "/home/u/data/a.csv"},
		{"a repository elsewhere", append(repo("home/u/m/.git"), "w/.git->/home/u/m/.git"), "", "/home/u/m/.git/objects/x"},
		{"one beside it", append(repo("w/.bare"), "w/.git=gitdir: ./.bare"), "", "/w/.bare/config /w/.bare/hooks/x"},
		{"one that comes", []string{"w/.git=gitdir: ./later"}, "", "/w/later/config /w/later/hooks/x"},
		{"a link", append(repo("w/real"), "w/.git->real"), "/w/real/index", "/w/real/config /w/real/hooks/x"},
	} {
		t.Run(c.what, func(t *testing.T) {
			h := machine()
			files := h.FS.(fstest.MapFS)
			for name := range files {
				if strings.HasPrefix(name, "w/.git") {
					delete(files, name)
				}
			}
			for _, f := range c.files {
				if name, to, ok := strings.Cut(f, "->"); ok {
					files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
				} else {
					name, text, _ := strings.Cut(f, "=")
					files[name] = &fstest.MapFile{Data: []byte(text + "\n"), Mode: 0o644}
				}
			}
			p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs("true"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(c.written) {
				if v := p.Allows(name, change); !v.Allowed {
					t.Errorf("%s: %+v", name, v)
				}
			}
			for _, name := range strings.Fields(c.not) {
				if p.Allows(name, profiles.Write).Allowed || p.Allows(name, profiles.Create).Allowed || p.Allows(name, profiles.Delete).Allowed {
					t.Errorf("%s is written", name)
				}
			}
		})
	}
}

// A program or script that is named opens nothing where a link in the workspace or
// the skill leads out.
func TestTypedLink(t *testing.T) {
	h := machine()
	files := h.FS.(fstest.MapFS)
	link := func(name, to string) { files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink} }
	link("w/out.py", "/home/u/data/a.csv")
	link("w/dir", "/home/u/data")
	link("skills/pdf/scripts/out.py", "/home/u/data/a.csv")
	link("w/tool", "/home/u/data/tool")
	link("w/in.py", "src/a.go")
	link("home/u/link.py", "/home/u/data/a.csv")
	link("w/env/bin/python", "/usr/bin/python3")
	files["w/env/pyvenv.cfg"] = &fstest.MapFile{}
	link("w/v", "/home/u/data")
	files["home/u/data/pyvenv.cfg"] = &fstest.MapFile{}
	files["home/u/data/lib/python3.12/a.py"] = &fstest.MapFile{}
	link("home/u/data/bin/python", "/usr/bin/python3")
	files["home/u/data/tool"] = &fstest.MapFile{Data: []byte("\x7fELF"), Mode: 0o755}
	for command, want := range map[string]bool{
		"python3 out.py": false, "python3 dir/a.csv": false, "python3 /skills/pdf/scripts/out.py": false, "./tool": false, "/w/tool": false, "dir/tool": false,
		"python3 /home/u/data/a.csv": true, "python3 /home/u/link.py": true, "/home/u/data/tool": true, "/home/u/data/bin/python": true,
		"python3 in.py": false, "env/bin/python": false, "v/bin/python": false, // theirs, or the system's
	} {
		p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs(strings.Fields(command)...))
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, name := range []string{"a.csv", "tool", "lib/python3.12/a.py"} {
			got = got || p.Allows("/home/u/data/"+name, profiles.Read).Allowed
		}
		if got != want {
			t.Errorf("%s reads outside: %t", command, got)
		}
		if v := p.Allows("/usr/bin/python3", profiles.Execute); !v.Allowed {
			t.Errorf("%s: python: %+v", command, v)
		}
	}
}

// Pushing reaches the remotes that are single public hosts, whoever wrote them.
func TestRemotes(t *testing.T) {
	h := machine()
	config := ""
	for _, url := range []string{"https://git.example.org/x", "git@ssh.example.org:x/y", "ssh://other.example.org:2222/x", "http://127.0.0.1:8080/x", "http://localhost/x", "http://[::1]/x", "git@192.168.1.1:x",
		"https://169.254.169.254/x", "https://*/x", "https://*.example.com/x", "https://10.0.0.0/8", "/home/u/x", "../x"} {
		config += "[remote \"r\"]\n\turl = " + url + "\n"
	}
	h.FS.(fstest.MapFS)["w/.git/config"] = &fstest.MapFile{Data: []byte(config)}
	grant, err := policy.ParseGrant("commit.push", "--grant")
	if err != nil {
		t.Fatal(err)
	}
	p, err := compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{grant}}).Profile(h, inputs("true"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Network.Hosts {
		got = append(got, r.Host)
	}
	if want := "git.example.org other.example.org ssh.example.org"; strings.Join(got, " ") != want {
		t.Errorf("reaches %q, want %s", got, want)
	}
}

// Names are found in git's configuration as git reads it.
func TestGitConfigured(t *testing.T) {
	for _, c := range []struct{ config, name string }{
		{"[core]\n\thooksPath = hk", "/w/hk/x"}, {"[core] hooksPath = hk # ours", "/w/hk/x"}, {"[core]\nhooksPath = hk ; ours", "/w/hk/x"}, {"[core]\nhooksPath = h\"k\"", "/w/hk/x"},
		{"[core]\nhooksPath = \\\nhk", "/w/hk/x"}, {"[CORE]\nHOOKSPATH = \"h#k\"", "/w/h#k/x"}, {"[include] path = ../inc.cfg # c", "/w/inc.cfg"}, {"[includeIf\t\"onbranch:x\"]\npath = ../inc.cfg", "/w/inc.cfg"},
		{"[includeIf \"gitdir:**/[w]/.git\"]\npath = ../inc.cfg", "/w/inc.cfg"}, {"[core]\nfsmonitor = ./src/a.go#x", "/w/src/a.go"}, {"[filter \"x\"]\nclean = sh src/a.go %f", "/w/src/a.go"},
		{"[remote \"o\"]\nuploadpack = src/a.go", "/w/src/a.go"}, {"[submodule \"s\"]\nupdate = !src/a.go", "/w/src/a.go"},
		{"\ufeff[core]\nhooksPath = hk", "/w/hk/x"}, {"[user] [core]\nhooksPath = hk", "/w/hk/x"}, {"[user]\nname = x \\\\\n[core]\nhooksPath = hk", "/w/hk/x"}, {"[include]\npath = ~v/inc.cfg", "/w/hk/x"},
	} {
		h := machine()
		h.FS.(fstest.MapFS)["w/.git/config"] = &fstest.MapFile{Data: []byte(c.config + "\n")}
		h.User, h.Account = "v", "/home/v"
		h.FS.(fstest.MapFS)["home/v/inc.cfg"] = &fstest.MapFile{Data: []byte("[core]\nhooksPath = hk\n")}
		p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		if p.Allows(c.name, profiles.Write).Allowed {
			t.Errorf("%q: %s is written", c.config, c.name)
		}
		if !p.Allows("/w/in.csv", profiles.Write).Allowed {
			t.Errorf("%q: nothing is written", c.config)
		}
	}
}

// TestGitObeys: what git would start is told, whatever it is written to look like.
func TestGitObeys(t *testing.T) {
	for config, want := range map[string]string{
		"[core]\n\tbare = false # x = y\n; [pager]\n[user] name = x\n": "",
		"[submodule] [pager]\n\tbranch = x\n":                          "pager.branch",
		"[submodule]\n# \\\n[pager \"x\"]\nbranch = x\n":               "pager.branch",
		"[submodule \"s\"]\nurl = a\\\\\n[pager]\nbranch = x\n":        "pager.branch",
		"[submodule \"s\"]\nurl = a # \\\n[pager]\nbranch = x\n":       "pager.branch",
		"[user]\nname = x\n?\n":                                        "config",
	} {
		h := machine()
		h.FS.(fstest.MapFS)["w/x/.git/config"] = &fstest.MapFile{Data: []byte(config)}
		if got := strings.Join(policy.GitObeys(h, "/w/x/.git"), " "); got != want {
			t.Errorf("%q: %s, want %s", config, got, want)
		}
	}
}

// Git obeys a repository above the workspace, and the user's configuration where there
// is none.
func TestGitConfiguredAbove(t *testing.T) {
	for _, c := range []struct {
		file, config, name string
		want               bool
	}{
		{"w/.git/config", "[core]\nhooksPath = src/hk", "/w/src/hk/x", false}, {"w/.git/config", "[alias]\nx = !src/a.go", "/w/src/a.go", false},
		{"w/.git/config", "[core]\nhooksPath = hk", "/w/src/hk/x", true},
		{"home/u/.gitconfig", "[core]\nhooksPath = /w/src/hk", "/w/src/hk/x", false}, {"home/u/.gitconfig", "[core]\nhooksPath = hk", "/w/src/hk/x", false},
		{"home/v/.gitconfig", "[core]\nhooksPath = hk", "/w/src/hk/x", false}, {"home/u/git", "[core]\nhooksPath = hk", "/w/src/hk/x", false},
		{"home/v/.gitconfig", "[include]\npath = ~/git", "/w/src/hv/x", false}, {"w/src/x", "", "/w/src/he/x", false},
		{"w/src/git", "", "/w/src/git", false}, {"w/src/git", "", "/w/src/other", true},
	} {
		h := machine()
		files := h.FS.(fstest.MapFS)
		for name := range files {
			if strings.HasPrefix(name, "w/.git") {
				delete(files, name)
			}
		}
		files[c.file] = &fstest.MapFile{Data: []byte(c.config + "\n")}
		files["home/v/git"] = &fstest.MapFile{Data: []byte("[core]\nhooksPath = hv\n")}
		h.Account, h.Env["GIT_CONFIG_GLOBAL"] = "/home/v", "/home/u/git"
		h.Env["GIT_CONFIG_KEY_0"], h.Env["GIT_CONFIG_VALUE_0"], h.Env["GIT_CONFIG_KEY_1"], h.Env["GIT_CONFIG_VALUE_1"] = "user.name", "x", "core.hooksPath", "he"
		h.Env["GIT_CONFIG_SYSTEM"] = "/w/src/git"
		in := inputs("true")
		in.Workspace = "/w/src"
		p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, in)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Allows(c.name, profiles.Write).Allowed; got != c.want {
			t.Errorf("%s: %q: %s is written: %t", c.file, c.config, c.name, got)
		}
	}
}

// TestGitIncludedByLink: what a file includes is relative to the name that it has.
func TestGitIncludedByLink(t *testing.T) {
	h := machine()
	for name, to := range map[string]string{"w/sub/a": "../conf/real", "home/u/in": "deep/er", "home/u/.gitconfig": "/w/conf/user"} {
		h.FS.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
	}
	for name, config := range map[string]string{
		"w/.git/config": "[include]\npath = ../sub/a", "w/conf/real": "[include]\npath = b", "w/sub/b": "[core]\nhooksPath = hk",
		"w/conf/user": "[include]\npath = ~/in/../c", "home/u/deep/c": "[core]\nhooksPath = hk2", "home/u/deep/er/x": "",
	} {
		h.FS.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(config + "\n")}
	}
	p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs("true"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"/w/sub/b": false, "/w/sub/a": false, "/w/conf/real": false, "/w/hk/x": false, "/w/conf/user": false, "/w/hk2/x": false, "/w/conf/b": true, "/w/sub/c": true} {
		if got := p.Allows(name, profiles.Write).Allowed; got != want {
			t.Errorf("%s is written: %t", name, got)
		}
	}
}

// TestGitConfiguredNone: who names /dev/null wants no hooks, and keeps it.
func TestGitConfiguredNone(t *testing.T) {
	h := machine()
	h.FS.(fstest.MapFS)["dev/null"] = &fstest.MapFile{Mode: fs.ModeDevice | fs.ModeCharDevice | 0o666}
	h.FS.(fstest.MapFS)["w/.git/config"] = &fstest.MapFile{Data: []byte("[core]\nhooksPath = /dev/null\n")}
	h.Env["GIT_CONFIG_GLOBAL"] = "/dev/null"
	p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs("true"))
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Allows("/dev/null", profiles.Write); !v.Allowed {
		t.Errorf("%+v", v)
	}
}
