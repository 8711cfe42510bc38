package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
	"skillrun/profiles"
	"skillrun/sandbox"
	"skillrun/sandbox/egress"
)

func explainCommand(in *invocation) *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what a run may do, and why, from the compiled plan",
		UsageText: "skillrun explain --skill DIR [--path P --access r|w|x|c|d] [--host H[:P]] [--env N] [--platform darwin] [--for-host FILE] [-- COMMAND]",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "path", Usage: "ask about the file or directory `PATH`"},
			&cli.StringFlag{Name: "access", Value: "r", Usage: "what to do with it: `LETTERS` of rwxcd (read, write, execute, create, delete)"},
			&cli.StringFlag{Name: "host", Usage: "ask about a connection to `HOST[:PORT]`, port 443 where none is named"},
			&cli.StringFlag{Name: "env", Usage: "ask about the variable `NAME`"},
			&cli.StringFlag{Name: "features", Usage: "answer for the machine whose features are in `FILE` (see doctor --json)"},
			namespacesFlag(),
		}, append(platformFlags(), policyFlags()...)...),
		Action: wordless(func(c *cli.Context) error { return explain(c, in, os.Stdout) }),
	}
}

func explain(c *cli.Context, in *invocation, w io.Writer) error {
	if c.IsSet("access") && !c.IsSet("path") {
		return usage(errors.New("--access: to what? name it with --path"))
	}
	j, err := newJob(c, in.command, answers{})
	if err != nil {
		return err
	}
	names, err := platforms(c)
	if err != nil {
		return err
	}
	switch {
	case len(names) > 1:
		return usage(errors.New("--platform all is for profile; explain answers for one"))
	case len(names) == 1 && names[0] == "darwin":
		return explainMac(c, j, w)
	}
	p, err := j.profile()
	if err != nil {
		return err
	}
	_, rights := p.Hashes()
	x := &explanation{Writer: w, job: j, cache: j.cache(p, rights)}
	if x.receipt, x.linked, err = planReceipt(c, j, p); err != nil {
		return err
	}
	x.profile = sandbox.Guarded(p, j.caches())
	if x.confirmed, err = j.confirmed(p); err != nil {
		return err
	}
	x.confirmed = sandbox.Guarded(x.confirmed, j.caches())
	for _, q := range []**profiles.Profile{&x.profile, &x.confirmed} {
		with := **q
		with.Denials = append(slices.Clip(with.Denials), x.linked...)
		*q = &with
	}
	asked := false
	if path := c.String("path"); path != "" {
		asked = true
		if err := x.path(path, c.String("access")); err != nil {
			return err
		}
	}
	if host := withPort(c.String("host")); host != "" {
		asked = true
		if err := x.host(host); err != nil {
			return err
		}
	}
	if name := c.String("env"); name != "" {
		asked = true
		x.env(name)
	}
	if !asked {
		x.all()
	}
	return nil
}

// explanation answers questions about a job's rights, in text.
type explanation struct {
	io.Writer
	job       *job
	profile   *profiles.Profile
	confirmed *profiles.Profile // what it would be if all that is asked were granted
	linked    []profiles.Denial // denials of what links lead to, which both have
	receipt   profiles.Receipt
	cache     string // of the run's caches, "" for its own
}

// confirmed is p as it would be if all that is asked were granted.
func (j *job) confirmed(p *profiles.Profile) (*profiles.Profile, error) {
	pending := j.pending()
	if len(pending) == 0 {
		return p, nil
	}
	with := *j
	with.set = j.set.Accept(keysOf(pending)...)
	return with.profile()
}

// answer prints one verdict: what, by which rule, from where, held by what.
func (x *explanation) answer(what string, allowed bool, why string, o profiles.Origin, clause string) {
	word := "denied"
	if allowed {
		word = "allowed"
	}
	fmt.Fprintf(x, "%s: %s\n", word, policy.Escape(what))
	if why != "" {
		fmt.Fprintf(x, "  rule:   %s\n", policy.Escape(why))
	}
	if o != (profiles.Origin{}) {
		fmt.Fprintf(x, "  origin: %s\n", originText(o))
	}
	if cl := clauseOf(x.receipt, clause); cl.Name != "" {
		mech := cl.Mechanism
		if mech == "" {
			mech = "nothing"
		}
		fmt.Fprintf(x, "  held by: %s, strength %s (%s)\n", mech, cl.Strength, cl.Name)
		if cl.Note != "" {
			fmt.Fprintf(x, "  note:   %s\n", cl.Note)
		}
	}
}

func originText(o profiles.Origin) string {
	parts := []string{policy.Escape(o.Source)}
	if o.Capability != "" {
		parts = append(parts, o.Capability)
	}
	if o.Reason != "" {
		parts = append(parts, policy.Escape(o.Reason))
	}
	return strings.Join(parts, ", ")
}

// grant says what would allow what nothing grants, as a denial does.
func (x *explanation) grant(grant string, d *sandbox.Refusal) {
	if _, err := policy.ParseGrant(grant, "explain"); err != nil {
		return // not as it stands: the name of a variable with a space in it
	}
	if held := heldBy(x.job, grant, d); held != "" {
		fmt.Fprintf(x, "  note:   a grant would have no effect: %s\n", held)
		return
	}
	if g := grantFlag(grant); g != "" {
		fmt.Fprintf(x, "  allow:  %s\n", g)
	}
}

func clauseOf(r profiles.Receipt, name string) profiles.Clause {
	i := slices.IndexFunc(r, func(c profiles.Clause) bool { return c.Name == name })
	if i < 0 {
		return profiles.Clause{}
	}
	return r[i]
}

// ofSkill is why a run may not write what no grant would let it.
const ofSkill = "a skill's own files never change from inside"

// unconfirmed is why something is refused that the manifest asks for.
const unconfirmed = "asked for, and not confirmed; a yes on the terminal or --approve declared would allow it"

func (x *explanation) path(path, letters string) error {
	j := x.job
	access, ok := profiles.ParseAccess(letters)
	if !ok {
		return usage(fmt.Errorf("--access %s: letters of rwxcd", quote(letters)))
	}
	path = absolute(ofHome(path, j.host.Home), j.cwd)
	resolved, err := j.host.ResolvePrefix(filepath.Clean(path))
	if err != nil {
		return err
	}
	if info, err := os.Stat(resolved); err == nil && info.Mode().Type() == os.ModeSocket {
		x.socket(resolved)
	}
	for bit := profiles.Read; bit <= profiles.Execute; bit <<= 1 {
		switch {
		case access&bit == 0:
		case bit == profiles.Delete: // of a link, that itself
			dir, err := j.host.ResolvePrefix(filepath.Dir(path))
			if err != nil {
				return err
			}
			x.access(filepath.Join(dir, filepath.Base(path)), bit)
		default:
			x.access(resolved, bit)
		}
	}
	return nil
}

// access says whether a run has one right on a path, links in it followed; but for
// deletion the last.
func (x *explanation) access(resolved string, bit profiles.Access) {
	j, p := x.job, x.profile
	v := p.Allows(resolved, bit)
	lifted := sandbox.Refusal{}
	why, clause := "nothing grants it", map[profiles.Access]string{
		profiles.Read: profiles.ClauseRead, profiles.Write: profiles.ClauseWrite, profiles.Create: profiles.ClauseWrite,
		profiles.Delete: profiles.ClauseKeep, profiles.Execute: profiles.ClauseExecute,
	}[bit]
	if v.Denial != nil { // of several, one that nothing lifts
		for i := range x.linked {
			if d := &x.linked[i]; d.Access&bit != 0 && d.Covers(resolved) {
				v.Denial = d
			}
		}
	}
	origin := v.Origin()
	switch {
	case bit == profiles.Delete && v.Denial != nil && emptied(p, resolved):
		why, clause, origin = ofEmptied, profiles.ClauseControl, profiles.Origin{}
	case v.Denial != nil:
		why = "denied " + v.Denial.Path
		if v.Denial.Match != "" {
			why += ", names like " + v.Denial.Match
		}
		clause = profiles.ClauseDeny
		if v.Denial.Class == profiles.Control {
			clause = profiles.ClauseControl
		}
		if tail := lasting(v.Denial); tail != "" {
			why += "; " + tail
		} else if _, ok := unchangedBy(&sandbox.Refusal{Path: resolved, Access: bit, Verdict: v}); ok && v.Denial.Covers(resolved) && !slices.Contains(j.decisive, resolved) {
			// Who asks about it means it: no script provokes this line.
			lifted = sandbox.Refusal{Access: profiles.Write, Path: resolved}
		} else if v.Denial.Class == profiles.Sensitive && v.Denial.Covers(resolved) && isTerminal(os.Stdout) {
			lifted = sandbox.Refusal{Access: bit, Path: resolved} // no agent reads it
		}
	case v.Rule != nil:
		why = "granted " + v.Rule.Path
		if v.Rule.Tree {
			why += " and all beneath"
		}
	case p.ChangesSkill(resolved, bit):
		why, clause = ofSkill, profiles.ClauseWrite
	default:
		lifted = sandbox.Refusal{Access: bit, Path: resolved}
	}
	if would := x.confirmed.Allows(resolved, bit); !v.Allowed && would.Allowed {
		why, origin, lifted = unconfirmed, would.Origin(), sandbox.Refusal{}
	}
	x.answer(bit.Word()+" "+resolved, v.Allowed, why, origin, clause)
	x.grant(lifted.Grant(), &lifted)
	if v.Allowed {
		for _, line := range besides(p, resolved, bit) {
			fmt.Fprintf(x, "  not:    %s\n", policy.Escape(line))
		}
	}
	if shared := sharedAbove(resolved); shared != "" && !v.Allowed && v.Denial == nil && bit != profiles.Execute && !p.Allows(resolved, profiles.Read).Allowed {
		fmt.Fprintf(x, "  note:   the run's own directory stands in for %s, and is gone when it ends\n", shared)
	}
}

// socket says whether a run may talk to who listens at a socket, which no right
// on files gives.
func (x *explanation) socket(path string) {
	for i := range x.profile.Sockets {
		if s := &x.profile.Sockets[i]; s.Path == path {
			x.answer("connect "+path, true, "granted "+s.Path, s.Origin, profiles.ClauseUnix)
			return
		}
	}
	why := profiles.SocketWarning(x.job.host, path)
	if why == "" {
		why = "nothing grants it"
	}
	x.answer("connect "+path, false, why, profiles.Origin{}, profiles.ClauseUnix)
	lifted := sandbox.Refusal{Socket: true, Path: path}
	x.grant(lifted.Grant(), &lifted)
}

// besides lists what in a directory is denied although that itself is not: names
// that the directory's own is the first part of, as ".git" of ".git/hooks".
func besides(p *profiles.Profile, path string, bit profiles.Access) (lines []string) {
	for i := range p.Denials {
		d := &p.Denials[i]
		if d.Match == "" || d.Access&bit == 0 || d.Path == path || strings.HasPrefix(d.Path, path+"/") || !d.Leads(path) {
			continue
		}
		if line := "names like " + d.Match + " (" + d.Origin.Reason + ")"; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// sharedAbove gives the directory of all users in which a path lies, for which a
// run has one of its own; "" if in none.
func sharedAbove(path string) string {
	for _, dir := range [...]string{"/tmp", "/var/tmp", "/dev/shm"} {
		if strings.HasPrefix(path, dir+"/") {
			return dir
		}
	}
	return ""
}

// withPort gives a host that is asked about without a port that of HTTPS.
func withPort(host string) string {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); host != "" && (err == nil || !strings.ContainsAny(host, ":/")) {
		return host + ":443"
	}
	return host
}

// asked reads what --host names.
func asked(target string) (host string, port uint16, proto profiles.Protocol, err error) {
	at := target
	proto = profiles.TCP
	if strings.Contains(target, "://") {
		// As a grant takes it.
		host, ports, fault := policy.ParseHost(target)
		if fault != "" {
			return "", 0, proto, errors.New(fault)
		}
		at = host + ":" + strconv.Itoa(int(ports[0].First))
		if scheme, _, _ := strings.Cut(target, "://"); strings.EqualFold(scheme, "udp") {
			proto = profiles.UDP
		}
	}
	if rest, ok := strings.CutSuffix(target, "/udp"); ok {
		at, proto = rest, profiles.UDP
	}
	i := strings.LastIndexByte(at, ':')
	if i < 0 {
		return "", 0, proto, errors.New("want HOST:PORT, or HOST:PORT/udp")
	}
	n, err := strconv.ParseUint(at[i+1:], 10, 16)
	if err != nil || n == 0 {
		return "", 0, proto, errors.New("no port from 1 to 65535")
	}
	return at[:i], uint16(n), proto, nil
}

func (x *explanation) host(target string) error {
	j, p := x.job, x.profile
	host, port, proto, err := asked(target)
	if err != nil {
		return usage(fmt.Errorf("--host %s: %w", quote(target), err))
	}
	if p.Network.Mode == profiles.NetHost {
		x.answer("connect "+target, true, "network host", p.Network.Origin, profiles.ClauseNetwork)
		return nil
	}
	t, err := egress.ParseTarget(host)
	if err != nil {
		x.answer("connect "+target, false, err.Error(), profiles.Origin{}, profiles.ClauseNetwork)
		return nil
	}
	q := egress.Request{Name: t.Name, Addr: t.Addr, Port: port, Protocol: proto}
	parents, err := j.parents(p)
	if err != nil {
		return err
	}
	via := ""
	if t.Name != "" && proto == profiles.TCP {
		via = parents.Through(t.Name, port)
	}
	rule, reason := egress.NewPolicy(&p.Network).Decide(q)
	why, origin := "network "+p.Network.Mode.String(), profiles.Origin{}
	lifted := sandbox.Refusal{}
	would, _ := egress.NewPolicy(&x.confirmed.Network).Decide(q)
	switch {
	case rule != nil && t.Name != "" && isLoopback(t.Name) && !rule.Private && via == "":
		why, rule = "granted "+rule.Host+hostTerms(rule)+"; its address must be public, and this machine's is not", nil
		lifted = sandbox.Refusal{Host: t.String(), Port: port, Grantable: true}
	case rule == nil && would != nil:
		why, origin = unconfirmed, would.Origin
	case rule == nil:
		lifted = sandbox.Refusal{Host: t.String(), Port: port, Grantable: reason.Grantable()}
		if proto == profiles.UDP {
			lifted.What = string(egress.DoorUDP)
		}
		if p.Network.Mode == profiles.NetHosts {
			why = reason.Text()
		}
		if ownPort(&p.Network, lifted.Host, lifted.Port) {
			why, lifted = "no server of the run listens there", sandbox.Refusal{}
		}
	default:
		why, origin = "granted "+rule.Host+hostTerms(rule), rule.Origin
		if t.Name != "" && !rule.Private && via == "" {
			why += "; its address must be public"
		}
	}
	x.answer("connect "+target, rule != nil, why, origin, profiles.ClauseNetwork)
	x.grant(hostGrant(j, &lifted), &lifted)
	if rule != nil && via != "" {
		fmt.Fprintf(x, "  way:    TLS and HTTP by the proxy %s, which resolves the name (net.resolved)\n", policy.Escape(via))
	}
	return nil
}

func (x *explanation) env(name string) {
	env := &x.profile.Env
	for _, v := range env.Set {
		if v.Name == name {
			x.answer("variable "+name, true, "set to "+v.Value, v.Origin, profiles.ClauseEnvironment)
			return
		}
	}
	if own := sandbox.OwnVariable(name); own != "" {
		x.answer("variable "+name, true, "set to "+own, profiles.Origin{}, profiles.ClauseEnvironment)
		return
	}
	passes, rule := env.Passes(name)
	why, o := "nothing passes it", profiles.Origin{}
	if rule != nil {
		why, o = "rule "+rule.Name, rule.Origin
	}
	x.answer("variable "+name, passes, why, o, profiles.ClauseEnvironment)
	if !passes && env.Steers(name) {
		x.grant("env_var.read:"+name, &sandbox.Refusal{})
	}
}
