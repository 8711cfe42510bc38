package scripts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A test that fails once, and then not again, is said to be unsteady, and so is
// an attack whose control failed; whatever else fails has failed.
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
func TestInherited(t *testing.T) { if os.Getenv("FAIL") == "refusal" && first() { t.Fatal() } }
func TestGuard(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
		if os.Getenv("FAIL") == "control" && first() { t.Fatalf("control: exit %d\nmore", 1) }
		if os.Getenv("FAIL") == "through" && first() { t.Errorf("control: no"); t.Errorf("it got through: control: no") }
	})
}
func TestScripts(t *testing.T) {
	t.Run("usage", func(t *testing.T) { if os.Getenv("FAIL") == "script" && first() { t.Fatal() } })
	t.Run("workspace", func(t *testing.T) { if os.Getenv("FAIL") == "workspace" && first() { t.Fatal() } })
}
func TestCrash(t *testing.T)    { if os.Getenv("FAIL") == "crash" && first() { panic("x") } }
`} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for fail, want := range map[string]bool{"once": true, "always": false, "attack": false, "refusal": false, "workspace": false, "script": true, "crash": false, "control": true, "through": false} {
		cmd := exec.Command(script, "-vet=off", "./...")
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "FAIL="+fail, "MARK="+filepath.Join(t.TempDir(), "mark"))
		out, err := cmd.CombinedOutput()
		if (err == nil) != want {
			t.Errorf("%q: %v: %s", fail, err, out)
		}
		said := strings.Contains(string(out), "unsteady: passed only alone\nskillrun Test"+map[string]string{"once": "Unsteady", "script": "Scripts", "control": "Guard"}[fail]+"\n")
		if said != want {
			t.Errorf("%q: said to be unsteady: %v: %s", fail, said, out)
		}
	}
}

// A test that shows that something is refused has a control, which shows that
// the same would be possible otherwise. None of them has a second try, and nor
// have some that have their control elsewhere.
func TestAttacksHaveNoSecondTry(t *testing.T) {
	text, err := os.ReadFile("test")
	if err != nil {
		t.Fatal(err)
	}
	scripts := regexp.MustCompile(`\nscripts='(.*)'\n`).FindSubmatch(text)
	if scripts == nil {
		t.Fatal("no list of scripts in scripts/test")
	}
	named, all := regexp.MustCompile("^("+string(scripts[1])+")$"), 0
	files, _ := filepath.Glob("../cmd/skillrun/testdata/script/*.txtar")
	for _, file := range files {
		if named.MatchString(strings.TrimSuffix(filepath.Base(file), ".txtar")) {
			all++
		}
	}
	if all != strings.Count(string(scripts[1]), "|")+1 {
		t.Errorf("%d scripts are named %s", all, scripts[1])
	}
	list := regexp.MustCompile(`(?s)\nattacks='(.*?)'\n`).FindSubmatch(text)
	if list == nil {
		t.Fatal("no list of attacks in scripts/test")
	}
	attacks := regexp.MustCompile(strings.ReplaceAll(string(list[1]), "\n", "|"))
	second := map[string]string{ // with a control, and the reason
		"TestRecordsComeBack": "control characters are what it is about",
		"TestClients":         "whether a program works at all depends on what runs beside it",
		"TestRunaways":        "how long it takes until a limit is noticed does",
		"TestAnswer":          "it is pure",
		"TestJobControl":      "job control is what it is about",
	}
	for name := range second {
		if attacks.MatchString(name) {
			t.Errorf("%s has no second try", name)
		}
	}
	for _, name := range []string{"TestOrdinary", "TestJobs", "TestStart", "TestStartUnderLoad", "TestScripts", "TestSupervisedWork", "TestParallel"} {
		if attacks.MatchString(name) {
			t.Errorf("%s, which is no attack, has no second try", name)
		}
	}
	for _, name := range []string{
		"TestAllowsIsWhatTheKernelDoes", "TestBypass", "TestFilterRefuses", "TestGuardianApart", "TestHostile", "TestNestedBeside",
		"TestNothingSurvives", "TestOwnAmongOthers", "TestReportPlaced", "TestRunInRunLeavesHome", "TestSeatbeltSurvivors", "TestSupervisedNeverExceeds",
	} {
		if !attacks.MatchString(name) {
			t.Errorf("%s has a second try", name)
		}
	}
	control, set, found := regexp.MustCompile(`\bcontrol\b`), token.NewFileSet(), 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != ".." {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || f.Recv != nil || f.Name.Name == "TestAttacksHaveNoSecondTry" || f.Name.Name == "TestRunAgain" {
				continue
			}
			from := f.Pos()
			if f.Doc != nil {
				from = f.Doc.Pos()
			}
			if !control.Match(text[set.Position(from).Offset:set.Position(f.End()).Offset]) {
				continue
			}
			found++
			if second[f.Name.Name] == "" && !attacks.MatchString(f.Name.Name) {
				t.Errorf("%s: %s has a control and a second try: name it in scripts/test", path, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil || found < 50 {
		t.Errorf("%d tests with a control, %v", found, err)
	}
}
