/*
 * seccomp-gen FILE: compiles the system-call filters with libseccomp and writes them as C. Runs at build
 * time.
 *
 * The rows in this file are every jail's filter. The rows of the second filter, for Landlock-only jails, are
 * in seccomp-landlock-only.c.
 *
 * Calls that are not listed are allowed, because a build inside must find the same kernel as outside. The
 * rows forbid what makes new namespaces or mounts, reaches around them, affects the whole machine, or is a
 * large part of the kernel that a build does not need. ptrace and process_vm_* are allowed, because debuggers
 * and sanitizers need them: the pid namespace, Landlock's domain and a first process that is not dumpable
 * limit them to the jail's own processes.
 */
#include "seccomp-gen.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* F_SETDELEG of Linux 6.19 */
#define SET_DELEGATION 1040

/* clang-format off */
static const struct rule denials[] = {
	/* the file view */
	NO("mount"), NO("umount"), NO("umount2"), NO("pivot_root"), NO("chroot"), NO("move_mount"), NO("open_tree"),
	NO("fsopen"), NO("fsconfig"), NO("fsmount"), NO("fspick"), NO_NEW("mount_setattr", 442),
	NO_NEW("open_tree_attr", 467), NO("open_by_handle_at"), NO("name_to_handle_at"), NO("fanotify_init"),

	/* namespaces */
	NO("setns"),
	{ "unshare", -1, EPERM, 1, { BITS(0, CLONE_NEWNS) } },
	{ "unshare", -1, EPERM, 1, { BITS(0, CLONE_NEWCGROUP) } },
	{ "unshare", -1, EPERM, 1, { BITS(0, CLONE_NEWUTS) } },
	{ "unshare", -1, EPERM, 1, { BITS(0, CLONE_NEWIPC) } },
	{ "unshare", -1, EPERM, 1, { BITS(0, CLONE_NEWUSER) } },
	{ "unshare", -1, EPERM, 1, { BITS(0, CLONE_NEWPID) } },
	{ "unshare", -1, EPERM, 1, { BITS(0, CLONE_NEWNET) } },
	{ "unshare", -1, EPERM, 1, { BITS(0, 0x80 /* CLONE_NEWTIME */) } },
	/* in clone, CLONE_NEWTIME's bit is part of the exit signal */
	{ "clone", -1, EPERM, 1, { BITS(0, CLONE_NEWNS) } },
	{ "clone", -1, EPERM, 1, { BITS(0, CLONE_NEWCGROUP) } },
	{ "clone", -1, EPERM, 1, { BITS(0, CLONE_NEWUTS) } },
	{ "clone", -1, EPERM, 1, { BITS(0, CLONE_NEWIPC) } },
	{ "clone", -1, EPERM, 1, { BITS(0, CLONE_NEWUSER) } },
	{ "clone", -1, EPERM, 1, { BITS(0, CLONE_NEWPID) } },
	{ "clone", -1, EPERM, 1, { BITS(0, CLONE_NEWNET) } },
	/* its flags are in memory, where a filter cannot see them; C libraries fall back to clone */
	{ "clone3", 435, ENOSYS, 0, { { 0 } } },

	/* large parts of the kernel, and ways around other rows */
	NO("add_key"), NO("request_key"), NO("keyctl"), NO("bpf"), NO("perf_event_open"), NO("userfaultfd"),
	NO("io_uring_setup"), NO("io_uring_enter"), NO("io_uring_register"), NO("kcmp"), NO("lookup_dcookie"),
	NO("uselib"), NO("nfsservctl"), NO("vm86"), NO("vm86old"),

	/* affects the whole machine */
	NO("kexec_load"), NO("kexec_file_load"), NO("init_module"), NO("finit_module"), NO("delete_module"),
	NO("create_module"), NO("reboot"), NO("swapon"), NO("swapoff"), NO("acct"), NO("quotactl"),
	NO_NEW("quotactl_fd", 443), NO("settimeofday"), NO("stime"), NO("clock_settime"), NO("clock_settime64"),
	NO("adjtimex"), NO("clock_adjtime"), NO("clock_adjtime64"), NO("sethostname"), NO("setdomainname"),
	NO("syslog"), NO("iopl"), NO("ioperm"), NO("vhangup"),

	/* Limits of another process: an agent could lower those of the first process, which starts
	 * everything. */
	{ "prlimit64", -1, EPERM, 1, { { 0, SCMP_CMP_NE, 0 } } },

	/* The limit on core files, which keeps crashes away from a handler outside. Programs that want no core
	 * files (ssh-agent) must not fail, so this says yes and does nothing. */
	{ "prlimit64", -1, 0, 2, { IS(1, RLIMIT_CORE), { 2, SCMP_CMP_NE, 0 } } },
	{ "setrlimit", -1, 0, 1, { IS(0, RLIMIT_CORE) } },

	/* The kernel counts these contexts for the whole machine (fs.aio-max-nr): a task could keep every database
	 * from starting. Those know kernels without them. */
	{ "io_setup", -1, ENOSYS, 0, { { 0 } } },

	/* A lease blocks a process outside that opens the file, until the agent agrees; a delegation does the same
	 * for the names in a directory. */
	{ "fcntl", -1, EPERM, 1, { IS(1, F_SETLEASE) } },
	{ "fcntl64", -1, EPERM, 1, { IS(1, F_SETLEASE) } },
	{ "fcntl", -1, EPERM, 1, { IS(1, SET_DELEGATION) } },
	{ "fcntl64", -1, EPERM, 1, { IS(1, SET_DELEGATION) } },

	/* input that others see as typed on a terminal */
	{ "ioctl", -1, EPERM, 1, { IS(1, TIOCSTI) } },
	{ "ioctl", -1, EPERM, 1, { IS(1, TIOCLINUX) } },

	/* setuid programs, which would run as their owner for anybody who starts them outside; nosuid only
	 * applies inside. Modes given at creation are not checked, because a filter cannot see those of
	 * openat2. */
	{ "chmod", -1, EPERM, 1, { BITS(1, S_ISUID) } },
	{ "fchmod", -1, EPERM, 1, { BITS(1, S_ISUID) } },
	{ "fchmodat", -1, EPERM, 1, { BITS(2, S_ISUID) } },
	{ "fchmodat2", 452, EPERM, 1, { BITS(2, S_ISUID) } },

	/* Sockets: only unix, inet, inet6, and netlink for addresses and routes. */
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 0) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 3) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 4) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 5) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 6) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 7) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 8) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 9) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 11) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 12) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 13) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 14) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { IS(0, 15) } },
	{ "socket", -1, EAFNOSUPPORT, 1, { { 0, SCMP_CMP_GT, AF_NETLINK } } },
	{ "socket", -1, EAFNOSUPPORT, 2, { IS(0, AF_NETLINK), { 2, SCMP_CMP_NE, 0 /* NETLINK_ROUTE */ } } },
	/* Raw sockets, and SOCK_PACKET, with which AF_INET means AF_PACKET. */
	{ "socket", -1, EPERM, 2, { IS(0, AF_INET), { 1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_RAW } } },
	{ "socket", -1, EPERM, 2, { IS(0, AF_INET), { 1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_PACKET } } },
	{ "socket", -1, EPERM, 2, { IS(0, AF_INET6), { 1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_RAW } } },
	{ "socketpair", -1, EAFNOSUPPORT, 1, { { 0, SCMP_CMP_NE, AF_UNIX } } },
};

/* The additional filter of jails with an overlay: see overlay_rename.h. */
static const struct rule renames[] = {
	{ "rename", -1, HAND_OVER, 0, { { 0 } } },
	{ "renameat", -1, HAND_OVER, 0, { { 0 } } },
	{ "renameat2", -1, HAND_OVER, 0, { { 0 } } },
};
/* clang-format on */

static void stop(const char *what, int error)
{
	fprintf(stderr, "seccomp-gen: %s: %s\n", what, strerror(error));
	exit(1);
}

static void add_rule(scmp_filter_ctx ctx, const struct rule *r)
{
	unsigned action = r->error == HAND_OVER ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO((unsigned)r->error);
	int nr = seccomp_syscall_resolve_name(r->name), rc;

	if (nr == __NR_SCMP_ERROR)
		nr = r->number;
	if (nr < 0)
		return; /* not on this architecture */
	rc = seccomp_rule_add_array(ctx, action, nr, r->nargs, r->args);
	if (rc < 0)
		stop(r->name, -rc);
}

static void add_rules(scmp_filter_ctx ctx, const struct rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_rule(ctx, &rules[i]);
}

/*
 * personality: allows only 0, ADDR_NO_RANDOMIZE (bit 18, for debuggers) and 0xffffffff, which queries. A rule
 * can compare an argument only once, so each rule says "bit i is set and bit k is clear". Every value except
 * 0 and all ones has a set bit whose next higher bit, cyclically, is clear. The rules cover each such pair
 * except for bit 18; a run of set bits that ends in bit 18 is caught by bit 17 set with bit 19 clear.
 */
static void deny_personalities(scmp_filter_ctx ctx)
{
	struct rule r = { "personality", -1, EPERM, 1, { { 0 } } };

	for (unsigned i = 0; i < 32; i++) {
		unsigned set = i == 18 ? 17 : i, clear = i == 18 ? 19 : (i + 1) % 32;

		r.args[0] = (struct scmp_arg_cmp){ 0, SCMP_CMP_MASKED_EQ, 1ull << set | 1ull << clear,
			1ull << set };
		add_rule(ctx, &r);
	}
}

static scmp_filter_ctx begin(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int rc;

	if (!ctx)
		stop("cannot start", errno);
	/* 32-bit and x32 calls have other numbers for the same functions. */
	rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	if (rc < 0)
		stop("bad architecture", -rc);
	/* a binary tree over the numbers; older libraries write a list */
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return ctx;
}

static void write_program(int bpf, const char *name, FILE *out)
{
	struct sock_filter f;
	unsigned n = 0;

	fprintf(out, "\nconst struct sock_filter %s[] = {\n", name);
	for (; read(bpf, &f, sizeof(f)) == sizeof(f); n++)
		fprintf(out, "\t{ %#x, %u, %u, %#x },\n", f.code, f.jt, f.jf, f.k);
	fprintf(out, "};\nconst unsigned short %s_len = %u;\n", name, n);
}

static void finish(scmp_filter_ctx ctx, const char *name, FILE *out)
{
	int bpf = memfd_create("bpf", MFD_CLOEXEC), rc;

	if (bpf < 0)
		stop("memfd", errno);
	rc = seccomp_export_bpf(ctx, bpf);
	if (rc < 0 || lseek(bpf, 0, SEEK_SET) < 0)
		stop("export", rc < 0 ? -rc : errno);
	seccomp_release(ctx);
	write_program(bpf, name, out);
	close(bpf);
}

static void write_programs(FILE *out)
{
	scmp_filter_ctx ctx = begin();

	fputs("#include \"jail/seccomp_program.h\"\n", out);
	add_rules(ctx, denials, COUNT(denials));
	deny_personalities(ctx);
	finish(ctx, "seccomp_program", out);

	ctx = begin();
	add_rules(ctx, landlock_only_rules, landlock_only_nrules);
	finish(ctx, "seccomp_landlock_only_net", out);

	ctx = begin();
	add_rules(ctx, landlock_only_rules, landlock_only_nrules);
	add_rules(ctx, landlock_only_offline_rules, landlock_only_offline_nrules);
	finish(ctx, "seccomp_landlock_only", out);

	ctx = begin();
	add_rules(ctx, renames, COUNT(renames));
	finish(ctx, "seccomp_renames", out);
}

int main(int argc, char **argv)
{
	FILE *out = argc == 2 ? fopen(argv[1], "we") : NULL;

	if (!out)
		stop("cannot start", errno);
	/* use what the library knows, not what the build machine's kernel supports */
	seccomp_api_set(5);
	write_programs(out);
	if (fclose(out))
		stop(argv[1], errno);
	return 0;
}
