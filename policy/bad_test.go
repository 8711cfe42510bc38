package policy_test

import (
	"flag"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"skillrun/policy"
	"skillrun/profiles"
)

var update = flag.Bool("update", false, "rewrite testdata/*.txtar")

// golden compares the archive's files, each made by result from its input: the
// lines after a line "== ". Run `go test ./policy -update` after a change.
func golden(t *testing.T, file string, result func(name, input string) string) {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range ar.Files {
		input, want, _ := strings.Cut(string(f.Data), "\n== ")
		got := "\n" + strings.TrimRight(result(f.Name, input+"\n"), "\n")
		got = strings.ReplaceAll(got, "\n", "\n== ")[len("\n== "):]
		want = strings.TrimRight(want, "\n")
		if diff := cmp.Diff(want, got); diff != "" && !*update {
			t.Errorf("%s (go test ./policy -update rewrites it): %s", f.Name, diff)
		}
		ar.Files[i].Data = []byte(input + "\n== " + got + "\n")
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBadInput holds the message of every kind of fault.
func TestBadInput(t *testing.T) {
	golden(t, "testdata/bad.txtar", func(name, input string) string {
		// \xHH stands for bytes that a text file cannot hold.
		data := []byte(strings.NewReplacer(`\x00`, "\x00", `\x1b`, "\x1b", `\xff`, "\xff", `\xfe`, "\xfe", `\ufeff`, "\ufeff", `\x{85}`, "\u0085").Replace(input))
		var err error
		switch {
		case strings.HasPrefix(name, "SKILL"):
			s, findings := policy.ParseHeader("SKILL.md", data)
			if s.Document != nil {
				return "rights"
			}
			var lines []string
			for _, f := range findings {
				lines = append(lines, f.String())
			}
			return strings.Join(lines, "\n")
		case strings.HasPrefix(name, "config"):
			_, err = policy.ParseConfig("config.toml", data)
		case strings.HasPrefix(name, "capabilities"):
			_, err = policy.ParseCeiling("capabilities.yaml", data, nil)
		case strings.HasPrefix(name, "toml"):
			_, err = policy.ParseManifest("skillrun.toml", data)
		default:
			_, err = policy.ParseManifest("m.json", data)
		}
		if err == nil {
			t.Errorf("%s is accepted", name)
			return "accepted"
		}
		return err.Error()
	})
}

func TestGrantFaults(t *testing.T) {
	for grant, want := range map[string]string{
		"":                        `--grant "": unknown capability ""`,
		"filesystem.raed":         `--grant "filesystem.raed": unknown capability "filesystem.raed" (did you mean "filesystem.read"?)`,
		"net:example.com":         `--grant "net:example.com": unknown capability "net": not one of network.client, network_policy.modify`,
		"fetch:example.com":       `--grant "fetch:example.com": unknown capability "fetch": not one of web.fetch`,
		"example.com":             `--grant "example.com": unknown capability "example.com"`,
		"filesystem.*":            `--grant "filesystem.*": grants are single capabilities, not patterns`,
		"filesystem.read:":        `--grant "filesystem.read:": nothing after the colon`,
		"unix:x.sock":             `--grant "unix:x.sock": unix: takes the path of a socket, or @NAME`,
		"unix":                    `--grant "unix": unix: takes the path of a socket, or @NAME`,
		"listen":                  `--grant "listen": listen: takes PORT or FIRST-LAST, and *: before it for other addresses than loopback`,
		"listen:0":                `--grant "listen:0": listen: takes PORT or FIRST-LAST, and *: before it for other addresses than loopback`,
		"listen:9-8":              `--grant "listen:9-8": listen: takes PORT or FIRST-LAST, and *: before it for other addresses than loopback`,
		"listen:*":                `--grant "listen:*": listen: takes PORT or FIRST-LAST, and *: before it for other addresses than loopback`,
		"listen:65536":            `--grant "listen:65536": listen: takes PORT or FIRST-LAST, and *: before it for other addresses than loopback`,
		"web.fetch:127.1":         `--grant "web.fetch:127.1": ends in a number and is not an address`,
		"web.fetch:a.com:99999":   `--grant "web.fetch:a.com:99999": not a port between 1 and 65535`,
		"web.fetch:a.com\x00b":    `--grant "web.fetch:a.com\x00b": control character`,
		"env_var.read:A B":        `--grant "env_var.read:A B": not the name of a variable`,
		"external_api.call:*.com": `--grant "external_api.call:*.com": a wildcard over names of strangers (a top-level domain)`,
	} {
		if _, err := policy.ParseGrant(grant, "--grant"); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", grant, err, want)
		}
	}
}

// TestRefusedWhereverItLies: a refusal holds for a path that cannot be looked
// at, and for what a link leads to; a grant for neither.
func TestRefusedWhereverItLies(t *testing.T) {
	h := machine()
	h.FS.(fstest.MapFS)["w/out"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("/home/u/data")}
	for _, c := range []struct{ effect, scope, path string }{
		{"deny", "in.csv/key", "/w/in.csv/key"}, {"deny", "out/a.csv", "/home/u/data/a.csv"}, {"deny", "src", "/w/src"},
		{"allow", "in.csv/key", "/w/in.csv/key"}, {"allow", "out/a.csv", "/home/u/data/a.csv"},
	} {
		d := parse(t, "m.json", `{"permissions":[{"capability":"filesystem.read","effect":"`+c.effect+`","constraints":{"resource_scope":["`+c.scope+`"]}},
			{"capability":"filesystem.write","effect":"allow"}]}`)
		p, err := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved, Approve: policy.ApproveDeclared}).Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		refused := slices.ContainsFunc(p.Denials, func(d profiles.Denial) bool {
			return d.Path == c.path && d.Access&profiles.Read != 0 && d.Origin.Capability == "filesystem.read"
		})
		granted := slices.ContainsFunc(p.Paths, func(r profiles.PathRule) bool { return r.Path == c.path })
		if refused != (c.effect == "deny") || granted {
			t.Errorf("%s %s: refused %t, granted %t", c.effect, c.scope, refused, granted)
		}
	}
}

func TestListenGrants(t *testing.T) {
	for grant, want := range map[string]profiles.ListenRule{
		"listen:8080":      {Ports: profiles.PortRange{First: 8080, Last: 8080}},
		"listen:8000-8010": {Ports: profiles.PortRange{First: 8000, Last: 8010}},
		"listen:*:1-65535": {Ports: profiles.PortRange{First: 1, Last: 65535}, Any: true},
	} {
		g, err := policy.ParseGrant(grant, "--grant")
		if err != nil {
			t.Fatal(err)
		}
		p := lower(t, compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{g}}), inputs("true"))
		want.Origin = profiles.Origin{Source: "--grant", Capability: "listen", Reason: "granted by the user"}
		if diff := cmp.Diff([]profiles.ListenRule{want}, p.Network.Listen); diff != "" || p.Network.Mode != profiles.NetNone {
			t.Errorf("%s: %s", grant, diff)
		}
	}
	if e, err := policy.ParseEntries("m.json", []byte(`[{"capability": "listen", "effect": "allow", "constraints": {"resource_scope": ["8080"]}}]`)); err == nil {
		t.Errorf("a manifest may listen: %+v", e)
	}
}

// Every run makes terminals of its own, in containers, too, where /dev/ptmx is a link.
func TestTerminalsAreMade(t *testing.T) {
	for _, link := range []bool{false, true} {
		h, at := machine(), "/dev/ptmx"
		h.FS.(fstest.MapFS)["dev/ptmx"] = &fstest.MapFile{Mode: fs.ModeDevice | fs.ModeCharDevice | 0o666}
		if link {
			at = "/dev/pts/ptmx"
			h.FS.(fstest.MapFS)["dev/pts/ptmx"] = h.FS.(fstest.MapFS)["dev/ptmx"]
			h.FS.(fstest.MapFS)["dev/ptmx"] = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte("pts/ptmx")}
		}
		p, err := compose(t, policy.Input{Tier: policy.Approved}).Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		if !p.Allows(at, profiles.Read|profiles.Write).Allowed || p.Allows("/dev/pts/7", profiles.Read).Allowed {
			t.Errorf("link %t: no terminal can be made, or others be read", link)
		}
	}
}

// Who may read all files may use no device, whose capability or name is another.
func TestDevicesDenied(t *testing.T) {
	for grant, want := range map[string]map[string]bool{
		"filesystem.read":             {"/dev/null": true, "/dev/video0": false, "/dev/pts/7": false, "/dev/sda": false},
		"camera.capture":              {"/dev/video0": true, "/dev/pts/7": false},
		"filesystem.read:/dev/video0": {"/dev/video0": true, "/dev/video1": false},
	} {
		h := machine()
		h.FS.(fstest.MapFS)["dev/video0"] = &fstest.MapFile{Mode: fs.ModeDevice | fs.ModeCharDevice | 0o600}
		g, err := policy.ParseGrant(grant, "--grant")
		if err != nil {
			t.Fatal(err)
		}
		p, err := compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{g}}).Profile(h, inputs("true"))
		if err != nil {
			t.Fatal(err)
		}
		for path, ok := range want {
			if got := p.Allows(path, profiles.Read).Allowed; got != ok {
				t.Errorf("%s: %s may be read: %t", grant, path, got)
			}
		}
	}
}
