package main

import "golang.org/x/sys/unix"

// lookUp opens a directory to look names up in it, for which it need not be
// readable.
const lookUp = unix.O_PATH
