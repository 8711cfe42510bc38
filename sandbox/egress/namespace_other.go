//go:build !linux

package egress

import "net/netip"

// spares are sockets of a network namespace; there are none here.
type spares struct{}

// listeners are not asked for here.
type listeners struct{}

func (*listeners) Close() error { return nil }

// absent is not asked here: the proxy form knows before it answers.
func (g *Gate) absent(netip.AddrPort) bool { return false }
