// Package sandboxtest helps tests that need a real kernel: requirements that
// fail in CI instead of skipping, and canaries that judge from outside what a
// hostile program got.
package sandboxtest

import (
	"os"
	"os/exec"
	"testing"
)

// Emulated names the environment that the emulate command shows to the test, ""
// outside of it. What such an environment takes away on purpose is missed
// without fail.
func Emulated() string { return os.Getenv("EMULATED_ENVIRONMENT") }

// MustHave says that this machine should have every mechanism: CI=true, and
// nothing emulated.
func MustHave() bool { return os.Getenv("CI") == "true" && Emulated() == "" }

// Skip skips the test for want of what this machine could have; where MustHave,
// it fails it. No test may skip otherwise, cmd/skillrun's TestSkips says.
func Skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if MustHave() {
		t.Fatalf(format+" (CI=true says that it should be there)", args...)
	}
	t.Skipf(format, args...)
}

// Program gives the path of a program that scripts/bootstrap installs. No
// environment takes it away: without it the test fails wherever CI=true, and
// is skipped elsewhere.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		t.Fatalf("%v (scripts/bootstrap installs it)", err)
	}
	t.Skipf("%v (scripts/bootstrap installs it)", err)
	return ""
}
