#: files
python3 - <<'X'
import os, pathlib, shutil, tempfile
p = pathlib.Path("d/e"); p.mkdir(parents=True); (p / "f").write_text("x"); os.replace(p / "f", p / "g"); shutil.copytree("d", "c"); print(sorted(str(x) for x in pathlib.Path(".").rglob("*")))
with tempfile.NamedTemporaryFile() as t: t.write(b"1"); t.flush(); print(os.path.getsize(t.name))
with tempfile.TemporaryDirectory() as t: open(t + "/x", "w").close(); print(os.listdir(t))
with tempfile.TemporaryFile() as t: t.write(b"1"); print(t.tell())
shutil.rmtree("d"); os.utime("c/e/g", (1, 2)); os.chmod("c/e/g", 0o600); os.truncate("c/e/g", 0); print(os.stat("c/e/g").st_size)
X
#: a file saved at one stroke
python3 - <<'X'
import os
for i in range(20):
    with open("f.tmp", "w") as f: f.write(str(i)); f.flush(); os.fsync(f.fileno())
    os.replace("f.tmp", "f")
print(open("f").read(), os.listdir("."))
X
#: imports and their cache
mkdir p; echo 'x = 1' > p/m.py; touch p/__init__.py; python3 -c 'import p.m; print(p.m.x)'; ls p/__pycache__ | wc -l | tr -d ' '
#: the standard library, compiled
mkdir l; cp /usr/lib/python3*/json/*.py l/; python3 -m compileall -q l && ls l/__pycache__ | wc -l | tr -d ' '
#: subprocesses
python3 -c 'import subprocess as s; print(s.check_output(["echo", "x"]), s.run("exit 3", shell=True).returncode, s.Popen(["cat"], stdin=s.PIPE, stdout=s.PIPE).communicate(b"in")[0])'
#: threads
python3 -c '
import threading, queue
q = queue.Queue(); t = [threading.Thread(target=q.put, args=(i,)) for i in range(50)]
[x.start() for x in t]; [x.join() for x in t]; print(sum(q.get() for _ in range(50)))'
#: multiprocessing, a pool
cat > m.py <<'X'
import multiprocessing as m
def f(x): return x * x
if __name__ == "__main__":
    with m.Pool(3) as p: print(p.map(f, range(10)))
X
python3 m.py
#: multiprocessing, spawned
cat > m.py <<'X'
import multiprocessing as m
def f(q): q.put("spawned")
if __name__ == "__main__":
    c = m.get_context("spawn"); q = c.Queue(); p = c.Process(target=f, args=(q,)); p.start(); print(q.get()); p.join(); print(p.exitcode)
X
python3 m.py
#: multiprocessing, forkserver
cat > m.py <<'X'
import multiprocessing as m
def f(c): c.send("served")
if __name__ == "__main__":
    x = m.get_context("forkserver"); a, b = x.Pipe(); p = x.Process(target=f, args=(b,)); p.start(); print(a.recv()); p.join()
X
python3 m.py
#: multiprocessing, a manager and shared memory
cat > m.py <<'X'
import multiprocessing as m
from multiprocessing import shared_memory
def f(d, n): d["x"] = 1; s = shared_memory.SharedMemory(n); s.buf[0] = 7; s.close()
if __name__ == "__main__":
    s = shared_memory.SharedMemory(create=True, size=10)
    with m.Manager() as g:
        d = g.dict(); p = m.Process(target=f, args=(d, s.name)); p.start(); p.join(); print(dict(d), s.buf[0])
    s.close(); s.unlink()
X
python3 m.py
#: multiprocessing, locks and values
cat > m.py <<'X'
import multiprocessing as m
def f(v, l):
    for _ in range(100):
        with l: v.value += 1
if __name__ == "__main__":
    v, l = m.Value("i", 0), m.Lock(); p = [m.Process(target=f, args=(v, l)) for _ in range(3)]; [x.start() for x in p]; [x.join() for x in p]; print(v.value)
X
python3 m.py
#: concurrent futures
cat > m.py <<'X'
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as e: print(list(e.map(abs, [-1, -2])))
    with ThreadPoolExecutor(2) as e: print(list(e.map(abs, [-3])))
X
python3 m.py
#: asyncio
python3 - <<'X'
import asyncio, sys
async def main():
    p = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE); print((await p.communicate())[0], p.returncode)
    print(await asyncio.gather(*[asyncio.sleep(0, i) for i in range(5)]))
    print(await asyncio.to_thread(lambda: "thread"))
asyncio.run(main())
X
#: asyncio, a unix socket of its own
python3 - <<'X'
import asyncio
async def serve(r, w): w.write(await r.readline()); await w.drain(); w.close()
async def main():
    s = await asyncio.start_unix_server(serve, "sock"); r, w = await asyncio.open_unix_connection("sock"); w.write(b"echo\n"); print(await r.readline()); w.close(); s.close()
asyncio.run(main())
X
#: sockets of its own
python3 - <<'X'
import array, os, socket
a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))
l = socket.socket(socket.AF_UNIX); l.bind("s"); l.listen(); c = socket.socket(socket.AF_UNIX); c.connect("s"); d, _ = l.accept()
r, w = os.pipe(); socket.send_fds(c, [b"fd"], [r]); m, fds, _, _ = socket.recv_fds(d, 10, 1); os.write(w, b"passed"); print(m, os.read(fds[0], 10)); print(l.getsockname())
X
#: loopback, granted flags=--grant=network.client
python3 - <<'X'
import http.server, threading, urllib.request
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"served")
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).read())
X
#: loopback, with one host named flags=--grant=network.client:host.example.test
python3 - <<'X'
import socket, threading
l = socket.create_server(("127.0.0.1", 0)); threading.Thread(target=lambda: l.accept()[0].sendall(b"mine")).start(); c = socket.create_connection(l.getsockname()); print(c.recv(10))
X
#: a pseudo-terminal
python3 - <<'X'
import os, pty
pid, fd = pty.fork()
if pid == 0: os.execvp("sh", ["sh", "-c", "test -t 0 && echo terminal; stty size > /dev/null; echo x > /dev/tty; echo by name > $(tty)"])
out = b""
try:
    while True: out += os.read(fd, 100)
except OSError: pass
print(out.split(), os.waitpid(pid, 0)[1])
X
#: a virtual environment
python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'; . v/bin/activate; python -c 'print("activated")'
#: signals and timers
python3 - <<'X'
import os, signal, time
signal.signal(signal.SIGALRM, lambda *a: print("alarm")); signal.setitimer(signal.ITIMER_REAL, .01); signal.pause()
signal.signal(signal.SIGTERM, lambda *a: print("term")); os.kill(os.getpid(), signal.SIGTERM)
pid = os.fork()
if pid == 0: signal.pause()
os.kill(pid, signal.SIGKILL); print(os.WTERMSIG(os.waitpid(pid, 0)[1]))
X
#: a process group
python3 - <<'X'
import os, signal, subprocess
p = subprocess.Popen(["sh", "-c", "sleep 100 & sleep 100"], start_new_session=True); os.killpg(p.pid, signal.SIGTERM); print(p.wait())
X
#: memory maps
python3 - <<'X'
import mmap
open("f", "wb").write(bytes(10000))
with open("f", "r+b") as f:
    m = mmap.mmap(f.fileno(), 0); m[0:3] = b"abc"; m.flush(); m.close()
print(open("f", "rb").read(3)); m = mmap.mmap(-1, 1 << 20); m[5] = 1; print(m[5])
X
#: memory files
python3 - <<'X'
import fcntl, mmap, os, socket, subprocess
try: os.memfd_create("x", 8)
except OSError: raise SystemExit # before Linux 6.3
d = os.memfd_create("pixels", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING); os.ftruncate(d, 1 << 16); fcntl.fcntl(d, 1033, 6) # neither shrunk nor grown
a, b = socket.socketpair(); socket.send_fds(a, [b"x"], [d]); other = socket.recv_fds(b, 1, 1)[1][0]
mmap.mmap(d, 1 << 16)[:2] = b"hi"; s = os.memfd_create("script", 0); os.write(s, b"echo memory\n")
print(mmap.mmap(other, 1 << 16)[:2], subprocess.run(["sh", "/proc/self/fd/%d" % s], pass_fds=[s], stdout=subprocess.PIPE).stdout)
X
#: large files and holes
python3 - <<'X'
import os
f = os.open("f", os.O_RDWR | os.O_CREAT); os.ftruncate(f, 1 << 30); os.pwrite(f, b"x", 1 << 29); print(os.fstat(f).st_size, os.pread(f, 1, 1 << 29)); os.posix_fallocate(f, 0, 4096); print(os.sendfile(os.open("g", os.O_WRONLY | os.O_CREAT), f, 0, 100)); os.copy_file_range(f, os.open("h", os.O_WRONLY | os.O_CREAT), 100)
X
#: extended attributes and links
python3 - <<'X'
import os
open("f", "w").close()
try: os.setxattr("f", "user.x", b"1"); print(os.getxattr("f", "user.x"))
except OSError as e: print(b"1") if e.errno == 95 else print(e)
os.link("f", "g"); os.symlink("f", "l"); print(os.path.realpath("l") == os.path.realpath("f"), os.stat("g").st_nlink); d = os.open(".", os.O_RDONLY); os.rename("g", "h", src_dir_fd=d, dst_dir_fd=d); os.unlink("h", dir_fd=d); print(sorted(os.listdir(d)))
X
#: logging to syslog
python3 -c 'import syslog; syslog.syslog("hello"); print("logged")'
#: unit tests
cat > test_x.py <<'X'
import unittest
class T(unittest.TestCase):
    def test_one(self): self.assertEqual(1, 1)
X
python3 -m unittest -q test_x 2>&1 | grep -c OK
#: a debugger's kind of program
python3 -c 'import faulthandler, sys, trace; faulthandler.enable(); print(sys.settrace(None))'; python3 -X importtime -c pass 2>/dev/null; echo 'print(1)' > x.py; echo c | python3 -m pdb x.py | grep -c '^1$\|(Pdb) 1'
#: random numbers, time zones, locales
python3 -c 'import secrets, zoneinfo, locale, time; print(len(secrets.token_bytes(8)), zoneinfo.ZoneInfo("UTC"), time.strftime("%Y", time.gmtime(0))); locale.setlocale(locale.LC_ALL, "C.UTF-8")'
