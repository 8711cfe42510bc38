package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/hook"
	"skillrun/policy/skill"
	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/egress"
)

// sentSignals end a command whose reader has left, or that somebody stopped: no
// right was wanting.
var sentSignals = [...]syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGTERM}

// stateDir is where audit log, digests and approvals live. It must not be where
// a run may write.
func stateDir(h *profiles.Host) (string, error) {
	dir := h.Env["XDG_STATE_HOME"]
	if dir == "" || !filepath.IsAbs(dir) {
		dir = filepath.Join(h.Home, ".local", "state")
	}
	if dir == ".local/state" || !filepath.IsAbs(dir) {
		return "", errors.New("no state directory: HOME and XDG_STATE_HOME are not set")
	}
	return filepath.Join(dir, "skillrun"), nil
}

// stateDir is the directory of the job's state. A run or its skill must not be
// able to change it.
func (j *job) stateDir() (string, error) {
	dir, err := stateDir(j.host)
	if err != nil {
		return "", err
	}
	trees := []string{j.workspace}
	if j.skill != nil {
		trees = append(trees, j.skill.Dir)
	}
	if tree := enclosing(j.host, dir, trees...); tree != "" {
		return "", fmt.Errorf("state directory %s lies inside %s, which the run or its skill could change", quote(dir), quote(tree))
	}
	return dir, nil
}

// recorder tells of a run: to the audit log, to the report, to the terminal.
type recorder struct {
	log     *audit.Log
	job     *job
	profile *profiles.Profile
	path    string
	report  string
	show    bool // denials as they happen
	tells   bool // of denials afterwards, to a hook
	session string
	id      string
	temp    string   // the run's TMPDIR
	lost    []string // of what the command names in /tmp, what was made there
	unkept  []string // of the run's HOME, directories that are not hidden, as ~/name
	begin   time.Time
	receipt profiles.Receipt
	start   chan []audit.Entry // on its way
	cache   *audit.Digests

	interpreter, script string

	// What takes a while is found out while the run is being set up, and is
	// valid once known is closed.
	known chan struct{}
	sum   audit.Digest // of the profile
	warm  warmDigests
	cold  *digesting // nil if everything was cached

	mu      sync.Mutex
	denials []audit.Denial
	index   map[audit.Denial]int
	dropped int
	shown   int
	spared  int
	lifting []lifting

	captures [3]*audit.Capture // nil without --capture
	traffic  traffic
}

// lifting is a refusal with the grant that would lift it.
type lifting struct {
	refusal sandbox.Refusal
	grant   policy.Entry
}

// shownDenials is how many denials are printed before a count stands for the
// rest; keptDenials how many are recorded.
const (
	shownDenials = 5
	keptDenials  = 256
)

func newRecorder(c *cli.Context, j *job, dir string, m *memo, path string) (*recorder, error) {
	p := &m.Profile
	log, err := audit.Open(dir, audit.Options{Secrets: secrets(j.host, p)})
	if err != nil {
		return nil, withHint{err, "the record is kept below XDG_STATE_HOME, else HOME: name a directory of this user's there (after sudo, sudo -H does)"}
	}
	cache, err := audit.OpenDigests(dir)
	if err != nil {
		log.Close()
		return nil, err
	}
	r := &recorder{
		cache: cache, log: log, job: j, profile: p, sum: m.Sum, path: path,
		report: c.String("report"), show: c.Bool("denials") || j.vars.denials || isTerminal(os.Stderr), session: c.String("session"),
		id: audit.NewID(), begin: time.Now(), index: map[audit.Denial]int{}, known: make(chan struct{}),
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
	go r.lookUp()
	return r, nil
}

func (r *recorder) close() {
	<-r.known
	if r.cold != nil {
		r.cold.cancel()
		r.cold.wait()
	}
	r.log.Close()
	r.cache.Close()
}

// starting begins to write down what the start record says, beside the setting
// up of the run.
func (r *recorder) starting(s sandbox.Started) {
	r.receipt, r.temp = s.Receipt, s.Temp
	start := make(chan []audit.Entry, 1)
	r.start = start // a second try of the run has its own
	go func() { start <- r.startEntries(s.Receipt) }()
}

// started writes the start record: it must be safe before anything runs.
func (r *recorder) started() error {
	_, err := r.log.Append(<-r.start...)
	return err
}

func (r *recorder) startEntries(receipt profiles.Receipt) []audit.Entry {
	<-r.known
	start := &audit.Start{
		Run:       r.id,
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
		} else if b, err := os.ReadFile(secret.Path); secret.Path != "" && err == nil {
			values = append(values, string(b))
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

// warmDigests are those that need no reading of files.
type warmDigests struct{ tree, interpreter, script audit.Digest }

// lookUp computes the profile's digest and asks the cache for the others.
// What it does not have is computed while the command runs.
func (r *recorder) lookUp() {
	defer close(r.known)
	var cold []string
	tree := ""
	file := func(path string) (sum audit.Digest) {
		if path == "" {
			return sum
		}
		sum, ok := r.cache.Cached(path)
		if !ok {
			cold = append(cold, path)
		}
		return sum
	}
	r.warm.interpreter, r.warm.script = file(r.interpreter), file(r.script)
	if sk := r.job.skill; sk != nil && sk.tree != [32]byte{} {
		r.warm.tree = sk.tree
	} else if sk != nil {
		sum, ok, err := skill.Cached(sk.Dir, r.cache, time.Now())
		if ok && err == nil {
			r.warm.tree = sum
		} else {
			tree = sk.Dir
		}
	}
	if len(cold) > 0 || tree != "" {
		r.cold = digest(r.cache, tree, cold)
	}
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
	r.index[rec] = len(r.denials)
	rec.Count = 1
	r.denials = append(r.denials, rec)
	if spare(rec) {
		r.spared++
		return
	}
	if e, ok := offerable(r.job.host, r.profile, &d); ok {
		r.lifting = append(r.lifting, lifting{d, e})
	}
	if r.show && r.shown < shownDenials {
		r.shown++
		say("denied %s", denialLine(r.job, r.profile, d))
	}
}

// spare says that a program does as well without what it was refused: Python
// keeps compiled code beside each module, if it may, and every Java program says
// what of it a core file is to hold. Such refusals are recorded, and nobody is
// bothered with them.
func spare(d audit.Denial) bool {
	const compiled = "__pycache__"
	if strings.HasPrefix(d.Target, "/proc/") && filepath.Base(d.Target) == "coredump_filter" {
		return true
	}
	return d.Access == "create" && d.Class == "" && (filepath.Base(d.Target) == compiled || filepath.Base(filepath.Dir(d.Target)) == compiled)
}

// refusedToRun records that nothing was started, and why; code is what the
// program exits with.
func (r *recorder) refusedToRun(err error, code int) {
	r.log.Append(&audit.End{Run: r.id, Session: r.session, Status: audit.Refused, Code: code, Reason: err.Error(), Wall: time.Since(r.begin)})
	r.write(report{Phase: "refused", Code: code, Error: err.Error()})
}

// ended writes the end record and the report, and gives the exit code.
func (r *recorder) ended(res sandbox.Result) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	code := exitCode(&res)
	end := &audit.End{
		Run: r.id, Session: r.session, Status: status(&res, len(r.denials) > 0), Code: code, Reason: res.Limit,
		Wall: time.Since(r.begin), User: res.User, System: res.System, Memory: res.MaxResident,
		Denials: r.denials, MoreDenials: r.dropped,
		Connections: r.traffic.connections(),
		Controls:    standing(res.ControlsMade),
	}
	for i, to := range [...]*audit.Stream{&end.Stdin, &end.Stdout, &end.Stderr} {
		if r.captures[i] != nil {
			*to = r.captures[i].Stream()
		}
	}
	rep := report{Phase: "ran", Code: code, Denials: r.denials, More: r.dropped, Network: r.traffic.summary.Rows(), Controls: end.Controls}
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
	told := len(r.denials) + r.dropped - r.spared
	if n := told - r.shown; r.show && n > 0 && r.shown > 0 {
		say("denied %d more; all of them: skillrun audit show %s", n, r.id)
	}
	if res.TimedOut {
		say("timed out after %v: everything was ended", r.profile.Limits.Wall)
	}
	if res.Limit != "" {
		say("stopped at its limit of %s, %s: everything was ended", res.Limit, limitText(&r.profile.Limits, res.Limit))
	}
	tellControls(end.Controls)
	if len(r.lost) > 0 {
		goneWith("/tmp", r.lost, "", (&sandbox.Refusal{Path: r.lost[0], Access: profiles.Write}).Grant())
	}
	if len(r.unkept) > 0 {
		// Inside, what is granted is a link, over which no directory is made.
		first := ""
		if _, err := os.Stat(filepath.Join(r.job.host.Home, r.unkept[0][2:])); err != nil {
			first = ", if you make that directory first"
		}
		goneWith("HOME", r.unkept, first, "filesystem.read:"+r.unkept[0], "filesystem.write:"+r.unkept[0])
	}
	if path := r.unseen(); code != 0 && path != "" {
		line := fmt.Sprintf("%s was the run's own, and %s outside was not shown", sharedAbove(path), named(path))
		if g := grantFlag("filesystem.read:" + path); g != "" {
			line += "; " + g + " shows it"
		}
		hint("%s", line)
	}
	switch {
	case code == 0 || code == exitTimeout || r.show || r.tells:
	case told > 0:
		hint("%d refused; --denials shows them as they happen, skillrun audit show %s lists them", told, r.id)
	case res.Status.Signaled() && slices.Contains(sentSignals[:], res.Status.Signal()):
	default:
		hint("if it failed for want of a right, --denials shows what was refused")
	}
	if code != 0 && !r.profile.Process.Create && !r.tells {
		hint("the run had no right to start other programs, which is refused without a line: --grant shell.execute gives it")
	}
	if code != 0 && res.Moved != "" {
		hint("what the command made in %s it could open there, but not find with ls, test or cd; $TMPDIR has no such limits", res.Moved)
	}
	_, err := r.log.Append(end)
	r.write(rep)
	if s := r.job.session; s != nil {
		err = errors.Join(err, s.tell(r.id, slices.DeleteFunc(slices.Clone(r.denials), spare), r.dropped, r.profile.Redact))
	}
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

// standing leaves out of paths what is not there any more.
func standing(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(path)
		return err != nil
	})
}

// tellControls lists what a run has made that programs outside obey. Of a
// repository of its own that is its .git, whatever is in it.
func tellControls(paths []string) {
	var names []string
	for _, path := range paths {
		if above, _, in := strings.Cut(path, "/.git/"); in {
			path = above + "/.git"
		}
		if name := named(path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	more := ""
	if n := len(names) - shownDenials; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	say("the run made what other programs obey: %s%s; look at it before they do", strings.Join(names[:min(len(names), shownDenials)], ", "), more)
}

// goneWith says what went with a directory of the run's own, and which grants keep
// the first of it.
func goneWith(own string, lost []string, first string, grants ...string) {
	var flags []string
	for _, g := range grants {
		if g = grantFlag(g); g != "" {
			flags = append(flags, g)
		}
	}
	keeps := ""
	if len(flags) == 1 {
		keeps = "; " + flags[0] + " keeps it" + first
	} else if len(flags) > 1 {
		keeps = "; " + strings.Join(flags, " ") + " keep it" + first
	}
	var names []string
	for _, name := range lost[:min(len(lost), shownDenials)] {
		names = append(names, named(name))
	}
	hint("%s was the run's own, and %s went with it%s", own, strings.Join(names, ", "), keeps)
}

// left looks at what a run has left: in an agent's session where its shell ended,
// else what is lost with its /tmp although the command names it, and with its HOME
// where a directory that is not hidden looks like work and not like a cache.
func (r *recorder) left(home string) {
	if s := r.job.session; s != nil {
		if s.place {
			s.leave(r.job, home)
		}
		return
	}
	entries, _ := os.ReadDir(r.temp)
	for _, e := range entries {
		name := "/tmp/" + e.Name()
		if slices.ContainsFunc(r.job.argv, func(word string) bool { return names(word, name) }) {
			r.lost = append(r.lost, name)
		}
	}
	entries, _ = os.ReadDir(home)
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && hasFile(filepath.Join(home, e.Name())) {
			r.unkept = append(r.unkept, "~/"+e.Name())
		}
	}
}

// hasFile says whether there is a file in a tree, of which it looks at no more
// than a part: what was granted of the user's home is found in a run's own by
// links, in directories that are there for them.
func hasFile(tree string) bool {
	found, left := false, 256
	filepath.WalkDir(tree, func(_ string, d fs.DirEntry, err error) error {
		if left--; err != nil || left == 0 {
			return fs.SkipAll
		}
		if found = d.Type().IsRegular(); found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// unseen gives the first file that the command names in a directory of all users
// which it could not see: the run had one of its own in that place.
func (r *recorder) unseen() string {
	if r.temp == "" || r.job.session != nil {
		return ""
	}
	for _, word := range r.job.argv[1:] {
		path, err := r.job.host.Resolve(word)
		if !filepath.IsAbs(word) || err != nil || sharedAbove(path) == "" {
			continue
		}
		if v := r.profile.Allows(path, profiles.Read); !v.Allowed && v.Denial == nil {
			return path
		}
	}
	return ""
}

// names says whether a word of a command line has the path in it, or something
// beneath it.
func names(word, path string) bool {
	for {
		_, rest, ok := strings.Cut(word, path)
		if !ok {
			return false
		}
		if rest == "" || !strings.ContainsRune("._-", rune(rest[0])) && !('0' <= rest[0] && rest[0] <= '9' || 'A' <= rest[0] && rest[0] <= 'Z' || 'a' <= rest[0] && rest[0] <= 'z' || rest[0] >= 0x80) {
			return true
		}
		word = rest
	}
}

func status(res *sandbox.Result, denied bool) audit.Status {
	switch {
	case res.TimedOut || res.Limit != "":
		return audit.Timeout
	case res.Status.Exited() && res.Status.ExitStatus() == 0:
		return audit.Success
	case denied:
		return audit.Denied
	}
	return audit.Failed
}

// report is what --report writes.
type report struct {
	Phase   string         `json:"phase"` // "refused" or "ran"
	Code    int            `json:"code"`
	Signal  string         `json:"signal,omitempty"`
	Error   string         `json:"error,omitempty"`
	Denials []audit.Denial `json:"denials"`
	More    int            `json:"more_denials,omitempty"`
	// Network is what was used of each host and port, and refused.
	Network []egress.SummaryRow `json:"network,omitempty"`
	// Controls are control files that the run was allowed to make.
	Controls []string         `json:"controls_made,omitempty"`
	Receipt  profiles.Receipt `json:"receipt"`
	Profile  string           `json:"profile_sha256"`
	Run      string           `json:"run_id"`
}

func (r *recorder) write(rep report) {
	if r.report == "" {
		return
	}
	<-r.known
	rep.Receipt, rep.Run = r.receipt, r.id
	rep.Profile = r.sum.String()
	if rep.Denials == nil {
		rep.Denials = []audit.Denial{}
	}
	b, err := json.MarshalIndent(rep, "", "  ")
	if err == nil {
		err = writePlaced(r.report, r.runsWrite, append(b, '\n'))
	}
	if err != nil {
		say("cannot write the report: %v", err)
	}
}

// placed says why a report could not be written where the person wants it:
// after a run it would be too late to say so.
func (r *recorder) placed() error {
	if r.report == "" {
		return nil
	}
	path, err := filepath.Abs(r.report)
	if err != nil {
		return err
	}
	real, shared, err := followOurs(path, r.runsWrite)
	if shared {
		path = real
	}
	if err == nil {
		err = writable(path)
	}
	if err != nil {
		return usage(fmt.Errorf("--report: %w", err))
	}
	return nil
}

// runsWrite says whether runs make names in a directory: this one, or earlier
// ones in the same workspace.
func (r *recorder) runsWrite(dir string) bool {
	if w := r.job.workspace; w != "" && (dir == w || strings.HasPrefix(dir, w+"/")) {
		return true
	}
	return r.profile != nil && r.profile.Allows(filepath.Join(dir, "x"), profiles.Create).Allowed
}

// refused records that the job was refused before there was anything to run, and
// what the user said no to, and gives err.
func (j *job) refused(c *cli.Context, err error) error {
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
	r.refusedToRun(err, exitRefused)
	return err
}

func denialOf(d sandbox.Refusal) audit.Denial {
	a := audit.Denial{Access: d.Word(), Target: d.Target(), Rule: d.Verdict.Origin().Reason}
	if a.Rule == "" {
		a.Rule = d.Why
	}
	if d.Verdict.Denial != nil {
		a.Class = d.Verdict.Denial.Class.String()
	}
	return a
}

// denialLine is one line for a person: what, why, and what would allow it.
// What would lift a denial of the sensitive class is told to a person at a
// terminal only, what would lift one of a control file to nobody: any script
// can provoke it, and the line would be a ready command to give it the machine.
func denialLine(j *job, p *profiles.Profile, d sandbox.Refusal) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(d.Word() + " " + named(d.Target())))
	den := d.Verdict.Denial
	switch {
	case d.Inner:
		b.WriteString(" (" + d.Why + ")")
		return b.String()
	case den == nil && changesSkill(p, &d):
		b.WriteString(" (" + ofSkill + ")")
		return b.String()
	case den != nil && den.Origin.Reason != "":
		fmt.Fprintf(&b, " (%s)", den.Origin.Reason)
	case socketWarning(j.host, &d) != "":
		b.WriteString(" (" + socketWarning(j.host, &d) + ")")
	case d.Why != "":
		b.WriteString(" (" + d.Why + ")")
	case d.Path != "" && !d.Socket && !strings.HasPrefix(d.Path, j.workspace+"/"):
		b.WriteString(" (outside the workspace)")
	default:
		b.WriteString(" (not granted)")
	}
	if den != nil && (den.Class == profiles.Control || den.Class == profiles.Sensitive && !isTerminal(os.Stderr)) {
		b.WriteString(" - this needs the user")
		return b.String()
	}
	if p != nil && d.Grantable && ownPort(&p.Network, d.Host, d.Port) {
		b.WriteString(" - no server of the run listens there")
		return b.String()
	}
	if g := grantFlag(d.Grant()); g != "" {
		b.WriteString(" - to allow: " + g)
	}
	if d.What == "socket" {
		b.WriteString(", or listen:PORT for a server of the run's own")
	}
	return b.String()
}

// grantFlag is a grant as it is typed to a shell, since people paste it and a
// command chooses the names that it is refused. It is "" for what would not show
// as it is typed.
func grantFlag(grant string) string {
	word := hook.Quote(grant)
	if grant == "" || policy.Escape(word) != word {
		return ""
	}
	return "--grant " + word
}

// ownPort says whether this is a port of this machine at which the run was
// granted to listen: who connects to it wants the run's own server, and no grant
// of a host brings that up.
func ownPort(n *profiles.Network, host string, port uint16) bool {
	if a, err := netip.ParseAddr(host); err != nil && host != "localhost" || err == nil && !a.IsLoopback() {
		return false
	}
	return slices.ContainsFunc(n.Listen, func(l profiles.ListenRule) bool { return l.Ports.First <= port && port <= l.Ports.Last })
}
