//go:build !linux

package main_test

func ownNetwork() bool { return false }
