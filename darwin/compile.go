package darwin

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// Policy is a compiled policy for one run.
type Policy struct {
	source string
	params []Param
	// Repository is the directory ".git" of the workspace, where there was none and the
	// run may make it: it holds what git obeys. "" if not.
	Repository string
	// Receipt says for each clause of the Profile how strongly it is held.
	Receipt profiles.Receipt
}

// Source is the text of the policy. It holds no path and no other text of the
// Profile but for escaped comments.
func (p *Policy) Source() string { return p.source }

// Params gives the policy's parameters in the order of their names. The caller
// must not change them.
func (p *Policy) Params() []Param { return p.params }

// The shipped parts of a policy, each rule with its reason.
var (
	//go:embed policy/base.sb
	baseText string
	//go:embed policy/children.sb
	childrenText string
	//go:embed policy/query.sb
	queryText string
	//go:embed policy/network.sb
	networkText string
	//go:embed policy/network-proxy.sb
	proxyText string
	//go:embed policy/network-direct.sb
	directText string
	//go:embed policy/network-tls.sb
	tlsText string
	//go:embed policy/network-listen.sb
	listenText string
)

// Compile makes the policy for a Profile on a machine. It is pure: equal
// arguments give equal bytes.
//
// It fails on a path that is not canonical (see [Canonical]), on a denied name
// that macOS could spell in several ways and the run could create, on named
// hosts without a proxy port, and on a release before macOS 13. What the
// platform cannot hold is no error but a clause of the Receipt.
func Compile(p *profiles.Profile, f *Facts) (*Policy, error) {
	c := &compiler{profile: p, facts: f, w: &writer{tag: "skillrun", names: map[string]string{}}}
	if f.Tag != "" {
		c.w.tag = f.Tag
	}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("compile for darwin: %w", err)
	}
	c.w.text(baseText)
	if p.Process.Create {
		c.w.text(childrenText)
	}
	if p.Process.Query {
		c.w.text(queryText)
	}
	c.writeGrants()
	c.writeNetwork()
	c.writeDenials()
	return &Policy{source: c.w.b.String(), params: c.w.params, Repository: c.repository, Receipt: c.receipt()}, nil
}

// compiler holds what one compilation works out, in this order.
type compiler struct {
	profile *profiles.Profile
	facts   *Facts
	exists  []string // sorted
	own     []profiles.PathRule
	grants  []profiles.PathRule // the Profile's, the run's own, the commands
	denials []profiles.Denial   // those that reach into a grant
	w       *writer
	// repository is the one that the run may make, "" for none.
	repository string
}

func (c *compiler) prepare() error {
	if err := c.facts.validate(); err != nil {
		return err
	}
	if err := c.checkProfile(); err != nil {
		return err
	}
	for _, e := range c.facts.Exists {
		c.exists = append(c.exists, "/"+strings.Trim(e, "/"))
	}
	slices.Sort(c.exists)
	c.addGrants()
	c.addDenials()
	c.repository = c.ownRepository()
	if err := c.checkSpellings(); err != nil {
		return err
	}
	if c.profile.Network.Mode == profiles.NetHosts && c.facts.ProxyPort == 0 {
		return fmt.Errorf("named hosts need a gate, and the proxy port is 0")
	}
	return nil
}

func (c *compiler) checkProfile() error {
	p := c.profile
	if p.Network.Mode > profiles.NetHost {
		return fmt.Errorf("unknown network mode %d", p.Network.Mode)
	}
	paths := []string{p.Workspace, p.Skill}
	for i := range p.Paths {
		paths = append(paths, p.Paths[i].Path)
	}
	for i := range p.Sockets {
		if !strings.HasPrefix(p.Sockets[i].Path, "@") {
			paths = append(paths, p.Sockets[i].Path)
		}
	}
	for i := range p.Denials {
		d := &p.Denials[i]
		paths = append(paths, moved(d.Path))
		for _, e := range append([]string{d.Match}, d.Except...) {
			if strings.HasPrefix(e, "/") {
				paths = append(paths, moved(e))
			} else if err := checkText(e); err != nil {
				return fmt.Errorf("pattern %q: %w", e, err)
			}
		}
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		if err := Canonical(path); err != nil {
			return err
		}
	}
	return nil
}

// addGrants joins the Profile's grants with what every run has.
func (c *compiler) addGrants() {
	access := profiles.Read | profiles.Change
	if c.profile.Process.ExecuteOwn {
		access |= profiles.Execute
	}
	for _, dir := range [...][2]string{
		{c.facts.Tmp, "the run's own temporary directory"},
		{c.facts.PrivateHome, "the run's own HOME"},
	} {
		if dir[0] != "" {
			c.own = append(c.own, profiles.PathRule{Path: dir[0], Tree: true, Access: access,
				Origin: profiles.Origin{Source: "built-in:run", Reason: dir[1]}})
		}
	}
	c.grants = append(c.grants, c.profile.Paths...)
	c.grants = append(c.grants, c.own...)
	for _, command := range c.facts.Commands {
		c.grants = append(c.grants, profiles.PathRule{Path: command, Access: profiles.Read | profiles.Execute,
			Origin: profiles.Origin{Source: "command line", Reason: "the command may always start"}})
	}
}

// grantedBelow gives the accesses granted to path, or to something beneath it.
func (c *compiler) grantedBelow(path string) profiles.Access {
	var a profiles.Access
	for i := range c.grants {
		if r := &c.grants[i]; profiles.Within(path, r.Path) || r.Tree && profiles.Within(r.Path, path) {
			a |= r.Access
		}
	}
	return a
}

// granted gives the accesses granted to path itself.
func (c *compiler) granted(path string) profiles.Access {
	var a profiles.Access
	for i := range c.grants {
		if r := &c.grants[i]; r.Path == path || r.Tree && profiles.Within(r.Path, path) {
			a |= r.Access
		}
	}
	return a
}

// absent says whether a path is not known to exist: neither listed nor above
// something listed.
func (c *compiler) absent(p string) bool {
	for _, known := range [...]string{c.facts.Home, c.profile.Workspace, c.profile.Skill, c.facts.Tmp, c.facts.PrivateHome} {
		if known != "" && profiles.Within(p, known) {
			return false
		}
	}
	if _, ok := slices.BinarySearch(c.exists, p); ok {
		return false
	}
	i, _ := slices.BinarySearch(c.exists, p+"/")
	return i == len(c.exists) || !strings.HasPrefix(c.exists[i], p+"/")
}

// spellings gives the filter for a path and (unless end is exactly) everything
// beneath. Where the volume folds case and the run could create the name,
// every case of it counts.
func (c *compiler) spellings(p, end string) string {
	var all []string
	if end == exactly || c.absent(p) {
		all = append(all, c.w.literal(p)) // a subpath alone misses the first mkdir
	}
	if end == andBeneath {
		all = append(all, c.w.subpath(p))
	}
	if re := c.folded(p, end); re != "" {
		all = append(all, c.w.regex(re))
	}
	if len(all) == 1 {
		return all[0]
	}
	return "(require-any " + strings.Join(all, " ") + ")"
}

func (c *compiler) folded(p, end string) string {
	if c.facts.CaseSensitive || !c.absent(p) || c.grantedBelow(p)&profiles.Create == 0 {
		return ""
	}
	known := p
	for c.absent(known) {
		known = path.Dir(known)
	}
	return "^" + quote(known) + fold(p[len(known):]) + end
}

// root writes the root of a pattern, absent components in every case.
func (c *compiler) root(p string) string {
	if re := c.folded(p, ""); re != "" {
		return strings.TrimPrefix(re, "^")
	}
	return quote(p)
}
