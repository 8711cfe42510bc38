package session

// Tainted says whether the session has been touched by t, and by what.
func (s *Session) Tainted(t Taint) (why string, tainted bool) {
	m, ok := s.more.Taint[t]
	return m.Why, ok
}

// Skills are the names of the loaded skills with their directories.
func (s *Session) Skills() map[string]string {
	m := make(map[string]string, len(s.more.Skills))
	for _, k := range s.more.Skills {
		m[k.Name] = k.Dir
	}
	return m
}
