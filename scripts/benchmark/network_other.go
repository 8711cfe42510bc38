//go:build !linux

package main

import "errors"

var errLinux = errors.New("runs are measured on Linux only")

func client() error                { return errLinux }
func (w *world) network(int) error { return errLinux }
