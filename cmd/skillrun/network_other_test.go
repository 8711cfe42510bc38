//go:build !linux

package main_test

// ownNetwork says whether a run can have a network of its own here.
func ownNetwork() bool { return false }
