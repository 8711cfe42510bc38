package policy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"skillrun/policy"
)

// The readers accept less than the usual libraries; what they accept means the
// same there.

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, -2.5e3, "x\u00e9\ud83d\ude00\n", true, null, {}], "b": ""}`, `[]`, "\"\\/\"", `{"a":1,"a":2}`, `1e999`, `-0`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := policy.ParseAny("json", data)
		if err != nil {
			place(t, err)
			return
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("accepted, but encoding/json says %v", err)
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			t.Fatal("accepted with text after the end")
		}
		if diff := cmp.Diff(number(want), got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func number(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return err.Error()
		}
		return f
	case []any:
		for i := range v {
			v[i] = number(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = number(v[k])
		}
	}
	return v
}

func FuzzTOML(f *testing.F) {
	for _, s := range []string{
		"a = 1\nb.c = \"x\"\n[t.u]\nv = [1, 2,\n 3]\n[[l]]\nx = {y = true}\n[[l]]\n",
		"s = '''a\r\nb'''\nt = \"\"\"\nx \\\n  y\"\"\"\"\n", "d = 2026-01-31T12:00:00Z", "x = 0x_1", "x = 1_000.5e-3", "[a]\n[a]", "a.b=1\n[a]\nc=2",
		"[a.b]\n[a]\n[a.c]\n", "a = 'x' # c\r\n", "[[a]]\n[a.b]\n[[a]]\n[a.b]\n", "x = +1", "x = 01", "\"q k\" = 0b1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := policy.ParseAny("toml", data)
		if err != nil {
			place(t, err)
			return
		}
		want := map[string]any{}
		if _, err := toml.Decode(string(data), &want); err != nil {
			t.Fatalf("accepted, but the library says %v", err)
		}
		if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func plain(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return plain(at)
		}
		return strings.ReplaceAll(v, "\r\n", "\n") // of which the library makes no one newline, as a reader may
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case []map[string]any:
		list := []any{}
		for _, m := range v {
			list = append(list, plain(m))
		}
		return list
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
		if v == nil {
			return []any{}
		}
	}
	return v
}

func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"name: pdf\ndescription: reads things,\n  and more\nallowed-tools: Read, Bash(git:*)\n",
		"allowed-tools:\n  - Read\n  - \"Bash(git diff *)\"\nlicense: MIT # c\n", "a:\n- x\n- 'it''s'\nb: {c: [1, two, 3.5], d: ~}\n",
		"d: >-\n  folded\n  text\nx: |\n  literal\n\n  more\ny: true\n", "a: &x 1\nb: *x\n", "<<: {a: 1}\n", "a: !!str 1", "a: 1\na: 2\n", "a: b: c", "a: 'x\n  y'",
		"version: 1.0\n", "a: -1\nb: 0x10\nc: 010\nd: 1_000\ne: .5\nf: yes\n", "a: [x, y]]\n", "a: [x,:y]", "a: [x?y]", "a: x?y\n", "a:\n    b: c\n  d: e\n", "k: # nothing\n  - v\n", "a: b\n # c\n d\n",
		"a: [x,\n  y # c\n]\nb: 1\n", "a: [\n# c\n  {k:\n    v}, [\n z ],\n ]\n", "a:\n  b: [x,\n  y]\n", "a: [x,\ny]\n", "a: [[x\n]]\n", "a: [x\n  y]\n", "a: [x,#c\n  y]\n", "- [a,\n  b]\n", "a: [x,\n---\n]\n",
	} {
		f.Add([]byte(s))
	}
	f.Add([]byte("a: 1\n" + strings.Repeat("p", 2000) + ": 0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := policy.ParseAny("yaml", data)
		if err != nil {
			place(t, err)
			return
		}
		var want yaml.Node
		if err := yaml.Unmarshal(data, &want); err != nil {
			t.Fatalf("accepted, but the library says %v", err)
		}
		if want.Kind == 0 {
			want = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
		}
		same(t, want.Content[0], got)
	})
}

// A list in brackets is the same whatever lines it stands on.
func TestFlowOverLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := func(least string) string {
			return least + rapid.StringMatching(`( | # c\]"\n +|\n\n {1,3}|\n# \[\n {2})?`).Draw(t, "gap")
		}
		text := "allowed-tools: [" + gap("")
		items := rapid.SliceOfN(rapid.StringMatching(`Read|Bash\(git:\*\)|"Bash\(jq:\*\)"|'a, b'|"# c"|\[\]`), 0, 5).Draw(t, "items")
		for i, item := range items {
			if i > 0 {
				text += "," + gap("")
			}
			text += item + gap("")
		}
		if len(items) > 0 && rapid.Bool().Draw(t, "comma") {
			text += ","
		}
		text += rapid.SampledFrom([]string{"]", "\n]", " # c\n]", "\n\n  ] # c"}).Draw(t, "end") + "\nname: x\n"
		got, err := policy.ParseAny("yaml", []byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var want map[string]any
		if err := yaml.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q: the library: %v", text, err)
		}
		if !cmp.Equal(got, any(want)) {
			t.Fatalf("%q: %#v, and the library %#v", text, got, want)
		}
	})
}

// What readers take differently, and what has no end, is an error that says where.
func TestFlowOverLinesRefused(t *testing.T) {
	for text, want := range map[string]string{
		"a: [x,\ny]\n":           `f:2:1: unexpected indentation`,
		"a:\n  b: [x,\n  y]\n":   `f:3:3: unexpected indentation`,
		"a:\n  b: [x\n ]\n":      `f:3:2: unexpected indentation`,
		"a: [[x\n]]\n":           `f:2:1: unexpected indentation`,
		"a: [x,\n---\n]\n":       `f:2:1: unexpected indentation`,
		"a: [x\n  y]\n":          `f:2:3: 'y' where "," or ']' should be`,
		"a: [x,\n  y\n":          `f:1:4: '[' without its end`,
		"a: [x,\n  {k: v\n  ]\n": `f:3:3: ']' where "," or '}' should be`,
		"a: [x,#\n  y]\n":        `f:1:7: '#' cannot begin a value`,
		"a: [x,\n\ty]\n":         `f:2:1: unexpected indentation`,
		"a: [x,\n  b: c]\n":      `f:2:4: ':' in a value needs quotes`,
		"a:\n- [x,\n  y]\n":      `f:2:3: '[' without its end`,
	} {
		_, err := policy.ParseAny("yaml", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// Values that carry no rights may be anything; those that do are read as the library
// reads them, whatever stands around.
func FuzzIgnored(f *testing.F) {
	for _, s := range ignoredValues {
		f.Add([]byte("x: " + s + "\nallowed-tools: Read\n"))
		f.Add([]byte("x:\n  y: " + s + "\n  z:\n    - 'a'\nallowed-tools: [Read]\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := policy.ParseAny("header", data)
		if err != nil {
			place(t, err)
			return
		}
		var want yaml.Node
		if err := yaml.Unmarshal(data, &want); err != nil || want.Kind == 0 {
			return // nobody has rights by it
		}
		keys, ok := got.(map[string]any)
		if !ok {
			return
		}
		n := want.Content[0]
		if n.Kind != yaml.MappingNode || len(n.Content) != 2*len(keys) {
			t.Fatalf("the library has %d keys, and %v", len(n.Content)/2, keys)
		}
		for i := 0; i < len(n.Content); i += 2 {
			v, ok := keys[n.Content[i].Value]
			if !ok {
				t.Fatalf("no key %q in %v", n.Content[i].Value, keys)
			}
			switch n.Content[i].Value {
			case "allowed-tools", "capabilities", "trust":
				same(t, n.Content[i+1], v)
			}
		}
	})
}

// ignoredValues are values of keys that carry no rights.
var ignoredValues = []string{
	"\n  PreToolUse:\n    - matcher: \"Bash\"\n      hooks:\n        - type: command\n          command: \"./x.sh \\\"$1\\\"\"\n",
	"\n- a: 1\n  b: [x, {c: d}]\n-\n  e: 'it''s'\n- - f\n  - g\n",
	"\n  {\n    \"openclaw\": {\"requires\": [\"a\", \"b:c\"],\n      \"os\": \"x ] } # y\" },\n  }",
	"\"several\n  lines \\x41\"", "'one\n\n  two'", "plain text, it's \"so\"\n  and more \"of\n  it'", "&a !!str b", "*a", "\n  ? k\n  : v",
	"|\n  text: \"\n  - '\n", ">-\n    folded [\n\n    {more\n", "# comment's\n  a: b # \"c", "\n  - |\n    x \"\n  - k: >\n      ' y\n    l: m",
	"[a, # it's\n  b,\n]", "{\n  \"k\": [\"v\", # ]\n  ]\n}", "[it's, a \"b, http://x]", "{a: b: c}", "\n  a b c: d\n  \"e f\": g",
}

// What agents keep in headers takes no right away.
func TestIgnoredValues(t *testing.T) {
	for _, value := range ignoredValues {
		if strings.Contains(value, "b: c}") {
			continue // is none
		}
		s, findings := policy.ParseHeader("SKILL.md", []byte("---\nname: x\nhooks: "+value+"\nallowed-tools: Read\n---\n"))
		if s.Document == nil || len(findings) > 0 {
			t.Errorf("%q: %v", value, findings)
		}
	}
	// Others would read on, over what counts.
	for _, value := range []string{
		"\"open", "'open", "[open", "{a: \"b", "\n  a: plain\n    \"cont\n  b: \"", "\n  a: |\n      text\n    \"open", "{a: !t \"}", "{? \"}", "[a #\n  \"]", "[a,#\n  \"]", "]", "x\n]", "[\n]]", "\n  - [\n]]", "\n  \"a\": \"b",
		"x\u2028y: \"", "|\n  x\u2028y: \"",
	} {
		s, findings := policy.ParseHeader("SKILL.md", []byte("---\nhooks: "+value+"\nallowed-tools: Read\nz: \"]}'\n---\n"))
		if s.Document != nil || len(findings) != 1 {
			t.Errorf("%q gives rights: %v", value, findings)
		}
	}
}

// What public skills have in headers is no slip of the pen.
func TestUsualKeys(t *testing.T) {
	for _, line := range []string{
		"agent: x", "argument-hint: x", "author: x", "compatibility: x", "context: x", "dependencies: x", "disable-model-invocation: true", "disallowed-tools: x",
		"hooks: x", "license: x", "model: x", "permissions: x", "tags: [x]", "tools: x", "user-invocable: true", "version: 1",
		"metadata:\n  capability: x", "x: |\n  Capabilities: x\n  allowed tools: x", "# allowed_tools: x", `"allowed-tools": Read`,
	} {
		if _, findings := policy.ParseHeader("SKILL.md", []byte("---\nname: x\n"+line+"\n---\n")); len(findings) > 0 {
			t.Errorf("%q: %v", line, findings)
		}
	}
}

// same compares structure and strings; numbers and truth values only have to be
// no strings on either side, since no right hangs on their value.
func same(t *testing.T, n *yaml.Node, v any) {
	switch n.Kind {
	case yaml.MappingNode:
		m, ok := v.(map[string]any)
		if !ok || len(m) != len(n.Content)/2 {
			t.Fatalf("line %d: mapping, and %#v", n.Line, v)
		}
		for i := 0; i < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
				t.Fatalf("line %d: key %v", k.Line, k)
			}
			w, ok := m[k.Value]
			if !ok {
				t.Fatalf("line %d: no key %q", k.Line, k.Value)
			}
			same(t, n.Content[i+1], w)
		}
	case yaml.SequenceNode:
		l, ok := v.([]any)
		if !ok || len(l) != len(n.Content) {
			t.Fatalf("line %d: sequence, and %#v", n.Line, v)
		}
		for i := range l {
			same(t, n.Content[i], l[i])
		}
	case yaml.ScalarNode:
		s, isString := v.(string)
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			if !isString || strings.Join(strings.Fields(s), " ") != strings.Join(strings.Fields(n.Value), " ") {
				t.Fatalf("line %d: block %q, and %#v", n.Line, n.Value, v)
			}
			return
		}
		if n.Tag == "!!str" && (!isString || s != n.Value) {
			t.Fatalf("line %d: string %q, and %#v", n.Line, n.Value, v)
		}
		if n.Tag == "!!null" && v != nil {
			t.Fatalf("line %d: null, and %#v", n.Line, v)
		}
	default:
		t.Fatalf("line %d: kind %v", n.Line, n.Kind)
	}
}

// place checks that an error says where.
func place(t *testing.T, err error) {
	var e *policy.Error
	if !errors.As(err, &e) || e.Pos.File == "" || strings.ContainsAny(err.Error(), "\n\x1b\x00") {
		t.Fatalf("error without a place or with raw text: %q", err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add("m.json", []byte(`{"permissions": [{"capability": "filesystem.read", "constraints": {"resource_scope": ["a/*.csv"], "rate_limit": {"max": 1, "per": "day"}}}]}`))
	f.Add("m.toml", []byte("[[permissions]]\ncapability = \"web.*\"\nexpires_at = 2026-01-31T12:00:00Z\n[limits]\nmemory = \"1GiB\"\n"))
	f.Add("m.json", []byte(`{"permissions": [{"capability": "*", "effect": "allow"}, {"capability": "web.fetch", "effect": "deny", "priority": -1, "constraints": {"resource_scope": ["x.com"]}}]}`))
	f.Fuzz(func(t *testing.T, file string, data []byte) {
		d, err := policy.ParseManifest(file, data)
		if err != nil {
			return
		}
		// Whatever a manifest says, it lowers.
		s := compose(t, policy.Input{Documents: []*policy.Document{d}, Tier: policy.Approved, Approve: policy.ApproveDeclared})
		lower(t, s, inputs("python3", "run.py"))
		s.Decide(policy.Request{Capability: "filesystem.read", Paths: []string{"/w/x"}, Place: policy.Place{Workspace: "/w"}, Time: noon})
	})
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte("---\nname: x\nallowed-tools: Read Bash(git:*) WebFetch(domain:a.com)\n---\n"))
	f.Add([]byte("---\nname: x\ncapabilities:\n  tools: [web_fetch, oauth_call:gmail]\n  domains: [a.com]\n---\nbody"))
	f.Add([]byte("---\nname: x\nallowed-@\x00ols:"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, findings := policy.ParseHeader("SKILL.md", data)
		if s.Document != nil && len(findings) > 0 {
			t.Fatal("rights and a finding:", findings)
		}
		for _, f := range findings {
			if strings.ContainsAny(f.String(), "\n\x1b\x00") {
				t.Fatalf("raw text in %q", f.String())
			}
		}
		if s.Document != nil {
			lower(t, compose(t, policy.Input{Documents: []*policy.Document{s.Document}, Tier: policy.Approved, Approve: policy.ApproveDeclared}), inputs("true"))
		}
	})
}

func FuzzConfig(f *testing.F) {
	f.Add("c.toml", []byte("preset = \"ci\"\ngrants = [\"unix:/run/x.sock\"]\n[skills.a]\ngrants = []\n"))
	f.Add("c.yaml", []byte("tools:\n  web_fetch: {allow: scoped, scopes: {a.com: allow, b.com: ask_user}}\n"))
	f.Fuzz(func(t *testing.T, file string, data []byte) {
		if file == "" {
			return // a place needs a name
		}
		if _, err := policy.ParseConfig(file, data); err != nil {
			place(t, err)
		}
		if _, err := policy.ParseCeiling(file, data, nil); err != nil {
			place(t, err)
		}
	})
}

func FuzzGrant(f *testing.F) {
	for _, s := range []string{"filesystem.read:~/x", "unix:@a", "web.fetch:[::1]:80", "network.client:10.0.0.0/8:1-2", "env_var.read:A*", "unix:@", "listen:*:80-81"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := policy.ParseGrant(s, "--grant")
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Fatalf("raw text in %q", err)
			}
			return
		}
		lower(t, compose(t, policy.Input{Tier: policy.Approved, Grants: []policy.Entry{g}}), inputs("true"))
	})
}

// What is held against all others of its kind has a bound: a megabyte of it is
// not read for minutes.
func TestTooMany(t *testing.T) {
	list := func(n int, format, between string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(all, between)
	}
	for _, c := range []struct {
		form, text, want string
	}{
		{"json", "{" + list(2000, `"a%d": 1`, ",") + "}", ""},
		{"json", "{" + list(60000, `"a%d": 1`, ",") + "}", "more than 2000 keys"},
		{"toml", list(2000, "a%d = 1", "\n"), ""},
		{"toml", list(60000, "a%d = 1", "\n"), "more than 2000 keys"},
		{"toml", list(60000, "[a%d]", "\n"), "more than 2000 keys"},
		{"toml", "a = {" + list(60000, "a%d = 1", ",") + "}", "more than 2000 keys"},
	} {
		if _, err := policy.ParseAny(c.form, []byte(c.text)); fmt.Sprint(err) != "<nil>" && c.want == "" || c.want != "" && !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s of %d bytes: %v, want %q", c.form, len(c.text), err, c.want)
		}
	}
	for n, want := range map[int]string{1000: "<nil>", 50000: "skill.json:1:1: the manifest holds 50007 values, more than 4000"} {
		text := `{"permissions": [{"capability": "web.fetch", "effect": "allow", "constraints": {"resource_scope": [` + list(n, `"h%d.example"`, ",") + `]}}]}`
		if _, err := policy.ParseManifest("skill.json", []byte(text)); fmt.Sprint(err) != want {
			t.Errorf("%d hosts: %v", n, err)
		}
	}
}

func TestDeepNesting(t *testing.T) {
	start := time.Now()
	for form, text := range map[string]string{
		"json": strings.Repeat("[", 200000),
		"toml": "a = " + strings.Repeat("[", 200000),
		"yaml": "a: " + strings.Repeat("[", 200000),
	} {
		if _, err := policy.ParseAny(form, []byte(text)); err == nil || !strings.Contains(err.Error(), "nested deeper than 64 levels") {
			t.Errorf("%s: %v", form, err)
		}
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
}

// What is wrong with one of several tools is said where that one stands.
func TestToolPlaces(t *testing.T) {
	const wrong = "Bash(a*b)"
	for _, value := range []string{
		wrong, "Read, " + wrong, "Read\n  Write,  " + wrong + " Grep\n  Glob", "Read,\r\n " + wrong + "\r\n",
		"|\n  Read\n  Write " + wrong + "\n", ">-\n   Read\n\n   " + wrong,
		`"Read ` + wrong + `"`, `"Re\/d \"x\" ` + wrong + `"`, "'it''s " + wrong + "'", "[Read,\n  " + wrong + "]", "\n- Read\n- " + wrong,
	} {
		text := "---\nname: x\nallowed-tools: " + value + "\n---\n"
		before, _, _ := strings.Cut(text, wrong)
		want := fmt.Sprintf("SKILL.md:%d:%d: ", 1+strings.Count(before, "\n"), len(before)-strings.LastIndex(before, "\n"))
		s, findings := policy.ParseHeader("SKILL.md", []byte(text))
		if s.Document != nil || len(findings) != 1 || !strings.HasPrefix(findings[0].String(), want) {
			t.Errorf("%q: %v, want %s", value, findings, want)
		}
	}
}

// A header that is longer than is read is refused, whatever of it was read: it may
// have said less than what a skill without one gets.
func TestLongHeaderRefused(t *testing.T) {
	const most = 64 << 10
	long := func(size int, end string) []byte {
		const begin, tools = "---\nname: x\ndescription: ", "\nallowed-tools: Read\n"
		return []byte(begin + strings.Repeat("d", size-len(begin+tools+end)) + tools + end)
	}
	for what, c := range map[string]struct {
		data    []byte
		refused bool
		rights  bool
	}{
		"the longest":                {append(long(most, "---\n"), strings.Repeat("text\n", most)...), false, true},
		"the longest, and no text":   {long(most, "\n---"), false, true},
		"one byte longer":            {append(long(most+1, "---\n"), strings.Repeat("text\n", most)...), true, false},
		"an end that is none":        {append(long(most, "---"), "more: x\n---\n"...), true, false},
		"tools after it":             {long(2*most, "---\n"), true, false},
		"tools before it":            {[]byte("---\nallowed-tools: Read\nd: " + strings.Repeat("d", most) + "\n---\n"), true, false},
		"a mark before it":           {append([]byte("\ufeff"), long(2*most, "---\n")...), true, false},
		"no rights in it":            {[]byte("---\nd: " + strings.Repeat("d", most) + "\n---\n"), true, false},
		"no header":                  {[]byte("# x\n" + strings.Repeat("text\n", most)), false, false},
		"no end in a file that ends": {long(most, ""), false, false},
	} {
		s, _ := policy.ParseHeader("d/SKILL.md", c.data)
		doc, _, err := policy.ParseFile(policy.File{Name: "SKILL.md", Data: c.data})
		if (s.Fault != nil) != c.refused || (err != nil) != c.refused || (s.Document != nil) != c.rights || (doc != nil) != c.rights {
			t.Errorf("%s: %v %v, rights %v", what, s.Fault, err, s.Document != nil)
		}
		if want := "d/SKILL.md:1:1: the header does not end within 65536 bytes"; c.refused && fmt.Sprint(s.Fault) != want {
			t.Errorf("%s: %v", what, s.Fault)
		}
	}
}
