package main

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"skillrun/policy"
	"skillrun/policy/hook"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// useless says why a grant would be in vain: the user's own permissions, or a file
// system that is read only, refuse the same. It asks with the capabilities that the run
// has, of which root's are few. "" is what a grant may help with, what is not known,
// such as of a name that is gone again, and what no grant is told for, as in /proc,
// where outside a number is another process's.
func useless(d *sandbox.Refusal) string {
	if !filepath.IsAbs(d.Path) || d.Socket || d.Inner || d.Grant() == "" {
		return ""
	}
	at, mode := d.Path, uint32(0)
	switch {
	case d.Access&(profiles.Create|profiles.Delete) != 0:
		at, mode = filepath.Dir(d.Path), unix.W_OK|unix.X_OK
	case d.Access&profiles.Write != 0:
		mode = unix.W_OK
	case d.Access&profiles.Read != 0:
		mode = unix.R_OK
	default:
		return ""
	}
	switch err := unix.Faccessat(unix.AT_FDCWD, at, mode, unix.AT_EACCESS); {
	case err == unix.EACCES && os.Geteuid() == 0:
		return "root may not without its capabilities, which the run has not"
	case err == unix.EACCES || err == unix.EROFS:
		return "this user may not, outside of a run either"
	}
	return ""
}

// mountFlag gives the flag that lets a run write in the mount that a refused change
// was in, "" if it was in none that is there for reading.
func mountFlag(j *job, d *sandbox.Refusal) string {
	if j == nil || d.Access&profiles.Change == 0 || d.Verdict.Denial != nil {
		return ""
	}
	for _, m := range j.mounts {
		dir, err := j.host.Resolve(m.Dir)
		word := hook.Quote(m.Role + "=" + dir + ":rw")
		if err == nil && !m.Write && strings.HasPrefix(d.Path+"/", dir+"/") && policy.Escape(word) == word {
			return "--mount " + word
		}
	}
	return ""
}
