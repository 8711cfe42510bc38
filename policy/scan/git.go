package scan

import (
	"slices"
	"strings"

	"skillrun/policy"
)

// gitAddress records what a repository's address needs: nothing for a
// directory, the host otherwise; a remote's name is inexact.
func (sh *shell) gitAddress(f field, in invocation, reason string) {
	t := f.text
	switch {
	case strings.HasPrefix(t, "http://") || strings.HasPrefix(t, "https://"):
		sh.host("web.fetch", f, in.pos, reason)
	case strings.HasPrefix(t, "ssh://") || strings.HasPrefix(t, "git://") || strings.HasPrefix(t, "git+ssh://"):
		sh.host("network.client", f, in.pos, reason)
	case strings.HasPrefix(t, "file://") || f.exact && (strings.HasPrefix(t, "/") || strings.HasPrefix(t, ".") || strings.HasPrefix(t, "~")):
		sh.path(reads, f, sh.dir, in.pos, reason)
	case strings.Contains(t, ":") && strings.Contains(t, "@"):
		f.text, _, _ = strings.Cut(t, ":")
		f.exact = f.exact || !strings.Contains(f.text, "$")
		sh.host("network.client", f, in.pos, reason)
	case strings.HasPrefix(t, "ext::"):
		f.text = strings.TrimPrefix(t, "ext::")
		sh.code("shell", f, in.pos, nil)
	default:
		sh.need("web.fetch", "", false, in.pos, reason)
	}
}

// clone reads "git clone ADDRESS [DIR]" and "gh repo clone OWNER/NAME [DIR]".
func (sh *shell) clone(r *commandRow, in invocation, o *options) {
	ops := o.operands
	if len(ops) == 0 {
		return
	}
	sh.need("commit.create", "", true, in.pos, r.Reason)
	address := ops[0]
	if r.Lang == "github" && !strings.Contains(address.text, ":") {
		sh.need("web.fetch", "github.com", true, in.pos, r.Reason)
	} else {
		sh.gitAddress(address, in, r.Reason)
	}
	if len(ops) > 1 && !(r.Lang == "github" && strings.HasPrefix(ops[1].text, "-")) {
		sh.path(writes, ops[1], sh.dir, in.pos, r.Reason)
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
	sh.path(writes, d, sh.dir, in.pos, r.Reason)
}

// remote reads fetch, pull and push: the remote is the first operand.
func (sh *shell) remote(r *commandRow, in invocation, o *options) {
	f := field{}
	if len(o.operands) > 0 && !o.has("--all", "--multiple") {
		f = o.operands[0]
	}
	if r.Lang == "push" {
		if v, ok := o.value("--repo"); ok {
			f = v
		}
		switch {
		case strings.Contains(f.text, "://"):
			h, exact := hostOf(f)
			sh.need("commit.push", h, exact, in.pos, r.Reason)
		case strings.Contains(f.text, ":") && strings.Contains(f.text, "@"):
			f.text, _, _ = strings.Cut(f.text, ":")
			h, exact := hostOf(f)
			sh.need("commit.push", h, exact, in.pos, r.Reason)
		default:
			sh.need("commit.push", f.text, false, in.pos, r.Reason)
		}
		return
	}
	sh.gitAddress(f, in, r.Reason)
}

// pathspec reads checkout, restore, reset and stash: what they change of the
// work tree is named after "--" or "." itself.
func (sh *shell) pathspec(r *commandRow, in invocation, o *options) {
	var spec []field
	found := false
	for i, f := range in.args {
		if f.text == "--" {
			spec, found = in.args[i+1:], true
			break
		}
	}
	switch r.Lang {
	case "restore":
		if o.has("--staged", "-S") && !o.has("--worktree", "-W") {
			return
		}
		if !found {
			spec = o.operands
		}
	case "checkout":
		if !found && !o.has("-b", "-B", "--orphan") && len(o.operands) > 1 {
			spec = o.operands[1:]
		}
		if !found && len(o.operands) == 1 && o.operands[0].exact && looksLikeFile(o.operands[0].text) {
			spec = o.operands
		}
	case "reset":
		if !o.has("--hard", "--merge", "--keep") {
			return
		}
	}
	if len(spec) == 0 {
		spec = []field{literal(".")}
	}
	for _, f := range spec {
		sh.path(writes, f, sh.dir, in.pos, r.Reason)
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
func (sh *shell) gitConfig(r *commandRow, in invocation, o *options) {
	ops := o.operands
	if len(ops) > 0 {
		switch ops[0].text {
		case "set", "unset", "remove-section", "rename-section", "edit":
			sh.setConfig(in, o, ops[1:])
			return
		case "get", "list":
			ops = nil
		}
	}
	if o.has("--unset", "--unset-all", "--add", "--replace-all", "-e", "--edit", "--remove-section", "--rename-section") || len(ops) > 1 && !o.has("--get", "--get-all", "--get-regexp", "-l", "--list") {
		sh.setConfig(in, o, ops)
		return
	}
	if v, ok := o.value("-f", "--file"); ok {
		sh.path(reads, v, sh.dir, in.pos, r.Reason)
		return
	}
	sh.need("commit.read", "", true, in.pos, "git config lists")
}

func (sh *shell) setConfig(in invocation, o *options, ops []field) {
	switch {
	case o.has("--global"):
		sh.path(writes, literal("~/.gitconfig"), sh.dir, in.pos, "git config --global writes the file")
	case o.has("--system"):
		sh.path(writes, literal("/etc/gitconfig"), sh.dir, in.pos, "git config --system writes the file")
	default:
		if v, ok := o.value("-f", "--file"); ok {
			sh.path(writes, v, sh.dir, in.pos, "git config --file writes the file")
		} else {
			sh.need("commit.create", "", true, in.pos, "git config sets")
		}
	}
	if len(ops) > 1 {
		sh.gitSetting(ops[0].text, ops[1], in.pos)
	}
}

// gitSetting reads a setting of git's for what it has git run.
func (sh *shell) gitSetting(key string, f field, pos policy.Pos) {
	key = strings.ToLower(key)
	section, rest, _ := strings.Cut(key, ".")
	last := key[strings.LastIndexByte(key, '.')+1:]
	run := func() { sh.code("shell", f, pos, nil) }
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
	case key == "core.sshcommand", key == "core.fsmonitor", key == "core.askpass", key == "core.gitproxy", key == "diff.external", key == "interactive.difffilter", key == "uploadpack.packobjectshook",
		section == "gpg" && last == "program", section == "filter" && (last == "clean" || last == "smudge" || last == "process"),
		section == "diff" && (last == "command" || last == "textconv"), section == "merge" && last == "driver", last == "cmd", section == "trailer" && last == "command",
		section == "remote" && (last == "uploadpack" || last == "receivepack" || last == "vcs"), section == "sendemail" && strings.HasSuffix(last, "cmd"):
		run()
	case section == "include" || section == "includeif":
		sh.opaque(pos, "git reads settings of a file")
	case last == "proxy" || section == "url":
		f.text = strings.TrimSuffix(strings.TrimPrefix(rest, "url."), "."+last)
		if last == "proxy" || !strings.Contains(f.text, ":") {
			f = field{}
		}
		sh.host("network.client", f, pos, "git goes by it")
	}
}
