package profiles

// Names says whether path, or something above it, is one that the denial is
// about, whether an exception takes it in or not.
func (d *Denial) Names(path string) bool {
	rel, ok := beneath(d.Path, path)
	return ok && (d.Match == "" || matchAny(d.Match, rel))
}
