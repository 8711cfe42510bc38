package skill_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"skillrun/policy/skill"
	"skillrun/sandbox/sandboxtest"
)

func approvals(t testing.TB, dir string) *skill.Approvals {
	t.Helper()
	p, err := skill.OpenApprovals(dir)
	check(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

var made = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// approved makes a skill and an approval of it, and gives the paths of the
// record and of its tree.
func approved(t *testing.T) (s *skill.Skill, state, record, tree string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "odd\n\xff")
	write(t, dir, sampleTree)
	s, err := skill.Open(dir)
	check(t, err)
	entries, err := skill.Tree(t.Context(), s.Dir, nil, now)
	check(t, err)
	state = filepath.Join(t.TempDir(), "approvals")
	p := approvals(t, state)
	check(t, p.Put(skill.Approval{
		Skill: s.Name, Release: s.Version, Dir: skill.Path(s.Dir), Manifest: s.Manifest, Accepted: []string{"k1", "k2"},
		Allowed: []skill.Permission{{Capability: "web.fetch", Scope: []string{"b.example", "a.example"}}, {Capability: "filesystem.read"}},
		Hosts:   []string{"a.example"}, By: "u", Made: made, Until: made.AddDate(1, 0, 0),
	}, entries))
	files, err := filepath.Glob(state + "/*")
	check(t, err)
	if len(files) != 2 {
		t.Fatal(files)
	}
	return s, state, files[0], files[1]
}

func TestApproval(t *testing.T) {
	s, state, record, _ := approved(t)
	p := approvals(t, state)
	a, err := p.Find(s.Dir)
	check(t, err)
	tree := digest(t, s.Dir)
	want := &skill.Approval{
		Version: 1, Skill: "csv-report", Release: "1.2", Dir: skill.Path(s.Dir), Tree: tree, Manifest: s.Manifest, Accepted: []string{"k1", "k2"},
		Allowed: []skill.Permission{{Capability: "web.fetch", Scope: []string{"a.example", "b.example"}}, {Capability: "filesystem.read"}},
		Hosts:   []string{"a.example"}, By: "u", UID: os.Geteuid(), Made: made, Until: made.AddDate(1, 0, 0),
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Fatal(diff)
	}
	for _, path := range []string{state, record} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", path, st.Mode(), err)
		}
	}
	soon := made.Add(time.Hour)
	check(t, a.Holds(s, tree, soon))
	check(t, a.Holds(s, tree, a.Until.Add(-time.Microsecond)))
	changed := *s
	changed.Manifest[0] ^= 1
	moved := *s
	moved.Dir += "x"
	for name, err := range map[string]error{
		"another tree":     a.Holds(s, [32]byte{1}, soon),
		"another manifest": a.Holds(&changed, tree, soon),
		"another place":    a.Holds(&moved, tree, soon),
		"at its end":       a.Holds(s, tree, a.Until),
		"after its end":    a.Holds(s, tree, a.Until.AddDate(9, 0, 0)),
		"too early":        a.Holds(s, tree, made.AddDate(0, 0, -2)),
	} {
		if !errors.Is(err, skill.ErrOther) || (strings.Contains(err.Error(), "\n") || !utf8.ValidString(err.Error())) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none, err := p.Find(s.Dir + "/other"); none != nil || err != nil {
		t.Errorf("%v %v", none, err)
	}
	list, faults := p.List()
	if len(list) != 1 || len(faults) != 0 || list[0].ID() != filepath.Base(record)[:8] {
		t.Errorf("%v %v", list, faults)
	}
	check(t, p.Revoke(a.ID()))
	if gone, err := p.Find(s.Dir); gone != nil || err != nil {
		t.Errorf("%v %v", gone, err)
	}
	if left, _ := filepath.Glob(state + "/*"); len(left) != 0 {
		t.Error(left)
	}
	for _, bad := range []string{s.Dir, a.ID(), "", "../x"} {
		if p.Revoke(bad) == nil {
			t.Errorf("revoked %q", bad)
		}
	}
}

// reseal gives edited bytes a digest that fits, as an attacker would.
func reseal(data string) string {
	body, _, _ := strings.Cut(data, `,"sha256":"`)
	sum := sha256.Sum256([]byte(body))
	return body + `,"sha256":"` + hex.EncodeToString(sum[:]) + "\"}\n"
}

// A record that is not as it was written, or that others could have written,
// is an error and never an approval, nor "none".
func TestApprovalRefused(t *testing.T) {
	edit := func(f func(string) string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			check(t, err)
			check(t, os.WriteFile(path, []byte(f(string(b))), 0o600))
		}
	}
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, path string)
		want  string // "" is sound
	}{
		{"sound", func(*testing.T, string) {}, ""},
		{"edited", edit(func(s string) string { return strings.Replace(s, "filesystem.read", "filesystem.*", 1) }), "edited"},
		{"longer scope", edit(func(s string) string { return strings.Replace(s, "a.example", "*", 1) }), "edited"},
		{"digest edited", edit(func(s string) string { return s[:len(s)-5] + string(s[len(s)-5]^1) + s[len(s)-4:] }), "edited"},
		{"appended", edit(func(s string) string { return s + "\n" }), "edited"},
		{"cut", edit(func(s string) string { return s[:len(s)/2] }), "edited or cut"},
		{"cut short", edit(func(s string) string { return s[:20] }), "cut"},
		{"empty", edit(func(string) string { return "" }), "cut"},
		{"unknown key, resealed", edit(func(s string) string { return reseal(strings.Replace(s, `{"version"`, `{"all":true,"version"`, 1)) }), "unknown field"},
		{"other format, resealed", edit(func(s string) string { return reseal(strings.Replace(s, `"version":1`, `"version":2`, 1)) }), "format version 2"},
		{"other user, resealed", edit(func(s string) string { return reseal(strings.Replace(s, `"uid":`, `"uid":1`, 1)) }), "is of uid"},
		{"other skill, resealed", edit(func(s string) string { return reseal(strings.Replace(s, `"dir":"`, `"dir":"/x`, 1)) }), "under the name of another"},
		{"relative, resealed", edit(func(s string) string { return reseal(strings.Replace(s, `"dir":"/`, `"dir":"`, 1)) }), "no absolute"},
		{"short digest, resealed", edit(func(s string) string { return reseal(strings.Replace(s, `"tree":"`, `"tree":"0`, 1)) }), "64 digits"},
		{"link", func(t *testing.T, p string) {
			check(t, os.Rename(p, p+".real"))
			check(t, os.Symlink(p+".real", p))
		}, "symbolic link"},
		{"second name", func(t *testing.T, p string) { check(t, os.Link(p, p+".real")) }, "second name"},
		{"group can write", func(t *testing.T, p string) { check(t, os.Chmod(p, 0o620)) }, "written by others"},
		{"fifo", func(t *testing.T, p string) {
			check(t, os.Remove(p))
			check(t, unix.Mkfifo(p, 0o600))
		}, "not a regular file"},
		{"foreign", foreign, "belongs to uid"},
		{"huge", func(t *testing.T, p string) { check(t, os.Truncate(p, 5<<20)) }, "more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, state, record, _ := approved(t)
			tt.spoil(t, record)
			p := approvals(t, state)
			a, err := p.Find(s.Dir)
			if tt.want == "" {
				if a == nil || err != nil {
					t.Fatal(a, err)
				}
				return
			}
			if err == nil || a != nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%+v, %v, want %q", a, err, tt.want)
			}
			if list, faults := p.List(); len(list) != 0 || len(faults) != 1 {
				t.Errorf("listed %v, faults %v", list, faults)
			}
			// What cannot be believed can still be taken away.
			if err := p.Revoke(s.Dir); err != nil {
				t.Error(err)
			}
		})
	}
}

func foreign(t *testing.T, path string) {
	if os.Geteuid() != 0 {
		sandboxtest.Skip(t, sandboxtest.Root, "only root can make a file of another user; audit/private tests the check as any user")
	}
	check(t, os.Lchown(path, 12345, 12345))
}

func TestApprovalsDirectoryRefused(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"others can write": func(t *testing.T, dir string) { check(t, os.Chmod(dir, 0o702)) },
		"foreign":          foreign,
		"link": func(t *testing.T, dir string) {
			check(t, os.Rename(dir, dir+".real"))
			check(t, os.Symlink(dir+".real", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "approvals")
			approvals(t, dir) // the same, sound
			spoil(t, dir)
			if p, err := skill.OpenApprovals(dir); err == nil {
				p.Close()
				t.Error("taken")
			}
		})
	}
}

func TestApprovedFiles(t *testing.T) {
	s, state, _, tree := approved(t)
	p := approvals(t, state)
	a, err := p.Find(s.Dir)
	check(t, err)
	files, err := p.Files(a)
	check(t, err)
	want, err := skill.Tree(t.Context(), s.Dir, nil, now)
	check(t, err)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Fatal(diff)
	}
	b, err := os.ReadFile(tree)
	check(t, err)
	for name, data := range map[string]string{
		"one line less": string(b[strings.IndexByte(string(b), '\n')+1:]),
		"cut":           string(b[:len(b)-3]),
		"edited":        strings.Replace(string(b), "SKILL.md", "SKILL.mb", 1),
		"noise":         "x y z",
		"empty":         "",
	} {
		check(t, os.WriteFile(tree, []byte(data), 0o600))
		if _, err := p.Files(a); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// Writers at the same time leave one of their records, whole.
func TestApprovalsConcurrent(t *testing.T) {
	s, state, _, _ := approved(t)
	entries, err := skill.Tree(t.Context(), s.Dir, nil, now)
	check(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		p := approvals(t, state)
		wg.Go(func() {
			for range 10 {
				if err := p.Put(skill.Approval{Skill: s.Name, Dir: skill.Path(s.Dir), By: strings.Repeat("x", 1000*i), Made: made}, entries); err != nil {
					t.Error(err)
				}
				if a, err := p.Find(s.Dir); err != nil || a == nil {
					t.Error(a, err)
				}
			}
		})
	}
	wg.Wait()
	if left, _ := filepath.Glob(state + "/.*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func FuzzApproval(f *testing.F) {
	f.Add([]byte(`{"version":1,"dir":"/x"}`))
	f.Add([]byte(`{"version":1,"skill":"a","dir":"/\\xff","tree":"00","accepted":["a"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		p := approvals(t, dir)
		sum := sha256.Sum256([]byte("/x"))
		name := filepath.Join(dir, hex.EncodeToString(sum[:16])+".approval")
		for _, b := range [][]byte{data, []byte(reseal(strings.TrimSuffix(string(data), "}")))} {
			check(t, os.WriteFile(name, b, 0o600))
			if a, err := p.Find("/x"); err == nil && (a == nil || a.Dir != "/x" || a.Version != 1 || a.UID != os.Geteuid()) {
				t.Fatalf("took %q as %+v", b, a)
			}
		}
	})
}

func BenchmarkFindApproval(b *testing.B) {
	dir := bigSkill(b)
	entries, err := skill.Tree(b.Context(), dir, nil, now)
	check(b, err)
	state := b.TempDir()
	p := approvals(b, state)
	check(b, p.Put(skill.Approval{Skill: "x", Dir: skill.Path(dir), Accepted: []string{"a", "b"}, Allowed: []skill.Permission{{Capability: "web.fetch"}}, Made: made}, entries))
	for b.Loop() {
		p, err := skill.OpenApprovals(state)
		check(b, err)
		if a, err := p.Find(dir); a == nil || err != nil {
			b.Fatal(a, err)
		}
		p.Close()
	}
}
