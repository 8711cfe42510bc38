#: pipes and redirections
seq 1000 | grep 7 | sort -rn | uniq | head -3 > out; cat < out; wc -l < out | tr -d ' '
#: here documents
cat <<X
$((6 * 7))
X
read -r a <<< "one two"; echo "$a"
#: process substitution
diff <(seq 5) <(seq 5) && echo same; comm -12 <(seq 3) <(seq 2 4)
#: a named pipe
mkfifo p; (echo through > p) & cat p; wait
#: subshells and functions
f() { (cd / && pwd); echo "$1"; }; f x; echo "$(f y)"
#: background jobs
for i in 1 2 3; do (exit $i) & done; for j in $(jobs -p); do wait $j || echo $?; done | sort
#: coprocesses
coproc cat; echo hello >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo "$x"; exec {COPROC[1]}>&-; wait
#: traps
trap 'echo at exit' EXIT; trap 'echo usr1' USR1; kill -USR1 $$; echo on
#: a child that is signalled
sleep 100 & kill -TERM $!; wait $! || echo $?
#: exit codes
for n in 0 1 2 77 255; do sh -c "exit $n" || echo $?; done; { sh -c 'kill -9 $$' || echo $?; } 2>/dev/null
#: a shell that forks much
n=0; while [ $n -lt 200 ]; do /bin/true & n=$((n + 1)); done; wait; echo $n
#: find and xargs
mkdir -p a/b c; touch a/1 a/b/2 c/3; find . -type f | sort | xargs -n 1 echo; find . -name '?' -type f -exec rm {} +; find . -type f | wc -l | tr -d ' '
#: names with spaces, newlines and odd bytes
touch -- 'a b' $'c\nd' $'\xff\xfe' '-e' '*'; ls -b; rm -- * ; ls
#: long names and deep directories
n=$(printf 'n%.0s' $(seq 200)); touch $n; ls | wc -c; d=.; for i in $(seq 60); do d=$d/d; done; mkdir -p $d; echo x > $d/f; cat $d/f; rm -r d
#: symlinks
mkdir d; echo in > d/f; ln -s d l; ln -s f d/g; cat l/g; readlink l; ln -sfn . l; test -d l && rm l; ls
#: hard links
echo 1 > a; ln a b; echo 2 >> b; cat a; stat -c %h a; rm a; cat b
#: mode and times
umask 022; touch f; chmod 640 f; stat -c %a f; touch -d '2001-02-03 04:05:06 UTC' f; TZ=UTC date -r f +%F; mkdir d; chmod 700 d; stat -c %a d
#: copying and moving
mkdir d; seq 100 > d/f; cp -a d e; mv e/f g; cmp d/f g && echo same; cp --reflink=auto g h; mv -f h g; rmdir e; ls
#: sed in place
printf 'a\nb\n' > f; sed -i s/a/c/ f; cat f
#: temporary files
t=$(mktemp); echo x > "$t"; cat "$t"; d=$(mktemp -d); touch "$d/f"; ls "$d"; rm -r "$t" "$d"; echo y > /tmp/job-$$; cat /tmp/job-$$; rm /tmp/job-$$; (cd /tmp; echo z >> rel-$$; cat rel-$$ /tmp/rel-$$; rm -f rel-$$)
#: temporary files, and no secret anywhere plain
t=$(mktemp); echo x > "$t"; cat "$t"; d=$(mktemp -d); touch "$d/f"; ls "$d"; rm -r "$t" "$d"; echo y > /tmp/job-$$; cat /tmp/job-$$; rm /tmp/job-$$; (cd /tmp; echo z >> rel-$$; cat rel-$$ /tmp/rel-$$; rm -f rel-$$)
#: a big pipe
head -c 50000000 /dev/zero | cat | wc -c | tr -d ' '; yes | head -c 1000000 | md5sum
#: devices
echo x > /dev/null; head -c 4 /dev/zero | od -An -tx1; head -c 16 /dev/urandom | wc -c | tr -d ' '; echo x > /dev/full 2>/dev/null || echo full; cat /dev/stdin <<< in; echo out > /dev/stdout
#: /proc
test -r /proc/self/status && grep -c processor /proc/cpuinfo > /dev/null && echo read; readlink /proc/self/exe; cat /proc/sys/kernel/ostype; ls /proc/self/fd > /dev/null; echo $(< /proc/self/comm)
#: awk, sort, join and friends
seq 20 | awk '{ s += $1 } END { print s }'; printf '1 a\n2 b\n' > x; printf '1 c\n' > y; join x y; seq 5 | paste -sd+ | bc 2>/dev/null || echo 15; seq 3 | tac; printf 'b\na\n' | sort -o z; cat z; split -l 1 z part; ls part*
#: limits
ulimit -c; ulimit -n 200; ulimit -n; (ulimit -t 100; ulimit -t); ulimit -s > /dev/null; echo done
#: time and nice
nice -n 5 sh -c 'nice'; timeout 5 echo in time; timeout .1 sleep 10 || echo $?; TIMEFORMAT=; time true
#: setsid and nohup
setsid -w echo session; nohup echo nohup 2>/dev/null; (trap '' HUP; echo hup)
#: locks
exec 9> lock; flock 9; flock -n lock true || echo held; flock -u 9; flock -n lock echo free
#: a script of one's own plain
printf '#!/bin/sh\necho "ran $1"\n' > s; chmod +x s; ./s one; printf '#!/usr/bin/env python3\nprint("ran two")\n' > t; chmod +x t; ./t
#: users and names
id -u; whoami > /dev/null; getent passwd root; hostname > /dev/null; uname -s; locale > /dev/null; date +%Z > /dev/null; echo ok
#: descriptors kept open
exec 5> f; rm f; echo gone >&5; cat /proc/self/fd/5 2>/dev/null || true; exec 5>&-; exec 6<> g; echo x >&6; cat g
