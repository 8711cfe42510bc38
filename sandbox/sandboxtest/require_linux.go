package sandboxtest

import (
	"os"
	"testing"

	"skillrun/linux"
)

// Require skips the test on a machine that lacks one of the named mechanisms,
// and fails it where MustHave: landlock, seccomp, notify, namespaces, root.
func Require(t testing.TB, mechanisms ...string) {
	t.Helper()
	f := linux.ProbeDeep()
	for _, m := range mechanisms {
		ok, lack := false, Machine
		switch m {
		case "landlock":
			ok = f.Landlock > 0
		case "seccomp":
			ok = f.Seccomp
		case "notify":
			ok = f.Notify
		case "namespaces":
			ok, lack = f.Namespaces, Namespaces
		case "root":
			ok, lack = os.Geteuid() == 0, Root
		default:
			t.Fatalf("no such mechanism: %s", m)
		}
		if !ok {
			Skip(t, lack, "this machine has no %s", m)
		}
	}
}
