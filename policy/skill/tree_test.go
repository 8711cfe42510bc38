package skill_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"skillrun/audit/private"
	"skillrun/policy/skill"
)

// memory is a Cache that counts.
type memory struct {
	m            map[[32]byte][32]byte
	hits, stores int
}

func (c *memory) Lookup(k [32]byte) ([32]byte, bool) {
	v, ok := c.m[k]
	if ok {
		c.hits++
	}
	return v, ok
}

func (c *memory) Store(k, v [32]byte) {
	if c.m == nil {
		c.m = map[[32]byte][32]byte{}
	}
	c.m[k] = v
	c.stores++
}

func digest(t testing.TB, dir string) [32]byte {
	t.Helper()
	entries, err := skill.Tree(context.Background(), dir, nil, now)
	check(t, err)
	return skill.Digest(entries)
}

var sampleTree = map[string]string{
	"SKILL.md": header, "scripts/a.py": "print(1)", "scripts/b.sh": "echo", "a-b": "", "a/b": "", "link": "-> SKILL.md", "odd\n\xff": "x",
}

// Every change that a program could notice changes the digest; a copy elsewhere
// has the same.
func TestTreeDigest(t *testing.T) {
	base := t.TempDir()
	write(t, base, sampleTree)
	want := digest(t, base)
	for _, tt := range []struct {
		name   string
		change func(dir string) error
		same   bool
	}{
		{"copy", func(string) error { return nil }, true},
		{"times", func(d string) error { return os.Chtimes(d+"/SKILL.md", time.Unix(1, 0), time.Unix(1, 0)) }, true},
		{"read bits", func(d string) error { return os.Chmod(d+"/SKILL.md", 0o600) }, true},
		{"executable", func(d string) error { return os.Chmod(d+"/scripts/b.sh", 0o755) }, false},
		{"executable by others only", func(d string) error { return os.Chmod(d+"/scripts/b.sh", 0o645) }, false},
		{"contents", func(d string) error { return os.WriteFile(d+"/SKILL.md", []byte("x"), 0o644) }, false},
		{"emptied", func(d string) error { return os.Truncate(d+"/odd\n\xff", 0) }, false},
		{"new file", func(d string) error { return os.WriteFile(d+"/.hidden", nil, 0o644) }, false},
		{"new directory", func(d string) error { return os.Mkdir(d+"/empty", 0o755) }, false},
		{"file in .git", func(d string) error { return os.Mkdir(d+"/.git", 0o755) }, false},
		{"removed", func(d string) error { return os.Remove(d + "/a-b") }, false},
		{"renamed", func(d string) error { return os.Rename(d+"/a-b", d+"/a-c") }, false},
		{"link target", func(d string) error {
			return errors.Join(os.Remove(d+"/link"), os.Symlink("scripts/a.py", d+"/link"))
		}, false},
		{"link becomes a file of the same bytes", func(d string) error {
			return errors.Join(os.Remove(d+"/link"), os.WriteFile(d+"/link", []byte("SKILL.md"), 0o644))
		}, false},
		{"file becomes a directory", func(d string) error { return errors.Join(os.Remove(d+"/a-b"), os.Mkdir(d+"/a-b", 0o755)) }, false},
	} {
		dir := t.TempDir()
		write(t, dir, sampleTree)
		check(t, tt.change(dir))
		if got := digest(t, dir); (got == want) != tt.same {
			t.Errorf("%s: same digest %v, want %v", tt.name, got == want, tt.same)
		}
	}
}

// The definition, written out.
func TestTreeDigestDefinition(t *testing.T) {
	content := sha256.Sum256([]byte("hi"))
	bytes := "skillrun-tree 1\n" +
		"d" + "\x00\x00\x00\x00\x00\x00\x00\x01" + "d" + "\x00\x00\x00\x00\x00\x00\x00\x00" + string(make([]byte, 32)) +
		"x" + "\x00\x00\x00\x00\x00\x00\x00\x03" + "d/f" + "\x00\x00\x00\x00\x00\x00\x00\x02" + string(content[:])
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/f": "hi"})
	check(t, os.Chmod(dir+"/d/f", 0o755))
	if digest(t, dir) != sha256.Sum256([]byte(bytes)) {
		t.Error("the digest is not as defined")
	}
}

func TestTreeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(dir string) error
	}{
		{"fifo", func(d string) error { return unix.Mkfifo(d+"/f", 0o600) }},
		{"socket", func(d string) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			here, err := os.Getwd()
			if err != nil {
				return err
			}
			defer os.Chdir(here) // a socket's path is short
			return errors.Join(os.Chdir(d), unix.Bind(fd, &unix.SockaddrUnix{Name: "s"}))
		}},
		{"too deep", func(d string) error {
			for range skill.MaxDepth + 1 {
				d += "/d"
			}
			return os.MkdirAll(d, 0o755)
		}},
		{"too large", func(d string) error {
			return errors.Join(os.WriteFile(d+"/hole", nil, 0o600), os.Truncate(d+"/hole", skill.MaxBytes))
		}},
	} {
		dir := t.TempDir()
		write(t, dir, sampleTree)
		if _, err := skill.Tree(context.Background(), dir, nil, now); err != nil {
			t.Fatal(err)
		}
		check(t, tt.spoil(dir))
		if _, err := skill.Tree(context.Background(), dir, nil, now); err == nil {
			t.Errorf("%s: has a digest", tt.name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	write(t, dir, sampleTree)
	if _, err := skill.Tree(ctx, dir, nil, now); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The cache never changes an answer: after any edit, by any order of looks,
// the digest is that of a cold read.
func TestTreeCache(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		begun := time.Now()
		dir, err := os.MkdirTemp("", "tree")
		check(t, err)
		defer os.RemoveAll(dir)
		write(t, dir, sampleTree)
		var c memory
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			file := filepath.Join(dir, rapid.SampledFrom([]string{"SKILL.md", "scripts/a.py", "a/b", "new"}).Draw(rt, "file"))
			switch rapid.IntRange(0, 3).Draw(rt, "edit") {
			case 0: // same length, times set back
				st, err := os.Stat(file)
				if err != nil {
					continue
				}
				check(t, os.WriteFile(file, []byte(rapid.StringMatching(`[a-z]{8}`).Draw(rt, "data")), 0o644))
				check(t, os.Chtimes(file, st.ModTime(), st.ModTime()))
			case 1:
				check(t, os.WriteFile(file, []byte(rapid.String().Draw(rt, "data")), 0o644))
			case 2:
				if _, err := os.Stat(file); err == nil {
					check(t, os.Chmod(file, os.FileMode(0o644|rapid.IntRange(0, 1).Draw(rt, "x"))))
				}
			}
			later := time.Now().Add(3 * time.Second)
			want := digest(t, dir)
			if got, ok, err := skill.Cached(dir, &c, later); err != nil || ok && got != want {
				rt.Fatalf("cached %x, cold %x, %v", got, want, err)
			}
			if now := time.Now(); now.Sub(begun) > 2*time.Second {
				// Nothing may have changed for so long.
			} else if _, ok, _ := skill.Cached(dir, &c, now); ok {
				rt.Fatal("believed within 2 s of a change")
			}
			if _, err := skill.Tree(context.Background(), dir, &c, later); err != nil {
				rt.Fatal(err)
			}
			if got, ok, err := skill.Cached(dir, &c, later); err != nil || (!ok || got != want) && shown(dir) {
				rt.Fatalf("warm: %x %v %v, want %x", got, ok, err, want)
			}
		}
	})
	var c memory
	// Of what the kernel makes up, times of change say nothing.
	if _, err := skill.Tree(context.Background(), "/proc/sys/user", &c, time.Now().Add(time.Hour)); err == nil && c.stores != 0 {
		t.Error("a tree without times of change was stored")
	}
	dir := t.TempDir()
	write(t, dir, sampleTree)
	if _, err := skill.Tree(context.Background(), dir, &c, time.Now()); err != nil || c.stores != 0 {
		t.Fatalf("a tree that changed just now was stored (%d, %v)", c.stores, err)
	}
}

// shown says whether digests of trees in dir are ever kept.
func shown(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	return private.Shown(int(f.Fd()))
}

func bigSkill(b *testing.B) string {
	dir := b.TempDir()
	files := map[string]string{"SKILL.md": header}
	for i := range 199 {
		files[fmt.Sprintf("d%d/file%d.py", i%12, i)] = string(make([]byte, 4000))
	}
	write(b, dir, files)
	return dir
}

func BenchmarkTreeWarm200(b *testing.B) {
	dir := bigSkill(b)
	var c memory
	if _, err := skill.Tree(b.Context(), dir, &c, time.Now().Add(time.Minute)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok, err := skill.Cached(dir, &c, time.Now().Add(time.Minute)); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkTreeCold200(b *testing.B) {
	dir := bigSkill(b)
	for b.Loop() {
		if _, err := skill.Tree(b.Context(), dir, nil, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := bigSkill(b)
	for b.Loop() {
		if _, err := skill.Open(dir); err != nil {
			b.Fatal(err)
		}
	}
}
