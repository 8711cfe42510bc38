package scan

// HasSpecial says whether the rows of programs may call for a reader by this name.
func HasSpecial(name string) bool { return special(name) != nil }
