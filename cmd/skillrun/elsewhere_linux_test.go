package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// TestLinuxElsewhere: what another system says of Linux is what Linux says.
func TestLinuxElsewhere(t *testing.T) {
	dir := t.TempDir()
	const rw = profiles.Read | profiles.Write | profiles.Create
	hosts := profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "api.example.com", Ports: []profiles.PortRange{{First: 443, Last: 443}}, Protocols: profiles.TCP, ReadOnly: true}}}
	bare := someLinux()
	bare.Namespaces, bare.NetNamespace = false, false
	for name, p := range map[string]*profiles.Profile{
		"nothing": {},
		"writing": {Workspace: dir, Paths: []profiles.PathRule{{Path: dir, Tree: true, Access: rw}}, Denials: profiles.ControlFiles(dir), Process: profiles.Process{Create: true}},
		"hosts":   {Network: hosts},
		"host":    {Network: profiles.Network{Mode: profiles.NetHost}},
		"query":   {Process: profiles.Process{Create: true, Query: true}},
		"limits":  {Limits: profiles.Limits{Memory: 1 << 30, Processes: 64, Output: 1 << 20}},
	} {
		for machine, f := range map[string]linux.Features{"some": someLinux(), "without namespaces": bare, "nothing": {}} {
			want := sandbox.PlanFor(p, f, &profiles.Host{FS: os.DirFS("/")}, nil, "", false).Receipt
			if diff := cmp.Diff(want, linuxReceipt(p, f, os.DirFS("/"))); diff != "" {
				t.Errorf("%s, %s (-on Linux +elsewhere):\n%s", name, machine, diff)
			}
		}
	}
}
