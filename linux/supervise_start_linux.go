package linux

import "slices"

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
// too.
func (s *Supervisor) startable(path string) bool {
	return s.config.Starts == nil || slices.ContainsFunc(s.config.Starts, func(tree string) bool { return inTree(tree, path) })
}
