package skill_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"skillrun/policy/skill"
)

// An unreadable directory or manifest is an error; the same files are read when
// they may be.
func TestUnreadable(t *testing.T) {
	withoutOverride(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"SKILL.md": header})
	for _, path := range []string{dir + "/SKILL.md", dir} {
		if _, err := skill.Open(dir); err != nil {
			t.Fatal(err)
		}
		check(t, os.Chmod(path, 0))
		if _, err := skill.Open(dir); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%s: %v", path, err)
		}
		check(t, os.Chmod(path, 0o700))
	}
}

// withoutOverride takes from the rest of this test what lets root read
// everything. Its thread ends with it.
func withoutOverride(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	check(t, unix.Capget(&head, &data[0]))
	data[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	check(t, unix.Capset(&head, &data[0]))
}
