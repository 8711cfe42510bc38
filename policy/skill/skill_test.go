package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"skillrun/policy"
	"skillrun/policy/skill"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes files beneath dir: "path" -> contents; a path that ends in "/" is
// a directory, contents that begin with "-> " a link.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, data := range files {
		path = filepath.Join(dir, path)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(data, "-> "); ok {
			check(t, os.Symlink(target, path))
			continue
		}
		check(t, os.WriteFile(path, []byte(data), 0o644))
	}
}

const header = "---\nname: csv-report\ndescription: reports\nversion: '1.2'\n---\nbody\n"

func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		name  string
		dir   string // beneath a temporary directory; "" is "s"
		files map[string]string
		spoil func(t *testing.T, dir string)
		want  string // "NAME VERSION: FILES", or the error's end after "error: "
	}{
		{name: "ordinary", files: map[string]string{"SKILL.md": header, "skillguard-manifest.json": "{}"}, want: "csv-report 1.2: skillguard-manifest.json SKILL.md"},
		{name: "nothing in it", files: map[string]string{"x": ""}, want: "s : "},
		{name: "both headers", files: map[string]string{"SKILL.md": header, "skill.md": "---\nname: other\n---\n"}, want: "csv-report 1.2: SKILL.md skill.md"},
		{name: "newline in the name", dir: "a\nb", files: map[string]string{"SKILL.md": header}, want: "csv-report 1.2: SKILL.md"},
		{name: "invalid UTF-8 in the name", dir: "\xff\xfe", files: map[string]string{"SKILL.md": ""}, want: "\xff\xfe : SKILL.md"},
		{name: "missing", dir: "gone", want: "error: no such directory"},
		{name: "dangling link", dir: "link", files: nil, spoil: func(t *testing.T, dir string) { check(t, os.Symlink("gone", dir)) }, want: "error: no such directory"},
		{name: "link loop", dir: "loop", spoil: func(t *testing.T, dir string) { check(t, os.Symlink("loop", dir)) }, want: "error: too many links"},
		{name: "a file", files: map[string]string{"SKILL.md": header}, dir: "s/SKILL.md", want: "error: is a file; name the directory that holds SKILL.md"},
		{name: "manifest is a link inside", files: map[string]string{"m": "{}", "manifest.json": "-> m"}, want: "s : manifest.json"},
		{name: "manifest leads out", files: map[string]string{"manifest.json": "-> ../outside"}, spoil: outside, want: "is a symbolic link that does not lead to a file of the skill"},
		{name: "manifest leads out and in", files: map[string]string{"m": "{}", "manifest.json": "-> ../s/m"}, want: "is a symbolic link that does not lead to a file of the skill"},
		{name: "manifest is absolute", files: map[string]string{"SKILL.md": "-> /etc/passwd"}, want: "is a symbolic link that does not lead to a file of the skill"},
		{name: "manifest dangles", files: map[string]string{"skillrun.toml": "-> gone"}, want: "is a symbolic link that does not lead to a file of the skill"},
		{name: "manifest is a directory", files: map[string]string{"skillrun.toml/x": ""}, want: "skillrun.toml: is not a regular file"},
		{name: "manifest is a fifo", files: map[string]string{"x": ""}, spoil: func(t *testing.T, dir string) { check(t, unix.Mkfifo(dir+"/manifest.json", 0o600)) }, want: "manifest.json: is not a regular file"},
		{name: "manifest is huge", files: map[string]string{"manifest.json": strings.Repeat(" ", skill.MaxManifest+1)}, want: "manifest.json: is larger than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "s")
			if tt.dir != "" && !strings.HasPrefix(tt.dir, "s/") {
				dir = filepath.Join(top, tt.dir)
			}
			write(t, dir, tt.files)
			if tt.spoil != nil {
				tt.spoil(t, dir)
			}
			if strings.HasPrefix(tt.dir, "s/") {
				dir = filepath.Join(top, tt.dir)
			}
			s, err := skill.Open(dir)
			if err != nil {
				if !strings.HasSuffix(err.Error(), strings.TrimPrefix(tt.want, "error: ")) && !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("%v, want %s", err, tt.want)
				}
				if strings.Contains(err.Error(), "\n") || !utf8.ValidString(err.Error()) {
					t.Fatalf("raw bytes in %q", err)
				}
				return
			}
			got := s.Name + " " + s.Version + ":"
			for _, f := range s.Files {
				got += " " + f.Name
			}
			if strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
				t.Fatalf("%q, want %q", got, tt.want)
			}
		})
	}
}

func outside(t *testing.T, dir string) {
	check(t, os.WriteFile(filepath.Join(filepath.Dir(dir), "outside"), []byte("{}"), 0o600))
}

// A file with nearly the name of a manifest is not read, and that is told.
func TestMisnamed(t *testing.T) {
	for name, want := range map[string]string{
		"skillguard_manifest.json":        "skillguard-manifest.json",
		"SkillGuard-Manifest.json":        "skillguard-manifest.json",
		"skillguard-manifest.yaml":        "skillguard-manifest.json, and be JSON",
		"skillguard-manifests.json":       "skillguard-manifest.json",
		"skillguard.json":                 ".skillguard.json",
		".skillguard.toml":                ".skillguard.json, and be JSON",
		"skillrun.yml":                    "skillguard-manifest.json, and be JSON",
		"skillrun.tml":                    "skillrun.toml",
		"Skillrun.toml":                   "skillrun.toml",
		"skill-run.toml":                  "skillrun.toml",
		"Skill.md":                        "SKILL.md",
		"skillrun":                        "",
		"skillrun.py":                     "",
		"skillrun.toml.bak":               "",
		"skillguard-manifest.schema.json": "",
		"package.json":                    "",
		"manifest.jsonc":                  "",
		"skills.md":                       "",
		"skillrun.toml":                   "",
		"skill.md":                        "",
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{name: "permissions = []\n"})
		s, err := skill.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, f := range s.Misnamed {
			got += f.What
		}
		if want != "" {
			want = "not read: to count, it would have to be called " + want
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"skillrun.toml": "", "Skillrun.toml": ""})
	s, err := skill.Open(dir)
	if err != nil || len(s.Misnamed) != 0 {
		t.Error(s.Misnamed, err)
	}
}

// The resolved directory is what counts.
func TestOpenThroughLink(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	write(t, top, map[string]string{"real/SKILL.md": header, "roots/csv": "-> ../real"})
	s, err := skill.Open(top + "/roots/csv")
	check(t, err)
	if s.Dir != top+"/real" {
		t.Fatalf("%+v", s)
	}
}

func TestDescribe(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "d ",
		"# title\n":                           "d ",
		"---\nname: a\n---\nname: b":          "a ",
		"---\r\nname: a\r\nversion: 2\r\n---": "a 2",
		"\ufeff---\nname: \"a b\" \n":         "a b ",
		"---\nother:\n  version: 9\nname: a\n---\n":      "a ",
		"---\ndescription:\"broken yaml\nname: x\n---\n": "x ",
	} {
		dir := filepath.Join(t.TempDir(), "d")
		write(t, dir, map[string]string{"SKILL.md": in})
		s, err := skill.Open(dir)
		check(t, err)
		if got := s.Name + " " + s.Version; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestDocuments(t *testing.T) {
	const manifest = `{"skill_metadata":{"name":"m"},"permissions":[
	{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}},
	{"capability":"web.fetch","constraints":{"resource_scope":["b.example","a.example"]}},
	{"capability":"web.post","effect":"deny"},
	{"capability":"secrets.read","constraints":{"resource_scope":[]}}]}`
	const tools = "---\nname: a\nallowed-tools: Read\n---\n"
	dir := t.TempDir()
	write(t, dir, map[string]string{"skillguard-manifest.json": manifest, "SKILL.md": tools})
	s, err := skill.Open(dir)
	check(t, err)
	docs, err := s.Documents()
	if err != nil || len(docs) != 2 || docs[0].Form != policy.JSON || docs[1].Form != policy.Header {
		t.Fatalf("%v %v", docs, err)
	}
	want := []skill.Permission{
		{Capability: "filesystem.read", Terms: "workspace_only"},
		{Capability: "web.fetch", Scope: []string{"a.example", "b.example"}},
	}
	if diff := cmp.Diff(want, skill.Permissions(docs[0].Entries)); diff != "" {
		t.Error(diff)
	}

	// Two headers give rights to neither, and say so.
	write(t, dir, map[string]string{"skill.md": tools})
	s, err = skill.Open(dir)
	check(t, err)
	if docs, err = s.Documents(); err != nil || len(docs) != 1 || len(s.Findings) != 1 || !strings.Contains(s.Findings[0].String(), "both") {
		t.Errorf("%v %v %v", docs, err, s.Findings)
	}

	// A fault has its place, in a file whose name cannot forge another line.
	odd := filepath.Join(t.TempDir(), "a\nb")
	write(t, odd, map[string]string{"skillguard-manifest.json": "{\"permissions\":[\n{\"capability\":\"no.such\"}]}"})
	s, err = skill.Open(odd)
	check(t, err)
	if _, err = s.Documents(); err == nil || !strings.Contains(err.Error(), `a\nb/skillguard-manifest.json:2:`) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q", err)
	}
}

func TestManifestDigest(t *testing.T) {
	digest := func(files map[string]string) [32]byte {
		dir := t.TempDir()
		write(t, dir, files)
		s, err := skill.Open(dir)
		check(t, err)
		return s.Manifest
	}
	seen := map[[32]byte]string{}
	for name, files := range map[string]map[string]string{
		"none":      {},
		"empty":     {"SKILL.md": ""},
		"lower":     {"skill.md": ""},
		"a":         {"SKILL.md": "a"},
		"b":         {"SKILL.md": "b"},
		"json":      {"manifest.json": "a"},
		"json+md":   {"manifest.json": "a", "SKILL.md": "b"},
		"md+json":   {"manifest.json": "b", "SKILL.md": "a"},
		"shifted":   {"manifest.json": "ab", "SKILL.md": ""},
		"unrelated": {"skillguard-manifest.json": "a"},
	} {
		d := digest(files)
		if other, dup := seen[d]; dup {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
		if d != digest(files) {
			t.Errorf("%s has two digests", name)
		}
	}
	if digest(map[string]string{"SKILL.md": "a"}) != digest(map[string]string{"SKILL.md": "a", "scripts/x.py": "pass"}) {
		t.Error("other files count")
	}
}

var now = time.Now().Add(3 * time.Second) // the files of the tests are old enough by then
