package scan_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/policy/scan"
)

// TestCalled holds that scripts which go by their own place are read for it, and what
// only looks as if it were one is not taken for it.
func TestCalled(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), Mode: 0o755} }
	const bash, sh = "#!/usr/bin/env bash\n", "#!/bin/sh\n"
	for _, row := range []struct{ command, script, want string }{
		// The usual ways to find it.
		{"./scripts/x.sh", bash + `cd "$(dirname "$0")/.."; rm -rf dist`, "dist"},
		{"./scripts/x.sh", sh + `cd "$(dirname "$0")/.."; rm -rf dist`, "dist"},
		{"sh scripts/x.sh", sh + `cd "$(dirname -- "$0")" && rm out`, "?out"}, // "--" is not looked at
		{"cd scripts && ./x.sh", bash + `cd "$(dirname "$0")/.."; rm -rf dist`, "dist"},
		{"bash scripts/x.sh", bash + `D="$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null 2>&1 && pwd)"; R=$(dirname "$D"); cd /; rm "$R/a"`, "/ws/a"},
		{"scripts/x.sh", bash + `D=$(cd "$(dirname "$BASH_SOURCE")"; pwd -P); rm "$D/a"`, "/ws/scripts/a"},
		{"scripts/x.sh", bash + `main() { cd "$(dirname "$0")"; rm a; }; main`, "scripts/a"},
		{"scripts/x.sh", bash + `. "$(dirname "$0")/lib.sh"`, "made; scripts/of-lib"},
		// A relative name goes from where the shell is by then.
		{"scripts/x.sh", bash + `cd /etc; rm "$(dirname "$0")/a"`, "/etc/scripts/a"},
		{"rm a", "", "a"},
		{`D=$(pwd); cd /etc; rm "$D/a"`, "", "/ws/a"},
		{`D=$PWD; cd scripts; rm "$D/a"`, "", "/ws/a"},
		// What is not the script's own place.
		{"scripts/x.sh", sh + `rm "$(dirname "$BASH_SOURCE")/a"`, "?"},
		{"sh scripts/x.sh", bash + `rm "$(dirname "$BASH_SOURCE")/a"`, "?"},
		{"zsh scripts/x.sh", bash + `rm "$(dirname "$0")/a"`, "?"},
		{"scripts/x.sh", "#!/bin/zsh\n" + `f() { rm "$(dirname "$0")/a"; }; f`, "?"},
		{"cat scripts/x.sh | bash", bash + `rm "$(dirname "$0")/a"`, "?"},
		{"scripts/x.sh", bash + `bash -c 'rm "$(dirname "$0")/a"'`, "?"},
		{"scripts/x.sh", bash + `BASH_ARGV0=/etc/x; rm "$(dirname "$0")/a"`, "?"},
		{"scripts/x.sh", bash + `dirname() { echo /etc; }; rm "$(dirname "$0")/a"`, "?"},
		{"scripts/x.sh", bash + `alias dirname=echo; rm "$(dirname "$0")/a"`, "?"},
		{"scripts/x.sh", bash + `rm "$(dirname "$0" | tr s /)/a"`, "?"},
		{"scripts/x.sh", bash + `rm "$(cd "$(dirname "$0")/none" && pwd)/a"`, "?"}, // prints nothing
		{"scripts/x.sh", bash + `rm "$(cd - && pwd)/a"`, "?"},
		{`CDPATH=/etc; cd scripts; rm a`, "", "?a"},
		{`CDPATH=/etc; cd ./scripts; rm a`, "", "scripts/a"},
	} {
		env := scan.Env{Dir: "/ws", Roots: []string{"/ws"}, Home: "/home/u", FS: fstest.MapFS{
			"ws/scripts/x.sh": file(row.script), "ws/scripts/lib.sh": file("rm made; rm \"$(dirname \"${BASH_SOURCE[0]}\")/of-lib\"\n"), "etc/passwd": file(""),
		}}
		var got []string
		for _, n := range scan.Command(row.command, env).Needs {
			switch {
			case n.Capability != "filesystem.delete":
			case n.Exact:
				got = append(got, n.Target)
			case strings.ContainsAny(n.Target, "$/") || n.Target == "":
				got = append(got, "?")
			default:
				got = append(got, "?"+n.Target)
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, "; "); s != row.want {
			t.Errorf("%s\n%s\n\tdeletes %q, want %q", row.command, row.script, s, row.want)
		}
	}
}
