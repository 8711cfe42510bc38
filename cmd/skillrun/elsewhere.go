package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"skillrun/linux"
	"skillrun/profiles"
	"skillrun/sandbox"
)

// readFeatures reads the file of --features, the features of a Linux machine;
// without the flag it gives those of usual.
func readFeatures(c *cli.Context, usual func() linux.Features) (f linux.Features, err error) {
	mode, err := parseMode(c.String("namespaces"))
	if err != nil {
		return f, usage(err)
	}
	defer func() {
		if f.Namespaces = f.Namespaces && mode != sandbox.Off; err == nil && mode == sandbox.On && !f.Namespaces {
			err = errors.New("no namespaces can be made there, and they were asked for")
		}
	}()
	file := c.String("features")
	if file == "" {
		return usual(), nil
	}
	b, err := readNamed(file)
	if err != nil {
		return f, fmt.Errorf("features: %w", err)
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return f, fmt.Errorf("features %s: %w", quote(file), err)
	}
	return f, nil
}

// someLinux is a Linux machine that has all that a run uses, Linux 6.12 for
// instance.
func someLinux() linux.Features {
	return linux.Features{
		Landlock: 6, Seccomp: true, Notify: true, Namespaces: true, NetNamespace: true,
		Children: true, Pidfd: true, CloseRange: true, UID: 1000,
	}
}

// linuxReceipt says what Linux would hold of a profile whose files are those of
// this machine, whatever it is.
func linuxReceipt(p *profiles.Profile, f linux.Features, files fs.FS) profiles.Receipt {
	const own = "/tmp/skillrun"
	return linux.Compile(p, f, linux.Facts{
		FS: withShm{files}, Own: []string{own}, Masked: own + "/masked",
		Private:    []linux.Substitute{{From: "/" + shm, To: own + "/shm"}},
		Namespaces: f.Namespaces && !p.Process.Query, Supervise: true, CountsOutput: true,
		Gate: []linux.SocketCall{{}}, // how many does not show
	}).Receipt
}

const shm = "dev/shm"

// withShm adds the directory that every Linux has.
type withShm struct{ fs.FS }

func (w withShm) Lstat(name string) (fs.FileInfo, error) {
	if name == shm {
		name = "."
	}
	return fs.Lstat(w.FS, name)
}

func (w withShm) ReadLink(name string) (string, error) { return fs.ReadLink(w.FS, name) }
