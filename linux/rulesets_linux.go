package linux

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// rulesets makes the Landlock layers, in the launcher, before the fork.
func (b *scripter) rulesets() error {
	for i := range b.plan.Layers {
		l := &b.plan.Layers[i]
		attr := ll.RulesetAttr{HandledAccessFS: l.HandledFS, HandledAccessNet: l.HandledNet, Scoped: l.Scoped}
		fd, err := ll.LandlockCreateRuleset(&attr, 0)
		if err != nil {
			return fmt.Errorf("create a Landlock ruleset: %w", err)
		}
		b.p.cleanup = append(b.p.cleanup, fd)
		b.layers = append(b.layers, fd)
	}
	return nil
}

// rules gives the layers their rules, while the guardian sets up what is around
// the run; those for files that only then exist it adds itself.
func (b *scripter) rules() error {
	layers := b.plan.Layers
	// Rules are sorted, and layers have many paths in common: each is opened once.
	for next := make([]int, len(layers)); ; {
		path, found := "", false
		for i := range layers {
			rules := layers[i].Rules
			for next[i] < len(rules) && rules[next[i]].Late {
				next[i]++
			}
			if next[i] < len(rules) && (!found || rules[next[i]].Path < path) {
				path, found = rules[next[i]].Path, true
			}
		}
		if !found {
			return b.streamRules()
		}
		err := b.addRules(path, next)
		if err != nil {
			return fmt.Errorf("landlock rule for %q: %w", path, err)
		}
	}
}

// streamRules has what the command starts with and may read be opened again to be
// read, wherever that is (cat /dev/stdin). What has no path needs no rule, and gets none.
func (b *scripter) streamRules() error {
	for _, fd := range b.cmd.Stdio {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_PATH != 0 || flags&unix.O_ACCMODE != unix.O_RDONLY && flags&unix.O_ACCMODE != unix.O_RDWR {
			continue
		}
		for i, layer := range b.layers {
			attr := ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: b.plan.Layers[i].HandledFS & (readFile | ll.AccessFSIoctlDev)}
			if attr.AllowedAccess == 0 {
				continue
			}
			if err := ll.LandlockAddPathBeneathRule(layer, &attr, 0); err != nil && !errors.Is(err, unix.EBADFD) {
				return fmt.Errorf("landlock rule for %s: %w", stdioNames[slices.Index(b.cmd.Stdio[:], fd)], err)
			}
		}
	}
	return nil
}

// addRules attaches the rules of a path that are next in their layers. The path
// was resolved when the profile was made; should a link stand there by now, the
// rules are refused rather than followed.
func (b *scripter) addRules(path string, next []int) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if errors.Is(err, unix.ENOSYS) {
		fd, err = openUnlinked(path) // inside another run, whose filter has no openat2
	}
	gone := errors.Is(err, unix.ENOENT) // since the plan was made: nothing to grant
	if err != nil && !gone {
		return err
	}
	if !gone {
		defer unix.Close(fd)
	}
	for i, layer := range b.layers {
		rules := b.plan.Layers[i].Rules
		if next[i] == len(rules) || rules[next[i]].Path != path {
			continue
		}
		attr := ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: rules[next[i]].Access}
		next[i]++
		if gone {
			continue
		}
		if err := ll.LandlockAddPathBeneathRule(layer, &attr, 0); err != nil {
			return err
		}
	}
	return nil
}

// openUnlinked does what RESOLVE_NO_SYMLINKS does: what was opened must have
// the path that was asked for.
func openUnlinked(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	is, err := os.Readlink(fdPath(fd))
	if err == nil && is != path {
		err = unix.ELOOP
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// lateRules adds the rules whose files exist only after the mounts. The
// descriptor number that the kernel's struct wants is not known yet, so a
// placeholder holds one: dup3 puts the real file there.
func (b *scripter) lateRules() []step {
	var s []step
	for i := range b.plan.Layers {
		for _, r := range b.plan.Layers[i].Rules {
			if !r.Late {
				continue
			}
			place, err := b.place()
			if err != nil {
				continue // without the rule the run gets less, never more
			}
			attr := put(b.tape, pathBeneath{access: r.Access, fd: int32(place)})
			s = append(s,
				stepFor(stageLandlock, syscall.SYS_OPENAT, atFDCWD, b.str(r.Path), unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW).with(save),
				stepFor(stageLandlock, syscall.SYS_DUP3, 0, place, unix.O_CLOEXEC).with(useSaved),
				stepFor(stageLandlock, syscall.SYS_CLOSE).with(useSaved),
				stepFor(stageLandlock, unix.SYS_LANDLOCK_ADD_RULE, uintptr(b.layers[i]), ll.RuleTypePathBeneath, uintptr(unsafe.Pointer(attr))),
			)
		}
	}
	return s
}

// pathBeneath is struct landlock_path_beneath_attr; the kernel's is packed, and
// reads no padding.
type pathBeneath struct {
	access uint64
	fd     int32
}
