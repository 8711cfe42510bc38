package linux

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// message is what a struct msghdr of the caller's says.
type message struct {
	name     uint64
	nameSize uint32
	parts    []part
}

// part is a struct iovec.
type part struct{ at, size uint64 }

// Sizes and places in the kernel's structures, on 64-bit machines.
const (
	sizeofMsghdr  = 56
	sizeofMmsghdr = 64
	sizeofIovec   = 16
	msgNameSize   = 8
	msgParts      = 16
	msgControl    = 40 // size of the ancillary data
	msgFlags      = 48
	partsMost     = 1024 // UIO_MAXIOV
)

func (r *request) message(at uint64) (m message, e unix.Errno) {
	var raw [sizeofMsghdr]byte
	if e := r.read(at, raw[:]); e != 0 {
		return m, e
	}
	word := binary.NativeEndian.Uint64
	m.name, m.nameSize = word(raw[:]), binary.NativeEndian.Uint32(raw[msgNameSize:])
	list, count := word(raw[msgParts:]), word(raw[msgParts+8:])
	if count > partsMost {
		return m, unix.EMSGSIZE
	}
	iov := make([]byte, count*sizeofIovec)
	if e := r.read(list, iov); e != 0 {
		return m, e
	}
	for ; len(iov) > 0; iov = iov[sizeofIovec:] {
		m.parts = append(m.parts, part{word(iov), word(iov[8:])})
	}
	return m, 0
}

// gather copies a message's data, at most that of a datagram.
func (r *request) gather(parts []part) ([]byte, unix.Errno) {
	total := uint64(0)
	for _, p := range parts {
		if p.size > datagramMost || total+p.size > datagramMost {
			return nil, unix.EMSGSIZE
		}
		total += p.size
	}
	data := make([]byte, 0, total)
	for _, p := range parts {
		at := len(data)
		data = data[:at+int(p.size)]
		if e := r.read(p.at, data[at:]); e != 0 {
			return nil, e
		}
	}
	return data, 0
}

// fill answers a recvmsg: data, and where it came from.
func (r *request) fill(at uint64, data, from []byte, flags int) (int, unix.Errno) {
	m, e := r.message(at)
	if e != 0 {
		return 0, e
	}
	put := 0
	for _, p := range m.parts {
		size := int(min(p.size, uint64(len(data)-put)))
		if e := r.write(p.at, data[put:put+size]); e != 0 {
			return 0, e
		}
		put += size
	}
	if m.name != 0 {
		if e := r.write(m.name, from[:min(len(from), int(m.nameSize))]); e != 0 {
			return 0, e
		}
		if e := r.write(at+msgNameSize, binary.NativeEndian.AppendUint32(nil, uint32(len(from)))); e != 0 {
			return 0, e
		}
	}
	is := uint32(0)
	if put < len(data) {
		is = unix.MSG_TRUNC
	}
	if e := r.write(at+msgFlags, binary.NativeEndian.AppendUint32(nil, is)); e != 0 {
		return 0, e
	}
	if e := r.write(at+msgControl, make([]byte, 8)); e != 0 {
		return 0, e
	}
	if flags&unix.MSG_TRUNC != 0 {
		put = len(data)
	}
	return put, 0
}

// store writes a value and its size as getsockname does: at most as much as
// there is room for, and the whole size.
func (r *request) store(raw []byte, at, sizeAt uint64) unix.Errno {
	var size [4]byte
	if e := r.read(sizeAt, size[:]); e != 0 {
		return e
	}
	room := int32(binary.NativeEndian.Uint32(size[:]))
	if room < 0 {
		return unix.EINVAL
	}
	binary.NativeEndian.PutUint32(size[:], uint32(len(raw)))
	if e := r.write(at, raw[:min(len(raw), int(room))]); e != 0 {
		return e
	}
	return r.write(sizeAt, size[:])
}

// tell answers a call with a value and its size.
func (r *request) tell(raw []byte, at, sizeAt uint64) {
	if !r.valid() {
		r.fail(unix.EINTR)
		return
	}
	r.fail(r.store(raw, at, sizeAt))
}

// signalled says whether a signal waits for a thread.
func signalled(dir int) bool {
	var buf [4096]byte
	status, e := readStart(dir, "status", buf[:])
	if e != 0 {
		return true
	}
	mask := func(key string) uint64 {
		_, rest, _ := bytes.Cut(status, []byte("\n"+key+":\t"))
		word, _, _ := bytes.Cut(rest, []byte("\n"))
		m, _ := strconv.ParseUint(string(word), 16, 64)
		return m
	}
	return (mask("SigPnd")|mask("ShdPnd"))&^mask("SigBlk") != 0
}

// openSockets lists the inode numbers of the sockets that the run's processes
// have open. It fails where not all of them can be looked into.
func (s *Supervisor) openSockets() (map[uint64]bool, bool) {
	open := map[uint64]bool{}
	first := s.run.Guardian
	if first == 0 {
		first = s.run.Process
	}
	pids := []string{strconv.Itoa(first)}
	for i := 0; i < len(pids); i++ {
		proc := "/proc/" + pids[i]
		tasks, err := os.ReadDir(proc + "/task")
		if err != nil {
			continue // it has ended
		}
		for _, t := range tasks {
			children, err := os.ReadFile(proc + "/task/" + t.Name() + "/children")
			if err != nil && !gone(proc) {
				return nil, false
			}
			pids = append(pids, strings.Fields(string(children))...)
		}
		if i == 0 && s.run.Guardian != 0 {
			continue // which is not of the run
		}
		fds, err := os.ReadDir(proc + "/fd")
		if err != nil && !gone(proc) {
			return nil, false
		}
		for _, fd := range fds {
			link, err := os.Readlink(proc + "/fd/" + fd.Name())
			if err != nil {
				continue // closed meanwhile
			}
			digits, ok := strings.CutPrefix(strings.TrimSuffix(link, "]"), "socket:[")
			if ino, err := strconv.ParseUint(digits, 10, 64); ok && err == nil {
				open[ino] = true
			}
		}
	}
	return open, true
}

func gone(proc string) bool {
	_, err := os.Stat(proc)
	return err != nil
}
