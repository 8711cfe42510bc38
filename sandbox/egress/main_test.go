package egress_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests inside a network namespace of their own, in which
// every address is local: servers may stand at public addresses, and no packet
// can leave.
func TestMain(m *testing.M) {
	if r := os.Getenv("EGRESS_TEST_ROLE"); r != "" {
		os.Exit(role(r))
	}
	code, err := inOwnNetwork(m)
	if err != nil {
		if os.Getenv("CI") == "true" {
			fmt.Fprintln(os.Stderr, "network namespace:", err)
			os.Exit(1)
		}
		fmt.Fprintln(os.Stderr, "no network namespace, tests that need one are skipped:", err)
		code = m.Run()
	}
	os.Exit(code)
}
