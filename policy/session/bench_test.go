package session_test

import (
	"fmt"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/policy/session"
)

// long is a command of 500 lines that reads, writes and asks for many things.
func long() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "cat src/file%d.txt | grep -n 'foo%d' > out/%d.txt\n", i, i, i)
		fmt.Fprintf(&b, "for f in a b c; do cp $f /tmp/x%d; done\n", i)
		fmt.Fprintf(&b, "curl -s https://host%d.example.com/api/%d -o d%d.json\n", i%7, i, i)
		fmt.Fprintf(&b, "if [ -f x%d ]; then rm -f x%d; else python3 -c 'print(%d)'; fi\n", i, i, i)
		fmt.Fprintf(&b, "git log --oneline -n %d && make target%d || echo no\n", i, i)
	}
	return b.String()
}

// BenchmarkDecide is one decision without the process around it: the session
// opened, read, decided, recorded and saved.
func BenchmarkDecide(b *testing.B) {
	for _, c := range []struct{ name, command string }{{"short", "git status && ls -la | wc -l > out.txt"}, {"500 lines", long()}} {
		b.Run(c.name, func(b *testing.B) {
			w := newWorld(b, "standard")
			w.start().Close()
			for b.Loop() {
				s, err := session.Open(ctx, w.set, "s1")
				if err != nil {
					b.Fatal(err)
				}
				if v := s.Decide(ctx, bash(c.command)); v.Effect == policy.Deny {
					b.Fatal(v.Reason)
				}
				s.Close()
			}
		})
	}
}
