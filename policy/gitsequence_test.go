package policy_test

import (
	"slices"
	"testing"

	"skillrun/policy"
)

func TestGitContinues(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       []string
	}{
		{policy.GitTodo, "pick 1 x\n  exec touch a\nx\ttouch b\r\n", []string{"exec touch a", "x\ttouch b"}},
		{policy.GitTodo, "pick 1 exec x\nfixup -C 2 x\n# exec a\nlabel exec\nmerge -C 1 x\nbreak\nexecute\n\n", nil},
		{"rebase-merge/strategy", "x/evil\n", []string{"x/evil"}},
		{"rebase-merge/strategy", "recursive\n", nil},
		{"rebase-apply/apply-opt", " '--whitespace=fix' '--build-fake=/etc/x'\n", []string{"'--whitespace=fix' '--build-fake=/etc/x'"}},
		{"rebase-apply/apply-opt", " '-p2' '--directory=a--b' '--whitespace=fix' '-C3' '--exclude=x'\n", nil},
		{"sequencer/opts", "[options]\n\tedit = true\n\tStrategy = \"x\"/evil\n", []string{"x/evil"}},
		{"sequencer/opts", "[options]\n\tstrategy = ours\n\tstrategy-option = a/b\n", nil},
		{"sequencer/opts", "", nil},
	} {
		if got := policy.GitContinues(c.file, []byte(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s, %q: %q, want %q", c.file, c.text, got, c.want)
		}
	}
}
