package darwin

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// denyOps lists the operations that a denial of an access refuses: the
// wildcard and every leaf, second names of the same file, and sockets, which
// file rules do not stop.
var denyOps = [...]struct {
	access profiles.Access
	ops    []string
}{
	{profiles.Read, []string{"file-read*", "file-read-data", "file-read-metadata", "file-read-xattr", "file-test-existence", "file-link", "network-outbound"}},
	{profiles.Write, []string{"file-write-data", "file-write-mode", "file-write-owner", "file-write-times", "file-write-xattr", "file-write-flags", "file-write-finderinfo", "file-write-acl", "file-write-setugid", "file-link", "network-outbound"}},
	{profiles.Create, []string{"file-write-create", "network-bind"}},
	{profiles.Execute, []string{"process-exec*", "process-exec-interpreter", "file-map-executable"}},
}

// refused joins the operations of a denial; a denied file never moves away.
func refused(a profiles.Access) []string {
	ops := []string{"file-write-unlink"}
	for _, d := range denyOps {
		if a&d.access == 0 {
			continue
		}
		for _, op := range d.ops {
			if !slices.Contains(ops, op) {
				ops = append(ops, op)
			}
		}
	}
	return ops
}

// cover is what one line of a denial covers: a path with all beneath it, or
// names beneath a stem.
type cover struct {
	access profiles.Access
	note   string
	path   string   // "" with a stem
	stem   string   // regular expression of all that comes before the names
	names  []string // globs
	leaves []string // Except of the denials
	except string   // the same as filters, each with a space before it
	create bool     // making a directory that leads to a name is refused, too
}

// addDenials takes the denials that reach into a grant, the skill among them.
func (c *compiler) addDenials() {
	all := c.profile.Denials
	if skill := c.profile.Skill; skill != "" {
		all = append(slices.Clip(all), profiles.Denial{
			Path: skill, Access: profiles.Change, Class: profiles.Control,
			Origin: profiles.Origin{Source: "built-in:skill", Reason: "the skill never changes from inside"},
		})
	}
	for _, d := range all {
		d.Path = moved(d.Path)
		if c.grantedBelow(d.Path) != 0 || c.grantedAbove(d.Path) || c.socketBelow(d.Path) {
			c.denials = append(c.denials, d)
		}
	}
}

// grantedAbove says whether a name that leads to p is granted.
func (c *compiler) grantedAbove(p string) bool {
	return slices.ContainsFunc(c.grants, func(r profiles.PathRule) bool { return profiles.Within(r.Path, p) })
}

// moved gives the canonical spelling of a path through a link of the root
// directory or the data volume, or in another case. Denials come in the
// spelling of whoever wrote them, and one that is dead would fail open.
func moved(p string) string {
	for _, l := range firmlinks {
		for _, at := range [...]string{dataVolume + l, "/" + l} {
			if rest, ok := inAnyCase(at, p); ok {
				p = "/" + l + rest
			}
		}
	}
	for _, l := range rootLinks {
		if rest, ok := inAnyCase(l[0], p); ok {
			p = l[1] + rest
		}
	}
	return p
}

func (c *compiler) socketBelow(p string) bool {
	return slices.ContainsFunc(c.profile.Sockets, func(s profiles.SocketRule) bool { return profiles.Within(p, s.Path) })
}

// checkSpellings refuses denials of names that do not exist, that the run
// could create, and that the volume knows in several spellings: é is one
// character or two, and the kernel asks about the one that was typed.
func (c *compiler) checkSpellings() error {
	for i := range c.denials {
		d := &c.denials[i]
		if c.grantedBelow(d.Path)&profiles.Create == 0 {
			continue
		}
		missing := d.Path
		for _, a := range ancestors(d.Path) {
			if !c.absent(a) {
				missing = strings.TrimPrefix(d.Path, a)
				break
			}
		}
		if c.absent(d.Path) && !ascii(missing) || !ascii(d.Match) {
			return fmt.Errorf("denial of %q: the name does not exist yet and could be created in another spelling", path.Join(d.Path, d.Match))
		}
	}
	return nil
}

// roots lists the trees in which the run may create, but for those beneath
// another.
func (c *compiler) roots() []string {
	var roots []string
	for i := range c.grants {
		r := &c.grants[i]
		if r.Tree && r.Access&profiles.Create != 0 {
			roots = append(roots, r.Path)
		}
	}
	slices.Sort(roots)
	var top []string
	for _, r := range roots {
		if !slices.ContainsFunc(top, func(t string) bool { return profiles.Within(t, r) }) {
			top = append(top, r)
		}
	}
	return top
}

// covers turns the denials into lines, those with the same reason into one.
func (c *compiler) covers() []cover {
	var out []cover
	places := map[string][]string{} // roots of patterns that differ in nothing else
	for i := range c.denials {
		places[alike(&c.denials[i])] = append(places[alike(&c.denials[i])], c.denials[i].Path)
	}
	roots := c.roots()
	for i := range c.denials {
		d := &c.denials[i]
		v := cover{access: d.Access, note: note(d.Origin), create: d.Access&profiles.Create != 0 && !d.UnlessMade}
		switch {
		case d.Match == "":
			v.path = d.Path
		case c.byHolder(d):
			holders := c.holders(d)
			if len(holders) == 0 {
				continue // no repository was here at the start
			}
			for i := range holders {
				holders[i] = quote(holders[i])
			}
			_, rest, _ := strings.Cut(d.Match, "/")
			v.stem, v.names, v.create = "^("+strings.Join(holders, "|")+")/", []string{rest}, d.Access&profiles.Create != 0
		case places[alike(d)] == nil:
			continue // written with the first of its like
		default:
			v.stem, v.names = c.stem(d, places[alike(d)], roots), []string{d.Match}
			places[alike(d)] = nil
		}
		v.leaves = d.Except
		out = merge(out, v)
	}
	for i := range out {
		out[i].except = c.exceptions(&out[i], out)
	}
	return out
}

// byHolder says whether a denial can be written for the directories that were
// there at the start, so that it does not count in those that the run makes.
func (c *compiler) byHolder(d *profiles.Denial) bool {
	return d.UnlessMade && c.facts.Exists != nil && strings.Contains(d.Match, "/")
}

// alike is equal for patterns that differ in nothing but their root.
func alike(d *profiles.Denial) string {
	return fmt.Sprintf("%q %d %q %t %d %s", d.Match, d.Access, d.Except, d.UnlessMade, d.Class, note(d.Origin))
}

// merge adds a line, or its names to a line that is alike.
func merge(out []cover, v cover) []cover {
	if v.path == "" {
		for i := range out {
			o := &out[i]
			if o.path == "" && o.access == v.access && o.note == v.note && o.stem == v.stem && slices.Equal(o.leaves, v.leaves) && o.create == v.create {
				o.names = slices.Concat(o.names, v.names)
				return out
			}
		}
	}
	return append(out, v)
}

// stem is the regular expression for any depth beneath a denial's places.
//
// A directory is moved by its own name only, whatever lies in it. So that one
// built elsewhere and moved in cannot carry denied names, those that may not
// be written count in every tree where the run may create; secrets are not
// obeyed by anybody, and other programs' certificates are called *.pem, so
// they count at their place only. So that one moved out cannot be read, the
// directories above what exists are pinned; where nobody looked what exists,
// names count everywhere if one of their places has something to move.
func (c *compiler) stem(d *profiles.Denial, places, roots []string) string {
	var alternatives []string
	spread := false
	for _, p := range places {
		alternatives = append(alternatives, strings.TrimSuffix(c.root(p), "/"))
		spread = spread || c.spreads(d, p)
	}
	for _, r := range roots {
		if spread && !slices.ContainsFunc(places, func(p string) bool { return profiles.Within(p, r) }) {
			alternatives = append(alternatives, strings.TrimSuffix(quote(r), "/"))
		}
	}
	slices.Sort(alternatives)
	return "^(" + strings.Join(slices.Compact(alternatives), "|") + ")/([^/]+/)*"
}

// spreads says whether a pattern with a place there counts in every tree where the
// run may create.
func (c *compiler) spreads(d *profiles.Denial, place string) bool {
	below := c.grantedBelow(place)
	planted := !d.UnlessMade && d.Class != profiles.Sensitive && d.Access&(profiles.Write|profiles.Create) != 0
	return planted && below&profiles.Create != 0 || c.facts.Exists == nil && below&(profiles.Create|profiles.Delete) != 0
}

// holders lists the existing directories that match the first component of
// the denial: repositories, for ".git/hooks".
func (c *compiler) holders(d *profiles.Denial) []string {
	first, _, _ := strings.Cut(d.Match, "/")
	const name = "/\x01" // no file has this name, so only the whole pattern fits
	probe := profiles.Denial{Path: d.Path, Match: first + name}
	var holders []string
	for _, e := range c.exists {
		if probe.Covers(e + name) {
			holders = append(holders, e)
		}
	}
	return holders
}

// filter writes what a line covers: with end andBeneath all of it, with exactly
// the names alone. The line's except is written around it.
func (c *compiler) filter(v *cover, end string) string {
	if v.path != "" {
		return c.spellings(v.path, end)
	}
	return c.w.regex(v.stem + globs(v.names) + end)
}

// writeDenials writes the denials, one rule for each set of accesses, then
// what keeps them from being walked around.
func (c *compiler) writeDenials() {
	covers := c.covers()
	for a := profiles.Access(0); a <= profiles.AllAccess; a++ {
		var conds []cond
		for i := range covers {
			if covers[i].access == a {
				conds = append(conds, cond{c.filter(&covers[i], andBeneath), covers[i].note, covers[i].except})
			}
		}
		c.w.rule("denied: "+(a|profiles.Delete).Word(), "deny", refused(a), conds)
	}
	c.writePointers()
	c.writePins(covers)
	c.writeKept()
	if c.facts.HideNames {
		return
	}
	var names []cover
	for i := range covers {
		if v := covers[i]; v.access&profiles.Read != 0 {
			v.note, v.access, v.create = "", profiles.Read, false
			names = merge(names, v)
		}
	}
	var conds []cond
	for i := range names {
		conds = append(conds, cond{text: c.filter(&names[i], exactly), except: c.exceptions(&names[i], names)})
	}
	c.w.rule("the denied names themselves may be listed and looked at: ls(1), git status", "allow", []string{"file-read-metadata", "file-test-existence"}, conds)
}

// writePointers keeps what is called ".git": git takes the directory that such a file
// names, or such a link leads to, for the repository, with hooks and configuration.
func (c *compiler) writePointers() {
	var places []string
	for i := range c.denials {
		d := &c.denials[i]
		first, _, more := strings.Cut(d.Match, "/")
		if more && strings.EqualFold(first, ".git") && d.Class == profiles.Control && c.grantedBelow(d.Path)&profiles.Change != 0 {
			places = append(places, strings.TrimSuffix(c.root(d.Path), "/"))
		}
	}
	if len(places) == 0 {
		return
	}
	slices.Sort(places)
	re := "^(" + strings.Join(slices.Compact(places), "|") + ")/([^/]+/)*" + glob(".git") + exactly
	own := ""
	if c.repository != "" {
		own = " (require-not " + c.w.literal(c.repository) + ")"
	}
	c.w.rule("what names a repository is not made, written or moved: .git", "deny",
		[]string{"file-write-create", "file-write-data", "file-write-unlink", "file-link"}, []cond{{text: c.w.regex(re), except: own}})
}

// ownRepository gives the ".git" of the workspace, if there is none yet and the run may
// make it: all that is in it is the run's then. A file or link by that name gives it no
// more than a directory, whose hooks and configuration it writes. Deeper ones are not
// told from the user's: directories come and go.
func (c *compiler) ownRepository() string {
	p := c.profile.Workspace + "/.git"
	unlessMade := func(d profiles.Denial) bool {
		return d.Path == c.profile.Workspace && d.Match == ".git/hooks" && c.byHolder(&d)
	}
	there := func(e string) bool {
		return strings.EqualFold(e, p) || profiles.Within(strings.ToLower(p), strings.ToLower(e))
	}
	if c.profile.Workspace == "" || !slices.ContainsFunc(c.denials, unlessMade) || slices.ContainsFunc(c.exists, there) || c.granted(p)&profiles.Create == 0 {
		return ""
	}
	return p
}
