package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"
)

// version is set by the linker: -X main.version=...
var version = "devel"

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Action: wordless(func(*cli.Context) error {
			_, err := fmt.Fprintf(os.Stdout, "skillrun %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		}),
	}
}
