package linux_test

import (
	"fmt"
	"testing"

	"skillrun/linux"
)

// expectation says what a call must answer, written down from the kernel's
// headers and manual pages, not from the table. A number of -1 is a call that
// the architecture lacks.
type expectation struct {
	name         string
	amd64, arm64 int
	args         [6]uint64
	want         string
}

const high = 1 << 32 // what the kernel does not see of an int

// hostile calls are refused by every filter.
var hostile = []expectation{
	{"clone3", 435, 435, [6]uint64{}, "ENOSYS"},
	{"unknown", 472, 472, [6]uint64{}, "ENOSYS"},
	{"unknown, between", 400, 400, [6]uint64{}, "ENOSYS"},
	{"unknown, far", 100000, 100000, [6]uint64{}, "ENOSYS"},
	{"clone NEWUSER", 56, 220, [6]uint64{0x10000000 | 17}, "EPERM"},
	{"clone NEWNS", 56, 220, [6]uint64{0x00020000}, "EPERM"},
	{"clone NEWNET, high bits", 56, 220, [6]uint64{high | 0x40000000}, "EPERM"},
	{"clone NEWPID", 56, 220, [6]uint64{0x20000000}, "EPERM"},
	{"clone NEWIPC", 56, 220, [6]uint64{0x08000000}, "EPERM"},
	{"clone NEWUTS", 56, 220, [6]uint64{0x04000000}, "EPERM"},
	{"clone NEWCGROUP", 56, 220, [6]uint64{0x02000000}, "EPERM"},
	{"unshare NEWUSER", 272, 97, [6]uint64{0x10000000}, "EPERM"},
	{"unshare NEWNS and FILES", 272, 97, [6]uint64{0x00020400}, "EPERM"},
	{"unshare NEWTIME", 272, 97, [6]uint64{0x80}, "EPERM"},
	{"setns", 308, 268, [6]uint64{3}, "EPERM"},
	{"mount", 165, 40, [6]uint64{}, "EPERM"},
	{"umount2", 166, 39, [6]uint64{}, "EPERM"},
	{"pivot_root", 155, 41, [6]uint64{}, "EPERM"},
	{"chroot", 161, 51, [6]uint64{}, "EPERM"},
	{"open_tree", 428, 428, [6]uint64{}, "EPERM"},
	{"move_mount", 429, 429, [6]uint64{}, "EPERM"},
	{"fsopen", 430, 430, [6]uint64{}, "EPERM"},
	{"fsconfig", 431, 431, [6]uint64{}, "EPERM"},
	{"fsmount", 432, 432, [6]uint64{}, "EPERM"},
	{"fspick", 433, 433, [6]uint64{}, "EPERM"},
	{"mount_setattr", 442, 442, [6]uint64{}, "EPERM"},
	{"open_tree_attr", 467, 467, [6]uint64{}, "EPERM"},
	{"io_uring_setup", 425, 425, [6]uint64{8}, "ENOSYS"},
	{"io_setup", 206, 0, [6]uint64{8}, "ENOSYS"},
	{"io_submit", 209, 2, [6]uint64{}, "ENOSYS"},
	{"io_uring_enter", 426, 426, [6]uint64{}, "ENOSYS"},
	{"io_uring_register", 427, 427, [6]uint64{}, "ENOSYS"},
	{"userfaultfd", 323, 282, [6]uint64{1}, "EPERM"},
	{"bpf", 321, 280, [6]uint64{}, "EPERM"},
	{"perf_event_open", 298, 241, [6]uint64{}, "EPERM"},
	{"add_key", 248, 217, [6]uint64{}, "EPERM"},
	{"request_key", 249, 218, [6]uint64{}, "EPERM"},
	{"keyctl SESSION_TO_PARENT", 250, 219, [6]uint64{18}, "EPERM"},
	{"kexec_load", 246, 104, [6]uint64{}, "EPERM"},
	{"kexec_file_load", 320, 294, [6]uint64{}, "EPERM"},
	{"init_module", 175, 105, [6]uint64{}, "EPERM"},
	{"finit_module", 313, 273, [6]uint64{}, "EPERM"},
	{"delete_module", 176, 106, [6]uint64{}, "EPERM"},
	{"swapon", 167, 224, [6]uint64{}, "EPERM"},
	{"swapoff", 168, 225, [6]uint64{}, "EPERM"},
	{"reboot", 169, 142, [6]uint64{}, "EPERM"},
	{"acct", 163, 89, [6]uint64{}, "EPERM"},
	{"quotactl", 179, 60, [6]uint64{}, "EPERM"},
	{"quotactl_fd", 443, 443, [6]uint64{}, "EPERM"},
	{"settimeofday", 164, 170, [6]uint64{}, "EPERM"},
	{"clock_settime", 227, 112, [6]uint64{}, "EPERM"},
	{"adjtimex", 159, 171, [6]uint64{}, "EPERM"},
	{"clock_adjtime", 305, 266, [6]uint64{}, "EPERM"},
	{"sethostname", 170, 161, [6]uint64{}, "EPERM"},
	{"setdomainname", 171, 162, [6]uint64{}, "EPERM"},
	{"syslog", 103, 116, [6]uint64{3}, "EPERM"},
	{"open_by_handle_at", 304, 265, [6]uint64{}, "EPERM"},
	{"name_to_handle_at", 303, 264, [6]uint64{}, "EPERM"},
	{"mknod char", 133, -1, [6]uint64{0, 0o020666, 0x103}, "EPERM"},
	{"mknod block, high bits", 133, -1, [6]uint64{0, high | 0o060666, 0x800}, "EPERM"},
	{"mknodat char", 259, 33, [6]uint64{0, 0, 0o020666, 0x103}, "EPERM"},
	{"mknodat block", 259, 33, [6]uint64{0, 0, 0o060600, 0x800}, "EPERM"},
	{"mknodat directory", 259, 33, [6]uint64{0, 0, 0o040700}, "ENOSYS"},
	{"process_vm_readv", 310, 270, [6]uint64{1}, "EPERM"},
	{"process_vm_writev", 311, 271, [6]uint64{1}, "EPERM"},
	{"process_madvise", 440, 440, [6]uint64{}, "EPERM"},
	{"kcmp", 312, 272, [6]uint64{}, "EPERM"},
	{"pidfd_getfd", 438, 438, [6]uint64{}, "EPERM"},
	{"move_pages of another", 279, 239, [6]uint64{77}, "ENOSYS"},
	{"migrate_pages of another", 256, 238, [6]uint64{77}, "ENOSYS"},
	{"prlimit64 of another", 302, 261, [6]uint64{77, 7, 0x1000}, "EPERM"},
	{"prlimit64 of another's cores", 302, 261, [6]uint64{high, 4, 0x1000}, "EPERM"},
	{"prlimit64 of cores, set and asked", 302, 261, [6]uint64{0, high | 4, 0x1000, 0x1000}, "EPERM"},
	{"setpriority of the user", 141, 140, [6]uint64{2, 0, 19}, "EPERM"},
	{"ioprio_set of the user", 251, 30, [6]uint64{3, 0, 0}, "EPERM"},
	{"setpriority of a group", 141, 140, [6]uint64{1, 0, 19}, "EPERM"},
	{"ioprio_set of a group", 251, 30, [6]uint64{2, 0, 0}, "EPERM"},
	{"lookup_dcookie", 212, 18, [6]uint64{}, "EPERM"},
	{"nfsservctl", 180, 42, [6]uint64{}, "EPERM"},
	{"vhangup", 153, 58, [6]uint64{}, "EPERM"},
	{"iopl", 172, -1, [6]uint64{3}, "EPERM"},
	{"ioperm", 173, -1, [6]uint64{}, "EPERM"},
	{"modify_ldt", 154, -1, [6]uint64{1}, "EPERM"},
	{"uselib", 134, -1, [6]uint64{}, "ENOSYS"},
	{"_sysctl", 156, -1, [6]uint64{}, "ENOSYS"},
	{"fanotify_init", 300, 262, [6]uint64{}, "EPERM"},
	{"memfd_create MFD_EXEC", 319, 279, [6]uint64{0x1000, 0x11}, "EACCES"},
	{"memfd_create MFD_EXEC, high bits", 319, 279, [6]uint64{0x1000, high*8 | 0x10}, "EACCES"},
	{"mmap MAP_HUGETLB", 9, 222, [6]uint64{0, 1 << 21, 3, 0x40022, 0xffffffff}, "ENOMEM"},
	{"mmap MAP_HUGETLB, high bits", 9, 222, [6]uint64{0, 1 << 30, 3, high | 30<<26 | 0x40021}, "ENOMEM"},
	{"memfd_create MFD_HUGETLB", 319, 279, [6]uint64{0x1000, 12}, "ENOMEM"},
	{"memfd_create MFD_HUGETLB, high bits", 319, 279, [6]uint64{0x1000, high | 4}, "ENOMEM"},
	{"shmget SHM_HUGETLB", 29, 194, [6]uint64{0, 1 << 21, 0o7600}, "ENOMEM"},
	{"mq_open", 240, 180, [6]uint64{0x1000, 0o102, 0o600}, "ENOSYS"},
	{"mq_unlink", 241, 181, [6]uint64{0x1000}, "ENOSYS"},
	{"setsockopt SO_BINDTODEVICE", 54, 208, [6]uint64{0, 1, 25}, "EPERM"},
	{"setsockopt SO_BINDTOIFINDEX, high bits", 54, 208, [6]uint64{0, high | 1, high | 62}, "EPERM"},
	{"memfd_secret", 447, 447, [6]uint64{}, "ENOSYS"},
	{"personality READ_IMPLIES_EXEC", 135, 92, [6]uint64{0x0400000}, "ENOSYS"},
	{"personality MMAP_PAGE_ZERO", 135, 92, [6]uint64{0x0100000}, "ENOSYS"},
	{"prctl PR_SET_MM", 157, 167, [6]uint64{35, 13}, "EPERM"},
	{"prctl PR_SET_MM, high bits", 157, 167, [6]uint64{high | 35, 13}, "EPERM"},
	{"prctl PR_FUTEX_HASH", 157, 167, [6]uint64{78, 1, 1 << 24}, "EINVAL"},
	{"prctl PR_FUTEX_HASH, high bits", 157, 167, [6]uint64{high | 78, 1, 1 << 24}, "EINVAL"},
	{"ioctl TIOCSTI", 16, 29, [6]uint64{0, 0x5412}, "EPERM"},
	{"ioctl TIOCSTI, high bits", 16, 29, [6]uint64{0, high | 0x5412}, "EPERM"},
	{"ioctl TIOCSTI, all high bits", 16, 29, [6]uint64{0, 0xffffffff00005412}, "EPERM"},
	{"ioctl TIOCLINUX", 16, 29, [6]uint64{0, 0x541c}, "EPERM"},
	{"ioctl TIOCLINUX, high bits", 16, 29, [6]uint64{0, high | 0x541c}, "EPERM"},
	{"ioctl TIOCSETD", 16, 29, [6]uint64{0, 0x5423}, "EPERM"},
	{"ioctl TIOCCONS", 16, 29, [6]uint64{0, 0x541d}, "EPERM"},
	{"ioctl KDSKBSENT", 16, 29, [6]uint64{0, 0x4b49}, "ENOTTY"},
	{"ioctl KDSKBENT", 16, 29, [6]uint64{0, high | 0x4b47}, "ENOTTY"},
	{"ioctl VT_ACTIVATE", 16, 29, [6]uint64{0, 0x5606}, "ENOTTY"},
	{"ioctl FS_IOC_SETFLAGS", 16, 29, [6]uint64{0, 0x40086602}, "EPERM"},
	{"ioctl FS_IOC_FSSETXATTR", 16, 29, [6]uint64{0, high | 0x401c5820}, "EPERM"},
	{"ioctl FS_IOC_ENABLE_VERITY", 16, 29, [6]uint64{0, 0x40806685}, "EPERM"},
	{"ioctl EXT4_IOC_SETVERSION", 16, 29, [6]uint64{0, 0x40086604}, "EPERM"},
	{"ioctl EXT4_IOC_MIGRATE", 16, 29, [6]uint64{0, 0x6609}, "EPERM"},
	{"ioctl BTRFS_IOC_SUBVOL_SETFLAGS", 16, 29, [6]uint64{0, 0x4008941a}, "EPERM"},
	{"ioctl BTRFS_IOC_SET_RECEIVED_SUBVOL", 16, 29, [6]uint64{0, 0xc0c89425}, "EPERM"},
	{"ioctl BTRFS_IOC_SET_RECEIVED_SUBVOL_32", 16, 29, [6]uint64{0, 0xc0c09425}, "EPERM"},
	{"ioctl F2FS_IOC_RELEASE_COMPRESS_BLOCKS", 16, 29, [6]uint64{0, 0x8008f512}, "EPERM"},
	{"ioctl F2FS_IOC_RESERVE_COMPRESS_BLOCKS", 16, 29, [6]uint64{0, 0x8008f513}, "EPERM"},
	{"ioctl F2FS_IOC_SET_PIN_FILE", 16, 29, [6]uint64{0, high | 0x4004f50d}, "EPERM"},
	{"ioctl F2FS_IOC_GET_FEATURES", 16, 29, [6]uint64{0, 0x8004f50c}, "allow"},
	{"ioctl F2FS_IOC_START_ATOMIC_WRITE", 16, 29, [6]uint64{0, 0xf501}, "EPERM"},
	{"ioctl F2FS_IOC_ABORT_ATOMIC_WRITE, high bits", 16, 29, [6]uint64{0, high | 0xf505}, "EPERM"},
	{"ioctl F2FS_IOC_START_ATOMIC_REPLACE", 16, 29, [6]uint64{0, 0xf519}, "EPERM"},
	{"ioctl F2FS_IOC_MOVE_RANGE", 16, 29, [6]uint64{0, 0xc020f509}, "allow"},
	{"ioctl CEPH_IOC_SET_LAYOUT", 16, 29, [6]uint64{0, 0x40289702}, "EPERM"},
	{"ioctl CEPH_IOC_SET_LAYOUT_POLICY", 16, 29, [6]uint64{0, 0x40289705}, "EPERM"},
	{"ioctl BTRFS_IOC_DEFRAG", 16, 29, [6]uint64{0, 0x50009402}, "EPERM"},
	{"ioctl BTRFS_IOC_DEFRAG_RANGE", 16, 29, [6]uint64{0, 0x40309410}, "EPERM"},
	{"ioctl FICLONE", 16, 29, [6]uint64{0, 0x40049409}, "allow"},
	{"ioctl FIDEDUPERANGE", 16, 29, [6]uint64{0, 0xc0189436}, "allow"},
	{"ioctl FS_IOC_GET_ENCRYPTION_PWSALT", 16, 29, [6]uint64{0, 0x40106614}, "EPERM"},
	{"ioctl FS_IOC_GET_ENCRYPTION_POLICY", 16, 29, [6]uint64{0, 0x400c6615}, "allow"},
	{"ioctl LL_IOC_LMV_SETSTRIPE", 16, 29, [6]uint64{0, 0xc03066f0}, "EPERM"},
	{"ioctl LL_IOC_MIGRATE, high bits", 16, 29, [6]uint64{0, high | 0x800466f7}, "EPERM"},
	{"ioctl VIOC_SYSCALL", 16, 29, [6]uint64{0, 0x40084301}, "EPERM"},
	{"ioctl VIOC_SYSCALL32", 16, 29, [6]uint64{0, 0x40044301}, "EPERM"},
	{"ioctl IOCTL_PRIVCMD_HYPERCALL", 16, 29, [6]uint64{0, 0x305000}, "EPERM"},
	{"ioctl IOCTL_PRIVCMD_MMAP, high bits", 16, 29, [6]uint64{0, high | 0x105002}, "EPERM"},
	{"ioctl IOCTL_PRIVCMD_MMAPBATCH_V2", 16, 29, [6]uint64{0, 0x205004}, "EPERM"},
	{"ioctl IOCTL_PRIVCMD_IRQFD", 16, 29, [6]uint64{0, 0x40185008}, "EPERM"},
	{"ioctl SNDCTL_DSP_RESET", 16, 29, [6]uint64{0, 0x5000}, "allow"},
	{"ioctl SNDCTL_DSP_GETOSPACE", 16, 29, [6]uint64{0, 0x8010500c}, "allow"},
	{"ioctl SIOCGIWSCAN", 16, 29, [6]uint64{0, 0x8b19}, "EOPNOTSUPP"},
	{"ioctl SIOCGIFVLAN, high bits", 16, 29, [6]uint64{0, high | 0x8982}, "EPERM"},
	{"ioctl SIOCGIFBR", 16, 29, [6]uint64{0, 0x8940}, "EPERM"},
	{"ioctl SIOCBRADDBR", 16, 29, [6]uint64{0, 0x89a0}, "EPERM"},
	{"ioctl SIOCETHTOOL", 16, 29, [6]uint64{0, 0x8946}, "allow"},
	{"ioctl SIOCGIFINDEX", 16, 29, [6]uint64{0, 0x8933}, "allow"},
	{"ioctl OCFS2_IOC_REFLINK", 16, 29, [6]uint64{0, 0x40186f04}, "EPERM"},
	{"ioctl BCH_IOCTL_SUBVOLUME_CREATE", 16, 29, [6]uint64{0, 0x4020bc10}, "EPERM"},
	{"ioctl BCH_IOCTL_SUBVOLUME_DESTROY", 16, 29, [6]uint64{0, 0x4020bc11}, "EPERM"},
	{"ioctl ZFS_IOC_SETDOSFLAGS", 16, 29, [6]uint64{0, 0x40088302}, "EPERM"},
	{"ioctl FAT_IOCTL_SET_ATTRIBUTES", 16, 29, [6]uint64{0, 0x40047211}, "EPERM"},
	{"ioctl FS_IOC_ADD_ENCRYPTION_KEY", 16, 29, [6]uint64{0, 0xc0506617}, "EPERM"},
	{"ioctl FS_IOC_REMOVE_ENCRYPTION_KEY", 16, 29, [6]uint64{0, 0xc0406618}, "EPERM"},
	{"ioctl FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS", 16, 29, [6]uint64{0, 0xc0406619}, "EPERM"},
	{"ioctl FS_IOC_FIEMAP", 16, 29, [6]uint64{0, 0xc020660b}, "allow"},
	{"ioctl TIOCEXCL", 16, 29, [6]uint64{0, 0x540c}, "EPERM"},
	{"ioctl TIOCNXCL", 16, 29, [6]uint64{0, 0x540d}, "allow"},
	{"ioctl BTRFS_IOC_SUBVOL_CREATE", 16, 29, [6]uint64{0, 0x5000940e}, "EPERM"},
	{"file_setattr", 469, 469, [6]uint64{}, "EPERM"},
	{"fcntl F_SETFL O_ASYNC", 72, 25, [6]uint64{3, 4, 0o20000 | 2}, "EPERM"},
	{"fcntl F_SETFL O_ASYNC, high bits", 72, 25, [6]uint64{3, high | 4, high | 0o20000}, "EPERM"},
	{"fcntl F_SETSIG", 72, 25, [6]uint64{0, 10, 9}, "EPERM"},
	{"fcntl F_SETSIG, high bits", 72, 25, [6]uint64{0, high | 10, 9}, "EPERM"},
	{"fallocate INSERT_RANGE", 285, 47, [6]uint64{3, 0x20, 0, 4096}, "EOPNOTSUPP"},
	{"fallocate INSERT_RANGE, high bits", 285, 47, [6]uint64{3, high | 0x21, 0, 4096}, "EOPNOTSUPP"},
	{"fallocate COLLAPSE_RANGE", 285, 47, [6]uint64{3, 0x08, 0, 4096}, "allow"},
	{"fcntl F_NOTIFY", 72, 25, [6]uint64{3, 1026, 1}, "EINVAL"},
	{"fcntl F_NOTIFY, high bits", 72, 25, [6]uint64{3, high | 1026, 1}, "EINVAL"},
	{"ioctl FIOASYNC", 16, 29, [6]uint64{3, 0x5452}, "errno 0"},
	{"setrlimit of cores", 160, 164, [6]uint64{high | 4, 0x1000}, "errno 0"},
	{"prlimit64 of cores", 302, 261, [6]uint64{0, high | 4, 0x1000}, "errno 0"},
	{"ioctl FIOASYNC, high bits", 16, 29, [6]uint64{3, high | 0x5452}, "errno 0"},
	{"fcntl F_SETLEASE", 72, 25, [6]uint64{3, 1024, 1}, "EACCES"},
	{"fcntl F_SETLEASE, high bits", 72, 25, [6]uint64{3, high | 1024}, "EACCES"},
	{"fcntl F_SETDELEG", 72, 25, [6]uint64{3, 1040, 1}, "EACCES"},
	{"fcntl F_GETLEASE", 72, 25, [6]uint64{3, 1025}, "allow"},
	{"socket AF_PACKET", 41, 198, [6]uint64{17, 3, 0x300}, "EAFNOSUPPORT"},
	{"socket AF_VSOCK", 41, 198, [6]uint64{40, 1, 0}, "EAFNOSUPPORT"},
	{"socket AF_ALG", 41, 198, [6]uint64{38, 5, 0}, "EAFNOSUPPORT"},
	{"socket AF_ALG, high bits", 41, 198, [6]uint64{high | 38, 5, 0}, "EAFNOSUPPORT"},
	{"socket AF_BLUETOOTH", 41, 198, [6]uint64{31, 3, 1}, "EAFNOSUPPORT"},
	{"socket AF_TIPC", 41, 198, [6]uint64{30, 1, 0}, "ENOSYS"},
	{"socket AF_XDP", 41, 198, [6]uint64{44, 3, 0}, "ENOSYS"},
	{"socket AF_SMC", 41, 198, [6]uint64{43, 1, 0}, "ENOSYS"},
	{"socket AF_CAN", 41, 198, [6]uint64{29, 3, 1}, "ENOSYS"},
	{"socket unheard-of family", 41, 198, [6]uint64{99, 1, 0}, "ENOSYS"},
	{"socket raw IPv4", 41, 198, [6]uint64{2, 3, 255}, "EPERM"},
	{"socket raw IPv6, CLOEXEC", 41, 198, [6]uint64{10, 3 | 0x80000, 58}, "EPERM"},
	{"socket MPTCP", 41, 198, [6]uint64{2, 1, 262}, "EPROTONOSUPPORT"},
	{"socket MPTCP IPv6", 41, 198, [6]uint64{10, 1 | 0x800, 262}, "EPROTONOSUPPORT"},
	{"socket SCTP", 41, 198, [6]uint64{2, 1, 132}, "ENOSYS"},
	{"socket SCTP seqpacket", 41, 198, [6]uint64{2, 5, 132}, "ENOSYS"},
	{"socket UDPLITE", 41, 198, [6]uint64{2, 2, 136}, "ENOSYS"},
	{"socket DCCP", 41, 198, [6]uint64{2, 6, 33}, "ENOSYS"},
	{"socket ping", 41, 198, [6]uint64{2, 2, 1}, "EACCES"},
	{"socket ping IPv6", 41, 198, [6]uint64{10, 2, 58}, "EACCES"},
	{"socket SMC through TCP", 41, 198, [6]uint64{2, 1, 256}, "ENOSYS"},
	{"socket netlink AUDIT", 41, 198, [6]uint64{16, 3, 9}, "EPROTONOSUPPORT"},
	{"socket netlink NETFILTER", 41, 198, [6]uint64{16, 3, 12}, "ENOSYS"},
	{"socket netlink UEVENT", 41, 198, [6]uint64{16, 2, 15}, "ENOSYS"},
	{"socket netlink SOCK_DIAG", 41, 198, [6]uint64{16, 3, 4}, "ENOSYS"},
	{"socketpair AF_TIPC", 53, 199, [6]uint64{30, 1, 0}, "ENOSYS"},
	{"sendto FASTOPEN", 44, 206, [6]uint64{3, 0, 0, 0x20000000, 0x1000, 16}, "EOPNOTSUPP"},
	{"sendto FASTOPEN and more, high bits", 44, 206, [6]uint64{3, 0, 0, high | 0x20004000, 0x1000, 16}, "EOPNOTSUPP"},
	{"sendmsg FASTOPEN", 46, 211, [6]uint64{3, 0x1000, 0x20000000}, "EOPNOTSUPP"},
	{"sendmmsg FASTOPEN", 307, 269, [6]uint64{3, 0x1000, 1, 0x20000000}, "EOPNOTSUPP"},
}

// ordinary calls are allowed by every filter that has none of the features named
// in the tests below.
var ordinary = []expectation{
	{"read", 0, 63, [6]uint64{}, "allow"},
	{"write", 1, 64, [6]uint64{}, "allow"},
	{"close", 3, 57, [6]uint64{}, "allow"},
	{"fstat", 5, 80, [6]uint64{}, "allow"},
	{"mmap", 9, 222, [6]uint64{}, "allow"},
	{"execve", 59, 221, [6]uint64{}, "allow"},
	{"execveat", 322, 281, [6]uint64{}, "allow"},
	{"exit_group", 231, 94, [6]uint64{}, "allow"},
	{"wait4", 61, 260, [6]uint64{}, "allow"},
	{"openat to read", 257, 56, [6]uint64{0xffffff9c, 0x1000, 0x80000}, "allow"},
	{"stat", 4, -1, [6]uint64{}, "allow"},
	{"newfstatat", 262, 79, [6]uint64{}, "allow"},
	{"statx", 332, 291, [6]uint64{}, "allow"},
	{"faccessat2", 439, 439, [6]uint64{}, "allow"},
	{"getdents64", 217, 61, [6]uint64{}, "allow"},
	{"getxattr", 191, 8, [6]uint64{}, "allow"},
	{"clone as fork", 56, 220, [6]uint64{17 | 0x01200000}, "allow"},
	{"clone as pthread_create", 56, 220, [6]uint64{0x003d0f00}, "allow"},
	{"clone as posix_spawn", 56, 220, [6]uint64{0x4111}, "allow"},
	{"fork", 57, -1, [6]uint64{}, "allow"},
	{"vfork", 58, -1, [6]uint64{}, "allow"},
	{"unshare FILES", 272, 97, [6]uint64{0x400}, "allow"},
	{"futex", 202, 98, [6]uint64{}, "allow"},
	{"futex_waitv", 449, 449, [6]uint64{}, "allow"},
	{"futex_wait", 455, 455, [6]uint64{}, "allow"},
	{"rseq", 334, 293, [6]uint64{}, "allow"},
	{"mseal", 462, 462, [6]uint64{}, "allow"},
	{"map_shadow_stack", 453, 453, [6]uint64{}, "allow"},
	{"cachestat", 451, 451, [6]uint64{}, "allow"},
	{"file_getattr", 468, 468, [6]uint64{}, "allow"},
	{"getxattrat", 464, 464, [6]uint64{}, "allow"},
	{"close_range", 436, 436, [6]uint64{}, "allow"},
	{"seccomp", 317, 277, [6]uint64{}, "allow"},
	{"prctl NO_NEW_PRIVS", 157, 167, [6]uint64{38, 1}, "allow"},
	{"prctl PR_SET_SECCOMP", 157, 167, [6]uint64{22, 2}, "allow"},
	{"landlock_create_ruleset", 444, 444, [6]uint64{}, "allow"},
	{"landlock_add_rule", 445, 445, [6]uint64{}, "allow"},
	{"landlock_restrict_self", 446, 446, [6]uint64{}, "allow"},
	{"ptrace", 101, 117, [6]uint64{}, "allow"},
	{"epoll_pwait2", 441, 441, [6]uint64{}, "allow"},
	{"inotify_add_watch", 254, 27, [6]uint64{}, "allow"},
	{"pidfd_open", 434, 434, [6]uint64{}, "allow"},
	{"shmget", 29, 194, [6]uint64{}, "allow"},
	{"getrandom", 318, 278, [6]uint64{}, "allow"},
	{"prlimit64 of oneself", 302, 261, [6]uint64{0, 7, 0x1000}, "allow"},
	{"prlimit64 of cores, asked", 302, 261, [6]uint64{0, 4, 0, 0x1000}, "allow"},
	{"setrlimit", 160, 164, [6]uint64{7, 0x1000}, "allow"},
	{"setpriority of oneself", 141, 140, [6]uint64{0, 0, 10}, "allow"},
	{"sched_setaffinity of a thread", 203, 122, [6]uint64{77}, "allow"},
	{"move_pages of oneself", 279, 239, [6]uint64{0}, "allow"},
	{"mknod fifo", 133, -1, [6]uint64{0, 0o010600}, "allow"},
	{"mknodat fifo", 259, 33, [6]uint64{0, 0, 0o010600}, "allow"},
	{"mknodat file", 259, 33, [6]uint64{0, 0, 0o100600}, "allow"},
	{"mknodat file, no type", 259, 33, [6]uint64{0, 0, 0o600}, "allow"},
	{"mknodat socket", 259, 33, [6]uint64{0, 0, 0o140600}, "allow"},
	{"memfd_create NOEXEC_SEAL", 319, 279, [6]uint64{0x1000, 9}, "allow"},
	{"mmap MAP_ANONYMOUS MAP_STACK", 9, 222, [6]uint64{0, 1 << 21, 3, 0x20022}, "allow"},
	{"shmget IPC_CREAT", 29, 194, [6]uint64{0, 1 << 21, 0o3600}, "allow"},
	{"personality asked", 135, 92, [6]uint64{0xffffffff}, "allow"},
	{"personality without randomization", 135, 92, [6]uint64{0x40000}, "allow"},
	{"ioctl TCGETS", 16, 29, [6]uint64{0, 0x5401}, "allow"},
	{"fcntl F_SETFL O_NONBLOCK", 72, 25, [6]uint64{3, 4, 0o4000 | 2}, "allow"},
	{"fcntl F_GETFL", 72, 25, [6]uint64{3, 3, 0o20000}, "allow"},
	{"ioctl TIOCGWINSZ", 16, 29, [6]uint64{0, 0x5413}, "allow"},
	{"ioctl TIOCSCTTY", 16, 29, [6]uint64{0, 0x540e}, "allow"},
	{"ioctl TIOCSPGRP", 16, 29, [6]uint64{0, 0x5410}, "allow"},
	{"ioctl FIONREAD", 16, 29, [6]uint64{0, 0x541b}, "allow"},
	{"ioctl FIOCLEX", 16, 29, [6]uint64{0, 0x5451}, "allow"},
	{"ioctl FICLONE", 16, 29, [6]uint64{0, 0x40049409}, "allow"},
	{"ioctl FS_IOC_GETFLAGS", 16, 29, [6]uint64{0, 0x80086601}, "allow"},
	{"fcntl F_SETFL", 72, 25, [6]uint64{0, 4}, "allow"},
	{"socket TCP", 41, 198, [6]uint64{2, 1 | 0x80800, 0}, "allow"},
	{"socket TCP, high bits", 41, 198, [6]uint64{high | 2, high | 1, high | 6}, "allow"},
	{"socket TCP IPv6", 41, 198, [6]uint64{10, 1, 6}, "allow"},
	{"socket UDP", 41, 198, [6]uint64{2, 2, 17}, "allow"},
	{"socket UDP IPv6", 41, 198, [6]uint64{10, 2 | 0x80000, 0}, "allow"},
	{"socket unix stream", 41, 198, [6]uint64{1, 1 | 0x80000, 0}, "allow"},
	{"socket unix dgram", 41, 198, [6]uint64{1, 2, 0}, "allow"},
	{"socket unix seqpacket", 41, 198, [6]uint64{1, 5, 0}, "allow"},
	{"socket netlink ROUTE", 41, 198, [6]uint64{16, 3 | 0x80000, 0}, "allow"},
	{"socketpair", 53, 199, [6]uint64{1, 1, 0}, "allow"},
	{"connect", 42, 203, [6]uint64{}, "allow"},
	{"bind", 49, 200, [6]uint64{}, "allow"},
	{"send", 44, 206, [6]uint64{3, 0x1000, 1, 0x4000, 0, 0}, "allow"},
	{"sendto", 44, 206, [6]uint64{3, 0x1000, 1, 0, 0x2000, 16}, "allow"},
	{"sendmsg", 46, 211, [6]uint64{3, 0x1000, 0x4000}, "allow"},
	{"recvmsg", 47, 212, [6]uint64{}, "allow"},
	{"kill", 62, 129, [6]uint64{77, 15}, "allow"},
	{"mkdirat", 258, 34, [6]uint64{}, "allow"},
	{"unlinkat", 263, 35, [6]uint64{}, "allow"},
	{"renameat2", 316, 276, [6]uint64{}, "allow"},
	{"openat to create", 257, 56, [6]uint64{0xffffff9c, 0x1000, 0o101}, "allow"},
	{"openat2", 437, 437, [6]uint64{}, "allow"},
	{"fchmodat", 268, 53, [6]uint64{}, "allow"},
	{"fchmodat2", 452, 452, [6]uint64{}, "allow"},
	{"utimensat", 280, 88, [6]uint64{}, "allow"},
}

// featured says what a feature changes; the feature alone, and with all others
// that do not contradict it.
var featured = []struct {
	features linux.FilterFeatures
	calls    []expectation
}{
	{linux.NoInternet, []expectation{
		{"socket TCP", 41, 198, [6]uint64{2, 1, 0}, "EACCES"},
		{"socket UDP IPv6, high bits", 41, 198, [6]uint64{high | 10, 2 | 0x800, 0}, "EACCES"},
		{"socket netlink ROUTE", 41, 198, [6]uint64{16, 3, 0}, "EAFNOSUPPORT"},
		{"setsockopt MCAST_JOIN_GROUP", 54, 208, [6]uint64{0, 0, 42}, "EOPNOTSUPP"},
		{"setsockopt MCAST_JOIN_GROUP IPv6, high bits", 54, 208, [6]uint64{0, high | 41, 42}, "EOPNOTSUPP"},
		{"setsockopt TCP_NODELAY", 54, 208, [6]uint64{0, 6, 1}, "allow"},
		{"socketpair", 53, 199, [6]uint64{1, 1, 0}, "allow"},
	}},
	{linux.NoSupervisor, []expectation{
		{"socket unix", 41, 198, [6]uint64{1, 1 | 0x80000, 0}, "EACCES"},
		{"socket unix, high bits", 41, 198, [6]uint64{high | 1, 2, 0}, "EACCES"},
		{"memfd_create", 319, 279, [6]uint64{0x1000, 1}, "EACCES"},
		{"memfd_create, high bits", 319, 279, [6]uint64{0x1000, high * 8}, "EACCES"},
		{"memfd_create NOEXEC_SEAL", 319, 279, [6]uint64{0x1000, 9}, "allow"},
		{"socketpair datagram", 53, 199, [6]uint64{1, 2 | 0x80000, 0}, "EACCES"},
		{"socketpair raw", 53, 199, [6]uint64{high | 1, high | 3, 0}, "EACCES"},
		{"socketpair seqpacket", 53, 199, [6]uint64{1, 5, 0}, "allow"},
		{"socketpair", 53, 199, [6]uint64{1, 1, 0}, "allow"},
	}},
	{linux.NoFork, []expectation{
		{"fork", 57, -1, [6]uint64{}, "EPERM"},
		{"vfork", 58, -1, [6]uint64{}, "EPERM"},
		{"clone as fork", 56, 220, [6]uint64{17 | 0x01200000}, "EPERM"},
		{"clone as fork, high bits", 56, 220, [6]uint64{high*0x10000 | 17}, "EPERM"},
		{"clone as posix_spawn", 56, 220, [6]uint64{0x4111}, "EPERM"},
		{"clone as pthread_create", 56, 220, [6]uint64{0x003d0f00}, "allow"},
		{"execve", 59, 221, [6]uint64{}, "allow"},
	}},
	{linux.NotifyNames, []expectation{
		{"mkdir", 83, -1, [6]uint64{}, "notify"},
		{"mkdirat", 258, 34, [6]uint64{}, "notify"},
		{"mknod fifo", 133, -1, [6]uint64{0, 0o010600}, "notify"},
		{"mknod char", 133, -1, [6]uint64{0, 0o020600}, "EPERM"},
		{"mknodat file", 259, 33, [6]uint64{0, 0, 0o100600}, "notify"},
		{"link", 86, -1, [6]uint64{}, "notify"},
		{"linkat", 265, 37, [6]uint64{}, "notify"},
		{"symlink", 88, -1, [6]uint64{}, "notify"},
		{"symlinkat", 266, 36, [6]uint64{}, "notify"},
		{"rename", 82, -1, [6]uint64{}, "notify"},
		{"renameat", 264, 38, [6]uint64{}, "notify"},
		{"renameat2", 316, 276, [6]uint64{}, "notify"},
		{"unlink", 87, -1, [6]uint64{}, "notify"},
		{"unlinkat", 263, 35, [6]uint64{}, "notify"},
		{"rmdir", 84, -1, [6]uint64{}, "notify"},
		{"truncate", 76, 45, [6]uint64{}, "notify"},
		{"creat", 85, -1, [6]uint64{}, "notify"},
		{"open to write", 2, -1, [6]uint64{0x1000, 1}, "notify"},
		{"open to create, read only", 2, -1, [6]uint64{0x1000, 0o100}, "notify"},
		{"openat to write", 257, 56, [6]uint64{0, 0x1000, 1 | 0x80000}, "notify"},
		{"openat to read and write, high bits", 257, 56, [6]uint64{0, 0x1000, high | 2}, "notify"},
		{"openat mode 3", 257, 56, [6]uint64{0, 0x1000, 3}, "notify"},
		{"openat to create, read only", 257, 56, [6]uint64{0, 0x1000, 0o100}, "notify"},
		{"openat to truncate, read only", 257, 56, [6]uint64{0, 0x1000, 0o1000}, "notify"},
		{"openat O_TMPFILE", 257, 56, [6]uint64{0, 0x1000, 0o20200002}, "notify"},
		{"openat2", 437, 437, [6]uint64{}, "ENOSYS"},
		{"ftruncate", 77, 46, [6]uint64{}, "allow"},
		{"memfd_create NOEXEC_SEAL", 319, 279, [6]uint64{0x1000, 9}, "allow"},
	}},
	{linux.NotifyMetadata, []expectation{
		{"sched_setaffinity of a thread", 203, 122, [6]uint64{77}, "notify"},
		{"sched_setaffinity of oneself", 203, 122, [6]uint64{}, "allow"},
		{"sched_setscheduler of a thread", 144, 119, [6]uint64{77}, "notify"},
		{"sched_setparam of a thread", 142, 118, [6]uint64{77}, "notify"},
		{"sched_setattr of a thread", 314, 274, [6]uint64{77}, "notify"},
		{"setpriority of a process", 141, 140, [6]uint64{0, 77}, "notify"},
		{"setpriority of oneself", 141, 140, [6]uint64{}, "allow"},
		{"ioprio_set of a process", 251, 30, [6]uint64{1, 77}, "notify"},
		{"chmod", 90, -1, [6]uint64{}, "notify"},
		{"fchmod", 91, 52, [6]uint64{}, "notify"},
		{"fchmodat", 268, 53, [6]uint64{}, "notify"},
		{"fchmodat2", 452, 452, [6]uint64{}, "notify"},
		{"chown", 92, -1, [6]uint64{}, "notify"},
		{"fchown", 93, 55, [6]uint64{}, "notify"},
		{"lchown", 94, -1, [6]uint64{}, "notify"},
		{"fchownat", 260, 54, [6]uint64{}, "notify"},
		{"utime", 132, -1, [6]uint64{}, "notify"},
		{"utimes", 235, -1, [6]uint64{}, "notify"},
		{"futimesat", 261, -1, [6]uint64{}, "notify"},
		{"utimensat", 280, 88, [6]uint64{}, "notify"},
		{"setxattr", 188, 5, [6]uint64{}, "notify"},
		{"lsetxattr", 189, 6, [6]uint64{}, "notify"},
		{"fsetxattr", 190, 7, [6]uint64{}, "notify"},
		{"removexattr", 197, 14, [6]uint64{}, "notify"},
		{"lremovexattr", 198, 15, [6]uint64{}, "notify"},
		{"fremovexattr", 199, 16, [6]uint64{}, "notify"},
		{"setxattrat", 463, 463, [6]uint64{}, "notify"},
		{"removexattrat", 466, 466, [6]uint64{}, "notify"},
		{"file_setattr", 469, 469, [6]uint64{}, "EPERM"},
		{"getxattr", 191, 8, [6]uint64{}, "allow"},
	}},
	{linux.NotifySockets, []expectation{
		{"socket AF_ALG", 41, 198, [6]uint64{38, 5, 0}, "EAFNOSUPPORT"},
		{"socket MPTCP", 41, 198, [6]uint64{2, 1, 262}, "EPROTONOSUPPORT"},
		{"connect", 42, 203, [6]uint64{}, "notify"},
		{"bind", 49, 200, [6]uint64{}, "notify"},
		{"getsockname", 51, 204, [6]uint64{}, "notify"},
		{"sendto", 44, 206, [6]uint64{3, 0x1000, 1, 0, 0x2000, 16}, "notify"},
		{"sendto, address above 4 GiB", 44, 206, [6]uint64{3, 0x1000, 1, 0, 0x7f00 << 32, 16}, "notify"},
		{"sendto FASTOPEN", 44, 206, [6]uint64{3, 0x1000, 1, 0x20000000, 0x2000, 16}, "EOPNOTSUPP"},
		{"send", 44, 206, [6]uint64{3, 0x1000, 1, 0x4000, 0, 0}, "allow"},
		{"sendmsg", 46, 211, [6]uint64{3, 0x1000, 0x4000}, "allow"},
		{"sendmmsg", 307, 269, [6]uint64{3, 0x1000, 1}, "allow"},
		{"socketpair datagram", 53, 199, [6]uint64{1, 2 | 0x80000, 0}, "EACCES"},
		{"socketpair raw", 53, 199, [6]uint64{high | 1, high | 3, 0}, "EACCES"},
		{"recvmsg", 47, 212, [6]uint64{}, "allow"},
		{"socketpair", 53, 199, [6]uint64{1, 1, 0}, "allow"},
		{"accept4", 288, 242, [6]uint64{}, "allow"},
	}},
	{linux.NotifyOpens, []expectation{
		{"open to read", 2, -1, [6]uint64{}, "notify"},
		{"openat to read", 257, 56, [6]uint64{0, 0x1000, 0x80000}, "notify"},
		{"openat to write", 257, 56, [6]uint64{0, 0x1000, 1}, "notify"},
		{"creat", 85, -1, [6]uint64{}, "notify"},
		{"openat2", 437, 437, [6]uint64{}, "ENOSYS"},
		{"execve", 59, 221, [6]uint64{0x1000, 0x2000, 0x3000}, "notify"},
		{"execveat", 322, 281, [6]uint64{3, 0x1000, 0, 0, 0x1000}, "notify"},
	}},
	{linux.NotifyMetadata, []expectation{
		{"kill, the caller's group", 62, 129, [6]uint64{high, 15}, "notify"},
		{"kill, itself", 62, 129, [6]uint64{77, 15}, "allow"},
		{"kill, everybody", 62, 129, [6]uint64{1<<64 - 1, 15}, "allow"},
	}},
	{linux.NotifyKill, []expectation{
		{"kill", 62, 129, [6]uint64{77, 15}, "notify"},
		{"tkill", 200, 130, [6]uint64{}, "notify"},
		{"tgkill", 234, 131, [6]uint64{}, "notify"},
		{"rt_sigqueueinfo", 129, 138, [6]uint64{}, "notify"},
		{"rt_tgsigqueueinfo", 297, 240, [6]uint64{}, "notify"},
		{"pidfd_send_signal", 424, 424, [6]uint64{}, "notify"},
		{"fcntl F_SETOWN", 72, 25, [6]uint64{3, high | 8, 1}, "EPERM"},
		{"fcntl F_SETOWN_EX", 72, 25, [6]uint64{3, 15, 0x1000}, "EPERM"},
		{"fcntl F_GETFL", 72, 25, [6]uint64{3, 3}, "allow"},
		{"ioctl FIOSETOWN", 16, 29, [6]uint64{3, 0x8901}, "EPERM"},
		{"ioctl SIOCSPGRP", 16, 29, [6]uint64{3, high | 0x8902}, "EPERM"},
	}},
	{linux.NotifyInternet, []expectation{
		{"listen", 50, 201, [6]uint64{}, "notify"},
		{"getpeername", 52, 205, [6]uint64{}, "notify"},
		{"sendmsg", 46, 211, [6]uint64{3, 0x1000, 0x4000}, "notify"},
		{"sendmsg FASTOPEN", 46, 211, [6]uint64{3, 0x1000, 0x20000000}, "EOPNOTSUPP"},
		{"sendmmsg", 307, 269, [6]uint64{3, 0x1000, 1}, "notify"},
		{"recvmsg", 47, 212, [6]uint64{}, "notify"},
		{"recvmmsg", 299, 243, [6]uint64{}, "notify"},
		{"recvfrom", 45, 207, [6]uint64{3, 0x1000, 1, 0, 0x2000, 0x3000}, "notify"},
		{"recvfrom, address above 4 GiB", 45, 207, [6]uint64{3, 0x1000, 1, 0, 0x7f00 << 32, 0x3000}, "notify"},
		{"recv", 45, 207, [6]uint64{3, 0x1000, 1}, "allow"},
		{"setsockopt UDP_SEGMENT", 54, 208, [6]uint64{3, 17, 103}, "notify"},
		{"setsockopt SO_REUSEPORT", 54, 208, [6]uint64{3, 1, 15}, "notify"},
		{"setsockopt SO_KEEPALIVE", 54, 208, [6]uint64{3, 1, 9}, "allow"},
		{"setsockopt TCP_NODELAY", 54, 208, [6]uint64{3, 6, 1}, "allow"},
		{"getsockopt SO_TYPE", 55, 209, [6]uint64{3, 1, 3}, "notify"},
		{"getsockopt SO_DOMAIN", 55, 209, [6]uint64{3, 1, 39}, "notify"},
		{"getsockopt SO_PROTOCOL", 55, 209, [6]uint64{3, 1, 38}, "notify"},
		{"getsockopt SO_ERROR", 55, 209, [6]uint64{3, 1, 4}, "allow"},
		{"accept4", 288, 242, [6]uint64{}, "allow"},
	}},
	// Two at once, where one decides.
	{linux.NotifySockets | linux.NoInternet, []expectation{
		{"socket TCP", 41, 198, [6]uint64{2, 1, 0}, "EACCES"},
	}},
	{linux.NotifySockets | linux.NoSupervisor, []expectation{
		{"socket unix", 41, 198, [6]uint64{1, 1, 0}, "EACCES"},
	}},
}

// alone says what a feature does as long as no other changes it.
var alone = []struct {
	features linux.FilterFeatures
	calls    []expectation
}{
	{linux.NotifyNames, []expectation{
		{"openat to read", 257, 56, [6]uint64{0, 0x1000, 0x80000}, "allow"},
		{"open to read", 2, -1, [6]uint64{}, "allow"},
		{"openat O_PATH", 257, 56, [6]uint64{0, 0x1000, 0o10000000}, "allow"},
		{"fchmod", 91, 52, [6]uint64{}, "allow"},
		{"memfd_create", 319, 279, [6]uint64{0x1000, 1}, "notify"},
		{"memfd_create, high bits", 319, 279, [6]uint64{0x1000, high * 8}, "notify"},
	}},
	{linux.NotifySockets, []expectation{
		{"socket TCP", 41, 198, [6]uint64{2, 1, 0}, "notify"},
		{"socket UDP IPv6, high bits", 41, 198, [6]uint64{high | 10, 2, 0}, "notify"},
		{"socket unix", 41, 198, [6]uint64{1, 1 | 0x80000, 0}, "notify"},
		{"socket netlink ROUTE", 41, 198, [6]uint64{16, 3, 0}, "notify"},
	}},
	{linux.NotifySockets | linux.OwnNetwork, []expectation{
		{"setsockopt IP_ADD_MEMBERSHIP", 54, 208, [6]uint64{0, 0, 35}, "EOPNOTSUPP"},
		{"setsockopt IP_ADD_SOURCE_MEMBERSHIP, high bits", 54, 208, [6]uint64{0, high, high | 39}, "EOPNOTSUPP"},
		{"setsockopt IP_DROP_MEMBERSHIP", 54, 208, [6]uint64{0, 0, 36}, "allow"},
		{"setsockopt IP_TOS", 54, 208, [6]uint64{0, 0, 1}, "allow"},
		{"setsockopt MCAST_JOIN_GROUP", 54, 208, [6]uint64{0, 0, 42}, "EOPNOTSUPP"},
		{"setsockopt MCAST_JOIN_SOURCE_GROUP IPv6", 54, 208, [6]uint64{0, 41, 46}, "EOPNOTSUPP"},
		{"setsockopt IPV6_JOIN_GROUP", 54, 208, [6]uint64{0, 41, 20}, "EOPNOTSUPP"},
		{"setsockopt IPV6_V6ONLY", 54, 208, [6]uint64{0, 41, 26}, "allow"},
		{"setsockopt IP_OPTIONS", 54, 208, [6]uint64{0, 0, 4}, "EOPNOTSUPP"},
		{"setsockopt IPV6_RTHDR, high bits", 54, 208, [6]uint64{0, high | 41, high | 57}, "EOPNOTSUPP"},
		{"setsockopt IPV6_2292PKTOPTIONS", 54, 208, [6]uint64{0, 41, 6}, "EOPNOTSUPP"},
		{"socket TCP", 41, 198, [6]uint64{2, 1, 0}, "allow"},
		{"socket UDP IPv6, high bits", 41, 198, [6]uint64{high | 10, 2, 0}, "allow"},
		{"socket raw", 41, 198, [6]uint64{2, 3, 0}, "EPERM"},
		{"socket MPTCP", 41, 198, [6]uint64{2, 1, 262}, "EPROTONOSUPPORT"},
		{"socket unix", 41, 198, [6]uint64{1, 1 | 0x80000, 0}, "notify"},
		{"socket netlink ROUTE", 41, 198, [6]uint64{16, 3, 0}, "allow"},
		{"connect", 42, 203, [6]uint64{}, "notify"},
		{"bind", 49, 200, [6]uint64{}, "notify"},
	}},
	{linux.NotifyInternet, []expectation{
		{"setsockopt IP_RECVERR", 54, 208, [6]uint64{3, high, 11}, "notify"},
		{"setsockopt IPV6_V6ONLY", 54, 208, [6]uint64{3, 41, 26}, "notify"},
	}},
	{linux.NoInternet, []expectation{{"socket unix", 41, 198, [6]uint64{1, 1, 0}, "allow"}}},
	{linux.NoSupervisor, []expectation{{"socket TCP", 41, 198, [6]uint64{2, 1, 0}, "allow"}}},
}

var arches = []struct {
	name    string
	audit   uint32
	foreign []uint32
}{
	{"amd64", auditAMD64, []uint32{auditI386, auditARM64, auditARM, 0}},
	{"arm64", auditARM64, []uint32{auditARM, auditAMD64, auditI386, 0}},
}

func (e *expectation) number(arch string) int {
	if arch == "amd64" {
		return e.amd64
	}
	return e.arm64
}

// check holds a filter against expectations.
func check(t *testing.T, arch string, audit uint32, f linux.FilterFeatures, calls []expectation) {
	t.Helper()
	filters, err := linux.Filters(arch, f)
	if err != nil {
		t.Fatal(err)
	}
	machines := vms(t, filters)
	for i := range calls {
		e := &calls[i]
		if e.number(arch) < 0 {
			continue
		}
		if got := spell(strictest(t, machines, data(audit, e.number(arch), e.args))); got != e.want {
			t.Errorf("%s, features %#x: %s(%#x) = %s, want %s", arch, uint16(f), e.name, e.args, got, e.want)
		}
	}
}

func TestFilterRefuses(t *testing.T) {
	for _, a := range arches {
		for f := linux.FilterFeatures(0); f <= linux.AllFeatures; f++ {
			if f&linux.NoInternet == 0 { // gives another error for some
				check(t, a.name, a.audit, f, hostile)
			}
		}
	}
}

func TestFilterAllows(t *testing.T) {
	for _, a := range arches {
		check(t, a.name, a.audit, 0, ordinary)
	}
}

func TestFilterFeatures(t *testing.T) {
	for _, a := range arches {
		for _, row := range featured {
			for f := linux.FilterFeatures(0); f <= linux.AllFeatures; f++ {
				if f&row.features != row.features {
					continue
				}
				check(t, a.name, a.audit, f, withoutOthers(row.calls, row.features, f))
			}
		}
		for _, row := range alone {
			check(t, a.name, a.audit, row.features, row.calls)
		}
	}
}

// withoutOthers leaves out calls that another feature may answer: what a row
// expects to be allowed, and errors that a socket feature replaces.
func withoutOthers(calls []expectation, own, f linux.FilterFeatures) []expectation {
	if f == own {
		return calls
	}
	var rest []expectation
	for _, c := range calls {
		if c.want == "allow" || c.amd64 == 41 && f&^own&linux.ArgumentFeatures != 0 {
			continue
		}
		rest = append(rest, c)
	}
	return rest
}

// TestFilterKillsForeignCalls covers i386 and 32-bit arm, whose numbers mean
// other calls, and x32, whose numbers have bit 30 set.
func TestFilterKillsForeignCalls(t *testing.T) {
	for _, a := range arches {
		for f := linux.FilterFeatures(0); f <= linux.AllFeatures; f++ {
			filters, err := linux.Filters(a.name, f)
			if err != nil {
				t.Fatal(err)
			}
			for i, vm := range vms(t, filters) {
				for _, number := range []int{0, 1, 11, 59, 102, 257, 600, 0x40000000, 0x400001ff} {
					for _, audit := range a.foreign {
						if got, err := vm.Run(data(audit, number, [6]uint64{})); err != nil || spell(uint32(got)) != "kill" {
							t.Errorf("%s, program %d: arch %#x, number %#x: %s, %v", a.name, i, audit, number, spell(uint32(got)), err)
						}
					}
				}
				for number := 0x40000000; number < 0x40000000+600; number++ {
					if got, err := vm.Run(data(a.audit, number, [6]uint64{})); err != nil || spell(uint32(got)) != "kill" {
						t.Errorf("%s, program %d: x32 number %#x: %s, %v", a.name, i, number, spell(uint32(got)), err)
					}
				}
			}
		}
	}
}

func TestFiltersErrors(t *testing.T) {
	if f, err := linux.Filters("riscv64", 0); err == nil || f != nil {
		t.Errorf("an architecture without programs: %v, %v", f, err)
	}
	if f, err := linux.Filters("amd64", linux.AllFeatures+1); err == nil || f != nil {
		t.Errorf("an unknown feature: %v, %v", f, err)
	}
}

func TestFiltersNotify(t *testing.T) {
	for f := linux.FilterFeatures(0); f <= linux.AllFeatures; f++ {
		filters, err := linux.Filters("amd64", f)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range filters {
			want := f&linux.NotifyFeatures != 0 && i == len(filters)-1
			if p.Notify != want {
				t.Errorf("features %#x: program %d of %d: Notify = %v", uint16(f), i, len(filters), p.Notify)
			}
		}
	}
}

// TestRulesSayWhy holds the tables' form: a reason in every row.
func TestRulesSayWhy(t *testing.T) {
	for name, rules := range map[string][]linux.SyscallRule{
		"calls": linux.CallRules(), "arguments": linux.ArgumentRules(), "notify": linux.NotifyRules(),
	} {
		for i, r := range rules {
			where := fmt.Sprintf("%s row %d (%s)", name, i, r.Calls)
			if r.Reason == "" || r.Calls == "" {
				t.Errorf("%s: no reason or no calls", where)
			}
			if (r.Action == linux.Errno) != (r.Errno != 0) {
				t.Errorf("%s: action %d with errno %d", where, r.Action, r.Errno)
			}
			if r.For&^linux.AllFeatures != 0 || (name == "notify") != (r.For&linux.NotifyFeatures != 0) {
				t.Errorf("%s: features %#x", where, r.For)
			}
		}
	}
}
