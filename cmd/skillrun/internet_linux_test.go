package main_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"skillrun/sandbox/sandboxtest"
)

// internet is what a test finds outside: a name server and web servers, in a
// network namespace of the test's own in which every address is local.
type internet struct {
	names map[string]string
	pem   []byte            // of the CA
	files map[string][]byte // of the web servers, by path
	mu    sync.Mutex
	seen  []string
	news  chan struct{} // has an element when seen has grown
}

const (
	capNetBindService = 10
	capNetAdmin       = 12
	capNetRaw         = 13
	capSysAdmin       = 21
)

// unprivileged are the words before a command that take from it what the
// namespace's servers need.
func unprivileged() []string {
	if os.Geteuid() == 0 {
		return nil
	}
	return []string{"setpriv", "--ambient-caps=-all", "--inh-caps=-all"}
}

const ownInternet = "SKILLRUN_TEST_INTERNET"

// inOwnInternet runs the calling test again in a network namespace of its own,
// and says whether this is that one.
func inOwnInternet(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownInternet) != "" {
		for _, line := range []string{"link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"} {
			if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil && !strings.HasPrefix(line, "-6") {
				t.Fatalf("ip %s: %v: %s", line, err, out)
			}
		}
		return true
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.timeout=20m", "-test.parallel=4"}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), ownInternet+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{capNetBindService, capNetAdmin, capNetRaw, capSysAdmin}
	}
	if !ownNetwork() {
		sandboxtest.Skip(t, sandboxtest.Namespaces, "no network namespaces")
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		t.Errorf("%s", out)
	case err != nil:
		sandboxtest.Skip(t, sandboxtest.Machine, "%v", err)
	case testing.Verbose():
		t.Logf("%s", out)
	}
	return false
}

// newInternet serves names and, at every address, ports 53, 80 and 443.
func newInternet(t *testing.T, names map[string]string) *internet {
	w := &internet{names: names, files: map[string][]byte{}, news: make(chan struct{}, 1)}
	web := http.Server{Handler: w, ReadTimeout: time.Minute}
	certificate := w.certificate(t)
	for port, listen := range map[string]func(net.Listener) error{
		":80": web.Serve,
		":443": func(ln net.Listener) error {
			return web.Serve(tls.NewListener(ln, certificate))
		},
		":53": w.resolveTCP,
	} {
		ln, err := net.Listen("tcp", port)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		go listen(ln)
	}
	pc, err := net.ListenPacket("udp4", ":53")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	go w.resolve(pc.(*net.UDPConn))
	return w
}

func (w *internet) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, fmt.Sprintf(format, args...))
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// await gives what is lacking when all was noted, or after half a minute. What
// was noted stays for reached.
func (w *internet) await(wanted []string) (lacking []string) {
	end := time.After(30 * time.Second)
	for {
		w.mu.Lock()
		lacking = slices.DeleteFunc(slices.Clone(wanted), func(s string) bool { return noted(w.seen, s) })
		w.mu.Unlock()
		if len(lacking) == 0 {
			return nil
		}
		select {
		case <-w.news:
		case <-end:
			return lacking
		}
	}
}

// sink notes whatever comes: over TCP, as datagrams, and as packets of protocols
// that nobody here speaks.
func (w *internet) sink(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", ":7777")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go sandboxtest.Serve(ln, func(c net.Conn) {
		c.SetDeadline(time.Now().Add(time.Minute))
		buf := make([]byte, 4096)
		for {
			n, err := c.Read(buf)
			if n > 0 {
				w.note("stream at=%s %q", c.LocalAddr(), buf[:n])
			}
			if err != nil {
				return
			}
		}
	})
	for _, at := range [][2]string{{"udp", ":7777"}, {"udp", ":443"}, {"udp", ":5353"}, {"ip4:253", "0.0.0.0"}, {"ip6:253", "::"}, {"ip4:icmp", "0.0.0.0"}, {"ip4:136", "0.0.0.0"}} {
		pc, err := net.ListenPacket(at[0], at[1])
		if err != nil && !sandboxtest.MustHave(sandboxtest.Machine) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pc.Close() })
		go func() {
			buf := make([]byte, 4096)
			for {
				n, _, err := pc.ReadFrom(buf)
				if err != nil {
					return
				}
				w.note("%s %q", at[0], buf[:n])
			}
		}()
	}
}

// reached gives what the servers noted since the last call.
func (w *internet) reached() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen
	w.seen = nil
	return s
}

// ServeHTTP is every web server: files, bytes, or a line about the request.
func (w *internet) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	at := r.Context().Value(http.LocalAddrContextKey).(net.Addr).(*net.TCPAddr)
	w.note("host=%s at=%s target=%s", r.Host, at, r.RequestURI)
	rw.Header()["Date"] = nil // outputs are compared
	body, _ := io.Copy(io.Discard, r.Body)
	path := r.URL.Path
	if n, ok := strings.CutPrefix(path, "/bytes/"); ok {
		size, _ := strconv.Atoi(n)
		io.WriteString(rw, strings.Repeat("x", size))
		return
	}
	if host, ok := strings.CutPrefix(path, "/redirect/"); ok {
		http.Redirect(rw, r, "http://"+strings.ReplaceAll(host, "_", "-")+"/", http.StatusFound)
		return
	}
	if b, ok := w.files[path]; ok {
		if strings.HasPrefix(path, "/npm/") && !strings.HasSuffix(path, ".tgz") {
			rw.Header().Set("Content-Type", "application/json")
		} else if strings.HasPrefix(path, "/simple/") {
			rw.Header().Set("Content-Type", "text/html")
		}
		rw.Write(b)
		return
	}
	if strings.Contains(path, ".git/") || strings.HasPrefix(path, "/go/") {
		http.NotFound(rw, r)
		return
	}
	fmt.Fprintf(rw, "host=%s method=%s body=%d\n", r.Host, r.Method, body)
}

// resolve answers questions with the address that the caller asked.
func (w *internet) resolve(pc *net.UDPConn) {
	// The answer has to come from the address that was asked.
	raw, err := pc.SyscallConn()
	if err == nil {
		raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_PKTINFO, 1) })
	}
	buf, oob := make([]byte, 2000), make([]byte, 200)
	for {
		n, k, _, from, err := pc.ReadMsgUDP(buf, oob)
		if err != nil {
			return
		}
		reply := w.answer(buf[:n])
		// The control message of the question, its interface left open, is that
		// of the answer: source address in the place of the destination.
		if k >= 28 {
			copy(oob[16:20], []byte{0, 0, 0, 0})
			copy(oob[20:24], oob[24:28])
		}
		pc.WriteMsgUDP(reply, oob[:k], from)
	}
}

func (w *internet) resolveTCP(ln net.Listener) error {
	return sandboxtest.Serve(ln, func(c net.Conn) { sandboxtest.ServeDNS(c, w.answer) })
}

func (w *internet) answer(msg []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(msg) != nil || len(m.Questions) != 1 {
		w.note("no question %q", msg)
		return nil
	}
	q := m.Questions[0]
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	m = dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
	at := w.names[name]
	if _, domain, ok := strings.Cut(name, "."); ok && at == "" {
		at = w.names["*."+domain]
	}
	a, err := netip.ParseAddr(at)
	switch {
	case err != nil:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60}, Body: &dnsmessage.AResource{A: a.As4()}}}
	}
	w.note("asked %s", name)
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

// certificate makes a CA, and a certificate for all names.
func (w *internet) certificate(t *testing.T) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from, to := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: from, NotAfter: to, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for n := range w.names {
		leaf.DNSNames = append(leaf.DNSNames, n)
	}
	slices.Sort(leaf.DNSNames)
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	w.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leafDER}, PrivateKey: key}}, NextProtos: []string{"http/1.1"},
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			w.note("sni=%s at=%s", h.ServerName, h.Conn.LocalAddr())
			return nil, nil
		}}
}

// stock puts a git repository and packages of three ecosystems on the servers.
func (w *internet) stock(t *testing.T, dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-ec", `git init -q work; cd work; echo content >file; git add file
git -c user.name=n -c user.email=e commit -q -m m; git clone -q --bare . ../repo.git; cd ../repo.git; git update-server-info`)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("repository: %v\n%s", err, out)
	}
	root := os.DirFS(filepath.Join(dir, "repo.git"))
	fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, _ := fs.ReadFile(root, path)
			w.files["/repo.git/"+path] = b
		}
		return err
	})

	archive := func(files ...[2]string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, f := range files {
			e, _ := z.Create(f[0])
			io.WriteString(e, f[1])
		}
		z.Close()
		return b.Bytes()
	}
	const wheel = "nothing-1.2.3-py3-none-any.whl"
	w.files["/simple/nothing/"] = []byte(`<!DOCTYPE html><a href="/simple/nothing/` + wheel + `">` + wheel + `</a>`)
	w.files["/simple/nothing/"+wheel] = archive(
		[2]string{"nothing.py", "answer = 42\n"},
		[2]string{"nothing-1.2.3.dist-info/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1.2.3\n"},
		[2]string{"nothing-1.2.3.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		[2]string{"nothing-1.2.3.dist-info/RECORD", "nothing.py,,\nnothing-1.2.3.dist-info/METADATA,,\nnothing-1.2.3.dist-info/WHEEL,,\nnothing-1.2.3.dist-info/RECORD,,\n"})

	w.files["/go/ex.test/m/@v/list"] = []byte("v1.0.0\n")
	w.files["/go/ex.test/m/@v/v1.0.0.info"] = []byte(`{"Version":"v1.0.0"}`)
	w.files["/go/ex.test/m/@v/v1.0.0.mod"] = []byte("module ex.test/m\n")
	w.files["/go/ex.test/m/@v/v1.0.0.zip"] = archive([2]string{"ex.test/m@v1.0.0/go.mod", "module ex.test/m\n"}, [2]string{"ex.test/m@v1.0.0/m.go", "package m\n"})

	var tgz bytes.Buffer
	z := gzip.NewWriter(&tgz)
	pack := tar.NewWriter(z)
	for _, f := range [...][2]string{{"package/package.json", `{"name":"nothing","version":"1.2.3","main":"index.js"}`}, {"package/index.js", "module.exports = 42\n"}} {
		pack.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1]))})
		io.WriteString(pack, f[1])
	}
	pack.Close()
	z.Close()
	sum := sha512.Sum512(tgz.Bytes())
	w.files["/npm/nothing.tgz"] = tgz.Bytes()
	w.files["/npm/nothing"] = []byte(`{"name":"nothing","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3":{"name":"nothing","version":"1.2.3",` +
		`"dist":{"tarball":"http://good.example/npm/nothing.tgz","integrity":"sha512-` + base64.StdEncoding.EncodeToString(sum[:]) + `"}}}}`)
}
