package profiles

import "strings"

// Sieve tells quickly which few of a profile's denials can have to do with a
// path: whoever asks about each of ten thousand files cannot hold each against
// every pattern. What it leaves out neither covers, nor leads to, nor names the
// path. It is for one goroutine at a time.
type Sieve struct {
	denials []Denial
	words   map[string][]int // components of patterns without "*" and "?", folded
	globs   []globWord
	dirs    map[string][]int
	word    []int // of the last name
	path    string
	out     []*Denial // of path
}

type globWord struct {
	pattern string
	denial  int
}

// sieveDirs bounds the directories that are remembered.
const sieveDirs = 4096

// NewSieve makes a sieve of denials, which must not change any more.
func NewSieve(denials []Denial) *Sieve { return &Sieve{denials: denials} }

// sort puts the words of all patterns where they are found again. Many a run
// asks about nothing.
func (s *Sieve) sort() {
	s.words, s.dirs = map[string][]int{}, map[string][]int{}
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
	}
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
	always, ok := s.dirs[dir]
	if !ok {
		always = s.directory(dir)
		if len(s.dirs) >= sieveDirs {
			clear(s.dirs)
		}
		s.dirs[dir] = always
	}
	s.word = s.touched(name, s.word[:0])
	s.out = s.out[:0]
	if len(s.word) == 0 {
		for _, i := range always {
			s.out = append(s.out, &s.denials[i])
		}
		return s.out
	}
	marks := make([]bool, len(s.denials))
	for _, list := range [][]int{always, s.word} {
		for _, i := range list {
			marks[i] = true
		}
	}
	for i, marked := range marks {
		if marked {
			s.out = append(s.out, &s.denials[i])
		}
	}
	return s.out
}

// directory gives the denials that may have to do with anything right beneath
// dir ("" for the root), whatever its name.
func (s *Sieve) directory(dir string) []int {
	marks := make([]bool, len(s.denials))
	for rest, word := dir, ""; rest != ""; {
		rest, word = cutLast(rest)
		for _, i := range s.touched(word, nil) {
			marks[i] = true
		}
	}
	whole := dir
	if whole == "" {
		whole = "/"
	}
	var list []int
	for i := range s.denials {
		d := &s.denials[i]
		_, inside := d.beneath(whole)
		if d.leadsTo(whole) && (!inside || dir == "") || inside && (d.Match == "" || marks[i]) {
			list = append(list, i)
		}
	}
	return list
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
