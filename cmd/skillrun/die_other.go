//go:build unix && !linux

package main

import (
	"os"
	"os/signal"
	"syscall"
)

func defaultAction(sig syscall.Signal) { signal.Reset(sig) }

func raise(sig syscall.Signal) { syscall.Kill(os.Getpid(), sig) }
