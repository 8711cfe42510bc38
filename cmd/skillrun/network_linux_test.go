package main_test

import (
	"errors"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

// ownNetwork says whether a run can have a network of its own here; that it
// cannot is an error where it should.
func ownNetwork() (bool, error) {
	if linux.ProbeDeep().NetNamespace {
		return true, nil
	}
	if sandboxtest.MustHave() {
		return false, errors.New("no network namespaces")
	}
	return false, nil
}
