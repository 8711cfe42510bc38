package sandbox

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// tap stands between a command's standard streams and the caller's: pipes for
// the streams that are copied or bounded, the caller's own files for the
// others, which cost nothing and keep a terminal a terminal.
type tap struct {
	files [3]*os.File // the command's
	ours  [3]*os.File // the other ends; nil where there is no pipe
	spec  *Spec
	left  atomic.Int64 // bytes of output that may still pass
	burst atomic.Bool
	// lost is why output that the command has written went no further, other than
	// that its reader left.
	lost  atomic.Pointer[error]
	begun time.Time
	done  sync.WaitGroup // of the outputs
	// passing is held from when something is read until it is written.
	passing [3]sync.Mutex
}

// newTap makes the pipes that spec asks for. Outputs that go to one pipe and
// that nobody copies keep going to one: what comes first stays first.
func newTap(spec *Spec) (*tap, error) {
	t := &tap{spec: spec, files: [3]*os.File{spec.Stdin, spec.Stdout, spec.Stderr}}
	t.left.Store(spec.Profile.Limits.Output)
	for i, f := range t.files {
		if f == nil || !spec.pipes(i) {
			continue
		}
		if i == 2 && t.ours[1] != nil && spec.Tee[1] == nil && spec.Tee[2] == nil && sameFile(spec.Stdout, f) {
			t.files[2] = t.files[1]
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.close()
			return nil, err
		}
		t.files[i], t.ours[i] = w, r
		if i == 0 {
			t.files[i], t.ours[i] = r, w
		}
	}
	return t, nil
}

func (t *tap) bounded() bool { return t.spec.Profile.Limits.Output > 0 }

// pipes says whether a stream becomes a pipe to this process. An output that is
// a pipe or a socket already is none the worse for it, so that the limit of
// output holds there whoever set it, and nobody reads in it, by a path in /proc, what
// other programs wrote there; how a file grows is looked at.
func (s *Spec) pipes(i int) bool {
	switch {
	case s.Tee[i] != nil:
		return true
	case i == 0:
		return false
	}
	return s.BoundOutput && s.Profile.Limits.Output > 0 || kind(s.output(i))&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// output is stdout for 1 and stderr for 2.
func (s *Spec) output(i int) *os.File { return [...]*os.File{nil, s.Stdout, s.Stderr}[i] }

// growing are the outputs that go to regular files, each once.
func (s *Spec) growing() (files []*os.File) {
	for i := 1; i <= 2; i++ {
		f := s.output(i)
		if f == nil || s.pipes(i) || kind(f) != 0 || i == 2 && len(files) > 0 && sameFile(s.Stdout, f) {
			continue
		}
		files = append(files, f)
	}
	return files
}

// countsOutput says whether the limit of output holds: everywhere but on a
// terminal, whose end nobody else has.
func (s *Spec) countsOutput() bool {
	for i := 1; i <= 2; i++ {
		if f := s.output(i); f != nil && !s.pipes(i) && isTerminal(f) {
			return false
		}
	}
	return true
}

// kind gives the type bits of a file's mode; those of a device where it cannot
// be told.
func kind(f *os.File) os.FileMode {
	if f == nil {
		return os.ModeDevice
	}
	info, err := f.Stat()
	if err != nil {
		return os.ModeDevice
	}
	return info.Mode().Type()
}

func sameFile(a, b *os.File) bool {
	if a == nil || b == nil {
		return false
	}
	x, err := a.Stat()
	if err != nil {
		return false
	}
	y, err := b.Stat()
	return err == nil && os.SameFile(x, y)
}

// start closes the command's ends, which it has by now, and begins to copy.
// stop is called when there is too much output.
func (t *tap) start(stop func()) {
	t.begun = time.Now()
	for i, ours := range t.ours {
		if ours == nil {
			continue
		}
		t.files[i].Close()
		if i == 0 {
			go t.feed(ours)
			continue
		}
		t.done.Add(1)
		go t.drain(i, ours, stop)
	}
}

// feed copies stdin. Nobody waits for it: a caller's stdin may never end.
func (t *tap) feed(w *os.File) {
	defer w.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := t.spec.Stdin.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			t.copied(0, buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (t *tap) copied(i int, b []byte) {
	if t.spec.Tee[i] != nil {
		t.spec.Tee[i].Write(b)
	}
}

// drain copies an output until its last writer is gone.
func (t *tap) drain(i int, r *os.File, stop func()) {
	defer t.done.Done()
	// The command gets SIGPIPE where it would have without us.
	defer r.Close()
	to, err := duplicate(t.spec.output(i))
	if err != nil {
		return
	}
	defer to.Close()
	raw, err := r.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for ended := false; ; {
		var whole, n int
		var in, out error
		err := raw.Read(func(fd uintptr) bool {
			t.passing[i].Lock()
			for whole, in = unix.Read(int(fd), buf); in == unix.EINTR; {
				whole, in = unix.Read(int(fd), buf)
			}
			if in == unix.EAGAIN {
				t.passing[i].Unlock()
				return false
			}
			return true
		})
		if err == nil {
			if n = max(0, whole); t.bounded() {
				n = int(max(0, min(int64(n), t.left.Add(-int64(n))+int64(n))))
			}
			if n > 0 {
				t.copied(i, buf[:n])
				out = writeAll(to, buf[:n])
			}
			t.passing[i].Unlock()
		}
		if out != nil && !errors.Is(out, unix.EPIPE) && !errors.Is(out, unix.ECONNRESET) {
			t.lost.Store(&out)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && ended:
			return // somebody outside was handed the descriptor
		case errors.Is(err, os.ErrDeadlineExceeded):
			ended = true
		case err != nil || in != nil || out != nil || whole == 0:
			return
		case n < whole:
			t.burst.Store(true)
			stop()
			return
		}
		if ended {
			r.SetReadDeadline(time.Now().Add(time.Second))
		}
	}
}

// writeAll writes all of b, where others who share the open file, the command by its
// stdin among them, have made it one at which nobody waits, too.
func writeAll(to *os.File, b []byte) error {
	for {
		n, err := to.Write(b)
		if b = b[n:]; !errors.Is(err, unix.EAGAIN) {
			return err
		}
		unix.Poll([]unix.PollFd{{Fd: int32(to.Fd()), Events: unix.POLLOUT}}, -1)
	}
}

// passed returns when what the command has written to stderr was copied, so that
// what is said now comes after it; at the latest when patience ends.
func (t *tap) passed() {
	i := 2
	if t.files[1] == t.files[2] {
		i = 1
	}
	if t.ours[i] == nil {
		return
	}
	raw, err := t.ours[i].SyscallConn()
	if err != nil {
		return
	}
	for up := time.Now().Add(patience); time.Now().Before(up); time.Sleep(100 * time.Microsecond) {
		p := []unix.PollFd{{Events: unix.POLLIN}}
		copying := false
		err := raw.Control(func(fd uintptr) { // must not wait: who closes the file waits for it
			if copying = !t.passing[i].TryLock(); !copying {
				defer t.passing[i].Unlock()
				p[0].Fd = int32(fd)
				unix.Poll(p, 0)
			}
		})
		if err != nil || !copying && p[0].Revents&unix.POLLIN == 0 {
			return
		}
	}
}

// patience is how long whoever reads a run's output is waited for beyond the run's
// time.
const patience = time.Second

// wait returns when all output of a run that has ended was copied. It is false if
// that was not to be waited for any longer, by a run that was ended or has a limit
// of time: who has the other end may read nothing.
func (t *tap) wait(ended bool) bool {
	for _, ours := range t.ours[1:] {
		if ours != nil {
			ours.SetReadDeadline(time.Now())
		}
	}
	var up <-chan time.Time
	if wall := t.spec.Profile.Limits.Wall; ended {
		up = time.After(patience)
	} else if wall > 0 {
		up = time.After(max(patience, time.Until(t.begun.Add(wall))))
	}
	copied := make(chan struct{})
	go func() {
		t.done.Wait()
		close(copied)
	}()
	select {
	case <-copied:
		return true
	case <-up:
		return false
	}
}

// lostFor gives [Result.Lost].
func (t *tap) lostFor() error {
	if err := t.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// close closes what start did not.
func (t *tap) close() {
	for i, ours := range t.ours {
		if ours != nil {
			ours.Close()
			t.files[i].Close()
		}
	}
}

// duplicate gives a descriptor of another number: the runtime ends the program
// when a write to 1 or 2 finds a closed pipe.
func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
