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
