package linux

import (
	"path"
	"testing"

	"skillrun/profiles"
)

// TestDeniedInOtherLetters: of a control file the supervisor is told a path, which on
// a file system that folds case may be any spelling of it.
func TestDeniedInOtherLetters(t *testing.T) {
	p := &profiles.Profile{Workspace: "/w", Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Write | profiles.Create}},
		Denials: []profiles.Denial{
			{Path: "/w/tools/hooks", Access: profiles.Write | profiles.Create, Class: profiles.Control},
			{Path: "/w", Match: ".git/config", Access: profiles.Write | profiles.Create, Class: profiles.Control},
		}}
	d := newDecider(p, nil, "", nil, 0o022)
	for path, want := range map[string]bool{
		"/w/tools/hooks/x": false, "/w/Tools/hoo\u212as/x": false, "/w/Tools/x": true,
		"/w/.git/con\ufb01g": false, "/w/.gi\u200bt/config": false, "/w/.git/con\ufb02g": true,
	} {
		if got := d.judge(place{path: path}, profiles.Write).Allowed; got != want {
			t.Errorf("write %q: %v", path, got)
		}
	}
	for path, want := range map[string]bool{"/w/Tools": false, "/w/TOO\u200bLS": false, "/w/Toolz": true} {
		if got := d.arrive(place{path: "/w/x"}, directory, place{path: path}).ok(); got != want {
			t.Errorf("a directory becomes %q: %v", path, got)
		}
	}
	// So is what counts by its name alone: a file that leads git elsewhere, one that is
	// about to be a control file, a link in a repository.
	for path, want := range map[string]bool{"/w/.git": false, "/w/.gi\u200bt": false, "/w/.gitx": true,
		"/w/.git/config.lock": false, "/w/.git/config.loc\u212a": false, "/w/.git/config.l\u200bock": false, "/w/.git/x.lock": true} {
		if got := d.create(placed(path), regular).ok(); got != want {
			t.Errorf("a file %q: %v", path, got)
		}
	}
	for path, want := range map[string]bool{"/w/.git/x": false, "/w/.Git/x": false, "/w/.gi\u200bt/x": false, "/w/.gitx/x": true} {
		if got := d.create(placed(path), symlink).ok(); got != want {
			t.Errorf("a link %q: %v", path, got)
		}
	}
	if !p.Allows("/w/Tools/hooks/x", profiles.Write).Allowed {
		t.Error("control: a profile's path is of one spelling")
	}
}

// TestDeniedLinksInRepositories: a repository is one by whatever name ".git" leads to it.
func TestDeniedLinksInRepositories(t *testing.T) {
	p := &profiles.Profile{Workspace: "/w", Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Write | profiles.Create}},
		Denials: append(profiles.RepositoryControls("/w/meta"), profiles.Denial{Path: "/w/etc/config", Access: profiles.Write, Class: profiles.Control})}
	d := newDecider(p, nil, "", nil, 0o022)
	made := dirID{fileID: fileID{1, 2}}
	deciders{d}.add(placed("/w/meta/made"), made)
	for path, want := range map[string]bool{"/w/meta/MERGE_MSG": false, "/w/Meta/MERGE_MSG": false, "/w/meta/logs/x": false, "/w/metal/x": true, "/w/etc/x": true} {
		if got := d.create(placed(path), symlink).ok(); got != want {
			t.Errorf("a link %q: %v", path, got)
		}
		if !d.create(placed(path), regular).ok() {
			t.Errorf("a file %q is refused", path)
		}
	}
	if d.create(place{dir: made, path: "/w/meta/made/x", name: "x"}, symlink).ok() {
		t.Error("a link in a directory made in the repository")
	}
}

// TestDeniedACLs: what opens a file to others is refused whatever the file system calls it.
func TestDeniedACLs(t *testing.T) {
	p := &profiles.Profile{Workspace: "/w", Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Write | profiles.Create}}}
	open := *p
	open.Process.AnyMode = true
	for name, want := range map[string]bool{"system.posix_acl_default": false, "system.nfs4_acl": false, "afs.acl": false, "afs.yfs.acl": false, "user.acl": true, "user.afs.acl": true} {
		if got := newDecider(p, nil, "", nil, 0o022).attribute(placed("/w/x"), directory, name, []byte("x"), true).ok(); got != want {
			t.Errorf("%s: %v", name, got)
		}
		if !newDecider(&open, nil, "", nil, 0o022).attribute(placed("/w/x"), directory, name, []byte("x"), true).ok() {
			t.Errorf("control: %s is refused where any mode is granted", name)
		}
	}
}

func placed(p string) place { return place{path: p, name: path.Base(p)} }
