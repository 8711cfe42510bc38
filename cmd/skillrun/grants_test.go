package main_test

import (
	"strings"
	"testing"

	"skillrun/cmd/skillrun"
	"skillrun/policy/skill"
)

// What was allowed one version is not another's that was put in its place while
// the skill was promoted.
func TestPromotionReplaced(t *testing.T) {
	a, b := []skill.Entry{{Path: "x", Kind: skill.Plain}}, []skill.Entry{{Path: "x", Kind: skill.Program}}
	record := &skill.Approval{Grants: []string{"filesystem.read:/x"}}
	for _, c := range []struct {
		name   string
		record *skill.Approval
		read   []skill.Entry
		grants int
		want   string
	}{
		{"the same", record, a, 1, ""},
		{"another", record, b, 0, "changed meanwhile"},
		{"never allowed anything", nil, b, 0, ""},
	} {
		p, err := main.Promotion(c.record, a, c.read)
		if len(p.Grants) != c.grants || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", c.name, p.Grants, err)
		}
		if err == nil && !p.Promoted {
			t.Errorf("%s: not promoted", c.name)
		}
	}
}
