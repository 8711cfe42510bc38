//go:build !linux

package egress

// spares are sockets of a network namespace; there are none here.
type spares struct{}
