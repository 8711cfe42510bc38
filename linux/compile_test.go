package linux_test

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
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

// An earlier run can leave as many secrets as it likes: the kernel has room for 100,000
// mounts, and takes the square of the time for them.
func TestManySecretsCarved(t *testing.T) {
	files := fstest.MapFS{"masked": {}}
	const secrets = 3000
	for i := range secrets {
		files["w/d"+strconv.Itoa(i)+"/.env"] = &fstest.MapFile{}
	}
	p := &profiles.Profile{
		Workspace: "/w",
		Paths:     []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create}},
		Denials:   []profiles.Denial{{Path: "/w", Match: ".env", Access: profiles.AllAccess, Class: profiles.Sensitive}},
	}
	f := linux.Features{UID: 1000, Landlock: 7, Seccomp: true, Notify: true, Namespaces: true}
	plan := linux.Compile(p, f, linux.Facts{FS: files, Supervise: true, Namespaces: true, Masked: "/masked"})
	masks := len(plan.Hidden()) - len(plan.Carved)
	if masks == 0 || masks > secrets/2 || len(plan.Hidden()) != secrets {
		t.Errorf("of %d secrets %d are masked and %d carved", secrets, masks, len(plan.Carved))
	}
	for _, r := range plan.Layers[1].Rules {
		if strings.HasSuffix(r.Path, "/.env") || r.Path == "/w" && r.Access&4 != 0 {
			t.Errorf("%s is granted %x", r.Path, r.Access)
		}
	}
}

// A file that may be deleted where nothing else may be changed is a matter of its
// directory, for which the performers answer alone: not the command, and nobody without
// a supervisor. A directory outside of the workspace stays.
func TestRemovalGrantedAlone(t *testing.T) {
	files := fstest.MapFS{"w/file": {}, "w/sub/x": {}, "home/file": {}, "home/sub/x": {}, "open/file": {}, "denied/file": {}}
	const removeFile = 1 << 5
	for _, c := range []struct {
		file, dir string
		want      bool
	}{
		{"/w/file", "/w", true},
		{"/w/sub", "/w", true},
		{"/home/file", "/home", true},
		{"/home/sub", "/home", false},
		{"/denied/file", "/denied", false},
		{"/w", "/", false},
	} {
		p := &profiles.Profile{
			Workspace: "/w",
			Paths: []profiles.PathRule{
				{Path: c.file, Tree: true, Access: profiles.Delete},
				{Path: "/open", Tree: true, Access: profiles.Create},
				{Path: "/open/file", Access: profiles.Delete},
			},
			Denials: []profiles.Denial{{Path: "/denied/file", Access: profiles.AllAccess}},
		}
		for _, supervise := range []bool{true, false} {
			plan := linux.Compile(p, linux.Features{UID: 1000, Landlock: 7, Seccomp: true, Notify: true}, linux.Facts{FS: files, Supervise: supervise})
			for i, layer := range plan.Layers {
				got := slices.ContainsFunc(layer.Rules, func(r linux.LandRule) bool { return r.Path == c.dir && r.Access&removeFile != 0 })
				if got != (c.want && supervise && i == 0) {
					t.Errorf("%s, supervised %v: layer %d grants removing in %s: %v", c.file, supervise, i+1, c.dir, got)
				}
			}
			want := profiles.Kernel
			if c.want && supervise {
				want = profiles.Supervised
			}
			for _, clause := range plan.Receipt {
				if clause.Name == profiles.ClauseWrite && clause.Strength != want {
					t.Errorf("%s, supervised %v: fs.write is %v, want %v", c.file, supervise, clause.Strength, want)
				}
			}
		}
	}
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

// TestDeepDirectoriesDenied: a directory whose files are too deep for a path, where no
// secret can be looked for, is closed; one that is not quite as deep is not.
func TestDeepDirectoriesDenied(t *testing.T) {
	const longest = 4096 - 1 - 256
	for _, c := range []struct {
		length int
		denied bool
	}{{longest, false}, {longest + 1, true}} {
		dir := "/w" + strings.Repeat("/d", (c.length-2)/2)
		dir += strings.Repeat("d", c.length-len(dir))
		p := &profiles.Profile{
			Workspace: "/w",
			Paths:     []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create}},
			Denials:   []profiles.Denial{{Path: "/w", Match: ".env", Access: profiles.AllAccess, Class: profiles.Sensitive}},
		}
		plan := linux.Compile(p, linux.Features{UID: 1000, Landlock: 7, Seccomp: true, Notify: true}, linux.Facts{FS: fstest.MapFS{dir[1:] + "/x": {}}, Supervise: true})
		if refused := !plan.WithLinked(p).Allows(dir+"/x", profiles.Read).Allowed; refused != c.denied {
			t.Errorf("a directory's name of %d bytes: refused %t", c.length, refused)
		}
	}
}

// What an exception leaves of a denial hides nothing, so that nothing is cut; and
// what may be neither read nor written, be it by two denials, is masked where it
// can be. Cut, it keeps what is made beside it from being started.
func TestNothingCutIdly(t *testing.T) {
	files := fstest.MapFS{"w/x": {}, "w/.git/config": {}, "w/dir/secret/own": {}, "masked": {}}
	for _, c := range []struct {
		name                   string
		denials                []profiles.Denial
		cut, cutWithNamespaces bool
	}{
		{"all of it", []profiles.Denial{{Path: "/w", Match: ".git/config", Access: profiles.AllAccess}}, true, false},
		{"reading", []profiles.Denial{{Path: "/w", Match: ".git/config", Access: profiles.Read}}, true, true},
		{"reading, and it is a control file", []profiles.Denial{
			{Path: "/w", Match: ".git/config", Access: profiles.Read},
			{Path: "/w", Match: ".git/config", Access: profiles.Write | profiles.Create | profiles.Delete, Class: profiles.Control},
		}, true, false},
		{"excepted", []profiles.Denial{{Path: "/w", Match: ".git/config", Except: []string{"/w/.git/config"}, Access: profiles.Read}}, false, false},
		{"excepted beneath", []profiles.Denial{{Path: "/w/dir/secret", Except: []string{"/w/dir/secret/own"}, Access: profiles.AllAccess}}, true, true},
	} {
		p := &profiles.Profile{Workspace: "/w", Denials: c.denials,
			Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create | profiles.Execute}}}
		for _, namespaces := range []bool{false, true} {
			f := linux.Features{UID: 1000, Landlock: 7, Seccomp: true, Notify: true, Namespaces: namespaces}
			plan := linux.Compile(p, f, linux.Facts{FS: files, Supervise: true, Namespaces: namespaces, Masked: "/masked"})
			want := c.cut
			if namespaces {
				want = c.cutWithNamespaces
			}
			if cut := plan.Starts() != nil; cut != want {
				t.Errorf("%s, namespaces %t: cut %t", c.name, namespaces, cut)
			}
		}
	}
}

// foldingFS finds names in any letters, and lists each in its own.
type foldingFS struct{ fstest.MapFS }

func (f foldingFS) Lstat(name string) (fs.FileInfo, error) {
	for n := range f.MapFS {
		if strings.EqualFold(n, name) {
			name = n
		}
	}
	return f.MapFS.Lstat(name)
}

// A mount over a secret hides one spelling of it. Where there are others, the
// secret is left out of what is granted.
func TestRespeltSecretsCarved(t *testing.T) {
	files := fstest.MapFS{"w/x": {}, "w/.env": {}, "w/sub/Id_rsa": {}, "masked": {}}
	both := fstest.MapFS{"w/x": {}, "w/.env": {}, "w/.ENV": {}, "w/sub/Id_rsa": {}, "masked": {}}
	p := &profiles.Profile{
		Workspace: "/w",
		Paths:     []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create}},
		Denials: []profiles.Denial{
			{Path: "/w", Match: ".env", Access: profiles.AllAccess, Class: profiles.Sensitive},
			{Path: "/w", Match: "id_rsa", Access: profiles.AllAccess, Class: profiles.Sensitive},
		},
	}
	for _, c := range []struct {
		name           string
		files          fs.FS
		carved, masked int
	}{
		{"control: one spelling", files, 0, 2},
		{"control: two files", both, 0, 3},
		{"any spelling", foldingFS{files}, 2, 0},
	} {
		f := linux.Features{UID: 1000, Landlock: 7, Seccomp: true, Notify: true, Namespaces: true}
		plan := linux.Compile(p, f, linux.Facts{FS: c.files, Supervise: true, Namespaces: true, Masked: "/masked"})
		masked := 0
		for _, m := range plan.Mounts {
			if m.Kind == linux.MountMaskFile {
				masked++
			}
		}
		if len(plan.Carved) != c.carved || masked != c.masked {
			t.Errorf("%s: carved %q, %d masked", c.name, plan.Carved, masked)
		}
	}
}

// Signals are the supervisor's where Landlock knows no scopes, and only where there
// are processes of others: it takes the caller's numbers for its own.
func TestSignalsNotified(t *testing.T) {
	p := &profiles.Profile{Workspace: "/w", Process: profiles.Process{Create: true}}
	for abi := 1; abi <= 7; abi++ {
		for _, namespaces := range []bool{false, true} {
			f := linux.Features{UID: 1000, Landlock: abi, Seccomp: true, Notify: true, Namespaces: namespaces}
			plan := linux.Compile(p, f, linux.Facts{FS: fstest.MapFS{}, Supervise: true, Namespaces: namespaces})
			if got, want := plan.Filter&linux.NotifyKill != 0, abi < 6 && !namespaces; got != want {
				t.Errorf("ABI %d, namespaces %t: notified %t", abi, namespaces, got)
			}
		}
	}
}

// Memory that could be executed goes to a supervisor or is refused, whoever is there.
func TestMemoryNeverLeftOut(t *testing.T) {
	for _, f := range []linux.Features{
		{Seccomp: true}, {Seccomp: true, Notify: true}, {Landlock: 7, Seccomp: true, Notify: true},
		{Landlock: 7, Seccomp: true, Outer: linux.NotifyNames | linux.NotifyMetadata | linux.NotifySockets},
	} {
		for _, supervise := range []bool{false, true} {
			plan := linux.Compile(&profiles.Profile{}, f, linux.Facts{FS: fstest.MapFS{}, Supervise: supervise})
			if asked := supervise && f.Notify; asked != (plan.Filter&linux.NotifyNames != 0) || asked == (plan.Filter&linux.NoSupervisor != 0) {
				t.Errorf("%+v, supervise %t: filter %#x", f, supervise, plan.Filter)
			}
		}
	}
}

// What a denial leaves alone is granted with the tree above it; and the run has its own
// in the place of a shared directory beside what is carved.
func TestExceptionsCarved(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("x")}
	p := &profiles.Profile{
		Paths:   []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.Read}},
		Denials: []profiles.Denial{{Path: "/dev", Access: profiles.AllAccess, Except: []string{"/dev/null"}, Class: profiles.Sensitive}},
	}
	plan := linux.Compile(p, linux.Features{Landlock: 7, Seccomp: true, Notify: true, Namespaces: true, CloseRange: true}, linux.Facts{
		FS: fstest.MapFS{"dev/null": file, "dev/pts/7": file, "tmp/x": file, "srv/x": file}, Own: []string{"/own"}, Dir: "/srv",
		Masked: "/own/masked", Private: []linux.Substitute{{From: "/tmp", To: "/own/tmp"}}, Supervise: true, Namespaces: true})
	read := map[string]bool{}
	for _, r := range plan.Layers[0].Rules {
		read[r.Path] = r.Access&4 != 0
	}
	for path, want := range map[string]bool{"/srv": true, "/dev/null": true, "/": false, "/dev": false, "/dev/pts": false, "/dev/pts/7": false} {
		if read[path] != want {
			t.Errorf("%s may be read: %t", path, read[path])
		}
	}
	if !plan.Private("/tmp") {
		t.Error("the run has everybody's /tmp")
	}
}

// A file that was granted by name in a directory which all users share is made there,
// and not in what would stand in the directory's place.
func TestNameInSharedDirectory(t *testing.T) {
	for name, private := range map[string]bool{"/tmp/new": false, "/srv/new": true} {
		p := &profiles.Profile{Paths: []profiles.PathRule{{Path: name, Access: profiles.Read | profiles.Write | profiles.Create}}}
		plan := linux.Compile(p, linux.Features{Landlock: 7, Seccomp: true, Notify: true, Namespaces: true, CloseRange: true}, linux.Facts{
			FS: fstest.MapFS{"tmp/x": {}, "srv/x": {}, "own/tmp/x": {}}, Own: []string{"/own/tmp"}, Dir: "/srv",
			Private: []linux.Substitute{{From: "/tmp", To: "/own/tmp"}}, Supervise: true, Namespaces: true})
		if plan.Private("/tmp") != private {
			t.Errorf("%s: /tmp is the run's own: %t", name, !private)
		}
	}
}
