package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/darwin"
	"skillrun/profiles"
)

var errNoLinux = errors.New("a plan for Linux is made on Linux; here: --platform all")

// planReceipt answers for the machine of --features, or some Linux.
func planReceipt(c *cli.Context, _ *job, p *profiles.Profile) (profiles.Receipt, []profiles.Denial, error) {
	f, err := readFeatures(c, someLinux)
	if err != nil {
		return nil, nil, err
	}
	return linuxReceipt(p, f, os.DirFS("/")), nil, nil
}

func printPlan(*cli.Context, *job, *profiles.Profile) error { return errNoLinux }

// diagnose applies the policy of an empty profile to a program that does
// nothing.
func diagnose() ([]check, any) {
	version, err := darwin.Version()
	facts := &darwin.Facts{OS: "darwin", Version: version, Home: "/private/var/empty", Tmp: "/private/tmp/skillrun"}
	release := check{"macos", err == nil && facts.Release() >= 13, "macOS " + version, "macOS 13 or later"}
	seatbelt := check{"seatbelt", false, "files, programs, network and services held by the kernel", ""}
	policy, err := darwin.Compile(&profiles.Profile{}, facts)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = darwin.Runner{}.Check(ctx, policy)
	}
	switch {
	case err == nil:
		seatbelt.ok = true
	case errors.Is(err, darwin.ErrSandboxed):
		seatbelt.fix = "run outside the other sandbox"
	default:
		seatbelt.fix = err.Error()
	}
	return []check{release, seatbelt}, facts
}

// limitsHere is for machines that runs have been tried on.
func limitsHere(any) []profiles.Clause { return nil }
