#: git config
put(".git/config", os.O_WRONLY | os.O_APPEND)
#: git config by git
sh("git config core.fsmonitor ./evil-%s" % MARK)
#: git config, by an address with a tag needs=arm64
call("prctl", 55, 1, 0, 0, 0); name = P(".git/config"); at = ctypes.cast(name, ctypes.c_void_p).value | 0x5a << 56
os.write(call("openat", AT, ctypes.c_void_p(at), os.O_WRONLY | os.O_APPEND, 0), MARK.encode())
#: git config, saved over
put("t"); os.rename("t", ".git/config")
#: git config, by symlink
os.symlink(".git/config", "l"); put("l", os.O_WRONLY | os.O_APPEND)
#: git config, by hard link
os.link(".git/config", "h"); put("h", os.O_WRONLY | os.O_APPEND)
#: git config, by hard link that was there
put("hardconfig", os.O_WRONLY | os.O_APPEND)
#: git config, lock file renamed
put(".git/config.lock"); os.rename(".git/config.lock", ".git/config")
#: git config, removed
os.unlink(".git/config")
#: git config of the work tree
put(".git/config.worktree")
#: git attributes
os.makedirs(".git/info", exist_ok=True); put(".git/info/attributes")
#: hook
put(".git/hooks/post-commit", mode=0o755)
#: hook changed
put(".git/hooks/pre-commit", os.O_WRONLY)
#: hook as symlink
put("evil", mode=0o755); os.symlink("../../evil", ".git/hooks/post-commit")
#: hook by rename
put("evil", mode=0o755); os.rename("evil", ".git/hooks/post-commit")
#: hook by link
put("evil", mode=0o755); os.link("evil", ".git/hooks/post-commit")
#: hook by nameless file
d = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o755); os.write(d, MARK.encode()); call("linkat", AT, P("/proc/self/fd/%d" % d), AT, P(".git/hooks/post-commit"), 0x400)
#: hooks moved aside
os.rename(".git/hooks", "h2"); os.mkdir(".git/hooks"); put(".git/hooks/post-commit", mode=0o755)
#: .git moved aside
os.rename(".git", "g2"); os.makedirs(".git/hooks"); put(".git/hooks/post-commit", mode=0o755)
#: .git exchanged
os.makedirs("g/hooks"); put("g/hooks/post-commit"); call("renameat2", AT, P("g"), AT, P(".git"), 2)
#: nested repository's hook
os.makedirs("sub/.git/hooks", exist_ok=True); put("sub/.git/hooks/post-commit", mode=0o755)
#: nested repository prepared and moved in
os.makedirs("g/hooks"); put("g/hooks/x"); os.rename("g", "olddir/.git")
#: git file that leads to a repository of one's own
os.mkdir("g"); open("src/.git", "w").write("gitdir: ../g\n")
#: link that leads to a repository of one's own
os.mkdir("g"); os.symlink("../g", "src/.git")
#: submodule's hook
os.makedirs(".git/modules/x/hooks"); put(".git/modules/x/hooks/post-checkout", mode=0o755)
#: .git replaced by a file that points elsewhere
os.rename(".git", "g"); open(".git", "w").write("gitdir: g\n")
#: hook of a repository that a file leads to
os.makedirs("mods.git/hooks", exist_ok=True); put("mods.git/hooks/post-commit", mode=0o755)
#: config of a repository that a file leads to
put("mods.git/config", os.O_WRONLY | os.O_APPEND)
#: commondir of a repository that a file leads to
put("mods.git/commondir")
#: repository that a file leads to, moved aside
os.rename("mods.git", "m2"); os.makedirs("mods.git/hooks"); put("mods.git/hooks/post-commit", mode=0o755)
#: directory of hooks that the configuration names
put("tools/hooks/post-commit", mode=0o755)
#: hook there changed
put("tools/hooks/pre-commit", os.O_WRONLY)
#: directory above it moved aside
os.rename("tools", "t2"); os.makedirs("tools/hooks"); put("tools/hooks/post-commit", mode=0o755)
#: file that git's configuration includes
put("tools/gitconfig", os.O_WRONLY | os.O_APPEND)
#: script that git's configuration names
put("t"); os.rename("t", "tools/x.sh")
#: agent settings that a link leads to
put("ai/settings.json", os.O_WRONLY | os.O_APPEND)
#: agent settings that a link leads to, new ones
os.mkdir("ai/hooks"); put("ai/hooks/evil.sh", mode=0o755)
#: agent settings, the link's directory exchanged
os.mkdir("a2"); put("a2/settings.json"); call("renameat2", AT, P("a2"), AT, P("ai"), 2)
#: .mcp.json
put(".mcp.json")
#: .mcp.json as symlink
put("evil"); os.symlink("evil", ".mcp.json")
#: .mcp.json as directory
os.mkdir(".mcp.json")
#: .envrc
put(".envrc")
#: .envrc below
put("src/.envrc")
#: .envrc in capitals
put(".ENVRC")
#: .envrc as a socket
socket.socket(socket.AF_UNIX).bind(".envrc")
#: .envrc as a fifo
os.mkfifo(".envrc")
#: .envrc linked out of node_modules
put("node_modules/.envrc"); os.link("node_modules/.envrc", ".envrc")
#: agent settings
os.mkdir(".claude"); put(".claude/settings.json")
#: agent settings by rename
os.mkdir("c"); put("c/settings.json"); os.rename("c", ".claude")
#: editor settings
put("src/.vscode/settings.json", os.O_WRONLY)
#: editor tasks
put("src/.vscode/tasks.json")
#: editor settings out of node_modules
os.makedirs("node_modules/p/.vscode"); put("node_modules/p/.vscode/tasks.json"); os.rename("node_modules/p", "p")
#: agent settings prepared in TMPDIR
import shutil, tempfile; d = tempfile.mkdtemp(); os.makedirs(d + "/p/.claude"); put(d + "/p/.claude/settings.json"); shutil.move(d + "/p", "p")
#: workflow
put(".github/workflows/x.yml")
#: workflow by directory of its own
os.makedirs("g/workflows"); put("g/workflows/x.yml"); os.rename("g", "olddir/.github")
#: workflow in a directory of its own in the project that was there
os.makedirs("src/.github/workflows"); put("src/.github/workflows/x.yml")
#: package manager's settings
put(".npmrc"); put(".yarnrc.yml")
#: hook managers
put(".pre-commit-config.yaml")
#: policy for the next run
os.mkdir(".skillrun"); put(".skillrun/policy.toml")
#: interpreter of a virtual environment
os.makedirs(".venv/bin"); put(".venv/bin/python", mode=0o755)
#: through /proc/self/cwd
put("/proc/self/cwd/.git/hooks/post-commit")
#: through a descriptor of the directory
put("post-commit", dir_fd=os.open(".git/hooks", os.O_PATH))
#: through chdir
os.chdir(".git/hooks"); put("post-commit")
#: racing threads, one renames what the other writes to control=may
os.mkdir("r"); os.symlink(W + "/.git/hooks", "s")
def flip():
    for _ in range(2000):
        try: call("renameat2", AT, P("r"), AT, P("s"), 2)
        except OSError: pass
t = threading.Thread(target=flip, daemon=True); t.start()
for i in range(2000):
    try: put("r/x%d" % i)
    except OSError: pass
t.join()
#: path changed while the call is judged
b = buffer(b".git/hooks/post-commit\0"); stop = []
def flip():
    while not stop:
        b[0] = b"_"; b[0] = b"."
os.makedirs("_git/hooks"); t = threading.Thread(target=flip, daemon=True); t.start()
for _ in range(2000):
    fd = LIBC.open(b, os.O_WRONLY | os.O_CREAT, 0o755)
    if fd >= 0: os.close(fd)
stop.append(1); t.join()
#: secret written over
put(".env", os.O_WRONLY)
#: secret removed
os.unlink(".env")
#: secret made
put("sub/new.key")
#: git directory elsewhere
put(".git/commondir")
#: git's list of alternates, then its config through a descriptor of the root
put("config", dir_fd=os.open("/proc/self/cwd/.git", os.O_PATH))
#: hook through a hundred dots
put("./" * 1500 + ".git/hooks/post-commit", mode=0o755)
#: hook through a link that a thread makes control=may
stop = []; os.mkdir("x")
def flip():
    while not stop:
        try: os.rmdir("x"); os.symlink(".git/hooks", "x")
        except OSError: pass
        try: os.unlink("x"); os.mkdir("x")
        except OSError: pass
t = threading.Thread(target=flip, daemon=True); t.start()
for i in range(1500):
    try: put("x/post-%d" % i)
    except OSError: pass
stop.append(1); t.join()
#: hook by openat2
os.write(call("openat2", os.open(".git", os.O_PATH), P("hooks/post-merge"), buffer(struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o755, 0x08)), 24), b"x")
#: hook by a thread with a directory of its own needs=namespaces
def other(): call("unshare", 0x200); os.chdir(W + "/.git/hooks"); put("post-commit")
t = threading.Thread(target=other); t.start(); t.join()
