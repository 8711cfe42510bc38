#: write
put(O + "/file")
#: append
put(O + "/file", os.O_WRONLY | os.O_APPEND)
#: truncate
os.truncate(O + "/file", 0)
#: truncate by opening to read
os.open(O + "/file", os.O_RDONLY | os.O_TRUNC)
#: truncate by descriptor
os.ftruncate(os.open(O + "/file", os.O_RDWR), 0)
#: creat needs=amd64
os.write(call("creat", P(O + "/new"), 0o644), MARK.encode())
#: create
put(O + "/new")
#: create by descriptor
put("new", dir_fd=os.open(O, os.O_RDONLY))
#: create by O_PATH descriptor
put("new", dir_fd=os.open(O, os.O_PATH))
#: create in the home
put(HOME + "/new")
#: shell start file
put(HOME + "/.bashrc", os.O_WRONLY | os.O_APPEND)
#: authorized key
put(HOME + "/.ssh/authorized_keys")
#: user's service
os.makedirs(HOME + "/.config/systemd/user"); put(HOME + "/.config/systemd/user/x.service")
#: program on the path
put(HOME + "/.local/bin/git", mode=0o755)
#: the skill
put(SKILL + "/SKILL.md")
#: a new file in the skill
put(SKILL + "/scripts.py")
#: the configuration of skillrun
put(HOME + "/.config/skillrun/config.toml")
#: its audit log
for d, _, fs in os.walk(STATE):
    each(lambda f: put(os.path.join(d, f), os.O_WRONLY | os.O_APPEND), fs)
put(STATE + "/" + MARK)
#: symlink that was there
put("out")
#: symlink of its own
os.symlink(O + "/file", "l"); put("l")
#: dangling symlink
os.symlink(O + "/new", "l"); put("l")
#: dangling symlink, exclusively
os.symlink(O, "d"); put("d/new", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
#: dot-dot
put("../Documents/new")
#: mkdir
os.mkdir(O + "/new")
#: symlink there
os.symlink("/etc/passwd", O + "/new")
#: fifo there
os.mkfifo(O + "/new")
#: socket there
socket.socket(socket.AF_UNIX).bind(O + "/new")
#: hard link there
put("h"); os.link("h", O + "/new")
#: rename there
put("h"); os.rename("h", O + "/new")
#: exchange
put("h"); call("renameat2", AT, P("h"), AT, P(O + "/file"), 2)
#: whiteout needs=root
call("renameat2", AT, P(O + "/file"), AT, P(O + "/moved"), 4)
#: rename over
put("h"); os.rename("h", O + "/file")
#: unlink
os.unlink(O + "/victim")
#: unlink by descriptor
call("unlinkat", os.open(O, os.O_RDONLY), P("victim"), 0)
#: rmdir
os.rmdir(O + "/empty")
#: remove a tree
sh("rm -rf '%s'/dir" % O)
#: rename into the workspace
os.rename(O + "/victim", "v")
#: rename a directory into the workspace
os.rename(O + "/dir", "v")
#: hard link, then write
os.link(O + "/file", "h"); put("h")
#: reading descriptor opened again
d = os.open(O + "/file", os.O_RDONLY); put("/proc/self/fd/%d" % d)
#: O_PATH descriptor opened again
d = os.open(O + "/file", os.O_PATH); put("/proc/self/fd/%d" % d)
#: a nameless file gets a name
d = os.open(O, os.O_TMPFILE | os.O_RDWR); os.write(d, MARK.encode()); call("linkat", AT, P("/proc/self/fd/%d" % d), AT, P(O + "/new"), 0x400)
#: a nameless file of the workspace gets a name outside
d = os.open(".", os.O_TMPFILE | os.O_RDWR); os.write(d, MARK.encode()); call("linkat", AT, P("/proc/self/fd/%d" % d), AT, P(O + "/new"), 0x400)
#: shared mapping
with open(O + "/file", "r+b") as f: mmap.mmap(f.fileno(), 0)[:2] = b"XX"
#: fallocate
call("fallocate", os.open(O + "/file", os.O_RDWR), 0, 0, 100000)
#: by a child
sh("echo %s > '%s'/new" % (MARK, O))
#: by cp
run("cp", "/etc/hostname", O + "/new")
#: by dd
run("dd", "if=/etc/hostname", "of=" + O + "/file", "conv=notrunc", "status=none")
#: by tar, through a symlink
os.symlink(O, "d"); sh("echo %s > new; tar cf t.tar new; tar -C d -xf t.tar" % MARK)
#: by git, work tree elsewhere
sh("git --work-tree='%s' --git-dir=.git checkout-index -a -f; git init -q '%s'/repo" % (O, O))
#: bind mount needs=namespaces
userns(0x20000); os.mkdir("m"); call("mount", P(O), P("m"), 0, 0x1000, 0); put("m/new")
#: through another process's directory
put("/proc/%d/cwd/new" % VICTIM)
#: through another process's root
put("/proc/%d/root%s/new" % (VICTIM, O))
#: file of another program in /tmp
put(TMP + "/file")
#: remove a file of another program in /tmp
os.unlink(TMP + "/file")
#: a name in /tmp that others wait for
put(TMP + "/new")
#: shared memory of another program limit=ipc.shm
put(SHM, os.O_WRONLY)
#: a new name in /dev/shm limit=ipc.shm
put("/dev/shm/" + MARK)
#: what was there is removed
os.unlink("old.txt")
#: what was there is moved away
os.rename("old.txt", "mine")
#: a directory that was there is moved away
os.rename("olddir", "mine")
#: a directory that was there is removed
sh("rm -rf olddir")
#: what was there is moved to TMPDIR
os.rename("olddir", os.environ.get("TMPDIR", HOME) + "/" + MARK)
#: what was there is exchanged
os.mkdir("m"); call("renameat2", AT, P("m"), AT, P("olddir"), 2); sh("rm -rf m")
#: what was there is saved over, then removed
put("t"); os.rename("t", "old.txt"); os.unlink("old.txt")
#: git clean
sh("git clean -xfdq")
#: through a directory that is swapped for a link control=may
os.mkdir("d"); os.symlink(O, "l"); stop = []
def flip():
    while not stop:
        try: call("renameat2", AT, P("d"), AT, P("l"), 2)
        except OSError: pass
t = threading.Thread(target=flip, daemon=True); t.start()
for i in range(1500):
    try: put("d/x%d" % i)
    except OSError: pass
stop.append(1); t.join()
#: through a descriptor that another thread swaps control=may
mine, theirs = os.open("olddir", os.O_PATH), os.open(O, os.O_PATH); d, stop = os.dup(mine), []
def flip():
    while not stop: os.dup2(theirs, d); os.dup2(mine, d)
t = threading.Thread(target=flip, daemon=True); t.start()
for i in range(1500):
    try: put("x%d" % i, dir_fd=d)
    except OSError: pass
stop.append(1); t.join()
#: from a directory that another thread leaves control=may
stop = []
def flip():
    while not stop: os.chdir(O); os.chdir(W)
t = threading.Thread(target=flip, daemon=True); t.start()
for i in range(1500):
    try: put("x%d" % i)
    except OSError: pass
stop.append(1); t.join()
#: a path that changes while it is judged control=may
a, b = os.fsencode(W) + b"/./././././././x", os.fsencode(O) + b"/x"; p = buffer(a + b"\0" * 64); stop = []
a, b = a + b"\0", b + b"\0" * (len(a) + 1 - len(b))
def flip():
    while not stop: ctypes.memmove(p, b, len(b)); ctypes.memmove(p, a, len(a))
t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(1500):
    fd = LIBC.open(p, os.O_WRONLY | os.O_CREAT, 0o600)
    if fd >= 0: os.close(fd)
stop.append(1); t.join()
#: the skill, by a hard link
os.link(SKILL + "/SKILL.md", "h"); put("h")
#: the skill, exchanged for a directory of its own
os.mkdir("s"); call("renameat2", AT, P("s"), AT, P(SKILL), 2)
#: the skill, a nameless file gets a name there
d = os.open(SKILL, os.O_TMPFILE | os.O_RDWR); os.write(d, MARK.encode()); call("linkat", AT, P("/proc/self/fd/%d" % d), AT, P(SKILL + "/new"), 0x400)
#: created by openat2
os.write(call("openat2", AT, P(O + "/new"), buffer(struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o644, 0)), 24), MARK.encode())
#: created by openat2 in a root of its own
os.write(call("openat2", os.open(O, os.O_PATH), P("/new"), buffer(struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o644, 0x10)), 24), MARK.encode())
#: opened for neither reading nor writing
d = os.open(O + "/file", 3 | os.O_TRUNC)
#: by a command of a debugger needs=gdb
sh("gdb -batch -ex 'python open(\"%s/new\", \"w\").write(\"x\")' /bin/true" % O)
