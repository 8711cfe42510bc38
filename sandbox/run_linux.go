package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/egress"
)

// Run runs the command of spec to its end. An error means that the command did
// not run, or that nothing is known of how it ended.
func Run(spec *Spec) (Result, error) {
	features := linux.Probe()
	if spec.Namespaces == Off || spec.Namespaces == Auto && spec.Profile.Process.Query {
		features.Namespaces = false // in its own a run sees no process but its own
	}
	if without := features; features.Namespaces && spec.Namespaces == Auto && spec.Compiled != nil {
		// An earlier run found that they cannot be made: to try that alone takes less
		// than to compile for them in vain.
		without.Namespaces = false
		if spec.Compiled.Features == without && linux.TryNamespaces() != nil {
			features = without
		}
	}
	if spec.Namespaces == On && !features.Namespaces {
		return Result{}, errors.New("no namespaces can be made here, and they were asked for")
	}
	r, err := run(spec, features)
	var start *linux.StartError
	if features.Namespaces && spec.Namespaces == Auto && errors.As(err, &start) && start.Namespace {
		// It looked as if namespaces could be made; they cannot.
		features.Namespaces = false
		r, err = run(spec, features)
	}
	var nested *linux.NestedError
	if errors.As(err, &nested) {
		// It was taken on when it asked; by now there are too many, or the
		// profile is too large.
		features.Outer = 0
		r, err = run(spec, features)
	}
	if errors.As(err, &start) && start.Exec {
		err = notExecutable{fmt.Errorf("cannot execute %q%s: %w", spec.Path, interpreter(spec.Path), start.Err)}
	}
	return r, err
}

// interpreter tells of the program that a script's first line names, which is
// what the kernel means by a file that is not there. "" if none is named.
func interpreter(script string) string {
	// Another run may have put a pipe or a device there: no pipe is opened or waited for.
	var st unix.Stat_t
	if unix.Stat(script, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	fd, err := unix.Open(script, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	head := make([]byte, 256) // as much as the kernel reads
	n, _ := unix.Read(fd, head)
	line, ok := strings.CutPrefix(string(head[:max(n, 0)]), "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	if line = strings.Trim(line, " \t"); line == "" {
		return ""
	}
	ends := ""
	if strings.HasSuffix(line, "\r") {
		ends = " (its lines end in CR LF, as on Windows, and are to end in LF)"
	}
	return ", a script for \"" + line + "\"" + ends // escaped where it is told
}

// run prepares what the run gets, starts the command, lets it go and waits for
// its end. What it makes on the way goes in the opposite order, however far it got.
func run(spec *Spec, features linux.Features) (Result, error) {
	room := spec.Room
	if room == nil {
		room = MakeRoom()
		defer room.Remove()
	}
	own, err := room.wait()
	if err != nil {
		return Result{}, err
	}
	own.takeCache(spec, features.Notify && features.Seccomp)
	fill := sync.OnceValue(func() error { return own.fill(spec) })
	go fill()
	defer fill() // the room may go only then
	group, version := own.makeCgroup(spec)
	if group != nil {
		features.Cgroup = version
		defer func() {
			// Where the kernel is not done with it, it is the next run's.
			own.left = errors.Is(group.Remove(), unix.EBUSY)
		}()
	}
	door, err := newDoor(spec, features)
	if err != nil {
		return Result{}, err
	}
	defer door.close()
	plan, facts, compiled := compile(spec, features, own, door.sockets())
	if gaps := plan.Receipt.Gaps(spec.Strict, spec.AllowGaps); len(gaps) > 0 {
		return Result{}, &GapError{gaps}
	}
	if err := own.lockSeen(plan); err != nil {
		return Result{}, err
	}
	if err := own.placeDisplays(plan); err != nil {
		return Result{}, err
	}
	tap, err := newTap(spec)
	if err != nil {
		return Result{}, err
	}
	defer tap.close()
	watcher := newWatcher(spec, group)
	jobs := jobControl()
	cmd := own.command(spec, tap)
	cmd.Cgroup, cmd.Jobs, cmd.Session = group, jobs, !jobs && !hasTerminal()
	var leads *linux.Egress
	if plan.Filter&linux.NotifyInternet != 0 {
		if leads, err = door.leads(spec); err != nil {
			return Result{}, err
		}
	}
	if plan.Nested {
		cmd.Nested, err = linux.RegisterNested(spec.Run, plan, plan.WithLinked(own.guarded(spec.Profile, spec.Caches)), facts.Own, facts.Private, ownUmask, cmd.Stdio)
		if err != nil {
			return Result{}, err
		}
		defer cmd.Nested.Over()
	}
	ready := sync.OnceValues(func() (*linux.Supervisor, error) { return supervise(spec, plan, own, facts, door, leads, tap.passed) })
	go ready() // beside the start
	defer func() {
		if supervisor, _ := ready(); supervisor != nil {
			supervisor.Close()
		}
	}()
	spec.starting(plan, own, cmd.Nested)
	signals, err := spec.signals()
	if err != nil {
		return Result{}, err
	}
	if jobs {
		release, err := leaveStops()
		if err != nil {
			return Result{}, err
		}
		defer release()
	}
	p, err := linux.Start(plan, cmd)
	if err != nil {
		return Result{}, err
	}
	defer p.Close()
	if err := fill(); err != nil {
		return Result{}, err
	}
	supervisor, err := begin(p, spec, plan, door, ready)
	if err != nil {
		return Result{}, err
	}
	defer time.AfterFunc(settleAfter, settle).Stop()
	tap.start(p.Kill)
	watcher.start(p)
	stop := forward(signals, func(sig syscall.Signal) error { return passOn(p, sig) })
	state, err := p.Wait()
	limit := watcher.close(&state)
	stop()
	if over := err != nil || state.TimedOut || limit != ""; !tap.wait(over) && !over {
		state.TimedOut = true
	}
	var late error
	if supervisor != nil {
		late = supervisor.Close()
	}
	if err != nil {
		return Result{}, err
	}
	own.over = late == nil
	if spec.Ended != nil {
		spec.Ended(own.home())
	}
	if tap.burst.Load() {
		limit = "output"
	}
	result := ended(state, supervisor)
	result.Limit, result.Receipt, result.Compiled, result.Lost = limit, plan.Receipt, compiled, tap.lostFor()
	return result, nil
}

// fill puts into the run's own HOME and caches what is the user's, or of an earlier run
// with the same rights.
func (o *own) fill(spec *Spec) error {
	o.dropLinks(spec.Profile)
	if err := writeGitConfig(o.home(), spec.Profile.Home, spec.Profile.Workspace); err != nil {
		return err
	}
	err := linkHome(o.home(), spec.Profile)
	o.linkCache(spec)
	linkStores(cmp.Or(o.cache, o.home()), spec.Profile)
	return err
}

// starting tells the caller what the command will run under.
func (s *Spec) starting(plan *linux.Plan, o *own, nested *linux.Nested) {
	if s.Starting == nil {
		return
	}
	started := Started{Receipt: plan.Receipt, Home: o.home(), Temp: o.temp()}
	if nested != nil {
		started.Around, started.Depth = nested.Around, nested.Depth
	}
	s.Starting(started)
}

// ended is what the guardian and the supervisor, if there is one, know of a run.
func ended(state linux.State, supervisor *linux.Supervisor) Result {
	result := Result{
		Status:      state.Status,
		TimedOut:    state.TimedOut,
		Killed:      state.Killed,
		User:        state.User,
		System:      state.System,
		MaxResident: state.MaxResident,
	}
	if supervisor != nil {
		result.Moved = supervisor.Moved()
		result.Unstarted, result.Beside = supervisor.Unstarted()
		result.ControlsMade, result.MoreControls = supervisor.ControlsMade()
	}
	return result
}

// placeDisplays makes the directory in which X servers bind where they will look for
// it: without mounts that is outside, and they make and bind in the run's own, so that
// it is there in both places or in neither.
func (o *own) placeDisplays(plan *linux.Plan) error {
	if _, err := os.Lstat("/tmp/.X11-unix"); err == nil || plan.Private("/tmp") {
		return o.displays()
	}
	os.Remove(o.xServers()) // of an earlier run
	return nil
}

// command is what a spec says of the command.
func (o *own) command(spec *Spec, t *tap) *linux.Command {
	return &linux.Command{
		Path: spec.Path,
		Argv: spec.Argv,
		Env:  Environ(&spec.Profile.Env, spec.Environ, o.home(), o.temp(), o.caches()),
		Dir:  spec.Dir,
		Stdio: [3]int{
			descriptor(t.files[0]), descriptor(t.files[1]), descriptor(t.files[2]),
		},
		Wall: spec.Profile.Limits.Wall,
		Nice: spec.Nice,
	}
}

// begin lets a started command go, once its namespaces and the way out of them
// are there, the caller has noted the start, and somebody answers its calls.
func begin(p *linux.Process, spec *Spec, plan *linux.Plan, door *door, ready func() (*linux.Supervisor, error)) (*linux.Supervisor, error) {
	if plan.Namespaces != 0 {
		if err := p.Ready(); err != nil {
			return nil, err
		}
	}
	if plan.Namespaces&linux.NSNet != 0 {
		if err := door.open(p); err != nil {
			p.Abort()
			return nil, err
		}
	}
	if spec.Started != nil {
		if err := spec.Started(); err != nil {
			p.Abort()
			return nil, err
		}
	}
	p.Release()
	supervisor, err := ready()
	if err != nil {
		p.Abort()
		return nil, err
	}
	if err := p.Begin(); err != nil {
		return nil, err
	}
	if supervisor != nil {
		if err := supervisor.Serve(p.Begun()); err != nil {
			p.Abort()
			return nil, err
		}
	}
	return supervisor, nil
}

// Compiled is a plan, and what it is for besides a profile and files. The run's
// own directory has a name in both that stands for every run's.
type Compiled struct {
	Plan     linux.Plan
	Features linux.Features
	Facts    linux.Facts // without FS
}

// compile gives the plan of a run with the facts that it was compiled for, and
// if it is a new one what to keep of it.
func compile(spec *Spec, f linux.Features, o *own, gate []linux.SocketCall) (plan *linux.Plan, facts linux.Facts, fresh *Compiled) {
	of := func(o *own) linux.Facts {
		facts := factsFor(o, spec.Profile, f, spec.Files, spec.Mounts)
		facts.Dir, facts.Observe, facts.CountsOutput, facts.Gate = spec.Dir, spec.Observe, spec.countsOutput(), gate
		facts.Proxied, facts.Firm = spec.Parents.Serve(&spec.Profile.Network), spec.Firm
		facts.Connected = spec.connected()
		return facts
	}
	stands := &own{dir: filepath.Join(filepath.Dir(o.dir), standIn), cache: o.cache}
	standing := of(stands)
	standing.FS = nil
	c := spec.Compiled
	if c == nil || c.Features != f || !reflect.DeepEqual(c.Facts, standing) {
		fresh = &Compiled{*linux.Compile(stands.guarded(spec.Profile, spec.Caches), f, of(stands)), f, standing}
		c = fresh
	}
	return c.Plan.Move(stands.dir, o.dir), of(o), fresh
}

// connected says that the command's standard input is an internet socket.
func (s *Spec) connected() bool {
	if s.Stdin == nil || s.pipes(0) || kind(s.Stdin)&os.ModeSocket == 0 {
		return false
	}
	domain, err := unix.GetsockoptInt(int(s.Stdin.Fd()), unix.SOL_SOCKET, unix.SO_DOMAIN)
	return err != nil || domain != unix.AF_UNIX
}

// PlanFor compiles a profile as a run on a machine with these features would
// have it, for explaining: the run's own directories have a name that stands
// for theirs. caches is the directory of those that are kept, "" for none; firm is [Spec.Firm].
func PlanFor(p *profiles.Profile, f linux.Features, h *profiles.Host, parents *egress.Parents, caches string, firm bool) *linux.Plan {
	f.Namespaces = f.Namespaces && !p.Process.Query
	stands := standsIn()
	facts := factsFor(stands, p, f, h.FS, h.Mounts)
	facts.Gate = gateSockets(&p.Network, f)
	facts.CountsOutput = true
	facts.Proxied, facts.Firm = parents.Serve(&p.Network), firm
	return linux.Compile(stands.guarded(p, caches), f, facts)
}

func factsFor(o *own, p *profiles.Profile, f linux.Features, files fs.FS, mounts []profiles.Mount) linux.Facts {
	facts := linux.Facts{
		FS:         files,
		Mounts:     mounts,
		Own:        []string{o.home()},
		Masked:     o.masked(),
		Closed:     o.dir,
		Namespaces: f.Namespaces,
		Supervise:  true,
		Foreign:    foreign(p.Workspace),
	}
	if o.cache != "" {
		facts.Own = append(facts.Own, o.cache)
	}
	for _, s := range o.shared() {
		facts.Own = append(facts.Own, s[1])
		facts.Private = append(facts.Private, linux.Substitute{From: s[0], To: s[1]})
	}
	return facts
}

// lockSeen makes and locks the directory that bears the name of the run's own
// where the plan has one of the run's in the place of what all users share: a
// run inside, which sweeps there, must find that this one goes on.
func (o *own) lockSeen(plan *linux.Plan) (err error) {
	for _, s := range o.shared() {
		dir := o.seenIn(s)
		switch {
		case dir == "":
		case plan.Private(s[0]):
			if err = os.MkdirAll(dir, 0o700); err == nil {
				o.seen, err = lockDirectory(dir)
			}
		default:
			removeTree(filepath.Dir(dir)) // of an earlier run
		}
	}
	return err
}

// supervise gets ready to serve the run's notified calls, where the plan has any.
func supervise(spec *Spec, plan *linux.Plan, own *own, facts linux.Facts, door *door, leads *linux.Egress, passed func()) (*linux.Supervisor, error) {
	if plan.Filter&linux.NotifyFeatures == 0 {
		return nil, nil
	}
	config := linux.Supervision{
		Run:          spec.Run,
		Profile:      plan.WithLinked(own.guarded(spec.Profile, spec.Caches)),
		Filter:       plan.Filter,
		Own:          facts.Own,
		Home:         own.home(),
		Apart:        own.cache,
		Denied:       plan.Denied,
		Hidden:       plan.Hidden(),
		Starts:       plan.Starts(),
		Empty:        plan.Empty,
		PassReads:    plan.PassReads,
		WatchReads:   plan.WatchReads,
		Capabilities: plan.KeepCapabilities,
		OwnNetwork:   plan.Namespaces&linux.NSNet != 0,
		Egress:       leads,
		OwnProcesses: plan.Namespaces&linux.NSPID != 0,
		Scoped:       plan.Scoped(),
		MountPoints:  plan.MountPoints(),
		Masks:        plan.Masks(),
		Umask:        ownUmask,
	}
	if config.OwnNetwork && door != nil {
		config.Meets, config.Missed = door.gate.Meets, door.gate.Missed
	}
	for _, s := range facts.Private {
		if !plan.Private(s.From) {
			config.Redirects = append(config.Redirects, linux.Redirect(s))
		} else {
			config.Own = append(config.Own, s.From)
			config.Private = append(config.Private, s.From)
		}
	}
	if spec.Refused != nil {
		config.Verdict = func(r linux.Refusal) {
			refusal := Refusal{Access: r.Access, Path: r.Path, Socket: isSocketCall(r.Call), Verdict: r.Verdict, Why: r.Why, What: r.Call, PID: r.Process, Made: r.Made, Within: r.Within, Inner: r.Inner, Passed: passed}
			if r.Access&profiles.Delete != 0 {
				info, err := os.Lstat(r.Path)
				refusal.Link = err == nil && info.Mode()&fs.ModeSymlink != 0
			}
			if r.Inner {
				refusal.Why = "the profile of a run inside this one"
			}
			switch {
			case r.Path == linux.UnixDatagram, r.Path == linux.Input:
				refusal.What, refusal.Path = r.Path, ""
			case r.Path == linux.SocketIPv6:
				refusal.What, refusal.Path = SocketIPv6, ""
			case (r.Why == linux.OpensToOthers || r.Why == linux.Closes) && !strings.Contains(r.Call, "chown"):
				refusal.What = "change of mode"
			case r.Why == linux.Gains:
				refusal.What = HardLink
			}
			spec.Refused(refusal)
		}
	}
	if spec.Nested != nil {
		config.Nested = func(in linux.Inner) { spec.Nested(Inner(in)) }
	}
	return linux.NewSupervisor(config)
}

func isSocketCall(name string) bool {
	switch name {
	case "connect", "bind", "sendto", "sendmsg", "sendmmsg":
		return true
	}
	return false
}

// ownUmask is this process's umask. It is read by setting it, while there is
// nobody yet whose new files that could meet; the kernel's text of it, in
// /proc/self/status, takes two hundred times as long.
var ownUmask = func() uint32 {
	old := unix.Umask(0o077)
	unix.Umask(old)
	return uint32(old)
}()

func descriptor(f *os.File) int {
	if f == nil {
		return -1
	}
	return int(f.Fd())
}

// foreign says whether root runs in somebody else's workspace.
func foreign(workspace string) bool {
	var st unix.Stat_t
	return os.Geteuid() == 0 && workspace != "" && unix.Stat(workspace, &st) == nil && st.Uid != 0
}
