package linux

import (
	"encoding/json"

	"skillrun/profiles"
)

// What nested_test.go looks at.

type Narrowing = narrowing

// DescribeNested is what RegisterNested hands over.
func DescribeNested(plan *Plan, profile *profiles.Profile, own []string, instead []Substitute, umask uint32) ([]byte, error) {
	return json.Marshal(narrow("0123456789ab", plan, profile, own, instead, umask))
}

func ReadNarrowing(text []byte) (*Narrowing, error) { return readNarrowing(text) }

// Allows says whether a process of the run that n describes, inside one of the
// profile outer, is allowed access to a path.
func (n *Narrowing) Allows(outer *profiles.Profile, path string, access profiles.Access) bool {
	var own []string
	for _, dir := range n.Own {
		own = append(own, string(dir))
	}
	ds := deciders{newDecider(outer, nil, "", nil, 0o22), newDecider(n.Profile, own, "", nil, n.Umask)}
	return ds.rule(place{path: path}, access).ok()
}
