package scan_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"skillrun/policy/scan"
)

// Texts that say the same over and over, and values that grow with each of
// them, cost no more than the budget: an agent waits 10 s for the answer.
func TestBudgetHoldsForAnyText(t *testing.T) {
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		command string
		opaque  bool // as it is too much
	}{
		"control":           {"eval eval rm a; cd b; a+=(x); echo $(echo $(id)) | cat", false},
		"evals":             {strings.Repeat("eval ", 20000) + "id", true},
		"directories":       {strings.Repeat("cd a;", 20000), true},
		"back":              {strings.Repeat("cd ..;", 20000), true},
		"lists":             {strings.Repeat("a+=(x);", 10000), true},
		"variables":         {numbered("v%d=a;if a;then b=$v0;fi;", 3000), true},
		"substitutions":     {strings.Repeat("$(", 16) + "id" + strings.Repeat(")", 16), true},
		"pipes":             {strings.Repeat("a|", 4000) + "a", true},
		"braces":            {"echo " + strings.Repeat("{a,b}{", 2000), false},
		"words of a value":  {"a=(" + strings.Repeat("x ", 30000) + "); for i in ${a[@]}; do rm $i; done", false},
		"files":             {"rm" + numbered(" f%d", 16000), true},
		"files of git":      {"git checkout a --" + numbered(" f%d", 8000), true},
		"code of a value":   {"a='" + strings.Repeat("rm b;", 10000) + "';" + strings.Repeat("eval $a;", 2000), true},
		"functions":         {numbered("false && f() { b%d; };", 4000) + "f", true},
		"classes of sed":    {"sed '/" + strings.Repeat("[[:", 40000) + "/' a", false},
		"addresses of sed":  {"sed '" + strings.Repeat("s/[/", 30000) + "' a", false},
		"classes of awk":    {"awk '/" + strings.Repeat("[", 100000) + "/' a", false},
		"roots of find":     {"find" + strings.Repeat(" d", 15000) + " -exec c" + strings.Repeat(" a", 15000) + " ;", true},
		"marks of find":     {"find " + strings.Repeat("d", 50000) + " -exec c" + strings.Repeat(" {}", 20000) + " ;", true},
		"roots of fd":       {"fd p" + strings.Repeat(" d", 15000) + " -x c" + strings.Repeat(" a", 15000), true},
		"letters of env":    {"env -" + strings.Repeat("i", 60000) + strings.Repeat(" -ii", 15000) + " rm a", false},
		"code of perl":      {"x='" + strings.Repeat("s/a", 20000) + "';" + strings.Repeat(`perl -ne "$x";`, 3000), true},
		"code of awk":       {"x='" + strings.Repeat("ARGV[a] ", 7000) + "';" + strings.Repeat(`awk "$x" a;`, 3000), true},
		"larger than a run": {"rm a" + strings.Repeat(" ", 128<<10), true},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := scan.Command(tt.command, scan.Env{})
		runtime.ReadMemStats(&after)
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 400 {
			t.Errorf("%s: %d MiB of values", name, made)
		}
		if tt.opaque && len(r.Opaque) == 0 {
			t.Errorf("%s: nothing says that it was not read", name)
		}
		if n := len(r.Needs) + len(r.Besides) + len(r.Unknown); n > 9000 {
			t.Errorf("%s: %d needs and findings", name, n)
		}
		if name == "control" && (len(r.Opaque) > 0 || len(r.Needs) == 0) {
			t.Errorf("control: %v", r)
		}
	}
}

// Nor do parameters, which each call of a function is given.
func TestBudgetOfParameters(t *testing.T) {
	for name, text := range map[string]string{
		"nested":  strings.Repeat("function f({", 8_000),
		"of each": "function f({" + strings.Repeat("a,", 10_000) + "}){ return a };" + strings.Repeat(`f(require("fs"));f({});`, 10_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		scan.Source("javascript", text, scan.Env{})
		runtime.ReadMemStats(&after)
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 400 {
			t.Errorf("%s: %d MiB of values", name, made)
		}
	}
}

// What is read for its output alone uses up the budget, too, and it is said.
func TestBudgetIsNeverSilent(t *testing.T) {
	for _, command := range []string{
		"echo $(" + strings.Repeat("$(", 20) + "id" + strings.Repeat(")", 20) + "); rm a",
		"a=x; " + strings.Repeat("a=$a$a;", 40) + strings.Repeat("b=$a;", 9000) + strings.Repeat("eval : ;", 7000) + "rm z",
	} {
		r := scan.Command(command, scan.Env{})
		removed := false
		for _, n := range r.Needs {
			removed = removed || n.Capability == "filesystem.delete"
		}
		if !removed && len(r.Opaque) == 0 {
			t.Errorf("%.40s...: nothing is said of its end", command)
		}
	}
}

// Neither the parser nor who goes through what it gives uses up the stack, which ends
// the program: what is nested deep is not read, be it chained or faulty.
func TestNestingBounds(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(64 << 20)) // which a chain uses up that is read in no time
	for name, text := range map[string]string{
		"blocks":      strings.Repeat("{ ", 1_800_000),
		"arithmetic":  "((" + strings.Repeat("a=", 1_800_000) + "1))",
		"parentheses": strings.Repeat("(", 200_000),
		"expansions":  strings.Repeat(`"${a-`, 720_000),
		"conditions":  "[[ " + strings.Repeat("a && ", 720_000) + "a ]]",
		"chain":       strings.Repeat("a&&", 100_000) + "a",
		"faulty":      strings.Repeat("a&&", 100_000) + "a\n)",
	} {
		r := scan.Source("shell", text, scan.Env{})
		if len(r.Opaque) == 0 || len(r.Needs) > 0 {
			t.Errorf("%s: %v, and %d needs", name, r.Opaque, len(r.Needs))
		}
	}
	for name, text := range map[string]string{
		"blocks":      strings.Repeat("{ ", 150) + "rm x" + strings.Repeat("; }", 150),
		"chain":       strings.Repeat("true && ", 300) + "rm x",
		"parentheses": strings.Repeat("( ", 100) + "rm x" + strings.Repeat(")", 100),
		"arithmetic":  "echo $((" + strings.Repeat("(1+", 60) + "1" + strings.Repeat(")", 60) + ")); rm x",
	} {
		if r := scan.Source("shell", text, scan.Env{}); len(r.Opaque) > 0 || len(r.Needs) == 0 {
			t.Errorf("%s: %v", name, r.Opaque)
		}
	}
	if r := scan.Source("shell", "a "+strings.Repeat(">a ", 100_000), scan.Env{}); len(r.Opaque) == 0 {
		t.Error("redirections: are read")
	}
}
