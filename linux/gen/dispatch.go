//go:build libseccomp && cgo && linux && amd64

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// instruction is struct sock_filter.
type instruction struct {
	op     uint16
	jt, jf uint8
	k      uint32
}

// The operations that libseccomp uses.
const (
	opLoad = 0x20 // A = the word at k of seccomp_data
	opAnd  = 0x54
	opJump = 0x05
	opJeq  = 0x15
	opJgt  = 0x25
	opJge  = 0x35
	opRet  = 0x06
)

// numbers is more than any call's; libseccomp's programs compare none above.
const numbers = 1024

// dispatch gives libseccomp's program another way from a call's number to what
// the program does about it: a tree over ranges of numbers that fare alike,
// where libseccomp compares every number by itself. What follows from there, the
// looks at arguments and the answers, is taken over as it is. The list of
// allowed calls shrinks by a third, and the kernel's work at each launch with
// it: it translates every instruction and follows the path of every number. A
// program that names few calls would grow, and only gets its architecture.
func dispatch(program []byte, audit uint32) ([]byte, error) {
	var in []instruction
	for p := program; len(p) >= 8; p = p[8:] {
		in = append(in, instruction{binary.LittleEndian.Uint16(p), p[2], p[3], binary.LittleEndian.Uint32(p[4:])})
	}
	if len(in) < 2 || in[1].op != opJeq || in[1].k != architectures[0].audit {
		return nil, errors.New("the program does not start with the check of its architecture")
	}
	var ranges []branch
	for n := uint32(0); n <= numbers; n++ {
		to, err := follow(in, n)
		if err != nil {
			return nil, err
		}
		if len(ranges) == 0 || !in[to].same(in[ranges[len(ranges)-1].to], to, ranges[len(ranges)-1].to) {
			ranges = append(ranges, branch{n, to})
		}
	}
	out := []instruction{
		{op: opLoad, k: 4},
		{op: opJeq, jf: 3, k: audit},
		{op: opLoad, k: 0},
		{op: opJge, jf: 2, k: 0x40000000}, // x32
		{op: opJeq, jt: 1, k: 0xffffffff}, // a tracer skips a call by -1
		{op: opRet, k: 0x80000000},        // SECCOMP_RET_KILL_PROCESS
	}
	if out = append(out, tree(in, ranges)...); len(out) >= len(in) {
		in[1].k = audit
		out = in
	}
	var b []byte
	for _, i := range out {
		b = binary.LittleEndian.AppendUint16(b, i.op)
		b = append(b, i.jt, i.jf)
		b = binary.LittleEndian.AppendUint32(b, i.k)
	}
	return b, nil
}

// branch is where all numbers from first on go, up to the next branch.
type branch struct {
	first uint32
	to    int
}

// same says whether two places do the same: they are one, or give one answer.
func (i instruction) same(j instruction, at, other int) bool {
	return at == other || i.op == opRet && i == j
}

// follow gives the place where the program is done with the number: it answers,
// or loads an argument.
func follow(in []instruction, number uint32) (int, error) {
	a := uint32(0)
	for pc := 0; pc < len(in); {
		i := in[pc]
		next := pc + 1
		taken := false
		switch i.op {
		case opLoad:
			switch i.k {
			case 0:
				a = number
			case 4:
				a = architectures[0].audit
			default:
				return pc, nil
			}
			pc = next
			continue
		case opRet:
			return pc, nil
		case opJump:
			pc = next + int(i.k)
			continue
		case opJeq:
			taken = a == i.k
		case opJgt:
			taken = a > i.k
		case opJge:
			taken = a >= i.k
		default:
			return 0, fmt.Errorf("instruction %d: operation %#x", pc, i.op)
		}
		if taken {
			pc = next + int(i.jt)
		} else {
			pc = next + int(i.jf)
		}
	}
	return 0, errors.New("the program runs over its end")
}

// tree is a binary search of the number, which is in A, over ranges.
func tree(in []instruction, ranges []branch) []instruction {
	if len(ranges) == 1 {
		return tail(in, ranges[0].to)
	}
	half := len(ranges) / 2
	below, above := tree(in, ranges[:half]), tree(in, ranges[half:])
	test := []instruction{{op: opJge, jt: uint8(len(below)), k: ranges[half].first}}
	if len(below) > 255 { // jumps by condition reach no further
		test = []instruction{{op: opJge, jf: 1, k: ranges[half].first}, {op: opJump, k: uint32(len(below))}}
	}
	return append(append(test, below...), above...)
}

// tail is what is reachable from a place, in the same order, so that no jump
// grows longer.
func tail(in []instruction, from int) []instruction {
	reached := make([]bool, len(in)+1)
	reached[from] = true
	place := make([]int, len(in)+1) // in the tail
	count := 0
	for pc := from; pc < len(in); pc++ {
		place[pc] = count
		if !reached[pc] {
			continue
		}
		count++
		for _, next := range in[pc].next(pc) {
			reached[next] = true
		}
	}
	var out []instruction
	for pc := from; pc < len(in); pc++ {
		if !reached[pc] {
			continue
		}
		i := in[pc]
		switch next := i.next(pc); i.op {
		case opJump:
			i.k = uint32(place[next[0]] - place[pc] - 1)
		case opJeq, opJgt, opJge:
			i.jt, i.jf = uint8(place[next[0]]-place[pc]-1), uint8(place[next[1]]-place[pc]-1)
		}
		out = append(out, i)
	}
	return out
}

// next gives where an instruction at pc can go.
func (i instruction) next(pc int) []int {
	switch i.op {
	case opRet:
		return nil
	case opJump:
		return []int{pc + 1 + int(i.k)}
	case opJeq, opJgt, opJge:
		return []int{pc + 1 + int(i.jt), pc + 1 + int(i.jf)}
	}
	return []int{pc + 1}
}
