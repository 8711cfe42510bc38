package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"skillrun/sandbox/sandboxtest"
)

// client is a real program, in shell words; HOST is the name it goes to.
type client struct{ name, needs, script string }

var clients = []client{
	{"curl", "curl", `curl -sS http://HOST/a`},
	{"curl TLS", "curl", `curl -sS https://HOST/a`},
	{"curl keep-alive", "curl", `curl -sS http://HOST/a http://HOST/b`},
	{"curl upload", "curl", `head -c 200000 /dev/zero | curl -sS --data-binary @- http://HOST/a`},
	{"curl chunked upload", "curl", `head -c 200000 /dev/zero | curl -sS -T - http://HOST/a`},
	{"curl download", "curl", `curl -sS http://HOST/bytes/2000000 | cksum`},
	{"curl IPv4 only", "curl", `curl -4 -sS http://HOST/a`},
	{"wget", "wget", `wget -qO- http://HOST/a`},
	{"wget TLS", "wget", `wget -qO- --ca-certificate=ca.crt https://HOST/a`},
	{"python urllib", "python3", `python3 -c "import urllib.request as u; print(u.urlopen('http://HOST/a').read())"`},
	{"python urllib TLS", "python3", `python3 -c "import urllib.request as u; print(u.urlopen('https://HOST/a').read())"`},
	{"python http.client", "python3", `python3 -c "
import http.client
c = http.client.HTTPConnection('HOST')
for p in '/a', '/b':
    c.request('POST', p, b'body'); print(c.getresponse().read())"`},
	{"python asyncio", "python3", `python3 -c "
import asyncio
async def main():
    r, w = await asyncio.open_connection('HOST', 80)
    w.write(b'GET /a HTTP/1.0\r\nHost: HOST\r\n\r\n')
    print(await r.readuntil(b'body=0'))
asyncio.run(main())"`},
	{"python epoll before connect", "python3", `python3 -c "
import select, socket
a = socket.getaddrinfo('HOST', 80, socket.AF_INET, socket.SOCK_STREAM)[0][4]
s = socket.socket(); s.setblocking(False)
e = select.epoll(); e.register(s, select.EPOLLOUT)
s.connect_ex(a); print(e.poll(30) != [], s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), s.getpeername() == a)"`},
	{"python threads", "python3", `python3 -c "
import concurrent.futures as f, urllib.request as u
with f.ThreadPoolExecutor(20) as p: print(set(p.map(lambda i: u.urlopen('http://HOST/a').read(), range(100))))"`},
	{"node http", "node", `node -e "require('http').get('http://HOST/a', r => r.pipe(process.stdout))"`},
	{"node https", "node", `node -e "require('https').get('https://HOST/a', r => r.pipe(process.stdout))"`},
	{"node fetch", "node", `node -e "fetch('http://HOST/a').then(r => r.text()).then(console.log)"`},
	{"node net", "node", `node -e "const c = require('net').connect(80, 'HOST', () => c.write('GET /a HTTP/1.0\r\nHost: HOST\r\n\r\n')); c.on('data', d => { console.log(String(d)); c.destroy() })"`},
	{"node resolve4 (c-ares)", "node", `node -e "require('dns').resolve4('HOST', (e, a) => console.log(e, a))"`},
	{"node lookup", "node", `node -e "require('dns').lookup('HOST', {all: true}, (e, a) => console.log(e, a))"`},
	{"openssl s_client", "openssl", `printf 'GET /a HTTP/1.0\r\nHost: HOST\r\n\r\n' | openssl s_client -quiet -connect HOST:443 -servername HOST -verify_quiet 2>/dev/null | grep -a host=`},
	{"perl", "perl", `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("HOST:80") or die; print $s "GET /a HTTP/1.0\r\nHost: HOST\r\n\r\n"; while (<$s>) { print; last if /body=/ }'`},
	{"bash /dev/tcp", "bash", `bash -c 'exec 3<>/dev/tcp/HOST/80; printf "GET /a HTTP/1.0\r\nHost: HOST\r\n\r\n" >&3; head -c 60 <&3'`},
	{"getent", "getent", `getent ahosts HOST`},
	{"busybox", "busybox", `busybox wget -qO- http://HOST/a`},
	{"nc", "nc", `printf 'GET /a HTTP/1.0\r\nHost: HOST\r\n\r\n' | nc -w 30 HOST 80 | grep -a host=`},
	{"git clone", "git", `d=$(mktemp -d out.XXXXXX); git clone -q http://HOST/repo.git $d 2>&1 && cat $d/file`},
	{"git over https", "git", `GIT_SSL_CAINFO=$PWD/ca.crt git ls-remote https://HOST/repo.git HEAD`},
	{"pip install", "pip", `d=$(mktemp -d pip.XXXXXX); pip install -q --no-deps --no-cache-dir --no-compile --retries 0 --disable-pip-version-check --trusted-host HOST --index-url http://HOST/simple --target $d nothing 2>/dev/null; cat $d/nothing.py`},
	{"npm install", "npm", `d=$(mktemp -d npm.XXXXXX); cd $d && echo '{}' >package.json && npm install --silent --no-audit --no-fund --no-update-notifier --cache ./cache --fetch-retries 0 --registry http://HOST/npm nothing >/dev/null 2>&1; cat node_modules/nothing/index.js`},
	{"go mod download", "go", `d=$(mktemp -d mod.XXXXXX); cd $d && printf 'module x\n\nrequire ex.test/m v1.0.0\n' >go.mod &&
GOMODCACHE=$PWD/cache GOCACHE=$PWD/build GONOSUMDB=* GOFLAGS="-mod=mod -modcacherw" GOTOOLCHAIN=local GOPROXY=http://HOST/go go mod download ex.test/m; cat cache/ex.test/m@v1.0.0/m.go`},
	{"Go, its own resolver", "", `GODEBUG=netdns=go ./goclient HOST`},
	{"C, glibc", "", `./get HOST`},
	{"C, static glibc", "", `./get-static HOST`},
	{"C, static musl", "", `./get-musl HOST`},
	{"C, registered with epoll before connect", "", `./get HOST epoll`},
	{"C, thread exits during connect", "", `./get HOST thread`},
	{"C, 1000 connects under SIGALRM", "", `./get HOST alarm`},
}

// getSource is a client in C: as it is, with the connect registered with epoll
// before it begins, with the connect begun by a thread that ends at once, and a
// thousand times under a timer of 100 microseconds.
const getSource = `
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
static struct addrinfo *a;
static int begun;
static void *begin(void *p) { int s = *(int *)p; begun = connect(s, a->ai_addr, a->ai_addrlen) && errno != EINPROGRESS ? -1 : 1; return 0; }
static void tick(int n) { (void)n; }
static int wait_for(int s) {
	struct pollfd p = {.fd = s, .events = POLLOUT};
	int n, e = 0;
	socklen_t k = sizeof e;
	while ((n = poll(&p, 1, 30000)) < 0 && errno == EINTR) ;
	return n != 1 || getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &k) || e;
}
int main(int n, char **v) {
	const char *mode = n > 2 ? v[2] : "";
	struct addrinfo h = {.ai_socktype = SOCK_STREAM, .ai_family = AF_INET};
	if (getaddrinfo(v[1], "80", &h, &a)) return 1;
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (!strcmp(mode, "epoll")) {
		int e = epoll_create1(0);
		struct epoll_event ev = {.events = EPOLLOUT | EPOLLET};
		fcntl(s, F_SETFL, O_NONBLOCK);
		epoll_ctl(e, EPOLL_CTL_ADD, s, &ev);
		epoll_wait(e, &ev, 1, 0);
		connect(s, a->ai_addr, a->ai_addrlen);
		if (epoll_wait(e, &ev, 1, 30000) != 1) return 3;
		if (wait_for(s)) return 4;
		fcntl(s, F_SETFL, 0);
	} else if (!strcmp(mode, "thread")) {
		pthread_t t;
		fcntl(s, F_SETFL, O_NONBLOCK);
		pthread_create(&t, 0, begin, &s);
		pthread_join(t, 0);
		if (begun != 1 || wait_for(s)) return 5;
		fcntl(s, F_SETFL, 0);
	} else if (!strcmp(mode, "alarm")) {
		struct sigaction sa = {.sa_handler = tick, .sa_flags = SA_RESTART};
		struct itimerval every = {{0, 100}, {0, 100}};
		sigaction(SIGALRM, &sa, 0);
		setitimer(ITIMER_REAL, &every, 0);
		int good = 0;
		for (int i = 0; i < 1000; i++) {
			struct linger now = {1, 0};
			int c = socket(AF_INET, SOCK_STREAM, 0);
			if (connect(c, a->ai_addr, a->ai_addrlen) == 0 || ((errno == EINTR || errno == EINPROGRESS) && !wait_for(c))) good++;
			setsockopt(c, SOL_SOCKET, SO_LINGER, &now, sizeof now);
			close(c);
		}
		memset(&every, 0, sizeof every);
		setitimer(ITIMER_REAL, &every, 0);
		printf("%d connected\n", good);
		if (connect(s, a->ai_addr, a->ai_addrlen)) return 6;
	} else if (connect(s, a->ai_addr, a->ai_addrlen)) return 2;
	char b[300];
	int k = sprintf(b, "GET /a HTTP/1.0\r\nHost: %s\r\n\r\n", v[1]), got = 0;
	if (write(s, b, k) != k) return 7;
	while ((k = read(s, b + got, sizeof b - 1 - got)) > 0) got += k;
	b[got] = 0;
	char *line = strstr(b, "host=");
	if (line) fputs(line, stdout);
	return !line;
}
`

const clientManifest = `{"permissions": [
 {"capability": "external_api.call", "effect": "allow", "constraints": {"resource_scope": ["good.example"]}},
 {"capability": "shell.execute", "effect": "allow"}, {"capability": "source_code.execute", "effect": "allow"},
 {"capability": "filesystem.read", "effect": "allow", "constraints": {"workspace_only": true}},
 {"capability": "filesystem.write", "effect": "allow", "constraints": {"workspace_only": true}},
 {"capability": "filesystem.delete", "effect": "allow", "constraints": {"workspace_only": true}}]}`

// environment is where a run is made: an emulated one, or this machine's own.
type environment struct {
	name  string
	mode  string   // of the emulator; "" is none
	flags []string // of skillrun
}

// environments are those of the design that can be had here. As an ordinary
// user with namespaces, the tests run once more themselves.
func environments() []environment {
	list := []environment{{name: "namespaces"}}
	switch {
	case sandboxtest.Emulated() == "user": // the rest is root's to emulate
		return list
	case os.Geteuid() != 0:
		return append(list, environment{name: "no namespaces", flags: []string{"--namespaces", "off"}})
	}
	for _, mode := range []string{"nons", "docker", "docker,user"} {
		list = append(list, environment{name: mode, mode: mode})
	}
	return list
}

// site is a directory for each environment, in which a user of it can work.
type site struct {
	environment
	dir   string   // holds work, home, state, tmp, m.json
	outer []string // words that bring a command into the environment
	words []string // outer, and those that make it a run
}

// newSites makes a site for each environment, with the files of work in it.
func newSites(t *testing.T, manifest string, work map[string]string) []site {
	t.Helper()
	top, err := os.MkdirTemp("", "clients-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	run := func(words ...string) {
		t.Helper()
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", words, err, out)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list := environments()
	run("cp", self, filepath.Join(top, "skillrun"))
	if len(list) > 0 && list[len(list)-1].mode != "" {
		run("go", "build", "-o", filepath.Join(top, "emulate"), "skillrun/sandbox/sandboxtest/emulate")
	}
	run("chmod", "-R", "a+rX", top)
	var sites []site
	for i, e := range list {
		s := site{environment: e, dir: filepath.Join(top, strconv.Itoa(i))}
		for _, empty := range []string{"home", "state", "tmp", "work"} {
			if err := os.MkdirAll(filepath.Join(s.dir, empty), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range work {
			if err := os.WriteFile(filepath.Join(s.dir, "work", name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(s.dir, "m.json"), []byte(manifest), 0o644); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(e.mode, "user") {
			run("chown", "-R", "1000:1000", s.dir)
		}
		s.outer = unprivileged()
		if e.mode != "" {
			s.outer = []string{filepath.Join(top, "emulate"), e.mode, "env", "HOME=" + s.home()}
		}
		s.words = append(slices.Clip(s.outer), filepath.Join(top, "skillrun"), "--approve", "declared", "--manifest", filepath.Join(s.dir, "m.json"))
		s.words = append(append(s.words, e.flags...), "--")
		sites = append(sites, s)
	}
	return sites
}

func (s site) home() string { return filepath.Join(s.dir, "home") }

// start runs a shell script there, in a run or bare, and gives its output. The
// script has the files as descriptors from 3 on.
func (s site) start(t *testing.T, bare bool, script string, files ...*os.File) (stdout, stderr string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var words []string
	if !bare {
		words = s.words
	}
	words = append(slices.Clip(words), "sh", "-c", script)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = filepath.Join(s.dir, "work")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home(), "XDG_STATE_HOME=" + filepath.Join(s.dir, "state"), "TMPDIR=" + filepath.Join(s.dir, "tmp"), "LC_ALL=C"}
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	return out.String(), errs.String()
}

// TestClients runs programs bare, and in some of the environments under a manifest
// that names one host: that host gives the same output, another is not reached.
func TestClients(t *testing.T) {
	t.Parallel()
	if !inOwnInternet(t) {
		return
	}
	w := newInternet(t, map[string]string{"good.example": "93.184.216.34", "*.evil.example": "151.101.1.69"})
	dir := t.TempDir()
	w.stock(t, dir)
	work := map[string]string{"ca.crt": string(w.pem)}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	work["goclient"] = string(self)
	if err := os.WriteFile(filepath.Join(dir, "get.c"), []byte(getSource), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"gcc -O -o get get.c -pthread", "gcc -O -static -w -o get-static get.c -pthread", "musl-gcc -O -static -o get-musl get.c -pthread"} {
		f := strings.Fields(line)
		cmd := exec.Command(f[0], f[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil && sandboxtest.MustHave(sandboxtest.Machine) {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
		b, _ := os.ReadFile(filepath.Join(dir, f[slices.Index(f, "-o")+1]))
		work[f[slices.Index(f, "-o")+1]] = string(b)
	}
	sites := newSites(t, clientManifest, work)
	script := func(c client, host string) string {
		return "export SSL_CERT_FILE=$PWD/ca.crt CURL_CA_BUNDLE=$PWD/ca.crt NODE_EXTRA_CA_CERTS=$PWD/ca.crt\n" + strings.ReplaceAll(c.script, "HOST", host)
	}
	if sites[0].start(t, true, script(clients[0], "control.evil.example")); !noted(w.reached(), "host=control.evil.example") {
		t.Fatal("the other host is not reached from outside either")
	}
	t.Run("programs", func(t *testing.T) {
		for i, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				if c.needs != "" {
					sandboxtest.Program(t, c.needs)
				}
				bare, errs := sites[0].start(t, true, script(c, "good.example"))
				if bare == "" {
					sandboxtest.Skip(t, sandboxtest.Machine, "does not work outside either: %s", errs)
				}
				for k, s := range sites {
					// Each with namespaces and in one of the others; what takes long to start
					// there only, since an ordinary user has all of them with namespaces.
					slow := slices.Contains([]string{"node", "npm", "pip", "go"}, c.needs)
					if n := len(sites) - 1; n > 0 && (k == 0 && slow || k > 0 && k != 1+i%n) {
						continue
					}
					// Its own name for each, to tell by.
					other := script(c, fmt.Sprintf("c%de%d.evil.example", i, k))
					if got, errs := s.start(t, false, "(\n"+script(c, "good.example")+"\n)\n(\n"+other+"\n) >/dev/null 2>&1; echo tried >&2"); got != bare || !strings.Contains(errs, "tried") {
						t.Errorf("%s: outside %q, inside %q: %s", s.name, bare, got, errs)
					}
				}
			})
		}
	})
	if seen := w.reached(); noted(seen, "151.101.1.69") || noted(seen, "evil.example") {
		t.Errorf("reached %q", seen)
	}
}

func noted(notes []string, want string) bool {
	return slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s, want) })
}
