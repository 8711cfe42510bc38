package linux

// ReadsSignals says whether an open /proc/TID/status can be read.
func ReadsSignals(status int) bool {
	_, ok := readSignals(status)
	return ok
}
