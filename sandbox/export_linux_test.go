package sandbox

import "slices"

// Settle is settle; it tells whether an address is in what it gives back of a
// /proc/PID/smaps.
func Settle(maps string, at uintptr) bool {
	settle()
	return slices.ContainsFunc(unwritten(maps), func(m mapping) bool { return m.start <= at && at < m.end })
}
