//go:build unix && !linux

package main

import "syscall"

func defaultAction(syscall.Signal) {}
