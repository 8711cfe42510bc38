// Package skill reads skills from the disk: their files and manifests, a digest
// of the whole tree, where they were found and how far that makes them trusted,
// and what the user approved of which version.
//
// Nothing here runs, and nothing believes what a skill says about itself.
package skill

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// MaxManifest is the size, in bytes, above which a manifest or SKILL.md is
// refused: 1 MiB.
const MaxManifest = 1 << 20

// Skill is a skill as it lies on the disk.
type Skill struct {
	Given  string // the directory as named by the caller
	Dir    string // absolute, links followed: rules and digests are about this one
	Linked bool   // Given leads there through a symbolic link
	// Name is for display: what SKILL.md says, else the directory's name.
	// Version may be "".
	Name, Version string
	// Files are SKILL.md and the manifests that are there, in the order
	// that Open was asked for.
	Files []File
	// Manifest is the digest over Files; see [Skill.File].
	Manifest [32]byte
}

// File is a file of the skill that states rights.
type File struct {
	Name string
	Data []byte
}

// headerNames are the files with a header, preferred first.
var headerNames = [...]string{"SKILL.md", "skill.md"}

// Open reads the skill in dir: the manifests by the names given (without
// slashes, strongest first) and SKILL.md or skill.md. It fails if the directory
// or one of those files is there and cannot be read, is no regular file, leads
// out of the skill, or is larger than MaxManifest. A skill without any of them
// is a skill.
func Open(dir string, manifests []string) (*Skill, error) {
	s := &Skill{Given: dir}
	fail := func(err error) (*Skill, error) { return nil, fmt.Errorf("skill %q: %w", dir, err) }
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fail(err)
	}
	if s.Dir, err = filepath.EvalSymlinks(abs); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fail(errors.New("no such directory"))
		}
		return fail(bare(err))
	}
	s.Linked = s.Dir != abs
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		if st, e := os.Stat(s.Dir); e == nil && !st.IsDir() {
			return fail(errors.New("is a file; name the directory that holds SKILL.md"))
		}
		return fail(bare(err))
	}
	defer root.Close()
	d, err := root.Open(".")
	if err != nil {
		return fail(bare(err))
	}
	names, err := d.Readdirnames(-1)
	d.Close()
	if err != nil {
		return fail(bare(err))
	}
	for _, name := range slices.Concat(manifests, headerNames[:]) {
		// By the listing: a file system that ignores case has no second
		// file where both SKILL.md and skill.md are looked up.
		if !slices.Contains(names, name) {
			continue
		}
		data, err := read(root, name)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", name, err))
		}
		s.Files = append(s.Files, File{name, data})
	}
	s.Manifest = digestFiles(s.Files)
	for _, name := range headerNames {
		if f := s.File(name); f != nil && s.Name == "" {
			s.Name, s.Version = describe(f.Data)
		}
	}
	if s.Name == "" {
		s.Name = filepath.Base(s.Dir)
	}
	return s, nil
}

// File gives one of Files, nil if the skill has none of that name. That both
// SKILL.md and skill.md are there is for the caller to judge.
func (s *Skill) File(name string) *File {
	for i := range s.Files {
		if s.Files[i].Name == name {
			return &s.Files[i]
		}
	}
	return nil
}

func read(root *os.Root, name string) ([]byte, error) {
	// O_NONBLOCK: a fifo is refused rather than waited for. The root refuses
	// a link that leads out of it.
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		if st, e := root.Lstat(name); e == nil && st.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("is a symbolic link that does not lead to a file of the skill: %w", bare(err))
		}
		return nil, bare(err)
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, bare(err)
	case !st.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case st.Size() > MaxManifest:
		return nil, fmt.Errorf("is larger than %d bytes", MaxManifest)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxManifest))
	if err != nil {
		return nil, bare(err)
	}
	return data, nil
}

// digestFiles is the SHA-256 over, for each file, the length of its name, its
// name, the length of its contents (each length 8 bytes, big-endian) and its
// contents.
func digestFiles(files []File) (sum [32]byte) {
	h := sha256.New()
	for _, f := range files {
		var n [8]byte
		h.Write(binary.BigEndian.AppendUint64(n[:0], uint64(len(f.Name))))
		h.Write([]byte(f.Name))
		h.Write(binary.BigEndian.AppendUint64(n[:0], uint64(len(f.Data))))
		h.Write(f.Data)
	}
	h.Sum(sum[:0])
	return sum
}

// bare drops the path that an os error repeats.
func bare(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// describe takes name and version from the header of SKILL.md, for display
// only: whatever looks like them, in text that need not be valid YAML. Rights
// come from a strict parser elsewhere.
func describe(data []byte) (name, version string) {
	text := strings.ToValidUTF8(string(data), "\ufffd")
	text = strings.TrimPrefix(text, "\ufeff")
	body, ok := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "---\n")
	if !ok {
		return "", ""
	}
	section := ""
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, " \t\n")
		if line == "---" || line == "..." {
			break
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		} else if before, _, found := strings.Cut(value, " #"); found {
			value = strings.TrimSpace(before)
		}
		switch indented := strings.TrimLeft(key, " \t"); {
		case key == "name" && name == "":
			name = value
		case key == "version", section == "metadata" && indented == "version" && version == "":
			version = value
		}
		if key != "" && key[0] != ' ' && key[0] != '\t' {
			section = key
		}
	}
	return name, version
}
