package profiles_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrun/profiles"
)

// hostWith is a machine with the mounts "point root device".
func hostWith(mounts ...string) *profiles.Host {
	var all []profiles.Mount
	for _, m := range mounts {
		f := strings.Fields(m)
		all = append(all, profiles.Mount{Point: f[0], Root: f[1], Device: f[2]})
	}
	return &profiles.Host{OS: "linux", Mounts: profiles.Overlapping(all)}
}

func TestAliases(t *testing.T) {
	h := hostWith("/ / a", "/proc / p", "/data / d", "/home /users d", "/mnt/u /users/ann d", "/mnt/u /other d", "/run /run a", "/data /more d")
	for name, want := range map[string]string{
		"/home/ann/.ssh": "/data/users/ann/.ssh /mnt/u/.ssh", // also where another mount may cover it
		"/home":          "/data/users",
		"/etc/passwd":    "",
		"/proc/1":        "",
		"/run/x":         "", // mounted on itself
	} {
		if got := h.Aliases(name); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := hostWith("/ / a", "/data / d", "/home / e", "/etc/hosts /c/1/hosts f", "/etc/hostname /c/1/hostname f").Mounts; got != nil {
		t.Errorf("nothing is there twice: %v", got)
	}
}

func TestDenyAliases(t *testing.T) {
	deny := func(path, match string, except ...string) profiles.Denial {
		return profiles.Denial{Path: path, Match: match, Except: except, Access: profiles.Read, Class: profiles.Sensitive}
	}
	for _, c := range []struct {
		why    string
		mounts string
		denial profiles.Denial
		denied string
		open   string
	}{
		{"a home at a second place", "/ / a;/mnt/h /home a", deny("/home/u/.ssh", ""), "/mnt/h/u/.ssh/id /home/u/.ssh/id", "/mnt/h/u/x"},
		{"part of what is denied", "/ / a;/mnt/k /home/u/.ssh/keys a", deny("/home/u/.ssh", ""), "/mnt/k /mnt/k/id", "/mnt/l"},
		{"a disk in what is denied", "/ / a;/home/u/.ssh / b;/media/b / b", deny("/home/u", ""), "/media/b/id", "/media/c"},
		{"names within", "/ / a;/mnt/w /w a", deny("/w", ".env"), "/mnt/w/.env /mnt/w/a/.env/x", "/mnt/w/env"},
		{"a directory within", "/ / a;/mnt/w /w/a a", deny("/w", ".env"), "/mnt/w/.env", "/mnt/w/env"},
		{"what is covered begins above the mount", "/ / a;/mnt/g /w/a/.git a", deny("/w", ".git/hooks/pre-*"), "/mnt/g/hooks/pre-commit", "/mnt/g/hooks/post-commit /mnt/g/x"},
		{"what is covered lies above the mount", "/ / a;/mnt/g /w/.git/hooks/x a", deny("/w", ".git/hooks"), "/mnt/g/y", ""},
		{"what is mounted in there is not meant", "/ / a;/w/root / a;/w/usr /usr a;/mnt / a", deny("/w", ""), "/mnt/w /w/usr", "/usr /home /mnt/usr"},
		{"nor what shows all", "/ / a;/w / a", deny("/w", ""), "/w/x", "/usr"},
		{"an exception", "/ / a;/mnt/w /w a", deny("/w", "", "/w/free"), "/mnt/w/x", "/mnt/w/free /mnt/w/free/x"},
		{"an excepted directory", "/ / a;/mnt/w /w/free/x a", deny("/w", "", "/w/free"), "/w/x", "/mnt/w/x"},
		{"an exception by name", "/ / a;/mnt/w /w a", deny("/w", ".claude", "node_modules"), "/mnt/w/.claude", "/mnt/w/node_modules/.claude"},
	} {
		t.Run(c.why, func(t *testing.T) {
			h := hostWith(strings.Split(c.mounts, ";")...)
			p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.AllAccess}}, Denials: []profiles.Denial{c.denial}}
			p.DenyAliases(h)
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(c.denied) {
				if p.Allows(name, profiles.Read).Allowed {
					t.Errorf("%s may be read: %+v", name, p.Denials)
				}
			}
			for _, name := range strings.Fields(c.open) {
				if !p.Allows(name, profiles.Read).Allowed {
					t.Errorf("%s may not be read: %+v", name, p.Denials)
				}
			}
		})
	}
	p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.AllAccess}}, Denials: []profiles.Denial{deny("/home/u/.ssh", "")}}
	if p.DenyAliases(hostWith("/ / a", "/mnt/h /home a")); len(p.Denials) != 1 {
		t.Errorf("denied where nothing is granted: %+v", p.Denials)
	}
}

// TestLawAliases: what is denied by one of its names is denied by all.
func TestLawAliases(t *testing.T) {
	var names []string
	for _, a := range []string{"", "/x", "/y", "/z"} {
		for _, b := range []string{"", "/x", "/y"} {
			for _, c := range []string{"", "/x", "/y"} {
				for _, d := range []string{"", "/x"} {
					if name := a + b + c + d; a != "" && !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		dir := rapid.SampledFrom(names)
		mounts := []profiles.Mount{{Point: "/", Root: "/", Device: "a"}}
		for range rapid.IntRange(1, 4).Draw(t, "mounts") {
			m := profiles.Mount{Point: dir.Draw(t, "point"), Root: rapid.OneOf(dir, rapid.Just("/")).Draw(t, "root"), Device: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "device")}
			within := func(o profiles.Mount) bool { // mounted beneath itself
				return o.Device == m.Device && (o.Point == "/" && strings.HasPrefix(m.Point+"/", strings.TrimSuffix(m.Root, "/")+"/") ||
					o.Point != "/" && (strings.HasPrefix(m.Point+"/", o.Point+"/") || strings.HasPrefix(o.Point+"/", m.Point+"/")))
			}
			if !slices.ContainsFunc(mounts, within) {
				mounts = append(mounts, m)
			}
		}
		// object is which file a name is of, on which mount.
		object := func(name string) (object string, mount int) {
			for i, m := range mounts {
				if (m.Point == "/" || name == m.Point || strings.HasPrefix(name, m.Point+"/")) && len(m.Point) >= len(mounts[mount].Point) {
					mount = i
				}
			}
			on := mounts[mount]
			return on.Device + ":" + strings.TrimSuffix(strings.TrimSuffix(on.Root, "/")+"/"+strings.Trim(strings.TrimPrefix(name, on.Point), "/"), "/"), mount
		}
		of := map[string][]string{}
		for _, name := range names {
			key, _ := object(name)
			of[key] = append(of[key], name)
		}
		d := profiles.Denial{Path: dir.Draw(t, "denied"), Match: rapid.SampledFrom([]string{"", "", "x", "x/y", "x/y/x"}).Draw(t, "match"), Access: profiles.Read}
		if e := dir.Draw(t, "except"); strings.HasPrefix(e, d.Path+"/") && rapid.Bool().Draw(t, "excepted") {
			d.Except = []string{e}
		}
		p := &profiles.Profile{Paths: []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.AllAccess}}, Denials: []profiles.Denial{d}}
		p.DenyAliases(&profiles.Host{OS: "linux", Mounts: profiles.Overlapping(mounts)})
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		_, at := object(d.Path)
		home := func(name string) bool { // covered, and at home there
			_, on := object(name)
			first := slices.IndexFunc(mounts, func(m profiles.Mount) bool { return m.Device == mounts[on].Device })
			return d.Covers(name) && (on == at || on == first)
		}
		for key, same := range of {
			for _, name := range same {
				if slices.ContainsFunc(same, home) && p.Allows(name, profiles.Read).Allowed {
					t.Fatalf("%v: %s (%s, also %v) may be read, with %+v", mounts, name, key, same, p.Denials)
				}
			}
		}
	})
}
