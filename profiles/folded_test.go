package profiles_test

import (
	"testing"

	"skillrun/profiles"
)

// TestDenialsInOtherLetters names files as a file system that folds case finds them:
// one that compares names by Unicode's full case folding without what does not show.
func TestDenialsInOtherLetters(t *testing.T) {
	const w = "/w"
	named := []profiles.Denial{
		{Path: w, Match: ".git/config", Access: profiles.Write, Class: profiles.Control},
		{Path: w, Match: "*.tfstate", Access: profiles.Write, Class: profiles.Sensitive},
		{Path: w, Match: "pass?", Access: profiles.Write, Class: profiles.Sensitive},
		{Path: w + "/tools/first", Access: profiles.Write, Class: profiles.Control},
		{Path: w + "/Data", Access: profiles.Write, Class: profiles.Plain},
	}
	for path, want := range map[string]bool{
		w + "/.git/config":               true,
		w + "/.GIT/con\ufb01g":           true,
		w + "/.g\u200bit/config":         true,
		w + "/.git/\ufeffconfig\u00ad":   true,
		w + "/.\ufe0fgit/CON\ufb01G/x":   true,
		w + "/x.tf\ufb06ate":             true,
		w + "/x.tf\ufb05ATE\u2060":       true,
		w + "/pa\u00dfx":                 true,
		w + "/pa\u1e9ex":                 true,
		w + "/tools/first":               true,
		w + "/Tools/\ufb01rst/x":         true,
		"/W/tools/fir\ufb06":             true,
		w + "/Data/x":                    true,
		w + "/.g\u0131t/config":          false, // the dotless i is another letter
		w + "/.gi\u0301t/config":         false,
		w + "/.git/con\xffig":            false,
		w + "/tools/firs":                false,
		w + "/tools/first2":              false,
		w + "/tools\u200b/\u200b/first/": false,
		w + "/tools":                     false,
		w + "/data/x":                    false, // a manifest's own words
	} {
		denials := profiles.AnyCase(named)
		sieve := profiles.NewSieve(denials)
		got, touched := false, false
		for i := range denials {
			got = got || denials[i].Covers(path)
		}
		for _, d := range sieve.Touching(path) {
			touched = touched || d.Covers(path)
		}
		if got != want || touched != want {
			t.Errorf("%q: covered %v, by a sieve %v, want %v", path, got, touched, want)
		}
	}
	led := profiles.AnyCase(named)
	for i, path := range map[int]string{0: w + "/.Git", 3: w + "/TOOL\u017f"} {
		if !led[i].Leads(path) {
			t.Errorf("%q is not on the way", path)
		}
		if led[i].Leads(w + "/other") {
			t.Errorf("control: %q is on the way", w+"/other")
		}
	}
	if named[3].Covers(w + "/Tools/first") {
		t.Error("control: the profile's own form is of one spelling")
	}
	skill := profiles.Profile{Skill: "/w/skills/first", Paths: []profiles.PathRule{{Path: w, Tree: true, Access: profiles.Write}}}
	for path, want := range map[string]bool{"/w/Skills/\ufb01rst/x": false, "/w/skills/second/x": true} {
		if got := skill.Allows(path, profiles.Write).Allowed; got != want {
			t.Errorf("%q of a skill: %v", path, got)
		}
	}
}
