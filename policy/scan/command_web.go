package scan

import (
	"strings"

	"skillrun/policy"
)

func (c *command) curl() {
	post, get := false, c.o.has("-G", "--get", "-I", "--head")
	var urls []field
	urls = append(urls, c.o.operands...)
	var outDir string
	if v, ok := c.o.value("--output-dir"); ok {
		outDir = v.text + "/"
	}
	for _, v := range c.o.values {
		f := v.value
		switch v.role {
		case "proxy":
			c.host("network.client", f, c.in.pos, "curl goes by the proxy")
		case "method":
			switch strings.ToUpper(f.text) {
			case "GET", "HEAD", "OPTIONS":
				get = f.exact
			default:
				post = true
			}
		case "body": // whatever it looks like
			post = true
		case "data", "json", "query":
			post = post || v.role != "query"
			if name, ok := strings.CutPrefix(f.text, "%"); ok && v.role == "query" { // --variable %NAME
				name, _, _ = strings.Cut(name, "=")
				c.variable(name, c.in.pos)
			}
			c.role("at", f, c.in.pos, "curl sends the file")
			if v.name == "--data-urlencode" || v.role == "query" {
				if i := strings.IndexByte(f.text, '@'); i > 0 && !strings.Contains(f.text[:i], "=") {
					f.text = f.text[i:]
					c.role("at", f, c.in.pos, "curl sends the file")
				}
			}
		case "form":
			post = true
			if i := strings.Index(f.text, "="); i >= 0 && i+1 < len(f.text) && (f.text[i+1] == '@' || f.text[i+1] == '<') {
				g := f
				g.text, _, _ = strings.Cut(f.text[i+2:], ";")
				g.exact = f.exact || !strings.Contains(g.text, "$") && !f.computed
				for name := range strings.SplitSeq(g.text, ",") {
					g.text = strings.Trim(name, `"`)
					c.path(reads, g, c.dir, c.in.pos, "curl sends the file")
				}
			}
		case "upload":
			post = true
			c.path(reads, f, c.dir, c.in.pos, "curl sends the file")
		case "scheme":
			if strings.EqualFold(f.text, "file") {
				for _, u := range c.o.operands {
					c.read(u)
				}
			}
		case "out":
			f.text = outDir + f.text
			c.path(writes, f, c.dir, c.in.pos, "curl writes what it gets")
		case "url":
			urls = append(urls, f)
		}
	}
	capability := "web.fetch"
	if post && !get {
		capability = "web.post"
	}
	for _, u := range urls {
		c.url(capability, u, c.in.pos, "curl")
		if c.o.has("-O", "--remote-name", "--remote-name-all") {
			f := remoteName(u)
			if f.exact {
				f.text = outDir + f.text
			}
			c.path(writes, f, c.dir, c.in.pos, "curl -O writes the remote name")
		}
	}
	if f, ok := c.o.value("-K", "--config"); ok {
		if p := c.env.homely(f.text); !strings.HasPrefix(p, "~") && !strings.HasPrefix(p, "$HOME/") { // the user's own
			c.unknownAt(c.in.pos, "not read: options of curl in a file")
		}
		if len(urls) == 0 {
			c.need(capability, "", false, c.in.pos, "curl reads addresses from its configuration")
		}
	}
}

// url records what an address needs: the host, or the file of file://.
func (sh *shell) url(capability string, f field, pos policy.Pos, program string) {
	if len(f.text) > 5 && strings.EqualFold(f.text[:5], "file:") {
		f.text = f.text[5:]
		if rest, ok := strings.CutPrefix(f.text, "//"); ok {
			f.text = rest[max(0, strings.IndexByte(rest, '/')):]
		}
		sh.path(reads, f, sh.dir, pos, program+" reads the file")
		return
	}
	for _, scheme := range [...]string{"telnet://", "dict://", "ldap://", "gopher://", "smtp://", "smtps://", "imap://", "imaps://", "scp://", "sftp://", "mqtt://"} {
		if strings.HasPrefix(f.text, scheme) {
			capability = "network.client"
		}
	}
	// {a,b} of curl's own is expanded by the shell or quoted; several hosts.
	if strings.HasPrefix(f.text, "unix:") {
		return
	}
	sh.host(capability, f, pos, program+" connects to the host")
}

// remoteName is the last component of an address, without its query.
func remoteName(u field) field {
	t := u.text
	if i := strings.Index(t, "://"); i >= 0 {
		t = t[i+3:]
	}
	t, _, _ = strings.Cut(t, "?")
	t, _, _ = strings.Cut(t, "#")
	if !strings.Contains(t, "/") {
		return field{computed: true}
	}
	base := t[strings.LastIndexByte(t, '/')+1:]
	if base == "" {
		return literal("index.html")
	}
	return field{text: base, exact: u.exact || !strings.Contains(base, "$") && !u.computed}
}

func (c *command) wget() {
	capability := "web.fetch"
	var out, prefix field
	hasOut, hasPrefix := false, false
	for _, v := range c.o.values {
		switch v.role {
		case "out":
			out, hasOut = v.value, true
		case "prefix":
			prefix, hasPrefix = v.value, true
		case "post":
			capability = "web.post"
			if v.name == "--post-file" || v.name == "--body-file" {
				c.path(reads, v.value, c.dir, c.in.pos, "wget sends the file")
			}
		case "method":
			if m := strings.ToUpper(v.value.text); m != "GET" && m != "HEAD" {
				capability = "web.post"
			}
		}
	}
	urls := c.o.operands
	for _, u := range urls {
		c.url(capability, u, c.in.pos, "wget")
	}
	if _, ok := c.o.value("-i", "--input-file", "--input-metalink"); ok {
		urls = append(urls, field{})
		c.need(capability, "", false, c.in.pos, "wget reads addresses from a file")
	}
	switch {
	case c.o.has("--spider"):
	case hasOut:
		c.path(writes, out, c.dir, c.in.pos, "wget writes what it gets")
	case hasPrefix:
		c.path(writes, prefix, c.dir, c.in.pos, "wget writes what it gets")
	case c.o.has("-r", "-m", "--recursive", "--mirror"):
		for _, u := range urls {
			h, exact := hostOf(u)
			c.path(writes, field{text: h, exact: exact}, c.dir, c.in.pos, "wget writes a directory named as the host")
		}
	default:
		for _, u := range urls {
			c.path(writes, remoteName(u), c.dir, c.in.pos, "wget writes the remote name")
		}
	}
}

// httpie reads "http [METHOD] URL [ITEM...]".
func (c *command) httpie() {
	ops := c.o.operands
	if len(ops) == 0 {
		return
	}
	method := ""
	if m := strings.ToUpper(ops[0].text); m != "" && len(ops) > 1 && strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && !strings.Contains(ops[1].text, "=") {
		method, ops = m, ops[1:]
	}
	if len(ops) == 0 {
		return
	}
	items := ops[1:]
	body := false
	for _, f := range items {
		if strings.Contains(f.text, "==") || strings.Contains(f.text, ":") && !strings.Contains(f.text, "=") {
			continue
		}
		body = true
		for _, mark := range [...]string{"=@", ":=@", "@"} {
			if i := strings.Index(f.text, mark); i > 0 {
				f.text = f.text[i+len(mark):]
				c.path(reads, f, c.dir, c.in.pos, "http sends the file")
				break
			}
		}
	}
	capability := "web.fetch"
	if method == "" && (body || c.stdin.given) || method != "" && method != "GET" && method != "HEAD" && method != "OPTIONS" {
		capability = "web.post"
	}
	u := ops[0]
	if strings.HasPrefix(u.text, ":") {
		u.text = "localhost" + u.text
	}
	c.url(capability, u, c.in.pos, "http")
}

// database reads psql, mysql and their like: the host of an option, an address
// or none.
func (c *command) database() {
	if c.stdin.given {
		c.as("sql", c.stdin.text)
	}
	host, ok := c.o.value("-h", "--host", "--hostname")
	for _, f := range c.o.operands {
		if strings.Contains(f.text, "://") || strings.HasPrefix(f.text, "$") || strings.Contains(f.text, "host=") {
			if i := strings.Index(f.text, "host="); i >= 0 {
				f.text, _, _ = strings.Cut(f.text[i+5:], " ")
			}
			if ok { // psql prefers it to -h
				c.reach("network.client", f)
			} else {
				host, ok = f, true
			}
		}
	}
	for _, v := range c.o.values {
		if v.role == "url" && !ok {
			host, ok = v.value, true
		}
		if v.role == "conn" && !ok && (strings.Contains(v.value.text, "://") || strings.HasPrefix(v.value.text, "$")) {
			host, ok = v.value, true
		}
	}
	if !ok {
		c.require("network.client", "", false)
		return
	}
	port := field{}
	for _, v := range c.o.values { // the last counts
		if v.role == "port" {
			port = v.value
		}
	}
	c.reach("network.client", host.at(port))
}

// tcp reads a host and a port.
func (c *command) tcp() {
	if len(c.o.operands) > 0 {
		host := c.o.operands[0]
		if len(c.o.operands) > 1 {
			host = host.at(c.o.operands[1])
		}
		c.reach("network.client", host)
	}
}

func (c *command) aws() {
	// s3 cp, mv, sync: each end is s3:// or local.
	var local []int
	ops := c.o.operands
	for i, f := range ops {
		if i < 2 && !strings.HasPrefix(f.text, "s3://") && !strings.HasPrefix(f.text, "gs://") && !strings.HasPrefix(f.text, "r2://") {
			local = append(local, i)
		}
	}
	if len(ops) < 2 {
		return
	}
	for _, i := range local {
		f := ops[i]
		if !f.exact && strings.HasPrefix(f.text, "$") && len(local) == 2 && i == 1 {
			// One of the two is remote; an unknown one with a local source is it.
			continue
		}
		switch {
		case i == 0:
			c.read(f)
			if strings.HasSuffix(c.in.name, " mv") {
				c.remove(f)
			}
		default:
			c.write(f)
			if c.o.has("--delete", "-d") {
				c.remove(f)
			}
		}
	}
}

// pip reads what is installed: packages, or local directories, whose code runs.
func (c *command) pip() {
	install := func(f field) {
		t := f.text
		switch {
		case f.exact && (strings.HasPrefix(t, ".") || strings.HasPrefix(t, "/") || strings.HasPrefix(t, "~") || strings.HasSuffix(t, "/")):
			c.require("package.install", t, true)
			if i := strings.IndexByte(t, '['); i > 0 {
				f.text = t[:i]
			}
			if strings.HasSuffix(f.text, ".whl") || strings.HasSuffix(f.text, ".tar.gz") || strings.HasSuffix(f.text, ".tgz") || strings.HasSuffix(f.text, ".deb") || strings.HasSuffix(f.text, ".rpm") {
				c.read(f)
				return
			}
			c.path(executes, f, c.dir, c.in.pos, c.row.Reason)
		default:
			c.as("pkg", f)
		}
	}
	for _, f := range c.o.operands {
		install(f)
	}
	for _, v := range c.o.values {
		if v.role == "editable" {
			if f := &v.value; f.exact && !strings.Contains(f.text, "://") && !strings.ContainsAny(f.text[:min(1, len(f.text))], "./~") {
				f.text = "./" + f.text // never a name
			}
			install(v.value)
		}
	}
	if len(c.o.operands) == 0 {
		c.require("package.install", "", true)
	}
}

// goBuild reads the packages that go builds, tests or runs.
func (c *command) goBuild() {
	ops := c.o.operands
	if c.in.name == "go run" || c.in.name == "cargo run" {
		if len(ops) > 1 && !strings.HasSuffix(ops[0].text, ".go") {
			ops = ops[:1]
		} else {
			n := 0
			for n < len(ops) && strings.HasSuffix(ops[n].text, ".go") {
				n++
			}
			if n > 0 {
				ops = ops[:n]
			}
		}
	}
	if len(ops) == 0 {
		ops = []field{literal(".")}
	}
	for _, f := range ops {
		if host, _, _ := strings.Cut(f.text, "/"); f.exact && strings.Contains(f.text, "@") && strings.Contains(host, ".") && !strings.HasPrefix(f.text, ".") {
			c.need("package.install", unversioned(f.text), true, c.in.pos, "go gets the module")
			continue
		}
		if f.text == "..." {
			f.text = "."
		}
		c.as("xt", f)
	}
}
