package linux_test

import (
	"os"
	"testing"

	"skillrun/linux"
	"skillrun/profiles"
)

// movedDirectories moves a directory with a denied file in it to another granted
// tree, by itself and inside one of the run's own, and takes the file away there.
const movedDirectories = `
import errno, os, sys
def tries(f, *a):
    try: f(*a); return "done"
    except OSError as e: return errno.errorcode[e.errno]
there = sys.argv[1] + "/"
print("within", tries(os.rename, "sub", "sub2"))
print("away", tries(os.rename, "sub2", there + "sub"))
os.mkdir("own")
print("into", tries(os.rename, "sub2" if os.path.exists("sub2") else there + "sub", "own/sub"))
print("away", tries(os.rename, "own", there + "own"))
print("file", tries(os.unlink, there + "own/sub/.env"))
os.mkdir("plain"); open("plain/f", "w").close(); open("g", "w").close()
print("file away", tries(os.rename, "g", there + "g"))
`

// A denied file that a pattern finds in one tree does not get out of it in a
// directory that moves.
func TestSupervisedMoved(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		c.features |= linux.NotifyOpens
		rights := workspaceRights | profiles.Delete
		c.profile.Paths[0].Access, c.profile.Paths[1].Access = rights, rights
		c.profile.Denials = append(c.profile.Denials, profiles.Denial{Path: c.ws, Match: ".env", Access: profiles.AllAccess})
		c.write("sub/.env", "secret")
		r := c.run("python3", "-c", movedDirectories, c.outside)
		if want := "within done\naway EXDEV\ninto done\naway EXDEV\nfile ENOENT\nfile away done\n"; r.out != want {
			t.Errorf("exit %d:\n%s%s", r.code, r.out, c.explain())
		}
		if b, err := os.ReadFile(c.ws + "/own/sub/.env"); string(b) != "secret" {
			t.Errorf("the denied file: %v %s", err, b)
		}
		control := newCell(t)
		control.write("sub/.env", "secret")
		r = control.bare("python3", "-c", movedDirectories, control.outside)
		if want := "within done\naway done\ninto done\naway done\nfile done\nfile away done\n"; r.out != want {
			t.Fatalf("control: exit %d:\n%s", r.code, r.out)
		}
	})
}

// Nor does one that was there at the start move at all in what holds it.
func TestSupervisedMovedHidden(t *testing.T) {
	c := newCell(t)
	c.features |= linux.NotifyOpens
	rights := workspaceRights | profiles.Delete
	c.profile.Paths[0].Access, c.profile.Paths[1].Access = rights, rights
	c.profile.Denials = append(c.profile.Denials, profiles.Denial{Path: c.ws, Match: ".env", Access: profiles.AllAccess})
	c.write("sub/.env", "secret")
	c.write("sub-other/f", "")
	c.config = func(s *linux.Supervision) { s.Hidden = []string{c.ws + "/sub-file/.env", c.ws + "/sub/.env"} }
	const script = movedDirectories + `
print("other", tries(os.rename, "sub-other", "plain2"))
libc = __import__("ctypes").CDLL(None, use_errno=True)
print([libc.renameat2(-100, a, -100, b, 2) for a, b in ((b"sub", b"plain"), (b"plain", b"sub"), (b"plain", b"plain2"))])
`
	r := c.run("python3", "-c", script, c.outside)
	if want := "within EACCES\naway ENOENT\ninto ENOENT\naway EXDEV\nfile ENOENT\nfile away done\nother done\n[-1, -1, 0]\n"; r.out != want {
		t.Errorf("exit %d:\n%s%s", r.code, r.out, c.explain())
	}
	if b, err := os.ReadFile(c.ws + "/sub/.env"); string(b) != "secret" {
		t.Errorf("the denied file: %v %s", err, b)
	}
}

// A directory that was filled where nothing is denied does not bring control
// files into the workspace; copied, name by name, it does not either.
func TestSupervisedMovedIn(t *testing.T) {
	const script = `
import errno, os, shutil, sys
there = sys.argv[1] + "/"
for name in "x/.github/workflows", "y/.github/workflows", "z/plain": os.makedirs(there + name)
os.mkdir("old")
def tries(f, *a):
    try: f(*a); return "done"
    except OSError as e: return errno.errorcode.get(e.errno, "refused")
print(tries(os.rename, there + "x", "x"), tries(os.rename, there + "x", "old"))
print(tries(shutil.move, there + "y", "y"), tries(shutil.move, there + "z", "z"))
`
	both(t, func(t *testing.T, c *cell) {
		c.profile.Paths[1].Access = workspaceRights | profiles.Delete
		c.profile.Denials = append(c.profile.Denials, profiles.ControlFiles(c.ws)...)
		r := c.run("python3", "-c", script, c.outside)
		if want := "EXDEV EXDEV\nrefused done\n"; r.out != want {
			t.Errorf("exit %d:\n%s%s", r.code, r.out, c.explain())
		}
		for _, name := range []string{"/x", "/old/.github", "/y/.github/workflows"} {
			if _, err := os.Lstat(c.ws + name); err == nil {
				t.Errorf("%s was made", name)
			}
		}
		for _, d := range c.refusals {
			if d.Path == c.ws+"/z" {
				t.Errorf("a directory that was copied is called refused: %v", d)
			}
		}
		control := newCell(t)
		r = control.bare("python3", "-c", script, control.outside)
		if want := "done ENOENT\ndone done\n"; r.out != want {
			t.Fatalf("control: exit %d:\n%s", r.code, r.out)
		}
	})
}

// A second name in a directory in which names may be made, and nothing changed,
// is none by which a file that was there can be changed.
func TestSupervisedLinked(t *testing.T) {
	both(t, func(t *testing.T, c *cell) {
		const program = `exec 2>/dev/null; echo new >new; ln new newer && echo more >>newer; ln old link; echo changed >link; chmod 700 link; chmod 700 old; cat new`
		c.profile.Paths[0].Access = workspaceRights &^ profiles.Write
		c.write("old", "old")
		must(t, os.Chmod(c.ws+"/old", 0o644))
		r := c.run("sh", "-c", program)
		if r.out != "new\nmore\n" {
			t.Errorf("exit %d:\n%s%s", r.code, r.out, c.explain())
		}
		b, err := os.ReadFile(c.ws + "/old")
		info, _ := os.Stat(c.ws + "/old")
		if err != nil || string(b) != "old" || info.Mode().Perm() != 0o644 {
			t.Errorf("the file: %v %q %v", err, b, info.Mode())
		}
		control := newCell(t)
		control.write("old", "old")
		control.bare("sh", "-c", program)
		if b, _ := os.ReadFile(control.ws + "/old"); string(b) != "changed\n" {
			t.Fatalf("control: %q", b)
		}
	})
}

// A link in whose place another is moved is changed, as a file is, and one that leads to
// a directory removed: by its name an agent would find other settings there.
func TestSupervisedLinksReplaced(t *testing.T) {
	const script = `
import os
for name in "tolink", "tofile", "todir", "through", "tonothing":
    os.symlink("new", "t")
    try: os.rename("t", name)
    except OSError as e: print(name, e.strerror); os.unlink("t")
os.symlink("old", "own"); os.symlink("new", "t"); os.rename("t", "own")
`
	both(t, func(t *testing.T, c *cell) {
		links := func(c *cell) {
			c.write("old/.claude/settings.json", "old")
			c.write("file", "")
			for name, to := range map[string]string{"tofile": "file", "tolink": "tofile", "todir": "old", "through": "todir", "tonothing": "nothing"} {
				must(t, os.Symlink(to, c.ws+"/"+name))
			}
		}
		links(c)
		const refused = "todir Permission denied\nthrough Permission denied\ntonothing Permission denied\n"
		if r := c.run("python3", "-c", script); r.out != refused {
			t.Errorf("exit %d:\n%s%s", r.code, r.out, c.explain())
		}
		if _, err := os.Stat(c.ws + "/through/.claude/settings.json"); err != nil {
			t.Error(err)
		}
		granted := newCell(t)
		granted.profile.Paths[0].Access |= profiles.Delete
		links(granted)
		if r := granted.run("python3", "-c", script); r.out != "" {
			t.Errorf("with the right to delete: exit %d:\n%s%s", r.code, r.out, granted.explain())
		}
		control := newCell(t)
		links(control)
		if r := control.bare("python3", "-c", script); r.out != "" {
			t.Errorf("control: exit %d:\n%s", r.code, r.out)
		}
	})
}
