package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrun/policy"
	"skillrun/policy/session"
)

// TestReason: a yes is to all that a command needs, so the question names all of it, the
// graver first, and what tells a long name from others.
func TestReason(t *testing.T) {
	t.Setenv("SKILL_STAGE", "x")
	w := newWorld(t, "standard")
	for name := range strings.SplitSeq("abcdefgh", "") {
		w.file("ws/"+name, "")
	}
	for _, name := range []string{"in.txt: allowed", `b", c", and  d`} {
		w.file("ws/"+name, "")
	}
	for from, to := range map[string]string{"l1": "l2", "l2": "l1"} {
		if err := os.Symlink(to, filepath.Join(w.dir, "ws", from)); err != nil {
			t.Fatal(err)
		}
	}
	s := w.start()
	for _, c := range []struct{ command, want string }{
		{"rm -f in.txt", "in.txt: filesystem.delete: not declared (deletes the files named)"},
		{"echo $SKILL_STAGE; rm -f in.txt; rm -f in.txt; cat ~/.aws/credentials",
			"~/.aws/credentials: secrets.read: not declared (prints the files named); also filesystem.delete in.txt, env_var.read $SKILL_STAGE"},
		{"echo $SKILL_STAGE; rm a; rm b; rm c; rm d; rm e; rm f; rm g", "a: filesystem.delete: not declared (deletes the files named); " +
			"also filesystem.delete b, c, d, e, f, g, env_var.read $SKILL_STAGE"},
		// However many others come before it, nothing is left out.
		{"rm a; rm b; rm c; rm d; rm e; rm f; rm g; rm h; curl -s https://a.example/x", "a: filesystem.delete: not declared (deletes the files named); " +
			"also filesystem.delete b, c, d, e, f, g, h, web.fetch a.example"},
		{"cat l1", "l1: filesystem.read: " + filepath.Join(w.dir, "ws/l1") + " leads nowhere (prints the files named)"},
		// Nor what a yes opens beyond what is named.
		{"cat ~/.aws/credentials; rm [ab]; git fetch; curl -s http://127.0.0.1:8080/", "~/.aws/credentials: secrets.read: not declared (prints the files named); " +
			"also filesystem.delete [ab] (a yes opens a, b), web.fetch (a yes opens every public host), 127.0.0.1:8080 (a yes lets it serve there, too)"},
		// A name stays one: it says nothing in our place.
		{"rm 'in.txt: allowed'", `"in.txt: allowed": filesystem.delete: not declared (deletes the files named)`},
		{`rm a 'b", c", and  d'`, `a: filesystem.delete: not declared (deletes the files named); also filesystem.delete "b\x22, c\x22, and \x20d"`},
		{"curl -s https://api.example.com" + strings.Repeat("."+strings.Repeat("a", 50), 4) + ".other.example/", "api.example.com." + strings.Repeat("a", 50) + "." + strings.Repeat("a", 33) +
			"..." + strings.Repeat("a", 35) + "." + strings.Repeat("a", 50) + ".other.example: web.fetch: not declared (curl connects to the host)"},
	} {
		if v := w.want(s.Decide(ctx, bash(c.command)), policy.Confirm, c.command); v.Reason != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.command, v.Reason, c.want)
		}
	}
}

// What asks for more than a question shows is no question.
func TestReasonHolds(t *testing.T) {
	w := newWorld(t, "standard")
	many := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = w.file(fmt.Sprint("ws/f", i), "")
		}
		return "rm " + strings.Join(words, "; rm ")
	}
	s := w.start()
	v := w.want(s.Decide(ctx, bash(many(64))), policy.Confirm, "64 files")
	if !strings.HasSuffix(v.Reason, "/f63") || strings.Count(v.Reason, "/f") != 64 {
		t.Error(v.Reason)
	}
	if v := w.want(s.Decide(ctx, bash(many(65))), policy.Deny, "65 files"); !strings.Contains(v.Reason, "more than 64 things") || v.Call != "" {
		t.Errorf("%+v", v)
	}
	// What its last run was refused denies nothing: the rest is asked about later.
	a := bash(many(10))
	a.Asks = true
	var wants []session.Want
	for i := range 64 {
		wants = append(wants, session.Want{Capability: "filesystem.delete", Path: filepath.Join(w.dir, "ws", fmt.Sprint("g", i))})
	}
	if asks, err := s.Refused(many(10), wants); err != nil || !asks {
		t.Fatal(asks, err)
	}
	for range 2 {
		v := w.want(s.Decide(ctx, a), policy.Confirm, "with what was refused")
		if n := strings.Count(v.Reason, "/g"); n == 0 {
			t.Error("not asked about:", v.Reason)
		}
	}
}

// TestUnsetVariable: what nobody has set is not asked about where the command
// runs confined, and is where it does not.
func TestUnsetVariable(t *testing.T) {
	t.Setenv("SKILL_STAGE", "x")
	w := newWorld(t, "standard")
	s := w.start()
	const unset = "echo ${SKILL_STAGE_2:-main}"
	w.want(s.Decide(ctx, bash(unset)), policy.Allow, unset)
	w.want(s.Decide(ctx, bash("echo ${SKILL_STAGE:-main}")), policy.Confirm, "set")
	loose := bash(unset)
	loose.Confined = false
	if v := w.want(s.Decide(ctx, loose), policy.Confirm, "not confined"); !strings.Contains(v.Reason, "SKILL_STAGE_2") {
		t.Error(v.Reason)
	}
	os.Setenv("SKILL_STAGE_2", "y")
	defer os.Unsetenv("SKILL_STAGE_2")
	w.want(s.Decide(ctx, bash(unset)), policy.Confirm, "set since")
}

// Nobody is asked for what every run may do to the files that a command names, unless
// somebody speaks of it.
func TestAnyway(t *testing.T) {
	const allow, confirm, deny = policy.Allow, policy.Confirm, policy.Deny
	for _, c := range []struct {
		command  string
		confined policy.Effect
	}{
		{"cat {}/base/x", allow},
		{"cat {}/base/x {}/other/x", confirm},
		{"cat {}/ws/link", confirm}, // to other/x
		{"cat {}/base/secret", deny},
		{"rm gone", allow},
		{"rm -r ./gone/dir gone", allow},
		{"true > new && mv new in.txt", allow},
		{`T=$(mktemp); head in.txt > "$T" && mv "$T" new; rm new`, allow},
		{`T=$(mktemp); head in.txt > "$T" && mv "$T" in.txt`, confirm}, // which mv deletes
		{`T=$(mktemp); mv "$T" in.txt`, confirm},
		{`T=$(mktemp); mv "$T" .`, allow},
		{`d=$(mktemp -d) && cp in.txt $d && cd "$d" && rm -r * && rm -rf "$d"`, allow},
		{`T=$(mktemp -p .); rm "$T"`, confirm},
		{"rm in.txt", confirm},
		{"rm gone in.txt", confirm},
		{"rm link", confirm},
		{"rm dangling", confirm},
		{"rm gone/*", allow},
		{"rm *.none", allow},
		{"rm *.txt", confirm},
		{"rm -rf {}/other/*", confirm},
		{"rm */*/*/*/x", confirm},
		{"echo >x.$$; rm x.$$", allow},
		{"rm $f.$$", confirm},
		{"rm kept", deny},
	} {
		w := newWorld(t, "standard")
		for _, name := range []string{"base/x", "base/secret", "other/x"} {
			w.file(name, "")
		}
		for name, to := range map[string]string{"link": "../other/x", "dangling": "nowhere"} {
			if err := os.Symlink(to, filepath.Join(w.dir, "ws", name)); err != nil {
				t.Fatal(err)
			}
		}
		w.set.Defaults = entries(t, `[{"capability":"shell.execute","effect":"allow"},{"capability":"filesystem.read","effect":"allow","constraints":{"workspace_only":true}},{"capability":"filesystem.write","effect":"allow"},
			{"capability":"filesystem.delete","effect":"deny","constraints":{"resource_scope":["kept"]}},{"capability":"filesystem.read","effect":"deny","priority":9,"constraints":{"resource_scope":["`+w.dir+`/base/secret"]}}]`)
		w.set.Readable = func(path string) bool { return strings.HasPrefix(path, w.dir+"/base/") }
		s := w.start()
		a := bash(strings.ReplaceAll(c.command, "{}", w.dir))
		a.Confined = true
		w.want(s.Decide(ctx, a), c.confined, c.command)
		if a.Confined = false; c.confined == allow {
			if v := s.Decide(ctx, a); v.Effect == allow {
				t.Errorf("%s, unconfined: allowed", c.command)
			}
		}
		s.Close()
		w.set.Risky = policy.RiskLow
		s = w.again(s)
		if a.Confined = true; c.confined == allow {
			w.want(s.Decide(ctx, a), confirm, c.command+", risky")
		}
	}
}

// Nobody is asked because a virtual environment is used: its python is the machine's,
// and its activate puts back what it set.
func TestVirtualEnvironment(t *testing.T) {
	w := newWorld(t, "standard")
	w.file("ws/a.py", "print(open('in.txt').read())\n")
	w.file("ws/.venv/bin/activate", `deactivate () {
    if [ -n "${_OLD_VIRTUAL_PATH:-}" ] ; then
        PATH="${_OLD_VIRTUAL_PATH:-}"
        export PATH
        unset _OLD_VIRTUAL_PATH
    fi
    if [ -n "${_OLD_VIRTUAL_PYTHONHOME:-}" ] ; then
        PYTHONHOME="${_OLD_VIRTUAL_PYTHONHOME:-}"
        export PYTHONHOME
        unset _OLD_VIRTUAL_PYTHONHOME
    fi
    hash -r 2> /dev/null
    if [ -n "${_OLD_VIRTUAL_PS1:-}" ] ; then
        PS1="${_OLD_VIRTUAL_PS1:-}"
        export PS1
        unset _OLD_VIRTUAL_PS1
    fi
    unset VIRTUAL_ENV
    if [ ! "${1:-}" = "nondestructive" ] ; then
        unset -f deactivate
    fi
}
deactivate nondestructive
VIRTUAL_ENV='`+w.dir+`/ws/.venv'
export VIRTUAL_ENV
_OLD_VIRTUAL_PATH="$PATH"
PATH="$VIRTUAL_ENV/bin:$PATH"
export PATH
if [ -n "${PYTHONHOME:-}" ] ; then
    _OLD_VIRTUAL_PYTHONHOME="${PYTHONHOME:-}"
    unset PYTHONHOME
fi
if [ -z "${VIRTUAL_ENV_DISABLE_PROMPT:-}" ] ; then
    _OLD_VIRTUAL_PS1="${PS1:-}"
    PS1="(.venv) ${PS1:-}"
    export PS1
fi
hash -r 2> /dev/null
`)
	if err := os.Symlink("/bin/true", filepath.Join(w.dir, "ws/.venv/bin/python")); err != nil {
		t.Fatal(err)
	}
	s := w.start()
	for _, command := range []string{
		"source .venv/bin/activate && python a.py; deactivate",
		"cd " + w.dir + "/ws && . .venv/bin/activate && python -m pytest -q",
		".venv/bin/python a.py",
		w.dir + "/ws/.venv/bin/python a.py",
	} {
		w.want(s.Decide(ctx, bash(command)), policy.Allow, command)
	}
	w.want(s.Decide(ctx, bash("source .venv/bin/activate && python -c \"import os; os.remove('in.txt')\"")), policy.Confirm, "what runs in it")
}
