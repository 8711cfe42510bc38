//go:build !linux

package sandbox

// Compiled is for Linux, where a plan takes long to compile.
type Compiled struct{}
