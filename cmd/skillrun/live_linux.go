package main

import "golang.org/x/sys/unix"

// Locks of an open file: what was forked from this program holds them as well.
const (
	setLock = unix.F_OFD_SETLK
	getLock = unix.F_OFD_GETLK
)
