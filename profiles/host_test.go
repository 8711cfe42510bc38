package profiles_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"skillrun/profiles"
)

func TestResolve(t *testing.T) {
	h := machine("/usr/bin/python3.12", "/usr/bin/python3 -> python3.12", "/bin -> usr/bin", "/abs -> /usr/bin/python3", "/loop -> loop",
		"/a -> b", "/b -> a", "/up/dir/x", "/up/link -> ../up/dir", "/dangling -> /nowhere/x", "/self -> .")
	for path, want := range map[string]string{
		"/":                       "/",
		"/bin/python3":            "/usr/bin/python3.12",
		"/abs":                    "/usr/bin/python3.12",
		"//usr///bin/./python3":   "/usr/bin/python3.12",
		"/up/link/x":              "/up/dir/x",
		"/up/link/../dir/x":       "/up/dir/x",
		"/bin/..":                 "/usr", // the target's parent, not the link's
		"/../usr":                 "/usr",
		"/self/self/self/usr/bin": "/usr/bin",
	} {
		if got, err := h.Resolve(path); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", path, got, err, want)
		}
	}
	for path, want := range map[string]error{
		"/loop": profiles.ErrLinks, "/a": profiles.ErrLinks, "/nowhere": fs.ErrNotExist, "/dangling": fs.ErrNotExist, "/bin/none/x": fs.ErrNotExist,
	} {
		if got, err := h.Resolve(path); !errors.Is(err, want) {
			t.Errorf("%s: %s, %v; want %v", path, got, err, want)
		}
		if h.Exists(path) {
			t.Errorf("%s exists", path)
		}
	}
	for _, path := range []string{"", "usr", "/usr\x00/bin", "/abs/x"} {
		if got, err := h.Resolve(path); err == nil {
			t.Errorf("%q: %s, want an error", path, got)
		}
	}
	for path, want := range map[string]string{"/bin/new/x": "/usr/bin/new/x", "/dangling": "/nowhere/x", "/none": "/none"} {
		if got, err := h.ResolvePrefix(path); err != nil || got != want {
			t.Errorf("prefix of %s: %s, %v; want %s", path, got, err, want)
		}
	}
}

func TestResolveFollowsFortyLinksAndNoMore(t *testing.T) {
	links := fstest.MapFS{"end": {}}
	name := "end"
	for i := range 41 {
		next := "l" + string(rune('A'+i))
		links[next] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(name)}
		name = next
		_, err := (&profiles.Host{CaseSensitive: true, FS: links}).Resolve("/" + name)
		if (err != nil) != (i >= 40) {
			t.Errorf("%d links: %v", i+1, err)
		}
	}
}

func TestResolveSpellsAsTheDirectoryDoes(t *testing.T) {
	h := machine("/Users/u/.ssh/id", "/Users/u/caf\u00e9", "/Users/u/strasse/")
	if !h.CaseSensitive && h.Exists("/users") {
		t.Fatal("the made-up host folds case")
	}
	h.CaseSensitive = false
	h.FS = folding{h.FS.(fstest.MapFS)}
	if got, err := h.Resolve("/users/U/.SSH/id"); err != nil || got != "/Users/u/.ssh/id" {
		t.Errorf("%s, %v", got, err)
	}
	// One character or two, ß or ss: which file is meant does not show.
	for _, path := range []string{"/Users/u/cafe\u0301", "/Users/u/Stra\u00dfe/x"} {
		if got, err := h.ResolvePrefix(path); err == nil {
			t.Errorf("%s is spelled otherwise: %s, want an error", path, got)
		}
	}
	for _, path := range []string{"/Users/u/caf\u00e9", "/Users/u/strasse/x"} {
		if got, err := h.ResolvePrefix(path); err != nil || got != path {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
}

// folding is a file system whose names ignore case.
type folding struct{ fstest.MapFS }

func (f folding) Lstat(name string) (fs.FileInfo, error) {
	switch name {
	case "users":
		name = "Users"
	case "Users/U":
		name = "Users/u"
	case "Users/u/.SSH":
		name = "Users/u/.ssh"
	case "Users/u/cafe\u0301":
		name = "Users/u/caf\u00e9"
	case "Users/u/Stra\u00dfe":
		name = "Users/u/strasse"
	}
	return f.MapFS.Lstat(name)
}

func TestLookup(t *testing.T) {
	h := machine("/usr/bin/git", "/shim/python -> /opt/py", "/opt/py", "/dir/git/")
	h.FS.(fstest.MapFS)["data/git"] = &fstest.MapFile{Mode: 0o644}
	for _, c := range []struct {
		command, path, want string
		err                 error
	}{
		{"git", "/usr/bin", "/usr/bin/git", nil},
		{"git", "/data:/dir:/usr/bin", "/usr/bin/git", nil},
		{"python", "/shim", "/shim/python", nil}, // under its own name
		{"/usr/bin/git", "", "/usr/bin/git", nil},
		{"git", "/data", "", profiles.ErrNotExecutable},
		{"git", "/dir", "", profiles.ErrNotExecutable},
		{"git", ":.:usr/bin", "", fs.ErrNotExist},
		{"bin/git", "/usr", "", fs.ErrNotExist},
		{"", "/usr/bin", "", fs.ErrNotExist},
	} {
		got, err := h.Lookup(c.command, c.path)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s in %s: %s, %v; want %s, %v", c.command, c.path, got, err, c.want, c.err)
		}
	}
}

func TestUnshim(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s), Mode: 0o755} }
	h := &profiles.Host{CaseSensitive: true, Env: map[string]string{}, FS: fstest.MapFS{
		"p/libexec/pyenv":                text(""),
		"p/shims/python3":                text("#!/bin/sh"),
		"p/shims/other":                  text("#!/bin/sh"),
		"p/version":                      text("3.11\n"),
		"p/versions/3.11/bin/python3":    text(""),
		"p/versions/3.12/bin/python3":    text(""),
		"p/versions/3.12/bin/other":      text(""),
		"w/.python-version":              text("3.12\n"),
		"w/deep/x":                       text(""),
		"evil/.python-version":           text("../../../evil\n"),
		"evil/bin/python3":               text(""),
		"system/.python-version":         text("system\n"),
		"unknown/versions/1/bin/python3": text(""),
		"unknown/shims/python3":          text(""),
		"usr/bin/python3":                text(""),
	}}
	for _, c := range []struct{ file, cwd, variable, want string }{
		{"/p/shims/python3", "/", "", "/p/versions/3.11/bin/python3"},
		{"/p/shims/python3", "/w/deep", "", "/p/versions/3.12/bin/python3"},
		{"/p/shims/python3", "/w", "3.11", "/p/versions/3.11/bin/python3"},
		{"/p/shims/other", "/", "3.11:3.12", "/p/versions/3.12/bin/other"},
		{"/p/shims/other", "/", "", "/p/shims/other"},
		{"/p/shims/python3", "/evil", "", "/p/shims/python3"},
		{"/p/shims/python3", "/system", "", "/p/shims/python3"},
		{"/unknown/shims/python3", "/", "1", "/unknown/shims/python3"},
		{"/usr/bin/python3", "/w", "", "/usr/bin/python3"},
		{"", "/w", "", ""},
	} {
		h.Env["PYENV_VERSION"] = c.variable
		if got := h.Unshim(c.file, c.cwd); got != c.want {
			t.Errorf("%s in %s with %q: %s, want %s", c.file, c.cwd, c.variable, got, c.want)
		}
	}
}

// growing is a file system whose files are longer than they were said to be.
type growing struct{ fstest.MapFS }

func (g growing) Stat(name string) (fs.FileInfo, error) { return fs.Stat(g.MapFS, name) }

func (g growing) Open(name string) (fs.File, error) { return g.MapFS.Open(name + ".later") }

// What is read of a file is bounded, whatever is put in its place after it was looked
// at. Control: one that stays short.
func TestReadSmallBounds(t *testing.T) {
	h := &profiles.Host{FS: growing{fstest.MapFS{
		"a": {Data: []byte("12")}, "a.later": {Data: []byte("1234")}, "b": {Data: []byte("12")}, "b.later": {Data: []byte("12345")},
	}}}
	if b, err := h.ReadSmall("/a", 4); err != nil || string(b) != "1234" {
		t.Errorf("control: %q, %v", b, err)
	}
	if b, err := h.ReadSmall("/b", 4); err == nil {
		t.Errorf("read %q", b)
	}
}
