//go:build linux

package attack_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/sandbox/sandboxtest"
	"skillrun/sandbox/sandboxtest/attack"
)

var (
	program = flag.String("skillrun", "", "the skillrun `program` to attack; built if not given")
	nth     = flag.Int("nth", 8, "every `N`-th attempt and job")
	from    = flag.Int("from", 0, "the `NUMBER` of the first of them")
	only    = flag.String("only", "", "those whose name contains `TEXT` alone")
	peers   = flag.Bool("peers", false, "bwrap and firejail too")
	observe = flag.Bool("observe", false, "skillrun --denials too")
	limits  = flag.String("limits", filepath.Join("..", "..", "..", "docs", "limits.md"), "the documented limits")
	results = flag.String("results", "", "write the results to `FILE`")
	scenes  = flag.String("scenes", "", "the `directory` in which scenes are made; the user's cache if not given")
	summary = flag.Bool("summary", false, "print the table of -results")
)

// root is where scenes are made: in a home, as work is, since /tmp is a place of
// its own in many a run.
func root(t *testing.T) string {
	t.Helper()
	parent, err := *scenes, error(nil)
	if parent == "" {
		parent, err = os.UserCacheDir()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(parent, "attack-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

var built = sync.OnceValues(func() (string, error) {
	if *program != "" {
		return filepath.Abs(*program)
	}
	dir, err := os.MkdirTemp("", "attack-build-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "skillrun")
	cmd := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", path, "skillrun/cmd/skillrun")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

func skillrun(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("build skillrun: %v", err)
	}
	return path
}

func TestMain(m *testing.M) {
	flag.Parse()
	sandboxtest.CatchIgnored()
	code := m.Run()
	if path, err := built(); err == nil && *program == "" {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// chosen says whether one is run this time. Attempts that may get through are,
// since they are what the documented limits are compared with.
func chosen(i int, p *attack.Program) bool {
	if *only != "" {
		return strings.Contains(p.String(), *only)
	}
	return i%*nth == *from%*nth || p.Limit != ""
}

type record struct {
	mu   sync.Mutex
	list []attack.Result
}

func (r *record) add(list ...attack.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, list...)
}

// save appends to the file of results.
func (r *record) save(t *testing.T) {
	if *results == "" {
		return
	}
	f, err := os.OpenFile(*results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, x := range r.list {
		if err := json.NewEncoder(f).Encode(x); err != nil {
			t.Fatal(err)
		}
	}
}

// confiners are those that everything is tried under, skillrun first.
func confiners(t *testing.T) []attack.Confiner {
	list := []attack.Confiner{attack.Skillrun(skillrun(t))}
	if *observe {
		list = append(list, attack.Skillrun(skillrun(t), "--denials"))
	}
	if *peers {
		list = append(list, attack.Peers()...)
	}
	return list
}

// each tries the programs that were chosen. No try may be blunt, and none under
// skillrun get through or be broken.
func each(t *testing.T, list []attack.Program, try func(*attack.Program) []attack.Result) *record {
	seen := &record{}
	t.Run("each", func(t *testing.T) {
		for i, p := range list {
			if !chosen(i, &p) {
				continue
			}
			t.Run(strings.ReplaceAll(p.String(), "/", "_"), func(t *testing.T) {
				t.Parallel()
				for _, r := range try(&p) {
					seen.add(r)
					ours := strings.HasPrefix(r.Confiner, "skillrun")
					if r.Verdict == attack.Through && ours || r.Verdict == attack.Broken && ours || r.Verdict == attack.Blunt {
						t.Errorf("%s: %s: %s", r.Confiner, r.Verdict, r.What)
					}
				}
			})
		}
	})
	seen.save(t)
	return seen
}

// Nothing gets through but what the receipt of this environment says, and that
// is what docs/limits.md says, in both directions.
func TestAttempts(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	list, err := attack.Attempts()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 200 {
		t.Errorf("%d attempts, want at least 200", len(list))
	}
	here, dir := attack.Here(), root(t)
	confiners := confiners(t)
	receipt, err := attack.Receipt(confiners[0], dir)
	if err != nil {
		t.Fatal(err)
	}
	var admitted []string
	for clause, strength := range receipt {
		if strength == "none" {
			admitted = append(admitted, clause)
		}
	}
	slices.Sort(admitted)
	documented, err := attack.Documented(*limits, here.Features.Namespaces)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(documented, admitted); d != "" {
		t.Errorf("docs/limits.md and the receipt here differ (-documented +receipt):\n%s", d)
	}
	told, err := attack.Doctor(confiners[0])
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(documented, told); d != "" {
		t.Errorf("docs/limits.md and the doctor here differ (-documented +doctor):\n%s", d)
	}
	seen := each(t, list, func(p *attack.Program) []attack.Result {
		return here.Run(p, dir, func(c string) bool { return slices.Contains(admitted, c) }, confiners...)
	})
	if *only != "" {
		return
	}
	var observed []string
	for _, r := range seen.list {
		if r.Verdict == attack.Limit && !slices.Contains(observed, r.Limit) {
			observed = append(observed, r.Limit)
		}
	}
	slices.Sort(observed)
	if d := cmp.Diff(documented, observed); d != "" {
		t.Errorf("what got through here is not what docs/limits.md says (-documented +observed):\n%s", d)
	}
}

// Ordinary work goes on, and says what it says without a sandbox.
func TestJobs(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	list, err := attack.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 80 {
		t.Errorf("%d jobs, want at least 80", len(list))
	}
	here, dir := attack.Here(), root(t)
	confiners := confiners(t)
	seen := each(t, list, func(p *attack.Program) []attack.Result { return here.Work(p, dir, confiners...) })
	// One that does nothing here has not been told right, and shows nothing.
	for _, c := range confiners {
		works := func(r attack.Result) bool { return r.Confiner == c.Name && r.Verdict == attack.Works }
		if *only == "" && !slices.ContainsFunc(seen.list, works) {
			t.Errorf("%s did none of the jobs", c.Name)
		}
	}
}

// The table of all that was written with -results.
func TestSummary(t *testing.T) {
	if !*summary {
		return
	}
	if *results == "" {
		t.Fatal("-summary without -results")
	}
	f, err := os.Open(*results)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := attack.Results(f)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(attack.Summary(all))
	for _, r := range all {
		if r.Verdict == attack.Through && strings.HasPrefix(r.Confiner, "skillrun") {
			t.Errorf("%s: %s: %s got through: %s", r.Environment, r.Group, r.Name, r.What)
		}
	}
}
