package skill_test

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"skillrun/policy"
	"skillrun/policy/skill"
)

func TestStrays(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	check(t, err)
	write(t, top, map[string]string{
		"out/run.sh": "", "out/d/x": "", "out/python": "-> /usr/bin/env",
		"sk/SKILL.md": header, "sk/lib/a": "", "sk/inside": "-> lib/a", "sk/lib/up": "-> ../SKILL.md", "sk/loop": "-> loop",
		"sk/bin/python": "-> /usr/bin/env",
	})
	strays := func() []string {
		found, err := skill.Strays(top + "/sk")
		check(t, err)
		var got []string
		for _, s := range found {
			got = append(got, s.Link+" "+strings.TrimPrefix(s.To(), top))
		}
		return got
	}
	if got := strays(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	for link, to := range map[string]string{
		"run.sh": "../out/run.sh", "lib/d": top + "/out/d", "none": "../out/none", "chain": "../out/python",
		"home": u.HomeDir + "/none-of-skillrun's",
	} {
		check(t, os.Symlink(to, top+"/sk/"+link))
		if got := strays(); len(got) != 1 || !strings.HasPrefix(got[0], link+" /") {
			t.Errorf("%s -> %s: %q", link, to, got)
		}
		check(t, os.Remove(top+"/sk/"+link))
	}
}

// What a digest has not seen is in no approval, and where runs may write nobody is
// trusted for his place.
func TestStrayTrust(t *testing.T) {
	p, top := machine(t)
	dir := top + "/home/.claude/skills/one"
	s, err := skill.Open(dir)
	check(t, err)
	entries, err := skill.Tree(t.Context(), s.Dir, nil, now)
	check(t, err)
	store := approvals(t, filepath.Join(t.TempDir(), "approvals"))
	a := skill.Approval{Skill: s.Name, Dir: skill.Path(s.Dir), Manifest: s.Manifest, By: "u", Made: made}
	check(t, store.Put(a, entries)) // the control
	for to, want := range map[string]policy.Tier{top + "/proj/x": policy.Untrusted, top + "/written/x": policy.Untrusted, top + "/elsewhere/x": policy.Approved} {
		check(t, os.Symlink(to, dir+"/x"))
		p.Written = func() ([]string, error) { return []string{top + "/written"}, nil }
		if got, why := p.Trust(dir, nil); got != want || want == policy.Untrusted && !strings.Contains(why, to) {
			t.Errorf("%s: %s, %s", to, got, why)
		}
		entries, err := skill.Tree(t.Context(), s.Dir, nil, now)
		check(t, err)
		a.Tree = skill.Digest(entries)
		if err := a.Holds(s, a.Tree, made.Add(time.Hour)); !errors.Is(err, skill.ErrOther) || !strings.Contains(err.Error(), to) {
			t.Errorf("%s: holds: %v", to, err)
		}
		if err := store.Put(a, entries); err == nil {
			t.Errorf("%s: was approved", to)
		}
		check(t, os.Remove(dir+"/x"))
	}
}
