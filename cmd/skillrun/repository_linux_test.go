package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skillrun/sandbox/sandboxtest"
)

// layouts are ways to have a work tree at "work", whose repository is elsewhere, at
// the second; sh -e, in the directory above.
var layouts = []struct{ name, make, repository, commit string }{
	{"a work tree", "git init -q main; cd main; git commit -qm x --allow-empty; git worktree add -q ../work", "main/.git", "1"},
	{"a work tree of a bare one", "git init -q main; git -C main commit -qm x --allow-empty; git clone -q --bare main r.git; git -C r.git worktree add -q ../work", "r.git", "1"},
	{"a work tree in a bare one", "git init -q main; git -C main commit -qm x --allow-empty; git clone -q --bare main top.git; cd top.git; git worktree add -q work; ln -s top.git/work ../work", "top.git", "1"},
	{"one beside it", "git init -q --separate-git-dir=$PWD/work/.bare work; git -C work commit -qm x --allow-empty", "work/.bare", ""},
	{"a link to one beside it", "git init -q work; cd work; mv .git real; ln -s real .git; git commit -qm x --allow-empty", "work/real", "1"},
	{"work trees beside a bare one", "git init -q main; git -C main commit -qm x --allow-empty; mkdir work; git clone -q --bare main work/.bare; git -C work/.bare worktree add -q ../one", "work/.bare", ""},
}

// What git obeys is written by no run, wherever the repository is: also what tells
// a later run where it is. Committing goes on.
func TestRepositoryElsewhere(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	const obeyed = `cd $0 && for f in config hooks/post-commit config.worktree commondir info/attributes modules/x/config worktrees/*/commondir worktrees/*/gitdir worktrees/*/config.worktree; do
	case $f in *\**) continue ;; esac
	mkdir -p $(dirname $f); echo evil >>$f; done; ln -s HEAD MERGE_MSG; mv hooks h; mkdir hooks; echo evil >hooks/post-commit; mv config c; :`
	for i, l := range layouts {
		for way, flags := range ways() {
			// With namespaces one has its opens supervised, the next has not.
			if supervised := slices.Contains(flags, "--denials"); supervised && i%2 == 0 || flags == nil && len(ways()) > 1 && i%2 == 1 {
				continue
			}
			t.Run(l.name+", "+way, func(t *testing.T) {
				a := newAgent(t)
				if err := os.RemoveAll(a.work); err != nil {
					t.Fatal(err)
				}
				a.write("home/.gitconfig", "[user]\n\tname = a\n\temail = a@example.org\n")
				at := func(dir string, argv ...string) string {
					cmd := exec.Command(argv[0], argv[1:]...)
					cmd.Dir, cmd.Env = dir, a.env
					b, _ := cmd.CombinedOutput()
					return string(b)
				}
				if out := at(a.root, "sh", "-ec", l.make); a.read("work/.git") == "" || a.read(l.repository+"/HEAD") == "-" {
					t.Fatalf("it was not made: %s", out)
				}
				before := at(a.root, "sh", "-c", "cd $0; find . -path ./objects -prune -o ! -type d -print | sort; cat config", l.repository)
				run := func(argv ...string) string {
					return at(a.work, append(append([]string{program(t), "--workspace", "."}, flags...), append([]string{"--"}, argv...)...)...)
				}
				run("sh", "-c", obeyed, filepath.Join(a.root, l.repository))
				if after := at(a.root, "sh", "-c", "cd $0; find . -path ./objects -prune -o ! -type d -print | sort; cat config", l.repository); after != before {
					t.Errorf("before:\n%s\nafter:\n%s", before, after)
				}
				if l.commit == "" {
					return
				}
				out := run("sh", "-ec", "echo 1 >new; git add new; git commit -qm y; git branch other; git log --oneline | wc -l")
				if !strings.HasSuffix(strings.TrimSpace(out), "2") {
					t.Errorf("a commit: %s", out)
				}
			})
		}
		t.Run(l.name+", control", func(t *testing.T) {
			a := newAgent(t)
			os.RemoveAll(a.work)
			cmd := exec.Command("sh", "-ec", l.make)
			cmd.Dir, cmd.Env = a.root, append(a.env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			exec.Command("sh", "-c", obeyed, filepath.Join(a.root, l.repository)).Run()
			if !strings.Contains(a.read(l.repository+"/hooks/post-commit"), "evil") || !strings.Contains(a.read(l.repository+"/c"), "evil") ||
				a.read(l.repository+"/MERGE_MSG") == "-" {
				t.Error("control: nothing was written")
			}
		})
	}
}

// What git's configuration includes and no run reads is empty to git, not its end, in
// a run inside a run, too: the credentials of actions/checkout and of a GitLab job.
func TestRepositoryIncludes(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	const tries = `git config --get-all http.https://e.test/.extraheader; cat "$0"; cat ../temp/c*; ln "$0" l && cat l; mv "$0" m; rm "$0"; echo evil >"$0"; echo x >/dev/null || echo lost; :`
	make := func(t *testing.T) (a *agent, included string, run func(argv ...string) string) {
		a = newAgent(t)
		included = filepath.Join(a.root, "temp/credentials")
		a.write("temp/credentials", "[http \"https://e.test/\"]\n\textraheader = canary\n")
		run = func(argv ...string) string {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = a.work, append(a.env, "RUNNER_TEMP_PROJECT_DIR="+filepath.Join(a.root, "temp"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@e.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@e.test")
			b, _ := cmd.CombinedOutput()
			return string(b)
		}
		const makes = `git init -q . && git commit -qm x --allow-empty && git config "includeIf.gitdir:$PWD/.git.path" "$0" &&
git config includeIf.gitdir:/github/workspace/.git.path /github/runner_temp/x && git config include.path "$0"`
		if out := run("sh", "-c", makes, included); out != "" {
			t.Fatal(out)
		}
		return a, included, run
	}
	for way, flags := range ways() {
		for name, more := range map[string][]string{"": nil, ", what is around granted": {"--grant", "filesystem.read:.."}} {
			if more != nil && slices.Contains(flags, "--denials") {
				continue
			}
			t.Run(way+name, func(t *testing.T) {
				a, included, run := make(t)
				skillrun := append(append([]string{program(t)}, flags...), more...)
				out := run(append(skillrun, "--", "sh", "-c", tries, included)...)
				out += run(append(skillrun, "--", program(t), "--", "sh", "-c", tries, included)...)
				if strings.Contains(out, "canary") || strings.Contains(out, "lost") || !strings.Contains(a.read("temp/credentials"), "canary") {
					t.Errorf("got through: %s", out)
				}
				const works = "git log --format=%s; git status >/dev/null; echo 1 >new; git add new; git commit -qm y; git log --format=%s"
				if out := run(append(skillrun, "--", "sh", "-ec", works)...); out != "x\ny\nx\n" {
					t.Errorf("git: %s", out)
				}
				if out := run(append(skillrun, "--", program(t), "--", "git", "log", "--format=%s")...); !strings.Contains(out, "y\nx\n") {
					t.Errorf("inside: %s", out)
				}
				if err := os.Remove(included); err != nil {
					t.Fatal(err)
				}
				if out := run(append(skillrun, "--", "git", "log", "--format=%s")...); more == nil && !strings.Contains(out, "y\nx\n") {
					t.Errorf("when it is gone: %s", out)
				}
			})
		}
	}
	_, included, run := make(t)
	if out := run("sh", "-c", tries, included); !strings.Contains(out, "canary") {
		t.Errorf("control: %s", out)
	}
}

// A run makes another directory look like a repository, and a new one like its work
// tree: who works there later has nothing of the first for that.
func TestForgedWorkTree(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	const makes = `for r in src src/.git; do mkdir -p $r/objects $r/refs $r/worktrees/e; echo "ref: refs/heads/m" >$r/HEAD; echo ../.. >$r/worktrees/e/commondir; echo $PWD/d/.git >$r/worktrees/e/gitdir; done
mkdir d; echo "gitdir: $PWD/$0" >d/.git; :`
	const tries = `cat ../src/.env ../src/main.py; rm ../src/main.py; echo evil >../src/.git/hooks/pre-commit; :`
	for _, to := range []string{"src/worktrees/e", "src/.git/worktrees/e"} {
		for way, flags := range ways() {
			t.Run(to+", "+way, func(t *testing.T) {
				a := newAgent(t)
				a.write("work/src/.env", "hidden\n")
				a.write("work/src/main.py", "main\n")
				a.write("work/src/.git/hooks/x", "")
				run := func(dir string, argv ...string) string {
					cmd := exec.Command(program(t), append(append([]string{}, flags...), append([]string{"--"}, argv...)...)...)
					cmd.Dir, cmd.Env = dir, a.env
					b, _ := cmd.CombinedOutput()
					return string(b)
				}
				made := run(a.work, "sh", "-c", makes, to)
				if a.read("work/d/.git") == "-" {
					t.Fatalf("nothing was made: %s", made)
				}
				out := run(filepath.Join(a.work, "d"), "sh", "-c", tries)
				if strings.Contains(out, "hidden") || strings.Contains(out, "main\n") || a.read("work/src/main.py") == "-" || a.read("work/src/.git/hooks/pre-commit") != "-" {
					t.Errorf("got through: %s", out)
				}
			})
		}
	}
	a := newAgent(t)
	a.write("work/src/.env", "hidden\n")
	a.write("work/src/main.py", "main\n")
	a.write("work/src/.git/hooks/x", "")
	for dir, argv := range map[string][]string{a.work: {"sh", "-c", makes, "src/worktrees/e"}} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Run()
	}
	cmd := exec.Command("sh", "-c", tries)
	cmd.Dir = filepath.Join(a.work, "d")
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "hidden") || a.read("work/src/.git/hooks/pre-commit") != "evil\n" {
		t.Errorf("control: %s", out)
	}
}

// A run makes all of its workspace look like a work tree of something above, and
// files there lead out of it: the next run has no more for that.
func TestLedOutLater(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	const makes = `mkdir -p .f/worktrees/w; echo $PWD/.git >.f/worktrees/w/gitdir; echo / >.f/worktrees/w/commondir; echo "gitdir: .f/worktrees/w" >.git
ln -s ../outside/diary run.py; ln -s ../outside/tool tool; :`
	const tries = `cat ../outside/diary; rm ../outside/diary; echo new >../outside/new; :`
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			os.RemoveAll(a.work)
			a.write("work/x", "")
			a.write("outside/diary", "secret\n")
			a.write("outside/tool", "#!/bin/sh\necho secret tool\n")
			os.Chmod(filepath.Join(a.outside, "tool"), 0o755)
			run := func(argv ...string) string {
				cmd := exec.Command(program(t), append(append([]string{}, flags...), append([]string{"--"}, argv...)...)...)
				cmd.Dir, cmd.Env = a.work, a.env
				b, _ := cmd.CombinedOutput()
				return string(b)
			}
			run("sh", "-c", makes)
			for _, argv := range [][]string{{"sh", "-c", tries}, {"sh", "run.py"}, {"./tool"}, {"cat", "tool"}} {
				if out := run(argv...); strings.Contains(out, "secret") || a.read("outside/diary") != "secret\n" || a.read("outside/new") != "-" {
					t.Errorf("%q: %s", argv, out)
				}
			}
			if out := run("sh", "x"); out != "" {
				t.Errorf("a script beside them: %s", out)
			}
		})
	}
	a := newAgent(t)
	os.RemoveAll(a.work)
	a.write("work/x", "")
	a.write("outside/diary", "secret\n")
	cmd := exec.Command("sh", "-c", makes+"\n"+tries)
	cmd.Dir = a.work
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "secret") || a.read("outside/diary") != "-" || a.read("outside/new") != "new\n" {
		t.Errorf("control: %s", out)
	}
}

// Where a denied name is a link, what it leads to in the workspace is denied; so is
// what git obeys where a file at any depth leads to a repository, and what links in a
// directory that one led to lead to.
func TestDeniedLinks(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	links := map[string]string{".env": "conf/development", "sub/.env.local": "../conf/local", ".envrc": "conf/envrc", ".claude": "ai", ".github": "ci", "sub/.vscode": "../editor", ".mcp.json": "later.json", "x.key": "/etc/hostname", ".env.prod": ".env.example", ".env.stage": "current", "current": "dir/staged", "dir": "conf",
		"ai/settings.local.json": "../conf/own", "ai/commands": "../cmds", "cmds/x.md": "step", "cmds/step": "../docs/x.md", "ai/agents": "../later/agents", ".devcontainer": "../outside/dev", "sub/deep/real/info": "../info"}
	const tries = `cat conf/development conf/local; for f in conf/envrc ai/settings.json ci/workflows/x.yml editor/tasks.json later.json sub/deep/real/hooks/post-commit sub/deep/real/config \
	conf/own docs/x.md cmds/new later/agents/x.md conf/container sub/deep/info/attributes; do mkdir -p $(dirname $f); echo evil >>$f; done
echo X >m; mv -f m current; ln -s ai d2; mv -T d2 dir; rm current dir
echo evil >e; mv -f e docs/x.md; rm -f e; rm cmds/step && echo evil >cmds/step; mv cmds c && mkdir cmds && echo evil >cmds/y; mv docs d && mkdir docs && echo evil >docs/x.md; ln -s sub later
cat conf/staged x.key .env.example; echo ok >ci/free; echo ok >conf/free`
	set := func(a *agent) {
		for _, name := range []string{"conf/development", "conf/local", "conf/staged"} {
			a.write("work/"+name, "hidden\n")
		}
		for _, name := range []string{"conf/envrc", "ai/settings.json", "ci/workflows/x.yml", "editor/tasks.json", "sub/deep/real/config", "conf/own", "docs/x.md", "conf/container", "cmds/y"} {
			a.write("work/"+name, "was\n")
		}
		a.write("outside/dev/x", "")
		if err := os.Symlink(filepath.Join(a.work, "conf/container"), filepath.Join(a.outside, "dev/devcontainer.json")); err != nil {
			t.Fatal(err)
		}
		a.write("work/.env.example", "example\n")
		a.write("work/sub/deep/.git", "gitdir: ./real\n")
		for name, to := range links {
			if err := os.Symlink(to, filepath.Join(a.work, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	try := func(a *agent, argv ...string) string {
		cmd := exec.Command(argv[0], append(argv[1:], "sh", "-c", tries)...)
		cmd.Dir, cmd.Env = a.work, a.env
		b, _ := cmd.CombinedOutput()
		return string(b)
	}
	evil := func(a *agent) (list []string) {
		filepath.WalkDir(a.work, func(name string, d os.DirEntry, err error) error {
			if b, _ := os.ReadFile(name); strings.Contains(string(b), "evil") {
				list = append(list, name)
			}
			return nil
		})
		return list
	}
	hostname, _ := os.ReadFile("/etc/hostname")
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			set(a)
			out := try(a, append(append([]string{program(t)}, flags...), "--")...)
			if strings.Contains(out, "hidden") || len(evil(a)) > 0 {
				t.Errorf("got through: %q: %s", evil(a), out)
			}
			for _, link := range []string{"current", "dir"} {
				if to, _ := os.Readlink(filepath.Join(a.work, link)); to != links[link] {
					t.Errorf("%s was replaced: %s", link, out)
				}
			}
			for name, want := range map[string]string{"docs/x.md": "denied: write ", "docs/y.md": "allowed: write "} {
				if said, _ := a.in("work", "explain", "--access", "w", "--path", name); !strings.HasPrefix(said, want) || strings.Contains(said, "--grant") {
					t.Errorf("explain of %s: %s", name, said)
				}
			}
			if !strings.Contains(out, string(hostname)) || !strings.Contains(out, "example\n") || a.read("work/ci/free") != "ok\n" || a.read("work/conf/free") != "ok\n" {
				t.Errorf("what is beside them is closed, too: %s", out)
			}
		})
	}
	a := newAgent(t)
	set(a)
	if out := try(a, "env"); !strings.Contains(out, "hidden") || len(evil(a)) < 14 { // by both names
		t.Errorf("control: %q: %s", evil(a), out)
	}
}

// What a secret's name leads to is one in another tree that the run may read, too, by
// all of its names there; what is granted by itself is not.
func TestDeniedElsewhere(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	scene := func() *agent {
		a := newAgent(t)
		for _, name := range []string{"mounted/prod/values", "granted/values", "own/values"} {
			a.write(name, "hidden "+name+"\n")
		}
		a.write("mounted/free", "free\n")
		if err := os.Link(filepath.Join(a.root, "mounted/prod/values"), filepath.Join(a.root, "mounted/other")); err != nil {
			t.Fatal(err)
		}
		for name, to := range map[string]string{".env": "../mounted/prod/values", ".env.prod": "../granted/values", ".env.own": "../own/values"} {
			if err := os.Symlink(to, filepath.Join(a.work, name)); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	const tries = "cat .env ../mounted/prod/values ../mounted/other; mv ../mounted/prod/values ../mounted/x; cat ../mounted/x; cat ../granted/values .env.prod; cat ../own/values ../mounted/free; echo ok >../mounted/new"
	const beside = "hidden own/values\nfree\n"
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := scene()
			cmd := exec.Command(program(t), append(slices.Clip(flags), "--mount", "m=../mounted:rw", "--grant", "filesystem.read:"+a.root+"/granted", "--grant", "filesystem.read:"+a.root+"/own/values", "--", "sh", "-c", tries)...)
			cmd.Dir, cmd.Env = a.work, a.env
			out, err := cmd.Output()
			if string(out) != beside || a.read("mounted/new") != "ok\n" {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	a := scene()
	cmd := exec.Command("sh", "-c", tries)
	cmd.Dir = a.work
	if out, _ := cmd.Output(); strings.Count(string(out), "hidden mounted") < 4 || strings.Count(string(out), "hidden granted") != 2 {
		t.Errorf("control: %s", out)
	}
}

// What is on the way to where a denied name leads is not made to lead elsewhere, by who
// may delete, too.
func TestDeniedWays(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const set = `mkdir -p svc editor x deep/dir deep/conf priv sub s1/r s2/r free; echo was >editor/tasks.json
ln -s ../editor svc/.vscode; ln -s x/../conf/m .mcp.json; ln -s l1 .envrc; ln -s l2 l1; ln -s l1 l2; echo was >file; ln -s file/y .bunfig.toml
ln -s nope/../conf/n .gitmodules; ln -s priv/y .npmrc; chmod 0 priv; echo "gitdir: ../store/r" >sub/.git; ln -s s1 store; touch free/x`
	const tries = `mkdir a; mv svc a/; mkdir a/editor; echo evil >a/editor/tasks.json; ln -s a/svc svc; rmdir x; ln -s deep/dir x; echo evil >deep/conf/m
rm l2; echo evil >l2; rm file; mkdir file; echo evil >file/y; ln -s deep/dir nope; echo evil >deep/conf/n; chmod 700 priv; echo evil >priv/y
rm store; ln -s s2 store; echo evil >s2/r/config; mv free a; echo ok >x/new; :`
	obeyed := []string{"svc/.vscode/tasks.json", ".mcp.json", ".envrc", ".bunfig.toml", ".gitmodules", ".npmrc", "store/r/config"}
	changed := func(a *agent) (list []string) {
		os.Chmod(filepath.Join(a.work, "priv"), 0o700)
		for _, name := range obeyed {
			if strings.Contains(a.read("work/"+name), "evil") {
				list = append(list, name)
			}
		}
		return list
	}
	scene := func() *agent {
		a := newAgent(t)
		cmd := exec.Command("sh", "-ec", set)
		cmd.Dir = a.work
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return a
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := scene()
			out, _ := a.in("work", append(slices.Clip(flags), "--grant", "filesystem.delete:.", "--", "sh", "-c", tries)...)
			if names := changed(a); len(names) > 0 || a.read("work/a/free/x") != "" || a.read("work/x/new") != "ok\n" {
				t.Errorf("%q: %s", names, out)
			}
		})
	}
	a := scene()
	cmd := exec.Command("sh", "-c", tries)
	cmd.Dir = a.work
	if out, _ := cmd.CombinedOutput(); len(changed(a)) != len(obeyed) {
		t.Errorf("control: %q: %s", changed(a), out)
	}
}

// What git's configuration names in the workspace is obeyed as that is: directories
// of hooks, included files, files of commands.
func TestConfiguredByGit(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	const set = `git init -q .; mkdir -p tools/hooks src bin; echo was >tools/gitconfig; echo was >bin/clean.sh; echo was >bin/dif; echo free >src/free
git config core.hooksPath tools/hooks; git config include.path ../tools/gitconfig; git config filter.x.clean "sh ./bin/clean.sh %f"; git config alias.d '!bin/dif'
git config remote.o.url src/free; git config core.pager later/pager
echo was >bin/message; ln -s ../../bin/message tools/hooks/commit-msg; echo was >tools/linked; ln -s tools/linked inc; git config --add include.path ../inc
printf '[include]\n\tpath = %s\n' $PWD/tools/more >$HOME/.gitconfig; printf '[core] hooksPath = tools/old\n' >tools/more`
	const tries = `for f in tools/hooks/post-commit tools/gitconfig tools/more tools/old/post-commit bin/clean.sh bin/dif; do mkdir -p $(dirname $f); echo evil >>$f; done; mv tools t; mkdir -p tools/hooks && echo evil >tools/hooks/pre-commit
echo evil >>bin/message; echo evil >m; mv -f m inc; rm -f m
echo ok >>src/free; echo ok >bin/new; :`
	evil := func(a *agent) string {
		b, _ := exec.Command("grep", "-rl", "evil", a.work).Output()
		return string(b)
	}
	try := func(a *agent, argv ...string) string {
		a.write("home/x", "")
		for _, argv := range [][]string{{"sh", "-ec", set}, append(argv, "sh", "-c", tries)} {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = a.work, a.env
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		return evil(a)
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			os.RemoveAll(filepath.Join(a.work, ".git"))
			if got := try(a, append(append([]string{program(t)}, flags...), "--")...); got != "" {
				t.Errorf("written: %s", got)
			}
			if a.read("work/src/free") != "free\nok\n" || a.read("work/bin/new") != "ok\n" {
				t.Error("nothing was written")
			}
		})
	}
	a := newAgent(t)
	os.RemoveAll(filepath.Join(a.work, ".git"))
	if got := try(a, "env"); strings.Count(got, "\n") < 8 {
		t.Errorf("control: %s", got)
	}
}

// What guards a repository elsewhere in the workspace guards it in a tree that is
// granted, too: hooks that a .git file or link leads to.
func TestRepositoryInGrantedTree(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	const tries = `cd $0; for d in gd yd y/.git; do echo evil >$d/hooks/post-commit; echo evil >>$d/config; done; echo new >new; :`
	scene := func() *agent {
		a := newAgent(t)
		cmd := exec.Command("sh", "-ec", "cd $0; git init -q --separate-git-dir=$PWD/gd x; git init -q y; mv y/.git yd; ln -s ../yd y/.git; mkdir -p gd/hooks yd/hooks", a.outside)
		cmd.Env = a.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return a
	}
	changed := func(a *agent) (names []string) {
		for _, d := range []string{"gd", "yd"} {
			if a.read("outside/"+d+"/hooks/post-commit") != "-" || strings.Contains(a.read("outside/"+d+"/config"), "evil") {
				names = append(names, d)
			}
		}
		return names
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := scene()
			out, _ := a.in("work", append(slices.Clip(flags), "--grant", "filesystem.write:"+a.outside, "--", "sh", "-c", tries, a.outside)...)
			if names := changed(a); len(names) > 0 || a.read("outside/new") != "new\n" {
				t.Errorf("%q: %s", names, out)
			}
		})
	}
	a := scene()
	exec.Command("sh", "-c", tries, a.outside).Run()
	if names := changed(a); len(names) != 2 {
		t.Errorf("control: %q", names)
	}
}
