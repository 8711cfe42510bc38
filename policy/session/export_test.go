package session

// Tainted says whether the session has been touched by t, and by what.
func (s *Session) Tainted(t Taint) (why string, tainted bool) {
	m, ok := s.more.Taint[t]
	return m.Why, ok
}
