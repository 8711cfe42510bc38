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
	want, err := render(os.DirFS("../data"))
	if err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 {
		t.Fatal("no data files")
	}
	for name, text := range want {
		have, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), string(have)); diff != "" {
			t.Errorf("%s differs from data; run go generate ./profiles\n%s", name, diff)
		}
	}
	stale, _ := os.ReadDir("..")
	for _, e := range stale {
		if strings.HasSuffix(e.Name(), "_gen.go") && want[e.Name()] == nil {
			t.Errorf("%s has no data file", e.Name())
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
			_, err := render(fstest.MapFS{"x.toml": {Data: []byte(text)}})
			if err == nil || !strings.Contains(err.Error(), "x.toml: store 1: no reason") {
				t.Errorf("error %v, want one about the reason", err)
			}
		})
	}
	files, err := render(fstest.MapFS{"x.toml": {Data: []byte("[[store]]\npath = \"~/.x\"\nreason = \"why\"\nsource = \"peers\"\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(files["x_gen.go"]); !strings.Contains(got, `{Path: "~/.x", Reason: "why"}`) {
		t.Errorf("rendered %s", got)
	}
}
