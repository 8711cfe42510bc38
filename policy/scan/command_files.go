package scan

import (
	"path"
	"strings"
)

func (c *command) tar() {
	args := append([]field{}, c.in.args...)
	if len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && args[0].text != "" {
		args[0].text = "-" + args[0].text
	}
	// Old style: options' values follow in order; "tar czf out.tgz dir" reads alike.
	const opts = "short -f:f --file:f -C:- --directory:- -X:r -T:list --files-from:list --exclude:- --exclude-from:r -I:code --use-compress-program:code --info-script:code --new-volume-script:code -F:code --rsh-command:code --rmt-command:code --transform:- -g:b --listed-incremental:b --index-file:w --volno-file:b --one-top-level?w --add-file:m --to-command:code --checkpoint-action:- -s:- --strip-components:- --create? --append? --list? --checkpoint? --update? --delete? --extract? --get? --remove-files? --to-stdout? --absolute-names? --owner:- --group:- --mode:- --format:- -b:- -K:- -N:- --newer:- --mtime:-"
	o := parseOptions(opts, args, 0)
	var file field
	given := false
	members := o.operands
	for _, v := range o.values {
		switch v.role {
		case "f":
			file, given = v.value, true
		case "m":
			members = append(members, v.value)
		default:
			if v.name == "--checkpoint-action" {
				if code, ok := strings.CutPrefix(v.value.text, "exec="); ok {
					v.value.text = code
					c.code("shell", v.value, c.in.pos)
				}
			}
			if v.role == "list" { // of members
				v.role = "r"
			}
			c.role(v.role, v.value, c.in.pos, "tar's option")
		}
	}
	if given && strings.Contains(file.text, ":") && file.exact && !o.has("--force-local") {
		c.host("network.client", field{text: strings.SplitN(file.text, ":", 2)[0], exact: true}, c.in.pos, "tar over the network")
		given = false
	}
	dir, hasDir := o.value("-C", "--directory")
	base := c.dir
	if hasDir {
		base = c.moved(dir)
	}
	do := func(a access, f field, d field) { c.path(a, f, d, c.in.pos, "tar's archive and members") }
	switch {
	case o.has("-c", "-r", "-u", "--create", "--append", "--update", "-A"):
		if given {
			do(writes, file, c.dir)
		}
		for _, f := range members {
			do(reads, f, base)
			c.searched(f, base)
		}
		if o.takes("list") {
			do(reads, field{}, base)
		}
		if o.has("--remove-files") {
			for _, f := range members {
				do(deletes, f, base)
			}
		}
	case o.has("--delete"):
		do(writes, file, c.dir)
	case o.has("-x", "--extract", "--get"):
		if given {
			do(reads, file, c.dir)
		}
		if o.has("-P", "--absolute-names") {
			do(writes, field{}, c.dir)
		}
		if o.has("-O", "--to-stdout") {
			return
		}
		if hasDir {
			do(reads|writes, dir, c.dir)
		} else {
			do(writes, literal("."), c.dir)
		}
	default:
		if given {
			do(reads, file, c.dir)
		}
	}
}

// remoteCopy reads scp and rsync: sources, then a destination, each local or
// "host:path".
func (c *command) remoteCopy() {
	ops := c.o.operands
	for i, f := range ops {
		host, _, ok := strings.Cut(f.text, ":")
		if strings.HasPrefix(f.text, "scp://") || strings.HasPrefix(f.text, "rsync://") || strings.HasPrefix(f.text, "sftp://") {
			c.reach("network.client", f)
			continue
		}
		if ok && !strings.Contains(host, "/") && host != "" {
			g := f
			g.text = host
			g.exact = !strings.Contains(host, "$") && !f.computed
			c.reach("network.client", g)
			continue
		}
		if !f.exact && f.text != "" && strings.HasPrefix(f.text, "$") && !strings.Contains(f.text, "/") && c.in.name == "scp" && len(ops) < 2 {
			continue
		}
		if i < len(ops)-1 || len(ops) == 1 && c.in.name == "rsync" {
			c.read(f)
			c.searched(f, c.dir)
			if c.o.has("--remove-source-files") {
				c.remove(f)
			}
			continue
		}
		if c.in.name == "rsync" {
			c.fill(f) // it compares
		} else {
			c.write(f)
		}
		for _, flag := range c.o.flags {
			if flag == "--del" || strings.HasPrefix(flag, "--delete") {
				c.remove(f)
				break
			}
		}
	}
}

// move reads mv: from the temporary directory, which is another file system to runs, it
// deletes the file that it replaces.
func (c *command) move() {
	if ops := c.o.operands; len(ops) == 2 && ops[0].temp {
		if p, exact := c.env.target(ops[1], c.dir); !exact || p != "." && !strings.HasSuffix(ops[1].text, "/") && (c.env.FS == nil || !c.env.directory(p)) {
			c.remove(ops[1])
		}
	}
}

// compress reads gzip and its like: F becomes F.gz.
func (c *command) compress() {
	ending := c.row.Lang
	back := c.o.has("-d", "--decompress", "--uncompress") || strings.Contains(c.in.name, "un")
	for _, f := range c.o.operands {
		c.read(f)
		if c.o.has("-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list") {
			continue
		}
		g := f
		if back {
			g.text = strings.TrimSuffix(f.text, ending)
			if strings.HasSuffix(f.text, ".tgz") {
				g.text = strings.TrimSuffix(f.text, ".tgz") + ".tar"
			}
		} else if !strings.HasSuffix(f.text, "/") && f.text != "." {
			g.text += ending
		}
		if _, ok := c.o.value("-o"); !ok {
			c.write(g)
		}
		if !c.o.has("-k", "--keep") && (c.in.name != "zstd" && c.in.name != "unzstd" || c.o.has("--rm")) {
			c.remove(f)
		}
	}
}

// dd reads "if=FILE of=FILE".
func (c *command) dd() {
	for _, f := range c.in.args {
		name := ""
		switch name, f.text, _ = strings.Cut(f.text, "="); name {
		case "if":
			c.read(f)
		case "of":
			c.write(f)
		}
	}
}

// outsideFiles reads "git diff --no-index" and its like: files outside of a work tree,
// of which git has no history.
func (c *command) outsideFiles() {
	for _, f := range c.o.operands {
		if strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "~") || strings.HasPrefix(f.text, "..") {
			c.read(f)
		}
	}
}

// qpdf reads the files named and writes the last.
func (c *command) qpdf() {
	args := c.o.operands
	for i, f := range args {
		switch {
		case i == len(args)-1 && len(args) > 1 && !c.o.has("--replace-input"):
			c.write(f)
		case strings.ContainsAny(f.text, "./$") || i == 0:
			c.read(f)
		}
	}
	if c.o.has("--replace-input") && len(args) > 0 {
		c.write(args[0])
	}
}

// pdftk reads what stands before the operation and writes what follows "output".
func (c *command) pdftk() {
	inputs := true
	for i, f := range c.in.args {
		switch f.text {
		case "cat", "burst", "dump_data", "fill_form", "rotate", "shuffle", "stamp", "background", "multistamp", "update_info", "generate_fdf", "dump_data_fields", "attach_files", "unpack_files":
			inputs = false
			if (f.text == "fill_form" || strings.HasSuffix(f.text, "stamp") || f.text == "background" || f.text == "update_info") && i+1 < len(c.in.args) {
				c.read(c.in.args[i+1])
			}
		case "output":
			if i+1 < len(c.in.args) {
				c.write(c.in.args[i+1])
			}
			return
		default:
			if inputs {
				if j := strings.IndexByte(f.text, '='); j >= 0 {
					f.text = f.text[j+1:]
				}
				c.read(f)
			}
		}
	}
}

// rclone reads the local ends of a copy; those with a colon are remote.
func (c *command) rclone() {
	ops := c.o.operands
	if len(ops) == 0 {
		return
	}
	verb := ops[0].text
	for i, f := range ops[1:] {
		if strings.Contains(f.text, ":") {
			continue
		}
		switch {
		case (verb == "copy" || verb == "sync" || verb == "move" || verb == "copyto" || verb == "moveto") && i == 1:
			c.write(f)
			if verb == "sync" {
				c.remove(f)
			}
		default:
			c.read(f)
			if strings.HasPrefix(verb, "move") {
				c.remove(f)
			}
		}
	}
}

// containerCopy reads the local end of "docker cp".
func (c *command) containerCopy() {
	for i, f := range c.o.operands {
		if i > 1 || strings.Contains(f.text, ":") {
			continue
		}
		if i == 0 {
			c.read(f)
			c.searched(f, c.dir)
		} else {
			c.write(f)
		}
	}
}

func (c *command) sips() {
	out, ok := field{}, false
	skip := 0
	var files []field
	for i, f := range c.in.args {
		if skip > 0 {
			skip--
			continue
		}
		switch f.text {
		case "--out", "-o":
			if i+1 < len(c.in.args) {
				out, ok, skip = c.in.args[i+1], true, 1
			}
		case "-z", "-c", "-p", "-s", "--resampleHeightWidth", "--setProperty":
			skip = 2
		case "-g", "-Z", "-r", "-f", "--getProperty", "--resampleHeightWidthMax", "--rotate", "--flip", "--resampleWidth", "--resampleHeight":
			skip = 1
		default:
			files = append(files, f)
		}
	}
	for _, f := range files {
		c.read(f)
		if !ok && !c.o.has("-g", "--getProperty") {
			c.write(f)
		}
	}
	if ok {
		c.write(out)
	}
}

func (c *command) ffmpeg() {
	format := ""
	for _, v := range c.o.values {
		if v.name == "-f" {
			format = v.value.text
		}
		if v.name != "-i" {
			continue
		}
		switch format {
		case "x11grab", "gdigrab", "kmsgrab":
			c.require("screen.capture", "", true)
		case "v4l2", "video4linux2", "dshow":
			c.require("camera.capture", v.value.text, v.value.exact)
		case "alsa", "pulse", "oss", "jack", "openal":
			c.require("microphone.record", "", true)
		case "avfoundation":
			if strings.HasPrefix(v.value.text, ":") {
				c.require("microphone.record", "", true)
			} else if strings.Contains(strings.ToLower(v.value.text), "screen") {
				c.require("screen.capture", "", true)
			} else {
				c.require("camera.capture", "", true)
			}
		case "lavfi":
		case "concat": // a list of files: beside it, or anywhere
			c.media(reads, v.value)
			listed := field{exact: v.value.exact, text: path.Dir(v.value.text)}
			if safe, ok := c.o.value("-safe"); ok && safe.text != "1" || strings.Contains(v.value.text, ":") {
				listed = field{}
			}
			c.path(reads, listed, c.dir, c.in.pos, "reads the files of a list")
		default:
			c.media(reads, v.value)
		}
		format = ""
	}
	for _, f := range c.o.operands {
		c.media(writes, f)
	}
}

func (c *command) media(do access, f field) {
	if strings.Contains(f.text, "://") && !strings.HasPrefix(f.text, "file:") {
		capability := "web.fetch"
		if do == writes {
			capability = "web.post"
		}
		if !strings.HasPrefix(f.text, "http") {
			capability = "network.client"
		}
		c.reach(capability, f)
		return
	}
	if list, ok := strings.CutPrefix(f.text, "concat:"); ok {
		for f.text = range strings.SplitSeq(list, "|") {
			c.media(do, f)
		}
		return
	}
	if strings.HasPrefix(f.text, "pipe:") {
		return
	}
	c.path(do, f, c.dir, c.in.pos, c.row.Reason)
}
