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

	"skillrun/policy"
)

// MaxManifest is the size, in bytes, above which a manifest or SKILL.md is
// refused: 1 MiB.
const MaxManifest = 1 << 20

// Skill is a skill as it lies on the disk.
type Skill struct {
	Given string // the directory as named by the caller
	Dir   string // absolute, links followed: rules and digests are about this one
	// Plugin is the directory of the agent's plugin that it is part of, "" for none.
	Plugin string
	// Name is for display: what SKILL.md says, else the directory's name.
	// Version may be "".
	Name, Version string
	// Says is what the header says; its rights are among Documents.
	Says policy.Skill
	// Findings are faults that stop nothing: a header that gives no rights.
	Findings []policy.Finding
	// Misnamed tells of files with nearly the name of a manifest, which are not read.
	Misnamed []policy.Finding
	// Files are the manifests and SKILL.md, as far as they are there, the
	// strongest first.
	Files []policy.File
	// Manifest is the digest over Files.
	Manifest [32]byte
}

// headerNames are the files with a header, preferred first.
var headerNames = [...]string{"SKILL.md", "skill.md"}

// Open reads the skill in dir: its manifests and SKILL.md or skill.md. It fails
// if the directory or one of those files is there and cannot be read, is no
// regular file, leads out of the skill, or is larger than MaxManifest. A skill
// without any of them is a skill. What the manifests say is for
// [Skill.Documents].
func Open(dir string) (*Skill, error) {
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
	for _, name := range slices.Concat(policy.ManifestNames(), headerNames[:]) {
		// By the listing: a file system that ignores case has no second
		// file where both SKILL.md and skill.md are looked up.
		if !slices.Contains(names, name) {
			continue
		}
		data, err := read(root, name)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", name, err))
		}
		s.Files = append(s.Files, policy.File{Name: name, Data: data})
	}
	slices.Sort(names)
	for _, name := range names {
		if meant := policy.Misnamed(name); meant != "" && s.file(meant) == nil && len(s.Misnamed) < 2 {
			what := "not read: to count, it would have to be called " + meant
			if ext := filepath.Ext(meant); ext == ".json" && !strings.EqualFold(filepath.Ext(name), ext) {
				what += ", and be JSON"
			}
			s.Misnamed = append(s.Misnamed, policy.Finding{Pos: policy.Pos{File: s.path(name)}, What: what})
		}
	}
	s.Manifest = digestFiles(s.Files)
	s.Plugin = plugin(s.Dir)
	s.header()
	if s.Name == "" {
		s.Name = filepath.Base(s.Dir)
	}
	return s, nil
}

// header reads the header. With two files that may hold one, agents differ in
// which they take: neither gives rights.
func (s *Skill) header() {
	first, second := s.file(headerNames[0]), s.file(headerNames[1])
	if first == nil {
		first = second
	}
	if first == nil {
		return
	}
	s.Says, s.Findings = policy.ParseHeader(s.path(first.Name), first.Data)
	if first != second && second != nil {
		s.Says.Document = nil
		s.Findings = append(s.Findings, policy.Finding{Pos: policy.Pos{File: s.path(second.Name)}, What: "both SKILL.md and skill.md are there: the header gives no rights"})
	}
	if s.Says.Document != nil {
		s.Says.Document.Locate(s.Dir, s.Plugin)
	}
	s.Name, s.Version = s.Says.Name, s.Says.Version
}

// path is what messages and Origins call a file of the skill.
func (s *Skill) path(name string) string { return filepath.Join(s.Given, name) }

// Documents parses the manifests, the strongest first and the header last. Any
// fault in a manifest, and [policy.Skill.Fault], is a [*policy.Error] with its place: run
// nothing on it.
// None at all means that the skill declares nothing.
func (s *Skill) Documents() ([]*policy.Document, error) {
	var docs []*policy.Document
	for _, f := range s.Files {
		if slices.Contains(headerNames[:], f.Name) || policy.Unrelated(f) {
			continue
		}
		d, err := policy.ParseManifest(s.path(f.Name), f.Data)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	if s.Says.Fault != nil {
		return nil, s.Says.Fault
	}
	if s.Says.Document != nil {
		docs = append(docs, s.Says.Document)
	}
	return docs, nil
}

// file gives one of Files, nil if the skill has none of that name.
func (s *Skill) file(name string) *policy.File {
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
func digestFiles(files []policy.File) (sum [32]byte) {
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
