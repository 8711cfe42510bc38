package profiles_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestGitDirectories: a ".git" file leads where it leads git.
func TestGitDirectories(t *testing.T) {
	for text, want := range map[string]string{
		"gitdir: r": "/w/r", "gitdir: r\r\n\n": "/w/r", "gitdir: /w/r\n": "/w/r", "gitdir: r\x00/x\n": "/w/r", "gitdir: r\n\x00": "/w/r\n",
		"gitdir: r" + strings.Repeat("\n", 1<<20-9): "/w/r", "gitdir: r" + strings.Repeat("\n", 1<<20-8): "", // git reads no more
		"gitdir:r\n": "", "\ngitdir: r\n": "", "": "",
	} {
		h := machine("/w/.git", "/w/r/HEAD")
		h.FS.(fstest.MapFS)["w/.git"].Data = []byte(text)
		if dir, common := h.GitDirectories("/w/.git"); dir != want || common != want {
			t.Errorf("%.20q: %q, %q, want %q", text, dir, common, want)
		}
	}
}
