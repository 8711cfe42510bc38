package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/skill"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// recorder tells of a run: to the audit log, to the report, to the terminal.
type recorder struct {
	log     *audit.Log
	job     *job
	profile *profiles.Profile
	report  string
	show    bool // denials as they happen
	person  bool // who is told what would lift some
	tells   bool // of denials afterwards, to a hook
	session string
	id      string
	temp    string   // the run's TMPDIR
	lost    []string // of what the command or the skill names in /tmp, what was made there
	unfound []string // of what the skill names there, the directories
	unkept  []string // of the run's HOME, as ~/name
	trees   []string // what of that is directories
	begin   time.Time
	receipt profiles.Receipt
	start   chan []audit.Entry // on its way
	around  string             // the run that this one is inside, "" for none
	depth   int
	cache   *audit.Digests

	interpreter, script string

	// What takes a while is found out while the run is being set up, and is
	// valid once known is closed.
	known chan struct{}
	// gitDirs and todos are readTodos's.
	gitDirs []string
	todos   map[string][]string
	// renamed and remains are how many files of a repository were told of.
	renamed, remains int
	sum              audit.Digest // of the profile
	warm             warmDigests
	cold             *digesting // nil if everything was cached

	mu      sync.Mutex
	denials []audit.Denial
	index   map[audit.Denial]int
	dropped int
	shown   int
	spared  int
	looked  []sandbox.Refusal // for, spared: told if the run fails: it may have wanted it after all
	lifting []lifting
	// unchanged are control files that the run wanted to change.
	unchanged []unchanged
	inner     []audit.Inner // runs inside this one
	inners    int           // of which not all are listed

	lines   chan shownLine // of refusals, to be shown
	showing sync.WaitGroup // those that are not yet
	unread  bool           // nobody reads them: no call waits for that again

	captures [3]*audit.Capture // nil without --capture
	traffic  traffic
}

// lifting is a refusal with the grant that would lift it.
type lifting struct {
	refusal sandbox.Refusal
	grant   policy.Entry
	whole   bool // it stands for more than a few deletions in a directory
}

func newRecorder(c *cli.Context, j *job, dir string, m *memo, path string, look func() *skill.Look) (*recorder, error) {
	p := &m.Profile
	log, err := audit.Open(dir, audit.Options{Secrets: secrets(j.host, p)})
	if err != nil {
		return nil, withHint{err, stateHint}
	}
	cache, err := audit.OpenDigests(dir)
	if err != nil {
		log.Close()
		return nil, err
	}
	r := &recorder{
		cache: cache, log: log, job: j, profile: p, sum: m.Sum,
		report: c.String("report"), show: showsDenials(c, j), person: isTerminal(os.Stderr), session: c.String("session"),
		id: audit.NewID(), begin: time.Now(), index: map[audit.Denial]int{}, known: make(chan struct{}), todos: map[string][]string{},
	}
	if j.session != nil {
		r.id, r.tells = j.session.run, j.session.call != ""
	}
	if err := r.placed(); err != nil {
		r.log.Close()
		r.cache.Close()
		return nil, err
	}
	r.capture(c.Generic("capture"))
	r.interpreter, r.script = j.programs(path)
	go r.lookUp(look)
	return r, nil
}

// showsDenials says whether refusals are shown as they happen.
func showsDenials(c *cli.Context, j *job) bool {
	return c.Bool("denials") || j.vars.denials || isTerminal(os.Stderr)
}

func (r *recorder) close() {
	<-r.known
	if r.cold != nil {
		r.cold.cancel()
		r.cold.wait()
	}
	r.log.Close()
	r.cache.Close()
	r.showing.Wait()
}

// starting begins to write down what the start record says, beside the setting
// up of the run.
func (r *recorder) starting(s sandbox.Started) {
	r.receipt, r.temp, r.around, r.depth = s.Receipt, s.Temp, s.Around, s.Depth
	start := make(chan []audit.Entry, 1)
	r.start = start // a second try of the run has its own
	go func() { start <- r.startEntries(s.Receipt) }()
}

// started writes the start record: it must be safe before anything runs.
func (r *recorder) started() error {
	return r.log.Append(<-r.start...)
}

func (r *recorder) startEntries(receipt profiles.Receipt) []audit.Entry {
	<-r.known
	start := &audit.Start{
		Run:       r.id,
		Parent:    r.around,
		Depth:     r.depth,
		Session:   r.session,
		Argv:      r.job.argv,
		Dir:       r.job.cwd,
		Workspace: r.job.workspace,
		Preset:    r.job.preset.Name,
		Profile:   r.sum,
		Launcher:  version,
		PID:       os.Getpid(),
		UID:       os.Geteuid(),
	}
	start.Skill = r.skill()
	for _, e := range r.job.set.Entries() {
		e = r.job.named(e)
		start.Capabilities = append(start.Capabilities, capabilityOf(&e))
	}
	for _, e := range r.job.set.Grants() {
		start.Capabilities = append(start.Capabilities, capabilityOf(&e))
	}
	for _, c := range receipt {
		start.Receipt = append(start.Receipt, audit.Clause{Name: c.Name, Must: c.Must, Strength: c.Strength.String(), Mechanism: c.Mechanism, Note: c.Note})
	}
	for _, g := range receipt.Gaps(r.job.strict, nil) {
		start.Gaps = append(start.Gaps, g.Name)
	}
	start.Interpreter = audit.File{Path: r.interpreter, SHA256: r.warm.interpreter}
	start.Script = audit.File{Path: r.script, SHA256: r.warm.script}
	entries := []audit.Entry{start}
	for _, g := range r.job.consents {
		g.Run, g.Session, g.Skill = r.id, r.session, start.Skill
		entries = append(entries, g)
	}
	return entries
}

// skill is what the record says of the acting skill.
func (r *recorder) skill() audit.Skill {
	sk := r.job.skill
	if sk == nil {
		// With --manifest there is a name and no directory.
		return audit.Skill{Name: r.job.set.Skill.Name, Version: r.job.set.Skill.Version}
	}
	return audit.Skill{Name: sk.Name, Version: sk.Version, Dir: sk.Dir, Tier: sk.tier.String(), Tree: r.warm.tree, Manifest: audit.Digest(sk.Manifest)}
}

// secrets are the values that the record must not hold: those of the variables
// and files that the profile passes as secrets.
func secrets(h *profiles.Host, p *profiles.Profile) *audit.Redactor {
	var values []string
	for _, secret := range p.Redact {
		if v := h.Env[secret.Env]; v != "" {
			values = append(values, v)
		} else if secret.Path != "" {
			b, err := readSecret(secret.Path)
			if err == nil {
				values = append(values, string(b))
			} else if info, _ := os.Lstat(secret.Path); info != nil && !info.IsDir() && errors.Is(err, fs.ErrInvalid) {
				say("what %s holds may stand in the record: it is no file of at most %d bytes", named(secret.Path), mostSecret)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	r, short := audit.NewRedactor(values)
	if short > 0 {
		say("secrets shorter than %d bytes stand in the record as they are: %d", audit.MinSecret, short)
	}
	return r
}

// mostSecret is the size of the largest file in which secrets are looked for.
const mostSecret = 256 << 10

// readSecret reads a file of which the resolved path was granted. Where that is in the
// workspace a run may have put there what is never read to its end, or a link to a file
// that it may not read, of which it could find out what it holds by what is replaced.
func readSecret(path string) ([]byte, error) {
	dir, err := openWithoutLinks(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	return readIn(dir, path, mostSecret, unix.O_NOFOLLOW)
}

// refused notes one refusal.
func (r *recorder) refused(d sandbox.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := denialOf(d)
	if i, ok := r.index[rec]; ok {
		r.denials[i].Count++
		return
	}
	if len(r.denials) >= keptDenials {
		r.dropped++
		return
	}
	shown := r.show && r.shown < shownDenials && !slices.ContainsFunc(r.denials, func(d audit.Denial) bool { return alike(d, rec) })
	r.index[rec] = len(r.denials)
	rec.Count = 1
	r.denials = append(r.denials, rec)
	if early := ahead(r.profile, &d); early || r.spare(rec) {
		r.spared++
		if early || lookedFor(rec) {
			r.looked = append(r.looked, d)
		}
		return
	}
	same := func(u unchanged) bool { return u.path == d.Path }
	if u, ok := unchangedBy(&d); ok && len(r.unchanged) < unchangedMost && !slices.ContainsFunc(r.unchanged, same) {
		r.unchanged = append(r.unchanged, u)
	}
	if e, ok := offerable(r.job, r.profile, &d); ok {
		r.lifting = append(r.lifting, lifting{refusal: d, grant: e})
	}
	if shown {
		r.shown++
		r.showLine(denialLine(r.job, r.profile, d), d.Passed)
	}
}

// shownLine is a refusal to be shown after what has passed; done is closed when
// it has been.
type shownLine struct {
	line   string
	passed func() // may be nil
	done   chan struct{}
}

// showLine prints a refusal before its call is answered, between what the command
// said before and what it says of it; but a call waits only once for somebody
// who does not read.
func (r *recorder) showLine(line string, passed func()) {
	r.showing.Add(1)
	if r.lines == nil {
		r.lines = make(chan shownLine, shownDenials) // there are no more
		go func() {
			for s := range r.lines {
				if s.passed != nil {
					s.passed()
				}
				say("denied %s", s.line)
				close(s.done)
				r.showing.Done()
			}
		}()
	}
	s := shownLine{line, passed, make(chan struct{})}
	r.lines <- s
	if r.unread {
		return
	}
	select {
	case <-s.done:
	case <-time.After(shownWait):
		r.unread = true
	}
}

// nested notes a run inside this one.
func (r *recorder) nested(in sandbox.Inner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inners++; len(r.inner) < keptInner {
		r.inner = append(r.inner, audit.Inner{Run: in.Run, Parent: in.Around, Depth: in.Depth})
	}
}

// refusedToRun records that nothing was started, and why; code is what the
// program exits with.
func (r *recorder) refusedToRun(err error, code int) {
	r.log.Append(&audit.End{Run: r.id, Session: r.session, Status: audit.Refused, Code: code, Reason: err.Error(), Wall: time.Since(r.begin)})
	r.write(report{Phase: "refused", Code: code, Error: err.Error()})
}

// ended writes the end record and the report, and gives the exit code.
func (r *recorder) ended(res sandbox.Result, room *sandbox.Room) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	code := exitCode(&res)
	end := &audit.End{
		Run: r.id, Session: r.session, Status: status(&res, len(r.denials) > 0), Code: code, Reason: res.Limit,
		Wall: time.Since(r.begin), User: res.User, System: res.System, Memory: res.MaxResident,
		Denials: r.denials, MoreDenials: r.dropped,
		Connections: r.traffic.connections(),
		Controls:    standing(res.ControlsMade), MoreControls: res.MoreControls,
		Runs: r.inner, MoreRuns: r.inners - len(r.inner),
	}
	for i, to := range [...]*audit.Stream{&end.Stdin, &end.Stdout, &end.Stderr} {
		if r.captures[i] != nil {
			*to = r.captures[i].Stream()
		}
	}
	rep := report{Phase: "ran", Code: code, Denials: r.denials, More: r.dropped, Network: r.traffic.summary.Rows(), Controls: end.Controls, MoreControls: end.MoreControls}
	if res.Status.Signaled() && !res.TimedOut && res.Limit == "" {
		end.Code, end.Signal = 0, signalName(res.Status.Signal())
		rep.Signal = end.Signal
	}
	if r.cold != nil && !r.cold.wait() {
		r.cold = nil
	}
	if r.cold != nil {
		end.Tree, end.Interpreter, end.Script = r.cold.tree, r.cold.path[r.interpreter], r.cold.path[r.script]
	}
	err := r.log.Append(end)
	if audit.IsFull(err) {
		room.Remove() // which may be what fills the disk
		err = r.log.Append(end)
	}
	if audit.IsFull(err) {
		err = r.log.AppendBrief(end)
	}
	r.write(rep)
	if s := r.job.session; s != nil {
		told := slices.DeleteFunc(slices.Clone(r.denials), r.spare)
		if len(told) == 0 && code != 0 {
			told = slices.DeleteFunc(slices.Clone(r.denials), func(d audit.Denial) bool { return !lookedFor(d) })
		}
		err = errors.Join(err, s.tell(r.id, told, r.dropped, r.wants(), r.profile.Redact))
	}
	r.refuseIndexes()
	r.tellEnd(&res, code, end.Controls) // last: a terminal that was stopped takes nothing
	return code, err
}

// argv is the command as it is run: in an agent's session a shell leaves where
// it ended.
func (r *recorder) argv() []string {
	if s := r.job.session; s != nil && s.place {
		return noting(r.job.argv)
	}
	return r.job.argv
}

func status(res *sandbox.Result, denied bool) audit.Status {
	switch {
	case res.TimedOut || res.Limit != "":
		return audit.Timeout
	case res.Status.Exited() && res.Status.ExitStatus() == 0 && res.Lost == nil:
		return audit.Success
	case denied:
		return audit.Denied
	}
	return audit.Failed
}

// refused records that the job was refused before there was anything to run, and
// what the user said no to, and gives err.
func (j *job) refused(c *cli.Context, err error) error { return j.refusedAs(c, err, exitRefused) }

// refusedAs does so with another code to exit with.
func (j *job) refusedAs(c *cli.Context, err error, code int) error {
	dir, fault := j.stateDir()
	if fault != nil {
		return fmt.Errorf("%w; cannot record that: %w", err, fault)
	}
	log, fault := audit.Open(dir, audit.Options{})
	if fault != nil {
		return fmt.Errorf("%w; cannot record that: %w", err, fault)
	}
	defer log.Close()
	r := &recorder{log: log, job: j, report: c.String("report"), session: c.String("session"), id: audit.NewID(), begin: time.Now(), known: make(chan struct{})}
	close(r.known)
	if errors.Is(err, errDeclined) {
		if j.skill != nil {
			r.warm.tree = j.skill.tree
		}
		no := &audit.Grant{Action: "deny", For: "once", By: "terminal", Run: r.id, Session: r.session, Skill: r.skill()}
		for _, q := range j.pending() {
			e := j.named(q.Entry)
			no.Capabilities = append(no.Capabilities, capabilityOf(&e))
		}
		log.Append(no)
	}
	r.refusedToRun(err, code)
	return err
}
