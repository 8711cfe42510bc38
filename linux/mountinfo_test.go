package linux_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrun/linux"
	"skillrun/profiles"
)

// /dev/null over a file hides it, as containers and runs have it, and is no second
// name of that: a denial of the file would be one of /dev/null.
func TestMountsOfNull(t *testing.T) {
	const info = `1 0 0:5 / /dev rw - tmpfs tmpfs rw
2 0 8:1 / / rw - ext4 /dev/sda1 rw
3 0 0:5 /null /root/.netrc rw - tmpfs tmpfs rw
4 0 8:1 /null /srv/null rw - ext4 /dev/sda1 rw
`
	want := []profiles.Mount{{Point: "/", Root: "/", Device: "8:1"}, {Point: "/srv/null", Root: "/null", Device: "8:1"}}
	if diff := cmp.Diff(want, linux.Mounts(info)); diff != "" {
		t.Error(diff)
	}
}

// Each mount of /proc has a number of its own, and shows the same.
func TestMountsOfProc(t *testing.T) {
	const info = `1 0 0:20 / /proc rw - proc proc rw
2 0 8:1 / / rw - ext4 /dev/sda1 rw
3 0 0:38 / /srv/root/proc rw - proc none rw
4 0 0:39 / /srv/root/run rw - tmpfs tmpfs rw
`
	want := []profiles.Mount{{Point: "/proc", Root: "/", Device: "proc"}, {Point: "/srv/root/proc", Root: "/", Device: "proc"}}
	if diff := cmp.Diff(want, linux.Mounts(info)); diff != "" {
		t.Error(diff)
	}
}

// A name may have white space that is not escaped, and a dash in it; a file system may
// be mounted from nothing. Control: an ordinary one.
func TestMountsOfOddNames(t *testing.T) {
	const info = "2 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
	for line, want := range map[string]profiles.Mount{
		"3 2 8:1 /home/u/.ssh /w/m rw shared:1 - ext4 /dev/sda1 rw\n":                                       {Point: "/w/m", Root: "/home/u/.ssh", Device: "8:1"},
		"3 2 8:1 /home/u/.ssh /w/a\u00a0-\u2003b rw - ext4 /dev/sda1 rw\n":                                  {Point: "/w/a\u00a0-\u2003b", Root: "/home/u/.ssh", Device: "8:1"},
		"3 2 8:1 /home/u/a\v-\r /w/b\\040-\\011c\\012\\134\\043 rw shared:1 master:2 - ext4 /dev/sda1 rw\n": {Point: "/w/b -\tc\n\\#", Root: "/home/u/a\v-\r", Device: "8:1"},
		"3 2 8:1 /home/u/.ssh /w/m rw - ext4  rw\n":                                                         {Point: "/w/m", Root: "/home/u/.ssh", Device: "8:1"},
	} {
		want := []profiles.Mount{{Point: "/", Root: "/", Device: "8:1"}, want}
		if diff := cmp.Diff(want, linux.Mounts(info+line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}
