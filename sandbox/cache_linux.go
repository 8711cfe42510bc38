package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cachesBeneath are the directories beneath HOME in which tools keep what they
// can fetch or make again: that of XDG, which go, pip, uv, ccache and most others
// take, and npm's.
var cachesBeneath = [...]string{".cache", ".npm"}

// cachesUnused is how long caches are kept that no run uses.
const cachesUnused = 30 * 24 * time.Hour

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
	dir, lock, err := cacheIn(spec.Caches, spec.Cache)
	if err != nil {
		if spec.Uncached != nil {
			spec.Uncached(err)
		}
		return
	}
	o.cache, o.cacheLock = dir, lock
}

// cacheIn gives the directory of that name in the one of all caches, resolved,
// and its lock.
func cacheIn(caches, name string) (string, *os.File, error) {
	for _, dir := range [...]string{filepath.Dir(caches), caches} { // and no HOME
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return "", nil, err
		}
	}
	caches, err := filepath.EvalSymlinks(caches)
	if err != nil {
		return "", nil, err
	}
	if err := isOwnParent(caches); err != nil {
		return "", nil, err
	}
	dir := filepath.Join(caches, name)
	made := os.Mkdir(dir, 0o700)
	if made != nil && !errors.Is(made, os.ErrExist) {
		return "", nil, made
	}
	if made == nil {
		defer sweepCaches(caches, time.Now().Add(-cachesUnused))
	}
	lock, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
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
		return "", nil, fmt.Errorf("%s: %w", dir, err)
	}
	return dir, lock, nil
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

// sweepCaches removes those that were last taken before a time.
func sweepCaches(caches string, before time.Time) {
	entries, err := os.ReadDir(caches)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.IsDir() || !info.ModTime().Before(before) {
			continue
		}
		dir := filepath.Join(caches, e.Name())
		if lock, err := lockDirectory(dir); err == nil {
			removeTree(dir)
			lock.Close()
		}
	}
}
