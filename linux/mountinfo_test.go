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
