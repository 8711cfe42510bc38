package linux

import (
	"slices"

	"golang.org/x/sys/unix"

	"skillrun/profiles"
)

// serveStart tells of a program that may not be started. The caller goes on in any
// case: Landlock decides, about what the path leads to when the kernel reads it.
func serveStart(r *request) {
	if o := &r.a; r.named(int(r.arg(r.call.flags))) == 0 && !o.anonymous && o.moved == "" && o.kind == regular && o.st.Mode&0o111 != 0 {
		if rule := r.located(o, r.deciders.start); !rule.ok() {
			r.report(rule)
		} else if !r.s.startable(o.place.path) {
			at := o.place.path
			r.s.unstarted.Store(&at)
		}
	}
	r.resume()
}

// startable says whether what the Profile lets be started at path the kernel does,
// too: its rules are of what was there at the start, whatever has the name since.
func (s *Supervisor) startable(path string) bool {
	return s.config.Starts == nil || slices.ContainsFunc(s.config.Starts, func(tree string) bool {
		return profiles.Within(tree, path) && s.starts[tree] == identityOf(tree)
	})
}

// findStarts notes what is at the places where programs may be started.
func (s *Supervisor) findStarts() {
	s.starts = make(map[string]fileID, len(s.config.Starts))
	for _, tree := range s.config.Starts {
		s.starts[tree] = identityOf(tree)
	}
}

func identityOf(path string) fileID {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return fileID{}
	}
	return fileID{uint64(st.Dev), st.Ino}
}
