package scan

import (
	"sort"
	"strings"
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
