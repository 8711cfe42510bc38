package linux

import (
	"sync"

	"golang.org/x/sys/unix"
)

// kept holds what atomic saves replaced, until the run ends. The descriptors
// keep the old files alive without any name, and so without litter and on any
// file system; who wants one back copies it from the launcher's /proc/PID/fd.
type kept struct {
	mu    sync.Mutex
	most  int // descriptors, at most keptMost
	files []int
	last  map[entry]fileID // what the run saved at an old name: not worth keeping
}

// keptMost bounds the descriptors held, and so does the table that they are in;
// beyond it the oldest are let go.
const keptMost = 1024

func (k *kept) limit() {
	k.most = keptMost
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		k.most = int(max(1, min(keptMost, files.Cur/8)))
	}
}

func (k *kept) keep(o *object) {
	if o.fd < 0 {
		return
	}
	fd, e := dup(o.fd)
	if e != 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.files) >= k.most {
		unix.Close(k.files[0])
		k.files = k.files[1:]
	}
	k.files = append(k.files, fd)
}

// owns says whether what stands at an old name is what the run last saved there.
func (k *kept) owns(o *object) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last[entryOf(o.place)] == o.id()
}

// saved notes the file that an atomic save has put at an old name.
func (k *kept) saved(pl place, id fileID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil {
		k.last = map[entry]fileID{}
	}
	if len(k.last) < ledgerMost {
		k.last[entryOf(pl)] = id
	}
}

func (k *kept) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, fd := range k.files {
		unix.Close(fd)
	}
	k.files = nil
}
