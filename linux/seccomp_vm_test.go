package linux_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/net/bpf"

	"skillrun/linux"
)

// What a filter returns, from include/uapi/linux/seccomp.h.
const (
	retKill   = 0x80000000
	retErrno  = 0x00050000
	retNotify = 0x7fc00000
	retAllow  = 0x7fff0000
)

const (
	auditAMD64 = 0xc000003e
	auditARM64 = 0xc00000b7
	auditI386  = 0x40000003
	auditARM   = 0x40000028
)

// vms loads programs into x/net's BPF machine.
func vms(t testing.TB, filters []linux.Filter) []*bpf.VM {
	t.Helper()
	var out []*bpf.VM
	for i, f := range filters {
		p := f.Program
		if len(p) == 0 || len(p)%8 != 0 || int(f.Instructions())*8 != len(p) {
			t.Fatalf("program %d has %d bytes, %d instructions", i, len(p), f.Instructions())
		}
		var raw []bpf.RawInstruction
		for ; len(p) > 0; p = p[8:] {
			b := []byte(p[:8])
			raw = append(raw, bpf.RawInstruction{
				Op: binary.LittleEndian.Uint16(b), Jt: b[2], Jf: b[3], K: binary.LittleEndian.Uint32(b[4:]),
			})
		}
		instructions, ok := bpf.Disassemble(raw)
		if !ok {
			t.Fatalf("program %d: not all instructions are known", i)
		}
		vm, err := bpf.NewVM(instructions)
		if err != nil {
			t.Fatalf("program %d: %v", i, err)
		}
		out = append(out, vm)
	}
	return out
}

// data is struct seccomp_data as the machine wants it: words big-endian, since
// it loads in network order where the kernel loads in its own. The words of a
// 64-bit argument stay in little-endian order.
func data(audit uint32, number int, args [6]uint64) []byte {
	b := make([]byte, 64)
	binary.BigEndian.PutUint32(b[0:], uint32(number))
	binary.BigEndian.PutUint32(b[4:], audit)
	for i, a := range args {
		binary.BigEndian.PutUint32(b[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(b[20+8*i:], uint32(a>>32))
	}
	return b
}

// strictest gives what the kernel makes of the answers of several programs: the
// smallest action, of equal ones that of the program installed last.
func strictest(t testing.TB, machines []*bpf.VM, packet []byte) uint32 {
	t.Helper()
	answer := uint32(retAllow)
	for i := len(machines) - 1; i >= 0; i-- {
		n, err := machines[i].Run(packet)
		if err != nil {
			t.Fatalf("program %d: %v", i, err)
		}
		if int32(uint32(n)&0xffff0000) < int32(answer&0xffff0000) {
			answer = uint32(n)
		}
	}
	return answer
}

func spell(answer uint32) string {
	switch answer & 0xffff0000 {
	case retKill:
		return "kill"
	case retAllow:
		return "allow"
	case retNotify:
		return "notify"
	case retErrno:
		switch n := answer & 0xffff; n {
		case 1:
			return "EPERM"
		case 12:
			return "ENOMEM"
		case 13:
			return "EACCES"
		case 22:
			return "EINVAL"
		case 25:
			return "ENOTTY"
		case 38:
			return "ENOSYS"
		case 93:
			return "EPROTONOSUPPORT"
		case 95:
			return "EOPNOTSUPP"
		case 97:
			return "EAFNOSUPPORT"
		default:
			return fmt.Sprintf("errno %d", n)
		}
	}
	return fmt.Sprintf("%#x", answer)
}
