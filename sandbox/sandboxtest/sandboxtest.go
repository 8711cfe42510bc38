//go:build linux

// Package sandboxtest helps tests that need a real kernel: requirements that
// fail in CI instead of skipping, and canaries that judge from outside what a
// hostile program got.
package sandboxtest

import (
	"os"
	"testing"

	"skillrun/linux"
)

// Emulated names the environment that the emulate command shows to the test, ""
// outside of it. What such an environment takes away on purpose is missed
// without fail.
func Emulated() string { return os.Getenv("EMULATED_ENVIRONMENT") }

// MustHave says that this machine should have every mechanism: CI=true, and
// nothing emulated.
func MustHave() bool { return os.Getenv("CI") == "true" && Emulated() == "" }

// Require skips the test on a machine that lacks one of the named mechanisms,
// and fails it where CI=true: landlock, seccomp, notify, namespaces, root.
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
		case ok:
		case MustHave():
			t.Fatalf("this machine has no %s, and CI=true says that it should", m)
		default:
			t.Skipf("this machine has no %s", m)
		}
	}
}
