//go:build !linux

package main

import (
	"crypto/sha256"

	"skillrun/profiles"
	"skillrun/sandbox"
)

// A memo is the profile of a run. Only on Linux are earlier ones kept.
type memo struct {
	Sum      [sha256.Size]byte // of the profile
	Cache    string            // only on Linux
	Profile  profiles.Profile
	Compiled sandbox.Compiled
}

func (j *job) plan(string, sandbox.Mode, string) (m *memo, keep func(*sandbox.Compiled), err error) {
	p, err := j.profile()
	if err != nil {
		return nil, nil, err
	}
	return &memo{Sum: p.Hash(), Profile: *p}, nil, nil
}
