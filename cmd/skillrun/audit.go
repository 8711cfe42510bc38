package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"skillrun/audit"
)

func auditCommand() *cli.Command {
	return &cli.Command{
		Name:  "audit",
		Usage: "read the record of what was run, decided and granted",
		Subcommands: []*cli.Command{
			{Name: "show", Usage: "everything about one run, or the last ones", UsageText: "skillrun audit show [RUN]", Action: auditShow},
			{Name: "tail", Usage: "the last records, and with --follow those to come", Flags: []cli.Flag{
				&cli.IntFlag{Name: "n", Value: 20, Usage: "show the last `MANY` records"},
				&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "wait for more"},
			}, Action: wordless(auditTail)},
			{Name: "verify", Usage: "check the chain and name the first broken record", Action: wordless(auditVerify)},
			{Name: "explain", Usage: "why a run, or a call of an agent's tool, was allowed or not", UsageText: "skillrun audit explain RUN", Action: auditExplain},
			{Name: "sessions", Usage: "the agent sessions in the log", Action: wordless(auditSessions)},
		},
		Action: func(c *cli.Context) error {
			return usage(errors.New("audit: show, tail, verify, explain or sessions"))
		},
	}
}

func auditDir() (string, error) { return stateDir(thisHost()) }

func auditShow(c *cli.Context) error {
	if c.NArg() > 1 {
		return usage(errors.New("audit show: name one run"))
	}
	dir, err := auditDir()
	if err != nil {
		return err
	}
	if run := c.Args().First(); run != "" {
		x, err := audit.Explain(dir, run)
		if err != nil {
			return err
		}
		for _, line := range x.Lines() {
			fmt.Println(line)
		}
		return nil
	}
	_, err = printTail(dir, 20)
	return err
}

// printTail prints the last records and gives the number of the last one.
func printTail(dir string, n int) (last uint64, err error) {
	records, err := audit.Tail(dir, n)
	if err != nil {
		return 0, err
	}
	for _, r := range records {
		fmt.Println(r)
		last = r.Seq
	}
	return last, nil
}

func auditTail(c *cli.Context) error {
	dir, err := auditDir()
	if err != nil {
		return err
	}
	if c.Int("n") < 0 {
		return usage(fmt.Errorf("audit tail: -n %d: how many cannot be below 0", c.Int("n")))
	}
	last, err := printTail(dir, c.Int("n"))
	if err != nil || !c.Bool("follow") {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for r, err := range audit.Follow(ctx, dir, last, 200*time.Millisecond) {
		if err != nil {
			return err
		}
		fmt.Println(r)
	}
	return nil
}

func auditVerify(c *cli.Context) error {
	dir, err := auditDir()
	if err != nil {
		return err
	}
	report, err := audit.Verify(dir)
	if err != nil {
		return err
	}
	for _, b := range report.Breaks {
		fmt.Fprintln(os.Stderr, "skillrun: broken: "+audit.Escape(b.String()))
	}
	if !report.Whole() {
		return errors.New("the audit log is damaged; the first broken record is named above")
	}
	last := ""
	if report.Records > 0 {
		last = ", the last " + report.Hash.String()
	}
	fmt.Println("whole: " + strconv.FormatUint(report.Records, 10) + " records" + last)
	return nil
}

func auditExplain(c *cli.Context) error {
	if c.Args().Len() != 1 {
		return usage(errors.New("audit explain: name one run"))
	}
	dir, err := auditDir()
	if err != nil {
		return err
	}
	x, err := audit.Explain(dir, c.Args().First())
	if err != nil {
		return err
	}
	for _, line := range x.Why() {
		fmt.Println(line)
	}
	return nil
}

func auditSessions(c *cli.Context) error {
	dir, err := auditDir()
	if err != nil {
		return err
	}
	sessions, err := audit.Sessions(dir)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		fmt.Println(s)
	}
	return nil
}
