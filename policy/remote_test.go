package policy_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/policy"
)

// Where git fetches from is what the configuration of a directory's own repository
// says, and not known where git looks elsewhere, too.
func TestGitRemote(t *testing.T) {
	const (
		origin = "w/.git/config=[remote \"origin\"]\nurl = https://a.example/x\npushurl = https://p.example/x\n"
		two    = origin + "[remote \"up\"]\nurl = git@b.example:x.git\nurl = https://second.example/x\n"
		other  = "https://other.example/x"
	)
	for _, c := range []struct {
		what  string
		files []string // "name=text", "name->target"
		name  string
		want  string // "" if it is not known
	}{
		{"by name", []string{two}, "up", "git@b.example:x.git"},
		{"the only one", []string{"w/.git/config=[remote \"up\"]\nurl = " + other}, "", other},
		{"origin of two", []string{two}, "", "https://a.example/x"},
		{"of the branch", []string{two + "[branch \"main\"]\nremote = up\n", "w/.git/HEAD=ref: refs/heads/main\n"}, "", "git@b.example:x.git"},
		{"of another branch", []string{two + "[branch \"main\"]\nremote = up\n", "w/.git/HEAD=ref: refs/heads/Main\n"}, "", "https://a.example/x"},
		{"of the branch, by address", []string{two + "[branch \"main\"]\nremote = " + other + "\n", "w/.git/HEAD=ref: refs/heads/main\n"}, "", other},
		{"the repository itself", []string{two + "[branch \"main\"]\nremote = .\n", "w/.git/HEAD=ref: refs/heads/main\n"}, "", "."},
		{"none", []string{"w/.git/config="}, "", ""},
		{"no such", []string{two}, "down", ""},
		{"in other letters", []string{two}, "Up", ""},
		{"without an address", []string{"w/.git/config=[remote \"up\"]\nfetch = x\n"}, "up", ""},
		{"another address", []string{origin + "[url \"https://evil.example/\"]\ninsteadOf = https://a.example/\n"}, "origin", "https://evil.example/x"},
		{"the longest beginning", []string{origin + "[url \"https://long.example/\"]\ninsteadOf = https://a.example/\n[url \"https://short.example/\"]\ninsteadOf = https://\n"}, "origin", "https://long.example/x"},
		{"of an address", []string{origin + "[url \"https://evil.example/\"]\ninsteadOf = https://good.example/\n"}, "https://good.example/x", "https://evil.example/x"},
		{"for pushing alone", []string{origin + "[url \"https://evil.example/\"]\npushInsteadOf = https://a.example/\n"}, "origin", "https://a.example/x"},
		{"of the system", []string{origin, "etc/gitconfig=[url \"https://mirror.example/\"]\ninsteadOf = https://a.example/\n"}, "origin", "https://mirror.example/x"},
		{"of the work tree alone", []string{origin + "[extensions]\nworktreeConfig = true\n", "w/.git/config.worktree=[url \"https://own.example/\"]\ninsteadOf = https://a.example/\n"}, "origin", "https://own.example/x"},
		{"of a work tree", []string{strings.Replace(origin, "w/.git", "home/u/m/.git", 1), "w/.git=gitdir: /home/u/m/.git/worktrees/t", "home/u/m/.git/worktrees/t/commondir=../..", "home/u/m/.git/worktrees/t/gitdir=/w/.git"}, "origin", "https://a.example/x"},

		{"an included file", []string{origin + "[include]\npath = x\n"}, "origin", ""},
		{"an included file, on a condition", []string{origin + "[includeIf \"gitdir:/w/\"]\npath = x\n"}, "origin", ""},
		{"a group", []string{two + "[remotes]\norigin = up origin\n"}, "origin", ""},
		{"a program that fetches", []string{origin + "[remote \"origin\"]\nvcs = x\n"}, "origin", ""},
		{"an empty address", []string{origin + "[remote \"origin\"]\nurl =\nurl = " + other + "\n"}, "origin", ""},
		{"what git does not read", []string{origin + "x y z\n"}, "origin", ""},
		{"a FIFO", []string{"w/.git/config|"}, "origin", ""},
		{"a link to another's", []string{"w/.git/config->../../home/u/config", "home/u/config=" + strings.SplitN(origin, "=", 2)[1]}, "origin", ""},
		{"another's repository", []string{"w/.git=gitdir: /home/u/m/.git", "home/u/m/.git/config=" + strings.SplitN(origin, "=", 2)[1]}, "origin", ""},
		{"a link to it", []string{"w/.git->/home/u/m/.git", "home/u/m/.git/config=" + strings.SplitN(origin, "=", 2)[1]}, "origin", ""},
		{"one that it shares", []string{"w/.git/commondir=/home/u/m/.git", "home/u/m/.git/config=" + strings.SplitN(origin, "=", 2)[1]}, "origin", ""},
		{"another's work tree", []string{strings.Replace(origin, "w/.git", "home/u/m/.git", 1), "w/.git=gitdir: /home/u/m/.git/worktrees/t", "home/u/m/.git/worktrees/t/commondir=../..", "home/u/m/.git/worktrees/t/gitdir=/home/u/t/.git"}, "origin", ""},
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
				if name, ok := strings.CutSuffix(f, "|"); ok {
					files[name] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
				} else if name, to, ok := strings.Cut(f, "->"); ok {
					files[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
				} else {
					name, text, _ := strings.Cut(f, "=")
					files[name] = &fstest.MapFile{Data: []byte(text)}
				}
			}
			files["w/sub/x"] = &fstest.MapFile{}
			for _, dir := range []string{"/w", "/w/sub"} {
				if got, known := policy.GitRemote(h, dir, c.name); got != c.want || known != (c.want != "") {
					t.Errorf("in %s: %q, %v, want %q", dir, got, known, c.want)
				}
			}
		})
	}
	for _, dir := range []string{"", ".", "/", "/nowhere"} {
		if got, known := policy.GitRemote(machine(), dir, ""); known {
			t.Errorf("in %q: %q", dir, got)
		}
	}
}
