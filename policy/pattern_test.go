package policy_test

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/policy"
	"skillrun/profiles"
)

// TestPatterns: a denied pattern that cannot be honoured makes the manifest one
// that does not read; it is never passed over.
func TestPatterns(t *testing.T) {
	for pattern, fault := range map[string]string{
		`rm(?=\s)`: "lookahead of PCRE", `rm(?!x)`: "lookahead of PCRE", `(?<=a)rm`: "lookbehind of PCRE", `(?<!a)rm`: "lookbehind of PCRE",
		`(?>rm)`: "atomic group of PCRE", `(a(?R)?b)`: "recursion of PCRE", `(?(1)a|b)`: "condition of PCRE",
		`a*+b`: "possessive quantifier of PCRE", `a++b`: "possessive quantifier of PCRE", `a?+b`: "possessive quantifier of PCRE",
		`(a)\1`: "back reference of PCRE", `\d\9`: "back reference of PCRE",
		`(`: "missing closing )", `[a`: "missing closing ]", `\K`: "invalid escape sequence", `\Z`: "invalid escape sequence", `(?x)a`: "invalid or unsupported", `(?P=n)`: "invalid",
	} {
		_, err := policy.ParseManifest("m.json", []byte(`{"permissions":[{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":[`+strconv.Quote(pattern)+`]}}]}`))
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want %q", pattern, err, fault)
		}
	}
	for pattern, commands := range map[string][2][]string{
		`\brm\b.*-rf?\b`:          {{"rm -rf /", "sudo rm -v -r x", "a\nrm -rf x"}, {"rmdir x", "rm x"}},
		`(?i)curl.*\|\s*(ba)?sh$`: {{"CURL a | sh", "curl a|bash\n"}, {"curl a | shfmt", "curl a\n| sh"}},
		`^git\s+push\b`:           {{"git push", "git  push -f"}, {"git pull", "x; git push"}},
		`\/etc\/\p{L}+`:           {{"cat /etc/passwd"}, {"cat /etc/1"}},
	} {
		d := parse(t, "m.json", `{"permissions":[{"capability":"shell.execute","effect":"allow","constraints":{"denied_command_patterns":[`+strconv.Quote(pattern)+`]}}]}`)
		s := policy.State{Declared: d.Entries}
		for i, want := range []policy.Effect{policy.Deny, policy.Allow} {
			for _, command := range commands[i] {
				if got := s.Decide(policy.Request{Capability: "shell.execute", Command: command, Time: noon}); got.Effect != want {
					t.Errorf("%s on %q: %v (%s), want %v", pattern, command, got.Effect, got.Reason, want)
				}
			}
		}
	}
}

// listings counts the directories that are listed.
type listings struct {
	fstest.MapFS
	n int
}

func (l *listings) ReadDir(name string) ([]fs.DirEntry, error) {
	l.n++
	return l.MapFS.ReadDir(name)
}

// TestPatternsGrant: a pattern in a scope grants what it matches, wherever "**"
// stands in it.
func TestPatternsGrant(t *testing.T) {
	h := machine()
	for _, name := range []string{"d/a.x", "d/e/a.x", "d/e/f/a.x", "d/e/f/a.y", "d/g/f/a.x", "d/e[1]/a.x"} {
		h.FS.(fstest.MapFS)["home/u/"+name] = &fstest.MapFile{}
	}
	for pattern, want := range map[string]string{
		"d/*.x": "a.x", "d/*/a.x": "e/a.x e[1]/a.x", "d/**/a.x": "a.x e/a.x e/f/a.x e[1]/a.x g/f/a.x", "d/**/f/*.x": "e/f/a.x g/f/a.x", "d/e/**/f/a.?": "e/f/a.x e/f/a.y",
		"d/**/e/**/a.x": "e/a.x e/f/a.x", "d/e*/f": "e/f", "d/e[1]/*.x": "e[1]/a.x", "d/**/b": "", "d/*/*/*/*": "", "d/**/**/f": "e/f g/f",
	} {
		p, err := compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{grant(t, "filesystem.read:~/"+pattern)}}).Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range p.Paths {
			if name, ok := strings.CutPrefix(r.Path, "/home/u/d/"); ok {
				got = append(got, name)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// TestPatternsBound: what patterns look at is bounded for all of them together.
func TestPatternsBound(t *testing.T) {
	h := machine()
	files := &listings{MapFS: h.FS.(fstest.MapFS)}
	h.FS = files
	for i := range 100 {
		for k := range 100 {
			files.MapFS[fmt.Sprintf("srv/%d/%d", i, k)] = &fstest.MapFile{}
		}
	}
	profile := func(capability, effect string, patterns int) (*profiles.Profile, error) {
		var scope []string
		for i := range patterns {
			scope = append(scope, fmt.Sprintf(`"/srv/*/9%d?"`, i))
		}
		d := parse(t, "m.json", "{\"permissions\":[\n"+`{"capability":"`+capability+`","effect":"`+effect+`","constraints":{"resource_scope":[`+strings.Join(scope, ",")+`]}}]}`)
		files.n = 0
		return compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved, Approve: policy.ApproveDeclared}).Profile(h, inputs("true"))
	}
	const each = 101 // directories
	for _, c := range []struct {
		capability, effect string
		fault              string
	}{
		{"filesystem.read", "allow", "m.json:2:1: "},
		{"secrets.read", "deny", "m.json:2:1: "}, // of which there are no denials by pattern
		{"filesystem.read", "deny", ""},
	} {
		name := c.capability + " " + c.effect
		_, err := profile(c.capability, c.effect, 1)
		few := files.n
		if err != nil || few < each {
			t.Errorf("%s: one pattern: %d directories, %v", name, few, err)
		}
		p, err := profile(c.capability, c.effect, 30)
		if files.n > few+10*each {
			t.Errorf("%s: %d directories for 30 patterns, %d for one", name, files.n, few)
		}
		if c.fault != "" && (err == nil || !strings.HasPrefix(err.Error(), c.fault+"/srv/*/9")) {
			t.Errorf("%s: %v", name, err)
		}
		if c.fault == "" && (err != nil || p.Allows("/srv/1/9299", profiles.Read).Denial == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPatternLength: many "**" take no longer than few.
func TestPatternLength(t *testing.T) {
	d := parse(t, "m.json", `{"permissions":[{"capability":"filesystem.read","effect":"allow","constraints":{"resource_scope":["/srv/`+strings.Repeat("**/a/", 40)+`b","/srv/`+strings.Repeat("**/a/", 20)+`c"]}}]}`)
	s := policy.State{Declared: d.Entries}
	for name, want := range map[string]policy.Effect{"b": policy.Deny, "c": policy.Allow} {
		if got := s.Decide(policy.Request{Capability: "filesystem.read", Paths: []string{"/srv/" + strings.Repeat("a/", 39) + name}, Time: noon}); got.Effect != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
