package linux_test

import (
	"io/fs"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"

	"skillrun/linux"
	"skillrun/profiles"
)

// closedFS has a directory that cannot be listed.
type closedFS struct {
	fstest.MapFS
	dir string
}

func (c closedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == c.dir {
		return nil, fs.ErrPermission
	}
	return c.MapFS.ReadDir(name)
}

// A directory in which secrets cannot be looked for is denied with all that may
// be in it, if the run could reach something there by name, or open it first.
func TestClosedDirectoriesDenied(t *testing.T) {
	const uid = 1000
	for _, c := range []struct {
		name   string
		listed bool
		owner  uint32
		mode   fs.FileMode
		denied bool
	}{
		{"control: listed", true, uid, 0o755, false},
		{"searched and not listed", false, uid, 0o311, true},
		{"its owner's to open", false, uid, 0o000, true},
		{"somebody else's, and searched", false, 0, 0o711, true},
		{"somebody else's", false, 0, 0o700, false},
	} {
		for _, namespaces := range []bool{false, true} {
			files := closedFS{fstest.MapFS{
				"w/x":     {},
				"w/sub":   {Mode: fs.ModeDir | c.mode, Sys: &syscall.Stat_t{Uid: c.owner}},
				"w/sub/y": {}, "masked": {},
			}, "w/sub"}
			if c.listed {
				files.dir = ""
			}
			p := &profiles.Profile{
				Workspace: "/w",
				Paths:     []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create}},
				Denials:   []profiles.Denial{{Path: "/w", Match: ".env", Access: profiles.AllAccess, Class: profiles.Sensitive}},
			}
			f := linux.Features{UID: uid, Landlock: 7, Seccomp: true, Notify: true, Namespaces: true}
			plan := linux.Compile(p, f, linux.Facts{FS: files, Supervise: true, Namespaces: namespaces, Masked: "/masked"})
			refused := !plan.WithLinked(p).Allows("/w/sub/y", profiles.Read).Allowed
			held := slices.Contains(plan.Carved, "/w/sub") ||
				slices.ContainsFunc(plan.Mounts, func(m linux.Mount) bool { return m.Kind == linux.MountMaskDir && m.Target == "/w/sub" })
			if refused != c.denied || held != c.denied {
				t.Errorf("%s, namespaces %t: refused by the profile %t, by the plan %t", c.name, namespaces, refused, held)
			}
		}
	}
}
