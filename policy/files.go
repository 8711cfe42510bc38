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

// Manifests reads all that a skill's own files say: its documents, strongest
// form first, for [Input], and what it says about itself. files are those of
// the skill's top level named in [ManifestNames], SKILL.md and skill.md; others
// are passed over.
//
// A fault in a manifest is an error, as is a header that is longer than is read; another
// fault in a header is a finding. A
// manifest.json that is none of ours (many programs have one) is a finding.
func Manifests(files []File) (Metadata, []*Document, []Finding, error) {
	var about Metadata
	var docs []*Document
	var findings []Finding
	headers := 0
	for _, f := range files {
		if f.Name == "SKILL.md" || f.Name == "skill.md" {
			headers++
		}
	}
	for _, f := range files {
		switch {
		case f.Name == "SKILL.md" || f.Name == "skill.md":
			skill, found := ParseHeader(f.Name, f.Data)
			if skill.Fault != nil {
				return about, nil, findings, skill.Fault
			}
			if findings = append(findings, found...); skill.Name != "" {
				about = skill.Metadata
			}
			if headers > 1 && skill.Document != nil {
				findings = append(findings, Finding{Pos{File: f.Name}, "both SKILL.md and skill.md are there: the header gives no rights"})
			} else if skill.Document != nil {
				docs = append(docs, skill.Document)
			}
		case Unrelated(f):
			findings = append(findings, unrelated(f.Name))
		case precedence(f.Name) < len(manifestNames):
			d, err := ParseManifest(f.Name, f.Data)
			if err != nil {
				return about, nil, findings, err
			}
			docs = append(docs, d)
		}
	}
	sortDocuments(docs)
	if len(docs) > 0 && docs[0].Skill.Name != "" {
		m := docs[0].Skill
		if m.Version == "" {
			m.Version = about.Version
		}
		if m.Description == "" {
			m.Description = about.Description
		}
		about = m
	}
	return about, docs, findings, nil
}

// Unrelated says whether a file named manifest.json is none of ours, as in
// browser extensions and many other programs. It gives no rights.
func Unrelated(f File) bool {
	return f.Name == "manifest.json" && !bytes.Contains(f.Data, []byte(`"skill_metadata"`)) && !bytes.Contains(f.Data, []byte(`"capability"`))
}

func unrelated(name string) Finding {
	return Finding{Pos{File: name}, "not a permission manifest: passed over"}
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
