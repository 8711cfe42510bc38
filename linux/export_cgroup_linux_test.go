package linux

// PlaceIn is placeIn, with the directories that are chosen.
func PlaceIn(mounts, groups string, writable func(string) bool, read func(string) string) (version, memory, pids, cpuacct string, ok bool) {
	p, ok := placeIn(mounts, groups, writable, read)
	return p.Version, p.memory, p.pids, p.cpuacct, ok
}
