//go:build !linux

package main

import "skillrun/profiles"

// mounts: that a Mac's firmlinks are second names, its policies know.
func mounts() []profiles.Mount { return nil }

// listsAll: names that differ in case or composition may be one file here.
func listsAll(string) bool { return false }

// identity is of use to the memo, which only Linux has.
type identity struct{}

func identify(string) identity { return identity{} }
