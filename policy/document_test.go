package policy_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrun/policy"
)

// The session state document of the paper's figure 3.
const figure = `{
 "session_id": "s1", "workspace_root": "/w", "initialized_at": "2026-03-04T12:00:00.000000Z",
 "declared_pool": [{"capability": "filesystem.read", "effect": "allow", "priority": 1, "constraints": {"workspace_only": true}, "source": "session-default"}],
 "task_scope": [{"capability": "filesystem.read", "effect": "allow", "source": "task-scope"}],
 "granted_set": [{"capability": "web.fetch", "effect": "allow", "constraints": {"resource_scope": ["a.com"]}, "source": "user-grant", "granted_at": "2026-03-04T12:30:00.000000Z"}],
 "loaded_skills": ["pdf"]
}`

func TestStateDocument(t *testing.T) {
	s, err := policy.ParseState("s.json", []byte(figure))
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != "s1" || s.Workspace != "/w" || len(s.Declared) != 1 || s.Declared[0].Priority != 1 || len(s.Task) != 1 || s.Granted[0].Granted.IsZero() || s.Loaded[0] != "pdf" {
		t.Errorf("%+v", s)
	}
	for what, c := range map[string][2]string{
		"an unknown key":      {`"session_id"`, `"sessions": 1, "session_id"`},
		"a key twice":         {`"session_id"`, `"session_id": "s1", "session_id"`},
		"no ID":               {`"session_id": "s1", `, ``},
		"no beginning":        {`"initialized_at": "2026-03-04T12:00:00.000000Z"`, `"task_scope": []`},
		"a relative place":    {`"/w"`, `"w"`},
		"a place that climbs": {`"/w"`, `"/w/.."`},
		"no list":             {`["pdf"]`, `"pdf"`},
		"an unknown right":    {`"web.fetch"`, `"web.fetches"`},
		"an unknown effect":   {`"effect": "allow", "priority"`, `"effect": "yes", "priority"`},
		"an odd constraint":   {`"workspace_only": true`, `"workspace": true`},
		"an odd time":         {`2026-03-04T12:30`, `2026-13-04T12:30`},
		"a number as a text":  {`"priority": 1`, `"priority": "1"`},
	} {
		damaged := strings.Replace(figure, c[0], c[1], 1)
		if damaged == figure {
			t.Fatalf("%s: %s is not in the document", what, c[0])
		}
		if _, err := policy.ParseState("s.json", []byte(damaged)); err == nil {
			t.Errorf("%s is passed over", what)
		}
	}
}

// A document says all that decides.
func TestStateIsKept(t *testing.T) {
	law(t, func(t *rapid.T, draw *drawer, s policy.State, r policy.Request) {
		s.ID, s.Loaded = "s1", []string{"good"}
		b, err := s.JSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := policy.ParseState("s.json", b)
		if err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		again, err := kept.JSON(nil)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%v\n%s\n%s", err, b, again)
		}
		kept.Tiers, kept.Undeclared = s.Tiers, s.Undeclared // of the settings
		if was, is := s.Decide(r), kept.Decide(r); was.Effect != is.Effect || was.Source != is.Source {
			t.Fatalf("%v by %q, kept %v by %q: %s", was.Effect, was.Source, is.Effect, is.Source, b)
		}
	})
}

func TestDefaultsDocument(t *testing.T) {
	const doc = `{"description": "ours", "session_defaults": {"permissions": [{"capability": "filesystem.read", "effect": "allow"}]}}`
	e, err := policy.ParseDefaults("d.json", []byte(doc))
	if err != nil || len(e) != 1 || e[0].Source != "session-default" {
		t.Errorf("%+v, %v", e, err)
	}
	for _, bad := range []string{`{}{}`, `[]`, `{"session_defaults": {"permission": []}}`, `{"session_defaults": {"permissions": [{}]}}`, `{"skill_metadata": {"name": "x"}, "permissions": []}`, ``} {
		if _, err := policy.ParseDefaults("d.json", []byte(bad)); err == nil {
			t.Errorf("%s reads", bad)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(figure))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := policy.ParseState("s.json", data)
		if err != nil {
			return
		}
		b, err := s.JSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policy.ParseState("s.json", b); err != nil {
			t.Fatalf("%v in %q of %q", err, b, data)
		}
	})
}
