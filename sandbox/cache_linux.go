package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cachesBeneath are the directories beneath HOME in which tools keep what they
// can fetch or make again: that of XDG, which go, pip, uv, ccache and most others
// take, and npm's.
var cachesBeneath = [...]string{".cache", ".npm"}

// cachesUnused is how long caches are kept that no run uses, mostCaches how many
// there are at most.
const (
	cachesUnused = 30 * 24 * time.Hour
	mostCaches   = 32
)

// takeCache finds or makes the caches that spec's run shares with those before
// and after it that have the same rights. Whatever is wrong with them, the run
// then has none but its own: nothing but time is lost. So it is where no supervisor
// of its own keeps files from having a name among them and one elsewhere.
func (o *own) takeCache(spec *Spec, supervised bool) {
	if o.cache != "" { // of a first try of the run
		o.cacheLock.Close()
		for _, name := range cachesBeneath {
			os.Remove(filepath.Join(o.home(), name))
		}
		o.cache, o.cacheLock = "", nil
	}
	if spec.Cache == "" {
		return
	}
	err := errors.New("no supervisor of its own rules on them")
	dir, lock, made := "", (*os.File)(nil), false
	if supervised {
		dir, lock, made, err = cacheIn(spec.Caches, spec.Cache)
	}
	if err != nil {
		if spec.Uncached != nil {
			spec.Uncached(err)
		}
		return
	}
	o.cache, o.cacheLock = dir, lock
	if made {
		go sweepCaches(filepath.Dir(dir), time.Now())
	}
}

// cacheIn gives the directory of that name in the one of all caches, and its lock.
// It is true if there was none. No link leads there: a run may have made it.
func cacheIn(caches, name string) (string, *os.File, bool, error) {
	home := filepath.Dir(filepath.Dir(caches))
	for _, dir := range [...]string{home, filepath.Dir(caches), caches} {
		if dir != home {
			if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
				return "", nil, false, err
			}
		}
		var st unix.Stat_t
		if err := unix.Lstat(dir, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return "", nil, false, fmt.Errorf("%s: not a directory", dir)
		} else if int(st.Uid) != os.Geteuid() { // root with a user's HOME
			return "", nil, false, fmt.Errorf("%s: belongs to uid %d", dir, st.Uid)
		}
	}
	if err := isOwnParent(caches); err != nil {
		return "", nil, false, err
	}
	dir := filepath.Join(caches, name)
	err := os.Mkdir(dir, 0o700)
	made := err == nil
	if !made && !errors.Is(err, os.ErrExist) {
		return "", nil, false, err
	}
	lock, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, false, err
	}
	// Only who takes them away has them alone.
	if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		err = (&own{dir: dir, lock: lock}).isThere()
	}
	if err == nil {
		err = isOwnParent(dir)
	}
	if err == nil {
		now := time.Now()
		err = os.Chtimes(dir, now, now)
	}
	for _, sub := range cachesBeneath {
		if err == nil {
			err = directoryIn(int(lock.Fd()), sub)
		}
	}
	if err != nil {
		lock.Close()
		return "", nil, false, fmt.Errorf("%s: %w", dir, err)
	}
	return dir, lock, made, nil
}

// directoryIn makes a directory in another where there is none, be it that a run
// has put something else there.
func directoryIn(dir int, name string) error {
	err := unix.Mkdirat(dir, name, 0o700)
	if err != unix.EEXIST {
		return err
	}
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Mode&0o700 == 0o700 {
			return err
		}
		return os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700)
	}
	if err := unix.Unlinkat(dir, name, 0); err != nil && err != unix.ENOENT {
		return err
	}
	return unix.Mkdirat(dir, name, 0o700)
}

// caches is where ~/.cache leads, "" where it is a directory of the run's own.
func (o *own) caches() string {
	if o.cache == "" {
		return ""
	}
	return filepath.Join(o.cache, cachesBeneath[0])
}

// linkCache has the kept caches be found beneath HOME, where who started this may
// make links and nothing of the user's is granted there.
func (o *own) linkCache(spec *Spec) {
	for _, name := range cachesBeneath {
		if o.cache == "" {
			return
		}
		link, target := filepath.Join(o.home(), name), filepath.Join(o.cache, name)
		err := os.Symlink(target, link)
		if err != nil && o.laid {
			if is, _ := os.Readlink(link); is == target {
				continue
			}
		}
		if err != nil && spec.Uncached != nil {
			spec.Uncached(err)
		}
	}
}

// sweepCaches removes those that are not in use, have not been for long, or are too
// many. What a launcher that ends does not get to, another does; nobody uses a part.
func sweepCaches(caches string, now time.Time) {
	entries, err := os.ReadDir(caches)
	if err != nil {
		return
	}
	used := func(e os.DirEntry) time.Time {
		if info, err := e.Info(); err == nil {
			return info.ModTime()
		}
		return now
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return used(b).Compare(used(a)) })
	const gone = ".gone-"
	kept := 0
	for _, e := range entries {
		dir := filepath.Join(caches, e.Name())
		swept := strings.HasPrefix(e.Name(), gone)
		if !swept && !IsCache(e.Name()) || isOwnParent(dir) != nil {
			continue // nothing of ours
		}
		if !swept && kept < mostCaches && now.Sub(used(e)) < cachesUnused {
			kept++
			continue
		}
		lock, err := lockDirectory(dir)
		if err != nil {
			continue
		}
		if to := filepath.Join(caches, gone+newID()); swept || os.Rename(dir, to) == nil {
			if !swept {
				dir = to
			}
			removeTree(dir)
		}
		lock.Close()
	}
}
