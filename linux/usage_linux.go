package linux

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what the processes of a run use at a moment.
type Usage struct {
	// Resident is the sum of their resident memory, in bytes. What several
	// share counts several times.
	Resident int64
	// CPU is the processor time of those that live, and of those whose end a
	// parent has seen.
	CPU time.Duration
	// Processes counts processes and threads.
	Processes int64
	pids      []int
	shown     []int // the thread by which each of these shows its memory
}

// tick is the unit of times in /proc/PID/stat, USER_HZ, 1/100 s on every
// architecture that there are filters for.
const tick = 10 * time.Millisecond

// Usage looks at the run's processes, one after the other, without stopping
// them: what moves meanwhile may be missed. The guardian is not counted.
func (p *Process) Usage() Usage { return usageBelow(p.reaper()) }

func usageBelow(root int) Usage {
	var u Usage
	w := usageWalk{seen: map[int]bool{}, page: int64(os.Getpagesize())}
	s, ok := w.stat(root)
	if ok {
		u.CPU = s.ended
	}
	list := w.children(nil, root, s.threads)
	for len(list) > 0 {
		pid := list[len(list)-1]
		list = list[:len(list)-1]
		if w.seen[pid] {
			continue
		}
		w.seen[pid] = true
		s, ok := w.stat(pid)
		if !ok {
			continue
		}
		shown := pid
		if s.resident == 0 && s.threads > 1 {
			shown, s.resident = w.living(pid)
		}
		u.Resident += s.resident
		u.CPU += s.used + s.ended
		u.Processes += s.threads
		u.pids, u.shown = append(u.pids, pid), append(u.shown, shown)
		list = w.children(list, pid, s.threads)
	}
	return u
}

// EndStuck kills what is left of a run that its guardian is ending: each process,
// and not those alone that have lost their parents. One that waits in the kernel
// for a file system that does not answer dies only when it does, and would keep
// what it has started from the guardian until then.
func (p *Process) EndStuck() {
	if load(&p.board.ending) == 0 || load(&p.board.done) != 0 {
		return
	}
	endBelow(p.reaper())
}

// endBelow kills all that come from a process, where the numbers that /proc has are ours.
func endBelow(root int) {
	if !numbersAreOurs() {
		return
	}
	for _, pid := range usageBelow(root).pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		// The number may be somebody else's by now, and then it stays so.
		if descends(pid, root) {
			unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		unix.Close(fd)
	}
}

// numbersAreOurs says whether /proc shows processes by the numbers that they have for
// us: it may be another namespace's.
func numbersAreOurs() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}

// descends says whether a process comes from another.
func descends(pid, from int) bool {
	for range deepest {
		if pid == from {
			return true
		}
		parent, ok := number(unix.AT_FDCWD, "/proc/"+strconv.Itoa(pid)+"/status", "\nPPid:\t")
		if !ok || parent <= 1 {
			return false
		}
		pid = int(parent)
	}
	return false
}

// Hidden is the memory of the processes that were seen which is not resident: what
// was swapped out, and the tables of what they have mapped, of which one that only
// reads here and there can have any amount.
func (u *Usage) Hidden() int64 {
	var sum int64
	for _, pid := range u.shown {
		sum += memoryOf(pid, "status", "VmSwap:", "VmPTE:")
	}
	return sum
}

// memoryOf sums up lines, of kilobytes, of a file that /proc has of a process.
func memoryOf(pid int, file string, lines ...string) (sum int64) {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && slices.Contains(lines, f[0]) {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			sum += n << 10
		}
	}
	return sum
}

// Proportional is the memory of the processes that were seen, what several
// share counted once, swapped memory and tables too. It takes milliseconds for each
// gigabyte. A process that does not tell counts with nothing shared.
func (u *Usage) Proportional() int64 {
	var sum int64
	for _, pid := range u.shown {
		shown := memoryOf(pid, "smaps_rollup", "Pss:", "SwapPss:")
		if shown == 0 {
			w := usageWalk{page: int64(os.Getpagesize())}
			s, _ := w.stat(pid)
			shown = s.resident
		}
		sum += shown + memoryOf(pid, "status", "VmPTE:")
	}
	return sum
}

// usageWalk reads /proc into one buffer.
type usageWalk struct {
	seen map[int]bool
	page int64
	buf  [4096]byte
}

func (w *usageWalk) read(path string) []byte {
	text, _ := readStart(unix.AT_FDCWD, path, w.buf[:])
	return text
}

// usageStat is what /proc/PID/stat says of a process.
type usageStat struct {
	resident    int64
	threads     int64
	used, ended time.Duration // by itself, by children whose end it has seen
}

func (w *usageWalk) stat(pid int) (s usageStat, ok bool) {
	text := string(w.read("/proc/" + strconv.Itoa(pid) + "/stat"))
	// The name, in brackets, can hold anything.
	end := strings.LastIndexByte(text, ')')
	if end < 0 {
		return s, false
	}
	f := strings.Fields(text[end+1:]) // from field 3 on
	if len(f) < 22 {
		return s, false
	}
	number := func(field int) int64 {
		n, _ := strconv.ParseInt(f[field-3], 10, 64)
		return n
	}
	s.used = time.Duration(number(14)+number(15)) * tick
	s.ended = time.Duration(number(16)+number(17)) * tick
	s.threads, s.resident = number(20), number(24)*w.page
	return s, true
}

// living gives a thread of a process whose first one has ended and shows no memory of
// its any more, and that memory.
func (w *usageWalk) living(pid int) (thread int, resident int64) {
	_, tasks := w.tasks(pid, 2)
	for _, t := range tasks {
		tid, _ := strconv.Atoi(t)
		if s, ok := w.stat(tid); ok && s.resident > 0 {
			return tid, s.resident
		}
	}
	return pid, 0
}

// tasks gives the threads of a process, and where they are.
func (w *usageWalk) tasks(pid int, threads int64) (dir string, tasks []string) {
	dir = "/proc/" + strconv.Itoa(pid) + "/task/"
	tasks = []string{strconv.Itoa(pid)}
	if threads > 1 {
		if d, err := os.Open(dir); err == nil {
			if names, err := d.Readdirnames(-1); err == nil {
				tasks = names
			}
			d.Close()
		}
	}
	return dir, tasks
}

// children adds the children of a process to list. Each thread has its own.
func (w *usageWalk) children(list []int, pid int, threads int64) []int {
	dir, tasks := w.tasks(pid, threads)
	for _, t := range tasks {
		fd, err := unix.Open(dir+t+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		child := 0
		for {
			n, err := unix.Read(fd, w.buf[:])
			if err != nil || n <= 0 {
				break
			}
			for _, c := range w.buf[:n] {
				if c >= '0' && c <= '9' {
					child = child*10 + int(c-'0')
				} else if child > 0 {
					list = append(list, child)
					child = 0
				}
			}
		}
		unix.Close(fd)
	}
	return list
}
