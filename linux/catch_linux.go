package linux

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The signals that are the command's are caught by a handler of our own, which
// writes the number of each into a pipe. os/signal would give the same, but
// for every signal that it begins or ceases to catch it takes turns with a
// thread of its own, which for nine of them is a tenth of a launch. That thread
// serves programs that were started with signals blocked.
//
// The handler is a process's, as the table of handlers is, and so is the pipe:
// both stay for as long as the process lasts, since a handler may be at work on
// some thread whenever its signal is given back.
var caught struct {
	once    sync.Once
	err     error
	signals chan os.Signal
	calls   atomic.Int32 // that were not released
}

// caughtPipe is the pipe's end to write to.
//
//lint:ignore U1000 the handler reads it
var caughtPipe int32

// signalEntry gives the addresses of the handler and of what ends it, 0 where
// the kernel brings its own.
func signalEntry() (handler, restorer uintptr)

// sigaction is the kernel's, on amd64 and arm64.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

const (
	sigIgnored    = 1
	saSigInfo     = 0x00000004
	saOnStack     = 0x08000000
	saRestart     = 0x10000000
	saHasRestorer = 0x04000000
)

// Catch has signals to this process arrive in a channel, as os/signal.Notify
// does, until release is called. What the process ignores it goes on to ignore,
// and so will a command. There is one such channel: a second call before the
// release of the first adds to it.
//
// What a terminal sends of SIGINT, SIGQUIT, SIGTSTP, SIGTTIN and SIGTTOU does
// not arrive: the kernel sends it to a whole process group, and so to the
// command as well. What somebody sends to this process alone does.
func Catch(list ...syscall.Signal) (signals <-chan os.Signal, release func(), err error) {
	caught.once.Do(func() { caught.err = openCaught() })
	if caught.err != nil {
		return nil, nil, fmt.Errorf("catch signals: %w", caught.err)
	}
	handler, restorer := signalEntry()
	ours := sigaction{handler: handler, flags: saOnStack | saRestart | saSigInfo, restorer: restorer, mask: ^uint64(0)}
	if restorer != 0 {
		ours.flags |= saHasRestorer
	}
	type kept struct {
		signal syscall.Signal
		was    sigaction
	}
	var before []kept
	for late := caught.calls.Add(1) == 1; late; {
		select {
		case <-caught.signals: // meant for what was released
		default:
			late = false
		}
	}
	release = sync.OnceFunc(func() {
		for _, k := range before {
			setAction(k.signal, &k.was, nil)
		}
		caught.calls.Add(-1)
	})
	for _, s := range list {
		k := kept{signal: s}
		err := setAction(s, nil, &k.was)
		if err == nil && k.was.handler == sigIgnored {
			continue
		}
		if err == nil {
			err = setAction(s, &ours, nil)
		}
		if err != nil {
			release()
			return nil, nil, fmt.Errorf("catch signal %d: %w", s, err)
		}
		before = append(before, k)
	}
	return caught.signals, release, nil
}

// fromKernel marks what the kernel has sent.
const fromKernel = 0x80

// jobSignals are the signals that terminals send, a bit for each.
const jobSignals uint64 = 1<<syscall.SIGINT | 1<<syscall.SIGQUIT | 1<<syscall.SIGTSTP | 1<<syscall.SIGTTIN | 1<<syscall.SIGTTOU

// openCaught makes the pipe and passes on what arrives. As with os/signal, what
// nobody takes for long is lost.
func openCaught() error {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return err
	}
	caughtPipe = int32(fds[1])
	caught.signals = make(chan os.Signal, 16)
	from := os.NewFile(uintptr(fds[0]), "signals")
	go func() {
		var b [64]byte
		for {
			n, err := from.Read(b[:])
			if err != nil {
				return
			}
			for _, s := range b[:n] {
				if s >= fromKernel {
					if s -= fromKernel; jobSignals>>s&1 != 0 {
						continue
					}
				}
				select {
				case caught.signals <- syscall.Signal(s):
				default:
				}
			}
		}
	}()
	return nil
}

func setAction(s syscall.Signal, to, was *sigaction) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), signalSize, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}
