package linux

import (
	"iter"
	"path"
	"slices"
	"strings"

	"skillrun/profiles"
)

// Mounts gives those of the mounts in a mountinfo (proc_pid_mountinfo(5)) by which
// files have a second name.
func Mounts(mountinfo string) []profiles.Mount {
	var mounts []profiles.Mount
	devices := ""
	for m := range mountLines(mountinfo) {
		if m.Point == "/dev" && m.Root == "/" {
			devices = m.Device
		}
	}
	for m := range mountLines(mountinfo) {
		// What is no directory of a file system is of the kernel's own ones
		// (namespaces) or was deleted since. /dev/null over a file hides it, and is
		// not what a denial of that is of.
		if m.Root == "/null" && m.Device == devices {
			continue
		}
		if m.fsType == "proc" {
			m.Device = m.fsType // each mount has a number of its own, and all have the same settings
		}
		if path.IsAbs(m.Root) && path.IsAbs(m.Point) && !strings.HasSuffix(m.Root, "//deleted") {
			mounts = append(mounts, m.Mount)
		}
	}
	return profiles.Overlapping(mounts)
}

// mountLine is a line of mountinfo, its escapes undone, with the type of the file
// system and the options of its superblock.
type mountLine struct {
	profiles.Mount
	fsType, options string
}

func mountLines(mountinfo string) iter.Seq[mountLine] {
	return func(yield func(mountLine) bool) {
		for line := range strings.Lines(mountinfo) {
			// By single spaces: a name may have other white space, and a source may be empty.
			f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
			dash := slices.Index(f, "-")
			if dash < 6 || dash+3 >= len(f) {
				continue
			}
			m := profiles.Mount{Point: unescapeMount(f[4]), Root: unescapeMount(f[3]), Device: f[2]}
			if !yield(mountLine{m, f[dash+1], f[dash+3]}) {
				return
			}
		}
	}
}

// unescapeMount undoes the octal escapes of mountinfo.
func unescapeMount(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return mountEscapes.Replace(s)
}

var mountEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
