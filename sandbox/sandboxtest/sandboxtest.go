// Package sandboxtest helps tests that need a real kernel: requirements that
// fail in CI instead of skipping, and canaries that judge from outside what a
// hostile program got.
package sandboxtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Emulated names the environment that the emulate command shows to the test, ""
// outside of it: "docker,user".
func Emulated() string { return os.Getenv("EMULATED_ENVIRONMENT") }

// A Lack is what a test needs and a machine may not have. The list is closed:
// where CI=true a test is skipped only for a lack that is the point of the
// emulated environment.
type Lack uint8

const (
	// Machine is anything that no environment takes away: Landlock, seccomp,
	// programs, devices.
	Machine Lack = iota
	// Root is to run as root.
	Root
	// Account is a home directory in the user database.
	Account
	// Namespaces are those that a process makes of its own, with mounts and a
	// network in them.
	Namespaces
	// Mounts are in the namespace that the test is in.
	Mounts
	// Cgroups are control groups that can be made.
	Cgroups
	lacks
)

// takes lists what each environment of the emulate command takes away by design.
func takes(environment string) []Lack {
	switch environment {
	case "docker":
		return []Lack{Namespaces, Mounts, Cgroups}
	case "nons":
		return []Lack{Namespaces}
	case "user":
		return []Lack{Root, Account, Mounts, Cgroups}
	}
	return nil
}

// MustHave says that the test should find here what it may lack elsewhere:
// CI=true, and no emulated environment takes it away.
func MustHave(l Lack) bool {
	if os.Getenv("CI") != "true" {
		return false
	}
	for name := range strings.SplitSeq(Emulated(), ",") {
		if slices.Contains(takes(name), l) {
			return false
		}
	}
	return true
}

// Skip skips the test for want of what this machine could have; where it
// MustHave that, it fails it. No test may skip otherwise, cmd/skillrun's
// TestSkips says.
func Skip(t testing.TB, l Lack, format string, args ...any) {
	t.Helper()
	if MustHave(l) {
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
	if err != nil {
		Skip(t, Machine, "%v (scripts/bootstrap installs it)", err)
	}
	return path
}
