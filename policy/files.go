package policy

import (
	"bytes"
	"slices"
)

// File is a file of a skill, by its name in the skill's directory.
type File struct {
	Name string
	Data []byte
}

// ParseFile reads what a file of a skill's top level says, and gives nil where it says
// nothing: of one that is not among [ManifestNames], SKILL.md and skill.md.
//
// A fault in a manifest is an error, as is a header that is longer than is read; another
// fault in a header is a finding. A
// manifest.json that is none of ours (many programs have one) is a finding.
func ParseFile(f File) (*Document, []Finding, error) {
	switch {
	case f.Name == "SKILL.md" || f.Name == "skill.md":
		skill, found := ParseHeader(f.Name, f.Data)
		if skill.Fault != nil {
			return nil, nil, skill.Fault
		}
		return skill.Document, found, nil
	case Unrelated(f):
		return nil, []Finding{{Pos{File: f.Name}, "not a permission manifest: passed over"}}, nil
	case precedence(f.Name) < len(manifestNames):
		d, err := ParseManifest(f.Name, f.Data)
		return d, nil, err
	}
	return nil, nil, nil
}

// Unrelated says whether a file named manifest.json is none of ours, as in
// browser extensions and many other programs. It gives no rights.
func Unrelated(f File) bool {
	return f.Name == "manifest.json" && !bytes.Contains(f.Data, []byte(`"skill_metadata"`)) && !bytes.Contains(f.Data, []byte(`"capability"`))
}

// sortDocuments brings the strongest form to the front.
func sortDocuments(docs []*Document) {
	slices.SortStableFunc(docs, func(a, b *Document) int {
		if a.Form != b.Form {
			return int(a.Form) - int(b.Form)
		}
		return precedence(a.File) - precedence(b.File)
	})
}
