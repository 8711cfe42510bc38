package profiles_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrun/profiles"
)

// held compares what is read of a configuration with what git reads of it, or that git
// refuses it.
func held(t interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, config string) {
	t.Helper()
	var got strings.Builder
	fault := profiles.GitConfig([]byte(config), func(name, value string) { got.WriteString(name + " " + value + "\x00") })
	cmd := exec.Command("git", "config", "--file", "-", "--list", "--null")
	cmd.Stdin = strings.NewReader(config)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("git: %v", err)
	}
	var want strings.Builder
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name, value, _ := strings.Cut(entry, "\n"); entry != "" {
			want.WriteString(name + " " + value + "\x00")
		}
	}
	if (fault != nil) != (err != nil) || err == nil && got.String() != want.String() {
		t.Errorf("%q: %q, %v; git: %q, %v", config, got.String(), fault, want.String(), err)
	}
}

// TestGitConfig: git and GitConfig read the same, whatever is written to look like
// something else.
func TestGitConfig(t *testing.T) {
	for _, config := range []string{
		"", "[core]\n\tbare = false\n\tpager\n", "\ufeff[core]\nhooksPath = h\r\n", "[submodule] [pager]\nbranch = x\n", "[a]b=c", "[a]b=c\\",
		"[submodule]\n# x \\\n[pager]\nbranch = x\n", "[submodule]\nurl = a\\\\\n[pager]\nbranch = x\n", "[submodule]\nurl = a ; x \\\n[pager]\nbranch = x\n",
		"[a]\nb = \"c\\\n d\" e\t\n", "[a]\nb = c\\q\nd = e\n", "[a]\nb = \"c\nd = e\n", "[A.B \"C\\\"]\"]\nD = E\n", "[a \"b\n\"]\nc = d\n", "[a]\nb = c\rd\x00e\n", "a = b\n", "[]\na = b\n", "[a]\n1 = b\n",
	} {
		held(t, config)
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"[a]", "[B.c]", "[d \"", "\"]", "[", "]", "e", "F-1", " = ", "=", "\"", "\\", "\\\"", "\\n", "\n", "\n", "\r\n", "\r", "#", ";", " ", "\t", "\ufeff", "\v", "é", ".", "_"})
		held(t, strings.Join(rapid.SliceOfN(part, 0, 16).Draw(t, "parts"), ""))
	})
}
