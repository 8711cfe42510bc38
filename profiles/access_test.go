package profiles_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/profiles"
)

// TestDenialMeaning is the meaning of Path, Match and Except, a line for each way in
// which they meet: what is covered, what leads there, what is spared, and how many
// directories the run must have made for UnlessWithin.
func TestDenialMeaning(t *testing.T) {
	whole := profiles.Denial{Path: "/w/s", Except: []string{"/w/s/known", "*.pub"}}
	named := profiles.Denial{Path: "/w", Match: ".git/hooks", Except: []string{"/w/free", "node_modules"}}
	deep := profiles.Denial{Path: "/w", Match: ".github/workflows/x", Except: []string{"*.d"}}
	root := profiles.Denial{Path: "/", Match: ".env*"}
	for _, c := range []struct {
		denial                *profiles.Denial
		path                  string
		covers, leads, spares bool
		holders               int
	}{
		{&whole, "/w/s", true, false, false, 0},
		{&whole, "/w/s/a/b", true, false, false, 0},
		{&whole, "/w/sx", false, false, false, 0},
		{&whole, "/w", false, true, false, 0},
		{&whole, "/", false, true, false, 0},
		{&whole, "/w/s/known", false, false, true, 0},
		{&whole, "/w/s/known/x", false, false, true, 0},
		{&whole, "/w/s/known2", true, false, false, 0},
		{&whole, "/w/s/a.pub", false, false, true, 0},
		{&whole, "/w/s/a.pub/x", false, false, true, 0},

		{&named, "/w", false, true, false, 0},
		{&named, "/w/.git", false, true, false, 0},
		{&named, "/w/a/.GIT", false, true, false, 0},
		{&named, "/w/.git/hooks", true, false, false, 2},
		{&named, "/w/.git/hooks/pre-commit", true, false, false, 3},
		{&named, "/w/a/.git/hooks", true, false, false, 2},
		{&named, "/w/.git/hooks/.git/hooks", true, false, false, 4},
		{&named, "/w/hooks", false, false, false, 0},
		{&named, "/o/.git/hooks", false, false, false, 0},
		{&named, "/w/free/.git", false, false, true, 0},
		{&named, "/w/free/.git/hooks", false, false, true, 0},
		{&named, "/w/node_modules/a/.git", false, false, true, 0},
		{&named, "/w/node_modules/a/.git/hooks", false, false, true, 0},
		// The program could make a directory of that name beneath what is covered.
		{&named, "/w/.git/hooks/node_modules", true, false, true, 3},

		{&deep, "/w/.github", false, true, false, 0},
		{&deep, "/w/.github/workflows", false, true, false, 0},
		{&deep, "/w/workflows", false, false, false, 0},
		{&deep, "/w/.github/workflows/x", true, false, false, 3},
		{&deep, "/w/conf.d/.github/workflows", false, false, true, 0},

		{&root, "/.env", true, false, false, 1},
		{&root, "/a/.env.local/b", true, false, false, 2},
		{&root, "/", false, true, false, 0},
	} {
		d := c.denial
		if covers, leads, spares, holders := d.Covers(c.path), d.Leads(c.path), d.Spares(c.path), d.Holders(c.path); covers != c.covers || leads != c.leads || spares != c.spares || holders != c.holders {
			t.Errorf("%s in %s and %s: covers %t, leads %t, spares %t, holders %d", d.Match, d.Path, c.path, covers, leads, spares, holders)
		}
	}
}

// TestDenialThrough: what stands where a covered name, or a directory on the way to one,
// leads by a link is denied as the name is, and lifted where it is.
func TestDenialThrough(t *testing.T) {
	hooks := profiles.Denial{Path: "/w", Match: ".git/hooks", Access: profiles.Write, Class: profiles.Control, UnlessMade: true, Except: []string{"node_modules"}}
	glob := profiles.Denial{Path: "/w", Match: ".conf/*.sh", Access: profiles.Write, Class: profiles.Control, UnlessMade: true}
	for _, c := range []struct {
		denial       *profiles.Denial
		link, target string
		want         []profiles.Denial
	}{
		{&hooks, "/w/.git/hooks", "/o/h", []profiles.Denial{{Path: "/o/h", Access: profiles.Write, Class: profiles.Control}}},
		{&hooks, "/w/.git", "/o/g", []profiles.Denial{{Path: "/o/g/hooks", Access: profiles.Write, Class: profiles.Control}}},
		{&glob, "/w/.conf", "/o/c", []profiles.Denial{{Path: "/o/c", Match: "*.sh", Access: profiles.Write, Class: profiles.Control, UnlessMade: true}}},
		{&hooks, "/w/node_modules/.git", "/o/g", nil},
		{&hooks, "/w/other", "/o/g", nil},
		{&hooks, "/w", "/o", nil},
		{&hooks, "/o/.git", "/w/g", nil},
	} {
		if diff := cmp.Diff(c.want, c.denial.Through(c.link, c.target)); diff != "" {
			t.Errorf("%s -> %s: %s", c.link, c.target, diff)
		}
	}
}

// TestUnresolved: an address is denied to a name in vain where somebody else resolves
// it; one that is granted by address or is localhost's is not resolved.
func TestUnresolved(t *testing.T) {
	for _, c := range []struct {
		host, except string
		want         bool
	}{
		{"a.example", "9.9.9.9", true},
		{"a.example", "", false},
		{"9.9.9.0/24", "9.9.9.9", false},
		{"localhost", "127.0.0.1", false},
	} {
		rule := profiles.HostRule{Host: c.host}
		if c.except != "" {
			rule.Except = []string{c.except}
		}
		n := profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{rule}}
		if note := n.Unresolved(); (note != "") != c.want {
			t.Errorf("%s but %s: %q", c.host, c.except, note)
		}
	}
}
