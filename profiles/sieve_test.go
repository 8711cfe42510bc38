package profiles_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skillrun/profiles"
)

// TestSieveLeavesNothingOut: a denial that a sieve does not give has nothing to
// do with the path, and those that it gives keep their order.
func TestSieveLeavesNothingOut(t *testing.T) {
	word := rapid.SampledFrom([]string{"w", "a", ".git", ".GIT", "hooks", "Hooks", "hoo\u212as", "hook\u017f", ".g\u200bit", "W", ".env", ".env.local", "node_modules", "x.d", "cc", "\xff", "*"})
	path := rapid.Custom(func(t *rapid.T) string {
		p := ""
		for _, w := range rapid.SliceOfN(word, 0, 5).Draw(t, "words") {
			p += "/" + w
		}
		if p == "" {
			return "/"
		}
		return p
	})
	match := rapid.SampledFrom([]string{"", ".env", ".env*", ".git/hooks", ".git/hoo?s", "*/hooks", "a/.git/config", "c?", "*.d", "*", "HOOKS"})
	drawn := rapid.Custom(func(t *rapid.T) profiles.Denial {
		return profiles.Denial{Path: path.Draw(t, "path"), Match: match.Draw(t, "match"), Access: access.Draw(t, "access"), Class: rapid.SampledFrom([]profiles.Class{profiles.Plain, profiles.Control}).Draw(t, "class"),
			Except: rapid.SliceOfN(rapid.OneOf(path, rapid.Just("node_modules")), 0, 2).Draw(t, "except")}
	})
	left := 0
	rapid.Check(t, func(t *rapid.T) {
		denials := rapid.SliceOfN(drawn, 0, 6).Draw(t, "denials")
		if rapid.Bool().Draw(t, "any case") {
			denials = profiles.AnyCase(denials)
		}
		sieve := profiles.NewSieve(denials)
		for range 3 {
			p := path.Draw(t, "asked")
			given := sieve.Touching(p)
			at := -1
			for i := range denials {
				d := &denials[i]
				j := slices.Index(given, d)
				switch {
				case j >= 0 && j <= at:
					t.Fatalf("order of %v", given)
				case j >= 0:
					at = j
				case d.Covers(p) || d.Leads(p) || d.Names(p):
					t.Fatalf("%+v has to do with %q", *d, p)
				default:
					left++
				}
			}
		}
	})
	if left == 0 {
		t.Error("nothing was ever left out")
	}
}
