package scan

import (
	"path"
	"slices"
	"strings"

	"skillrun/policy"
)

// gitAddress records what a repository's address needs: nothing for a
// directory, the host otherwise; a remote's name is inexact.
func (c *command) gitAddress(f field) {
	t := f.text
	switch {
	case strings.HasPrefix(t, "http://") || strings.HasPrefix(t, "https://"):
		c.reach("web.fetch", f)
	case strings.HasPrefix(t, "ssh://") || strings.HasPrefix(t, "git://") || strings.HasPrefix(t, "git+ssh://"):
		c.reach("network.client", f)
	case strings.HasPrefix(t, "file://") || f.exact && (strings.HasPrefix(t, "/") || strings.HasPrefix(t, ".") || strings.HasPrefix(t, "~")):
		c.read(f)
	case strings.HasPrefix(t, "ext::"):
		f.text = strings.TrimPrefix(t, "ext::")
		c.code("shell", f, c.in.pos)
	case strings.Contains(t, ":") && strings.Contains(t, "@"):
		f.text, _, _ = strings.Cut(t, ":")
		f.exact = f.exact || !strings.Contains(f.text, "$")
		c.reach("network.client", f)
	default:
		c.require("web.fetch", "", false)
	}
}

// elsewhere records what the repository of a directory outside of the roots has to be
// opened for ("git -C ../other log"): that of the roots needs no name.
func (c *command) elsewhere(capability string) {
	if c.env.FS == nil || !c.dir.exact || c.dir.text == "" || c.env.locate(c.dir.text) != "" {
		return
	}
	switch capability {
	case "commit.create":
		c.aside("filesystem.write", literal("."))
		fallthrough
	case "commit.read":
		c.aside("filesystem.read", literal("."))
	}
}

// clone reads "git clone ADDRESS [DIR]" and "gh repo clone OWNER/NAME [DIR]".
func (c *command) clone() {
	ops := c.o.operands
	if len(ops) == 0 {
		return
	}
	c.require("commit.create", "", true)
	address := ops[0]
	if c.row.Lang == "github" && !strings.Contains(address.text, ":") {
		c.require("web.fetch", "github.com", true)
	} else {
		c.gitAddress(address)
	}
	if len(ops) > 1 && !(c.row.Lang == "github" && strings.HasPrefix(ops[1].text, "-")) {
		c.fill(ops[1])
		return
	}
	name := strings.TrimSuffix(strings.TrimSuffix(address.text, "/"), ".git")
	if i := strings.LastIndexAny(name, "/:"); i >= 0 {
		name = name[i+1:]
	}
	d := field{text: name, exact: address.exact || !strings.Contains(name, "$") && !address.computed && name != ""}
	if strings.HasPrefix(name, "$") {
		d = field{}
	}
	c.fill(d)
}

// worktree reads "git worktree add DIR": by the last name of DIR the repository
// keeps where that is.
func (c *command) worktree() {
	if len(c.o.operands) == 0 || !c.o.operands[0].exact {
		return
	}
	name := path.Base(c.o.operands[0].text)
	if name == "." || name == ".." {
		return
	}
	for _, file := range [...]string{"commondir", "gitdir"} {
		c.aside("filesystem.write", literal(".git/worktrees/"+name+"/"+file))
	}
}

// remote reads fetch, pull, push and what asks a remote: that is the first operand.
func (c *command) remote() {
	if c.row.Lang == "show" && (len(c.o.operands) == 0 || c.o.has("-n")) {
		return
	}
	f := field{}
	if len(c.o.operands) > 0 && !c.o.has("--all", "--multiple") {
		f = c.o.operands[0]
	}
	if c.row.Lang == "push" {
		if c.o.has("-u", "--set-upstream") {
			c.aside("filesystem.write", literal(".git/config"))
		}
		if v, ok := c.o.value("--repo"); ok {
			f = v
		}
		switch {
		case strings.Contains(f.text, "://"):
			h, exact := hostOf(f)
			c.require("commit.push", h, exact)
		case strings.Contains(f.text, ":") && strings.Contains(f.text, "@"):
			f.text, _, _ = strings.Cut(f.text, ":")
			h, exact := hostOf(f)
			c.require("commit.push", h, exact)
		default:
			c.require("commit.push", f.text, false)
		}
		return
	}
	if !c.o.has("--all", "--multiple") {
		f = c.address(f)
	}
	c.gitAddress(f)
}

// address gives the address of a remote by its name, or the name where it is not known.
func (c *command) address(name field) field {
	dir := c.env.Dir
	if c.dir.text != "" {
		dir = c.env.locate(c.dir.text)
	}
	if c.env.Remote == nil || dir == "" || !c.dir.exact || !name.exact && name.text != "" {
		return name
	}
	address, known := c.env.Remote(dir, name.text)
	host, rest, colon := strings.Cut(address, ":")
	switch {
	case !known || strings.ContainsAny(host, "[]"):
		return name
	case !colon || strings.Contains(host, "/"):
		return literal("file://" + address)
	case !strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, ":"): // [USER@]HOST:PATH
		return literal("ssh://" + host + ":22")
	}
	return literal(address)
}

// pathspec reads checkout, restore, reset and stash: what they change of the
// work tree is named after "--" or "." itself.
func (c *command) pathspec() {
	var spec []field
	found := false
	for i, f := range c.in.args {
		if f.text == "--" {
			spec, found = c.in.args[i+1:], true
			break
		}
	}
	switch c.row.Lang {
	case "restore":
		if c.o.has("--staged", "-S") && !c.o.has("--worktree", "-W") {
			return
		}
		if !found {
			spec = c.o.operands
		}
	case "checkout":
		if !found && !c.o.has("-b", "-B", "--orphan") && len(c.o.operands) > 1 {
			spec = c.o.operands[1:]
		}
		if !found && len(c.o.operands) == 1 && c.o.operands[0].exact && looksLikeFile(c.o.operands[0].text) {
			spec = c.o.operands
		}
	case "reset":
		if !c.o.has("--hard", "--merge", "--keep") {
			return
		}
	}
	if len(spec) == 0 {
		spec = []field{literal(".")}
	}
	made := c.o.has("-b", "-B", "-c", "-C", "--orphan") && len(c.o.operands) == 0 // a branch, from here
	for _, f := range spec {
		c.write(f)
		if !made {
			c.aside("source_code.delete", f)
		}
	}
}

// revision records what is shown of a repository: "REV:PATH", with the path from its
// top, which may be here or above; a path; ":/PATH" and ":(MAGIC)PATH" as paths from
// the top. A revision, an object and a pattern are no paths that exist.
func (sh *shell) revision(f field) {
	sh.searched(f, sh.dir)
	i := strings.LastIndexByte(f.text, ':')
	if i < 0 {
		return
	}
	if f.text = f.text[i+1:]; strings.HasPrefix(f.text, "(") {
		_, f.text, _ = strings.Cut(f.text, ")")
	}
	if f.text = strings.TrimLeft(f.text, "/"); strings.HasPrefix(f.text, "./") || strings.HasPrefix(f.text, "../") {
		sh.searched(f, sh.dir)
		return
	}
	for range strings.Count(sh.env.Dir+"/"+sh.dir.text, "/") {
		sh.searched(f, sh.dir)
		f.text = "../" + f.text
	}
}

// looksLikeFile tells a path from the name of a branch, as far as one can.
func looksLikeFile(s string) bool {
	if s == "." || strings.HasPrefix(s, "./") || strings.HasSuffix(s, "/") {
		return true
	}
	base := s[strings.LastIndexByte(s, '/')+1:]
	i := strings.LastIndexByte(base, '.')
	return i > 0 && i < len(base)-1 && strings.Trim(base[i+1:], "0123456789") != "" && len(base)-i <= 5
}

// gitConfig reads "git config": listing, setting here, setting for the user.
func (c *command) gitConfig() {
	ops := c.o.operands
	if len(ops) > 0 {
		switch ops[0].text {
		case "set", "unset", "remove-section", "rename-section", "edit":
			c.setConfig(ops[1:])
			return
		case "get", "list":
			ops = nil
		}
	}
	if c.o.has("--unset", "--unset-all", "--add", "--replace-all", "-e", "--edit", "--remove-section", "--rename-section") || len(ops) > 1 && !c.o.has("--get", "--get-all", "--get-regexp", "-l", "--list") {
		c.setConfig(ops)
		return
	}
	if v, ok := c.o.value("-f", "--file"); ok {
		c.read(v)
		return
	}
	c.need("commit.read", "", true, c.in.pos, "git config lists")
}

func (c *command) setConfig(ops []field) {
	switch {
	case c.o.has("--global"):
		c.path(writes, literal("~/.gitconfig"), c.dir, c.in.pos, "git config --global writes the file")
	case c.o.has("--system"):
		c.path(writes, literal("/etc/gitconfig"), c.dir, c.in.pos, "git config --system writes the file")
	default:
		if v, ok := c.o.value("-f", "--file"); ok {
			c.path(writes, v, c.dir, c.in.pos, "git config --file writes the file")
		} else {
			c.need("commit.create", "", true, c.in.pos, "git config sets")
			c.aside("filesystem.write", literal(".git/config"))
		}
	}
	if len(ops) > 1 {
		c.gitSetting(ops[0].text, ops[1], c.in.pos)
	}
}

// gitSetting reads a setting of git's for what it has git run.
func (sh *shell) gitSetting(key string, f field, pos policy.Pos) {
	key = strings.ToLower(key)
	section, rest, _ := strings.Cut(key, ".")
	last := key[strings.LastIndexByte(key, '.')+1:]
	run := func() { sh.code("shell", f, pos) }
	switch {
	case key == "core.hookspath", key == "init.templatedir":
		sh.need("policy.install_hook", key, true, pos, "git runs hooks from there")
	case key == "core.fsmonitor" && (f.text == "true" || f.text == "false"):
	case section == "alias" || key == "credential.helper" || section == "credential" && last == "helper":
		if code, ok := strings.CutPrefix(f.text, "!"); ok {
			f.text = code
			run()
		} else if !f.exact || strings.ContainsAny(f.text, "/") {
			run()
		}
	case key == "core.pager", key == "core.editor", key == "sequence.editor", section == "pager":
		if !f.exact || !slices.Contains(plainViewers[:], f.text) && f.text != "false" {
			run()
		}
	case strings.HasSuffix(last, "command"), key == "core.fsmonitor", key == "core.askpass", key == "core.gitproxy", key == "diff.external", key == "interactive.difffilter", key == "uploadpack.packobjectshook",
		key == "gc.recentobjectshook", key == "imap.tunnel", key == "instaweb.httpd", section == "gpg" && last == "program", section == "filter" && (last == "clean" || last == "smudge" || last == "process"),
		section == "diff" && last == "textconv", section == "merge" && last == "driver", last == "cmd",
		section == "remote" && (last == "uploadpack" || last == "receivepack" || last == "vcs"), section == "sendemail" && strings.HasSuffix(last, "cmd"):
		run()
	case section == "submodule" && last == "update":
		if code, ok := strings.CutPrefix(f.text, "!"); ok {
			f.text = code
			run()
		}
	case last == "path" && section != "include" && section != "includeif", key == "sendemail.smtpserver": // of a tool; of a program, or a host
		sh.role("bin", f, pos, "git runs it")
	case section == "http" && (last == "cookiefile" || last == "sslcert" || last == "sslcainfo"):
		sh.role("r", f, pos, "git reads it")
	case section == "http" && last == "sslkey":
		sh.role("key", f, pos, "git reads it")
	case key == "core.worktree":
		sh.path(reads|writes, f, sh.dir, pos, "git works there")
	case section == "include" || section == "includeif":
		sh.opaque(pos, "git reads settings of a file")
	case last == "proxy" && f.exact && f.text == "": // none
	case last == "proxy" || section == "url":
		f.text = strings.TrimSuffix(strings.TrimPrefix(rest, "url."), "."+last)
		if last == "proxy" || !strings.Contains(f.text, ":") {
			f = field{}
		}
		sh.host("network.client", f, pos, "git goes by it")
	}
}
