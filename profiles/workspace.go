package profiles

import (
	"path"
	"slices"
	"strings"
)

// WorkspaceSecrets gives the denials that guard secrets by their names in a
// work tree (".env", "*.pem" and so on): every access, class Sensitive. In a directory
// that the run makes nobody has put one before: what it unpacks, fetches or generates
// there by such a name (keys in the tests of a package) is no secret to it. Nor is what
// package managers have unpacked, and will throw away.
func WorkspaceSecrets(root string) []Denial {
	var unpacked []string
	for _, row := range ordinaryRows {
		if row.Unpacked {
			unpacked = append(unpacked, row.Name)
		}
	}
	slices.Sort(unpacked) // as a normal denial has them
	denials := make([]Denial, 0, len(secretRows))
	for _, row := range secretRows {
		except := unpacked
		if len(row.Except) > 0 {
			except = slices.Concat(row.Except, unpacked)
			slices.Sort(except)
		}
		denials = append(denials, Denial{
			Path: root, Match: row.Match, Access: AllAccess, Except: except, UnlessWithin: true, Class: Sensitive,
			Origin: Origin{Source: "built-in:workspace-secrets", Reason: row.Reason},
		})
	}
	return denials
}

// OfControlFiles is the source of what guards control files.
const OfControlFiles = "built-in:control-files"

// ControlFiles gives the denials that guard, in a work tree, the files that
// programs outside the sandbox obey, against writing and creation: git's hooks
// and configuration, settings of agents and editors, CI workflows, policy.
// Below directories of other people's packages (node_modules) names count for
// nothing to those programs and are left alone; repositories are not. What counts in
// a project of its own only, the run may make in one that it makes.
// What task runners obey (Makefile, package.json) people edit as ordinary source:
// it is not among them. Where root is called as the beginning of a name is, such as
// ".github", the rest counts right beneath it.
func ControlFiles(root string) []Denial {
	ordinary := make([]string, len(ordinaryRows))
	for i, row := range ordinaryRows {
		ordinary[i] = row.Name
	}
	slices.Sort(ordinary) // as a normal denial has them
	denials := make([]Denial, 0, len(controlRows))
	for _, row := range controlRows {
		d := Denial{
			Path: root, Match: row.Match, Access: Change, UnlessMade: row.UnlessMade, UnlessWithin: row.UnlessWithin, Class: Control,
			Origin: Origin{Source: OfControlFiles, Reason: row.Reason},
		}
		if !row.UnlessMade && !row.Everywhere {
			d.Except = ordinary
		}
		denials = append(denials, d)
		if above := d; strings.Contains(d.Match, "/") {
			if above.Path = "/"; !above.Covers(root) {
				denials = append(denials, above.Through(root, root)...)
			}
		}
	}
	return denials
}

// ControlledIn gives the denials that guard what is obeyed right beneath a work tree
// which is itself called as a control file is, such as ".claude": all that counts of
// it, as where a link of that name leads to all of a tree.
func ControlledIn(root string) (denials []Denial) {
	for _, name := range obeyed(path.Base(root)) {
		denials = append(denials, Denial{Path: Below(root, name), Access: Change, Class: Control,
			Origin: Origin{Source: OfControlFiles, Reason: "obeyed in a directory called " + path.Base(root)}})
	}
	return denials
}

// obeyed gives what counts right beneath a control file of a name, for where that is a
// link to all of a tree.
func obeyed(name string) []string {
	for i := range controlRows {
		if matchName(controlRows[i].Match, name) {
			return controlRows[i].Holds
		}
	}
	return nil
}

// RepositoryControls gives the denials that guard in dir, a git directory, what
// [ControlFiles] guards in one that is called ".git".
func RepositoryControls(dir string) []Denial {
	var denials []Denial
	for _, d := range ControlFiles("/") {
		d.Except = nil // nothing in a repository is somebody's package
		denials = append(denials, d.Through("/.git", dir)...)
	}
	return denials
}

// OutputDirectory gives the topmost directory of build output beneath root that path
// lies in, or is, by its name; "" if it lies in none. No right follows from that: it
// is what a question or a hint about deleting path is best about.
func OutputDirectory(root, path string) string {
	rel, ok := Beneath(root, path)
	for end := 0; ok && end < len(rel); end++ {
		first := end
		for end < len(rel) && rel[end] != '/' {
			end++
		}
		for _, row := range outputRows {
			if matchName(row.Name, rel[first:end]) {
				return path[:len(path)-len(rel)+end]
			}
		}
	}
	return ""
}
