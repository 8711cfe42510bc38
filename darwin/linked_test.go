package darwin_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"skillrun/darwin"
	"skillrun/profiles"
)

// mapped is a workspace "W" of files without contents, "a -> b" for links, "a =" for
// sockets.
func mapped(names ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for _, n := range names {
		name, target, link := strings.Cut(n, " -> ")
		name, socket := strings.CutSuffix(name, " =")
		name = workspace + strings.TrimPrefix(name, "W")
		m[name[1:]] = &fstest.MapFile{Mode: 0o644}
		if socket {
			m[name[1:]] = &fstest.MapFile{Mode: fs.ModeSocket | 0o666}
		}
		if link {
			m[name[1:]] = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte(target)}
		}
	}
	return m
}

// holds says that both evaluators answer queries, as "want: query", about a policy for
// what is there, in which the workspace may be written and deleted.
func holds(t *testing.T, fsys fs.FS, queries ...string) {
	t.Helper()
	holdsWith(t, fsys, []profiles.PathRule{tree(workspace, rw|profiles.Delete, "filesystem.delete")}, 1000, queries...)
}

// holdsWith is holds with other grants, and at most so many entries looked at for what
// exists.
func holdsWith(t *testing.T, fsys fs.FS, grants []profiles.PathRule, limit int, queries ...string) {
	t.Helper()
	p, f := small(), standardFacts()
	p.Paths = grants
	p.Denials = append(profiles.WorkspaceSecrets(workspace), profiles.ControlFiles(workspace)...)
	p, _ = darwin.WithLinked(fsys, p, 1000)
	f.Exists, f.Contents = darwin.Look(fsys, p, limit)
	policy, err := darwin.Compile(p, f)
	if err != nil {
		t.Fatal(err)
	}
	own := parse(t, policy, 15)
	var asked, want []string
	for _, q := range queries {
		w, query, _ := strings.Cut(q, ": ")
		asked, want = append(asked, spell(query)), append(want, w)
		if got := ask(t, own, spell(query)); got != w {
			t.Errorf("%s: %s", query, got)
		}
	}
	for i, got := range askTool(t, evaluator(t), policy, 15, asked) {
		if got != want[i] {
			t.Errorf("%s: sbpl-eval says %s", asked[i], got)
		}
	}
}

// TestLinked: what denied names lead to is denied by its own name, and what is on the
// way there stays.
func TestLinked(t *testing.T) {
	t.Parallel()
	holds(t, mapped("W/.claude -> conf/c", "W/conf/c/settings.json -> ../real", "W/conf/real", "W/conf/c/agents -> ../../later/agents",
		"W/.env -> mid", "W/mid -> secrets/dev", "W/secrets/dev", "W/svc/.vscode -> ../editor", "W/editor/tasks.json",
		"W/lib/.git -> ../store", "W/store/hooks -> ../h", "W/h/pre-commit", "W/store/HEAD", "W/.mcp.json -> x/../m", "W/x/y", "W/free -> conf",
	), "deny: @write W/conf/c/settings.json", "deny: @create W/conf/c/new", "deny: @write W/conf/real", "allow: @read W/conf/real", "deny: @unlink W/conf/real", "deny: @rename W/conf W/d",
		"allow: @write W/conf/other", "deny: @create W/later", "deny: @create W/later/agents/x",
		"deny: @read W/secrets/dev", "allow: @read W/secrets/other", "deny: @unlink W/mid", "deny: @rename W/y W/mid", "deny: @rename W/secrets W/s",
		"deny: @unlink W/svc", "deny: @create W/editor/launch.json", "deny: @create W/store/config", "deny: @create W/h/post-commit", "allow: @write W/store/HEAD", "deny: @unlink W/store/hooks",
		"deny: @unlink W/x", "allow: @create W/x/new", "deny: @create W/m", "allow: @unlink W/free", "deny: @link W/conf/real W/r")
	holds(t, mapped("W/.claude -> .", "W/settings.json", "W/x"), "deny: @write W/settings.json", "deny: @create W/hooks/x", "allow: @read W/settings.json", "allow: @write W/x", "allow: @create W/src/settings.json")
}

// A socket that was there is not brought to where the run may connect to its own.
func TestSocketsStay(t *testing.T) {
	t.Parallel()
	holds(t, mapped("W/run/s =", "W/run/x"), "deny: @unlink W/run/s", "deny: @rename W/run/s T/s", "deny: @link W/run/s T/s", "deny: @rename W/run T/run",
		"allow: @unlink W/run/x", "allow: @create W/run/new", "allow: @rename W/run/x T/x")
}

// TestRepositoryFiles: a file or link by which git finds a repository is not made,
// changed or moved.
func TestRepositoryFiles(t *testing.T) {
	t.Parallel()
	holds(t, mapped("W/.git", "W/sub/.git", "W/lib/.git/HEAD"),
		"deny: @write W/.git", "deny: @write W/sub/.git", "deny: @unlink W/sub/.git", "deny: @rename W/x W/sub/.git", "deny: @rename W/sub/.git W/x", "deny: @link W/sub/.git W/x",
		"deny: @create W/new/.git", "deny: @create W/new/.GIT", "deny: @write W/sub/.GIT",
		"allow: @read W/sub/.git", "allow: @create W/sub/.gitignore", "allow: @write W/sub/x.git", "allow: @write W/lib/.git/HEAD", "allow: @link W/lib/x W/x")
}

// TestRepositoryMade: where a workspace has no repository the run may make one, with all
// that git puts in it, and none deeper or in another spelling.
func TestRepositoryMade(t *testing.T) {
	t.Parallel()
	const verdicts = "VERDICT: @create W/.git|VERDICT: @unlink W/.git|VERDICT: @create W/.git/config|VERDICT: @create W/.git/hooks|VERDICT: @create W/.git/hooks/pre-commit.sample"
	queries := func(verdict string) []string {
		return strings.Split(strings.ReplaceAll(verdicts, "VERDICT", verdict), "|")
	}
	holds(t, mapped("W/lib/x", "W/README"), append(queries("allow"),
		"allow: @create W/.git/HEAD", "allow: @create W/.git/info", "allow: @create W/.git/info/exclude", "allow: @create W/.git/objects/ab", "allow: @rename W/.git/config.lock W/.git/config",
		"deny: @create W/.GIT", "deny: @create W/lib/.git", "deny: @create W/new/.git", "deny: @create W/.git/x/.git", "deny: @create W/.git/info/attributes", "deny: @create W/.git/worktrees",
		"deny: @create W/.github", "deny: @create W/.claude", "deny: @unlink W")...)
	holds(t, mapped("W/.git/HEAD", "W/.git/info/exclude"), append(queries("deny"), "allow: @create W/.git/index.lock")...)
	for _, there := range []string{"W/.git", "W/.GIT", "W/.git -> x", "W/.GIT/HEAD"} {
		holds(t, mapped(there), "deny: @create W/.git", "deny: @write W/.git", "deny: @unlink W/.git")
	}
}

// TestMovedOut: a directory above a secret stays where the run may delete and not
// create, too, and so does one that is granted by its name alone.
func TestMovedOut(t *testing.T) {
	t.Parallel()
	fsys := mapped("W/sub/deep/.env", "W/free/x")
	for _, grants := range [][]profiles.PathRule{
		{tree(workspace, profiles.Read|profiles.Delete, "filesystem.delete")},
		{tree(workspace, profiles.Read, "filesystem.read"), {Path: workspace + "/sub", Access: profiles.Delete}, {Path: workspace + "/free", Access: profiles.Delete}},
		{tree(workspace, profiles.Read, "filesystem.read"), {Path: workspace + "/sub", Access: profiles.Create}, {Path: workspace + "/free", Access: profiles.Delete}},
	} {
		holdsWith(t, fsys, grants, 1000, "deny: @rename W/sub T/s", "deny: @read W/sub/deep/.env", "allow: @rename W/free T/f", "allow: @read T/s/deep/.env")
		holdsWith(t, fsys, grants, 0, "allow: @rename W/free T/f", "deny: @read T/s/deep/.env", "allow: @read T/s/deep/x")
	}
}
