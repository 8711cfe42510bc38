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
	has := map[string]bool{
		"landlock":   f.Landlock > 0,
		"seccomp":    f.Seccomp,
		"notify":     f.Notify,
		"namespaces": f.Namespaces,
		"root":       os.Geteuid() == 0,
	}
	for _, m := range mechanisms {
		ok, known := has[m]
		switch {
		case !known:
			t.Fatalf("no such mechanism: %s", m)
		case !ok:
			Skip(t, "this machine has no %s", m)
		}
	}
}
