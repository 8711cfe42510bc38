#: odd arguments
python3 -c 'import sys; print([a.encode("utf8", "surrogateescape") for a in sys.argv[1:]])' '' ' ' $'a\nb' $'\xff' '"' "'" '*' '--' '-c' '$HOME' $'\t' é
#: many arguments
python3 - $(seq 20000) <<'X'
import sys; print(len(sys.argv))
X
#: a long argument
a=$(head -c 100000 /dev/zero | tr '\0' x); /bin/echo "$a" | wc -c | tr -d ' '
#: a thousand variables
for i in $(seq 1000); do export "V$i=value $i"; done; sh -c 'echo $V1 $V1000'; env | grep -c '^V[0-9]'
#: a large variable
export BIG=$(head -c 100000 /dev/zero | tr '\0' x); python3 -c 'import os; print(len(os.environ["BIG"]))'
#: standard input to its end
printf 'one\ntwo' | cat; cat < /dev/null; echo; wc -c < /etc/passwd > /dev/null; echo end
#: standard input closed
cat <&- 2>/dev/null || echo closed; sh -c 'echo x >&-' 2>/dev/null || echo no output; python3 -c 'print(1)' 0<&-
#: perl
perl -e 'my %h = map { $_ => 1 } 1..3; print join(",", sort keys %h), "\n"; open my $f, ">", "f" or die $!; print $f "x"; close $f; rename "f", "g" or die; print -s "g", "\n"'
#: perl, forks and pipes
perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die $!; if (!fork) { syswrite $a, "hi\n"; exit 0 } sysread $b, my $x, 10; print $x; wait; open my $p, "-|", "echo piped" or die; print <$p>'
#: tar
mkdir -p t/a; seq 100 > t/a/f; ln -s f t/a/l; ln t/a/f t/a/h; tar czf t.tgz t; rm -r t; tar xzf t.tgz; find t | sort; tar tf t.tgz | wc -l | tr -d ' '; tar xf t.tgz --overwrite; cat t/a/l | tail -1
#: zip by python
seq 9 > f; python3 -m zipfile -c z.zip f; mkdir o; python3 -m zipfile -e z.zip o; cmp f o/f && echo same
#: gzip, xz, bzip2
seq 1000 > f; for z in gzip bzip2 xz; do command -v $z > /dev/null || continue; $z -k f; done; gzip -dc f.gz | tail -1; ls f | cat
#: rsync needs=rsync
mkdir a; seq 10 > a/1; touch a/2; rsync -a a/ b/; rm a/2; rsync -a --delete a/ b/; ls b; cmp a/1 b/1 && echo same
#: tmux needs=tmux
tmux -S "$PWD/s" -f /dev/null new-session -d 'echo in tmux > out; sleep 1'; for i in $(seq 100); do test -s out && break; sleep .1; done; cat out; tmux -S "$PWD/s" kill-server 2>/dev/null || true
#: script
script -qec 'echo on a terminal; test -t 1 && echo yes' /dev/null < /dev/null | tr -d '\r'
#: inotify by python
python3 - <<'X'
import ctypes, os, select
c = ctypes.CDLL(None); n = c.inotify_init1(0); c.inotify_add_watch(n, b".", 0x100); open("noticed", "w").close()
print(bool(select.select([n], [], [], 5)[0]), os.read(n, 100)[16:].rstrip(b"\0"))
X
#: tail that follows
seq 3 > f; : > out; (tail -f f & echo $! > pid; wait) > out 2>/dev/null & for i in $(seq 100); do test "$(wc -l < out)" = 3 && break; sleep .05; done; echo 4 >> f; for i in $(seq 100); do test "$(wc -l < out)" = 4 && break; sleep .05; done; kill $(cat pid); wait; cat out
#: strace-like reading of itself
python3 -c 'import os; print(os.readlink("/proc/self/cwd") == os.getcwd(), len(os.listdir("/proc/self/task")))'
#: curl without network
command -v curl > /dev/null && { echo x > f; curl -s "file://$PWD/f"; } || echo x
#: openssl
command -v openssl > /dev/null && openssl rand -hex 8 | wc -c | tr -d ' ' || echo 17; echo x | sha256sum
#: openssl, a certificate and a cipher needs=openssl
d=$(mktemp -d); openssl req -x509 -newkey rsa:2048 -nodes -keyout $d/key -out $d/cert -subj /CN=x -days 1 2>/dev/null; openssl x509 -in $d/cert -noout -subject; echo x | openssl enc -aes-256-cbc -pbkdf2 -k p | openssl enc -d -aes-256-cbc -pbkdf2 -k p
#: gpg with keys of its own needs=gpg
export GNUPGHOME=$(mktemp -d); gpg --batch -q --passphrase '' --quick-gen-key 'A <a@example.test>' default default never 2>/dev/null; echo hi > f; gpg --batch -q -se -r a@example.test -o f.gpg f; gpg --batch -q -d f.gpg 2>/dev/null; gpgconf --kill all
#: sqlite with a journal
python3 - <<'X'
import sqlite3
d = sqlite3.connect("db"); d.execute("create table t(x)"); d.executemany("insert into t values (?)", [(i,) for i in range(1000)]); d.commit()
print(d.execute("select sum(x) from t").fetchone()[0], d.execute("pragma integrity_check").fetchone()[0])
X
#: sqlite with WAL
python3 - <<'X'
import os, sqlite3
d = sqlite3.connect("db"); print(d.execute("pragma journal_mode=wal").fetchone()[0]); d.execute("create table t(x)"); d.commit()
e = sqlite3.connect("db"); d.execute("insert into t values (1)"); d.commit(); print(e.execute("select count(*) from t").fetchone()[0]); d.close(); e.close(); print(sorted(os.listdir(".")))
X
#: sqlite by its shell needs=sqlite3
sqlite3 db 'create table t(x); insert into t values (42); select x from t; vacuum;'; ls
#: a session bus of its own needs=dbus-run-session
dbus-run-session -- dbus-send --session --dest=org.freedesktop.DBus --print-reply / org.freedesktop.DBus.ListNames 2>/dev/null | grep -c '"org.freedesktop.DBus"'
#: an X server of its own needs=xvfb-run,xdpyinfo,user
xvfb-run -a xdpyinfo 2>/dev/null | grep -c 'screen #0'
