package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
// then has none but its own: nothing but time is lost. So it is where nobody
// keeps files from having a name among them and one elsewhere.
func (o *own) takeCache(spec *Spec, supervised bool) {
	if o.cache != "" { // of a first try of the run
		o.cacheLock.Close()
		for _, name := range cachesBeneath {
			os.Remove(filepath.Join(o.home(), name))
		}
		o.cache, o.cacheLock = "", nil
	}
	if spec.Cache == "" || !supervised {
		return
	}
	dir, lock, made, err := cacheIn(spec.Caches, spec.Cache)
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

// cacheIn gives the directory of that name in the one of all caches, resolved,
// and its lock. It is true if there was none.
func cacheIn(caches, name string) (string, *os.File, bool, error) {
	for _, dir := range [...]string{filepath.Dir(caches), caches} { // and no HOME
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return "", nil, false, err
		}
	}
	caches, err := filepath.EvalSymlinks(caches)
	if err == nil {
		err = isOwnParent(caches)
	}
	if err != nil {
		return "", nil, false, err
	}
	dir := filepath.Join(caches, name)
	err = os.Mkdir(dir, 0o700)
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
			if err = unix.Mkdirat(int(lock.Fd()), sub, 0o700); err == unix.EEXIST {
				err = nil
			}
		}
	}
	if err != nil {
		lock.Close()
		return "", nil, false, fmt.Errorf("%s: %w", dir, err)
	}
	return dir, lock, made, nil
}

// linkCache has the kept caches be found beneath HOME, unless something of the
// user's was granted there, or who started this may not make links.
func (o *own) linkCache() {
	for _, name := range cachesBeneath {
		if o.cache != "" {
			os.Symlink(filepath.Join(o.cache, name), filepath.Join(o.home(), name))
		}
	}
}

// sweepCaches removes those that are not in use, have not been for long, or are too
// many. What a launcher that ends does not get to, another does.
func sweepCaches(caches string, now time.Time) {
	entries, err := os.ReadDir(caches)
	if err != nil {
		return
	}
	used := func(e os.DirEntry) time.Time {
		if info, err := e.Info(); err == nil && info.IsDir() {
			return info.ModTime()
		}
		return now
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return used(b).Compare(used(a)) })
	for i, e := range entries {
		if i < mostCaches && now.Sub(used(e)) < cachesUnused {
			continue
		}
		dir := filepath.Join(caches, e.Name())
		if lock, err := lockDirectory(dir); err == nil {
			removeTree(dir)
			lock.Close()
		}
	}
}
