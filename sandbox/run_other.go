//go:build !linux && !darwin

package sandbox

import (
	"errors"
	"runtime"
)

// Run refuses: nothing can be enforced on this system.
func Run(*Spec) (Result, error) {
	return Result{}, errors.New("nothing can be enforced on " + runtime.GOOS)
}
