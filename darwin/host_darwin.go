package darwin

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Version is the version of macOS on this machine, such as "15.6.1".
func Version() (string, error) {
	v, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return "", fmt.Errorf("read the version of macOS: %w", err)
	}
	return v, nil
}
