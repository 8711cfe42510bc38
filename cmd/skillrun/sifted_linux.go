package main

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"skillrun/profiles"
)

// Of the workspace a plan needs to know which names in it are denied, so that all
// of it is searched. What does not count there comes and goes all the time, with
// directories of it: a memo goes on to hold, is told of these, and looks into them
// the next time.

// maxSifted is how many directories may have changed until a memo in which only
// that is different is written anew. Until then each launch reads them again.
const maxSifted = 16

// A resifting compares directories that have changed with what a memo has of them.
type resifting struct {
	sifts   []*profiles.Sift
	settled settling
	now     []seen // in the place of what was found to have changed
	stale   int    // of these, such as would not be read again if they were kept
	other   bool   // there are other directories
}

// sifts looks into directories that have changed, and says whether nothing that
// counts has come or gone.
func (m *memo) sifts(changed []seen) (r *resifting, ok bool) {
	r = &resifting{settled: newSettling(time.Now())}
	if len(changed) == 0 {
		return r, true
	}
	own := m.Profile.Sifts()
	for _, root := range m.Sifts {
		i := slices.IndexFunc(own, func(s *profiles.Sift) bool { return s.Root == root })
		if i < 0 {
			return nil, false
		}
		r.sifts = append(r.sifts, own[i])
	}
	for i := range changed {
		s := &changed[i]
		if int(s.Mode) >= len(r.sifts) || !r.same(s) {
			return nil, false
		}
	}
	return r, true
}

// read gives what there is to know now of a directory, and what is left of it.
func (r *resifting) read(dir string, by uint32) (o seen, left []fs.DirEntry, err error) {
	o = seen{Name: dir, How: bySifted, Mode: by, ID: identify(dir)}
	entries, err := os.ReadDir(dir)
	left = r.sifts[by].Sifted(path.Clean(dir), entries)
	o.Settled, o.Target = r.settled.dir(dir[1:], o.ID), textOf(left)
	return o, left, err
}

// same says whether what is left of a directory is what was left, but for other
// directories in which there is nothing that counts.
func (r *resifting) same(s *seen) bool {
	o, left, err := r.read(s.Name, s.Mode)
	if o.Settled {
		r.stale++
	}
	switch {
	case s.There != present:
		o.There = s.There
		r.now = append(r.now, o)
		return outcomeOf(err) == s.There
	case outcomeOf(err) == absent: // it is gone
		if path.Clean(s.Name) == r.sifts[s.Mode].Root {
			return false // and nothing above it would tell that it is back
		}
	case err != nil:
		return false
	default:
		r.now = append(r.now, o)
		if o.Target == s.Target {
			return true
		}
	}
	r.other = true
	had := entriesOf(s.Target)
	for _, e := range left {
		if had[e.Name()] == typeOf(e) {
			delete(had, e.Name())
			continue
		}
		if !r.harmless(s.Name, e, s.Mode) {
			return false
		}
	}
	for name, typ := range had {
		if typ != typeText(fs.ModeDir) || len(r.sifts[s.Mode].Covering(profiles.Below(path.Clean(s.Name), name))) > 0 {
			return false
		}
	}
	return true
}

// harmless says that a new entry is a directory with nothing in it that counts.
func (r *resifting) harmless(dir string, e fs.DirEntry, by uint32) bool {
	p := profiles.Below(path.Clean(dir), e.Name())
	if !e.IsDir() || len(r.sifts[by].Covering(p)) > 0 || len(p) > 2048 {
		return false
	}
	o, left, err := r.read(p, by)
	if err != nil {
		return false
	}
	r.now = append(r.now, o)
	for _, e := range left {
		if !r.harmless(p, e, by) {
			return false
		}
	}
	return true
}

// amend writes a memo that held with what is there now.
func (m *memo) amend(state, text string, looks unpacker, changed []seen, r *resifting) error {
	type place struct {
		name string
		by   uint32
	}
	gone := map[place]bool{}
	for i := range changed {
		gone[place{changed[i].Name, changed[i].Mode}] = true
	}
	list := r.now
	for looks.data != "" && looks.err == nil {
		var s seen
		looks.seen(&s)
		if s.How != bySifted || !gone[place{s.Name, s.Mode}] {
			list = append(list, s)
		}
	}
	if looks.err != nil {
		return looks.err
	}
	if !whole(list) {
		return nil // something was removed between two looks
	}
	slices.SortFunc(list, bySeen)
	return m.write(state, packMemo(append(make([]byte, beforeMemo, 2*len(text)), text...), list))
}

// whole says whether of each directory that another lists there is a record, too:
// without one nobody would look into it again.
func whole(list []seen) bool {
	type place struct {
		name string
		by   uint32
	}
	known := map[place]bool{}
	for i := range list {
		if s := &list[i]; s.How == bySifted {
			known[place{path.Clean(s.Name), s.Mode}] = true
		}
	}
	dir := typeText(fs.ModeDir)
	for i := range list {
		s := &list[i]
		if s.How != bySifted || s.There != present {
			continue
		}
		for name, typ := range entriesOf(s.Target) {
			if typ == dir && !known[place{profiles.Below(path.Clean(s.Name), name), s.Mode}] {
				return false
			}
		}
	}
	return true
}

func typeText(t fs.FileMode) string { return string(appendType(nil, t)) }

func typeOf(e fs.DirEntry) string { return typeText(e.Type()) }

// entriesOf reads what textOf wrote.
func entriesOf(text string) map[string]string {
	entries := map[string]string{}
	for text != "" {
		var name, typ string
		name, text, _ = strings.Cut(text, "\x00")
		typ, text, _ = strings.Cut(text, "\x00")
		entries[name] = typ
	}
	return entries
}
