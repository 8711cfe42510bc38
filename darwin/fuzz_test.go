package darwin_test

import (
	"strings"
	"testing"

	"skillrun/darwin"
	"skillrun/profiles"
)

// FuzzEmit: no string of a profile becomes policy text. Whatever it holds, the
// policy without its comments is the one of a harmless string, it parses, and
// what it grants is the one path.
func FuzzEmit(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name, name, name)
	}
	f.Add(".env", "node_modules", "why")
	compile := func(name, match, reason string) (*darwin.Policy, error) {
		facts := standardFacts()
		facts.Exists, facts.CaseSensitive = nil, true
		p := small()
		o := profiles.Origin{Source: reason, Capability: reason, Reason: reason}
		p.Paths = []profiles.PathRule{{Path: "/data/" + name, Access: profiles.Read, Origin: o}}
		p.Denials = []profiles.Denial{{Path: "/data/" + name + "/x", Access: profiles.Read, Origin: o}, {Path: "/data", Match: match, Except: []string{match}, Access: profiles.Write, Origin: o}}
		return darwin.Compile(p, facts)
	}
	code := func(p *darwin.Policy) string {
		var b strings.Builder
		for _, line := range strings.Split(p.Source(), "\n") {
			line, _, _ = strings.Cut(line, ";")
			b.WriteString(strings.Join(strings.Fields(line), " ") + " ")
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	plain, err := compile("plain", "harmless", "why")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, match, reason string) {
		if strings.Contains(name, "/") || strings.Contains(match, "/") || match == "" {
			return
		}
		p, err := compile(name, match, reason)
		if err != nil {
			return
		}
		if got, want := code(p), code(plain); got != want {
			t.Fatalf("policy text depends on a string:\n%s\nwant\n%s", got, want)
		}
		for i := 0; i < len(p.Source()); i++ {
			if c := p.Source()[i]; c < ' ' && c != '\n' || c == 0x7f {
				t.Fatalf("control character %q in the policy", c)
			}
		}
		own := parse(t, p, 15)
		if got := answer(t, own, query("file-read-data", "/data/"+name)); got != "allow" {
			t.Fatalf("the granted path: %s", got)
		}
		if got := answer(t, own, query("file-read-data", "/data/other"+name)); got != "deny" {
			t.Fatalf("another path: %s", got)
		}
	})
}
