package main

import (
	"fmt"
	"reflect"
	"time"

	"skillrun/profiles"
	"skillrun/sandbox"
)

// SettledAfter is the age of a change that is trusted to be the last one.
const SettledAfter = settledAfter + settledAfter/10

// Settles says whether a launch would take a directory's unchanged times for an
// unchanged listing.
func Settles(name string, at time.Time) bool {
	s := newSnapshot()
	s.ReadDir(name)
	return s.seen(at)[0].Settled
}

// Packables are profiles that use every kind of field.
func Packables() []profiles.Profile {
	return []profiles.Profile{
		{},
		{
			Workspace: "/w", Home: "/home/\xff\n",
			Paths:   []profiles.PathRule{{Path: "/w", Tree: true, Access: profiles.Read | profiles.Write, Origin: profiles.Origin{Source: "m.json:1"}}, {}},
			Denials: []profiles.Denial{{Path: "/w", Match: "*.pem", Except: []string{"", "ca.pem"}}},
			Network: profiles.Network{Mode: profiles.NetHosts, Hosts: []profiles.HostRule{{Host: "a.b", Ports: []profiles.PortRange{profiles.AnyPort}}}},
			Limits:  profiles.Limits{Memory: -1, Wall: 1 << 62},
		},
	}
}

// Filled is a profile without a zero in it: every field has a value of its own, so
// that one which a reader does not know would come back in another's place.
func Filled() (p profiles.Profile) {
	n := 0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		n++
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			v.SetInt(int64(n%127) + 1)
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			v.SetUint(uint64(n%255) + 1)
		case reflect.String:
			v.SetString(fmt.Sprint("text ", n))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fallthrough
		case reflect.Array:
			for i := range v.Len() {
				fill(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		default:
			panic(v.Type())
		}
	}
	fill(reflect.ValueOf(&p).Elem())
	return p
}

// Pack and Unpack are what memos are kept by.
func Pack(p profiles.Profile) []byte { return pack(nil, reflect.ValueOf(p)) }

// SeenComesBack says whether the quick reader of what was seen reads what pack wrote.
func SeenComesBack(name, target string, n uint64, settled bool) bool {
	want := seen{name, how(n % 5), outcome(n % 3), uint32(n), target, identity{n, n + 1, n + 2, n + 3, n + 4}, n / 2, uint32(n), settled}
	u, got := newUnpacker(pack(nil, reflect.ValueOf(want))), seen{}
	u.seen(&got)
	return got == want && u.err == nil && u.data == ""
}

func Unpack(data []byte) (p profiles.Profile, err error) {
	u := newUnpacker(data)
	u.value(reflect.ValueOf(&p).Elem())
	u.check(u.data == "" || u.err != nil)
	return p, u.err
}

// Useless says why a grant of what was refused would be in vain.
func Useless(d sandbox.Refusal) string { return useless(&d) }

// Registered and Changer are the two sides of the register of runs.
var (
	Registered = registered
	Changer    = changer
)

// NoteWritten lists the trees of a profile, and Typed is a word to be pasted.
var (
	NoteWritten = noteWritten
	Typed       = typed
)
