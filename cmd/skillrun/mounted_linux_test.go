package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skillrun/sandbox/sandboxtest"
)

// movedScript takes mounts away by removing what they are on, from outside of the
// view that has them, wherever that was moved to.
const movedScript = `
mounts() { echo "$1 $(grep -c '/home \|/shm \|\.env ' /proc/self/mountinfo)"; }
mounts before
run=$(basename $(dirname $HOME))
mv /tmp/skillrun-* /tmp/moved && rm -r /tmp/moved/$run/home; rmdir /tmp/moved/$run/shm
mkdir /tmp/new; mv -T /tmp/new /tmp/moved/$run/shm; mv /tmp/moved/$run/shm /tmp/gone
mv sub ../outside/sub; rm -f ../outside/sub/.env; echo new >../outside/new; mv -f ../outside/new ../outside/sub/.env
cat ../outside/sub/.env
mounts after`

// What covers something in a run's view stays there, and with it what is covered,
// under whatever name: no other view has anything mounted there.
func TestMountedStays(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	for way, flags := range ways() {
		if strings.HasPrefix(way, "without") {
			continue
		}
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			a.write("work/sub/.env", "secret\n")
			argv := append([]string{"--grant", "filesystem.write:.", "--grant", "filesystem.delete:.",
				"--grant", "filesystem.read:" + a.outside, "--grant", "filesystem.write:" + a.outside, "--grant", "filesystem.delete:" + a.outside}, flags...)
			cmd := exec.Command(program(t), append(argv, "--", "sh", "-c", movedScript)...)
			cmd.Dir, cmd.Env = a.work, a.env
			b, _ := cmd.CombinedOutput()
			out := string(b)
			_, n, _ := strings.Cut(out, "before ")
			n, _, _ = strings.Cut(n, "\n")
			if n == "" || n == "0" || !strings.Contains(out, "after "+n+"\n") || strings.Contains(out, "secret") {
				t.Errorf("something came off:\n%s", out)
			}
			if a.read("work/sub/.env") != "secret\n" && a.read("outside/sub/.env") != "secret\n" {
				t.Errorf("what was covered is gone:\n%s", out)
			}
		})
	}
	a := newAgent(t)
	a.write("work/sub/.env", "secret\n")
	cmd := exec.Command("sh", "-c", "mv sub ../outside/sub; rm ../outside/sub/.env")
	cmd.Dir = a.work
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("control: %v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(a.outside, "sub/.env")); err == nil {
		t.Fatal("control: it is there")
	}
}

func requireMounts(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("unshare", "-m", "sh", "-c", "mount --bind /usr /mnt").CombinedOutput(); err != nil {
		lack := sandboxtest.Mounts
		if os.Geteuid() == 0 {
			lack = sandboxtest.Namespaces
		}
		sandboxtest.Skip(t, lack, "no mounts: %v: %s", err, out)
	}
}

// twiceScript runs what it is given, with a directory that may be written, before
// and after a home and a workspace are mounted in there, and what a secret's name
// leads to beside it.
const twiceScript = `
outside=$1 work=$2; shift 2
mkdir -p $outside/h $outside/w $work/.git/hooks $work/alias && ln -s conf/dev $work/.env || exit
"$@"; echo before
mount --bind $HOME $outside/h && mount --bind $work $outside/w && mount --bind $work/conf $work/alias || exit
"$@"; echo after`

// What is denied by one name is denied by those that mounts give it, too, also where
// an earlier launch was before these mounts.
func TestMountedTwice(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	requireMounts(t)
	const tries = `echo "$(cat $0/h/.ssh/id $0/h/notes alias/dev 2>/dev/null)"; echo hook >$0/w/.git/hooks/post-commit; echo new >$0/w/new
mkdir -p $0/h/.cache/skillrun/x && echo kept; :`
	twice := func(a *agent, argv ...string) string {
		a.write("home/.ssh/id", "secret\n")
		a.write("home/notes", "notes\n")
		a.write("work/conf/dev", "linked\n")
		cmd := exec.Command("unshare", append([]string{"-m", "sh", "-c", twiceScript, "sh", a.outside, a.work}, append(argv, "sh", "-c", tries, a.outside)...)...)
		cmd.Dir, cmd.Env = a.work, a.env
		b, _ := cmd.CombinedOutput()
		return string(b)
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			argv := append([]string{program(t), "--grant", "filesystem.read:" + a.outside, "--grant", "filesystem.write:" + a.outside}, flags...)
			out := twice(a, append(argv, "--")...)
			if _, after, _ := strings.Cut(out, "before\n"); strings.Contains(after, "kept") {
				t.Errorf("caches of others are made by the second name:\n%s", out)
			}
			if strings.Contains(out, "secret") || strings.Contains(out, "linked") || !strings.Contains(out, "notes") || !strings.HasSuffix(out, "after\n") {
				t.Errorf("read by the second name, or nothing was:\n%s", out)
			}
			if a.read("work/.git/hooks/post-commit") != "-" || a.read("work/new") != "new\n" {
				t.Errorf("a hook was written by the second name, or nothing was:\n%s", out)
			}
		})
	}
	a := newAgent(t)
	if out := twice(a); strings.Count(out, "kept") != 2 || !strings.Contains(out, "secret") || !strings.Contains(out, "linked") || a.read("work/.git/hooks/post-commit") != "hook\n" {
		t.Errorf("control: %s", out)
	}
	cmd := exec.Command("unshare", "-m", "sh", "-c", `mount --bind $HOME $0/h && cd $0/h && "$@"`, a.outside, program(t), "--", "true")
	cmd.Dir, cmd.Env = a.work, a.env
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "cannot be the workspace") {
		t.Errorf("a home by its second name is a workspace: %v: %s", err, out)
	}
}

// What /proc has of others and of the kernel no run changes by another place where that
// is mounted, as for the tree of another system in the workspace.
func TestProcTwice(t *testing.T) {
	sandboxtest.Require(t, "landlock", "seccomp")
	requireMounts(t)
	twice := func(a *agent, argv ...string) string {
		const script = `mkdir -p root/proc && mount -t proc proc root/proc || exit; "$@" sh -c 'cat root/proc/version; true >>root/proc/$0/oom_score_adj && echo opened; echo new >root/new' $$`
		cmd := exec.Command("unshare", append([]string{"-m", "sh", "-c", script, "sh"}, argv...)...)
		cmd.Dir, cmd.Env = a.work, a.env
		b, _ := cmd.CombinedOutput()
		return string(b)
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := newAgent(t)
			out := twice(a, append(append([]string{program(t), "--grant", "filesystem.write:."}, flags...), "--")...)
			if strings.Contains(out, "opened") || !strings.Contains(out, "Linux version") || a.read("work/root/new") != "new\n" {
				t.Errorf("changed by the second name, or nothing was read or written beside it:\n%s", out)
			}
		})
	}
	a := newAgent(t)
	if out := twice(a); !strings.Contains(out, "opened") {
		t.Errorf("control: %s", out)
	}
}

// A file that a denied name leads to is denied by its other names as well.
func TestLinkedTwice(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	scene := func() *agent {
		a := newAgent(t)
		a.write("work/conf/dev", "secret\n")
		if err := exec.Command("sh", "-ec", "cd $0; mkdir shared; ln conf/dev shared/dev; ln -s conf/dev .env; echo open >shared/other", a.work).Run(); err != nil {
			t.Fatal(err)
		}
		return a
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			a := scene()
			if out, _ := a.in("work", append(slices.Clip(flags), "--", "sh", "-c", "cat shared/other shared/dev")...); strings.Contains(out, "secret") || !strings.Contains(out, "open") {
				t.Error(out)
			}
		})
	}
	if a := scene(); a.read("work/shared/dev") != "secret\n" {
		t.Error("control: it has no other name")
	}
}

// approvedScript mounts a workspace in another place, where a run begins and goes on,
// and has another begin there, once a skill in it is approved by its own name; after
// each it starts the skill.
const approvedScript = `
mkdir -p $1/w && mount --bind $2 $1/w && cd $1/w || exit
promote=$3; shift 3
"$@" -- sh -c 'echo begun; touch begun; until [ -e go ]; do sleep 0.01; done' &
n=0; until [ -e begun ] || [ $((n += 1)) -gt 3000 ]; do sleep 0.01; done
skill() { (cd ../other && "$@" --skill ../../work/sk --approve none -- sh ../../work/sk/run.sh); }
skill "$@"
if $promote; then (cd ../other && $1 grants promote ../../work/sk); fi
skill "$@"
touch go; wait
echo after; "$@" -- sh -c 'echo echo evil >sk/run.sh; echo new >new'
skill "$@"`

// An approved skill is not changed by the other names that mounts give it either, by a
// run that begins after it was approved, nor started while one goes on that began
// before.
func TestApprovedTwice(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	requireMounts(t)
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			for approved, want := range map[string]string{"true": "good|after|good", "false": "good|good|after|evil"} {
				a := newAgent(t)
				a.write("work/sk/SKILL.md", "---\nname: sk\ndescription: x\n---\n")
				a.write("work/sk/run.sh", "echo good\n")
				a.write("outside/other/x", "")
				argv := append([]string{"-m", "sh", "-c", approvedScript, "sh", a.outside, a.work, approved, program(t)}, flags...)
				cmd := exec.Command("unshare", argv...)
				cmd.Dir, cmd.Env = a.work, a.env
				b, _ := cmd.CombinedOutput()
				var said []string
				for line := range strings.Lines(string(b)) {
					if line = strings.TrimSpace(line); line == "good" || line == "evil" || line == "after" {
						said = append(said, line)
					}
				}
				if got := strings.Join(said, "|"); got != want || a.read("work/new") != "new\n" {
					t.Errorf("approved %s: %s, want %s:\n%s", approved, got, want, b)
				}
			}
		})
	}
}

// overlaidScript works in an overlay's lower directories, each of which is in the upper
// one only once something was made in it.
const overlaidScript = `
mount -t tmpfs none outside && mkdir outside/up outside/tmp && mount -t overlay none -o lowerdir=work,upperdir=outside/up,workdir=outside/tmp work || exit
cd work && "$@" sh -c '
echo new >file/t && mv file/t file/old
mkdir dir/t && rmdir dir/t
ln -s x link/t && rm link/t
ln hard/old hard/t && rm hard/t
mkfifo pipe/t && rm pipe/t
echo new >from/t && mv from/t to/t && rm to/t
rm kept/old; mv kept moved'
find . -name t; cat file/old; cat kept/old`

// What a run has made it may take away, the first thing in each directory of an overlay
// (a container's) as well, and nothing that was there.
func TestOverlaid(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	requireMounts(t)
	overlaid := func(argv ...string) string {
		a := newAgent(t)
		for _, dir := range [...]string{"file", "dir", "link", "hard", "pipe", "from", "to", "kept"} {
			a.write("work/"+dir+"/old", "old\n")
		}
		cmd := exec.Command("unshare", append([]string{"-m", "sh", "-c", overlaidScript, "sh"}, argv...)...)
		cmd.Dir, cmd.Env = a.root, a.env
		b, _ := cmd.CombinedOutput()
		return string(b)
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			out := overlaid(append(append([]string{program(t), "--grant", "filesystem.write:."}, flags...), "--")...)
			if !strings.HasSuffix(out, "\nnew\nold\n") || strings.Contains(out, "./") || strings.Contains(out, "/t'") {
				t.Error(out)
			}
		})
	}
	if out := overlaid(); !strings.HasPrefix(out, "new\n") || strings.Contains(out, "\nold\n") {
		t.Errorf("control: %s", out)
	}
}

// hiddenScript has as standard input a file over which another workspace is mounted, and
// then a pipe.
const hiddenScript = `
mkfifo -m 600 work/pipe && exec 5<work/file 6<>work/pipe && mount --bind outside work && cd work || exit
"$@" chmod 640 /dev/stdin <&6 2>pipe
echo one >file; "$@" python3 -c "$0" <&5; cat file`

const hiddenChanges = `
import os
def tries(f, *args, **named):
    try: f(*args, **named)
    except OSError: pass
for name in 0, "/proc/self/fd/0", "/dev/stdin":
    tries(os.chmod, name, 0o640)
    tries(os.utime, name, (1, 1))
    tries(os.setxattr, name, "user.x", b"1")
print(open("/dev/stdin").read())
os.chmod("file", 0o640); open("file", "a").write("two")`

// A file that is standard input is changed by nobody who may change what has its path.
func TestMountedOver(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t, "landlock", "seccomp")
	requireMounts(t)
	over := func(argv ...string) (out string, file, pipe bool) {
		a := newAgent(t)
		a.write("work/file", "hidden\n")
		os.Chmod(a.work+"/file", 0o600)
		cmd := exec.Command("unshare", append([]string{"-m", "sh", "-c", hiddenScript, hiddenChanges}, argv...)...)
		cmd.Dir, cmd.Env = a.root, a.env
		b, _ := cmd.CombinedOutput()
		info, err := os.Stat(a.work + "/file")
		if err != nil {
			t.Fatal(err)
		}
		other, err := os.Stat(a.work + "/pipe")
		if err != nil {
			t.Fatal(err)
		}
		return string(b), info.Mode() != 0o600 || info.ModTime().Unix() == 1, other.Mode().Perm() != 0o600
	}
	for way, flags := range ways() {
		t.Run(way, func(t *testing.T) {
			out, file, pipe := over(append(append([]string{program(t), "--grant", "filesystem.write:."}, flags...), "--")...)
			if file || pipe || !strings.HasPrefix(out, "hidden\n") || !strings.HasSuffix(out, "one\ntwo") {
				t.Errorf("it was changed (%t, a pipe %t), or not read, or what has its path was not changed:\n%s", file, pipe, out)
			}
		})
	}
	if out, file, pipe := over(); !file || !pipe {
		t.Errorf("control: %s", out)
	}
}
