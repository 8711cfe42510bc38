package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// writePlaced writes a file whose name the person gave, and which may lie where
// runs make names: a link that stands there could be a run's, which would have
// this process, that nothing confines, write over what the run may not. theirs
// says whether a run may make names in a directory.
func writePlaced(name string, theirs func(dir string) bool, data []byte) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	dir, err := followOurs(filepath.Dir(path), theirs)
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if theirs(dir) {
		// Nor a FIFO, at which this process would wait for ever.
		path, flags = filepath.Join(dir, filepath.Base(path)), flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK
	} else if _, err := followOurs(path, theirs); err != nil {
		return err
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return linkError(path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func linkError(path string) error {
	return fmt.Errorf("%s is a symbolic link that a run may have made: name a place outside the workspace", quote(path))
}

// followOurs resolves an absolute path, with an error for a link that a run may
// have made. What is not there is no link.
func followOurs(path string, theirs func(dir string) bool) (string, error) {
	const most = 40 // as the kernel
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if theirs(at) {
			return "", linkError(next)
		}
		if links++; links > most {
			return "", &os.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}
