package session

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"skillrun/audit"
	"skillrun/policy"
	"skillrun/policy/scan"
	"skillrun/policy/skill"
	"skillrun/profiles"
)

// Load decides whether a skill may come into the agent's context, and if so
// adds what it declares to the pool. dir is its directory.
//
// The decision is the strictest of: the preset's on untrusted skills (reject),
// on who may load (activation) and on suspicious text (scan); what the policy
// says on context.load with the skill's name; and, for a skill that was loaded
// before and has changed since, the preset's on changes. An approved skill that
// nothing speaks against loads, an untrusted one too where the preset has its
// text scanned and that finds nothing. What an agent starts by itself when it loads a
// skill, no run holds: that is asked about under every preset.
//
// A skill whose verdict is Confirm narrows from now on, and what it declares
// counts once somebody said yes: a host that asked by itself calls Load again,
// with ByUser.
func (s *Session) Load(ctx context.Context, dir string, by By) Verdict {
	begin := time.Now()
	k, needs, err := s.loading(ctx, dir, by)
	a := Action{Event: "SkillLoad", Tool: "Skill", Input: dir}
	v := Verdict{}
	if err != nil {
		v.Reason = policy.Escape(err.Error())
	} else {
		v.Skills = []string{k.Name}
		v.sum(needs)
		v.Choices = s.choices(needs)
		if v.Effect == policy.Confirm && s.set.Asker != nil {
			s.ask(ctx, &a, &v, needs)
		}
		s.settle(k, v.Effect)
		if i := slices.IndexFunc(s.more.Skills, func(o loaded) bool { return o.Dir == k.Dir }); v.Effect == policy.Allow && by != ByPath {
			s.more.Skills[i].Starts = true
		}
	}
	record := &audit.Decision{
		Session: s.state.ID, Event: a.Event, Tool: a.Tool, Skill: strings.Join(v.Skills, ", "), Capability: "context.load",
		Verdict: word(v.Effect), Reason: v.Reason, Source: v.Source, Input: a.Input, Took: time.Since(begin),
	}
	if err := s.log.Append(record); err != nil {
		return Verdict{Reason: "cannot record the decision: " + policy.Escape(err.Error())}
	}
	if err := s.save(); err != nil {
		return Verdict{Reason: policy.Escape(err.Error())}
	}
	return v
}

// Unload takes a skill out of the session: what it declared no longer counts,
// and no longer narrows. The host calls it when the skill's text has left the
// agent's context.
func (s *Session) Unload(name string) error {
	i := slices.IndexFunc(s.more.Skills, func(k loaded) bool { return k.Name == name })
	if i < 0 {
		return fmt.Errorf("session %q: skill %q is not loaded", s.state.ID, clip(name, 64))
	}
	s.more.Skills = slices.Delete(s.more.Skills, i, i+1)
	s.drop(name)
	if err := s.log.Append(&audit.Grant{Action: "revoke", For: "session", Session: s.state.ID, Skill: audit.Skill{Name: name}, By: "host", Reason: "unloaded"}); err != nil {
		return err
	}
	return s.save()
}

// drop takes what a skill declared out of the document.
func (s *Session) drop(name string) {
	s.state.Declared = slices.DeleteFunc(s.state.Declared, func(e policy.Entry) bool { return e.Source == "skill:"+name })
	s.state.Loaded = slices.DeleteFunc(s.state.Loaded, func(n string) bool { return n == name })
}

// candidateSkill is a skill on its way into the session.
type candidateSkill struct {
	loaded
	entries  []policy.Entry
	grants   []policy.Entry // from its approval
	already  bool           // it is there, and has not changed
	started  string         // what an agent starts by itself when it loads it
	mentions []string       // what may be files that it then reads by itself
	findings []policy.Finding
	faulty   bool // these are of the header alone
}

// loading finds out all about a skill and judges the loading of it.
func (s *Session) loading(ctx context.Context, dir string, by By) (*candidateSkill, []judged, error) {
	k, before, err := s.read(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	st, err := s.live(nil)
	if err != nil {
		return nil, nil, err
	}
	if before == nil && len(s.more.Skills) >= maxSkills {
		return nil, nil, fmt.Errorf("more than %d skills in one session", maxSkills)
	}
	now := s.now()
	r := policy.Request{Capability: "context.load", Names: []string{k.Name}, Place: s.place(nil), Time: now, Uses: s.uses("context.load", now)}
	j := judged{c: policy.Lookup("context.load"), request: r, answer: st.Decide(r)}
	if k.started == "" && by != ByPath && by != ByUser {
		k.started = s.reads(st, k)
	}
	effect, why, source := s.admits(k, before, by)
	// What the policy says counts where somebody said it: an entry, or a bound.
	if a := &j.answer; a.Entry != nil || a.Effect == policy.Deny {
		switch {
		case a.Effect == policy.Deny && a.Entry == nil && a.Source != "":
			// An untrusted skill or a ceiling does not provide for others.
			if by <= ByPath && effect == policy.Allow {
				effect, why, source = policy.Confirm, a.Reason, a.Source
			}
		case a.Effect < effect:
			effect, why, source = a.Effect, a.Reason, a.Source
		case a.Source == "user-grant" && effect == policy.Confirm:
			effect, why, source = policy.Allow, a.Reason, a.Source
		}
	}
	if effect == policy.Confirm && j.answer.Effect != policy.Confirm {
		j.answer = policy.Answer{Effect: policy.Confirm}
	}
	j.need = Need{Capability: "context.load", Level: j.c.Level, Target: k.Name, Exact: true, Effect: effect, Reason: why, Source: source}
	return k, []judged{j}, nil
}

// reads names a file that the agent reads by itself when it loads a skill and that is not
// the skill's own, and may not be read without asking; "" if there is none.
func (s *Session) reads(st *policy.State, k *candidateSkill) string {
	for _, dir := range slices.Compact([]string{cmp.Or(s.set.Places.Current, s.state.Workspace), s.state.Workspace, k.Dir}) {
		for _, name := range k.mentions {
			path := s.resolve(name, dir)
			if _, err := os.Lstat(path); !strings.HasPrefix(path, nowhere) && err != nil || profiles.Within(k.Dir, path) {
				continue
			}
			r := s.requestOf(&Action{}, policy.Request{Capability: "filesystem.read", Paths: []string{name}}, dir, s.now())
			if j := s.judge(st, r, path, true, ""); j.need.Effect != policy.Allow {
				return "reading " + shown(name)
			}
		}
	}
	return ""
}

// admits is what tier, preset and the skill's own text come to.
func (s *Session) admits(k *candidateSkill, before *loaded, by By) (effect policy.Effect, why, source string) {
	p := s.set.Preset
	source = "preset:" + p.Name
	effect, why = policy.Allow, fmt.Sprintf("%s is %s (%s)", policy.Shown(k.Name), k.Tier, k.Why)
	stricter := func(e policy.Effect, because string) {
		if e < effect {
			effect, why = e, because
		}
	}
	if p.Bound(k.Tier, k.Declared) == policy.BoundRejected {
		stricter(policy.Deny, why+", and preset "+p.Name+" takes approved skills only")
	}
	if k.started != "" && !k.Starts && by != ByPath && by != ByUser && k.Tier < policy.BuiltIn {
		stricter(policy.Confirm, starts(k.started))
	}
	if k.already && !before.Pending {
		return effect, why, source
	}
	if by <= ByPath && p.Activation == policy.ActivationExplicit {
		stricter(policy.Confirm, "preset "+p.Name+" loads skills at the user's word only")
	}
	if k.Tier <= policy.Untrusted && by != ByUser {
		if (by == ByLink || by == ByPath) && s.set.Places.Locate(k.Dir).Scope == skill.Elsewhere {
			stricter(policy.Confirm, why+": its files in "+policy.Shown(k.Dir)+" can be read then")
		}
		switch {
		case p.Scan == policy.ScanAsk:
			stricter(policy.Confirm, why+", and preset "+p.Name+" has the user look at it")
		case p.Scan == policy.ScanAuto && len(k.findings) > 0:
			looks := "its text looks like an attack: "
			if k.faulty {
				looks = "its header has a fault: "
			}
			stricter(policy.Confirm, looks+policy.Escape(k.findings[0].String()))
		}
	}
	if before != nil && !k.already {
		switch {
		case p.CapabilityChange == policy.ChangeAsk && s.escalates(before, k):
			stricter(policy.Confirm, "it changed since it was loaded, and asks for more than before")
		case p.SelfChange == policy.ChangeAsk || len(k.findings) > 0:
			stricter(policy.Confirm, "it changed since it was loaded")
		}
	}
	return effect, why, source
}

// escalates says whether the skill as it is now asks for what it did not before.
func (s *Session) escalates(before *loaded, k *candidateSkill) bool {
	old, now := s.entriesOf(before), k.entries
	if !k.Declared {
		now = s.entriesOf(&k.loaded)
	}
	diff := skill.Compare(skill.Permissions(old), skill.Permissions(now), nil, nil)
	return diff.Escalates() || policy.Loosens(old, now) || k.Tier < before.Tier
}

// read takes in the skill in a directory: what it is, how far it is trusted,
// what it declares, what the user approved of it. before is the same skill as
// the session has it, nil if it has none.
func (s *Session) read(ctx context.Context, dir string) (k *candidateSkill, before *loaded, err error) {
	sk, err := skill.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	docs, err := sk.Documents()
	if err != nil {
		return nil, nil, err
	}
	cache, err := audit.OpenDigests(s.set.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer cache.Close()
	now := s.set.Now()
	tree, ok, err := skill.Cached(sk.Dir, cache, now)
	if err == nil && !ok {
		var files []skill.Entry
		files, err = skill.Tree(ctx, sk.Dir, cache, now)
		tree = skill.Digest(files)
	}
	if err != nil {
		return nil, nil, err
	}
	approval, past, err := s.approval(sk, tree, now)
	if err != nil {
		return nil, nil, err
	}
	k = &candidateSkill{}
	k.Dir, k.Version, k.Declared, k.At = sk.Dir, sk.Version, len(docs) > 0, s.now()
	k.Tree, k.Manifest = hex.EncodeToString(tree[:]), hex.EncodeToString(sk.Manifest[:])
	k.Tier, k.Why = s.set.Places.Trust(sk.Dir, approval)
	if past != "" {
		k.Why += "; " + policy.Escape(past)
	}
	for _, d := range docs {
		if d.Skill.HasTier {
			k.Tier = min(k.Tier, d.Skill.Tier)
		}
	}
	k.Name = s.name(sk)
	for i := range s.more.Skills {
		if s.more.Skills[i].Dir == sk.Dir {
			before = &s.more.Skills[i]
			k.already = before.Tree == k.Tree && before.Tier == k.Tier
			k.Starts = k.already && before.Starts
		}
	}
	var hosts, accepted []string
	if approval != nil {
		hosts, accepted = approval.Hosts, approval.Accepted
		for _, g := range approval.Grants {
			e, err := policy.ParseGrant(g, "approval")
			if err != nil {
				return nil, nil, err
			}
			e.Granted = approval.Made
			k.grants = append(k.grants, e)
		}
	}
	k.entries = policy.Pool(docs, k.Tier, hosts, "skill:"+k.Name)
	for _, e := range k.entries {
		for _, c := range policy.Expand(e.Capability) {
			one := e
			if one.Capability = c.Name; e.Effect != policy.Deny && slices.Contains(accepted, one.Key()) {
				one.Effect, one.Implied, one.Source, one.Granted = policy.Allow, false, "user-grant", approval.Made
				k.grants = append(k.grants, one)
			}
		}
	}
	for _, f := range sk.Files {
		if strings.EqualFold(f.Name, "skill.md") {
			k.findings = append(k.findings, scan.Injections(f.Name, string(f.Data))...)
			k.started = cmp.Or(k.started, policy.Started(f.Data))
			k.mentions = append(k.mentions, policy.Mentioned(f.Data)...)
			k.mentions = append(k.mentions, policy.Mentioned(norm.NFC.Bytes(f.Data))...) // as agents compose them
		}
	}
	k.faulty = len(k.findings) == 0
	k.findings = append(k.findings, sk.Findings...)
	return k, before, nil
}

// name is what the session calls a skill, and what is its own goes by: its own name,
// unless another has it, or might, since what we add to one begins with "@".
func (s *Session) name(sk *skill.Skill) string {
	own := policy.Escape(clip(sk.Name, 64))
	taken := func(name string) bool {
		return slices.ContainsFunc(s.more.Skills, func(k loaded) bool { return k.Name == name && k.Dir != sk.Dir })
	}
	name, id := own, base(sk.Dir)
	for n := 8; taken(name) || name == own && strings.Contains(own, "@"); n += 8 {
		name = own + "@" + id[:min(n, len(id))]
	}
	return name
}

// approvals is the directory of approval records.
func (s *Session) approvals() string { return filepath.Join(s.set.Dir, "approvals") }

// approval finds the approval that holds for the skill as it is, nil if there
// is none, and says if one is past.
func (s *Session) approval(sk *skill.Skill, tree [32]byte, now time.Time) (a *skill.Approval, past string, err error) {
	if _, err := os.Lstat(s.approvals()); os.IsNotExist(err) {
		return nil, "", nil
	}
	store, err := skill.OpenApprovals(s.approvals())
	if err != nil {
		return nil, "", err
	}
	defer store.Close()
	if a, err = store.Find(sk.Dir); err != nil || a == nil {
		return nil, "", err
	}
	if err := a.Holds(sk, tree, now); err != nil {
		if a.Past(now) {
			past = err.Error()
		}
		return nil, past, nil
	}
	return a, "", nil
}

// settle makes a skill part of the session, as far as its verdict lets it.
func (s *Session) settle(k *candidateSkill, effect policy.Effect) {
	if effect == policy.Deny {
		return
	}
	i := slices.IndexFunc(s.more.Skills, func(o loaded) bool { return o.Dir == k.Dir })
	if k.Pending = effect != policy.Allow; i >= 0 {
		if k.already && !s.more.Skills[i].Pending {
			return
		}
		s.drop(s.more.Skills[i].Name)
		s.more.Skills[i] = k.loaded
	} else {
		s.more.Skills = append(s.more.Skills, k.loaded)
	}
	s.state.Declared = append(s.state.Declared, k.entries...)
	if !k.Pending {
		s.state.Loaded = append(s.state.Loaded, k.Name)
		s.state.Granted = append(s.state.Granted, k.grants...)
	}
}

// implied loads the skills whose scripts a command runs and that are not loaded:
// that, too, brings them into the session.
func (s *Session) implied(ctx context.Context, files []string, dir string) (needs []judged, err error) {
	for _, f := range files {
		at := s.set.Places.Around(s.resolve(f, dir))
		if at == "" || s.skillAt(at) != nil {
			continue
		}
		k, found, err := s.loading(ctx, at, ByPath)
		if err != nil {
			return nil, err
		}
		if found[0].need.Effect != policy.Deny {
			s.settle(k, found[0].need.Effect)
		}
		needs = append(needs, found...)
	}
	return needs, nil
}
