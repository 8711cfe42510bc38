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
	if len(want) != len(tables) {
		t.Fatalf("%d files", len(want))
	}
	for name, text := range want {
		have, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), string(have)); diff != "" {
			t.Errorf("%s differs from data; run go generate ./policy/scan\n%s", name, diff)
		}
	}
}

func TestEveryRowIsComplete(t *testing.T) {
	const whole = "[[command]]\nnames = [\"x\"]\nreason = \"r\"\nexample = \"x\"\nexpect = []\n"
	for _, missing := range []string{"", "names", "reason", "example", "expect"} {
		text := ""
		for _, line := range strings.SplitAfter(whole, "\n") {
			if missing == "" || !strings.HasPrefix(line, missing) {
				text += line
			}
		}
		_, err := render(fstest.MapFS{"commands.toml": {Data: []byte(text)}, "calls.toml": {}})
		if (err == nil) != (missing == "") {
			t.Errorf("without %q: error %v", missing, err)
		}
	}
}
