package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// The tables that are compiled in are the ones that the data say.
func TestGeneratedTablesAreCurrent(t *testing.T) {
	for pkg, dir := range map[string]string{"profiles": "../", "scan": "../../policy/scan/"} {
		want, err := render(pkg, os.DirFS(dir+"data"))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			t.Fatalf("%s: no data files", pkg)
		}
		for name, text := range want {
			have, err := os.ReadFile(dir + name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(have)); diff != "" {
				t.Errorf("%s differs from data; run go generate %s\n%s", dir+name, dir, diff)
			}
		}
		stale, _ := os.ReadDir(dir)
		for _, e := range stale {
			if strings.HasSuffix(e.Name(), "_gen.go") && want[e.Name()] == nil {
				t.Errorf("%s has no data file", dir+e.Name())
			}
		}
	}
}

func TestEveryRowNeedsAReason(t *testing.T) {
	for name, text := range map[string]string{
		"missing": "[[store]]\npath = \"~/.x\"\n",
		"empty":   "[[store]]\npath = \"~/.x\"\nreason = \"  \"\n",
		"wrong":   "[[store]]\npath = \"~/.x\"\nreason = 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := render("p", fstest.MapFS{"x.toml": {Data: []byte(text)}})
			if err == nil || !strings.Contains(err.Error(), "x.toml: store 1: no reason") {
				t.Errorf("error %v, want one about the reason", err)
			}
		})
	}
	files, err := render("p", fstest.MapFS{"x.toml": {Data: []byte("[[store]]\npath = \"~/.x\"\nreason = \"why\"\nsource = \"peers\"\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(files["x_gen.go"]); !strings.Contains(got, `{Path: "~/.x", Reason: "why"}`) {
		t.Errorf("rendered %s", got)
	}
}

func TestRowsWithNamesAreComplete(t *testing.T) {
	const first = "[[command]]\nnames = [\"a\"]\nreason = \"r\"\nexample = \"a\"\nexpect = []\n"
	const whole = "[[command]]\nnames = [\"x\"]\nreason = \"r\"\nexample = \"x\"\nexpect = []\n"
	for _, missing := range []string{"", "names", "reason", "example", "expect"} {
		text := first
		for _, line := range strings.SplitAfter(whole, "\n") {
			if missing == "" || !strings.HasPrefix(line, missing) {
				text += line
			}
		}
		files, err := render("p", fstest.MapFS{"x.toml": {Data: []byte(text)}})
		if (err == nil) != (missing == "") {
			t.Errorf("without %q: error %v", missing, err)
		}
		if missing == "" && !strings.Contains(string(files["x_gen.go"]), "{\"a\", 0},\n\t{\"x\", 1},") {
			t.Errorf("rendered %s", files["x_gen.go"])
		}
	}
}
