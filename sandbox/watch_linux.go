package sandbox

import (
	"os"
	"sync"
	"time"

	"skillrun/linux"
	"skillrun/profiles"
)

// The first look at a run comes after firstLook, so that short ones cost
// nothing; then the pause grows to lastLook. Looking takes a twentieth of the
// time, as long as longestPause is enough for that: whoever makes looks slow (a
// busy machine, a run that keeps its memory's locks) wins no more time than that.
const (
	firstLook    = 20 * time.Millisecond
	lastLook     = 100 * time.Millisecond
	longestPause = time.Second
	lookShare    = 20
)

// pauseAfter is how long to wait after a look that took so long.
func pauseAfter(pause, took time.Duration) time.Duration {
	return min(max(min(2*pause, lastLook), lookShare*took), longestPause)
}

// watcher looks at a run from time to time, for the limits of a run as a whole
// that the kernel does not end it for.
type watcher struct {
	limits *profiles.Limits
	group  *linux.Cgroup // nil if the run has none
	usage  func() linux.Usage
	files  []growing
	kill   func()
	stuck  func() // kills what a run that is being ended still has
	stop   chan struct{}
	done   sync.WaitGroup
	met    string // the limit for which the run was ended
}

// growing is a regular file that a standard stream goes to.
type growing struct {
	file  *os.File
	begin int64
}

// newWatcher notes how things are before the run begins.
func newWatcher(spec *Spec, group *linux.Cgroup) *watcher {
	w := &watcher{limits: &spec.Profile.Limits, group: group, stop: make(chan struct{})}
	for _, f := range spec.growing() {
		if info, err := f.Stat(); err == nil {
			w.files = append(w.files, growing{f, info.Size()})
		}
	}
	return w
}

// start begins to look.
func (w *watcher) start(p *linux.Process) {
	w.usage, w.kill, w.stuck = p.Usage, p.Kill, p.EndStuck
	if w.limits.Wall == 0 && w.limits.Memory == 0 && w.limits.CPU == 0 && w.limits.Processes == 0 && len(w.files) == 0 {
		return
	}
	w.done.Add(1)
	go w.loop()
}

func (w *watcher) loop() {
	defer w.done.Done()
	pause := firstLook
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-timer.C:
		}
		begin := time.Now()
		if w.met == "" {
			if w.met = w.look(); w.met != "" {
				w.kill()
			}
		}
		w.stuck()
		pause = pauseAfter(pause, time.Since(begin))
		timer.Reset(pause)
	}
}

// look gives the limit that the run is over, or "".
func (w *watcher) look() string {
	var output int64
	for _, f := range w.files {
		if info, err := f.file.Stat(); err == nil {
			output += max(0, info.Size()-f.begin)
		}
	}
	if w.limits.Output > 0 && output > w.limits.Output {
		return "output"
	}
	if w.group != nil {
		if met := w.group.Met(); met != "" {
			return met
		}
		if cpu, ok := w.group.CPU(); ok {
			return w.over(linux.Usage{CPU: cpu})
		}
		if w.limits.CPU == 0 {
			return ""
		}
	}
	u := w.usage()
	if w.group != nil {
		u.Processes = 0 // the kernel's, as memory is
	}
	return w.over(u)
}

// over compares. Memory that processes share is counted once, which is looked
// at only where counting it for each makes too much.
func (w *watcher) over(u linux.Usage) string {
	l := w.limits
	switch {
	case l.Processes > 0 && u.Processes > l.Processes:
		return "processes"
	case l.CPU > 0 && u.CPU > l.CPU:
		return "cpu"
	case l.Memory > 0 && w.group == nil && u.Resident+u.Hidden() > l.Memory && u.Proportional() > l.Memory:
		return "memory"
	}
	return ""
}

// close ends the looking and gives the limit that ended the run, or "". state
// is how the run ended.
func (w *watcher) close(state *linux.State) string {
	close(w.stop)
	w.done.Wait()
	switch {
	case w.met != "":
		return w.met
	case state.TimedOut:
		return ""
	case w.group != nil && w.group.Met() != "":
		return w.group.Met() // between two looks
	}
	return limitMet(w.limits, state.Status, state.User+state.System)
}
