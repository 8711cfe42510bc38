package profiles_test

import (
	"slices"
	"testing"

	"skillrun/profiles"
)

// What tools fetch they keep in a store of the run's own, where they may fetch it
// and start it; elsewhere the user's is all there is.
func TestOwnStores(t *testing.T) {
	h := machine("/home/u/go/pkg/mod/cache/download/", "/home/u/.local/lib/python3.12/", "/home/u/.cargo/bin/", "/home/u/.cargo/config.toml")
	_, vars := profiles.Toolchains(h, "")
	const mods, fetched = "/home/u/go/pkg/mod", "https://proxy.golang.org|file:///home/u/go/pkg/mod/cache/download,direct"
	group := func(names ...string) (n profiles.Network) {
		n.Mode = profiles.NetHosts
		for _, name := range names {
			rules, ok := profiles.HostGroup(name)
			if !ok {
				t.Fatal(name)
			}
			n.Hosts = append(n.Hosts, rules...)
		}
		return n
	}
	for _, c := range []struct {
		what       string
		network    profiles.Network
		starts     bool
		env        string // GOPROXY, which passes
		mods, from string
	}{
		{"no network", profiles.Network{}, true, "", mods, ""},
		{"another's packages", group("npm"), true, "", mods, ""},
		{"modules", group("go"), true, "", "", fetched},
		{"packages of all kinds", group("go", "pypi", "crates"), true, "", "", fetched},
		{"any host", profiles.Network{Mode: profiles.NetHost}, true, "", "", fetched},
		{"nothing starts", profiles.Network{Mode: profiles.NetHost}, false, "", mods, ""},
		{"from somewhere else", group("go"), true, "https://mods.example.com", "", ""},
	} {
		p := &profiles.Profile{Network: c.network, Process: profiles.Process{ExecuteOwn: c.starts}, Env: profiles.Env{Set: append([]profiles.EnvVar(nil), vars...)}}
		delete(h.Env, "GOPROXY")
		if c.env != "" {
			h.Env["GOPROXY"] = c.env
			p.Env.Allow = []profiles.EnvRule{{Name: "GOPROXY"}}
		}
		p.OwnStores(h)
		got := map[string]string{}
		for _, v := range p.Env.Set {
			got[v.Name] = v.Value
		}
		if got["GOMODCACHE"] != c.mods || got["GOPROXY"] != c.from {
			t.Errorf("%s: %v", c.what, got)
		}
		for name, host := range map[string]string{"PYTHONUSERBASE": "pypi.org", "CARGO_HOME": "static.crates.io"} {
			fetches := c.starts && p.Reaches(host, 443, profiles.TCP).Allowed
			if _, users := got[name]; users == fetches {
				t.Errorf("%s: %s is the user's: %t", c.what, name, users)
			}
		}
	}
	rules, _ := profiles.Toolchains(h, "")
	p := &profiles.Profile{Paths: rules}
	if got := p.OfTool("python-user"); !slices.Equal(got, []string{"/home/u/.local/lib/python3.12"}) {
		t.Errorf("the user's packages: %v", got)
	}
	if got := p.OfTool("cargo"); !slices.Contains(got, "/home/u/.cargo/config.toml") || len(p.OfTool("car")) != 0 {
		t.Errorf("cargo's: %v", got)
	}
}
