//go:build !linux

package main

import "golang.org/x/sys/unix"

// lookUp opens a directory to look names up in it.
const lookUp = unix.O_RDONLY
