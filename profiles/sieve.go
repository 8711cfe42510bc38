package profiles

import (
	"slices"
	"strings"
)

// Sieve tells quickly which few of a profile's denials can have to do with a
// path: whoever asks about each of ten thousand files cannot hold each against
// every denial, of which there may be as many. What it leaves out neither covers,
// nor leads to, nor names the path. It is for one goroutine at a time.
type Sieve struct {
	denials []Denial
	words   map[string][]int // components of patterns without "*" and "?", folded
	globs   []globWord
	sorted  []denialPlace    // of all denials
	dirs    map[string][]int // see directory
	path    string
	list    []int
	out     []*Denial // of path
}

type globWord struct {
	pattern string
	denial  int
}

// denialPlace is where a denial is, folded.
type denialPlace struct {
	path   string
	denial int
}

// sieveDirs bounds the directories that are remembered.
const sieveDirs = 4096

// NewSieve makes a sieve of denials, which must not change any more.
func NewSieve(denials []Denial) *Sieve { return &Sieve{denials: denials} }

// sort puts the words of all patterns, and all places, where they are found again.
// Many a run asks about nothing.
func (s *Sieve) sort() {
	s.words, s.dirs = map[string][]int{}, map[string][]int{}
	s.sorted = make([]denialPlace, len(s.denials))
	for i := range s.denials {
		for rest, word := s.denials[i].Match, ""; rest != ""; {
			rest, word = cutLast(rest)
			if strings.ContainsAny(word, "*?") {
				s.globs = append(s.globs, globWord{word, i})
				continue
			}
			word = Folded(word)
			s.words[word] = append(s.words[word], i)
		}
		s.sorted[i] = denialPlace{Folded(s.denials[i].Path), i}
	}
	slices.SortFunc(s.sorted, func(a, b denialPlace) int { return strings.Compare(a.path, b.path) })
}

// Touching gives the denials that may have to do with path, an absolute one, in
// their order. The
// list is good until the next call.
func (s *Sieve) Touching(path string) []*Denial {
	if path == s.path {
		return s.out // several things are asked about one file
	}
	if s.words == nil {
		s.sort()
	}
	s.path = path
	dir, name := cutLast(path)
	list := s.touched(name, append(s.list[:0], s.directory(dir)...))
	whole := Folded(path)
	for _, p := range s.at(whole) {
		list = append(list, p.denial)
	}
	beneath := strings.TrimSuffix(whole, "/") + "/" // what it leads to
	for _, p := range s.from(beneath) {
		if !strings.HasPrefix(p.path, beneath) {
			break
		}
		list = append(list, p.denial)
	}
	slices.Sort(list)
	s.list = slices.Compact(list)
	s.out = s.out[:0]
	for _, i := range s.list {
		s.out = append(s.out, &s.denials[i])
	}
	return s.out
}

// directory gives the denials that may have to do with anything right beneath
// dir ("" for the root), whatever its name.
func (s *Sieve) directory(dir string) []int {
	if list, ok := s.dirs[dir]; ok {
		return list
	}
	var list []int
	whole := "/"
	if dir != "" {
		whole = dir
		above, name := cutLast(dir)
		list = slices.Clone(s.directory(above))
		for _, i := range s.touched(name, nil) {
			if _, inside := s.denials[i].beneath(dir); inside {
				list = append(list, i)
			}
		}
	}
	for _, p := range s.at(Folded(whole)) {
		if s.denials[p.denial].Match == "" {
			list = append(list, p.denial)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(s.dirs) >= sieveDirs {
		clear(s.dirs)
	}
	s.dirs[dir] = list
	return list
}

// from gives the denials whose place is path, folded, or comes after it.
func (s *Sieve) from(path string) []denialPlace {
	i, _ := slices.BinarySearchFunc(s.sorted, path, func(p denialPlace, to string) int { return strings.Compare(p.path, to) })
	return s.sorted[i:]
}

// at gives those whose place is path.
func (s *Sieve) at(path string) []denialPlace {
	list := s.from(path)
	n := 0
	for n < len(list) && list[n].path == path {
		n++
	}
	return list[:n]
}

// touched appends the denials of whose pattern name matches some component.
func (s *Sieve) touched(name string, list []int) []int {
	list = append(list, s.words[Folded(name)]...)
	for i := range s.globs {
		if g := &s.globs[i]; matchName(g.pattern, name) {
			list = append(list, g.denial)
		}
	}
	return list
}

// Folded gives one spelling of all that a denial takes for the same name or path.
func Folded(s string) string {
	s = asASCII(s)
	for i := 0; i < len(s); i++ {
		if lower(s[i]) != s[i] {
			b := []byte(s)
			for j := range b {
				b[j] = lower(b[j])
			}
			return string(b)
		}
	}
	return s
}
