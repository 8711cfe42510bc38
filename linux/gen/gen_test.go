//go:build libseccomp && cgo && linux && amd64

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"

	"skillrun/linux"
)

// TestShippedBytes regenerates what is embedded. It counts only with the
// library version that made it; TestShippedMeaning covers others.
func TestShippedBytes(t *testing.T) {
	if version() != linux.LibseccompVersion {
		t.Logf("libseccomp %s here, %s recorded: bytes may differ", version(), linux.LibseccompVersion)
		return
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "filters"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seccomp_gen.go", "filters/amd64.bpf", "filters/arm64.bpf"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("linux/%s is not what the tables give; run \"go generate ./linux/...\" (-generated +shipped):\n%.2000s", name, diff)
		}
	}
}

// TestShippedMeaning runs every shipped program against the one that libseccomp
// makes now, before dispatch rewrites it, and against the tables themselves,
// read as people read them.
func TestShippedMeaning(t *testing.T) {
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			for _, p := range []struct {
				name     string
				part     part
				index    int
				first    linux.FilterFeatures
				features linux.FilterFeatures
				step     linux.FilterFeatures
			}{
				{"calls", calls, 0, 0, 0, 1},
				{"arguments", arguments, 1, 0, linux.ArgumentFeatures, 1},
				{"notify", notify, 2, linux.NotifyNames, linux.NotifyFeatures, linux.NotifyNames},
			} {
				for f := p.first; f <= p.features; f += p.step {
					filters, err := linux.Filters(a.name, f)
					if err != nil {
						t.Fatal(err)
					}
					generated, err := compile(a, p.part, f)
					if err != nil {
						t.Fatal(err)
					}
					compare(t, fmt.Sprintf("%s, features %#x", p.name, uint16(f)), a,
						machine(t, []byte(filters[p.index].Program)), machine(t, generated), read(t, a, p.part, f))
				}
			}
		})
	}
}

// compare asks all three about every number and every interesting argument.
func compare(t *testing.T, where string, a architecture, shipped, generated *bpf.VM, rows meaning) {
	t.Helper()
	bad := 0
	ask := func(audit uint32, number uint32, args [6]uint64) {
		s, err1 := shipped.Run(data(audit, number, args))
		// libseccomp's program takes itself for one of amd64.
		amd64 := architectures[0].audit
		switch audit {
		case a.audit:
			audit = amd64
		case amd64:
			audit = a.audit
		}
		g, err2 := generated.Run(data(audit, number, args))
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", where, err1, err2)
		}
		want := uint32(0x80000000) // kill the process
		if audit == amd64 && (number < 0x40000000 || number == 0xffffffff) {
			want = rows.answer(t, int(int32(number)), args)
		}
		if uint32(s) != want || uint32(g) != want {
			if bad++; bad < 10 {
				t.Errorf("%s: arch %#x, call %#x(%#x): shipped %#x, generated %#x, the rows say %#x", where, audit, number, args, uint32(s), uint32(g), want)
			}
		}
	}
	for number := uint32(0); number <= 600; number++ {
		for _, args := range rows.interesting(int(number)) {
			ask(a.audit, number, args)
		}
		ask(a.audit, 0x40000000|number, [6]uint64{})
		for _, audit := range []uint32{0x40000003, 0xc000003e, 0xc00000b7, 0x40000028, 0xc00000f3, 0} {
			ask(audit, number, [6]uint64{})
		}
	}
	for _, number := range []uint32{601, 1 << 12, 1<<30 - 1, 1 << 30, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1} {
		ask(a.audit, number, [6]uint64{})
	}
}

// meaning is the rows that count, by number.
type meaning struct {
	otherwise uint32
	rows      map[int][]linux.SyscallRule
}

func read(t *testing.T, a architecture, p part, f linux.FilterFeatures) meaning {
	t.Helper()
	m := meaning{0x7fff0000, map[int][]linux.SyscallRule{}}
	if p.otherwise != arguments.otherwise {
		m.otherwise = 0x00050000 | 38
	}
	for _, r := range p.rules() {
		if !r.Applies(f) {
			continue
		}
		for _, name := range strings.Fields(r.Calls) {
			number, err := a.resolve(name)
			if err != nil {
				t.Fatal(err)
			}
			if number >= 0 {
				m.rows[number] = append(m.rows[number], r)
			}
		}
	}
	return m
}

// answer is what the rows say. Two that both hold must agree, so that their
// order means nothing.
func (m meaning) answer(t *testing.T, number int, args [6]uint64) uint32 {
	t.Helper()
	answer, held := m.otherwise, false
next:
	for _, r := range m.rows[number] {
		for i := range r.When {
			if !r.When[i].Holds(args) {
				continue next
			}
		}
		this := uint32(0x7fff0000)
		switch r.Action {
		case linux.Errno:
			this = 0x00050000 | uint32(r.Errno)
		case linux.Pretend:
			this = 0x00050000
		case linux.Notify:
			this = 0x7fc00000
		}
		if held && this != answer {
			t.Fatalf("call %d(%#x): two rows hold and differ: %#x and %#x", number, args, answer, this)
		}
		answer, held = this, true
	}
	return answer
}

// interesting gives arguments around all that the rows of a call compare: each
// value, its neighbours, single bits of and beside the mask, with the upper half
// set, in all combinations over the arguments that rows look at.
func (m meaning) interesting(number int) [][6]uint64 {
	values := [6][]uint64{}
	for _, r := range m.rows[number] {
		for _, c := range r.When {
			v := []uint64{c.Value, c.Value | 1<<32, c.Value | 0xffffffff<<32, c.Value + 1, c.Value ^ 1<<31}
			if c.Compare == linux.AnyBit {
				for bit := uint64(1); bit != 0; bit <<= 1 {
					v = append(v, bit, c.Mask&^bit)
				}
			}
			values[c.Arg] = append(values[c.Arg], v...)
		}
	}
	all := [][6]uint64{{}}
	for arg, list := range values {
		list = append(list, 0, 1, 1<<32, 1<<63, ^uint64(0))
		if len(values[arg]) == 0 {
			list = []uint64{0, ^uint64(0)}
		}
		seen := map[uint64]bool{}
		var next [][6]uint64
		for _, v := range list {
			if seen[v] {
				continue
			}
			seen[v] = true
			for _, a := range all {
				a[arg] = v
				next = append(next, a)
			}
		}
		all = next
	}
	return all
}

func machine(t *testing.T, program []byte) *bpf.VM {
	t.Helper()
	var raw []bpf.RawInstruction
	for ; len(program) >= 8; program = program[8:] {
		raw = append(raw, bpf.RawInstruction{
			Op: binary.LittleEndian.Uint16(program), Jt: program[2], Jf: program[3], K: binary.LittleEndian.Uint32(program[4:]),
		})
	}
	instructions, ok := bpf.Disassemble(raw)
	if !ok || len(program) != 0 {
		t.Fatal("not a BPF program")
	}
	vm, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// data is struct seccomp_data with big-endian words, as the machine loads them.
func data(audit, number uint32, args [6]uint64) []byte {
	b := make([]byte, 64)
	binary.BigEndian.PutUint32(b[0:], number)
	binary.BigEndian.PutUint32(b[4:], audit)
	for i, a := range args {
		binary.BigEndian.PutUint32(b[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(b[20+8*i:], uint32(a>>32))
	}
	return b
}
