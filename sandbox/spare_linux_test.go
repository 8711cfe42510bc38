package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// look gives all that is in a directory, with what a run could tell of an earlier one
// by but times and numbers of inodes.
func look(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		target, _ := os.Readlink(path)
		names := make([]byte, 256)
		n, _ := unix.Llistxattr(path, names)
		rel := strings.ReplaceAll(strings.TrimPrefix(path, dir), filepath.Base(dir), "RUN")
		fmt.Fprintf(&b, "%s %o %d:%d %d %q %q\n", rel, st.Mode, st.Uid, st.Gid, st.Size, target, names[:max(n, 0)])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// prepared is a run's own directory below a root, as far as it is made before a run.
func prepared(t *testing.T, root string) *own {
	t.Helper()
	o, err := newOwnBelow([]string{root})
	if err == nil {
		err = o.furnish()
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The next run has the directory of one that is over, and finds nothing of it there:
// what cannot be as it was made goes, and what links lead to outside stays.
func TestSpareKeepsNothing(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	fresh := prepared(t, root)
	want := look(t, fresh.dir)
	fresh.remove()
	if _, err := os.Lstat(fresh.dir); !os.IsNotExist(err) {
		t.Fatalf("the directory of a run that may go on is there: %v", err)
	}
	canary := filepath.Join(outside, "canary")
	if err := os.WriteFile(canary, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) { must(os.WriteFile(path, []byte(text), 0o600)) }
	for _, c := range []struct {
		what string
		do   func(o *own)
		same bool // the directory is used again
	}{
		{"nothing", func(*own) {}, true},
		{"files", func(o *own) {
			write(o.home()+"/.gitconfig", "[core]\n\tpager = evil")
			write(o.temp()+"/x", "x")
			must(os.MkdirAll(o.home()+"/a/b/c", 0o700))
			write(o.home()+"/a/b/c/x", "x")
			must(os.Chmod(o.home()+"/a/b", 0))
		}, true},
		{"links out", func(o *own) {
			must(os.Symlink(outside, o.home()+"/.cache"))
			must(os.Symlink(outside, o.home()+"/x"))
			must(os.Symlink(outside, o.temp()+"/.X11-unix"))
			must(os.Link(canary, o.temp()+"/y"))
		}, true},
		{"a link for a cache", func(o *own) { must(os.MkdirAll(o.home()+"/.cache/x", 0o700)) }, true},
		{"deep", func(o *own) {
			dir := o.temp()
			for range 2 * removeDepth {
				dir += "/d"
				must(os.Mkdir(dir, 0o700))
			}
			write(dir+"/x", "x")
		}, true},
		{"more at the top", func(o *own) { write(o.dir+"/cgroups", "") }, true},
		{"display", func(o *own) { must(o.displays()); write(o.xServers()+"/X0", "") }, true},
		{"another mode", func(o *own) { must(os.Chmod(o.home(), 0o755)) }, false},
		{"a bit", func(o *own) { must(os.Chmod(o.temp(), 0o700|os.ModeSticky)) }, false},
		{"another mode of the display", func(o *own) { must(o.displays()); must(os.Chmod(o.xServers(), 0o700)) }, false},
		{"an attribute", func(o *own) { must(unix.Setxattr(o.home(), "user.x", []byte("told"), 0)) }, false},
		{"many names", func(o *own) {
			for i := range 600 {
				write(fmt.Sprintf("%s/%0200d", o.temp(), i), "")
			}
		}, false},
		{"a link for a directory", func(o *own) { must(os.Remove(o.temp())); must(os.Symlink(outside, o.temp())) }, false},
		{"no directory", func(o *own) { must(os.Remove(o.temp())) }, false},
		{"text in the mask", func(o *own) { must(os.Chmod(o.masked(), 0o600)); write(o.masked(), "x"); must(os.Chmod(o.masked(), 0)) }, false},
		{"another name of the mask", func(o *own) { must(os.Link(o.masked(), outside+"/mask")) }, false},
		{"a mask that can be read", func(o *own) { must(os.Chmod(o.masked(), 0o400)) }, false},
	} {
		o := prepared(t, root)
		c.do(o)
		o.over = true
		must(o.remove())
		next := prepared(t, root)
		os.Remove(next.xServers())
		if (next.dir == o.dir) != c.same {
			t.Errorf("%s: the next run's is the same: %v, want %v", c.what, next.dir == o.dir, c.same)
		}
		next.dropLinks(&profiles.Profile{})
		if got := look(t, next.dir); got != want {
			t.Errorf("%s: the next run finds\n%s\nnot\n%s", c.what, got, want)
		}
		if b, err := os.ReadFile(canary); err != nil || string(b) != "kept" {
			t.Errorf("%s: the file outside: %q, %v", c.what, b, err)
		}
		next.remove()
	}
}

// A run whose namespaces could not be made is tried again in the same directory.
func TestDisplaysAgain(t *testing.T) {
	o := prepared(t, t.TempDir())
	defer o.remove()
	for range 2 {
		if err := o.displays(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(o.xServers()); err != nil || info.Mode() != os.ModeDir|os.ModeSticky|0o777 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// A link to the caches stays for a run that has the same, and for no other.
func TestSpareLinks(t *testing.T) {
	root := t.TempDir()
	o := prepared(t, root)
	o.cache = "/caches/one"
	o.linkCache(&Spec{})
	o.over = true
	o.remove()
	granted := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/home/u/.cache/x", Access: profiles.Read}}}
	for _, c := range []struct {
		cache string
		p     *profiles.Profile
		want  string
	}{{"/caches/one", &profiles.Profile{}, "/caches/one/.cache"}, {"/caches/two", &profiles.Profile{}, ""}, {"", &profiles.Profile{}, ""}, {"/caches/one", granted, ""}} {
		next := prepared(t, root)
		if next.dir != o.dir {
			t.Fatal("not the same directory")
		}
		next.cache = "/caches/one"
		next.linkCache(&Spec{})
		next.cache = c.cache
		next.dropLinks(c.p)
		if got, _ := os.Readlink(next.home() + "/.cache"); got != c.want {
			t.Errorf("caches %q: %q, want %q", c.cache, got, c.want)
		}
		next.over = true
		next.remove()
	}
}

// Runs that begin and end at once each have a directory to themselves.
func TestSparesAmongOthers(t *testing.T) {
	root := t.TempDir()
	done := make(chan error)
	const runs, each = 12, 40
	for i := range runs {
		go func() {
			done <- func() error {
				for k := range each {
					o, err := newOwnBelow([]string{root})
					if err == nil {
						err = o.furnish()
					}
					if err != nil {
						return err
					}
					for _, dir := range o.directories() {
						if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
							return fmt.Errorf("%s: %v, %v", dir, names, err)
						}
						if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
							return err
						}
					}
					o.over = (i+k)%5 != 0
					if err := o.remove(); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range runs {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Few directories wait to be others'.
func TestSparesBounded(t *testing.T) {
	root := t.TempDir()
	var all []*own
	for range 2 * mostSpares {
		all = append(all, prepared(t, root))
	}
	for _, o := range all {
		o.over = true
		o.remove()
	}
	prepared(t, root).remove() // which sweeps, and has one
	if entries, err := os.ReadDir(ownParents(root)); err != nil || len(entries) != mostSpares-1 {
		t.Errorf("%d directories wait, want %d: %v", len(entries), mostSpares-1, err)
	}
}

// One that is in use, or that a killed run left, is nobody's.
func TestSpareTaken(t *testing.T) {
	root := t.TempDir()
	killed := prepared(t, root)
	killed.lock.Close()
	if taken := takeSpare(killed.dir); taken != nil {
		t.Error("a killed run's directory is taken by its name")
		taken.lock.Close()
	}
	o := prepared(t, root)
	if o.dir == killed.dir {
		t.Error("a killed run's directory is used")
	}
	if _, err := os.Stat(killed.dir); !os.IsNotExist(err) {
		t.Errorf("a killed run's directory is there: %v", err)
	}
	o.over = true
	o.remove()
	if err := os.WriteFile(filepath.Join(o.home(), "late"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := lockDirectory(o.dir)
	if err != nil {
		t.Fatal(err)
	}
	if other := prepared(t, root); other.dir == o.dir {
		t.Error("a directory is used that another has")
	} else {
		other.remove()
	}
	held.Close()
	again := prepared(t, root)
	if info, err := os.Stat(again.dir); again.dir != o.dir || err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("the one that waits is not used: %s %v, %v", again.dir, info, err)
	}
	if names, err := os.ReadDir(again.home()); err != nil || len(names) > 0 {
		t.Errorf("what came after the end of the run before is there: %v, %v", names, err)
	}
	if err := syscall.Flock(int(again.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Error(err)
	}
	again.remove()
}
