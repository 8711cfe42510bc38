package scan

// HasSpecial says whether the rows of programs may call for a reader by this name.
func HasSpecial(name string) bool { return special(name) != nil }

// Source reads the text of a script in a language: "shell", "python" or
// "javascript".
func Source(lang, src string, env Env) Result {
	s := newScan(env)
	s.source(lang, src, place{file: "script"})
	return s.result()
}
