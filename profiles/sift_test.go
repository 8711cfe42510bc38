package profiles_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"skillrun/profiles"
)

// through gives a profile of a workspace "/w", beside which others were granted, with
// what names in it lead to denied.
func through(t *testing.T, h *profiles.Host, others ...profiles.PathRule) *profiles.Profile {
	t.Helper()
	p := &profiles.Profile{Paths: append(others, profiles.PathRule{Path: "/w", Tree: true, Access: profiles.AllAccess})}
	p.Denials = append(profiles.WorkspaceSecrets("/w"), profiles.ControlFiles("/w")...)
	for _, s := range p.Sifts() {
		err := fs.WalkDir(h.FS, s.Root[1:], func(name string, e fs.DirEntry, err error) error {
			if name != s.Root[1:] {
				p.Denials = append(p.Denials, s.Through(h, "/"+name, e.Type())...)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	p.Paths = []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.AllAccess}}
	return p
}

// TestThroughLinkedOut: what a secret's name leads to is one in another tree that was
// granted, but not all of that, nor what was granted by its own name, nor the system's.
func TestThroughLinkedOut(t *testing.T) {
	h := machine("/w/.env -> /g/prod/values", "/g/prod/values", "/g/prod/other", "/w/.env.d -> /g/dir", "/g/dir/one -> ../../r/one", "/r/one", "/r/two", "/w/.env.all -> /r", "/w/.env.up -> /",
		"/w/.env.none -> /n/x", "/n/x", "/w/.env.own -> /own", "/own", "/w/ca.pem -> /etc/ssl/ca.pem", "/etc/ssl/ca.pem", "/w/py.pem -> /tool/ca.pem", "/tool/ca.pem", "/w/.env.example2 -> /g/.env.example", "/g/.env.example",
		"/w/.env.mid -> /g/mid", "/g/mid -> /n/y", "/n/y", "/w/.env.new -> /g/x/../new", "/g/x/old")
	rule := func(path, source string) profiles.PathRule {
		return profiles.PathRule{Path: path, Tree: true, Access: profiles.AllAccess, Origin: profiles.Origin{Source: source}}
	}
	own := rule("/own", "--grant")
	own.Tree = false
	const write, create, change, read = profiles.Write, profiles.Create, profiles.Delete, profiles.Read
	p := through(t, h, rule("/g", "--grant"), rule("/r", "--mount"), rule("/etc", "--grant"), rule("/tool", "built-in:toolchains"), own)
	for _, c := range []struct {
		path   string
		access profiles.Access
		want   bool
	}{
		{"/g/prod/values", read, false}, {"/g/prod/values", write, false}, {"/g/prod/other", read, true}, {"/g/prod/other", write, true}, {"/g/dir/x", read, false}, {"/r/one", read, false}, {"/r/two", read, true},
		{"/n/x", read, true}, {"/own", read, true}, {"/etc/ssl/ca.pem", read, true}, {"/tool/ca.pem", read, true}, {"/g/.env.example", read, true},
		{"/g/mid", change, false}, {"/n/y", read, true}, {"/g/new", create, false}, {"/g/x", change, false}, {"/g/x/old", write, true},
	} {
		if v := p.Allows(c.path, c.access); v.Allowed != c.want {
			t.Errorf("%s of %s: %t", c.access.Word(), c.path, v.Allowed)
		}
	}
}

// TestThroughLinked: what a denied name finally leads to is denied, by way of links in
// what others lead to as well, and none on the way can be made to lead elsewhere.
func TestThroughLinked(t *testing.T) {
	h := machine("/w/.claude -> conf/c", "/w/conf/c/settings.json -> ../real", "/w/conf/real",
		"/w/conf/c/commands -> ../../cmds", "/w/cmds/x.md -> ../docs/step", "/w/docs/step -> x.md", "/w/docs/x.md", "/w/docs/other",
		"/w/conf/c/loop -> ../../cmds/loop", "/w/cmds/loop -> ../conf/c", "/w/conf/c/none -> ../later/none",
		"/w/conf/c/tool/.git", "/w/r/HEAD",
		"/w/.git -> g", "/w/g/hooks -> ../h", "/w/h/pre-commit -> ../src/check", "/w/src/check", "/w/src/main",
		"/w/g/info -> ../i", "/w/i/attributes -> ../attributes", "/w/g/worktrees/x/modules -> /w/m",
		"/w/.vscode -> /o/v", "/o/v/tasks.json -> /w/tasks", "/o/v/x -> /o/y", "/o/other",
		"/w/.env.d -> env", "/w/env/one -> ../one", "/w/one", "/w/env/hostname -> /etc/hostname",
		"/w/.env.e -> ../o", "/o/more -> /w/more",
		"/w/.github/workflows/a.yml -> ../../ci", "/w/.husky -> .", "/w/.mcp.json -> node_modules/p/mcp.json", "/w/.env.prod -> .env.example")
	h.FS.(fstest.MapFS)["w/conf/c/tool/.git"].Data = []byte("gitdir: ../../../r\n")
	p := through(t, h)
	const write, change, read = profiles.Write, profiles.Delete, profiles.Read
	for _, c := range []struct {
		path   string
		access profiles.Access
		want   bool
	}{
		{"/w/conf/c/settings.json", write, false}, {"/w/conf/real", write, false}, {"/w/conf/real", read, true}, {"/w/conf/other", write, true},
		{"/w/cmds/new", profiles.Create, false}, {"/w/docs/x.md", write, false}, {"/w/docs/step", write, false}, {"/w/docs/step", change, false}, {"/w/docs/other", write, true},
		{"/w/conf", change, false}, {"/w/docs", change, false}, {"/w/conf/later/none", profiles.Create, false},
		{"/w/r/HEAD", write, false},
		{"/w/h/new", profiles.Create, false}, {"/w/src/check", write, false}, {"/w/src/main", write, true}, {"/w/g/HEAD", write, true},
		{"/w/i/attributes", write, false}, {"/w/g/info", change, false}, {"/w/attributes", profiles.Create, false}, {"/w/i/x", write, true}, {"/w/m/x", write, false},
		{"/o/v/x", write, false}, {"/o/v/x", read, true}, {"/w/tasks", write, false}, {"/o/y", write, false}, {"/o/other", write, true},
		{"/w/one", read, false}, {"/etc/hostname", read, true}, {"/o/other", read, true}, {"/w/more", read, true},
		{"/w/ci", write, false}, {"/w/new", profiles.Create, true},
		{"/w/node_modules/p/mcp.json", write, false}, {"/w/node_modules/p/.mcp.json", write, true}, {"/w/.env.example", read, true},
	} {
		if v := p.Allows(c.path, c.access); v.Allowed != c.want {
			t.Errorf("%s of %s: %t", c.access.Word(), c.path, v.Allowed)
		}
	}
}

// TestThroughMade: what a run may make where it makes the directories itself stays denied
// where a name leads that is there already.
func TestThroughMade(t *testing.T) {
	h := machine("/w/.git -> a/.git", "/w/.vscode -> a/.vscode", "/w/q/.trunk -> a/.trunk", "/w/r/.git/HEAD", "/w/s -> r/.git")
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.AllAccess}}, Denials: profiles.ControlFiles("/w")}
	held := func(path string) bool {
		return slices.ContainsFunc(p.Denials, func(d profiles.Denial) bool { return !d.UnlessMade && !d.UnlessWithin && d.Covers(path) })
	}
	names := []string{"/w/a/.git/hooks/x", "/w/a/.git/config", "/w/a/.vscode/tasks.json", "/w/q/a/.trunk/trunk.yaml"}
	for _, name := range names {
		if held(name) {
			t.Errorf("control: %s is held whoever makes it", name)
		}
	}
	var found []profiles.Denial
	for _, s := range p.Sifts() {
		for _, name := range []string{"/w/.git", "/w/.vscode", "/w/q/.trunk"} {
			found = append(found, s.Through(h, name, fs.ModeSymlink)...)
		}
	}
	p.Denials = append(p.Denials, found...)
	for _, name := range names {
		if !held(name) {
			t.Errorf("%s is the run's to make", name)
		}
	}
	if held("/w/b/.git/hooks/x") {
		t.Error("where no name leads nothing is the run's to make")
	}
}

// TestThroughWorkTree: of a work tree where an agent keeps its own the repository is one
// like any other.
func TestThroughWorkTree(t *testing.T) {
	h := machine("/w/.git/HEAD", "/w/.git/worktrees/u/commondir", "/w/.claude/worktrees/u/.git")
	m := h.FS.(fstest.MapFS)
	m["w/.claude/worktrees/u/.git"].Data = []byte("gitdir: /w/.git/worktrees/u\n")
	m["w/.git/worktrees/u/commondir"].Data = []byte("../..\n")
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.AllAccess}}, Denials: profiles.ControlFiles("/w")}
	for _, s := range p.Sifts() {
		p.Denials = append(p.Denials, s.Through(h, "/w/.claude/worktrees/u/.git", 0)...)
	}
	for path, want := range map[string]bool{
		"/w/.git/index": true, "/w/.git/refs/heads/m": true, "/w/.git/worktrees/u/index": true,
		"/w/.git/hooks/x": false, "/w/.git/config": false, "/w/.git/worktrees/u/gitdir": false, "/w/.claude/worktrees/u/.git": false,
	} {
		if v := p.Allows(path, profiles.Write); v.Allowed != want {
			t.Errorf("write of %s: %t", path, v.Allowed)
		}
	}
}

// TestThroughItself: of a name that leads to the tree itself, or above it, what is obeyed
// beneath such a directory counts, by the names that it has there.
func TestThroughItself(t *testing.T) {
	for _, h := range []*profiles.Host{
		machine("/w/.claude -> .", "/w/.vscode -> ../w", "/w/settings.json", "/w/commands -> docs", "/w/docs/x"),
		machine("/w/.claude -> a", "/w/a -> /w", "/w/b/.vscode -> ../", "/w/commands -> docs"),
	} {
		p := through(t, h)
		for name, want := range map[string]bool{
			"/w/settings.json": false, "/w/settings.local.json": false, "/w/hooks/x": false, "/w/commands": false, "/w/docs/x": false, "/w/tasks.json": false,
			"/w/x": true, "/w/src/settings.json": true, "/w/CLAUDE.md": true, "/w/config.toml": true, "/w/mcp.json": false,
		} {
			if v := p.Allows(name, profiles.Write); v.Allowed != want {
				t.Errorf("%s: %t", name, v.Allowed)
			}
		}
	}
	p := through(t, machine("/w/sub/.claude -> ..", "/w/sub/up/.cursor -> /"))
	for name, want := range map[string]bool{"/w/settings.json": false, "/w/sub/settings.json": true, "/hooks.json": false, "/w/hooks.json": true} {
		if v := p.Allows(name, profiles.Write); v.Allowed != want {
			t.Errorf("%s: %t", name, v.Allowed)
		}
	}
}

// TestThroughStays: what is on the way to where a denied name leads cannot be made to
// lead elsewhere, be it a link, a directory that ".." is of, or what ends the way.
func TestThroughStays(t *testing.T) {
	h := machine("/w/svc/.vscode -> ../editor", "/w/editor/tasks.json", "/w/up/.vscode -> /w/up2", "/w/up2/x",
		"/w/.mcp.json -> x/y/../../m", "/w/x/y/old", "/w/m",
		"/w/.envrc -> l1", "/w/l1 -> l2", "/w/l2 -> l1", "/w/.npmrc -> file/rc", "/w/file", "/w/.rvmrc -> nope/../rc", "/w/.yarnrc -> none/rc",
		"/w/.bashrc -> priv/rc", "/w/priv/",
		"/w/sub/.git", "/w/store -> s1", "/w/s1/r/HEAD", "/w/s1/r/commondir", "/w/s1/other/HEAD", "/w/free -> s1", "/w/old/y")
	m := h.FS.(fstest.MapFS)
	m["w/sub/.git"].Data = []byte("gitdir: ../store/r\n")
	m["w/s1/r/commondir"].Data = []byte("../other\n")
	h.FS = wide{MapFS: m, shut: "w/priv"}
	p := through(t, h)
	const write, create, change = profiles.Write, profiles.Create, profiles.Delete
	for _, c := range []struct {
		path   string
		access profiles.Access
		want   bool
	}{
		{"/w/svc", change, false}, {"/w/up", change, false}, {"/w/editor", change, false},
		{"/w/x/y", change, false}, {"/w/x", change, false}, {"/w/x/y/new", create, true}, {"/w/x/y/old", write, true}, {"/w/m", write, false},
		{"/w/l2", change, false}, {"/w/l2", create, false}, {"/w/file", change, false}, {"/w/nope", create, false}, {"/w/none", create, true}, {"/w/none/rc", create, false},
		{"/w/priv", write, false}, {"/w/priv/rc", create, false},
		{"/w/store", change, false}, {"/w/sub", change, false}, {"/w/sub/x", change, true}, {"/w/s1/r/config", create, false}, {"/w/s1/other/config", create, false},
		{"/w/s1/r/HEAD", write, true}, {"/w/s1/r", change, false}, {"/w/free", change, true}, {"/w/old/y", change, true},
	} {
		if v := p.Allows(c.path, c.access); v.Allowed != c.want {
			t.Errorf("%s of %s: %t", c.access.Word(), c.path, v.Allowed)
		}
	}
}

// TestThroughStaysTooFar: of more links than are followed none can become the end.
func TestThroughStaysTooFar(t *testing.T) {
	files := []string{"/w/.envrc -> l1", "/w/x", "/w/.npmrc -> /dev/null", "/dev/null"}
	for i := 1; i <= 41; i++ {
		files = append(files, fmt.Sprintf("/w/l%d -> l%d", i, i+1))
	}
	p := through(t, machine(files...))
	for name, want := range map[string]bool{"/w/l1": false, "/w/l39": false, "/w/l40": false, "/w/x": true, "/dev/null": true} {
		if v := p.Allows(name, profiles.Delete); v.Allowed != want {
			t.Errorf("%s: %t", name, v.Allowed)
		}
	}
}

// wide is a machine with so many directories in "/g/o". One that is closed cannot be
// listed, and nothing in one that is shut is reached either.
type wide struct {
	fstest.MapFS
	dirs         int
	closed, shut string
}

func (w wide) ReadDir(name string) (entries []fs.DirEntry, err error) {
	switch info, _ := w.Lstat("w"); {
	case name == "g/o" && w.dirs > 0:
		for range w.dirs {
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
		return entries, nil
	case name == w.closed, name == w.shut:
		return nil, fs.ErrPermission
	}
	return w.MapFS.ReadDir(name)
}

func (w wide) Lstat(name string) (fs.FileInfo, error) {
	if path.Dir(name) == w.shut {
		return nil, fs.ErrPermission
	}
	return w.MapFS.Lstat(name)
}

// TestThroughBounds: where what a denied name leads to is too much to be looked at, or
// cannot be, all of the workspace, and of the tree that this is in, may be what it leads
// to.
func TestThroughBounds(t *testing.T) {
	for _, c := range []struct {
		wide
		want bool
	}{{wide{dirs: 16383}, true}, {wide{dirs: 16384}, false}, {wide{closed: "g/o/w"}, false}, {wide{shut: "g/o/w"}, true}} {
		for name, access := range map[string]profiles.Access{".claude": profiles.Write, ".env": profiles.Read} {
			h := machine("/w/"+name+" -> /g/o", "/w/x", "/g/o/w/", "/g/x", "/n/x")
			c.MapFS = h.FS.(fstest.MapFS)
			h.FS = c.wide
			p := through(t, h, profiles.PathRule{Path: "/g", Tree: true, Access: profiles.AllAccess})
			for path, want := range map[string]bool{"/w/x": c.want, "/g/x": c.want, "/n/x": true} {
				if v := p.Allows(path, access); v.Allowed != want {
					t.Errorf("%d directories, closed %q, shut %q: %s %t", c.dirs, c.closed, c.shut, path, v.Allowed)
				}
			}
		}
	}
}
