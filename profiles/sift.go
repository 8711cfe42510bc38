package profiles

import "io/fs"

// A Sift leaves of directories what a search for denied names has to see: the
// names that some denial covers, and directories, in which there may be more. Of
// the rest nothing follows, so that it may come and go. It is for one goroutine at
// a time.
type Sift struct {
	Denials []Denial
	sieve   *Sieve
}

// Covering gives the denials that cover a path, none if none does. The list is
// good until the next call.
func (s *Sift) Covering(path string) []*Denial {
	if s.sieve == nil {
		s.sieve = NewSieve(s.Denials)
	}
	list := s.sieve.Touching(path)
	covering := list[:0:0]
	for _, d := range list {
		if d.Covers(path) {
			covering = append(covering, d)
		}
	}
	return covering
}

// Sifted gives those of a directory's entries that count, in their order.
func (s *Sift) Sifted(dir string, entries []fs.DirEntry) []fs.DirEntry {
	var out []fs.DirEntry
	for _, e := range entries {
		if e.IsDir() || len(s.Covering(Below(dir, e.Name()))) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// Below gives the path of a name in a directory, both as they are listed.
func Below(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}
