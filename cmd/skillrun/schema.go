package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"skillrun/policy"
)

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of a manifest",
		UsageText: "skillrun schema [json|toml]",
		Action: func(c *cli.Context) error {
			form := policy.JSON
			switch word := c.Args().First(); {
			case c.NArg() > 1:
				return usage(fmt.Errorf("schema: unexpected %s", quote(c.Args().Get(1))))
			case word == "toml":
				form = policy.TOML
			case word != "" && word != "json":
				return usage(fmt.Errorf("schema %s: json for skillguard-manifest.json, toml for skillrun.toml", quote(word)))
			}
			_, err := os.Stdout.Write(policy.Schema(form))
			return err
		},
	}
}
