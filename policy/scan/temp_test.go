package scan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/policy/scan"
)

// A temporary name elsewhere than where these are made unasked is made there, and opened
// to be read and written: in a directory, since it has no other name in the text.
func TestTemporary(t *testing.T) {
	const py, js = "import os, sys, tempfile\nfrom pathlib import Path\n", "const fs = require('fs'), os = require('os'), path = require('path');\n"
	for _, row := range []struct {
		lang, text string
		want       []string
	}{
		{"python", py + "p = Path('d/a')\nfd, tmp = tempfile.mkstemp(dir=p.parent)\nos.replace(tmp, p)", []string{"filesystem.read d", "filesystem.write d", "filesystem.delete ?", "filesystem.write d/a"}},
		{"python", py + "tempfile.mkstemp(dir=os.path.dirname('a'))", []string{"filesystem.read .", "filesystem.write ."}},
		{"python", py + "tempfile.mkdtemp('', 'x', '/d')", []string{"filesystem.read /d", "filesystem.write /d"}},
		{"python", py + "tempfile.mkdtemp(dir=Path('/a').parent)", []string{"filesystem.read /", "filesystem.write /"}},
		{"python", py + "with tempfile.TemporaryDirectory(prefix='x', dir='d') as t: pass", []string{"filesystem.read d", "filesystem.write d"}},
		{"python", py + "tempfile.NamedTemporaryFile('w', -1, None, None, '', 'x', 'd')", []string{"filesystem.read d", "filesystem.write d"}},
		{"python", py + "tempfile.NamedTemporaryFile('w', dir='d' if sys.argv else None, delete=False)", []string{"filesystem.read d", "filesystem.write d"}},
		{"python", py + "def f(d=None):\n  tempfile.mkstemp(dir=d)\nf(sys.argv[1])", []string{"filesystem.read ?", "filesystem.write ?"}},
		{"python", py + "tempfile.mkdtemp(dir=None)\ntempfile.mkstemp('.txt', 'x')\ntempfile.NamedTemporaryFile('w', suffix='.txt')", nil},
		{"python", py + "tempfile.mkdtemp(dir=tempfile.gettempdir())\ntempfile.mkdtemp(dir=Path(tempfile.mkdtemp()) / 'a')", nil},
		{"javascript", js + "fs.mkdtempSync(path.join('d', 'x-'))", []string{"filesystem.read d", "filesystem.write d"}},
		{"javascript", js + "fs.promises.mkdtemp('x-')", []string{"filesystem.read .", "filesystem.write ."}},
		{"javascript", js + "fs.mkdtempSync(path.join(process.argv[2], 'x-'))", []string{"filesystem.read ?", "filesystem.write ?"}},
		{"javascript", js + "fs.mkdtempSync(path.join(os.tmpdir(), 'x-'))", nil},
		{"javascript", js + "fs.mkdtempSync(`${os.tmpdir()}/x-`)", nil},
		{"javascript", js + "fs.mkdtempSync(os.tmpdir() + path.sep + 'x-')", nil},
	} {
		if diff := cmp.Diff(row.want, spell(scan.Source(row.lang, row.text, scan.Env{})), cmpEmpty); diff != "" {
			t.Errorf("%s\n%s", row.text, diff)
		}
	}
}

// What is done to a temporary file is known as the run's own, as long as nothing else
// may be meant.
func TestOwn(t *testing.T) {
	for _, row := range []struct {
		text string
		own  bool
	}{
		{`T=$(mktemp); echo x > "$T"; rm "$T"`, true},
		{`T=$(mktemp -d); rm -rf "$T" $T/a "$T"/*`, true},
		{`T=$(mktemp /tmp/x.XXXX) && trap 'rm -f "$T"' EXIT`, true},
		{`T=$(mktemp -d "${TMPDIR:-/tmp}/x.XXXX"); cd "$T"; rm a; cd b && rm c; cd - && rm d`, true},
		{`rm "$(mktemp -t x.XXXX)"`, true},
		{`(cd $(mktemp -d) && rm a)`, true},
		{`python3 -c "import os, tempfile; d = tempfile.mkdtemp(); os.remove(os.path.join(d, 'x')); os.rmdir(d)"`, true},
		{`T=$(mktemp); mv "$T" dir/`, true},
		{`T=$(mktemp); mv "$T" x`, false}, // x is deleted
		{`T=$(mktemp -d); rm -rf "$T/../x"`, false},
		{`T=$(mktemp -d); rm -rf "$T/$x"`, false},
		{`T=$(mktemp -d); cd $T; rm ../x`, false},
		{`T=$(mktemp -d); cd $T/..; rm x`, false},
		{`T=$(mktemp -d); cd $T; rm /w/x`, false},
		{`T=$(mktemp -d); cd $T; cd -; rm x`, false},
		{`T=$(mktemp -d); if a; then cd $T; fi; rm x`, false},
		{`T=$(mktemp); rm $T; T=$(cat list); rm $T`, false},
		{`T=$(mktemp); rm x$T`, false},
		{`T=$(mktemp -p .); rm $T`, false},
		{`T=$(mktemp --tmpdir=d); rm $T`, false},
		{`T=$(mktemp x.XXXX); rm $T`, false},
		{`T=$(mktemp /tmp/../w/x.XXXX); rm $T`, false},
		{`mktemp() { echo x; }; rm $(mktemp)`, false},
		{`T=$(mktemp; echo x); rm $T`, false},
		{`python3 -c "import os, sys, tempfile; d = tempfile.mkdtemp(); os.remove(os.path.join(d, sys.argv[1]))"`, false},
		{`python3 -c "import os, tempfile; d = tempfile.mkdtemp(); os.remove(os.path.join(d, '../x'))"`, false},
	} {
		own, some := true, false
		for _, n := range scan.Command(row.text, scan.Env{}).Needs {
			if n.Capability == "filesystem.delete" {
				own, some = own && n.Own, true
			}
		}
		if own != row.own || !some {
			t.Errorf("%s: its own: %v, want %v", row.text, own, row.own)
		}
	}
	for _, n := range scan.Command(`T=$(mktemp); bash "$T"`, scan.Env{}).Needs {
		if n.Own {
			t.Errorf("%s is its own", n.Capability)
		}
	}
}
