package main_test

import (
	"testing"

	"skillrun/audit"
	main "skillrun/cmd/skillrun"
)

// What programs try and do without is spared, and no more.
func TestSpare(t *testing.T) {
	for _, c := range []struct {
		access, target, class string
		want                  bool
	}{
		{"create", "/w/__pycache__", "", true},
		{"create", "/w/__pycache__/a.pyc.12", "", true},
		{"create", "/w/__pycache__", "sensitive", false},
		{"write", "/w/__pycache__/a.pyc", "", false},
		{"read+write", "/proc/7/coredump_filter", "sensitive", true},
		{"read+write", "/proc/7/task/9/comm", "sensitive", true},
		{"read", "/proc/7/task/9/comm", "", false},
		{"write", "/proc/7/comm", "sensitive", false},
		{"write", "/proc/7/oom_score_adj", "sensitive", false},
		{"read", "/sys/devices/pci0/block/vda/queue/rotational", "", true},
		{"read", "/sys/devices/system/clocksource/clocksource0/current_clocksource", "", true},
		{"read", "/sys/devices/pci0/block/vda/queue/scheduler", "", false},
		{"write", "/var/cache/fontconfig", "", true},
		{"create", "/var/cache/fontconfig/8-le64.cache-8.TMP-a", "", true},
		{"read", "/var/cache/fontconfig/8-le64.cache-8", "", false},
		{"create", "/var/cache/other/a", "", false},
		{"create", "/var/spool/libreoffice/uno_packages/cache/stamp.sys", "", true},
		{"read", "/w/rotational", "", false},
		{"create", "/home/u/.cargo/.package-cache", "", true},
		{"read+write", "/home/u/.cargo/.package-cache", "", true},
		{"read", "/home/u/.cargo/.global-cache", "", true},
		{"read", "/home/u/.cargo/.global-cache", "sensitive", false},
		{"delete", "/home/u/.cargo/.global-cache", "", false},
		{"create", "/home/u/.cargo/config.toml", "", false},
		{"create", "/w/.package-cache", "", false},
		{"bind", "@/tmp/.X11-unix/X99", "", true},
		{"connect", "@/tmp/.X11-unix/X0", "", false},
		{"bind", "@other", "", false},
		{"use of IPv6", "", "", true},
		{"read", "/home/u/.pyenv/pyenv.d/exec", "", true},
		{"create", "/home/u/.pyenv/shims/.pyenv-shim", "", false},
		{"write", "/home/u/.pyenv/shims/pip", "", false},
		{"use of the network", "", "", false},
		{"read", "/", "", true},
		{"write", "/", "", false},
		{"read", "/etc", "", true},
		{"read", "/etc", "sensitive", false},
		{"write", "/etc", "", false},
		{"read", "/etc/pip.conf", "", false},
		{"hard link to", "/r/.git/objects/ce/1d9339ba3636c948c25b4b6da605bd1b05f823", "", true},
		{"hard link to", "/r.git/objects/pack/pack-1d93.idx", "", true},
		{"hard link to", "/r/.git/objects/info/alternates", "", false},
		{"write", "/r/.git/refs/heads/main", "", false},
		{"create", "/r/.git/objects/ce/1d9339ba3636c948c25b4b6da605bd1b05f823", "", false},
	} {
		if got := main.Spare(audit.Denial{Access: c.access, Target: c.target, Class: c.class}); got != c.want {
			t.Errorf("%s %s %q: %v", c.access, c.target, c.class, got)
		}
	}
}
