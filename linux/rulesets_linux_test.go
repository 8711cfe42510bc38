package linux_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/linux"
)

// A link that has come to a granted place since the plan was made grants nothing of
// what it leads to: nothing is started.
func TestLinksNeverGranted(t *testing.T) {
	for name, replace := range map[string]func(dir, outside string) error{
		"control: nothing": func(string, string) error { return nil },
		"the place": func(dir, outside string) error {
			return errors.Join(os.Remove(dir+"/a/b"), os.Symlink(outside+"/b", dir+"/a/b"))
		},
		"on the way": func(dir, outside string) error {
			return errors.Join(os.RemoveAll(dir+"/a"), os.Symlink(outside, dir+"/a"))
		},
	} {
		dir, outside := tempDir(t), tempDir(t)
		place := dir + "/a/b"
		must(t, os.MkdirAll(place, 0o755))
		must(t, os.Mkdir(outside+"/b", 0o755))
		plan := linux.Compile(profileFor(t, place), linux.Probe(), linux.Facts{FS: os.DirFS("/")})
		must(t, replace(dir, outside))
		p, err := linux.Start(plan, &linux.Command{Path: "/bin/true", Argv: []string{"true"}, Dir: "/", Stdio: [3]int{-1, -1, -1}})
		if err == nil {
			p.Abort()
		}
		control := strings.HasPrefix(name, "control")
		if control && err != nil || !control && !errors.Is(err, unix.ELOOP) {
			t.Errorf("%s: %v", name, err)
		}
		// The same where there is no openat2.
		fd, err := linux.OpenUnlinked(place)
		if err == nil {
			unix.Close(fd)
		}
		if control && err != nil || !control && !errors.Is(err, unix.ELOOP) {
			t.Errorf("%s, without openat2: %v", name, err)
		}
	}
}
