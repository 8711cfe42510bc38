//go:build !linux && !darwin

package main

import (
	"errors"
	"runtime"

	"github.com/urfave/cli/v2"

	"skillrun/profiles"
)

var errNoBackEnd = errors.New("nothing can be enforced on " + runtime.GOOS)

func planReceipt(*cli.Context, *job, *profiles.Profile) (profiles.Receipt, []profiles.Denial, error) {
	return nil, nil, errNoBackEnd
}

func printPlan(*cli.Context, *job, *profiles.Profile) error { return errNoBackEnd }

func diagnose() ([]check, any) {
	return []check{{"back-end", false, "nothing can be enforced on " + runtime.GOOS, ""}}, nil
}

// limitsHere is for machines that runs have been tried on.
func limitsHere(any) []profiles.Clause { return nil }
