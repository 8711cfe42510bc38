package darwin

import (
	"io/fs"
	"path"
	"slices"

	"skillrun/profiles"
)

// Look lists what the compiler wants to know exists: of denied paths and what
// lies above them, and inside what the run may create or delete, the names that
// patterns cover and the directories that hold such names. fsys is the
// machine's file system, rooted at "/".
//
// It looks at no more than limit entries; if that does not suffice, or if what
// matters is too much for a policy, it gives nil, which makes the policy
// stricter. Contents is what lies in the trees
// where the run may create but not delete; nil if that is more than a policy
// should hold, some 4,000 names.
func Look(fsys fs.FS, p *profiles.Profile, limit int) (exists, contents []string) {
	l := &looker{fsys: fsys, sieve: profiles.NewSieve(p.Denials), left: limit, space: maxNames, room: maxNames}
	for i := range p.Denials {
		d := moved(p.Denials[i].Path)
		for _, a := range append([]string{d}, ancestors(d)...) {
			if l.has(a) {
				l.exists = append(l.exists, a)
				break
			}
		}
	}
	l.exists = append(l.exists, "/")
	for i := range p.Paths {
		r := &p.Paths[i]
		if r.Access&(profiles.Create|profiles.Delete) != 0 {
			l.keep = r.Tree && !deletes(p, r.Path)
			l.walk(r.Path)
		}
	}
	if l.left < 0 || l.space < 0 {
		return nil, nil
	}
	for _, list := range []*[]string{&l.exists, &l.contents} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	switch {
	case l.room < 0:
		l.contents = nil
	case l.contents == nil:
		l.contents = []string{}
	}
	return l.exists, l.contents
}

// MostSearched is how many entries of directories [WithLinked] looks at before a run:
// some seconds.
const MostSearched = 1_000_000

// WithLinked gives the profile with denials of what denied names lead to, since the
// kernel asks about a file by its own name: see [profiles.Sift]; and of sockets that are
// there, which the run could move to where its own are. The trees in which names are
// denied are searched, and fsys is the machine's file system. It looks at no
// more than limit entries; if that does not suffice all is false, for
// [Facts.Unsearched].
func WithLinked(fsys fs.FS, p *profiles.Profile, limit int) (q *profiles.Profile, all bool) {
	host := &profiles.Host{OS: "darwin", FS: fsys}
	with := *p
	with.Denials = slices.Clip(with.Denials)
	for _, sift := range p.Sifts() {
		var walk func(dir string)
		walk = func(dir string) {
			entries, _ := fs.ReadDir(fsys, profiles.FSName(dir)) // what cannot be listed leads nowhere
			for _, e := range entries {
				if limit--; limit < 0 {
					return
				}
				at := profiles.Below(dir, e.Name())
				with.Denials = append(with.Denials, sift.Through(host, at, e.Type())...)
				if e.Type()&fs.ModeSocket != 0 && !slices.ContainsFunc(p.Sockets, func(s profiles.SocketRule) bool { return s.Path == at }) {
					with.Denials = append(with.Denials, profiles.Denial{Path: at, Access: profiles.Change, Class: profiles.Sensitive, Origin: profiles.Origin{
						Source: "default", Reason: "a socket that was there is somebody else's, and stays where the run cannot connect to it"}})
				}
				if e.IsDir() {
					walk(at)
				}
			}
		}
		walk(sift.Root)
	}
	return &with, limit >= 0
}

// deletes says whether a tree that covers path grants Delete.
func deletes(p *profiles.Profile, path string) bool {
	return slices.ContainsFunc(p.Paths, func(r profiles.PathRule) bool {
		return r.Tree && r.Access&profiles.Delete != 0 && profiles.Within(r.Path, path)
	})
}

// maxNames bounds what the names of one kind add to a policy, in bytes: less
// than half of what a command line takes.
const maxNames = 400 << 10

// size is about what one name adds.
func size(p string) int { return len(p) + len(`-D P12345= (literal (param "P12345"))`) }

type looker struct {
	fsys     fs.FS
	sieve    *profiles.Sieve
	left     int // entries
	space    int // bytes of exists
	room     int // bytes of contents
	keep     bool
	exists   []string
	contents []string
}

func (l *looker) has(p string) bool {
	_, err := fs.Lstat(l.fsys, profiles.FSName(p))
	return err == nil
}

// walk looks at everything beneath a directory, links not followed.
func (l *looker) walk(dir string) {
	entries, err := fs.ReadDir(l.fsys, profiles.FSName(dir))
	if err != nil {
		return // absent, or closed to the run as well
	}
	for _, e := range entries {
		if l.left--; l.left < 0 {
			return
		}
		p := path.Join(dir, e.Name())
		if l.keep && l.room >= 0 {
			l.room -= size(p)
			l.contents = append(l.contents, p)
		}
		if l.matters(p) && l.space >= 0 {
			l.space -= size(p)
			l.exists = append(l.exists, p)
		}
		if e.IsDir() {
			l.walk(p)
		}
	}
}

// matters says whether a pattern covers p, or p is a directory that leads to
// what it covers.
func (l *looker) matters(p string) bool {
	for _, d := range l.sieve.Touching(p) {
		if d.Match != "" && (d.Covers(p) || d.Leads(p)) {
			return true
		}
	}
	return false
}
