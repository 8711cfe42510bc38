package sandbox

import (
	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// door is the way out of a run that may reach named hosts: a network namespace
// whose every address leads to a gate here. A nil door is no way out.
type door struct {
	gate  *egress.Gate
	plan  egress.Namespace
	calls []linux.SocketCall
}

// newDoor plans the way out, where the profile names hosts and the kernel has
// network namespaces.
func newDoor(spec *Spec, f linux.Features) (*door, error) {
	n := &spec.Profile.Network
	if n.Mode != profiles.NetHosts || !f.Namespaces || !f.NetNamespace {
		return nil, nil
	}
	gate, err := egress.New(egress.Config{Network: n, Report: spec.connection})
	if err != nil {
		return nil, err
	}
	d := &door{gate: gate, plan: egress.AnyIP(n)}
	d.calls = socketCalls(&d.plan)
	return d, nil
}

// gateSockets are the sockets that a run's gate will have, for explaining; none
// where it has no gate.
func gateSockets(n *profiles.Network, f linux.Features) []linux.SocketCall {
	if n.Mode != profiles.NetHosts || !f.Namespaces || !f.NetNamespace {
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

func (d *door) close() {
	if d != nil {
		d.gate.Close()
	}
}
