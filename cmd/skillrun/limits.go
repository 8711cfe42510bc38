package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
	"skillrun/profiles"
)

// limitFlags are flags for the limits of a run. They are strings, so that one
// reader judges flags, files and variables alike.
func limitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "timeout", Usage: "end the run after `DURATION`, such as 90s"},
		&cli.StringFlag{Name: "memory", Usage: "let the run use at most `SIZE` of memory, such as 2GiB"},
		&cli.StringFlag{Name: "cpu", Usage: "let the run use at most `DURATION` of processor time, such as 10m"},
		&cli.StringFlag{Name: "processes", Usage: "let the run have at most `NUMBER` processes and threads at a time"},
		&cli.StringFlag{Name: "open-files", Usage: "let a process have at most `NUMBER` files open"},
		&cli.StringFlag{Name: "file-size", Usage: "let the run write no file larger than `SIZE`"},
		&cli.StringFlag{Name: "output-limit", Usage: "let the run write at most `SIZE` to stdout and stderr together, which then are pipes"},
	}
}

// parseLimits reads limits by the names of their flags; get gives "" for one
// that is not set.
func parseLimits(get func(flag string) (text, called string)) (l profiles.Limits, err error) {
	for _, f := range [...]struct {
		name string
		read func(string) (int64, string)
		to   func(int64)
	}{
		{"timeout", parseTime, func(n int64) { l.Wall = time.Duration(n) }},
		{"memory", policy.ParseSize, func(n int64) { l.Memory = n }},
		{"cpu", parseTime, func(n int64) { l.CPU = time.Duration(n) }},
		{"processes", parseCount, func(n int64) { l.Processes = n }},
		{"open-files", parseCount, func(n int64) { l.OpenFiles = n }},
		{"file-size", policy.ParseSize, func(n int64) { l.FileSize = n }},
		{"output-limit", policy.ParseSize, func(n int64) { l.Output = n }},
	} {
		text, called := get(f.name)
		if called == "" {
			continue
		}
		n, fault := f.read(text)
		if fault != "" {
			return l, usage(fmt.Errorf("%s: %s", called, fault))
		}
		f.to(n)
		// The limits before this one are fit, so the fault is its own.
		if err := l.Validate(); err != nil {
			return l, usage(fmt.Errorf("%s: %w", called, err))
		}
	}
	return l, nil
}

func parseTime(s string) (int64, string) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, quote(s) + " is not a time like 90s, 10m or 1h30m"
	case d <= 0:
		return 0, quote(s) + " is not positive"
	}
	return int64(d), ""
}

func parseCount(s string) (int64, string) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return 0, quote(s) + " is not a number"
	case n <= 0:
		return 0, quote(s) + " is not positive"
	case n > math.MaxInt32:
		return 0, quote(s) + " is out of range"
	}
	return n, ""
}

// flagLimits are those of the command line.
func flagLimits(c *cli.Context) (profiles.Limits, error) {
	return parseLimits(func(flag string) (string, string) {
		if !c.IsSet(flag) {
			return "", ""
		}
		return c.String(flag), "--" + flag
	})
}

// limitText is the limit that ended a run, with its unit.
func limitText(l *profiles.Limits, name string) string {
	switch name {
	case "memory":
		return fmt.Sprintf("%d bytes", l.Memory)
	case "cpu":
		return fmt.Sprintf("%v of processor time", l.CPU)
	case "processes":
		return fmt.Sprintf("%d processes and threads", l.Processes)
	case "file size":
		return fmt.Sprintf("%d bytes", l.FileSize)
	}
	return fmt.Sprintf("%d bytes", l.Output)
}
