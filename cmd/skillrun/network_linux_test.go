package main_test

import "skillrun/linux"

// ownNetwork says whether a run can have a network of its own here.
func ownNetwork() bool { return linux.ProbeDeep().NetNamespace }
