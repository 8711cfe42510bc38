#: memory of one process flags=--memory=256MiB
b = bytearray(400 << 20); time.sleep(3); got("400 MiB") # for a moment it may be had
#: memory by mapping flags=--memory=256MiB
m = mmap.mmap(-1, 400 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); m[::4096] = b"x" * len(m[::4096]); time.sleep(3); got("400 MiB")
#: memory of many processes flags=--memory=256MiB
def hold():
    b = bytearray(100 << 20); b[::4096] = b"x" * len(b[::4096]); w.send(b"x"); time.sleep(20)
r, w = socket.socketpair(); kids = []
for _ in range(5):
    pid = os.fork()
    if pid == 0:
        try: hold()
        finally: os._exit(0)
    kids.append(pid)
r.settimeout(4); n = 0
try:
    while n < 5: n += len(r.recv(5))
    time.sleep(3)
except OSError: pass
for k in kids:
    try: os.kill(k, 9)
    except OSError: pass
if n == 5: got("500 MiB in five processes")
#: processor time flags=--cpu=1s
end = time.process_time() + 2.5
while time.process_time() < end: pass
got("2.5 s of processor time")
#: processor time of a child flags=--cpu=1s
def spin():
    end = time.process_time() + 2.5
    while time.process_time() < end: pass
if child(spin) == 0: got("2.5 s of processor time")
#: time flags=--timeout=5s
time.sleep(8); got("8 s") # on a busy machine some are gone before it begins
#: time of a daemon flags=--timeout=5s
if os.fork() == 0:
    os.setsid(); time.sleep(8); put("late-" + MARK); got("8 s"); os._exit(0)
time.sleep(9)
#: processes flags=--processes=20
n = 0
try:
    for n in range(60):
        if os.fork() == 0: time.sleep(20); os._exit(0)
    time.sleep(3); got("60 processes") # more for a moment may be
except OSError: pass
#: threads flags=--processes=20
stop = threading.Event()
try:
    for n in range(60): threading.Thread(target=stop.wait, args=(20,), daemon=True).start()
    time.sleep(3); got("60 threads")
except RuntimeError: pass
stop.set()
#: open files flags=--open-files=64
f = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]; got("200 files")
#: open files, limit raised flags=--open-files=64
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300)); f = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]; got("200 files")
#: size of a file flags=--file-size=1MiB
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("big", "wb", buffering=0) as f:
    for _ in range(4): f.write(bytes(1 << 20))
if os.path.getsize("big") > 2 << 20: got("a file of 4 MiB")
#: size of a file, by fallocate flags=--file-size=1MiB
call("fallocate", os.open("big", os.O_RDWR | os.O_CREAT, 0o600), 0, 0, 4 << 20); got("a file of 4 MiB")
#: size of a file, by room that is put into it flags=--file-size=1MiB control=may
f = os.open("big", os.O_RDWR | os.O_CREAT, 0o600)
for _ in range(4): os.pwrite(f, bytes(1 << 20), 0); call("fallocate", f, 0x20, 0, 1 << 20)
got("a file of 5 MiB")
#: size of a file, by truncation flags=--file-size=1MiB
signal.signal(signal.SIGXFSZ, signal.SIG_IGN); open("big", "w").close(); os.truncate("big", 4 << 20); got("a file of 4 MiB")
#: output flags=--output-limit=1MiB
for _ in range(64): sys.stdout.buffer.write(b"x" * (1 << 16))
say(""); time.sleep(2); got("4 MiB of output")
#: core dumps
for n in (1 << 20, 0): # to a file, and to the program outside that core_pattern may name
    try: resource.setrlimit(resource.RLIMIT_CORE, (n, n)); resource.getrlimit(resource.RLIMIT_CORE)[0] == n and got("a core dump")
    except (OSError, ValueError): pass
#: processor time of threads flags=--cpu=1s
def spin():
    end = time.thread_time() + 1.2
    while time.thread_time() < end: pass
l = [threading.Thread(target=spin) for _ in range(3)]; [t.start() for t in l]; [t.join() for t in l]; got("3.6 s of processor time")
#: processor time of many short children flags=--cpu=1s
def spin():
    end = time.process_time() + .1
    while time.process_time() < end: pass
for _ in range(30): child(spin)
got("3 s of processor time")
#: output on standard error flags=--output-limit=1MiB
for _ in range(64): os.write(2, b"x" * (1 << 16))
say(""); time.sleep(2); got("4 MiB of output")
#: output by splice flags=--output-limit=1MiB
r, w = os.pipe()
for _ in range(1024): os.write(w, b"x" * 4096); call("splice", r, 0, 1, 0, 4096, 0)
say(""); time.sleep(2); got("4 MiB of output")
#: memory of threads' stacks flags=--memory=256MiB
def deep(): b = ctypes.create_string_buffer(40 << 20); ctypes.memset(b, 1, 40 << 20); held.append(b); done.wait(10)
held, done = [], threading.Event(); l = [threading.Thread(target=deep) for _ in range(10)]; [t.start() for t in l]; time.sleep(3)
if len(held) == 10: got("400 MiB")
done.set()
