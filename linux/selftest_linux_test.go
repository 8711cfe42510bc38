package linux_test

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox/sandboxtest"
)

// What does not hold is noticed before the program starts: the plan's
// protections are taken away one by one behind the self-test's back.
func TestSelfTest(t *testing.T) {
	modes(t, func(t *testing.T, f linux.Features) {
		dir, closed := tempDir(t), tempDir(t)
		for _, tt := range []struct {
			name, want string
			spoil      func(*linux.Plan)
		}{
			{"nothing", "", func(*linux.Plan) {}},
			{"no Landlock", "files are closed", func(p *linux.Plan) { p.Layers = nil }},
			{"a rule too many", "files are closed", func(p *linux.Plan) {
				p.Layers[0].Rules = append(p.Layers[0].Rules, linux.LandRule{Path: "/", Access: 1 << 3})
			}},
			{"reading not handled", "files are closed", func(p *linux.Plan) { p.Layers[0].HandledFS &^= 1<<2 | 1<<3; p.Layers[0].Rules = nil }},
			{"the internet", "sockets are refused", func(p *linux.Plan) { p.Filter &^= linux.NoInternet }},
			{"another family", "sockets are refused", func(p *linux.Plan) { p.SelfTest.Sockets[0].Family = 1 }},
			{"a filter fewer", "the filters are there", func(p *linux.Plan) { p.SelfTest.Filters++ }},
			{"a filter too many", "the filters are there", func(p *linux.Plan) { p.SelfTest.Filters-- }},
			{"signals", "the launcher is out of reach", func(p *linux.Plan) {
				p.Namespaces = 0
				p.Mounts = nil
				for i := range p.Layers {
					p.Layers[i].Scoped = 0
					p.Layers[i].Rules = slices.DeleteFunc(p.Layers[i].Rules, func(r linux.LandRule) bool { return r.Late })
				}
			}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				if f.Landlock < 6 && tt.name == "signals" && !f.Namespaces {
					sandboxtest.Skip(t, sandboxtest.Machine, "nothing scopes signals here")
				}
				plan := linux.Compile(profileFor(t, dir), f, linux.Facts{FS: os.DirFS("/"), Namespaces: f.Namespaces, Closed: closed})
				tt.spoil(plan)
				ran := dir + "/ran"
				os.Remove(ran)
				p, err := linux.Start(plan, &linux.Command{
					Path: "/usr/bin/touch", Argv: []string{"touch", ran}, Dir: dir, Stdio: [3]int{-1, -1, -1},
				})
				if err == nil {
					if err = p.Begin(); err == nil {
						_, err = p.Wait()
					}
					p.Close()
				}
				_, missing := os.Lstat(ran)
				switch {
				case tt.want == "" && (err != nil || missing != nil):
					t.Fatalf("control: %v, %v", err, missing)
				case tt.want != "" && (err == nil || !strings.Contains(err.Error(), "cannot prove that "+tt.want)):
					t.Errorf("%v, want a failed proof that %s", err, tt.want)
				case tt.want != "" && missing == nil:
					t.Error("the command was started")
				}
			})
		}
	})
}

// Calls whose refusal kills are tried in a process of their own.
func TestProveKills(t *testing.T) {
	killed, known := linux.ProveKills()
	if known != (runtime.GOARCH == "amd64") || killed != known {
		t.Errorf("killed %v, known %v", killed, known)
	}
}

// What the run may read, or the supervisor answers, is not tried.
func TestSelfTestLeavesOut(t *testing.T) {
	f := linux.Features{Landlock: 7, Seccomp: true, Notify: true, Namespaces: true, UID: 1000}
	facts := linux.Facts{FS: os.DirFS("/"), Closed: "/closed"}
	p := &profiles.Profile{}
	if s := linux.Compile(p, f, facts).SelfTest; s.Closed == "" || len(s.Sockets) != 2 || s.Signal != 1 || s.Filters != 2 {
		t.Errorf("without anything: %+v", s)
	}
	facts.Supervise, facts.Observe, facts.Namespaces = true, true, true
	if s := linux.Compile(p, f, facts).SelfTest; len(s.Sockets) != 1 || s.Signal != 22 || s.Filters != 3 {
		t.Errorf("observed, with namespaces: %+v", s)
	}
	f.Landlock = 5
	if s := linux.Compile(p, f, facts).SelfTest; s.Signal != 0 {
		t.Errorf("signals are the supervisor's: %+v", s)
	}
	p = &profiles.Profile{Paths: []profiles.PathRule{{Path: "/", Tree: true, Access: profiles.Read}}}
	if s := linux.Compile(p, f, facts).SelfTest; s.Closed != "" {
		t.Errorf("everything may be read: %+v", s)
	}
	if s := linux.Compile(p, linux.Features{}, facts).SelfTest; s.Filters != 0 || len(s.Sockets) != 0 {
		t.Errorf("no kernel holds anything: %+v", s)
	}
}

// Root in another's workspace keeps the one capability that it needs, and no
// user namespace that would make it worthless.
func TestForeignWorkspace(t *testing.T) {
	f := linux.Features{Landlock: 7, Seccomp: true, Namespaces: true, Capabilities: 1<<41 - 1}
	facts := linux.Facts{FS: os.DirFS("/"), Namespaces: true}
	if p := linux.Compile(&profiles.Profile{}, f, facts); p.Namespaces != linux.AllNamespaces || p.KeepCapabilities != 0 {
		t.Errorf("own workspace: namespaces %#x, capabilities %#x", p.Namespaces, p.KeepCapabilities)
	}
	facts.Foreign = true
	if p := linux.Compile(&profiles.Profile{}, f, facts); p.Namespaces != linux.AllNamespaces&^linux.NSUser || p.KeepCapabilities != 1<<1 {
		t.Errorf("another's: namespaces %#x, capabilities %#x", p.Namespaces, p.KeepCapabilities)
	}
	f.Capabilities &^= 1 << 21
	if p := linux.Compile(&profiles.Profile{}, f, facts); p.Namespaces != 0 || p.KeepCapabilities != 1<<1 {
		t.Errorf("another's, without sys_admin: namespaces %#x, capabilities %#x", p.Namespaces, p.KeepCapabilities)
	}
}
