package scan

// program reads Python or JavaScript.
func (s *scan) programText(lang, text string, p place) {
	s.opaque(p.at(1, 1), "code in "+lang)
}
