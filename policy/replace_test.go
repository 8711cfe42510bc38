package policy_test

import (
	"testing"

	"skillrun/policy"
	"skillrun/profiles"
)

// Who may write a control file by its name may replace it: one grant is enough for
// git, which deletes first. No wider grant does, nor does it open anything beside it,
// and who denies deletion is heard.
func TestControlFilesReplaced(t *testing.T) {
	const file = "/w/.github/workflows/ci.yml"
	set := func(texts ...string) *policy.Set {
		in := policy.Input{Tier: policy.Approved, Approve: policy.ApproveDeclared}
		for _, s := range texts {
			in.Grants = append(in.Grants, grant(t, s))
		}
		return compose(t, in)
	}
	for _, c := range []struct {
		grant, path string
		want        profiles.Access
	}{
		{"filesystem.write:" + file, file, profiles.Write | profiles.Create | profiles.Delete},
		{"filesystem.write:/w/.github/workflows", file, profiles.Write | profiles.Create | profiles.Delete},
		{"filesystem.write:" + file, "/w/.github/workflows/other.yml", 0},
		{"filesystem.write:" + file, "/w/.github/workflows", 0},
		{"filesystem.write:/w", file, 0},
		{"filesystem.write:/w/.github", file, 0},
		{"filesystem.write:/w/src", "/w/src/main.go", profiles.Write | profiles.Create},
		{"filesystem.delete:" + file, file, 0}, // what may not be written does not go, either
		{"filesystem.write:/w/.git/hooks/x", "/w/.git/hooks/x", profiles.Write | profiles.Create | profiles.Delete},
		{"filesystem.write:/w/.env", "/w/.env", profiles.Write | profiles.Create},
	} {
		p := lower(t, set(c.grant), inputs("true"))
		var got profiles.Access
		for _, a := range [...]profiles.Access{profiles.Write, profiles.Create, profiles.Delete} {
			if p.Allows(c.path, a).Allowed {
				got |= a
			}
		}
		if got != c.want {
			t.Errorf("%s: %s of %s, want %s", c.grant, got, c.path, c.want)
		}
	}
	ceiling, err := policy.ParseManifest("c.json", []byte(`{"permissions": [{"capability": "filesystem.delete", "effect": "deny"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := compose(t, policy.Input{Tier: policy.Approved, Approve: policy.ApproveDeclared, Grants: []policy.Entry{grant(t, "filesystem.write:"+file)}, Floors: []*policy.Document{ceiling}})
	if p := lower(t, s, inputs("true")); p.Allows(file, profiles.Delete).Allowed || !p.Allows(file, profiles.Write).Allowed {
		t.Error("a denial of deletion is not heard")
	}
}
