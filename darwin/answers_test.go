package darwin_test

import (
	"strings"
	"testing"

	"skillrun/darwin"
)

// answers is what the standard workspace profile decides. W is the workspace,
// T the run's temporary directory, H the user's home, S the skill.
var answers = []struct{ want, query, why string }{
	// Reads.
	{"allow", "@read W/main.py", "the workspace is granted"},
	{"allow", "@read W", "listing the workspace"},
	{"allow", "@read W/a/b/c/d.txt", "a tree, at any depth"},
	{"allow", "file-read-xattr W/main.py", "attributes are read with the file"},
	{"allow", "@read S/SKILL.md", "the skill's own files"},
	{"allow", "@read /usr/lib/libSystem.B.dylib", "base reads"},
	{"allow", "@read /System/Library/Frameworks/CoreFoundation.framework/CoreFoundation", "base reads"},
	{"allow", "@read /private/etc/hosts", "base reads"},
	{"allow", "@read /private/var/db/timezone/tz/latest", "base reads"},
	{"allow", "@read H/.pyenv/versions/3.12.4/lib/python3.12/os.py", "the user's Python"},
	{"allow", "@read H/.nvm/versions/node/v22.1.0/lib/node_modules/npm/package.json", "the user's node"},
	{"allow", "@read /opt/homebrew/Cellar/git/2.50/bin/git", "Homebrew"},
	{"allow", "@read /", "programs list the root when they start"},
	{"allow", "@read /dev/urandom", "randomness"},
	{"allow", "@read T/cache", "the run's own directory"},
	{"allow", "@read T/home/.config/x", "the run's own HOME"},
	{"deny", "@read H/.ssh/id_ed25519", "outside the grants"},
	{"deny", "@read H/.aws/credentials", "outside the grants"},
	{"deny", "@read H/.zshrc", "outside the grants"},
	{"deny", "@read H/Documents/tax.pdf", "outside the grants"},
	{"deny", "@read H", "the home is not listed"},
	{"deny", "@read H/work/other/main.py", "another project"},
	{"deny", "@read H/work/app2/main.py", "a name that begins alike is another directory"},
	{"deny", "@read H/Library/Keychains/login.keychain-db", "outside the grants"},
	{"deny", "@read /private/etc/sudoers", "not among the base reads"},
	{"deny", "@read /private/etc/master.passwd", "not among the base reads"},
	{"deny", "@read /Users/bob/notes", "another user"},
	{"deny", "@read /Volumes/Backup/x", "another volume"},
	{"deny", "@read /System/Volumes/Data/shared/notes", "what no firmlink shows elsewhere is the users', not the system's"},
	{"deny", "@read /System/Volumes/Data/Users/ann/.ssh/id_ed25519", "another spelling"},
	{"allow", "@read /System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/dyld_shared_cache_arm64e", "every program"},
	{"deny", "@read /private/var/folders/zz/x1/T/other/x", "other programs' temporary files"},
	{"deny", "@read /private/var/folders/zz/x1/C/com.apple.Safari/x", "other programs' caches"},
	{"deny", "@read /private/tmp/x", "other programs' temporary files"},
	{"deny", "@read /dev/disk0", "raw disks"},
	{"deny", "@read /dev/ttys004", "another terminal"},
	{"allow", "@read /dev/ttys004 extension=com.apple.sandbox.pty", "a terminal that the run opened itself"},
	{"deny", "@read W/.env", "secret by name"},
	{"deny", "@read W/sub/deep/.env", "secret by name, at any depth"},
	{"deny", "@read W/.ENV", "the volume folds case"},
	{"deny", "@read W/config/.env.production", "secret by name"},
	{"allow", "@read W/.env.example", "an example is no secret"},
	{"deny", "@read W/certs/server.pem", "a private key by name"},
	{"allow", "@read W/certs/cacert.pem", "certificates of authorities are no secret"},
	{"deny", "@read W/id_rsa", "a private key by name"},
	{"allow", "@read W/.git/config", "control files may be read"},
	{"allow", "@read W/.vscode/settings.json", "control files may be read"},
	// Names.
	{"allow", "@stat W/.env", "a listing shows the name"},
	{"deny", "@stat W/.env/x", "what lies beneath a denied name is hidden"},
	{"allow", "@stat H", "on the way to the workspace"},
	{"allow", "@stat /Users", "on the way to the workspace"},
	{"deny", "@stat H/Documents", "not on the way to anything"},
	{"allow", "@stat /tmp", "a link of the root directory, as a name"},
	{"allow", "@stat /var", "a link of the root directory, as a name"},
	{"allow", "@stat /opt/homebrew/bin/python3", "a link on the way to a command"},
	{"allow", "file-test-existence /tmp/x", "existence is asked in the caller's spelling"},
	// Writes, creations.
	{"allow", "@write W/main.py", "the workspace is granted"},
	{"allow", "@create W/new.txt", "the workspace is granted"},
	{"allow", "@create W/a/b/new.txt", "at any depth"},
	{"allow", "file-write-mode W/main.py", "chmod of what may be written"},
	{"allow", "file-write-times W/main.py", "touch"},
	{"allow", "file-write-xattr W/main.py", "quarantine marks and the like"},
	{"deny", "file-write-acl W/main.py", "an access list opens the file to others"},
	{"deny", "file-write-setugid W/main.py", "set-uid"},
	{"deny", "file-mknod W/dev", "device nodes"},
	{"allow", "@write T/x", "the run's own directory"},
	{"allow", "@create T/x", "the run's own directory"},
	{"allow", "@create T/home/.cache/pip", "the run's own HOME"},
	{"allow", "@write /dev/null", "discards"},
	{"deny", "file-write-mode /dev/null", "root's run would change everybody's"},
	{"allow", "@write /dev/tty", "a prompt"},
	{"deny", "@write /dev/ttys004", "another terminal"},
	{"deny", "@write H/.zshrc", "outside the grants"},
	{"deny", "@create H/Library/LaunchAgents/x.plist", "starts a program at the next login"},
	{"deny", "@create /private/tmp/x", "the shared temporary directory"},
	{"deny", "@create /usr/local/bin/git", "programs of everybody"},
	{"deny", "@write /opt/homebrew/bin/git", "read only"},
	{"deny", "@write H/.pyenv/versions/3.12.4/lib/python3.12/os.py", "read only"},
	{"deny", "@write S/SKILL.md", "the skill never changes from inside"},
	{"deny", "@create S/scripts/x.py", "the skill never changes from inside"},
	{"deny", "file-write-mode S/SKILL.md", "nor its mode"},
	{"deny", "file-write-mode H/.ssh", "mode outside the writable trees"},
	{"deny", "@create /private/var/folders/zz/x1/T/other/x", "other programs' temporary files"},
	// Control files.
	{"deny", "@create W/.git/hooks/pre-commit", "git runs it"},
	{"deny", "@write W/.git/config", "aliases and filters are commands"},
	{"allow", "@create W/.git/index.lock", "git works"},
	{"allow", "@create W/.git/objects/ab/cd", "git works"},
	{"allow", "@create W/.git/refs/heads/topic", "git works"},
	{"deny", "@create W/lib/.git/hooks/post-checkout", "the sub-repository was there at the start"},
	{"allow", "@create W/clone/.git/hooks/pre-commit", "a repository that the run makes"},
	{"allow", "@create W/clone/.git/config", "a repository that the run makes"},
	{"deny", "@create W/.git/info/attributes", "chooses filters"},
	{"deny", "@create W/.vscode/tasks.json", "commands in the editor"},
	{"deny", "@create W/.claude/settings.json", "hooks of the agent"},
	{"deny", "@create W/.CLAUDE/settings.json", "the volume folds case"},
	{"deny", "@create W/pkg/.claude", "at any depth"},
	{"deny", "@write W/.mcp.json", "servers that agents start"},
	{"deny", "@create W/.github/workflows/ci.yml", "runs with the secrets of the project"},
	{"allow", "@create W/.github.md", "only whole names count"},
	{"deny", "@create W/.github", "a directory made here could have been filled elsewhere"},
	{"allow", "@create W/node_modules/x/.vscode/settings.json", "a package of somebody else"},
	{"deny", "@create T/repo/.claude/settings.json", "a directory filled here could be moved in"},
	{"deny", "@create W/.envrc", "direnv runs it"},
	{"deny", "@write W/skillguard-manifest.json", "a manifest never widens itself"},
	{"allow", "@write W/Makefile", "ordinary source"},
	// Deletion and renaming.
	{"allow", "@unlink W/new.txt", "what the run made it may remove"},
	{"deny", "@unlink W/main.py", "it was there, and nothing grants deletion"},
	{"deny", "@unlink W/README.md", "it was there, and nothing grants deletion"},
	{"deny", "@rename W/main.py W/x.py", "renaming away is deletion"},
	{"allow", "@rename W/new.txt W/newer.txt", "its own file"},
	{"allow", "@rename T/x W/y", "a file built in the temporary directory"},
	{"deny", "@rename W/.env W/env.txt", "a secret under another name is readable"},
	{"deny", "@rename W/sub/deep W/sub/d", "leads to a secret"},
	{"deny", "@rename W/sub T/sub", "leads to a secret"},
	{"deny", "@rename W/.git W/git", "makes room for another"},
	{"deny", "@rename W/lib T/lib", "leads to a repository's hooks"},
	{"deny", "@rename W W2", "the root of the workspace stays"},
	{"deny", "@create W", "nor is it replaced, by a link for instance"},
	{"deny", "@unlink H/work", "leads to the workspace"},
	{"deny", "@rename W/c W/.claude", "a directory that was filled under another name"},
	{"deny", "@rename W/h W/.git/hooks", "a directory that was filled under another name"},
	{"deny", "@rename W/x H/.ssh", "outside the grants"},
	{"deny", "@unlink S", "the skill stays"},
	{"allow", "@unlink T/x", "the run's own directory"},
	{"deny", "@unlink T", "skillrun removes it, and nothing else"},
	// Second names and copies.
	{"allow", "@link W/main.py W/copy.py", "both names may be read and written"},
	{"deny", "@link W/.env W/e", "another name of a secret"},
	{"deny", "@link H/.ssh/id_ed25519 W/k", "another name of a secret"},
	{"deny", "@link S/SKILL.md W/s", "another name makes it writable"},
	{"deny", "@link /opt/homebrew/bin/git W/g", "another name makes it writable"},
	{"deny", "@link W/.git/config W/c", "another name makes it writable"},
	{"deny", "@clone W/sub T/x", "a copy of a secret, in its directory"},
	{"deny", "@clone W/.env W/e", "a copy of a secret"},
	{"deny", "@clone W/main.py W/copy.py", "what is copied is not asked for file by file"},
	// Programs.
	{"allow", "@exec /bin/sh", "programs of the system"},
	{"allow", "@exec /usr/bin/python3", "programs of the system"},
	{"allow", "process-exec-interpreter /usr/bin/env", "a script's first line"},
	{"allow", "@exec /opt/homebrew/bin/rg", "Homebrew"},
	{"allow", "@exec H/.pyenv/versions/3.12.4/bin/python3", "the user's Python"},
	{"allow", "@exec H/.nvm/versions/node/v22.1.0/bin/node", "the user's node"},
	{"allow", "@exec /Library/Developer/CommandLineTools/usr/bin/git", "behind the stub in /usr/bin"},
	{"allow", "@exec /Library/Frameworks/Python.framework/Versions/3.13/Resources/Python.app/Contents/MacOS/Python", "what python.org's python becomes"},
	{"allow", "@exec /opt/homebrew/Cellar/python@3.13/3.13.1/Frameworks/Python.framework/Versions/3.13/Resources/Python.app/Contents/MacOS/Python", "what Homebrew's python becomes"},
	{"allow", "@exec /usr/local/bin/node", "Homebrew on Intel"},
	{"deny", "@exec /Applications/Safari.app/Contents/MacOS/Safari", "applications"},
	{"allow", "@exec S/scripts/fill", "the skill's own programs"},
	{"deny", "@exec W/build/a.out", "source_code.execute was not granted"},
	{"deny", "@exec T/x", "what the run can write is not executable"},
	{"deny", "@exec H/bin/tool", "outside the grants"},
	{"deny", "file-map-executable W/evil.dylib", "loading what the run can write"},
	{"deny", "file-map-executable T/evil.so", "loading what the run can write"},
	{"allow", "file-map-executable /opt/homebrew/lib/libssl.dylib", "libraries"},
	{"allow", "process-fork", "shell.execute"},
	{"allow", "dynamic-code-generation", "just-in-time compilers"},
	// Other processes.
	{"allow", "signal self", "its own"},
	{"allow", "signal children", "its own"},
	{"allow", "signal same-sandbox", "its own"},
	{"deny", "signal others", "other processes"},
	{"allow", "process-info-pidinfo same-sandbox", "its own"},
	{"deny", "process-info-pidinfo others", "command lines of others"},
	{"deny", "process-info-listpids", "process.query was not granted"},
	{"deny", "mach-priv-task-port others", "memory of others"},
	{"deny", "mach-priv-task-port self", "no program needs it"},
	{"deny", "mach-task-name others", "other processes"},
	// Facts about the machine.
	{"allow", "sysctl-read hw.ncpu", "thread pools"},
	{"allow", "sysctl-read kern.osrelease", "uname"},
	{"deny", "sysctl-read kern.procargs2", "environment of other processes"},
	{"deny", "sysctl-read kern.proc.all", "other processes"},
	{"deny", "sysctl-read net.inet.ip.forwarding", "not on the list"},
	{"deny", "sysctl-write kern.hostname", "changes the machine"},
	{"allow", "sysctl-write kern.tcsm_enable", "V8"},
	{"deny", "nvram-get boot-args", "firmware"},
	{"deny", "iokit-open IOHIDLibUserClient", "hardware"},
	{"deny", "iokit-get-properties IOPlatformSerialNumber", "hardware"},
	{"deny", "system-privilege", "root's privileges"},
	// Services.
	{"allow", "mach-lookup com.apple.system.opendirectoryd.libinfo", "getpwuid"},
	{"allow", "mach-lookup com.apple.system.notification_center", "time zone"},
	{"deny", "mach-lookup com.apple.SecurityServer", "keychain"},
	{"deny", "mach-lookup com.apple.security.keychaind", "keychain from macOS 13"},
	{"deny", "mach-lookup com.apple.coreservices.launchservicesd", "open(1) runs programs unconfined"},
	{"deny", "mach-lookup com.apple.lsd.mapdb", "LaunchServices"},
	{"deny", "mach-lookup com.apple.coreservices.appleevents", "AppleEvents"},
	{"deny", "mach-lookup com.apple.pasteboard.1", "the clipboard"},
	{"deny", "mach-lookup com.apple.windowserver.active", "the screen"},
	{"deny", "mach-lookup com.apple.dnssd.service", "name queries carry data out"},
	{"deny", "mach-lookup com.apple.trustd.agent", "no network, no certificates"},
	{"deny", "mach-lookup com.apple.tccd", "not on the list"},
	{"deny", "mach-register com.example.service", "serving others"},
	{"deny", "appleevent-send com.apple.finder", "drives other programs"},
	{"deny", "lsopen", "open(1) runs programs unconfined"},
	{"deny", "job-creation", "launchctl"},
	{"deny", "authorization-right-obtain system.privilege.admin", "administrator rights"},
	{"deny", "user-preference-read com.apple.finder", "settings of other programs"},
	{"deny", "user-preference-write com.apple.finder", "settings of other programs"},
	{"deny", "device-camera", "camera"},
	{"deny", "device-microphone", "microphone"},
	{"allow", "ipc-posix-sem-create /mp-abc", "Python's multiprocessing"},
	{"allow", "ipc-posix-shm-write-create /psm_abc", "Python's shared memory"},
	{"deny", "ipc-posix-shm-read-data apple.shm.notification_center", "other programs' memory"},
	{"deny", "ipc-sysv-shm", "other programs' memory"},
	{"allow", "pseudo-tty", "expect, script"},
	{"allow", "file-ioctl /dev/tty", "window size"},
	{"deny", "file-ioctl /dev/disk0", "raw disks"},
	// The file system's shape.
	{"deny", "file-mount /Volumes/x", "mounts"},
	{"deny", "file-unmount /Volumes/x", "mounts"},
	{"deny", "file-chroot T", "another root"},
	{"deny", "fs-snapshot-create", "older states of the disk"},
	// The network.
	{"deny", "network-outbound tcp:93.184.216.34:443", "no network"},
	{"deny", "network-outbound tcp:localhost:8080", "no network, loopback neither"},
	{"deny", "network-outbound udp:8.8.8.8:53", "no network"},
	{"deny", "network-outbound tcp:[::1]:631", "no network"},
	{"deny", "@listen tcp:localhost:3000", "no network"},
	{"deny", "system-socket socket-domain=AF_INET socket-type=SOCK_STREAM", "no network"},
	{"allow", "system-socket socket-domain=AF_UNIX socket-type=SOCK_STREAM", "socketpair"},
	{"deny", "network-outbound unix:/private/var/run/mDNSResponder", "name queries carry data out"},
	{"deny", "network-outbound unix:/private/var/run/docker.sock", "another's socket"},
	{"deny", "network-outbound unix:/private/tmp/com.apple.launchd.x/Listeners", "the ssh agent"},
	{"deny", "network-outbound unix:H/.gnupg/S.gpg-agent", "the gpg agent"},
	{"deny", "network-outbound unix:W/dev.sock", "whose socket it is, is not known"},
	{"allow", "network-outbound unix:T/own.sock", "its own"},
	{"allow", "@listen unix:T/own.sock", "its own"},
}

// spell replaces the letters of a query by the paths of the standard run.
func spell(query string) string {
	words := strings.Fields(query)
	for i, w := range words[1:] {
		prefix := ""
		if rest, ok := strings.CutPrefix(w, "unix:"); ok {
			prefix, w = "unix:", rest
		}
		for letter, path := range map[string]string{"W": workspace, "T": tmp, "H": home, "S": skill} {
			if w == letter || strings.HasPrefix(w, letter+"/") {
				w = path + w[1:]
				break
			}
		}
		if w == "W2" {
			w = workspace + "2"
		}
		words[1+i] = prefix + w
	}
	return strings.Join(words, " ")
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	if len(answers) < 120 {
		t.Fatalf("%d answers, want at least 120", len(answers))
	}
	f := standardFacts()
	p, err := darwin.Compile(standardProfile(f), f)
	if err != nil {
		t.Fatal(err)
	}
	queries := make([]string, len(answers))
	own := parse(t, p, 15)
	for i, a := range answers {
		queries[i] = spell(a.query)
		if a.why == "" {
			t.Errorf("%s: no reason", a.query)
		}
		if got := ask(t, own, queries[i]); got != a.want {
			t.Errorf("%s: %s, want %s: %s", queries[i], got, a.want, a.why)
		}
	}
	t.Run("sbpl-eval", func(t *testing.T) {
		tool := evaluator(t)
		for _, release := range releases {
			for i, got := range askTool(t, tool, p, release, queries) {
				if got != answers[i].want {
					t.Errorf("macOS %d: %s: %s, want %s: %s", release, queries[i], got, answers[i].want, answers[i].why)
				}
			}
		}
	})
}
