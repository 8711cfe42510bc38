package scan_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/policy/scan"
)

// The remote that git fetches from is asked for by its address, where that is known,
// and by none where it is not.
func TestRemote(t *testing.T) {
	env := scan.Env{FS: fstest.MapFS{"w/sub/x": {}, "w/other/x": {}}, Dir: "/w", Roots: []string{"/w"}, Remote: func(dir, name string) (string, bool) {
		address, known := map[string]string{
			"/w ": "https://default.example/x", "/w up": "https://user:secret@up.example:8443/x", "/w scp": "git@scp.example:x/y", "/w short": "short.example:x",
			"/w six": "git@[::1]:x", "/w daemon": "git://127.0.0.1:9418/x", "/w path": "../bare", "/w dir": "bare", "/w self": ".", "/w helper": "helper::x",
			"/w https://good.example/x": "https://evil.example/x", "/w/sub up": "https://sub.example/x", "/w/other ": "https://other.example/x",
		}[dir+" "+name]
		return address, known
	}}
	for _, c := range []struct{ command, want string }{
		{"git fetch", "web.fetch default.example"},
		{"git pull", "web.fetch default.example"},
		{"git ls-remote", "web.fetch default.example"},
		{"git fetch --depth 1 up main", "web.fetch up.example:8443"},
		{"git pull up main", "web.fetch up.example:8443"},
		{"git ls-remote scp", "network.client scp.example:22"},
		{"git ls-remote short", "network.client short.example:22"},
		{"git fetch six", "web.fetch ?"},
		{"git fetch daemon", "network.client 127.0.0.1:9418"},
		{"git fetch path", "filesystem.read ../bare"},
		{"git fetch dir", "filesystem.read bare"},
		{"git fetch self", "filesystem.read ."},
		{"git fetch helper", "web.fetch ?"},
		{"git fetch https://good.example/x", "web.fetch evil.example"},
		{"git fetch https://none.example/x", "web.fetch none.example"},
		{"cd sub && git fetch up", "web.fetch sub.example"},
		{"git -C other fetch", "web.fetch other.example"},
		{"git -C /elsewhere fetch", "web.fetch ?"},
		{"git -C \"$X\" fetch", "web.fetch ?"},
		{"git fetch unknown", "web.fetch ?"},
		{"git fetch \"$X\"", "web.fetch ?"},
		{"git fetch --all", "web.fetch ?"},
		{"git fetch --multiple up scp", "web.fetch ?"},
		{"git push up main", "commit.push ?up"},
	} {
		r := scan.Command(c.command, env)
		var got []string
		for _, n := range r.Needs {
			if n.Capability != "web.fetch" && n.Capability != "network.client" && n.Capability != "filesystem.read" && n.Capability != "commit.push" || n.Capability == "filesystem.read" && n.Target == "/elsewhere" {
				continue
			}
			target := n.Target
			if !n.Exact {
				target = "?" + target
			}
			if ports := r.Ports[n.Target]; ports != nil {
				target = strings.Join(ports, ",")
			}
			got = append(got, n.Capability+" "+target)
		}
		if !slices.Contains(got, c.want) || len(got) != 1 {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
		if strings.Contains(strings.Join(got, " "), "secret") {
			t.Errorf("%s: %q", c.command, got)
		}
	}
}
