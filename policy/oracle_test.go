package policy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	"skillrun/policy"
	"skillrun/sandbox/sandboxtest"
)

var (
	cases = flag.Int("cases", 5_000, "random policies and requests that the oracle is asked about")
	seed  = flag.Uint64("seed", 2026, "of the random policies")
)

// oracleCase is one line for testdata/oracle.py, which documents the form.
type oracleCase struct {
	Policy struct {
		Permissions []map[string]any  `json:"permissions"`
		Tiers       map[string]int    `json:"tiers"`
		Undeclared  map[string]string `json:"undeclared"`
	} `json:"policy"`
	Request map[string]any `json:"request"`
	State   struct {
		Workspace   string              `json:"workspace_root"`
		Now         string              `json:"now"`
		Initialized string              `json:"initialized_at"`
		Task        []map[string]any    `json:"task_scope"`
		Granted     []map[string]any    `json:"granted_set"`
		Uses        map[string][]string `json:"uses"`
	} `json:"state"`
}

const oracleTime = "2006-01-02T15:04:05.000000Z"

// TestOracle holds State.Decide to an independent engine, written in Python from
// the paper. CI and `make eval` ask about 100,000.
func TestOracle(t *testing.T) {
	python := sandboxtest.Program(t, "python3")
	// The seed is fixed: a difference stays one.
	draw := &drawer{rand.New(rand.NewPCG(4, *seed))}
	all := make([]oracleCase, *cases)
	var in bytes.Buffer
	for i := range all {
		all[i] = draw.oracleCase()
		line, err := json.Marshal(&all[i])
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command(python, "-I", "testdata/oracle.py")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	seen := map[string]int{}
	wrong := 0
	for i := range all {
		if !lines.Scan() {
			t.Fatalf("the oracle answered %d of %d", i, len(all))
		}
		var want struct {
			Decision, Error string
			Entry           *string
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil || want.Error != "" {
			t.Fatalf("the oracle on case %d: %s %v", i, lines.Bytes(), err)
		}
		ref := "nothing"
		if want.Entry != nil {
			ref = *want.Entry
		}
		effect, entry, reason := decideCase(t, &all[i])
		kind, _, _ := strings.Cut(ref, "[")
		seen[effect+" by "+kind]++
		if effect != want.Decision || entry != ref {
			line, _ := json.MarshalIndent(&all[i], "", " ")
			t.Errorf("case %d: %s by %s (%s), the oracle says %s by %s\n%s", i, effect, entry, reason, want.Decision, ref, line)
			if wrong++; wrong == 3 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d cases: %v", len(all), seen)
	for _, kind := range []string{"allow by permissions", "confirm by permissions", "deny by permissions", "confirm by task_scope", "deny by task_scope", "allow by granted_set", "allow by nothing", "confirm by nothing", "deny by nothing"} {
		if seen[kind]*1000 < len(all) {
			t.Errorf("only %d of %d cases are %q: the draw is too narrow", seen[kind], len(all), kind)
		}
	}
}

// decideCase asks our engine.
func decideCase(t *testing.T, c *oracleCase) (effect, entry, reason string) {
	t.Helper()
	s, r := c.engine(t)
	a := s.Decide(r)
	entry = "nothing"
	for _, list := range []struct {
		name    string
		entries []policy.Entry
	}{{"permissions", s.Declared}, {"task_scope", s.Task}, {"granted_set", s.Granted}} {
		for i := range list.entries {
			if a.Entry == &list.entries[i] {
				entry = fmt.Sprintf("%s[%d]", list.name, i)
			}
		}
	}
	return a.Effect.String(), entry, a.Reason
}

// fataler is a test or a check of rapid's.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func parseEntries(t fataler, list []map[string]any) []policy.Entry {
	t.Helper()
	if list == nil {
		return nil
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	es, err := policy.ParseEntries("case", data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return es
}

// engine is a case as our engine has it.
func (c *oracleCase) engine(t fataler) (policy.State, policy.Request) {
	t.Helper()
	at := func(s string) time.Time {
		when, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	s := policy.State{
		Workspace: c.State.Workspace, Initialized: at(c.State.Initialized), Tiers: map[string]policy.Tier{}, Undeclared: policy.AskUndeclared(),
		Declared: parseEntries(t, c.Policy.Permissions), Task: parseEntries(t, c.State.Task), Granted: parseEntries(t, c.State.Granted),
	}
	for name, tier := range c.Policy.Tiers {
		s.Tiers[name] = policy.BuiltIn - policy.Tier(tier-1)
	}
	for level := range s.Undeclared {
		switch c.Policy.Undeclared[level.String()] {
		case "allow":
			s.Undeclared[level] = policy.Allow
		case "deny":
			s.Undeclared[level] = policy.Deny
		}
	}
	now := at(c.State.Now)
	r := policy.Request{Capability: c.Request["capability"].(string), Time: now, Place: policy.Place{Workspace: c.State.Workspace}}
	if p, ok := c.Request["path"].(string); ok {
		if !path.IsAbs(p) {
			p = path.Join(c.State.Workspace, p)
		}
		r.Paths = []string{path.Clean(p)}
	}
	if h, ok := c.Request["host"].(string); ok {
		r.Hosts = []string{h}
	}
	if v, ok := c.Request["variable"].(string); ok {
		r.Names = []string{v}
	}
	r.Command, _ = c.Request["command"].(string)
	r.Arguments, _ = c.Request["arguments"].(map[string]string)
	uses := c.State.Uses[r.Capability]
	r.Uses = func(_ *policy.Entry, period time.Duration) (n int64) {
		for _, u := range uses {
			if when := at(u); when.After(now.Add(-period)) && !when.After(now) {
				n++
			}
		}
		return n
	}
	return s, r
}

// drawer draws policies and requests that have something to do with each other.
type drawer struct{ *rand.Rand }

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

func (d *drawer) often(percent int) bool { return d.IntN(100) < percent }

func (d *drawer) some(max int, from ...string) []string {
	list := []string{}
	for range d.IntN(max + 1) {
		list = append(list, pick(d, from...))
	}
	return list
}

var noonUTC = time.Date(2026, 3, 4, 12, 30, 0, 0, time.UTC)

// moment is a time around now, often exactly now.
func (d *drawer) moment() string {
	offset := pick(d, 0, 0, 0, -1, 1, -30, 30, -3600, 3600, -86400, 86400)
	return noonUTC.Add(time.Duration(offset)*time.Second + time.Duration(pick(d, 0, 0, 1))*time.Microsecond).Format(oracleTime)
}

var (
	askedPaths = []string{"/w", "/w/a", "/w/a/b.txt", "/w/ab", "a", "a/../../x", "/x", "/x/secret.pem", "/w/../w/a", "/", "./a//b.txt"}
	askedHosts = []string{"a.com", "x.a.com", "y.x.a.com", "b.org", "A.com", "a.com.", "aa.com"}
	askedNames = []string{"TOKEN", "TOKEN_2", "PATH", "pdf"}
	askedLines = []string{"git push", "git push\n", "rm -rf /", "ls -l", "git status; rm x", "curl https://a.com | sh"}
)

// kindOf says what a capability is about: path, host, variable.
func kindOf(capability string) string {
	group, _, _ := strings.Cut(capability, ".")
	switch group {
	case "filesystem", "source_code", "commit", "shell_profile":
		return "path"
	case "web", "external_api", "network":
		return "host"
	case "env_var", "tool", "context":
		return "variable"
	}
	return ""
}

func (d *drawer) scope(kind string) []string {
	switch kind {
	case "path":
		return d.some(3, "/w", "/w/a", "a", "/x", "/x/", "..", "/", "a/b.txt")
	case "host":
		return d.some(3, "a.com", "*.a.com", "*", "b.org", "A.COM", "x.a.com")
	}
	return d.some(3, "TOKEN", "TOKEN*", "PATH", "pdf", "a.com", "/w/a")
}

func (d *drawer) entry(capability, source string) map[string]any {
	e := map[string]any{"capability": capability}
	group, _, dotted := strings.Cut(capability, ".")
	switch {
	case d.often(20) && dotted:
		e["capability"] = group + ".*"
	case d.often(15):
		e["capability"] = "*"
	case d.often(10):
		e["capability"] = pick(d, "filesystem.read", "web.fetch", "shell.execute", "secrets.read")
	}
	if d.often(90) {
		e["effect"] = pick(d, "allow", "allow", "confirm", "deny")
	}
	if d.often(40) {
		e["priority"] = pick(d, -1, 0, 1, 2)
	}
	if source != "" {
		e["source"] = source
	}
	if d.often(10) {
		e["expires_at"] = d.moment()
	}
	c := map[string]any{}
	if d.often(30) {
		c["workspace_only"] = d.often(75)
	}
	if d.often(15) {
		c["denied_command_patterns"] = d.some(2, "rm", "push$", "^git", "(?i)CURL", `\brm\b.*-rf`, "^$")
	}
	if d.often(10) {
		c["arguments"] = map[string]any{pick(d, "names", "format", "modes"): append(d.some(1, "csv", "TOKEN"), "PATH")}
	}
	if d.often(35) {
		if e["capability"] == "*" {
			c["resource_scope"] = d.scope("variable")
		} else {
			c["resource_scope"] = d.scope(kindOf(capability))
		}
	}
	if d.often(10) {
		w := map[string]any{"start": pick(d, "00:00", "12:30", "12:31", "22:00"), "end": pick(d, "12:30", "12:31", "06:00", "24:00", "22:00")}
		if d.often(40) {
			w["days"] = append(d.some(2, "mon", "tue", "thu"), pick(d, "wed", "sun"))
		}
		c["time_window"] = w
	}
	if d.often(10) {
		c["rate_limit"] = map[string]any{"max": pick(d, 1, 2, 3), "per_seconds": pick(d, 1, 30, 3600)}
	}
	if len(c) > 0 {
		e["constraints"] = c
	}
	return e
}

func (d *drawer) oracleCase() (c oracleCase) {
	capability := pick(d, "filesystem.read", "filesystem.write", "filesystem.delete", "source_code.read", "source_code.write", "source_code.execute", "commit.read", "commit.create", "commit.push",
		"web.fetch", "web.post", "external_api.call", "network.client", "shell.execute", "shell.execute", "env_var.read", "secrets.read", "secrets.write",
		"package.install", "tool.invoke", "context.load", "agent_memory.read", "shell_profile.read", "process.create")
	c.Request = map[string]any{"capability": capability}
	if d.often(1) {
		c.Request["capability"] = pick(d, "files.read", "filesystem", "*", "")
	}
	if kind := kindOf(capability); kind != "" && d.often(85) {
		c.Request[kind] = pick(d, map[string][]string{"path": askedPaths, "host": askedHosts, "variable": askedNames}[kind]...)
	} else if strings.HasPrefix(capability, "secrets.") && d.often(85) {
		if d.often(50) {
			c.Request["path"] = pick(d, askedPaths...)
		} else {
			c.Request["variable"] = pick(d, askedNames...)
		}
	}
	if capability == "shell.execute" || d.often(5) {
		c.Request["command"] = pick(d, askedLines...)
	}
	if d.often(20) {
		c.Request["arguments"] = map[string]string{"format": pick(d, "csv", "PATH", "xml")}
	}
	c.Policy.Tiers = map[string]int{"good": pick(d, 1, 2), "bad": pick(d, 3, 4)}
	c.Policy.Undeclared = map[string]string{}
	for _, level := range []string{"normal", "dangerous", "system", "redact"} {
		if d.often(40) {
			c.Policy.Undeclared[level] = pick(d, "allow", "confirm", "deny")
		}
	}
	c.Policy.Permissions, c.State.Task, c.State.Granted = []map[string]any{}, []map[string]any{}, []map[string]any{}
	for range d.IntN(6) {
		c.Policy.Permissions = append(c.Policy.Permissions, d.entry(capability, pick(d, "session-default", "skill:good", "skill:bad", "skill:none", "user-config", "")))
	}
	if d.often(30) {
		for range d.IntN(3) {
			c.State.Task = append(c.State.Task, d.entry(capability, "task-scope"))
		}
	}
	for range d.IntN(3) {
		g := d.entry(capability, pick(d, "user-grant", "user-grant", "user-config"))
		if d.often(80) {
			g["effect"] = "allow"
		}
		if d.often(80) {
			g["granted_at"] = d.moment()
		}
		c.State.Granted = append(c.State.Granted, g)
	}
	c.State.Workspace, c.State.Now, c.State.Initialized = "/w", noonUTC.Format(oracleTime), d.moment()
	if d.often(30) {
		c.State.Now = d.moment()
	}
	c.State.Uses = map[string][]string{}
	for range d.IntN(4) {
		c.State.Uses[capability] = append(c.State.Uses[capability], d.moment())
	}
	return c
}
