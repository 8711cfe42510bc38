//go:build linux

package attack

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/sandbox/sandboxtest"
)

// Environment is what the machine, or the emulation, gives to a bare run.
type Environment struct {
	Name     string // as for the emulate command, "none" for the machine itself
	Features linux.Features
}

// Here is the environment of this process.
func Here() Environment {
	name := sandboxtest.Emulated()
	if name == "" {
		name = "none"
	}
	return Environment{name, linux.ProbeDeep()}
}

// Has says whether everything named is there: root, privileges (set-uid programs
// get their user's rights), user (that, and not root), admin (CAP_SYS_ADMIN, and no filter before
// ours), nofilter (no filter that answers as Docker's), namespaces (with mounts in
// them), amd64, arm64, processors (more than one); any other word is a program.
func (e Environment) Has(needs []string) bool {
	filtered := strings.Contains(e.Name, "docker")
	return !slices.ContainsFunc(needs, func(n string) bool {
		switch n {
		case "root":
			return os.Geteuid() != 0
		case "privileges", "user":
			held, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			return err != nil || held != 0 || n == "user" && os.Geteuid() == 0
		case "admin":
			return os.Geteuid() != 0 || filtered || e.Features.Capabilities&(1<<unix.CAP_SYS_ADMIN) == 0
		case "nofilter":
			return filtered
		case "namespaces":
			return !e.Features.Namespaces
		case "amd64", "arm64":
			return runtime.GOARCH != n
		case "processors":
			return runtime.NumCPU() < 2
		}
		_, err := exec.LookPath(n)
		return err != nil
	})
}
