package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"skillrun/darwin"
)

// Run runs the command of spec to its end. An error means that the command did
// not run, or that nothing is known of how it ended. The program's main
// function must have called [BecomeLimited].
func Run(spec *Spec) (Result, error) {
	version, err := darwin.Version()
	if err != nil {
		return Result{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return Result{}, fmt.Errorf("find this program: %w", err)
	}
	for _, dir := range [...]string{spec.Profile.Home, spec.Profile.Workspace, spec.Profile.Skill} {
		if err := sameCase(dir); err != nil {
			return Result{}, err
		}
	}
	s := seatbelt{version: version, roots: tempRoots[:], self: self, processes: darwin.Processes, denials: darwin.LogArgs}
	return s.run(spec)
}

// sameCase fails if the volume spells a path in another case: the kernel asks
// about its spelling, and a denial in any other would be dead.
func sameCase(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %q: %w", path, err)
	}
	defer f.Close()
	var name [1024]byte // MAXPATHLEN
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETPATH, uintptr(unsafe.Pointer(&name[0]))); errno != 0 {
		return fmt.Errorf("look at %q: %w", path, errno)
	}
	real := string(name[:bytes.IndexByte(name[:], 0)])
	if real != path && strings.EqualFold(real, path) {
		return fmt.Errorf("%q is spelled %q on this volume: use that spelling", path, real)
	}
	return nil
}
