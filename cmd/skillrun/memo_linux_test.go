package main_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skillrun/cmd/skillrun"
	"skillrun/sandbox/sandboxtest"
)

// launches is a place in which runs share a state directory.
type launches struct {
	t    *testing.T
	dir  string
	env  []string
	args []string
}

func newLaunches(t *testing.T, args ...string) *launches {
	sandboxtest.Require(t, "landlock", "seccomp")
	dir, env := home(t)
	return &launches{t, dir, env, append([]string{"--namespaces", "off"}, args...)}
}

func (l *launches) root() string { return filepath.Dir(l.dir) }

func (l *launches) write(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.root(), name), []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// link gives a file another name, in the place of what has it.
func (l *launches) link(name, other string) {
	l.t.Helper()
	other = filepath.Join(l.root(), other)
	if err := os.Remove(other); err != nil && !os.IsNotExist(err) {
		l.t.Fatal(err)
	}
	if err := os.Link(filepath.Join(l.root(), name), other); err != nil {
		l.t.Fatal(err)
	}
}

// sh runs a shell command and gives what it printed, and its report without
// what differs from run to run.
func (l *launches) sh(command string) (out string, report map[string]any) {
	l.t.Helper()
	file := filepath.Join(l.root(), "report.json")
	cmd := exec.Command(program(l.t), append(append([]string{"--report", file}, l.args...), "--", "sh", "-c", command)...)
	cmd.Dir, cmd.Env = l.dir, l.env
	b, err := cmd.Output()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		l.t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &report); err != nil {
		l.t.Fatal(err)
	}
	for _, name := range []string{"run_id", "denials"} {
		delete(report, name)
	}
	return string(b), report
}

// memos names what is kept, with what would change if it were kept anew.
func (l *launches) memos() string {
	l.t.Helper()
	out, err := exec.Command("sh", "-c", "cd '"+l.root()+"/state/skillrun/memo' 2>/dev/null && stat -c '%n %i' *").Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// The second launch takes what the first worked out, whatever it has the same
// program do, and nothing else is different.
func TestMemo(t *testing.T) {
	l := newLaunches(t)
	l.sh("true") // makes the state directory, which is a change
	// What is looked at is the machine's, too, and others may change that between
	// two launches; not each time.
	for try := 1; ; try++ {
		_, first := l.sh("true")
		kept := l.memos()
		if strings.Count(kept, "\n") != 1 {
			t.Fatalf("kept: %q", kept)
		}
		_, second := l.sh("true; true")
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if !bytes.Equal(a, b) {
			t.Errorf("first  %s\nsecond %s", a, b)
		}
		again := l.memos()
		if again == kept {
			return
		}
		if try == 20 {
			t.Fatalf("the second launch worked it out again, %d times: %q, %q", try, kept, again)
		}
	}
}

// What the plan was made from may change between two launches: each change
// must tell.
func TestMemoChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before func(l *launches)
		change func(l *launches)
		sh     string
		// first and then are what the command prints before and after.
		first, then string
	}{
		{
			"secret appears", func(l *launches) { l.write("w/data", "data\n") },
			func(l *launches) { l.write("w/.env", "secret\n") },
			"cat data .env 2>/dev/null", "data\n", "data\n",
		},
		{
			"secret becomes link", func(l *launches) { l.write("home/target", "kept\n"); l.write("w/.env", "x\n") },
			func(l *launches) {
				os.Remove(filepath.Join(l.dir, ".env"))
				os.Symlink("../home/target", filepath.Join(l.dir, ".env"))
				time.Sleep(main.SettledAfter) // so that what it leads to is looked at once
			},
			"cat .env 2>/dev/null", "", "",
		},
		{
			"directory with another name of a secret", func(l *launches) {
				os.Mkdir(filepath.Join(l.root(), "other"), 0o755)
				os.Mkdir(filepath.Join(l.dir, "q"), 0o755)
				l.write("w/.env", "secret\n")
				l.link("w/.env", "other/x")
				l.write("w/q/x", "x\n")
				time.Sleep(2100 * time.Millisecond) // all is settled
			},
			func(l *launches) {
				os.Rename(filepath.Join(l.dir, "q"), filepath.Join(l.root(), "was"))
				os.Rename(filepath.Join(l.root(), "other"), filepath.Join(l.dir, "q"))
			},
			"cat q/x 2>/dev/null", "x\n", "",
		},
		{
			"directory with a secret", func(l *launches) {},
			func(l *launches) {
				os.Mkdir(filepath.Join(l.dir, "new"), 0o755)
				l.write("w/new/.env", "secret\n")
			},
			"cat new/.env 2>/dev/null", "", "",
		},
		{
			"what is looked for", func(l *launches) {},
			func(l *launches) { os.Symlink("elsewhere", filepath.Join(l.dir, ".git")) },
			"echo x", "x\n", "x\n",
		},
		{
			"variable", func(l *launches) { l.env = append(l.env, "LANG=C") },
			func(l *launches) { l.env = append(l.env, "LANG=C.UTF-8") },
			"echo $LANG", "C\n", "C.UTF-8\n",
		},
		{
			"grant", func(l *launches) { l.write("home/file", "granted\n") },
			func(l *launches) {
				l.args = append(l.args, "--grant", "filesystem.read:"+filepath.Join(l.root(), "home/file"))
			},
			"cat ../home/file 2>/dev/null || :", "", "granted\n",
		},
		{
			"manifest", func(l *launches) {
				l.write("m.json", `{"permissions": [{"capability": "filesystem.read", "effect": "allow"}, {"capability": "shell.execute", "effect": "allow"}]}`)
				l.args = append(l.args, "--manifest", filepath.Join(l.root(), "m.json"))
				l.write("w/x", "x\n")
			},
			func(l *launches) {
				l.write("m.json", `{"permissions": [{"capability": "filesystem.read", "effect": "deny"}, {"capability": "shell.execute", "effect": "allow"}]}`)
			},
			"cat x 2>/dev/null", "x\n", "",
		},
		{
			"cut short", func(l *launches) {},
			func(l *launches) {
				files, _ := filepath.Glob(l.root() + "/state/skillrun/memo/*")
				for _, f := range files {
					if err := os.Truncate(f, 1000); err != nil {
						l.t.Fatal(err)
					}
				}
			},
			"echo x", "x\n", "x\n",
		},
		{
			"not a file", func(l *launches) {},
			func(l *launches) {
				files, _ := filepath.Glob(l.root() + "/state/skillrun/memo/*")
				for _, f := range files {
					if err := os.Rename(f, l.root()+"/elsewhere"); err != nil {
						l.t.Fatal(err)
					}
					if err := os.Symlink(l.root()+"/elsewhere", f); err != nil {
						l.t.Fatal(err)
					}
				}
			},
			"echo x", "x\n", "x\n",
		},
		{
			"open to others", func(l *launches) {},
			func(l *launches) {
				files, _ := filepath.Glob(l.root() + "/state/skillrun/memo/*")
				for _, f := range files {
					if err := os.Chmod(f, 0o666); err != nil {
						l.t.Fatal(err)
					}
				}
			},
			"echo x", "x\n", "x\n",
		},
		{
			"what the home lacked", func(l *launches) {
				os.Mkdir(filepath.Join(l.dir, "hooks"), 0o755)
				time.Sleep(main.SettledAfter)
			},
			func(l *launches) {
				l.write("home/.gitconfig", "[core]\n\thooksPath = "+l.dir+"/hooks\n")
				time.Sleep(main.SettledAfter)
			},
			"echo x 2>/dev/null >hooks/pre-commit && echo wrote", "wrote\n", "",
		},
		{
			"too long to be read", func(l *launches) {
				os.MkdirAll(filepath.Join(l.dir, "store/hooks"), 0o755)
				l.write("w/.git", "gitdir: store"+strings.Repeat("\n", 1<<20))
				time.Sleep(main.SettledAfter)
			},
			func(l *launches) {
				l.write("w/.git", "gitdir: store\n")
				time.Sleep(main.SettledAfter) // so that a plan is kept again
			},
			"echo x >store/hooks/pre-commit && echo wrote", "wrote\n", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLaunches(t)
			c.before(l)
			l.sh("true")
			out, _ := l.sh(c.sh)
			if out != c.first {
				t.Fatalf("before: %q", out)
			}
			kept := l.memos()
			if kept == "" {
				t.Fatal("nothing was kept, so that this shows nothing")
			}
			c.change(l)
			if out, _ = l.sh(c.sh); out != c.then {
				t.Errorf("after: %q, want %q", out, c.then)
			}
			if again := l.memos(); again == kept {
				t.Error("the old plan was used")
			}
		})
	}
}

// memoStep is a change to a workspace, what the launch after it prints, and whether
// an earlier launch's plan holds.
type memoStep struct {
	then, out string
	used      bool
}

// change is by a shell, from outside of any run.
func (l *launches) change(then string) {
	l.t.Helper()
	cmd := exec.Command("sh", "-ec", then)
	cmd.Dir = l.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("%v: %s", err, out)
	}
}

// take has step after step, in a place that begin makes. What is looked at is the
// machine's, too, and others may change that between two launches, not each time:
// where a plan should hold it has to once, in other places.
func take(t *testing.T, steps []memoStep, begin func() (l *launches, run func() (out string, used bool))) {
	t.Helper()
	seen := make([]bool, len(steps))
	for try := 1; slices.Contains(seen, false); try++ {
		l, run := begin()
		for i, s := range steps {
			l.change(s.then)
			out, used := run()
			if out != s.out {
				t.Errorf("after %q: %q, want %q", s.then, out, s.out)
			}
			if seen[i] = seen[i] || used == s.used; used && !s.used || !seen[i] && try == 10 {
				t.Fatalf("after %q an earlier plan was used: %t", s.then, used)
			}
		}
	}
}

// Of most names nothing follows: they come and go, and directories with them, and
// the plan is the same, until one comes that counts, in a new directory, too.
func TestMemoSifts(t *testing.T) {
	t.Parallel()
	const show = "cat a/b/y; cat .env */.env */*/.env */*/*/.env 2>/dev/null; :"
	var steps []memoStep
	for _, s := range []struct {
		then string
		used bool
	}{
		{":", true}, {"echo 1 > a/b/z", true}, {"echo 2 > z", true}, {"rm a/b/x", true}, {"ln -s ../z a/b/x", true}, {"mv z a/z; ln a/z a/b/w", true},
		{"mkdir -p new/er; echo > new/er/x", true}, {"echo 1 > new/er/y", true}, {"mv new/er a/b; rmdir new", true}, {"rm -r a/b/er; mkdir a/b/er", true}, {":", true},
		{"rm -r a/b/er; ln -s .. a/b/er", true}, {"rm a/b/er", true},
		{"echo secret > a/b/.env", false}, {":", true}, {"rm a/b/.env", false},
		{"mkdir -p new/er", true}, {"echo secret > new/er/.env", false}, {"rm -r new", false},
		{"mkdir -p other/er; echo secret > other/er/.env", false}, {"mv other a/other", false}, {"mkdir c; mv a/other c", false},
		{"mv c d; ln -s d c", false}, {"rm c; mv d/other d/another", false}, {"rm -r d", false}, {":", true},
		// What leads elsewhere from where something is denied counts, too.
		{"ln -s ../a a/b/link", true}, {"ln -s ../x a/b/.envrc", false}, {":", true}, {"ln -sfn ../y a/b/.envrc", false}, {"rm a/b/.envrc", false},
		{"mkdir r; echo 'gitdir: ../q' > r/.git; sleep 2.1", false}, {"echo x > r/x", true}, {"echo 'gitdir: ../p' > r/.git", false}, {"rm -r r", false}, {":", true},
		{"mkdir -p t/u; ln -s t .husky; sleep 2.1", false}, {":", true}, {"ln -s ../../a t/u/a", false}, {"rm -r t .husky", false},
		{"mkdir closed; chmod 111 closed", os.Getuid() == 0}, // what cannot be listed may hold anything
	} {
		steps = append(steps, memoStep{s.then, "1\n", s.used})
	}
	take(t, steps, func() (*launches, func() (string, bool)) {
		l := newLaunches(t, "--grant", "filesystem.write:.")
		t.Cleanup(func() { l.change("chmod 755 closed 2>/dev/null || :") })
		run := func() (string, bool) {
			cmd := exec.Command(program(t), append(append([]string{"-v"}, l.args...), "--", "sh", "-c", show)...)
			var told strings.Builder
			cmd.Dir, cmd.Env, cmd.Stderr = l.dir, l.env, &told
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v: %s", err, told.String())
			}
			return string(out), strings.Contains(told.String(), "an earlier run's plan holds\n")
		}
		l.change("mkdir -p a/b; echo 1 > a/b/y; echo x > a/b/x")
		run() // makes the state directory, which is a change
		run()
		return l, run
	})
}

// Of the home's settings links count, and directories, in which there may be more; what
// leads out of them to where a run may write is not written.
func TestMemoLinkedFromHome(t *testing.T) {
	const try = "for d in plugins ../other/zed; do echo 1 2>/dev/null >$d/x && echo $d; done; :"
	take(t, []memoStep{
		{":", "plugins\n../other/zed\n", true}, {"echo >../home/.config/nvim/lua/x", "plugins\n../other/zed\n", true},
		{"ln -s ../../../../w/plugins ../home/.config/nvim/lua/plugins", "../other/zed\n", false}, {":", "../other/zed\n", true},
		{"mkdir ../home/.config/nvim/after", "../other/zed\n", false},
		{"ln -s ../../other/zed ../home/.config/zed", "", false}, {"rm ../home/.config/nvim/lua/plugins", "plugins\n", false},
		{"ln -s ../w ../home/.augment-w; ln -s ../w/plugins ../home/.augment", "", false},
	}, func() (*launches, func() (string, bool)) {
		l := newLaunches(t, "--mount", "other=../other:rw")
		l.change("mkdir -p plugins ../other/zed ../home/.config/nvim/lua; sleep 2.1")
		l.sh("true") // makes the state directory, which is a change
		l.sh("true")
		return l, func() (string, bool) {
			kept := l.memos()
			out, _ := l.sh(try)
			return out, l.memos() == kept
		}
	})
}

// A directory on a file system of somebody's own making may hold another file
// and have the times that it had: it is read again each time.
func TestMemoTimes(t *testing.T) {
	dir, _ := home(t)
	for _, c := range []struct {
		name  string
		after time.Duration
		want  bool
	}{{dir, time.Hour, true}, {dir, time.Second, false}, {"/proc", time.Hour, false}, {"/sys/kernel", time.Hour, false}} {
		if main.Settles(c.name[1:], time.Now().Add(c.after)) != c.want {
			t.Errorf("%s after %v: %v", c.name, c.after, !c.want)
		}
	}
}

// What a secret is called besides is the plan's as much as what it is called.
func TestMemoOtherNames(t *testing.T) {
	for _, c := range []struct{ name, before string }{
		{"one before", "x\ny\n"},
		{"two before", "x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sandboxtest.Require(t, "namespaces") // without them each open is looked at
			l := newLaunches(t)
			l.args = []string{"--namespaces", "on"}
			l.write("w/.env", "secret\n")
			l.write("w/x", "x\n")
			l.write("w/y", "y\n")
			if c.before == "x\n" {
				l.link("w/.env", "w/y")
			}
			const show = "cat x y 2>/dev/null"
			// What has several names is not kept while its last change is young.
			for try, kept := 0, "-"; kept == "" || kept != l.memos(); try++ {
				if kept = l.memos(); try == 1000 {
					t.Fatal("nothing was kept, so that this shows nothing")
				}
				if out, _ := l.sh(show); out != c.before {
					t.Fatalf("before: %q", out)
				}
			}
			l.link("w/.env", "w/x")
			if c.before == "x\n" {
				if err := os.Remove(filepath.Join(l.dir, "y")); err != nil {
					t.Fatal(err)
				}
				l.write("w/y", "y\n")
			}
			if out, _ := l.sh(show); out != "y\n" {
				t.Errorf("after: %q", out)
			}
		})
	}
}

// What is packed comes back, and no file makes the reader do worse than fail.
func TestPack(t *testing.T) {
	for _, want := range append(main.Packables(), main.Filled()) {
		got, err := main.Unpack(main.Pack(want))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(main.Pack(want), main.Pack(got)) {
			t.Errorf("%+v came back as %+v", want, got)
		}
	}
}

func TestPackSeen(t *testing.T) {
	for _, n := range []uint64{0, 1, 127, 128, 1 << 31, math.MaxUint64 - 4} {
		for _, name := range []string{"", "home/u/.env", strings.Repeat("x", 300) + "\xff"} {
			if !main.SeenComesBack(name, "to "+name, n, n%2 == 1) {
				t.Errorf("%d %q: not read back", n, name)
			}
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for _, p := range main.Packables() {
		f.Add(main.Pack(p))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := main.Unpack(data)
		if err != nil {
			return
		}
		again, err := main.Unpack(main.Pack(p))
		if err != nil || !bytes.Equal(main.Pack(again), main.Pack(p)) {
			t.Fatalf("%+v came back as %+v, %v", p, again, err)
		}
	})
}
