package profiles_test

import (
	"io/fs"
	"path"
	"testing"
	"testing/fstest"

	"skillrun/profiles"
)

// through gives a profile of a workspace "/w" with what names in it lead to denied.
func through(t *testing.T, h *profiles.Host) *profiles.Profile {
	t.Helper()
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.AllAccess}}}
	p.Denials = append(profiles.WorkspaceSecrets("/w"), profiles.ControlFiles("/w")...)
	for _, s := range p.Sifts() {
		err := fs.WalkDir(h.FS, s.Root[1:], func(name string, e fs.DirEntry, err error) error {
			if err == nil && name != s.Root[1:] {
				p.Denials = append(p.Denials, s.Through(h, "/"+name, e.Type())...)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
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
		"/w/.github/workflows/a.yml -> ../../ci", "/w/.husky -> .")
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
	} {
		if v := p.Allows(c.path, c.access); v.Allowed != c.want {
			t.Errorf("%s of %s: %t", c.access.Word(), c.path, v.Allowed)
		}
	}
}

// wide is a machine with so many directories in "/o". The first cannot be listed if
// it is closed, and nothing in it reached if it is shut.
type wide struct {
	fstest.MapFS
	dirs         int
	closed, shut bool
}

func (w wide) ReadDir(name string) (entries []fs.DirEntry, err error) {
	switch info, _ := w.Lstat("w"); {
	case name == "o":
		for range w.dirs {
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
		return entries, nil
	case name == "o/w" && (w.closed || w.shut):
		return nil, fs.ErrPermission
	}
	return w.MapFS.ReadDir(name)
}

func (w wide) Lstat(name string) (fs.FileInfo, error) {
	if w.shut && path.Dir(name) == "o/w" {
		return nil, fs.ErrPermission
	}
	return w.MapFS.Lstat(name)
}

// TestThroughBounds: where what a denied name leads to is too much to be looked at, or
// cannot be, all of the workspace may be what it leads to.
func TestThroughBounds(t *testing.T) {
	for _, c := range []struct {
		wide
		want bool
	}{{wide{dirs: 16383}, true}, {wide{dirs: 16384}, false}, {wide{dirs: 1, closed: true}, false}, {wide{dirs: 1, shut: true}, true}} {
		h := machine("/w/.claude -> /o", "/w/x", "/o/w/")
		c.MapFS = h.FS.(fstest.MapFS)
		h.FS = c.wide
		if v := through(t, h).Allows("/w/x", profiles.Write); v.Allowed != c.want {
			t.Errorf("%d directories, closed %t, shut %t: %t", c.dirs, c.closed, c.shut, v.Allowed)
		}
	}
}
