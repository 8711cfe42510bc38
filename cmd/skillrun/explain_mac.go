package main

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"skillrun/darwin/sbpl"
	"skillrun/policy"
	"skillrun/profiles"
)

// explainMac answers from the compiled policy, on any machine.
func explainMac(c *cli.Context, j *job, w io.Writer) error {
	m, err := j.onMac(c)
	if err != nil {
		return err
	}
	params := map[string]string{}
	for _, v := range m.policy.Params() {
		params[v.Name] = v.Value
	}
	compiled, err := sbpl.Parse(m.policy.Source(), params, m.facts.Release())
	if err != nil {
		return fmt.Errorf("read the compiled policy: %w", err)
	}
	x := &explanation{Writer: w, job: j, profile: m.profile, confirmed: m.profile, receipt: m.policy.Receipt}
	asked := false
	if name := c.String("path"); name != "" {
		asked = true
		access, ok := profiles.ParseAccess(c.String("access"))
		if !ok {
			return usage(fmt.Errorf("--access %s: letters of rwxcd", quote(c.String("access"))))
		}
		at, err := m.resolve(name)
		if err != nil {
			return err
		}
		for bit := profiles.Read; bit <= profiles.Execute; bit <<= 1 {
			if access&bit != 0 {
				if err := explainQuery(w, compiled, bit.Word()+" "+at, sbpl.Query{Operation: fileOperation(bit), Object: at}); err != nil {
					return err
				}
			}
		}
	}
	if host := withPort(c.String("host")); host != "" {
		asked = true
		what := "connect " + host
		if m.profile.Network.Mode == profiles.NetHosts {
			if err := x.host(host); err != nil {
				return err
			}
			host = "localhost:" + strconv.Itoa(int(m.facts.ProxyPort))
			what = "connect " + host + ", the gate that decides by name"
		}
		if err := explainQuery(w, compiled, what, sbpl.Query{Operation: "network-outbound", Object: "tcp:" + host}); err != nil {
			return err
		}
	}
	if name := c.String("env"); name != "" {
		asked = true
		x.env(name)
	}
	if !asked {
		if x.confirmed, err = m.job.confirmed(m.profile); err != nil {
			return err
		}
		x.all()
	}
	return nil
}

// resolve gives the spelling of a path that the Mac's kernel asks about.
func (m *mac) resolve(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = m.facts.Home + "/" + rest
	}
	if !strings.HasPrefix(name, "/") {
		name = path.Join(m.facts.Workspace, name)
	}
	return m.facts.Host().ResolvePrefix(name)
}

func fileOperation(a profiles.Access) string {
	switch a {
	case profiles.Read:
		return "file-read-data"
	case profiles.Write:
		return "file-write-data"
	case profiles.Create:
		return "file-write-create"
	case profiles.Delete:
		return "file-write-unlink"
	}
	return "process-exec*"
}

// explainQuery prints the policy's answer with the line that decides.
func explainQuery(w io.Writer, p *sbpl.Policy, what string, q sbpl.Query) error {
	a, err := sbpl.Evaluate(p, q)
	if err != nil {
		return err
	}
	word := "denied"
	if a.Allowed {
		word = "allowed"
	}
	fmt.Fprintf(w, "%s: %s\n", word, policy.Escape(what))
	if a.Line == 0 {
		fmt.Fprintln(w, "  rule:   built into Seatbelt")
		return nil
	}
	fmt.Fprintf(w, "  rule:   line %d of the policy: %s\n  origin: %s\n", a.Line, policy.Escape(a.Text), policy.Escape(a.Comment))
	return nil
}
