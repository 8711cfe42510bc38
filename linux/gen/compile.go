//go:build libseccomp && cgo && linux && amd64

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	seccomp "github.com/seccomp/libseccomp-golang"

	"skillrun/linux"
)

// architecture is one that programs are made for.
type architecture struct {
	name   string // GOARCH
	arch   seccomp.ScmpArch
	audit  uint32 // AUDIT_ARCH_*, as in seccomp_data
	number func(linux.NewCall) int
}

var architectures = []architecture{
	{"amd64", seccomp.ArchAMD64, 0xc000003e, func(c linux.NewCall) int { return c.AMD64 }},
	{"arm64", seccomp.ArchARM64, 0xc00000b7, func(c linux.NewCall) int { return c.ARM64 }},
}

// part is one of the three programs that a filter consists of.
type part struct {
	rules func() []linux.SyscallRule
	// otherwise is for calls that no row names.
	otherwise seccomp.ScmpAction
}

var (
	calls     = part{linux.CallRules, seccomp.ActErrno.SetReturnCode(38)} // ENOSYS
	arguments = part{linux.ArgumentRules, seccomp.ActAllow}
	notify    = part{linux.NotifyRules, seccomp.ActAllow}
)

func version() string {
	major, minor, micro := seccomp.GetLibraryVersion()
	return fmt.Sprintf("%d.%d.%d", major, minor, micro)
}

// compile makes libseccomp's program for part p with features f, for amd64 with
// the numbers of a; see dispatch for the rest.
//
// libseccomp takes the host's numbers and translates them by name for other
// architectures, so that it refuses numbers there that it has no name for. The
// numbers of the table are final, and the program is given its architecture
// afterwards. A trace of that is the check for x32 in programs for arm64, where
// no such numbers exist.
func compile(a architecture, p part, f linux.FilterFeatures) ([]byte, error) {
	filter, err := seccomp.NewFilter(p.otherwise)
	if err != nil {
		return nil, err
	}
	defer filter.Release()
	// Level 2 is a binary tree over the numbers: short paths, cheap to install.
	if err := errors.Join(filter.SetBadArchAction(seccomp.ActKillProcess), filter.SetOptimize(2)); err != nil {
		return nil, err
	}
	for _, r := range p.rules() {
		if !r.Applies(f) {
			continue
		}
		for _, name := range strings.Fields(r.Calls) {
			number, err := a.resolve(name)
			if err != nil {
				return nil, err
			}
			if number < 0 {
				continue
			}
			if err := add(filter, seccomp.ScmpSyscall(number), r, p.otherwise); err != nil {
				return nil, fmt.Errorf("%s (%s): %w", name, r.Reason, err)
			}
		}
	}
	return export(filter)
}

// resolve gives the number of a call, negative if the architecture lacks it. It
// fails for a name that nobody knows, and where table and library differ.
func (a architecture) resolve(name string) (int, error) {
	number, err := seccomp.GetSyscallFromNameByArch(name, a.arch)
	known := err == nil
	for _, c := range linux.NewCalls() {
		if c.Name != name {
			continue
		}
		if known && int(number) != a.number(c) && (number >= 0 || a.number(c) >= 0) {
			return 0, fmt.Errorf("%s is %d for libseccomp and %d in NewCalls", name, number, a.number(c))
		}
		return a.number(c), nil
	}
	if !known {
		return 0, fmt.Errorf("libseccomp %s does not know %s and NewCalls lacks it", version(), name)
	}
	return int(number), nil
}

func add(filter *seccomp.ScmpFilter, call seccomp.ScmpSyscall, r linux.SyscallRule, otherwise seccomp.ScmpAction) error {
	action := seccomp.ActAllow
	switch r.Action {
	case linux.Errno:
		action = seccomp.ActErrno.SetReturnCode(int16(r.Errno))
	case linux.Pretend:
		action = seccomp.ActErrno.SetReturnCode(0)
	case linux.Notify:
		action = seccomp.ActNotify
	}
	if action == otherwise {
		return nil // said for the reader; libseccomp takes it for a mistake
	}
	if len(r.When) == 0 {
		return filter.AddRuleExact(call, action)
	}
	for _, conds := range expand(r.When) {
		if err := filter.AddRuleConditionalExact(call, action, conds); err != nil {
			return err
		}
	}
	return nil
}

// expand turns conditions into libseccomp's, whose rules know no "any of these
// bits": one rule per bit.
func expand(when []linux.ArgCond) [][]seccomp.ScmpCondition {
	rules := [][]seccomp.ScmpCondition{nil}
	for _, c := range when {
		var or []seccomp.ScmpCondition
		switch c.Compare {
		case linux.Equal:
			or = []seccomp.ScmpCondition{{Argument: uint(c.Arg), Op: seccomp.CompareMaskedEqual, Operand1: c.Mask, Operand2: c.Value}}
		case linux.NotZero:
			or = []seccomp.ScmpCondition{{Argument: uint(c.Arg), Op: seccomp.CompareNotEqual, Operand1: 0}}
		case linux.AnyBit:
			for bit := uint64(1); bit != 0; bit <<= 1 {
				if c.Mask&bit != 0 {
					or = append(or, seccomp.ScmpCondition{Argument: uint(c.Arg), Op: seccomp.CompareMaskedEqual, Operand1: bit, Operand2: bit})
				}
			}
		}
		var next [][]seccomp.ScmpCondition
		for _, r := range rules {
			for _, c := range or {
				next = append(next, append(r[:len(r):len(r)], c))
			}
		}
		rules = next
	}
	return rules
}

// export gives the program's bytes; libseccomp 2.5.4 writes to descriptors only.
func export(filter *seccomp.ScmpFilter) ([]byte, error) {
	f, err := os.CreateTemp("", "filter")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	if err := filter.ExportBPF(f); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
