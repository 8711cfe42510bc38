package darwin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skillrun/darwin"
	"skillrun/darwin/sbpl"
	"skillrun/profiles"
)

// escapes are ways out of a sandbox that others found or left open, by what
// closes them. No policy allows one, whatever it grants, unless its profile
// grants just that: in names the golden policies for which that is so, and
// files are looked up in the profile. W, T, H and S as in answers.
var escapes = []struct{ queries, why, in string }{
	// Services outside that act for whoever asks.
	{"lsopen", "open(1) starts programs unconfined", ""},
	{"appleevent-send com.apple.finder; appleevent-send com.apple.Terminal; appleevent-send com.apple.systemevents", "osascript(1)", ""},
	{"job-creation", "launchctl(1)", ""},
	{"mach-lookup com.apple.coreservices.launchservicesd; mach-lookup com.apple.lsd.open; mach-lookup com.apple.lsd.mapdb; mach-lookup com.apple.lsd.modifydb; mach-lookup com.apple.CoreServices.coreservicesd; mach-lookup com.apple.coreservices.quarantine-resolver", "LaunchServices", ""},
	{"mach-lookup com.apple.coreservices.appleevents; mach-lookup com.apple.dock.server; mach-lookup com.apple.hiservices-xpcservice; mach-lookup com.apple.universalaccessd", "driving other programs", ""},
	{"mach-lookup com.apple.xpc.smd; mach-lookup com.apple.xpc.launchd.domain.user; mach-lookup com.apple.xpc.launchd.domain.user.501; mach-lookup com.apple.xpc.activity.unmanaged; mach-lookup com.apple.backgroundtaskmanagementagent", "launchd's jobs", ""},
	{"mach-lookup com.apple.SecurityServer; mach-lookup com.apple.securityd; mach-lookup com.apple.securityd.xpc; mach-lookup com.apple.secd; mach-lookup com.apple.security.keychaind; mach-lookup com.apple.security.agent; mach-lookup com.apple.authd; mach-lookup com.apple.ctkd.token-client", "the keychain, and rights", ""},
	{"mach-lookup com.apple.pasteboard.1; mach-lookup com.apple.windowserver.active; mach-lookup com.apple.windowserver; mach-lookup com.apple.replayd; mach-lookup com.apple.screencapture.interactive; mach-lookup com.apple.iohideventsystem", "clipboard, screen, keystrokes", ""},
	{"mach-lookup com.apple.tccd; mach-lookup com.apple.tccd.system; mach-lookup com.apple.sandboxd; mach-lookup com.apple.containermanagerd; mach-lookup com.apple.taskgated", "what decides about rights", ""},
	{"mach-lookup com.apple.metadata.mds; mach-lookup com.apple.spotlight.IndexAgent; mach-lookup com.apple.quicklook.satellite; mach-lookup com.apple.FSEvents; mach-lookup com.apple.fonts", "read files on behalf of others", ""},
	{"mach-lookup com.apple.nsurlsessiond; mach-lookup com.apple.nsurlstorage-cache; mach-lookup com.apple.dnssd.service; mach-lookup com.apple.airportd; mach-lookup com.apple.sharingd.nsxpc; mach-lookup com.apple.bluetoothd", "reach the network on behalf of others", ""},
	{"mach-lookup com.apple.trustd.agent; mach-lookup com.apple.SystemConfiguration.configd; mach-lookup com.apple.SystemConfiguration.DNSConfiguration", "the network's settings", "net-hosts net-host listen-any"},
	{"mach-lookup com.apple.contactsd; mach-lookup com.apple.CalendarAgent; mach-lookup com.apple.imagent; mach-lookup com.apple.accountsd.accountmanager; mach-lookup com.apple.locationd.desktop.registration; mach-lookup com.apple.audio.audiohald; mach-lookup com.apple.cmio.AppleCameraAssistant", "the user's data, microphone, camera", ""},
	{"mach-lookup com.apple.cfprefsd.agent; mach-lookup com.apple.cfprefsd.daemon; mach-lookup com.apple.distributed_notifications@Uv3; mach-lookup com.apple.diagnosticd; mach-lookup com.apple.analyticsd; mach-lookup com.apple.DiskArbitration.diskarbitrationd; mach-lookup com.apple.ReportCrash", "settings, messages, disks", ""},
	{"mach-lookup xpc-service-name=com.apple.hiservices-xpcservice; mach-lookup local-name=com.apple.x; mach-lookup com.apple.logd.admin; mach-lookup com.apple.system.loggerx", "other name spaces, names that begin alike", ""},
	{"mach-register com.apple.x; mach-cross-domain-lookup com.apple.x; mach-issue-extension com.apple.x", "to be a service, or lend one", ""},
	{"user-preference-read com.apple.finder; user-preference-write com.apple.loginwindow; managed-preference-read com.apple.x", "settings that start programs", ""},
	{"authorization-right-obtain system.privilege.admin; opendirectory-user-modify; darwin-notification-post; distributed-notification-post com.apple.x", "rights, accounts, messages", ""},

	// Other processes.
	{"signal others", "signals", ""},
	{"mach-priv-task-port others; mach-priv-task-port same-sandbox; mach-task-name others; mach-priv-host-port; mach-host-special-port-set; mach-host-exception-port-set", "memory, debugging", ""},
	{"process-info-pidinfo others; process-info-rusage others; process-info-listpids", "what runs", "query"},
	{"process-info-pidfdinfo others; process-info-pidfileportinfo others; process-info-setcontrol others; process-info-dirtycontrol others; process-info-codesignature others; process-codesigning-status-get others; process-codesigning-status-set others; system-debug target=others; system-sched target=others", "open files, control", ""},
	{"sysctl-read kern.procargs2; sysctl-read kern.procargs2.1; sysctl-read kern.proc.all; sysctl-read kern.proc.pid.1; sysctl-read kern.proc.uid.501; sysctl-read kern.procargs; sysctl-read net.routetable; sysctl-read kern.bootargs; sysctl-read kern.uuid; sysctl-read hwx", "arguments and environment of others, routes", ""},
	{"sysctl-write kern.hostname; sysctl-write kern.corefile; sysctl-write kern.proc.all; sysctl-write hw.ncpu; sysctl-write vm.compressor_mode; sysctl-write kern.tcsm_enablex", "the machine's settings", ""},
	{"ipc-sysv-shm; ipc-sysv-sem; ipc-sysv-msg; ipc-posix-shm-read-data apple.shm.notification_center; ipc-posix-shm-read-data apple.cfprefs.501v1; ipc-posix-shm-write-data /other; ipc-posix-shm-write-create /other; ipc-posix-sem-open /other; ipc-posix-sem-create /mpx", "other programs' memory", ""},
	{"process-fork", "children", "standard execute children"},

	// The kernel, hardware, the file system's shape.
	{"iokit-open IOHIDLibUserClient; iokit-open IOSurfaceRootUserClient; iokit-open AGXDeviceUserClient; iokit-open AppleKeyStoreUserClient; iokit-open IOUSBDeviceUserClientV2; iokit-open RootDomainUserClient; iokit-open-service AppleSMC; iokit-open-user-client AppleSMCClient; iokit-set-properties x; iokit-get-properties IOPlatformSerialNumber", "drivers", ""},
	{"hid-control; device-camera; device-microphone; nvram-get boot-args; nvram-set boot-args; nvram-delete boot-args; boot-arg-set", "hardware", ""},
	{"system-privilege; system-reboot; system-set-time; system-kext-load; system-kext-query; system-acct; system-audit; system-swap; system-suspend-resume; system-mac-label; system-nfssvc; system-fsctl; system-automount /x; system-info", "root's privileges", ""},
	{"file-mknod W/x; file-mount /Volumes/x; file-mount W/x; file-mount-update /; file-unmount /Volumes/x; file-chroot T; file-revoke /dev/ttys001; fs-snapshot-create; fs-snapshot-delete; fs-snapshot-revert; fs-rename; storage-class-map", "the file system's shape", ""},
	{"file-graft W/x; file-ungraft W/x; fs-snapshot-mount", "the same, in later releases", ""},
	{"file-ioctl /dev/disk0; file-ioctl /dev/bpf0; file-ioctl /dev/pf; file-ioctl /dev/ttyp1; file-ioctl /dev/console; file-ioctl W/x", "devices", ""},
	{"@read /dev/rdisk0; @read /dev/bpf0; @read /dev/auditpipe; @read /dev/fsevents; @read /dev/dtrace; @read /dev/ttys004; @read /dev/oslog; @read /dev/console", "devices", ""},
	{"@write /dev/ttys004; @write /dev/rdisk0; @write /dev/pf; @write /dev/console; @write /dev/ttys004 extension=com.apple.app-sandbox.read-write", "other terminals, disks", ""},
	{"load-unsigned-code W/x; qtn-user W/x; file-search W/x", "quarantine, code without signature", ""},

	// Tokens of the sandbox's own.
	{"file-issue-extension W/x extension-class=com.apple.app-sandbox.read-write; generic-issue-extension extension-class=com.apple.x; iokit-issue-extension extension-class=x; ipc-posix-issue-extension /x extension-class=x", "lending rights", ""},
	{"@read H/.ssh/id_rsa extension=com.apple.app-sandbox.read; @write H/.zshrc extension=com.apple.app-sandbox.read-write; @write H/.zshrc extension=com.apple.sandbox.pty; @read /dev/disk0 extension=com.apple.sandbox.pty; @exec W/x extension=com.apple.sandbox.executable", "borrowed rights", ""},

	// The network.
	{"network-outbound tcp:192.0.2.7:443; network-outbound udp:192.0.2.7:53; network-outbound tcp:[2001:db8::1]:443; network-outbound udp:224.0.0.251:5353; network-outbound tcp:169.254.169.254:80", "out", "net-host"},
	{"network-outbound tcp:localhost:22; network-outbound tcp:thishost:5900; network-outbound tcp:[::1]:631; network-outbound udp:localhost:18080; network-outbound tcp:192.0.2.7:18080", "services of this machine, the gate's port elsewhere", "net-host listen-any"},
	{"network-outbound tcp:localhost:18080", "the gate's port", "net-host net-hosts listen-any"},
	{"@listen tcp:localhost:3001; @listen tcp:thishost:8443", "serving", "net-host listen listen-any"},
	{"@listen tcp:localhost:22; @listen udp:thishost:5353", "serving", "net-host listen-any"},
	{"system-socket socket-domain=AF_INET socket-type=SOCK_STREAM; system-socket socket-domain=AF_INET6 socket-type=SOCK_STREAM", "TCP", "net-host net-hosts listen listen-any"},
	{"system-socket socket-domain=AF_INET socket-type=SOCK_DGRAM; system-socket socket-domain=AF_INET socket-type=SOCK_RAW", "UDP, raw", "net-host listen listen-any"},
	{"system-socket socket-domain=AF_ROUTE socket-type=SOCK_RAW; system-socket socket-domain=AF_SYSTEM socket-type=SOCK_DGRAM; system-socket socket-domain=AF_NDRV socket-type=SOCK_RAW", "routes, kernel controls, frames", ""},
	{"network-outbound unix:/private/var/run/mDNSResponder", "name queries carry data out", "net-host"},
	{"network-outbound unix:/private/var/run/docker.sock", "containers", "socket"},
	{"network-outbound unix:/private/var/run/usbmuxd; network-outbound unix:/private/var/run/syslog; network-outbound unix:/private/var/run/cupsd; network-outbound unix:/private/tmp/com.apple.launchd.x/Listeners; network-outbound unix:H/.gnupg/S.gpg-agent; network-outbound unix:H/.docker/run/docker.sock; network-outbound unix:/private/tmp/tmux-501/default; network-outbound unix:W/x.sock; network-bind unix:W/x.sock; network-bind unix:/private/tmp/x", "other programs' sockets", ""},

	// Files: secrets, what starts later, and their other spellings.
	{"@read H/.ssh/id_rsa; @read H/.aws/credentials; @read H/.netrc; @read H/Library/Keychains/login.keychain-db; @read H/Library/Cookies/x; @read H/Library/Messages/chat.db; @read H/Library/Mail/x; @read /Library/Keychains/System.keychain", "secrets", ""},
	{"@read /System/Volumes/Data/Users/ann/.ssh/id_rsa; @read /private/../Users/ann/.ssh/id_rsa; @read /.vol/1/2; @read H/.SSH/id_rsa; @read /users/ann/.ssh/id_rsa", "spellings that the kernel does not ask about", "moved"},
	{"@read /private/etc/master.passwd; @read /private/etc/sudoers; @read /private/var/db/dslocal/nodes/Default/users/ann.plist; @read /private/var/root/x; @read /Users/bob/x; @read /Volumes/Backup/x; @read /private/var/vm/sleepimage; @read /cores/core.1; @read /private/var/folders/zz/x1/C/x; @read /private/tmp/x; @read /private/var/log/x", "others' files", ""},
	{"@create H/Library/LaunchAgents/x.plist; @create /Library/LaunchDaemons/x.plist; @create H/.zshenv; @write H/.zshrc; @create H/.ssh/authorized_keys; @create H/.SSH/authorized_keys; @create H/.\u017fsh; @create H/.\u00dfh; @create H/.\u1e9eH; @create /private/var/at/tabs/ann; @create /Applications/x.app; @create H/Applications/x.app; @create /usr/local/bin/git; @create /opt/homebrew/bin/x; @create H/.pyenv/shims/x; @write /private/etc/hosts; @create /private/etc/periodic/daily/x; @create H/Library/Preferences/x.plist; @create H/.config/git/config; @create H/.gitconfig", "what starts later, outside", ""},
	{"@create W/.git/hooks/x; @write W/.git/config; @create W/.git/HOOKS/x; @create W/.git/con\ufb01g.worktree; @create W/.vscode/tasks.json; @create W/.VSCODE; @create W/.claude; @create W/.CLAUDE/x; @create W/.github; @create W/.github/work\ufb02ows/x.yml; @create W/.ba\u017fh_pro\ufb01le; @create W/.envrc; @create W/.mcp.json; @create W/.venv/bin/python; @create W/skillguard-manife\ufb06.json; @write S/SKILL.md; @create S/x; @unlink S", "what starts later, in the workspace", ""},
	{"@read W/.env; @read W/.Env; @read W/sub/deep/.env; @read W/id_rsa; @read W/.htpa\u00dfwd; @clone W/.env W/x; @link W/.env W/x; @rename W/.env W/x; @rename W/sub W/y; @rename W/sub/deep T/y; @link H/.ssh/id_rsa W/x; @clone H/.ssh/id_rsa W/x; @rename H/.ssh W/x", "secrets under another name", ""},
	{"@clone W/sub T/x; @clone W T/x; @clone H W/x; @clone W/main.py W/x; @clone S W/x; @clone T W/x", "a clone of a directory takes along what is denied in it", ""},
	{"@rename W/.git W/g; @rename W/x W/.git; @rename W/c W/.claude; @rename T/c W/.vscode; @rename T/hooks W/.git/hooks; @rename W W2; @create W; @unlink W; @rename H /Users/ann2; @rename H/work H/w; @unlink T", "moving what is protected away, or something else in", ""},
	{"@link /usr/bin/env W/x; @link S/SKILL.md W/x; @link W/.git/config T/x; @link /opt/homebrew/bin/git T/x", "a second name that can be written", ""},
	{"@exec W/x; @exec T/x; @exec T/home/x; process-exec-interpreter W/x; file-map-executable W/x.dylib; file-map-executable T/x.dylib; @exec H/bin/x; @exec /private/tmp/x; @exec /Applications/Utilities/Terminal.app/Contents/MacOS/Terminal", "running what was written", ""},
	{"file-write-acl W/x; file-write-setugid W/x; file-write-acl T/x; file-write-setugid T/x", "opening files to others", "any-mode"},
	{"file-write-mode H/.ssh; file-write-owner /usr/local/bin/git; file-write-flags H/.zshrc; file-write-xattr /Applications/x.app; file-write-times H/x", "metadata elsewhere", ""},
}

// accessOf is what a profile has to grant for an operation on a file.
var accessOf = map[string]profiles.Access{
	"@read": profiles.Read, "@write": profiles.Write, "@create": profiles.Create, "@unlink": profiles.Delete, "@exec": profiles.Execute,
	"@rename": profiles.Delete, "@link": profiles.Read | profiles.Write, "process-exec-interpreter": profiles.Execute, "file-map-executable": profiles.Execute,
	"file-write-mode": profiles.Write, "file-write-owner": profiles.Write, "file-write-flags": profiles.Write, "file-write-xattr": profiles.Write, "file-write-times": profiles.Write,
}

// asks says whether a profile with the run's own directories grants what a
// query asks for.
func asks(p *profiles.Profile, query string) bool {
	words := strings.Fields(query)
	access := accessOf[words[0]]
	if access == 0 {
		return false
	}
	whole := *p
	own := profiles.Read | profiles.Write | profiles.Create | profiles.Delete
	if p.Process.ExecuteOwn {
		own |= profiles.Execute
	}
	whole.Paths = append(slices.Clone(p.Paths), profiles.PathRule{Path: tmp, Tree: true, Access: own})
	for i := range whole.Paths {
		if whole.Paths[i].Access&profiles.Create != 0 {
			whole.Paths[i].Access |= profiles.Delete // what it made itself
		}
	}
	for i, at := range words[1:] {
		if !strings.HasPrefix(at, "/") {
			break
		}
		if i > 0 {
			access = profiles.Create
		}
		if words[0] == "file-map-executable" && !whole.Allows(at, profiles.Write).Allowed {
			break // not written by the run
		}
		if !whole.Allows(at, access).Allowed {
			return false
		}
	}
	return true
}

// TestEscapes: every policy for every release refuses every escape.
// TestUnambiguous has sbpl-eval say the same.
func TestEscapes(t *testing.T) {
	t.Parallel()
	for i, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			policy, p, _ := compileGolden(t, i)
			for _, release := range releases {
				own := parse(t, policy, release)
				for _, q := range escapesOf(release) {
					query := spell(q.query)
					if slices.Contains(strings.Fields(q.in), g.name) || asks(p, query) {
						continue
					}
					if got := ask(t, own, query); got != "deny" {
						t.Errorf("macOS %d: %s: %s: %s", release, query, got, q.why)
					}
				}
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		for _, release := range releases {
			open, err := sbpl.Parse("(version 1)(allow default)", nil, release)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range escapesOf(release) {
				switch op, _, _ := strings.Cut(q.query, " "); op {
				case "job-creation", "storage-class-map", "file-write-setugid":
					continue // version 1 refuses these unless a rule names them
				}
				if got := ask(t, open, spell(q.query)); got != "allow" {
					t.Errorf("macOS %d: %s: %s where everything is allowed", release, q.query, got)
				}
			}
		}
	})
}

type escape struct{ query, why, in string }

// escapesOf gives the escapes that a release has the operations for.
func escapesOf(release int) (all []escape) {
	for _, e := range escapes {
		for _, q := range strings.Split(e.queries, "; ") {
			op, _, _ := strings.Cut(q, " ")
			if strings.HasSuffix(op, "graft") && release < 26 || op == "fs-snapshot-mount" && release < 14 {
				continue
			}
			all = append(all, escape{q, e.why, e.in})
		}
	}
	return all
}

// keptBuiltins are the operations that version 1 allows by itself and that no
// policy revokes.
var keptBuiltins = map[string]string{
	"dynamic-code-generation": "just-in-time compilers",
	"file-map-executable":     "libraries; denied for what the run may write",
	"file-test-existence":     "access(2) in the caller's spelling; denied with what is denied",
	"socket-ioctl":            "there are no sockets to use it on but those that are granted",
	"syscall-unix":            "every program", "syscall-mach": "every program", "syscall-mig": "every program", "system-fcntl": "every program",
}

// TestBuiltinAllows: what version 1 allows whatever (deny default) says is
// revoked by name in the policy of the zero profile, or kept for a reason. The
// list is sbpl-eval's.
func TestBuiltinAllows(t *testing.T) {
	rows, err := os.ReadFile(filepath.Join(filepath.Dir(evaluator(t)), "operations.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := darwin.Compile(&profiles.Profile{}, standardFacts())
	if err != nil {
		t.Fatal(err)
	}
	const release = 26
	own := parse(t, policy, release)
	none, err := sbpl.Parse("(version 1)(deny default)", nil, release)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, row := range strings.Split(string(rows), "\n") {
		fields := strings.Split(row, "\t")
		if len(fields) < 3 || strings.HasPrefix(row, "#") || fields[2] != "allow" {
			continue
		}
		op := fields[0]
		found[op] = true
		if got := ask(t, none, op); got != "allow" {
			t.Errorf("%s: %s under (deny default) alone, so that this proves nothing", op, got)
		}
		if got, kept := ask(t, own, op), keptBuiltins[op] != ""; (got == "allow") != kept {
			t.Errorf("%s: %s, kept for a reason: %t", op, got, kept)
		}
	}
	for op := range keptBuiltins {
		if !found[op] {
			t.Errorf("%s is kept and not in the list", op)
		}
	}
	if len(found) < 15 {
		t.Errorf("only %d operations found", len(found))
	}
}
