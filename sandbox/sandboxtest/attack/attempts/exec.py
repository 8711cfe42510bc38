#: program in the workspace
sh("cp /bin/true x; chmod 755 x"); run("./x"); got("ran")
#: program in TMPDIR
t = os.environ.get("TMPDIR", W) + "/x-" + MARK; sh("cp /bin/true %s; chmod 755 %s; %s && rm %s" % (t, t, t, t)); run(t) if os.path.exists(t) else got("ran")
#: program in /tmp
t = "/tmp/x-" + MARK; sh("cp /bin/true %s && chmod 755 %s" % (t, t)); subprocess.run([t], check=True); os.unlink(t); got("ran")
#: program in /dev/shm 
t = "/dev/shm/x-" + MARK; sh("cp /bin/true %s; chmod 755 %s" % (t, t)); subprocess.run([t], check=True); os.unlink(t); got("ran")
#: script of the workspace
with open("s.sh", "w") as f: f.write("#!/bin/sh\necho\n")
os.chmod("s.sh", 0o755); subprocess.run(["./s.sh"], check=True); got("ran")
#: program outside
subprocess.run([O + "/program"], check=True); got("ran")
#: program outside, by symlink
os.symlink(O + "/program", "p"); subprocess.run(["./p"], check=True); got("ran")
#: program outside, by hard link
os.link(O + "/program", "p"); subprocess.run(["./p"], check=True); got("ran")
#: execveat of a descriptor
sh("cp /bin/true x; chmod 755 x")
if child(lambda: call("execveat", os.open("x", os.O_RDONLY), P(""), (ctypes.c_char_p * 2)(b"x", None), (ctypes.c_char_p * 1)(None), 0x1000)) == 0: got("ran")
#: fexecve by /proc/self/fd
sh("cp /bin/true x; chmod 755 x"); d = os.open("x", os.O_RDONLY)
if child(lambda: os.execv("/proc/self/fd/%d" % d, ["x"])) == 0: got("ran")
#: memfd
d = call("memfd_create", P("x"), 0); os.write(d, open("/bin/true", "rb").read()); os.set_inheritable(d, True)
if child(lambda: os.execv("/proc/self/fd/%d" % d, ["x"])) == 0: got("ran")
#: memfd, MFD_EXEC
d = call("memfd_create", P("x"), 0x10); os.write(d, open("/bin/true", "rb").read())
if child(lambda: call("execveat", d, P(""), (ctypes.c_char_p * 2)(b"x", None), (ctypes.c_char_p * 1)(None), 0x1000)) == 0: got("ran")
#: memfd of secret memory needs=nofilter
call("memfd_secret", 0); got("secret memory")
#: set-uid program needs=user
if child(lambda: os.execv("/bin/su", ["su", "--version"])) == 0 and "NoNewPrivs:\t0" in open("/proc/self/status").read(): got("rights of another user's programs")
#: nameless file
d = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o755); os.write(d, open("/bin/true", "rb").read()); n = os.open("/proc/self/fd/%d" % d, os.O_RDONLY); os.close(d)
if child(lambda: os.execv("/proc/self/fd/%d" % n, ["x"])) == 0: got("ran")
#: interpreter named by a script
sh("cp /bin/true x; chmod 755 x"); open("s", "w").write("#!%s/x\n" % W); os.chmod("s", 0o755); subprocess.run(["./s"], check=True); got("ran")
#: the dynamic loader limit=fs.load
sh("cp /bin/true x"); loader = [p for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(p)][0]
if subprocess.run([loader, "./x"]).returncode == 0: got("ran")
#: a library of the workspace limit=fs.load
sh("cp %s lib.so" % [p for d in ("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu") for p in [d + "/libm.so.6"] if os.path.exists(p)][0]); ctypes.CDLL(W + "/lib.so"); got("loaded")
#: a mapping of the workspace, made executable limit=fs.load
sh("cp /bin/true x"); d = os.open("x", os.O_RDONLY); mmap.mmap(d, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC); got("mapped")
#: code for an interpreter limit=fs.load
open("x.py", "w").write("print('GOT ran')"); run("/usr/bin/python3", "x.py")
#: preloaded library limit=fs.load
sh("cp %s lib.so" % [p for d in ("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu") for p in [d + "/libm.so.6"] if os.path.exists(p)][0])
r = subprocess.run(["/bin/cat", "/proc/self/maps"], env={"LD_PRELOAD": W + "/lib.so"}, stdout=subprocess.PIPE).stdout
if (W + "/lib.so").encode() in r: got("loaded")
#: program outside, execveat of an O_PATH descriptor
if child(lambda: call("execveat", os.open(O + "/program", os.O_PATH), P(""), (ctypes.c_char_p * 2)(b"x", None), (ctypes.c_char_p * 1)(None), 0x1000)) == 0: got("ran")
#: program outside, by the dynamic loader
loader = [p for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(p)][0]
if subprocess.run([loader, O + "/program"]).returncode == 0: got("ran")
#: program outside, as a library
try: ctypes.CDLL(O + "/program")
except OSError as e:
    if "position" in str(e) or "dynamically load" in str(e): got("loaded")
#: script whose interpreter is a script of the workspace
sh("cp /bin/true i; chmod 755 i"); open("s", "w").write("#!%s/t\n" % W); open("t", "w").write("#!%s/i\n" % W); os.chmod("s", 0o755); os.chmod("t", 0o755); subprocess.run(["./s"], check=True); got("ran")
#: deleted program
sh("cp /bin/true x; chmod 755 x"); d = os.open("x", os.O_PATH); os.unlink("x")
if child(lambda: call("execveat", d, P(""), (ctypes.c_char_p * 2)(b"x", None), (ctypes.c_char_p * 1)(None), 0x1000)) == 0: got("ran")
#: memfd, sealed and then made executable control=may
d = call("memfd_create", P("x"), 8); os.write(d, open("/bin/true", "rb").read()); os.fchmod(d, 0o755)
if child(lambda: call("execveat", d, P(""), (ctypes.c_char_p * 2)(b"x", None), (ctypes.c_char_p * 1)(None), 0x1000)) == 0: got("ran")
#: memfd, made executable
d = call("memfd_create", P("x"), 2); os.write(d, open("/bin/true", "rb").read()); os.fchmod(d, 0o755)
if child(lambda: call("execveat", d, P(""), (ctypes.c_char_p * 2)(b"x", None), (ctypes.c_char_p * 1)(None), 0x1000)) == 0: got("ran")
#: memfd of huge pages control=may
if os.fstat(call("memfd_create", P("x"), 4)).st_mode & 0o111: got("a memfd that may be executed")
#: a script in a memfd
d = call("memfd_create", P("x"), 0); os.write(d, b"#!/bin/sh\nexit 0\n"); os.set_inheritable(d, True)
if child(lambda: os.execv("/proc/self/fd/%d" % d, ["x"])) == 0: got("ran")
