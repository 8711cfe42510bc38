package scan

import (
	"io/fs"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrun/policy"
)

// Hosts lists the hosts that the files of a skill name, sorted, each once: of
// addresses in text and of the calls of its scripts. Loopback, private and
// link-local addresses, bare names and what is not exact are left out. Files
// that cannot be read, are no text or lie in ".git" and "node_modules" count
// for nothing. all is false where there is more to read than a launch may wait for.
func Hosts(fsys fs.FS) (hosts []string, all bool) {
	found, names := map[string]bool{}, 0
	read, code, steps := 0, 0, 0
	all = true
	calls := func(lang, text string) {
		if code+len(text) > maxText || steps > 4*maxSteps {
			all = false
			return
		}
		s := newScan(Env{})
		s.source(lang, text, place{file: "script"})
		code += len(text)
		steps += s.steps + 64 // that is what an empty one costs
		calls(s.result(), found)
	}
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if names++; names > maxNames || read > maxHostText || len(found) > maxHosts {
			all = false
			return fs.SkipAll
		}
		if err != nil {
			return nil
		}
		if d.IsDir() {
			if base := path.Base(name); base == ".git" || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		env := Env{FS: fsys}
		text, ok := env.read(name)
		read += len(text)
		if !ok || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return nil
		}
		addresses(text, found)
		switch lang := language(name, text); {
		case path.Ext(name) == ".md" || path.Ext(name) == ".markdown":
			for _, b := range Blocks(text) {
				calls(b.Lang, b.Text)
			}
		case lang != "" && (path.Ext(name) != "" || strings.HasPrefix(text, "#!")):
			calls(lang, text)
		}
		return nil
	})
	return slices.Sorted(maps.Keys(found)), all && len(found) <= maxHosts
}

// Bounds of what is read for hosts, all files of a skill together; code is bounded as
// one text is.
const (
	maxNames    = 10_000   // files and directories
	maxHostText = 64 << 20 // bytes
	maxHosts    = 1000
)

// calls adds the hosts that a script connects to.
func calls(r Result, found map[string]bool) {
	for _, n := range r.Needs {
		group, _, _ := strings.Cut(n.Capability, ".")
		if n.Exact && (group == "web" || group == "network" || group == "external_api") {
			addHost(n.Target, found)
		}
	}
}

func addHost(name string, found map[string]bool) {
	if len(found) > maxHosts {
		return
	}
	host, _, fault := policy.ParseHost(name)
	if fault != "" || host == "*" || strings.Contains(host, "/") {
		return
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
			return
		}
	} else if !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") {
		return
	}
	found[host] = true
}

// addresses adds the hosts of the addresses in a text.
func addresses(text string, found map[string]bool) {
	for i := 0; ; {
		j := strings.Index(text[i:], "://")
		if j < 0 {
			return
		}
		at := i + j
		i = at + 3
		begin := at
		for begin > 0 && isLetter(text[begin-1]) && text[begin-1] < 0x80 {
			begin--
		}
		switch strings.ToLower(text[begin:at]) {
		case "http", "https", "ws", "wss", "ftp", "ssh", "git":
		default:
			continue
		}
		end := i
		for end < len(text) && (isLetter(text[end]) && text[end] < 0x80 || isDigit(text[end]) || strings.IndexByte(".-:@[]%*{}<>", text[end]) >= 0) {
			end++
		}
		host, exact := hostOf(literal(text[begin:at] + "://" + strings.TrimRight(text[i:end], ".:")))
		if exact && !strings.ContainsAny(host, "{}<>%*$[]") {
			addHost(host, found)
		}
	}
}

// Block is a fenced block of code in a Markdown text.
type Block struct {
	Lang string // "shell", "python" or "javascript"
	Text string
}

// Blocks lists the fenced blocks of a Markdown text that are in a language that
// the package reads.
func Blocks(src string) []Block {
	var list []Block
	var open *Block
	var body strings.Builder // of open
	fence := ""
	for _, line := range strings.SplitAfter(src, "\n") {
		t := strings.TrimSpace(line)
		if open == nil && fence == "" {
			for _, mark := range [...]string{"```", "~~~"} {
				if info, ok := strings.CutPrefix(t, mark); ok {
					fence = mark
					word := strings.ToLower(strings.Trim(strings.SplitN(strings.TrimLeft(info, "`~ {."), " ", 2)[0], "}"))
					if lang := blockLanguage(word); lang != "" {
						open = &Block{Lang: lang}
					}
				}
			}
			continue
		}
		if strings.HasPrefix(t, fence) {
			if open != nil {
				open.Text = body.String()
				list = append(list, *open)
				body.Reset()
			}
			open, fence = nil, ""
			continue
		}
		if open != nil {
			body.WriteString(strings.TrimPrefix(line, "$ "))
		}
	}
	if open != nil {
		open.Text = body.String()
		list = append(list, *open)
	}
	return list
}

func blockLanguage(word string) string {
	switch word {
	case "sh", "bash", "shell", "zsh", "console", "shellsession":
		return "shell"
	case "py", "python", "python3":
		return "python"
	case "js", "javascript", "ts", "typescript", "node", "mjs", "jsx", "tsx":
		return "javascript"
	}
	return ""
}
