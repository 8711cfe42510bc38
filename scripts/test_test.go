package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A test that fails once, and then not again, is said to be unsteady; whatever
// else fails has failed.
func TestRunAgain(t *testing.T) {
	script, err := filepath.Abs("test")
	if err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module skillrun\n\ngo 1.25\n", "a_test.go": `package a

import ("os"; "testing")

func first() bool {
	f, err := os.OpenFile(os.Getenv("MARK"), os.O_CREATE|os.O_EXCL, 0o600)
	f.Close()
	return err == nil
}

func TestUnsteady(t *testing.T) { if os.Getenv("FAIL") == "once" && first() { t.Fatal() } }
func TestBroken(t *testing.T)   { if os.Getenv("FAIL") == "always" { t.Fatal() } }
func TestRace(t *testing.T)     { if os.Getenv("FAIL") == "attack" && first() { t.Fatal() } }
func TestCrash(t *testing.T)    { if os.Getenv("FAIL") == "crash" && first() { panic("x") } }
`} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for fail, want := range map[string]bool{"once": true, "always": false, "attack": false, "crash": false} {
		cmd := exec.Command(script, "-vet=off", "./...")
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "FAIL="+fail, "MARK="+filepath.Join(t.TempDir(), "mark"))
		out, err := cmd.CombinedOutput()
		if (err == nil) != want {
			t.Errorf("%q: %v: %s", fail, err, out)
		}
		if said := strings.Contains(string(out), "unsteady: passed only alone\nskillrun TestUnsteady\n"); said != (fail == "once") {
			t.Errorf("%q: said to be unsteady: %v: %s", fail, said, out)
		}
	}
}
