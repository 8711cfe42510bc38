package profiles

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Access is a set of things a program may do to a path.
type Access uint8

// The accesses. Execute does not follow from Read, nor Delete from Write.
const (
	// Read opens for reading, lists directories, reads link targets.
	Read Access = 1 << iota
	// Write changes what exists: contents, length, times, safe modes.
	Write
	// Create makes new names.
	Create
	// Delete removes or renames away what existed when the run started. What
	// the run made itself it may always remove where it may create.
	Delete
	// Execute starts the file as a program. Linux reads what it executes, so
	// there it takes Read as well.
	Execute
)

// Change is every access that leaves something other than it was.
const Change = Write | Create | Delete

// AllAccess is every access there is.
const AllAccess = Read | Write | Create | Delete | Execute

var accessLetters = [...]struct {
	bit    Access
	letter byte
	word   string
}{
	{Read, 'r', "read"},
	{Write, 'w', "write"},
	{Create, 'c', "create"},
	{Delete, 'd', "delete"},
	{Execute, 'x', "execute"},
}

// String gives the letters that --access takes: "rwcdx" in that order, "-" for
// none.
func (a Access) String() string {
	var b strings.Builder
	for _, l := range accessLetters {
		if a&l.bit != 0 {
			b.WriteByte(l.letter)
		}
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

// Word names a single access for messages: "read". Several are joined by "+".
func (a Access) Word() string {
	var words []string
	for _, l := range accessLetters {
		if a&l.bit != 0 {
			words = append(words, l.word)
		}
	}
	return strings.Join(words, "+")
}

// ParseAccess reads what String writes, in any order. It fails on an unknown
// or missing letter.
func ParseAccess(s string) (Access, bool) {
	var a Access
next:
	for i := 0; i < len(s); i++ {
		for _, l := range accessLetters {
			if s[i] == l.letter {
				a |= l.bit
				continue next
			}
		}
		return 0, false
	}
	return a, a != 0
}

// PathRule grants Access to a path.
type PathRule struct {
	Path string `json:"path"`
	// Tree extends the rule to everything beneath Path. Without it the rule
	// is for that one object, which must not be a directory.
	Tree   bool   `json:"tree,omitempty"`
	Access Access `json:"access"`
	Origin Origin `json:"origin,omitzero"`
}

// Class says what a denial protects, and so how it is spoken of.
type Class uint8

const (
	// Plain denials were written by a manifest or a user.
	Plain Class = iota
	// Sensitive denials guard credentials and private data. How to lift one
	// is shown to the person only, never to the program or a model.
	Sensitive
	// Control denials guard files that other programs obey (git hooks, agent
	// settings, the skill, policy files) against writing.
	Control
)

func (c Class) String() string {
	switch c {
	case Plain:
		return "plain"
	case Sensitive:
		return "sensitive"
	case Control:
		return "control"
	}
	return "class?"
}

// Denial refuses Access to what it covers, whatever grants say.
//
// With an empty Match it covers Path and everything beneath. Otherwise Match
// is one or more "/"-separated components, each a glob with "*" and "?", and
// the denial covers every name beneath Path whose last components match it, at
// any depth, and everything beneath that name: {Path: "/w", Match:
// ".git/hooks"} covers /w/.git/hooks and /w/a/b/.git/hooks/pre-commit.
// Match ignores ASCII case, since the file system may, takes other letters that fold
// to ASCII ("\u017f" for s, "\ufb01" for fi) for those, and leaves out what does not
// show ("\u200b"). A "?" stands for one byte.
//
// Every denial also refuses Delete (and so renaming) of what it covers and of
// the directories that lead there, as far as Path or Match name them: a secret
// under another name is readable, and moving ".git" away makes room for
// another.
type Denial struct {
	Path   string `json:"path"`
	Match  string `json:"match,omitempty"`
	Access Access `json:"access"`
	// Except lists what the denial leaves alone, with all beneath it: an
	// absolute path, or a pattern like Match. With a Match, a pattern counts
	// only if it names the covered name itself or a directory above that:
	// {Match: ".claude", Except: "node_modules"} leaves node_modules/.claude
	// alone and covers .claude/node_modules, which a program could make.
	Except []string `json:"except,omitempty"`
	// UnlessMade lifts the denial where the directory that holds the last
	// component of Match was made by the run itself, with nothing of that
	// name there at the start (".git" in a repository that the run made). Only
	// the supervisor can know that; Allows answers for what was there before.
	UnlessMade bool `json:"unless_made,omitempty"`
	// UnlessWithin lifts the denial where the directory that holds the first
	// component of Match was made by the run itself, and all from there to the name
	// at hand: ".github/workflows" in a project that the run made or fetched, and not
	// in a ".github" that it made in one that was there.
	UnlessWithin bool   `json:"unless_within,omitempty"`
	Class        Class  `json:"class,omitempty"`
	Origin       Origin `json:"origin,omitzero"`
	// AnyCase says that Path is taken as Match is. It is no part of a profile's form:
	// whoever is told of a file by a path only sets it, see [AnyCase].
	AnyCase bool `json:"-"`
}

// AnyCase gives denials that cover what they do in other letters of their Path, too,
// where the file system folds case, and nothing but a path tells which file is meant.
// Those that a manifest or the user wrote stay: "Data" may be another file than "data".
func AnyCase(denials []Denial) []Denial {
	denials = slices.Clone(denials)
	for i := range denials {
		denials[i].AnyCase = denials[i].Class != Plain
	}
	return denials
}

// Covers says whether the denial names path or something above it, exceptions
// considered.
func (d *Denial) Covers(path string) bool {
	rel, ok := d.beneath(path)
	if !ok || d.exceptsPath(path) {
		return false
	}
	if d.Match == "" {
		return !d.exceptsName(rel)
	}
	for name := rel; name != ""; name, _ = cutLast(name) {
		if matchTail(d.Match, name) && !d.exceptsName(name) {
			return true
		}
	}
	return false
}

// Holders counts the directories that the run must have made for UnlessWithin to lift
// the denial of path: the one that holds it, and those above up to the one that holds
// the first component of Match, of the name nearest to the denial's Path. It is 0
// where path is not covered.
func (d *Denial) Holders(path string) int {
	rel, ok := d.beneath(path)
	if !ok || d.Match == "" || d.exceptsPath(path) {
		return 0
	}
	n := 0
	for name := rel; name != ""; name, _ = cutLast(name) {
		if matchTail(d.Match, name) && !d.exceptsName(name) {
			n = strings.Count(rel[len(name):], "/") + strings.Count(d.Match, "/") + 1
		}
	}
	return n
}

// exceptsPath says whether an absolute exception holds path.
func (d *Denial) exceptsPath(path string) bool {
	for _, e := range d.Except {
		if strings.HasPrefix(e, "/") {
			if Within(e, path) {
				return true
			}
		}
	}
	return false
}

// exceptsName says whether a pattern among the exceptions names rel or a
// directory above it.
func (d *Denial) exceptsName(rel string) bool {
	for _, e := range d.Except {
		if !strings.HasPrefix(e, "/") && matchAny(e, rel) {
			return true
		}
	}
	return false
}

// Leads says whether path is a directory on the way to what the denial covers, so
// that removing or renaming it would move a covered name, or make room for one.
func (d *Denial) Leads(path string) bool {
	if d.leadsTo(path) {
		_, at := d.beneath(path)
		return !at || d.Match != ""
	}
	if d.Match == "" {
		return false
	}
	rel, ok := d.beneath(path)
	if !ok || d.exceptsPath(path) || d.exceptsName(rel) {
		return false
	}
	for i := strings.LastIndexByte(d.Match, '/'); i > 0; i = strings.LastIndexByte(d.Match[:i], '/') {
		if matchTail(d.Match[:i], rel) {
			return true
		}
	}
	return false
}

// Through gives denials of what a denial covers by way of link, whose name it covers
// or which, with a Match, leads there, where that leads to target.
func (d *Denial) Through(link, target string) []Denial {
	rel, ok := d.beneath(link)
	if !ok || rel == "" && d.Match != "" || d.Spares(link) {
		return nil
	}
	to := Denial{Path: target, Access: d.Access, Class: d.Class, Origin: d.Origin}
	if d.Covers(link) {
		return []Denial{to}
	}
	var denials []Denial
	for i := range d.Match {
		if d.Match[i] != '/' || !matchTail(d.Match[:i], rel) {
			continue
		}
		there := to
		// What is named without "*" and "?" is at one place; the rest at any depth.
		if rest := d.Match[i+1:]; strings.ContainsAny(rest, "*?") {
			there.Match, there.UnlessMade = rest, d.UnlessMade
		} else {
			there.Path = strings.TrimSuffix(target, "/") + "/" + rest
		}
		denials = append(denials, there)
	}
	return denials
}

// Names says whether path, or something above it, is one that the denial is
// about, whether an exception takes it in or not.
func (d *Denial) Names(path string) bool {
	rel, ok := d.beneath(path)
	return ok && (d.Match == "" || matchAny(d.Match, rel))
}

// Spares says whether an exception of the denial takes in path and so all that
// is beneath it.
func (d *Denial) Spares(path string) bool {
	rel, ok := d.beneath(path)
	return ok && (d.exceptsPath(path) || d.exceptsName(rel))
}

// covers says whether the rule applies to path.
func (r *PathRule) covers(path string) bool {
	return r.Path == path || r.Tree && Within(r.Path, path)
}

// beneath is Beneath for the Path of a denial.
func (d *Denial) beneath(path string) (rest string, ok bool) {
	if rest, ok := Beneath(d.Path, path); ok || !d.AnyCase {
		return rest, ok
	}
	return beneathFolded(d.Path, path)
}

// leadsTo says the same of what is above the Path of a denial.
func (d *Denial) leadsTo(path string) bool {
	ok := Within(path, d.Path)
	if !ok && d.AnyCase {
		_, ok = beneathFolded(path, d.Path)
	}
	return ok
}

// beneathFolded is beneath in whatever letters.
func beneathFolded(root, path string) (rest string, ok bool) {
	if root == "/" {
		return Beneath(root, path)
	}
	// Most paths differ early.
	for i := 0; i < len(root) && i < len(path) && root[i]|path[i] < utf8.RuneSelf; i++ {
		if lower(root[i]) != lower(path[i]) {
			return "", false
		}
	}
	end := 0
	for range strings.Count(root, "/") {
		if end == len(path) {
			return "", false
		}
		if next := strings.IndexByte(path[end+1:], '/'); next >= 0 {
			end += 1 + next
		} else {
			end = len(path)
		}
	}
	if Folded(root) != Folded(path[:end]) {
		return "", false
	}
	return strings.TrimPrefix(path[end:], "/"), true
}

// Within says whether path is root or lies beneath it, by its name. Nothing lies in "".
func Within(root, path string) bool {
	_, ok := Beneath(root, path)
	return ok
}

// Beneath is Within, and gives what follows root without a leading slash, "" for
// root itself.
func Beneath(root, path string) (rest string, ok bool) {
	if root == "/" {
		return strings.TrimPrefix(path, "/"), strings.HasPrefix(path, "/")
	}
	rest, ok = strings.CutPrefix(path, root)
	if !ok || root == "" || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

// matchAny says whether pattern matches the last components of rel or of any
// directory above it.
func matchAny(pattern, rel string) bool {
	for rel != "" {
		if matchTail(pattern, rel) {
			return true
		}
		i := strings.LastIndexByte(rel, '/')
		if i < 0 {
			return false
		}
		rel = rel[:i]
	}
	return false
}

// matchTail matches pattern against the last components of rel.
func matchTail(pattern, rel string) bool {
	for {
		var p, c string
		pattern, p = cutLast(pattern)
		rel, c = cutLast(rel)
		if c == "" || !matchName(p, c) {
			return false
		}
		if pattern == "" {
			return true
		}
	}
}

func cutLast(s string) (before, last string) {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// matchName matches one component against a glob of "*" and "?", ignoring
// ASCII case. A star takes part in linear backtracking only: no input makes it
// slow.
func matchName(pattern, name string) bool {
	// Most names differ in their first or last letter.
	if n, k := len(pattern)-1, len(name)-1; n >= 0 && k >= 0 && (differ(pattern[0], name[0]) || differ(pattern[n], name[k])) {
		return false
	}
	return matchASCII(asASCII(pattern), asASCII(name))
}

// differ says whether a byte of a pattern and one of a name are ASCII, stand for
// themselves, and are not the same letter.
func differ(p, n byte) bool {
	return p < 0x80 && n < 0x80 && p != '*' && p != '?' && lower(p) != lower(n)
}

func matchASCII(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || lower(pattern[p]) == lower(name[n])):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// asASCII gives a name as a file system that folds case compares it, as far as that is
// ASCII: letters that fold to ASCII ones are these, and characters that do not show are
// left out (Linux's casefold, APFS, HFS+).
func asASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return foldedToASCII(s)
		}
	}
	return s
}

func foldedToASCII(s string) string {
	b := make([]byte, 0, len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\u017f':
			b = append(b, 's')
		case r == '\u212a':
			b = append(b, 'k')
		case r == '\u00df', r == '\u1e9e':
			b = append(b, "ss"...)
		case '\ufb00' <= r && r <= '\ufb06':
			b = append(b, [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-'\ufb00']...)
		case r >= utf8.RuneSelf && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return string(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
