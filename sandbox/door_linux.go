package sandbox

import (
	"net/netip"
	"runtime"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// door is the way out of a run that may reach named hosts: a gate here, to
// which every address of the run's own network namespace leads, or where it has
// none the supervisor. A nil door is no way out.
type door struct {
	gate  *egress.Gate
	plan  egress.Namespace
	calls []linux.SocketCall
}

// hasDoor says whether a run with this network gets a gate.
func hasDoor(n *profiles.Network) bool {
	return n.Mode == profiles.NetHosts || n.Mode == profiles.NetNone && len(n.Listen) > 0
}

// newDoor plans the way out, where the profile names hosts.
func newDoor(spec *Spec, f linux.Features) (*door, error) {
	n := &spec.Profile.Network
	if !hasDoor(n) {
		return nil, nil
	}
	gate, err := egress.New(egress.Config{Network: n, Parents: spec.Parents, Report: spec.connection})
	if err != nil {
		return nil, err
	}
	// The supervisor's thread must not wait for the gate's to leave it a
	// processor of Go's: the kernel shares out the real ones.
	const processors = 8
	if runtime.GOMAXPROCS(0) < processors {
		runtime.GOMAXPROCS(processors)
	}
	d := &door{gate: gate}
	if f.Namespaces && f.NetNamespace {
		d.plan = egress.AnyIP(n)
		d.calls = socketCalls(&d.plan)
	}
	return d, nil
}

// gateSockets are the sockets that a run's gate will have in a namespace, for
// explaining; none where it has none there.
func gateSockets(n *profiles.Network, f linux.Features) []linux.SocketCall {
	if !hasDoor(n) || !f.Namespaces || !f.NetNamespace {
		return nil
	}
	plan := egress.AnyIP(n)
	return socketCalls(&plan)
}

func socketCalls(n *egress.Namespace) (calls []linux.SocketCall) {
	for _, s := range n.Sockets {
		calls = append(calls, linux.SocketCall{Family: s.Family, Type: s.Type, Protocol: s.Protocol, Optional: s.Optional})
	}
	return calls
}

func (d *door) sockets() []linux.SocketCall {
	if d == nil {
		return nil
	}
	return d.calls
}

// open serves the namespace of a run that is ready and has not begun.
func (d *door) open(p *linux.Process) error {
	if d == nil {
		return nil
	}
	return d.gate.ServeNamespace(&d.plan, p.Sockets())
}

// leads serves a run whose sockets the supervisor makes, and tells it where to
// lead them.
func (d *door) leads(spec *Spec) (*linux.Egress, error) {
	if d == nil {
		return nil, nil // no internet socket is made then
	}
	if err := d.gate.ServeLoopback(); err != nil {
		return nil, err
	}
	return &linux.Egress{
		Connect: func(dst netip.AddrPort) (netip.AddrPort, func(netip.AddrPort), bool) {
			at, register, v := d.gate.Connect(dst)
			if !v.Allowed {
				spec.connection(v)
			}
			return at, register, v.Allowed
		},
		Send: d.gate.Datagram,
	}, nil
}

func (d *door) close() {
	if d != nil {
		d.gate.Close()
	}
}
