package scan

import (
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"skillrun/policy"
)

// Modules that need nothing by themselves and whose functions, as far as they
// need something, are in the table: the standard libraries, and what only
// calculates.
const (
	pythonModules = ` __future__ abc aiofiles argparse array ast asyncio atexit attr attrs base64 binascii bisect builtins bs4 bz2 calendar cmath codecs code collections colorama colorsys concurrent configparser contextlib contextvars copy copyreg csv ctypes cryptography dataclasses datetime dateutil decimal defusedxml difflib dis doctest email enum errno faulthandler filecmp fileinput fnmatch fractions ftplib functools gc getopt getpass gettext glob graphlib gzip hashlib heapq hmac html html5lib http imaplib importlib inspect io ipaddress itertools json jsonschema keyword linecache locale logging lxml lzma markdown marshal math matplotlib mimetypes mmap multiprocessing netrc networkx numbers numpy operator optparse os pandas pathlib pdb pickle pkgutil platform plistlib poplib pprint pty pydantic pygments queue quopri random re regex reportlab resource rich sched scipy secrets seaborn select selectors shlex shutil signal site six sklearn smtplib socket socketserver sqlite3 ssl stat statistics string stringprep struct subprocess symtable sympy sys sysconfig syslog tabulate tarfile telnetlib tempfile termios textwrap threading time timeit tkinter token tokenize toml tomli tomllib tomli_w tqdm trace traceback tracemalloc tty types typing typing_extensions unicodedata unittest urllib uuid venv warnings wave weakref webbrowser wsgiref xml xmlrpc yaml zipapp zipfile zipimport zlib zoneinfo click typer flask fastapi pytest jinja2 mock plotly chardet ujson orjson faker humanize pytz termcolor docopt fire openpyxl docx pptx PIL cv2 torch tensorflow transformers fitz pdfplumber pypdf PyPDF2 pymupdf shapely geopandas polars pyarrow `
	nodeModules   = ` assert async_hooks buffer bun child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls tty url util v8 vm wasi worker_threads zlib lodash underscore chalk commander yargs minimist uuid dayjs moment luxon semver yaml js-yaml csv-parse csv-stringify papaparse marked markdown-it cheerio jsdom ajv zod express koa fastify cors body-parser ora inquirer prompts debug ms nanoid immer react react-dom pptxgenjs docx exceljs xlsx pdf-lib pdfkit playwright puppeteer pdf-parse sharp jimp canvas archiver adm-zip jszip tar mathjs d3 ejs handlebars mustache pug nunjucks turndown sanitize-html iconv-lite picocolors kleur table colors figlet typescript `
)

// knownModule says whether the tables know what a module is for.
func knownModule(lang, module string) bool {
	list := pythonModules
	top, _, _ := strings.Cut(module, ".")
	if lang == "js:" {
		list = nodeModules
		top, _, _ = strings.Cut(module, "/")
		if strings.HasPrefix(module, "@types/") {
			return true
		}
	}
	if strings.Contains(list, " "+top+" ") {
		return true
	}
	prefix := lang + top
	i := sort.Search(len(callNames), func(i int) bool { return callNames[i].name >= prefix })
	for ; i < len(callNames) && strings.HasPrefix(callNames[i].name, prefix); i++ {
		rest := callNames[i].name[len(prefix):]
		if rest == "" || rest[0] == '.' || rest[0] == '/' || rest[0] == '(' || rest[0] == ':' {
			return true
		}
	}
	return false
}

// imports binds what an import names, and follows files of the same place.
func (r *reader) imports(n *node) {
	module := moduleName(n.text)
	for i := 0; i+1 < len(n.keys); i += 2 {
		name, alias := n.keys[i], n.keys[i+1]
		switch {
		case name == "" && alias == "": // import a.b
			top, _, _ := strings.Cut(module, ".")
			as, _, _ := strings.Cut(n.text, ".")
			r.bind(as, val{kind: valThing, qual: top})
		case name == "" || name == "default":
			r.bind(alias, val{kind: valThing, qual: module})
		case name == "*":
			r.bind("*"+module, val{kind: valThing, qual: module})
			r.star(module)
		default:
			r.bind(alias, r.attr(val{kind: valThing, qual: module}, name))
		}
	}
	r.native(n.text)
	r.imported(module, n.text)
	for i := 0; i+1 < len(n.keys); i += 2 {
		if r.python && n.keys[i] != "" && n.keys[i] != "*" {
			r.local(strings.TrimSuffix(n.text, ".") + "." + n.keys[i])
		}
	}
	r.local(n.text)
}

// star binds the names of "from os import *".
func (r *reader) star(module string) {
	prefix := "py:" + module + "."
	for _, c := range callNames {
		if rest, ok := strings.CutPrefix(c.name, prefix); ok && !strings.ContainsAny(rest, ".*(") {
			r.bind(rest, val{kind: valThing, qual: module + "." + rest})
		}
	}
}

// moduleName gives modules with several names one.
func moduleName(s string) string {
	s = strings.TrimPrefix(s, "node:")
	switch s {
	case "fs/promises", "fs-extra", "graceful-fs":
		return "fs"
	case "playwright-core", "playwright-chromium", "@playwright/test", "puppeteer-core":
		return "playwright"
	case "cPickle", "_pickle", "cloudpickle":
		return "pickle"
	case "bun":
		return "Bun"
	case "path/posix":
		return "path"
	}
	return s
}

// imported looks at modules that need something by being there.
func (r *reader) imported(module, as string) {
	if strings.HasPrefix(as, "http://") || strings.HasPrefix(as, "https://") {
		r.host("web.fetch", literal(as), r.pos, "imports code from the net")
		r.opaque(r.pos, "the code comes from the net")
		return
	}
	if !knownModule(r.lang(), module) && !r.beside(as) {
		r.unknownAt(r.pos, "not in the table: module "+policy.Escape(as))
	}
}

// beside says whether a module is a file of a place where local follows it.
func (r *reader) beside(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		return true
	}
	top, _, _ := strings.Cut(name, ".")
	if of := r.env.skill; r.python && of != nil {
		return slices.ContainsFunc([]string{path.Dir(r.place.file), "."}, func(dir string) bool {
			file := path.Join(dir, top)
			_, err := fs.Stat(of, file+".py")
			if err != nil {
				_, err = fs.Stat(of, file)
			}
			return err == nil
		})
	}
	if !r.python || r.env.FS == nil {
		return false
	}
	return slices.ContainsFunc(r.places(name), func(dir string) bool {
		return r.env.found(dir+"/"+top+".py") != "" || r.env.found(dir+"/"+top+"/__init__.py") != ""
	})
}

// places are the directories where a module is looked for: that of this file, that
// where code runs which is no file, and those that the text says.
func (r *reader) places(name string) (dirs []string) {
	if file := r.place.file; strings.HasPrefix(file, "/") {
		dirs = append(dirs, file[:strings.LastIndexByte(file, '/')])
	}
	if here, exact := r.env.target(literal("."), r.at); exact && r.place.line != 0 {
		dirs = append(dirs, here)
	}
	if r.python && !strings.HasPrefix(name, ".") {
		dirs = append(dirs, r.modules...)
	}
	r.spend(len(dirs))
	return dirs
}

// local follows a module that lies in one of its places.
func (r *reader) local(name string) {
	if r.env.FS == nil || r.quiet > 0 {
		return
	}
	if !r.python && strings.HasPrefix(name, "/") {
		if !r.followed(name) {
			r.unknownAt(r.pos, "not read: "+policy.Escape(name))
		}
		return
	}
	if !r.python && !strings.HasPrefix(name, ".") {
		return
	}
	if i := strings.LastIndexByte(name, '.'); r.python && strings.Trim(name[:max(i, 0)], ".") != "" {
		r.local(name[:i]) // the package, which is run first
	}
	dirs := r.places(name)
	for _, dir := range dirs {
		base := name
		if r.python {
			for strings.HasPrefix(base, ".") {
				base = base[1:]
				if strings.HasPrefix(base, ".") {
					dir = dir[:max(0, strings.LastIndexByte(dir, '/'))]
				}
			}
			base = strings.ReplaceAll(base, ".", "/")
		}
		if r.followed(dir + "/" + base) {
			return
		}
	}
	if !r.python && len(dirs) > 0 {
		r.unknownAt(r.pos, "not read: "+policy.Escape(name))
	}
}

// followed follows a module by its path without an ending. It is false if there is none.
func (r *reader) followed(base string) bool {
	tries, as := []string{base, base + ".js", base + ".mjs", base + ".cjs", base + ".ts", base + "/index.js", base + "/index.ts"}, called{lang: "javascript"}
	if r.python {
		tries, as.lang = []string{base + "/__init__.py", base + ".py"}, "python"
		if lib := r.env.library(base); lib != "" {
			r.unknownAt(r.pos, "not read: "+policy.Escape(lib))
		}
	} else if at := r.env.found(base + "/package.json"); at != "" {
		r.unknownAt(r.pos, "not read: what "+policy.Escape(at)+" names")
	}
	for _, t := range tries {
		if at := r.env.found(t); at != "" {
			if !strings.HasSuffix(at, ".json") && !r.follow(at, r.place, nil, as) {
				r.unknownAt(r.pos, "not read: "+policy.Escape(at))
			}
			return true
		}
	}
	return false
}
