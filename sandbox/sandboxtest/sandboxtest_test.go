package sandboxtest_test

import (
	"testing"

	"skillrun/sandbox/sandboxtest"
)

// outcome is a test that only notes how it ended.
type outcome struct {
	testing.TB
	skipped, failed bool
}

func (o *outcome) Helper()               {}
func (o *outcome) Skipf(string, ...any)  { o.skipped = true }
func (o *outcome) Fatalf(string, ...any) { o.failed = true; panic(o) }

// Outside CI every lack skips. In CI one does where the emulated environment is
// there to have it, and fails the test everywhere else.
func TestSkipFailsInCI(t *testing.T) {
	const (
		root       = 1 << sandboxtest.Root
		account    = 1 << sandboxtest.Account
		namespaces = 1 << sandboxtest.Namespaces
		mounts     = 1 << sandboxtest.Mounts
		cgroups    = 1 << sandboxtest.Cgroups
	)
	for environment, taken := range map[string]int{
		"":            0,
		"docker":      namespaces | mounts | cgroups,
		"nons":        namespaces,
		"user":        root | account | mounts | cgroups,
		"docker,user": root | account | namespaces | mounts | cgroups,
		"nons,user":   root | account | namespaces | mounts | cgroups,
		"another":     0,
	} {
		for _, ci := range []string{"true", "", "1"} {
			for l := range sandboxtest.Lacks {
				t.Setenv("CI", ci)
				t.Setenv("EMULATED_ENVIRONMENT", environment)
				var o outcome
				func() {
					defer func() { recover() }()
					sandboxtest.Skip(&o, l, "a reason")
				}()
				want := ci != "true" || taken&(1<<l) != 0
				if o.skipped != want || o.failed == want {
					t.Errorf("CI=%q in %q: lack %d skips: %t, fails: %t", ci, environment, l, o.skipped, o.failed)
				}
			}
		}
	}
}
