package egress_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
	{"wget TLS", "wget", `wget -qO- --ca-certificate=$SSL_CERT_FILE https://HOST/a`},
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
s.connect_ex(a); print(e.poll(5) != [], s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), s.getpeername() == a)"`},
	{"python signals", "python3", `python3 -c "
import signal, socket
signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-4)
a = socket.getaddrinfo('HOST', 80, socket.AF_INET, socket.SOCK_STREAM)[0][4]
n = 0
for i in range(300):
    s = socket.create_connection(a); n += 1; s.close()
print(n)"`},
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
	{"git clone", "git", `rm -rf out && git clone -q http://HOST/repo.git out 2>&1 && cat out/file`},
	{"git over https", "git", `GIT_SSL_CAINFO=$SSL_CERT_FILE git ls-remote https://HOST/repo.git HEAD`},
	{"Go, its own resolver", "/proc/self/exe", `GODEBUG=netdns=go EGRESS_TEST_ROLE='client HOST' $EGRESS_TEST_BINARY`},
	{"pip", "pip", `pip index --no-input --retries 0 --disable-pip-version-check --trusted-host HOST --index-url http://HOST/simple versions nothing 2>/dev/null`},
	{"npm", "npm", `npm view --fetch-retries=0 --registry http://HOST/npm nothing version`},
	{"go proxy", "go", `GOFLAGS=-mod=mod GONOSUMDB=* GOTOOLCHAIN=local GOPROXY=http://HOST/go go list -m -versions ex.test/m`},
	{"static program", "gcc", `cat >$HOME/c.c <<'C' && gcc -static -w -o $HOME/c $HOME/c.c 2>/dev/null; $HOME/c HOST
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
int main(int n, char **v) {
	struct addrinfo h = {.ai_socktype = SOCK_STREAM, .ai_family = AF_INET}, *a;
	if (getaddrinfo(v[1], "80", &h, &a)) return 1;
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s, a->ai_addr, a->ai_addrlen)) return 2;
	char b[200]; int k = sprintf(b, "GET /a HTTP/1.0\r\nHost: %s\r\n\r\n", v[1]);
	write(s, b, k); k = read(s, b, 200); write(1, b, k); return 0;
}
C`},
}

// goClient is the Go program of the list: this binary, run with a host.
func goClient(host string) int {
	c, err := net.DialTimeout("tcp", net.JoinHostPort(host, "80"), 3*time.Second)
	if err != nil {
		return 1
	}
	c.SetDeadline(time.Now().Add(3 * time.Second))
	io.WriteString(c, "GET /a HTTP/1.0\r\nHost: "+host+"\r\n\r\n")
	b := make([]byte, 200)
	n, err := c.Read(b)
	os.Stdout.Write(b[:n])
	if err != nil {
		return 2
	}
	return 0
}

// repository makes a git repository with one commit, as files of a plain web
// server.
func repository(t *testing.T, dir string, files map[string][]byte) {
	script := `git init -q work && cd work && echo content >file && git add file &&
git -c user.name=n -c user.email=e commit -q -m m && git clone -q --bare . ../repo.git && cd ../repo.git && git update-server-info`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("no repository: %v\n%s", err, out)
		return
	}
	root := os.DirFS(filepath.Join(dir, "repo.git"))
	fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, _ := fs.ReadFile(root, path)
			files["/repo.git/"+path] = b
		}
		return err
	})
	files["/repo.git/info/refs?service=git-upload-pack"] = files["/repo.git/info/refs"]
}

// TestClients runs programs bare, and inside a run: an allowed host gives the
// same output, another gives nothing.
func TestClients(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	w := newWorld(t)
	w.serveNamesAt(t, ":53")
	n := rules()
	g, _ := newGate(t, n)
	run := newRun(t, g, n)
	home := t.TempDir()
	ca := filepath.Join(home, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.pem}), 0o600); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.files = map[string][]byte{
		"/simple/nothing/":      []byte(`<!DOCTYPE html><a href="nothing-1.2.3-py3-none-any.whl">nothing-1.2.3-py3-none-any.whl</a>`),
		"/npm/nothing":          []byte(`{"name":"nothing","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3":{"name":"nothing","version":"1.2.3"}}}`),
		"/go/ex.test/m/@v/list": []byte("v1.0.0\nv1.1.0\n"),
	}
	repository(t, home, w.files)
	w.mu.Unlock()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "EGRESS_TEST_BINARY=" + binary, inside + "=1",
		"SSL_CERT_FILE=" + ca, "CURL_CA_BUNDLE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca}
	start := func(in func(func()), script, host string) string {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(script, "HOST", host))
		cmd.Env, cmd.Dir = env, home
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var out bytes.Buffer
		cmd.Stdout = &out
		in(func() { err = cmd.Start() })
		if err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return out.String()
	}
	outside := locked()
	defer close(outside.do)
	ran := 0
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skip(err)
			}
			bare := start(outside.in, c.script, "good.example")
			if bare == "" {
				t.Skip("does not work outside either")
			}
			ran++
			w.reached()
			if got := start(run.in, c.script, "good.example"); got != bare {
				t.Errorf("outside %q, inside %q", bare, got)
			}
			if got := w.reached(); !strings.Contains(c.name, "resolve") && !strings.Contains(c.name, "lookup") && c.name != "getent" && !strings.Contains(c.name, "epoll") && !strings.Contains(c.name, "signals") && !noted(got, "host=good.example") {
				t.Errorf("reached %q", got)
			}
			start(run.in, c.script, "evil.example")
			if got := w.reached(); noted(got, "151.101.1.69") || noted(got, "evil.example") {
				t.Errorf("reached %q", got)
			}
		})
	}
	t.Logf("%d programs", ran)
}
