//go:build !linux

package main

import "golang.org/x/sys/unix"

// Locks of a process, gone when it closes the file that any descriptor has open.
const (
	setLock = unix.F_SETLK
	getLock = unix.F_GETLK
)
