//go:build !linux

package egress_test

import (
	"errors"
	"testing"
)

func inOwnNetwork(*testing.M) (int, error) { return 0, errors.ErrUnsupported }

func needNetwork(t testing.TB) { t.Skip("no network namespaces on this system") }

func goClient(string) int { return 1 }

func child() int { return 1 }
