package scan

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrun/policy"
)

// uvRun reads the script or module of "uv run"; else a command follows.
func (c *command) uvRun() {
	for _, v := range c.o.values {
		if v.role == "module" {
			c.module(v.value, c.o.operands, c.in.pos)
			c.o.operands = nil
			return
		}
	}
	if len(c.o.operands) > 0 && strings.HasSuffix(c.o.operands[0].text, ".py") {
		c.runs(c.o.operands[0], c.in.pos, c.row.Reason, nil, called{lang: "python"})
		c.o.operands = nil
	}
}

// projects gives the program of the project, or of one above it, that npx and its like
// run without installing anything; "" if there is none.
func (c *command) projects(f field) string {
	if _, version, _ := strings.Cut(f.text, "@"); version != "" || !f.exact || strings.Contains(f.text, "/") || c.row.Lang != "node" || c.o.has("-p", "--package") {
		return ""
	}
	here, exact := c.env.target(literal("."), c.dir)
	if here = c.env.locate(here); !exact {
		return ""
	}
	for ; here != "" && here != "/"; here = c.env.locate(path.Dir(here)) {
		if at := here + "/node_modules/.bin/" + f.text; !c.env.installed(at) && c.env.found(at) != "" {
			return at
		}
	}
	return ""
}

func (c *command) sshKeygen() {
	f, ok := c.o.value("-f")
	switch {
	case c.o.has("-l", "-y", "-B", "-e"):
		if ok {
			c.read(f)
		} else {
			c.require("secrets.read", "~/.ssh", true)
		}
	case c.o.has("-R"):
		c.require("secrets.write", "~/.ssh/known_hosts", true)
	case c.o.has("-F"):
		c.require("secrets.read", "~/.ssh/known_hosts", true)
	case ok:
		p, exact := c.env.target(f, c.dir)
		c.require("secrets.write", p, exact)
	case !c.o.has("-A"):
		c.require("secrets.write", "~/.ssh", true)
	}
}

func (c *command) socat() {
	for _, f := range c.o.operands {
		kind, rest, _ := strings.Cut(f.text, ":")
		kind, _, _ = strings.Cut(kind, ",")
		g := f
		g.text, _, _ = strings.Cut(rest, ",")
		switch k := strings.ToUpper(kind); {
		case strings.Contains(k, "LISTEN"):
		case strings.HasPrefix(k, "PROXY"), strings.HasPrefix(k, "SOCKS"):
			g.text, _, _ = strings.Cut(g.text, ":")
			c.reach("network.client", g)
		case strings.HasPrefix(k, "TCP"), strings.HasPrefix(k, "UDP"), strings.HasPrefix(k, "OPENSSL"), strings.HasPrefix(k, "SSL"), strings.HasPrefix(k, "SCTP"):
			c.reach("network.client", g)
		case k == "EXEC" || k == "SYSTEM" || k == "SHELL":
			c.fed(g, c.in.pos)
		case k == "OPEN" || k == "FILE" || k == "GOPEN" || k == "CREATE" || strings.HasPrefix(k, "UNIX") || strings.HasPrefix(k, "PIPE") && rest != "":
			c.path(reads|writes, g, c.dir, c.in.pos, c.row.Reason)
		case rest == "" && strings.Contains(k, "/"): // is opened
			g.text = kind
			c.path(reads|writes, g, c.dir, c.in.pos, c.row.Reason)
		}
		if _, link, ok := strings.Cut(f.text, "link="); ok {
			g.text, _, _ = strings.Cut(link, ",")
			c.write(g)
		}
		if strings.Contains(f.text, "!!") {
			c.opaque(c.in.pos, "an address of two")
		}
	}
}

// fed reads a command whose input is what somebody sends.
func (sh *shell) fed(f field, pos policy.Pos) {
	c := sh.fork()
	c.stdin = input{given: true}
	c.code("shell", f, pos)
}

// packageScript reads "pnpm NAME" and "yarn NAME", which is a script or a program of the
// package, or a subcommand that the table does not have.
func (c *command) packageScript() {
	if len(c.o.operands) == 0 {
		return
	}
	c.path(executes, literal("."), c.dir, c.in.pos, c.row.Reason)
	switch name := c.o.operands[0].text; {
	case len(rowsOf(name)) > 0:
		c.run(c.o.operands, c.in.pos)
	case !strings.Contains(name, ":"): // which none of theirs has
		c.unknownAt(c.in.pos, "not in the table: "+c.in.name+" "+name)
	}
}

// workspace reads "yarn workspace NAME COMMAND".
func (c *command) workspace() {
	if len(c.o.operands) > 1 {
		c.table(invocation{"yarn", c.o.operands[1:], c.in.pos})
	}
}

func (c *command) dig() {
	seen := false
	for _, f := range c.o.operands {
		switch {
		case strings.HasPrefix(f.text, "@"):
			f.text = f.text[1:]
			c.reach("network.client", f)
		case strings.HasPrefix(f.text, "+"):
		case f.exact && !strings.ContainsAny(f.text, ".$") && strings.ToUpper(f.text) == f.text:
		case !seen || strings.Contains(f.text, "."):
			c.reach("network.client", f)
			seen = true
		}
	}
	if c.o.has("-f") { // of names
		c.require("network.client", "", false)
	}
}

// plainOfGdb are commands of gdb that call nothing; run and start have a shell read what follows.
const plainOfGdb = `^(?:thread apply (?:all|[\d ]+) )?(?:(?:b|break|bt|backtrace|c|cont|continue|delete|detach|disas|disassemble|down|finish|h|help|i|info|kill|l|list|n|next|ni|nexti|p|print|q|quit|s|si|show|step|stepi|tbreak|up|watch|where|x|set (?:confirm|disassembly-flavor|height|listsize|pagination|print|width))\b[^(|!\n]*|(?:f|frame|thread)(?: [\d.]+)?|(?:r|run|start|starti|set args)(?: [\w./ =-]*)?)$`

// commandOfGnuplot is what runs in place of a plot: "!CMD", a name that begins with "|" or "<",
// and statements, which may be cut short.
const commandOfGnuplot = `\x60|["']\s*[|<]|\\[0-7]|\bsystem\b|(?:^|[;{\n])\s*(?:!|(?:ca(?:ll?)?|ev\w*|l(?:o(?:ad?)?)?|sa(?:ve?)?|sh(?:e(?:ll?)?)?|sy\w*)(?:\s+[^\s=]|\s*(?:;|$)))`

// network reads what shows addresses and routes, or changes them.
func (c *command) network() {
	word := func(i int) string {
		if i < len(c.o.operands) {
			return c.o.operands[i].text
		}
		return ""
	}
	changes := false
	switch c.in.name {
	case "ip":
		changes = c.o.has("-b", "-batch") || !slices.Contains([]string{"", "g", "get", "help", "l", "list", "ls", "lst", "sh", "sho", "show"}, word(1)) && (word(1) != "s" || strings.HasPrefix(word(0), "l")) && !strings.HasPrefix(word(0), "mon")
	case "ip netns", "ip vrf": // "e" is "exec"
		changes = !slices.Contains([]string{"", "identify", "list", "pids", "show"}, word(0))
	case "ifconfig":
		changes = word(1) != ""
	case "route":
		changes = word(0) != "" && word(0) != "get"
	}
	if changes {
		c.require("network_policy.modify", "", true)
	}
}

// allSpaces reads "ip -all netns exec CMD", where no name is before the command.
func (c *command) allSpaces() {
	if args := c.in.args; len(args) > 0 && (strings.Contains(args[0].text, "/") || len(rowsOf(args[0].text)) > 0) {
		c.run(args, c.in.pos)
	}
}

// setArch reads "setarch [ARCH] [OPTIONS] CMD"; architectures have the same row.
func (c *command) setArch() {
	ops := c.o.operands
	if len(ops) > 1 && !ops[0].exact { // perhaps $(uname -m), perhaps a program
		c.opaque(c.in.pos, "the program is decided at run time")
		ops = parseOptions("", ops[1:], 1).operands
	}
	c.run(ops, c.in.pos)
}

// beside reads what writes its result beside what it is given, if it is named nothing.
func (c *command) beside() {
	if ops := c.o.operands; len(ops) == 1 {
		f := ops[0]
		f.text = strings.TrimSuffix(f.text, path.Ext(f.text)) + c.row.Lang
		c.write(f)
	}
}

func (c *command) getent() {
	if len(c.in.args) > 1 && (c.in.args[0].text == "hosts" || c.in.args[0].text == "ahosts") {
		c.reach("network.client", c.in.args[1])
	} else if len(c.in.args) > 0 && c.in.args[0].text == "shadow" {
		c.require("secrets.read", "/etc/shadow", true)
	}
}

// opener reads "xdg-open" and its like: an address, or a file for its program.
func (c *command) opener() {
	if len(c.o.operands) == 0 {
		c.require("screen.interact", "", true)
	}
	for _, f := range c.o.operands {
		if strings.Contains(f.text, "://") && !strings.HasPrefix(f.text, "file:") || !f.exact && f.text == "" {
			c.reach("web.interact", f)
			continue
		}
		c.require("screen.interact", f.text, f.exact)
		c.read(f)
	}
}

func (c *command) service() {
	if len(c.o.operands) > 1 {
		f := c.o.operands[0]
		switch c.o.operands[1].text {
		case "status":
			c.require("process.query", f.text, f.exact)
		case "stop":
			c.require("process.kill", f.text, f.exact)
		default:
			c.require("process.create", f.text, f.exact)
		}
	} else {
		c.require("process.query", "", true)
	}
}

// editorFiles reads vi and less: their files, and commands given as "+COMMAND".
func (c *command) editorFiles() {
	for _, f := range c.o.operands {
		if command, ok := strings.CutPrefix(f.text, "+"); ok {
			f.text = command
			c.editor(f, c.in.pos)
			continue
		}
		c.read(f)
		if c.row.Lang != "read" {
			c.write(f)
		}
	}
	if u, ok := c.o.value("-u"); ok && u.text != "NONE" && u.text != "NORC" && u.text != "DEFAULTS" {
		c.script(u, c.in.pos, "its settings are commands")
	}
	if c.stdin.given && c.row.Lang != "read" {
		c.opaque(c.in.pos, "commands of an editor on its standard input")
	}
}

// settings reads "set KEY VALUE", of which some keys name a program.
func (c *command) settings() {
	if ops := c.o.operands; len(ops) > 1 {
		switch key := ops[0].text[strings.LastIndexByte(ops[0].text, '.')+1:]; {
		case !ops[0].exact:
			c.opaque(c.in.pos, "the setting may name a program")
		case key == "browser", key == "credential_process", key == "editor", key == "pager":
			c.code("shell", ops[1], c.in.pos)
		}
	}
}

// printed are the commands of clouds that print secrets.
const printed = `\b(?:get-secret-value|get-parameters?(?:-by-path|-history)?|(?:get|print)-(?:access|identity|session)-token|get-login-password|assume-role[\w-]*|create-access-key|secrets? (?:download|show|view)|secrets? versions access|show-connection-string)\b|^az .*\bkeys list\b|^(?:heroku config(?::get)?|vercel env pull)(?: |$)`

// cloud reads commands of a service, which may print secrets.
func (c *command) cloud() {
	words := c.in.name
	for _, f := range c.o.operands {
		words += " " + f.text
	}
	c.spend(8 + len(words)/16)
	as, ok := c.o.value("-o", "--output", "--template")
	secret := strings.HasPrefix(words, "kubectl get ") && strings.Contains(words, "secret") && ok && as.text != "wide" && as.text != "name"
	if secret || pattern(printed).MatchString(words) {
		c.require("secrets.read", "", false)
	}
}

// miller reads mlr VERB ... then VERB ... FILES; the verbs put and filter have a program.
func (c *command) miller() {
	ops := c.o.operands
	for _, f := range ops {
		c.spend(8 + len(f.text)/16)
		if pattern(`\b(?:system|exec|os\w*)\s*\(|\b(?:tee|print\w*|emit\w*|dump)\b[^;]*[>|]|^split$`).MatchString(f.text) {
			c.opaque(c.in.pos, "a program that runs commands or writes files")
		}
	}
	for len(ops) > 0 {
		verb, opts, first := ops[0].text, "-f:- -r:- -n:- -g:-", ""
		switch verb {
		case "join":
			opts = "-f:r -j:- -l:- -r:- -i:- --lp:- --rp:- --prepipe:code --prepipex:code"
		case "nest":
			opts = "-f:- --evar:- --ivar:- --nested-fs:- --nested-ps:-"
		case "filter", "put":
			opts, first = "-f:rx -s:-", "-"
		case "tee":
			opts, first = "", "w"
		}
		of, rest, more := ops[1:], []field(nil), false
		if i := slices.IndexFunc(of, func(f field) bool { return f.text == "then" }); i >= 0 {
			of, rest, more = of[:i], of[i+1:], true
		}
		o := parseOptions(opts, of, 0)
		c.applyOptions(&o, c.row.Reason, c.in.pos)
		if first != "" && len(o.operands) > 0 && !o.takes("rx") {
			c.as(first, o.operands[0])
			o.operands = o.operands[1:]
		}
		if ops = rest; !more {
			c.o.operands = o.operands
			return
		}
	}
}

// yq leaves out the command for evaluating, which is what yq does without one.
func (c *command) yq() {
	if ops := c.o.operands; len(ops) > 0 && slices.Contains([]string{"e", "ea", "eval", "eval-all"}, ops[0].text) {
		c.o.operands = ops[1:]
	}
}

// office takes what runs a macro from the documents that LibreOffice is given.
func (c *command) office() {
	c.o.operands = slices.DeleteFunc(slices.Clone(c.o.operands), func(f field) bool {
		macro := pattern(`^(?:macro|service|slot|vnd\.sun\.star\.\w+):`).MatchString(f.text)
		if macro {
			c.opaque(c.in.pos, "a macro of LibreOffice")
		}
		return macro
	})
}

// npmSet reads "npm config set", whose settings may name programs.
func (c *command) npmSet() {
	if strings.HasSuffix(c.in.name, " set") || len(c.in.args) > 0 && c.in.args[0].text == "set" {
		c.write(literal("~/.npmrc"))
		for _, f := range c.in.args {
			if !f.exact || strings.Contains(f.text, "script-shell") || strings.Contains(f.text, "git") || strings.Contains(f.text, "editor") || strings.Contains(f.text, "viewer") {
				c.opaque(c.in.pos, "the setting names a program")
			}
		}
	}
}

// sqliteInput reads what sqlite3 gets on its standard input.
func (c *command) sqliteInput() {
	if c.stdin.given && len(c.o.operands) < 2 {
		c.sqlite(c.stdin.text, c.in.pos)
		if !c.stdin.literal {
			c.unknownAt(c.in.pos, "not read: commands on the standard input")
		}
	}
}

// nested reads skillrun itself: the command after "--"; flags before it may widen its rights.
func (c *command) nested() {
	for i, f := range c.in.args {
		if f.text == "--" {
			if i > 0 {
				c.require("policy.expand", "skillrun", true)
			}
			c.run(c.in.args[i+1:], c.in.pos)
			return
		}
	}
	if len(c.in.args) > 0 {
		c.require("policy.expand", "skillrun", true)
	}
}

// exiftool changes its files if a tag is set ("-TAG=VALUE") or copied.
func (c *command) exiftool() {
	do := reads
	for _, f := range c.in.args {
		if strings.HasPrefix(f.text, "-") && strings.ContainsAny(f.text, "=<") || strings.EqualFold(f.text, "-tagsFromFile") {
			do |= writes
		}
	}
	for _, f := range c.o.operands {
		c.path(do, f, c.dir, c.in.pos, c.row.Reason)
	}
}

// perl reads filters; other inline code is not read.
func (c *command) perl() {
	inline := false
	for _, v := range c.o.values {
		if v.role != "lang" {
			continue
		}
		inline = true
		code := v.value.text
		if c.spend(4 + len(code)/8); c.spent() {
			return
		}
		if strings.Contains(code, "ARGV") {
			code = pattern(handleARGV).ReplaceAllString(code, "$1")
		}
		filter := c.o.has("-n", "-p", "-a", "-F") // -a and -F imply -n
		for _, mark := range [...]string{"system", "exec", "open", "`", "qx", "unlink", "socket", "require", "use ", "eval", "do ", "rename", "mkdir", "/e", "|", "ARGV", "&{", "&$", "*{", "<\"", "<$"} {
			if strings.Contains(code, mark) && !(mark == "|" && !strings.Contains(code, "open")) && !(mark == "/e" && !evalFlag(code)) && !(mark == "do " && !strings.Contains(code, "do \"")) {
				filter = false
			}
		}
		if !filter || perlCalls(code) || c.o.has("-d") {
			c.opaque(c.in.pos, "inline perl")
		}
	}
	if !inline {
		c.interpreter()
		return
	}
	do := reads
	if c.o.has("-i") {
		do |= writes
	}
	for _, f := range c.o.operands {
		if name := strings.TrimSpace(f.text); strings.HasPrefix(name, "|") || strings.HasSuffix(name, "|") { // <> opens it so
			f.text = strings.Trim(name, "|")
			c.code("shell", f, c.in.pos)
			continue
		}
		c.path(do, f, c.dir, c.in.pos, c.row.Reason)
	}
	for _, v := range c.o.values {
		if (v.name == "-M" || v.name == "-m") && (!v.value.exact || strings.ContainsAny(v.value.text, "; (") || strings.HasPrefix(v.value.text, "lib=")) {
			c.opaque(c.in.pos, "inline perl")
		}
	}
}

// perlCalls says whether code may call a function that does something to files or
// processes, or evaluates what it puts in a text's place.
func perlCalls(code string) bool {
	if pattern(`\b(?:(?:sym)?link|kill|truncate|rmdir|ch(?:mod|own|dir|root)|utime|syscall|fork|dump|dbmopen|sysopen|opendir|glob)\b\s*(?:[("'$@\d]|q\b)`).MatchString(code) {
		return true
	}
	seen := [utf8.RuneSelf]bool{}
	for i := 0; i+1 < len(code); i++ {
		c := code[i+1]
		if code[i] != 's' || i > 0 && wordByte(code[i-1]) || c <= ' ' || wordByte(c) || c >= utf8.RuneSelf || seen[c] {
			continue
		}
		seen[c] = true
		if at := strings.IndexByte("([{<", c); at >= 0 {
			c = ")]}>"[at]
		}
		// The flags are what follows its end, not what follows that of a group.
		if regexp.MustCompile(regexp.QuoteMeta(string(rune(c))) + `[msixpodualngcr]*e[msixpodualngcer]*\s*(?:[;})]|$|(?:if|unless|for|foreach|while|until|and|or)\b)`).MatchString(code[i+2:]) {
			return true
		}
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// handleARGV is what programs do with the name of the file that they are at.
const handleARGV = `(^|[^$@])\$ARGV\s*(?:[^\s\w\[{-]|$)|\b(?:close|eof)\b[\s(]*ARGV\b`

// evalFlag says whether a substitution ends in a flag e.
func evalFlag(code string) bool {
	i := strings.LastIndexByte(code, '/')
	return i >= 0 && strings.Contains(strings.SplitN(code[i:], ";", 2)[0], "e")
}

// editor reads a command that an editor or a pager is given.
func (sh *shell) editor(f field, pos policy.Pos) {
	command := strings.TrimLeft(f.text, ": ")
	switch {
	case f.exact && strings.HasPrefix(command, "!"):
		f.text = strings.TrimLeft(command, "!")
		sh.code("shell", f, pos)
	case f.exact && strings.Trim(command, "0123456789$gGF") == "", f.exact && strings.HasPrefix(command, "/") && !strings.ContainsAny(command, "|\n"):
	case f.exact && (command == "q" || command == "q!" || command == "qa" || command == "qa!" || command == "qall" || command == "qall!" || command == "wq" || command == "wqa" || command == "x" || command == "xa" || command == "w"):
	default:
		sh.opaque(pos, "a command of the editor")
	}
}

// sqlite reads what sqlite3 or duckdb is told: statements, and commands of its own.
func (sh *shell) sqlite(f field, pos policy.Pos) {
	for line := range strings.Lines(f.text) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, own := range [...]string{".archive", ".backup", ".cd", ".clone", ".edit", ".excel", ".import", ".iotrace", ".load", ".log", ".once", ".open", ".output", ".read", ".restore", ".save", ".session", ".shell", ".system", ".testcase", ".trace", ".www"} {
			if len(word) > 2 && strings.HasPrefix(own, word) { // or cut short
				sh.opaque(pos, "the database's own command "+own)
			}
		}
	}
	sh.stated(f, sh.dir, pos)
}

// filesOfSQL are the places in statements of SQLite and DuckDB where texts name files,
// or addresses, and what is done with them; after "(" these may be computed.
var filesOfSQL = [...]struct {
	do     access
	places string
}{
	{reads, `\b(?:from|join)(?:\s|[[(])*`}, // or tables
	{reads, `\b(?:(?:read|sniff)_\w+|\w+_scan|glob|readfile)\s*\((?:\s|\[)*`},
	{reads, `\bimport\s+database\s*`},
	{reads | writes, `\battach\s+(?:database\s+)?(?:if\s+not\s+exists\s+)?`},
	{writes, `\b(?:copy\b[^;]*?\bto|vacuum\b[^;]*?\binto|export\s+database)\s*`},
	{writes, `\bwritefile\s*\(\s*`},
	{executes, `(?:^|;)\s*(?:force\s+)?(?:install|load)\s+`},
	{executes, `\bload_extension\s*\(\s*`},
}

// spaceOfSQL is what may stand between words: comments, too.
const spaceOfSQL = `(?:\s|/\*.*?\*/|--.*?\n)`

// stated records the files that statements name.
func (s *scan) stated(f, dir field, pos policy.Pos) {
	const reason = "the statement names it"
	if !strings.ContainsAny(f.text, `'"(`) {
		return
	}
	s.spend(16 + len(f.text)/4)
	for i, kind := range filesOfSQL {
		places := "(?is)(?:" + kind.places + `)((?:\s*,?\s*(?:'[^']*'|"[^"]*"))+)(\s*\|\|)?`
		if strings.Contains(kind.places, `\s*\(`) {
			places += `|` + kind.places + `[^ \t\r\n'"[]`
		}
		for _, m := range pattern(strings.ReplaceAll(places, `\s`, spaceOfSQL)).FindAllStringSubmatch(f.text, maxSteps) {
			if m[1] == "" {
				s.path(kind.do, field{}, dir, pos, reason)
			}
			for _, name := range pattern(`[^'",\s][^'"]*`).FindAllString(m[1], maxSteps) {
				g := field{text: name, exact: m[2] == "" && (f.exact || !f.computed && !strings.Contains(name, "$"))}
				scheme, _, remote := strings.Cut(name, "://")
				switch {
				case name == ":memory:", i == 0 && !strings.ContainsAny(name, "./*$"): // a table
				case strings.HasPrefix(scheme, "http") && remote && kind.do == writes:
					s.host("web.post", g, pos, reason)
				case strings.HasPrefix(scheme, "http") && remote:
					s.host("web.fetch", g, pos, reason)
				case remote: // s3, gcs, azure
					s.need("external_api.call", "", false, pos, reason)
				case kind.do == reads|writes && strings.ContainsAny(name, "=:"): // dbname=x, md:x
					s.need("network.client", "", false, pos, reason)
				default:
					s.path(kind.do, g, dir, pos, reason)
				}
			}
		}
	}
}

// makeVariables reads the variables that make is given, which programs get, too.
func (c *command) makeVariables() {
	for _, f := range c.o.operands {
		name, value, ok := strings.Cut(f.text, "=")
		if !ok {
			continue
		}
		name, f.text = strings.TrimRight(name, ":+?!"), value
		if name != "SHELL" {
			c.environ(name, f, c.in.pos)
			continue
		}
		word, _, _ := strings.Cut(value, " ")
		if dir, base := path.Split(word); !f.exact || dir != "" && !systemDir(path.Clean(dir)) || !strings.HasSuffix(base, "sh") {
			c.code("shell", f, c.in.pos)
		}
	}
}

func (c *command) kill() {
	zero := false
	var targets []field
	for i := 0; i < len(c.in.args); i++ {
		f := c.in.args[i]
		switch {
		case f.text == "-0":
			zero = true
		case f.text == "-l" || f.text == "-L":
			return
		case f.text == "-s" || f.text == "-n":
			if i+1 < len(c.in.args) && c.in.args[i+1].text == "0" {
				zero = true
			}
			i++
		case f.text == "--":
		case strings.HasPrefix(f.text, "-") && len(targets) == 0 && i == 0:
		default:
			targets = append(targets, f)
		}
	}
	if zero {
		c.need("process.query", "", true, c.in.pos, "kill -0 asks whether a process is there")
		return
	}
	if len(targets) == 0 {
		targets = []field{{}}
	}
	for _, f := range targets {
		c.need("process.kill", f.text, f.exact, c.in.pos, "signals the process")
	}
}

// keys reads "tmux send-keys": what is typed runs in the session.
func (c *command) keys() {
	target, _ := c.o.value("-t", "-p", "-S")
	c.need("repl.execute", target.text, target.exact, c.in.pos, "types into the session")
	var text alt
	for _, f := range c.o.operands {
		switch f.text {
		case "Enter", "C-m", "KPEnter", "C-c", "C-d", "Escape", "Space", "stuff":
			continue
		}
		text = append(text, f)
	}
	if len(text) > 0 {
		f := text.text()
		f.text = strings.TrimRight(f.text, "\r\n")
		c.code("shell", f, c.in.pos)
	}
}
