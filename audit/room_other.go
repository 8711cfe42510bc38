//go:build !linux

package audit

import "os"

// allocate keeps nothing.
func allocate(*os.File, int64) error { return nil }
