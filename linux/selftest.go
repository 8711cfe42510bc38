package linux

import "skillrun/profiles"

// SelfTest says what the command must be refused before its program starts:
// what was asked of the kernel is there only when it is seen to work. It holds
// what the receipt promises, not what the rest of the plan says, so that a
// mistake between the two is noticed. Calls whose refusal kills are tried by
// doctor and by tests, in processes of their own.
type SelfTest struct {
	// Closed is a directory that this user can read and the run cannot, to be
	// opened under Landlock; "" tries none.
	Closed string `json:"closed,omitempty"`
	// Sockets are calls of socket(2), with the errors that they must give.
	Sockets []RefusedSocket `json:"sockets,omitempty"`
	// Signal is the error that signal 0 to the launcher must give; 0 sends
	// none.
	Signal uint16 `json:"signal,omitempty"`
	// Filters is the number of seccomp programs that /proc/self/status must
	// count, beyond those that the launcher is under; 0 counts none.
	Filters int `json:"filters,omitempty"`
}

// RefusedSocket is a kind of socket and the error that it must give.
type RefusedSocket struct {
	Family int    `json:"family"`
	Errno  uint16 `json:"errno"`
}

// noSocketType is no type of socket: without a filter the kernel answers
// EINVAL before it looks at the family, whatever is compiled into it.
const noSocketType = 15

// selfTest writes the plan's self-test. Nothing in it may be notified: the
// supervisor does not serve yet.
func (c *compiler) selfTest() {
	t := &c.plan.SelfTest
	asked := c.plan.Nested && c.readsAsked() // about every open, by the outer run's supervisor
	if dir := c.facts.Closed; c.f.Landlock > 0 && !asked && dir != "" && !c.p.Allows(dir, profiles.Read).Allowed {
		t.Closed = dir
	}
	notifiesKill := c.listens && c.f.Landlock < 6
	switch {
	case notifiesKill:
	case c.plan.Namespaces&NSPID != 0:
		t.Signal = einval // the launcher is in no pid namespace of the run's
	case c.f.Landlock >= 6:
		t.Signal = eperm
	}
	if !c.f.Seccomp {
		return
	}
	t.Sockets = append(t.Sockets, RefusedSocket{afVsock, eafnosupport})
	if c.p.Network.Mode == profiles.NetNone && !c.tellsNetwork() && !c.leads {
		t.Sockets = append(t.Sockets, RefusedSocket{afInet, eacces})
	}
	if c.f.Landlock > 0 { // a kernel that counts filters (5.9)
		t.Filters = 2
		if c.listens {
			t.Filters = 3
		}
	}
}
