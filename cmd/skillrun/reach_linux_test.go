package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reaches are what manifests say of the network, and what then comes of it: the
// commands run together, and of the marks in them exactly those are seen
// outside that want names. said is found in what skillrun prints.
var reaches = []struct{ name, permission, script, want, said string }{
	{"packages are the registries, and nothing else", `"package.install"`,
		`curl -sk https://registry.npmjs.org/m1; curl -sk https://pypi.org/m2; curl -s http://registry.npmjs.org/m3
curl -sk https://m4.evil.example/; curl -s -m 30 --resolve pypi.org:443:151.101.1.69 -k https://pypi.org/m5`,
		"m1 m2", "skillrun: denied connect m4.evil.example"},
	{"packages of one ecosystem", `"package.install", "constraints": {"resource_scope": ["npm"]}`,
		`curl -sk https://registry.npmjs.org/m1; curl -sk https://pypi.org/m2`,
		"m1", "skillrun: denied connect pypi.org (not granted) - to allow: --grant package.install:pypi\n"},
	{"a registry is for reading", `"package.install", "constraints": {"resource_scope": ["debian"]}`,
		`curl -s http://deb.debian.org/m1; curl -s -d x http://deb.debian.org/m2`,
		"m1", "skillrun: denied connect deb.debian.org:80 (granted for reading only) - to allow: --grant network.client:deb.debian.org:80\n"},
	{"the web is for reading", `"web.fetch", "constraints": {"resource_scope": ["good.example"]}`,
		`curl -s http://good.example/m1; curl -sI http://good.example/m2; curl -s -X OPTIONS http://good.example/m3
curl -s -X POST -d x http://good.example/m4; curl -s -T /etc/hostname http://good.example/m5; curl -s -X DELETE http://good.example/m6
curl -s -H 'X-HTTP-Method-Override: DELETE' http://good.example/m7; curl -s -d x -G -X PATCH http://good.example/m8
curl -sk -d x https://good.example/m9`,
		"m1 m2 m3 m9", "skillrun: denied connect good.example:80"},
	{"an API is for everything", `"external_api.call", "constraints": {"resource_scope": ["good.example"]}`,
		`curl -s -d x http://good.example/m1; curl -s -X DELETE http://good.example/m2`, "m1 m2", ""},
	{"an empty list is none", `"external_api.call", "constraints": {"resource_scope": []}`,
		`curl -s http://good.example/m1; curl -s http://93.184.216.34/m2`, "", ""},
	{"a wildcard is what is beneath", `"external_api.call", "constraints": {"resource_scope": ["*.wild.example"]}`,
		`curl -s http://m1.wild.example/; curl -s http://wild.example/m2; curl -s http://wild.example.m3.evil.example/; curl -s http://m4wild.example/`,
		"m1", "skillrun: denied connect wild.example"},
	{"a prefix of addresses", `"external_api.call", "constraints": {"resource_scope": ["203.0.113.0/25"]}`,
		`curl -s http://203.0.113.9/m1; curl -s http://203.0.113.127/m2; curl -s http://203.0.113.128/m3; curl -s http://203.0.112.9/m4; curl -s -g 'http://[::ffff:203.0.113.9]/m5'`,
		"m1 m2 m5", "skillrun: denied connect 203.0.113.128"},
	{"a range of ports", `"external_api.call", "constraints": {"resource_scope": ["good.example:7770-7779"]}`,
		`printf '\001m1' | nc -N -w 30 good.example 7777; curl -s http://good.example/m2`,
		"m1", ""},
	{"a private address is not what a public name gives", `"external_api.call", "constraints": {"resource_scope": ["private.example", "good.example"]}`,
		`curl -s http://private.example/m1; curl -s --resolve good.example:80:10.0.0.5 http://good.example/m2; curl -s http://good.example/m3`,
		"m3", "skillrun: denied connect private.example"},
	{"a private address by itself", `"external_api.call", "constraints": {"resource_scope": ["10.0.0.5"]}`,
		`curl -s http://10.0.0.5/m1; curl -s http://10.0.0.6/m2`, "m1", "skillrun: denied connect 10.0.0.6"},
	{"all of com", `"external_api.call", "constraints": {"resource_scope": ["*.com"]}`, `curl -s http://m1.com/`, "", "skillrun: denied use of the network"},
	{"all of co.uk", `"external_api.call", "constraints": {"resource_scope": ["*.co.uk"]}`, `curl -s http://m1.co.uk/`, "", "skillrun: denied use of the network"},
	{"everyone's pages", `"external_api.call", "constraints": {"resource_scope": ["*.github.io"]}`, `curl -s http://m1.github.io/`, "", "skillrun: denied use of the network"},
	{"no rights", `"filesystem.read"`, `curl -s http://good.example/m1; curl -s http://93.184.216.34/m2`, "", ""},
}

// TestReach holds what a run reaches against what its manifest says, with
// namespaces and without.
func TestReach(t *testing.T) {
	t.Parallel()
	if !inOwnInternet(t) {
		return
	}
	w := newInternet(t, map[string]string{
		"good.example": "93.184.216.34", "*.evil.example": "151.101.1.69", "registry.npmjs.org": "104.16.1.34", "pypi.org": "151.101.0.223", "deb.debian.org": "151.101.130.132",
		"wild.example": "93.184.216.71", "*.wild.example": "93.184.216.70", "*.example": "93.184.216.72", "private.example": "10.0.0.5",
		"*.com": "93.184.216.73", "*.co.uk": "93.184.216.73", "*.github.io": "93.184.216.73",
	})
	w.sink(t)
	site := newSites(t, "", nil)[0]
	for i, r := range reaches {
		t.Run(r.name, func(t *testing.T) {
			manifest := `{"permissions": [{"effect": "allow", "capability": ` + r.permission + `}, {"capability": "shell.execute", "effect": "allow"}]}`
			if err := os.WriteFile(filepath.Join(site.dir, "m.json"), []byte(manifest), 0o644); err != nil {
				t.Fatal(err)
			}
			// Marks of this row and run alone.
			marked := func(s, of string) string {
				for n := 1; n < 10; n++ {
					s = strings.ReplaceAll(s, fmt.Sprintf("m%d", n), fmt.Sprintf("%s%d-%d", of, i, n))
				}
				return s
			}
			seen := func(of string) string {
				var marks []string
				notes := strings.Join(w.reached(), "\n")
				for n := 1; n < 10; n++ {
					if strings.Contains(notes, fmt.Sprintf("%s%d-%d", of, i, n)) {
						marks = append(marks, fmt.Sprintf("m%d", n))
					}
				}
				return strings.Join(marks, " ")
			}
			site.start(t, true, marked(r.script, "bare"))
			for n := 1; strings.Contains(r.script, fmt.Sprintf("m%d", n)); n++ {
				if lacking := w.await([]string{marked(fmt.Sprintf("m%d", n), "bare")}); len(lacking) > 0 {
					t.Fatalf("not seen from bare programs either: %v", lacking)
				}
			}
			for _, flags := range [][]string{{"--denials"}, {"--denials", "--namespaces", "off"}} {
				s := site
				s.words = append(append(s.words[:len(s.words)-1:len(s.words)-1], flags...), "--")
				w.reached()
				_, said := s.start(t, false, marked(r.script, "in"))
				w.await(strings.Fields(marked(r.want, "in")))
				if got := seen("in"); got != r.want {
					t.Errorf("%v: seen outside: %q, want %q: %s", flags, got, r.want, said)
				}
				if !strings.Contains(said, marked(r.said, "in")) {
					t.Errorf("%v: said %q, want %q", flags, said, r.said)
				}
			}
		})
	}
}
