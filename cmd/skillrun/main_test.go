package main_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"skillrun/cmd/skillrun"
	"skillrun/sandbox/sandboxtest"
)

// programs are what the test binary is when it is started by another name, the
// program itself above all; testscript puts them on PATH.
var programs = map[string]func(){"skillrun": main.Main, "skillrun-shell": main.Main, "configured": main.Configured, "goclient": goClient}

func TestMain(m *testing.M) { testscript.Main(tests{m}, programs) }

type tests struct{ *testing.M }

// Run puts the program that TESTED_PROGRAM names in this binary's place: it is what
// is shipped, and starts sooner, without all that tests are made of.
func (m tests) Run() int {
	if own := os.Getenv("TESTED_PROGRAM"); own != "" {
		for _, name := range []string{"skillrun", "skillrun-shell"} {
			file, err := exec.LookPath(name)
			if err == nil {
				err = os.Remove(file)
			}
			if err == nil {
				err = exec.Command("cp", own, file).Run()
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "TESTED_PROGRAM:", err)
				return 1
			}
		}
	}
	return m.M.Run()
}

// writeFile writes a file, and makes the directories above it.
func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Scripts tell what a user sees: each starts in the empty directory $WORK/w,
// with a home of its own and the state directory $WORK/state.
func TestScripts(t *testing.T) {
	serve := func(text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	server, other := serve("granted"), serve("other")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Cd = filepath.Join(e.WorkDir, "w")
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("USER", "user")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("SERVER", server)
			e.Setenv("OTHER", other)
			_, port, _ := strings.Cut(server, ":")
			e.Setenv("PORT", port)
			for _, dir := range []string{e.Cd, e.Getenv("HOME")} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return has(os.Geteuid() == 0, sandboxtest.Root, "root")
			case "account":
				u, err := user.Current()
				return has(err == nil && filepath.IsAbs(u.HomeDir) && u.HomeDir != "/", sandboxtest.Account, "account with a home directory")
			case "network": // of a run's own
				return has(ownNetwork(), sandboxtest.Namespaces, "network namespaces")
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"ours":  ours,
		},
	})
}

// has is ok; that a machine lacks what it should have is an error.
func has(ok bool, l sandboxtest.Lack, what string) (bool, error) {
	if !ok && sandboxtest.MustHave(l) {
		return false, fmt.Errorf("this machine has no %s, and CI=true says that it should", what)
	}
	return ok, nil
}

// exits CODE COMMAND... runs a command and wants this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	code := 0
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// ours wants every line on stderr to be a message of skillrun's, and none to
// hold anything but plain text.
func ours(ts *testscript.TestScript, neg bool, args []string) {
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if !strings.HasPrefix(line, "skillrun: ") {
			ts.Fatalf("not our line: %q", line)
		}
		for _, r := range strings.TrimSuffix(line, "\n") {
			if !strconv.IsPrint(r) {
				ts.Fatalf("%q in %q", r, line)
			}
		}
	}
}

// program is the path of the skillrun that is tested.
func program(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("skillrun")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// goClient is the Go program of the list: this binary, under another name.
func goClient() {
	host := os.Args[1]
	c, err := net.DialTimeout("tcp", net.JoinHostPort(host, "80"), 30*time.Second)
	if err != nil {
		os.Exit(1)
	}
	c.SetDeadline(time.Now().Add(30 * time.Second))
	io.WriteString(c, "GET /a HTTP/1.0\r\nHost: "+host+"\r\n\r\n")
	b, err := io.ReadAll(c)
	_, body, _ := strings.Cut(string(b), "\r\n\r\n")
	io.WriteString(os.Stdout, body)
	if err != nil {
		os.Exit(2)
	}
}
