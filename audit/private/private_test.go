package private_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/audit/private"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	d, err := private.OpenDir(path)
	check(t, err)
	defer d.Close()
	if _, err := private.ReadFile(d, "f", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	for _, data := range []string{"first", "second", ""} {
		check(t, private.WriteFile(d, "f", []byte(data)))
		if b, err := private.ReadFile(d, "f", 10); err != nil || string(b) != data {
			t.Fatalf("%q %v", b, err)
		}
	}
	check(t, private.WriteFile(d, "f", []byte("longer than ten")))
	if _, err := private.ReadFile(d, "f", 10); err == nil || !strings.Contains(err.Error(), "more than 10") {
		t.Errorf("long: %v", err)
	}
	// A link of that name is replaced, not followed.
	outside := filepath.Join(t.TempDir(), "outside")
	check(t, os.WriteFile(outside, []byte("untouched"), 0o600))
	check(t, os.Remove(path+"/f"))
	check(t, os.Symlink(outside, path+"/f"))
	if _, err := private.ReadFile(d, "f", 10); err == nil {
		t.Error("read through a link")
	}
	check(t, private.WriteFile(d, "f", []byte("x")))
	if b, err := os.ReadFile(outside); err != nil || string(b) != "untouched" {
		t.Errorf("%q %v", b, err)
	}
	st, err := os.Lstat(path + "/f")
	if err != nil || st.Mode() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	// What cannot be put in place leaves nothing behind.
	check(t, os.Mkdir(path+"/dir", 0o700))
	if private.WriteFile(d, "dir", nil) == nil {
		t.Error("a directory was replaced")
	}
	names, err := os.ReadDir(path)
	if err != nil || len(names) != 2 {
		t.Errorf("%v %v", names, err)
	}
}

func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/f"
	look := func(follow bool) private.Identity {
		id, err := private.Identify(unix.AT_FDCWD, path, follow)
		check(t, err)
		return id
	}
	check(t, os.WriteFile(path, []byte("1"), 0o600))
	a := look(true)
	if a != look(false) || a.Mode&unix.S_IFMT != unix.S_IFREG || a.Size != 1 || a.Ino == 0 || a.Ctime == 0 {
		t.Errorf("%+v", a)
	}
	f, err := os.Open(path)
	check(t, err)
	defer f.Close()
	if id, err := private.Identify(int(f.Fd()), "", false); err != nil || id != a {
		t.Errorf("%+v %v", id, err)
	}
	check(t, os.Chmod(path, 0o400))
	if look(true) == a {
		t.Error("another mode is not another identity")
	}
	check(t, os.Rename(path, dir+"/g"))
	check(t, os.Symlink("g", path))
	if look(true).Mode&unix.S_IFMT != unix.S_IFREG || look(false).Mode&unix.S_IFMT != unix.S_IFLNK {
		t.Error("links")
	}
	changed := time.Unix(0, a.Ctime)
	for after, want := range map[time.Duration]bool{-time.Hour: false, 0: false, 2*time.Second - 1: false, 2 * time.Second: true, time.Hour: true} {
		if a.Settled(changed.Add(after)) != want {
			t.Errorf("settled after %v: %v", after, !want)
		}
	}
	if _, err := private.Identify(unix.AT_FDCWD, dir+"/none", true); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Times of change count where they are kept: not in what the kernel makes up, nor
// in what a network or a user's program says.
func TestOrdinary(t *testing.T) {
	for path, want := range map[string]bool{t.TempDir(): true, "/proc": false, "/dev/fd": false, "/none": false} {
		if _, err := os.Stat(path); path == "/proc" && err != nil {
			continue // on a Mac
		}
		if private.OrdinaryAt(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
		f, err := os.Open(path)
		if err == nil && private.Ordinary(int(f.Fd())) != want {
			t.Errorf("%s, open: %v", path, !want)
		}
		f.Close()
	}
}

// What belongs to another user is refused, whoever runs the test.
func TestForeign(t *testing.T) {
	dir, file := "/", "/etc/passwd" // root's
	if os.Geteuid() == 0 {
		dir = t.TempDir()
		file = dir + "/passwd"
		check(t, os.WriteFile(file, nil, 0o600))
		check(t, os.Lchown(dir, 12345, 12345))
		check(t, os.Lchown(file, 12345, 12345))
	}
	if d, err := private.OpenDir(dir); err == nil || !strings.Contains(err.Error(), "belongs to uid") {
		t.Errorf("%v %v", d, err)
	}
	// Even in a directory that was opened otherwise.
	d, err := os.Open(filepath.Dir(file))
	check(t, err)
	defer d.Close()
	if f, _, err := private.OpenFile(d, "passwd", os.O_RDONLY); err == nil || !strings.Contains(err.Error(), "belongs to uid") {
		t.Errorf("%v %v", f, err)
	}
}

// What others could have written, or write to by another name, is refused.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(dir, file string) error
		want  string // of the file, or of the directory after "directory: "
	}{
		"sound":                 {func(dir, file string) error { return nil }, ""},
		"read by others":        {func(dir, file string) error { return errors.Join(os.Chmod(dir, 0o755), os.Chmod(file, 0o644)) }, ""},
		"the group's":           {func(dir, file string) error { return os.Chmod(file, 0o620) }, "can be written by others"},
		"everybody's":           {func(dir, file string) error { return os.Chmod(file, 0o602) }, "can be written by others"},
		"two names":             {func(dir, file string) error { return os.Link(file, dir+"/second") }, "has a second name"},
		"a link":                {func(dir, file string) error { return errors.Join(os.Rename(file, dir+"/g"), os.Symlink("g", file)) }, "is a symbolic link"},
		"a fifo":                {func(dir, file string) error { return errors.Join(os.Remove(file), unix.Mkfifo(file, 0o600)) }, "is not a regular file"},
		"a directory":           {func(dir, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }, "is not a regular file"},
		"directory of a group":  {func(dir, file string) error { return os.Chmod(dir, 0o720) }, "directory: can be written by others"},
		"everybody's directory": {func(dir, file string) error { return os.Chmod(dir, 0o702) }, "directory: can be written by others"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			check(t, os.Mkdir(dir, 0o700))
			check(t, os.WriteFile(dir+"/f", []byte("x"), 0o600))
			check(t, c.spoil(dir, dir+"/f"))
			d, err := private.OpenDir(dir)
			if want, ok := strings.CutPrefix(c.want, "directory: "); ok {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %s", err, want)
				}
				return
			}
			check(t, err)
			defer d.Close()
			b, err := private.ReadFile(d, "f", 10)
			switch {
			case c.want == "" && (err != nil || string(b) != "x"):
				t.Errorf("control: %q, %v", b, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%q, %v, want %s", b, err, c.want)
			}
		})
	}
}
