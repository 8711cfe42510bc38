package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of the README's section on an API do what it says, as they are,
// from a clone, in every environment.
func TestReadmeAPI(t *testing.T) {
	t.Parallel()
	if !inOwnInternet(t) {
		return
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## A skill that calls an API\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var script, want string
	for line := range strings.Lines(section) {
		if line, ok := strings.CutPrefix(line, "    "); ok {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				script += command
			} else {
				want += line
			}
		}
	}
	if !strings.Contains(script, "./skillrun --skill examples/skills/co2-api ") || want == "" {
		t.Fatalf("README.md shows no run of the skill: %q", section)
	}
	newInternet(t, nil)
	for _, s := range newSites(t, "{}", nil) {
		t.Run(s.name, func(t *testing.T) {
			work := filepath.Join(s.dir, "work")
			for _, words := range [][]string{{"cp", "-R", "../../examples", work}, {"cp", filepath.Join(s.dir, "../skillrun"), work}, {"chmod", "-R", "a+rX", work}} {
				if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v: %s", words, err, out)
				}
			}
			run := s
			run.words = s.outer
			if out, errs := run.start(t, false, "set -e\n"+script); out != want {
				t.Errorf("printed %q, want %q: %s", out, want, errs)
			}
			// Without the API there is nothing to tell.
			_, inner, _ := strings.Cut(script, " ./skillrun ")
			if out, errs := run.start(t, false, "./skillrun "+inner); out != "" || !strings.Contains(errs, "localhost:8321 does not answer") {
				t.Errorf("without the API: %q, %s", out, errs)
			}
		})
	}
}
