package main_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAgentProjectProxy: a proxy that the files of a project have the agent set is
// none to its runs; one of the user's environment is.
func TestAgentProjectProxy(t *testing.T) {
	t.Parallel()
	if !inOwnInternet(t) {
		return
	}
	newInternet(t, map[string]string{"good.example": "93.184.216.34"})
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go http.Serve(ln, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { fmt.Fprintln(rw, "by the proxy") }))
	at := "http://" + ln.Addr().String()

	a := newAgent(t)
	a.yes = true
	a.write("config/skillrun/config.toml", `grants = ["network.client:good.example:80", "network.client:nobody.example:80"]`)
	plain := slices.DeleteFunc(a.env, func(v string) bool { return strings.HasPrefix(v, ownInternet+"=") })
	plain = append(plain, "CLAUDE_PROJECT_DIR="+filepath.Join(a.work, "sub"))
	a.env = plain
	a.start()
	settings := func(env string) string {
		return `{"model": "x", /* as people leave it */ "env": {"A": "1"` + env + `},}`
	}
	for _, c := range []struct{ what, variable, file, text, want string }{
		{"the user's", "HTTP_PROXY", "", "", "by the proxy"},
		{"another variable of the project's", "HTTP_PROXY", ".claude/settings.json", settings(`, "X_PROXY": "http_proxy"`), "by the proxy"},
		{"the other case", "http_proxy", ".claude/settings.json", settings(`, "HTTP_PROXY": "x"`), "by the proxy"},
		{"the project's", "http_proxy", ".claude/settings.json", settings(`, "http_proxy": "x"`), "host=good.example"},
		{"escaped", "HTTP_PROXY", ".claude/settings.json", settings(`, "HTTP\u005fPROXY": "x"`), "host=good.example"},
		{"of all", "ALL_PROXY", ".claude/settings.local.json", settings(`, "ALL_PROXY": "x"`), "host=good.example"},
		{"where the agent was started", "HTTP_PROXY", "sub/.claude/settings.json", settings(`, "HTTP_PROXY": "x"`), "host=good.example"},
		{"no settings", "HTTP_PROXY", ".claude/settings.json", `{`, "host=good.example"},
		{"exceptions", "HTTP_PROXY", ".claude/settings.json", settings(`, "NO_PROXY": "*"`), "by the proxy"},
	} {
		if c.file != "" {
			a.write("work/"+c.file, c.text)
		}
		a.env = append(slices.Clip(plain), c.variable+"="+at)
		if c.what == "exceptions" {
			a.env = append(a.env, "NO_PROXY=*")
		}
		if u := a.bash("curl -sS http://good.example/"); !strings.Contains(u.out, c.want) {
			t.Errorf("%s: %s %s, want %s", c.what, u.refused, u.out, c.want)
		}
		if u := a.bash("curl -sS http://nobody.example/ && false"); strings.Contains(u.out, c.variable+" was not used") != (c.want != "by the proxy") {
			t.Errorf("%s: %s %s", c.what, u.refused, u.out)
		}
		if c.file != "" {
			if err := os.Remove(filepath.Join(a.work, c.file)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
