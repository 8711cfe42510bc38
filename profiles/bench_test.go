package profiles_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"skillrun/profiles"
)

// thisHost is the machine that the test runs on.
func thisHost() *profiles.Host {
	env := map[string]string{}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	home, _ := os.UserHomeDir()
	return &profiles.Host{OS: runtime.GOOS, Home: home, UID: os.Getuid(), CaseSensitive: runtime.GOOS == "linux", Env: env, FS: os.DirFS("/")}
}

func wholeProfile(h *profiles.Host) *profiles.Profile {
	p := &profiles.Profile{Workspace: "/w"}
	p.Denials = append(profiles.SensitivePaths(h), append(profiles.ControlFiles("/w"), profiles.WorkspaceSecrets("/w")...)...)
	rules, vars := profiles.Toolchains(h, "")
	p.Paths, p.Env.Set = append(profiles.BaseReads(h), rules...), vars
	p.Env.Pass, p.Env.Deny = profiles.EnvDefaults()
	return p
}

// What a launch does with this package, on this machine.
func BenchmarkLaunch(b *testing.B) {
	h := thisHost()
	p := wholeProfile(h)
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"sensitive", func() { profiles.SensitivePaths(h) }},
		{"base", func() { profiles.BaseReads(h) }},
		{"toolchains", func() { profiles.Toolchains(h, "") }},
		{"normalize", func() { q := *p; q.Normalize() }},
		{"validate", func() { _ = p.Validate() }},
		{"hash", func() { p.Hash() }},
		{"intersect", func() { p.Intersect(p) }},
	} {
		b.Run(step.name, func(b *testing.B) {
			for range b.N {
				step.do()
			}
		})
	}
}

// What a supervisor asks about one file after the other.
func BenchmarkJudge(b *testing.B) {
	p := wholeProfile(thisHost())
	p.Paths = append(p.Paths, profiles.PathRule{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write | profiles.Create})
	paths := make([]string, 100)
	for i := range paths {
		paths[i] = "/w/tree/sub/file" + strconv.Itoa(i) + ".txt"
	}
	grants := *p
	grants.Denials = nil
	sieve := profiles.NewSieve(p.Denials)
	b.Run("sieve", func(b *testing.B) {
		for i := range b.N {
			sieve.Touching(paths[i%len(paths)])
		}
	})
	b.Run("grants", func(b *testing.B) {
		for i := range b.N {
			grants.Allows(paths[i%len(paths)], profiles.Create)
		}
	})
}
