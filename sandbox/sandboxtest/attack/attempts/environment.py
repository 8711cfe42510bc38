#: own environment
say(*["%s=%s" % v for v in os.environ.items()])
#: a child's environment
run("env")
#: /proc/self/environ
cat("/proc/self/environ")
#: the parent's environment
each(lambda p: cat("/proc/%d/environ" % p), [os.getppid(), 1])
#: any process's environment victim
each(lambda p: cat("/proc/%d/environ" % p), pids())
#: any task's environment victim
each(lambda p: each(lambda t: cat("/proc/%d/task/%s/environ" % (p, t)), os.listdir("/proc/%d/task" % p)), pids())
#: another process's environment
cat("/proc/%d/environ" % VICTIM)
#: any process's memory, where its environment lies victim
def stack(p):
    for line in open("/proc/%d/maps" % p):
        if "[stack]" in line:
            a, b = (int(x, 16) for x in line.split()[0].split("-"))
            d = os.open("/proc/%d/mem" % p, os.O_RDONLY); say(os.pread(d, b - a, a))
each(stack, pids())
#: the stack above the environment
for line in open("/proc/self/maps"):
    if "[stack]" in line:
        a, b = (int(x, 16) for x in line.split()[0].split("-"))
        say(os.pread(os.open("/proc/self/mem", os.O_RDONLY), b - a, a))
#: a shell that starts anew
run("/bin/bash", "-lc", "env"); run("/bin/sh", "-c", "set")
#: start file named by a variable
if "BASH_ENV" in os.environ or "PYTHONSTARTUP" in os.environ or "LD_PRELOAD" in os.environ or "GIT_SSH_COMMAND" in os.environ: got("a variable that names code")
#: inherited file
each(lambda d: say(os.pread(d, 4096, 0)), fds())
#: inherited file, opened again
each(lambda d: cat("/proc/self/fd/%d" % d), fds())
#: inherited directory
each(lambda d: say(os.read(os.open("file", os.O_RDONLY, dir_fd=d), 4096)), fds())
#: inherited directory, dot-dot
each(lambda d: say(os.read(os.open("../.ssh/id_ed25519", os.O_RDONLY, dir_fd=d), 4096)), fds())
#: inherited directory, fchdir
each(lambda d: (os.fchdir(d), cat("file")), fds())
#: inherited directory, written to
each(lambda d: put("new", dir_fd=d), fds())
#: inherited pipe
each(lambda d: os.write(d, MARK.encode()), fds())
#: inherited connection
each(lambda d: socket.socket(fileno=os.dup(d)).send(MARK.encode()), fds())
#: inherited unix socket, a file received
def receive(d):
    s = socket.socket(fileno=os.dup(d)); s.settimeout(3); s.send(b"send the file\n"); data, anc, _, _ = s.recvmsg(64, 64)
    say(os.pread(struct.unpack("i", anc[0][2][:4])[0], 4096, 0))
each(receive, fds())
#: inherited descriptors of the parent
each(lambda p: each(lambda n: cat("/proc/%d/fd/%s" % (p, n)), os.listdir("/proc/%d/fd" % p)), [os.getppid(), 1])
#: descriptors of the parent by pidfd_getfd needs=nofilter
def take(p):
    f = call("pidfd_open", p, 0)
    for n in range(3, 40):
        try: say(os.pread(call("pidfd_getfd", f, n, 0), 4096, 0))
        except OSError: pass
take(os.getppid())
#: descriptors of another process by pidfd_getfd needs=nofilter
d = call("pidfd_getfd", call("pidfd_open", VICTIM, 0), 0, 0); say(os.pread(d, 4096, 0))
#: session keyring needs=nofilter
key = call("keyctl", 10, -3, P("user"), P("canary"), 0); b = buffer(bytes(200)); n = call("keyctl", 11, key, b, 200); say(b.raw[:n])
#: session keyring by request_key needs=nofilter
key = call("request_key", P("user"), P("canary"), 0, 0); b = buffer(bytes(200)); n = call("keyctl", 11, key, b, 200); say(b.raw[:n])
#: session keyring, a key added needs=nofilter
call("add_key", P("user"), P("evil"), P("x"), 1, -3); got("a key")
#: session keyring of the parent needs=nofilter
reaches("keyctl", 18)
#: keys of the user, by /proc needs=nofilter limit=proc.cmdline
for line in open("/proc/keys"):
    if "canary" in line: got("the name of a key")
#: inherited descriptor, its name
each(lambda d: HOME.rsplit("/", 1)[0] in os.readlink("/proc/self/fd/%d" % d) and got("an inherited descriptor"), fds())
#: a start file of the home
sh("cat ~/.profile; . ~/.bashrc; echo $HOME"); say(os.path.expanduser("~"))
if os.environ.get("HOME") == HOME: got("the user's home")
#: a variable by which an agent is reached
each(lambda n: got(n), [n for n in os.environ if n in ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DOCKER_HOST", "GPG_AGENT_INFO", "DISPLAY", "WAYLAND_DISPLAY", "XDG_STATE_HOME")])
#: any process's auxiliary vector
each(lambda p: (cat("/proc/%d/auxv" % p), got("an auxiliary vector")), [VICTIM, os.getppid()])
#: session keyring, joined by its name needs=nofilter
call("keyctl", 1, P("_ses")); got("a keyring")
#: session keyring, replaced needs=nofilter
call("keyctl", 1, 0); got("a keyring")
#: user keyring needs=nofilter
k = call("keyctl", 0, -4, 1); got("the user's keyring")
