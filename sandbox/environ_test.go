package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillrun/profiles"
	"skillrun/sandbox"
)

// What a run gets of its caller's environment is what Env.Passes says, beside
// what is set for it.
func TestEnviron(t *testing.T) {
	_, deny := profiles.EnvDefaults()
	env := &profiles.Env{
		Pass:  []profiles.EnvRule{{Name: "*"}},
		Deny:  deny,
		Allow: []profiles.EnvRule{{Name: "MY_TOKEN"}},
		Set:   []profiles.EnvVar{{Name: "SET", Value: "ours"}, {Name: "XDG_DATA_HOME", Value: "/ours"}},
	}
	caller := []string{"KEPT=a=b", "EMPTY=", "SET=theirs", "MY_TOKEN=named", "HOME=/theirs", "TMPDIR=/theirs", "XDG_CONFIG_HOME=/theirs", "XDG_DATA_HOME=/theirs", "nonsense", "=x",
		"OTHER_TOKEN=1", "other_token=1", "LD_PRELOAD=1", "BASH_ENV=1", "GIT_SEQUENCE_EDITOR=1", "CGO_LDFLAGS_ALLOW=1", "MONGODB_URI=1", "Aws_Secret_Access_Key=1"}
	want := []string{"CARGO_HOME=/h/.cache/cargo", "EMPTY=", "GOMODCACHE=/h/.cache/go-mod", "HOME=/h", "KEPT=a=b", "MY_TOKEN=named", "PYTHONUSERBASE=/h/.cache/python",
		"SET=ours", "TEMP=/t", "TMP=/t", "TMPDIR=/t", "TMUX_TMPDIR=/t", "XDG_DATA_HOME=/ours"}
	if diff := cmp.Diff(want, sandbox.Environ(env, caller, "/h", "/t", "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// With kept caches, tools are told where these are.
	kept := &profiles.Env{Set: []profiles.EnvVar{{Name: "PATH", Value: "/bin"}, {Name: "CARGO_HOME", Value: "/u/.cargo"}}}
	want = []string{"CARGO_HOME=/u/.cargo", "GOMODCACHE=/c/go-mod", "HOME=/h", "PATH=/bin:/c/python/bin", "PYTHONUSERBASE=/c/python", "TEMP=/t", "TMP=/t", "TMPDIR=/t", "TMUX_TMPDIR=/t", "XDG_CACHE_HOME=/c"}
	if diff := cmp.Diff(want, sandbox.Environ(kept, nil, "/h", "/t", "/c")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The control: without the list of what is denied it all comes through.
	env.Deny = nil
	if all := strings.Join(sandbox.Environ(env, caller, "/h", "/t", ""), " "); strings.Count(all, "=1") != 8 {
		t.Errorf("passed without a denial: %s", all)
	}
}

func TestEnvironIsWhatPasses(t *testing.T) {
	word := rapid.StringMatching(`[A-Ca-c_]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		rules := func(what string, patterns *rapid.Generator[string]) (list []profiles.EnvRule) {
			for _, name := range rapid.SliceOfN(patterns, 0, 4).Draw(t, what) {
				list = append(list, profiles.EnvRule{Name: name})
			}
			return list
		}
		env := &profiles.Env{Pass: rules("pass", rapid.StringMatching(`[A-C_]{0,2}\*?`)), Deny: rules("deny", rapid.StringMatching(`\*?[A-C_]{1,2}\*?[A-C_]{0,2}\*?`)), Allow: rules("allow", word)}
		name := word.Draw(t, "name")
		want, _ := env.Passes(name)
		got := strings.Contains(strings.Join(sandbox.Environ(env, []string{name + "=1"}, "/h", "/t", ""), " "), name+"=1")
		if got != want {
			t.Fatalf("%s: %t, and Env.Passes says %t", name, got, want)
		}
	})
}

// BenchmarkEnviron is a part of every launch.
func BenchmarkEnviron(b *testing.B) {
	env := new(profiles.Env)
	env.Pass, env.Deny = profiles.EnvDefaults()
	caller := []string{"PATH=/bin", "HOME=/home/u", "USER=u", "LOGNAME=u", "SHELL=/bin/bash", "TERM=xterm", "COLORTERM=truecolor", "LANG=C.UTF-8", "LC_TIME=C", "PWD=/w", "SHLVL=1", "TZ=UTC"}
	for i := range 20 {
		caller = append(caller, fmt.Sprintf("SOME_VARIABLE_%d=value", i))
	}
	for b.Loop() {
		sandbox.Environ(env, caller, "/h", "/t", "")
	}
}
