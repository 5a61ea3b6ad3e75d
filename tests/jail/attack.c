/*
 * attack NAME [ARGUMENT]…: makes one attempt with the system call itself. Ends with 0 where it succeeded,
 * with 1 where the kernel refused, and prints the reason; 125 is a mistake in the attempt.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char **args;
static int nargs;

static long number(int i)
{
	return i < nargs ? strtol(args[i], NULL, 0) : 0;
}

static const char *text(int i)
{
	return i < nargs ? args[i] : "";
}

/* namespaces: the flags of unshare, clone and clone3 as a number */
static long try_unshare(void)
{
	return syscall(SYS_unshare, number(0));
}

static int in_child(long pid)
{
	int status;

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, &status, __WALL);
	return pid > 0 ? 0 : -1;
}

static long try_clone(void)
{
	return in_child(syscall(SYS_clone, number(0) | SIGCHLD, 0, 0, 0, 0));
}

static long try_clone3(void)
{
	struct clone_args a = { .flags = (uint64_t)number(0), .exit_signal = SIGCHLD };

	return in_child(syscall(SYS_clone3, &a, sizeof(a)));
}

static long try_setns(void)
{
	int fd = open(text(0), O_RDONLY);

	return fd < 0 ? -1 : setns(fd, 0);
}

/* the file view; the directory is the argument */
static long try_mount(void)
{
	return mount("none", text(0), "tmpfs", 0, NULL);
}

static long try_bind(void)
{
	return mount("/", text(0), NULL, MS_BIND | MS_REC, NULL);
}

static long try_remount(void)
{
	(void)!mount("none", text(0), "tmpfs", MS_RDONLY, NULL);
	return mount(NULL, text(0), NULL, MS_REMOUNT | MS_BIND, NULL);
}

static long try_umount(void)
{
	(void)!mount("none", text(0), "tmpfs", 0, NULL);
	return umount2(text(0), MNT_DETACH);
}

static long try_chroot(void)
{
	return chroot(text(0));
}

static long try_pivot(void)
{
	if (mount(text(0), text(0), NULL, MS_BIND | MS_REC, NULL) < 0)
		return syscall(SYS_pivot_root, text(0), text(0));
	return chdir(text(0)) < 0 ? -1 : syscall(SYS_pivot_root, ".", ".");
}

static long try_open_tree(void)
{
	return syscall(SYS_open_tree, AT_FDCWD, text(0), 0x8001 /* OPEN_TREE_CLONE, recursive */);
}

static long try_fsopen(void)
{
	return syscall(SYS_fsopen, "tmpfs", 0);
}

static long try_setattr(void)
{
	struct {
		uint64_t set, clear, propagation, userns;
	} a = { .clear = 1 /* MOUNT_ATTR_RDONLY */ };

	(void)!mount("none", text(0), "tmpfs", MS_RDONLY, NULL);
	return syscall(442 /* mount_setattr */, AT_FDCWD, text(0), 0, &a, sizeof(a));
}

struct handle {
	struct file_handle head;
	unsigned char bytes[128];
};

static long try_handle(void)
{
	struct handle h = { .head.handle_bytes = 128 };
	int id;

	return syscall(SYS_name_to_handle_at, AT_FDCWD, text(0), &h, &id, 0);
}

/* The handle of a directory, as the call that the filter forbids as well gives it, or with a word behind it
 * made up: that of the root directory of an ext4. */
static long try_open_handle(void)
{
	struct handle h = { .head.handle_bytes = 128 };
	uint32_t root[2] = { 2, 0 };
	int at = open(text(0), O_RDONLY), id;

	if (at < 0)
		exit(125);
	if (nargs > 1 || syscall(SYS_name_to_handle_at, at, "", &h, &id, AT_EMPTY_PATH) < 0) {
		h.head.handle_bytes = 8;
		h.head.handle_type = 1;
		memcpy(h.head.f_handle, root, sizeof(root));
	}
	return syscall(SYS_open_by_handle_at, at, &h, O_RDONLY);
}

/* other processes: a pid, and the address of its secret */
static long try_ptrace(void)
{
	pid_t pid = (pid_t)number(0);

	if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0)
		return -1;
	waitpid(pid, NULL, __WALL);
	return ptrace(PTRACE_DETACH, pid, 0, 0);
}

static long try_vm_read(void)
{
	char got[256] = "";
	struct iovec here = { got, sizeof(got) - 1 }, there = { (void *)number(1), sizeof(got) - 1 };

	if (process_vm_readv((pid_t)number(0), &here, 1, &there, 1, 0) < 0)
		return -1;
	puts(got);
	return 0;
}

static long try_mem(void)
{
	char path[64], got[256] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/mem", number(0));
	fd = open(path, O_RDONLY);
	if (fd < 0 || pread(fd, got, sizeof(got) - 1, number(1)) < 0)
		return -1;
	puts(got);
	return 0;
}

static long try_kill(void)
{
	return kill((pid_t)number(0), (int)number(1));
}

static long try_getfd(void)
{
	long fd = syscall(SYS_pidfd_open, number(0), 0);

	return fd < 0 ? -1 : syscall(SYS_pidfd_getfd, fd, number(1), 0);
}

static long try_pidfd_kill(void)
{
	long fd = syscall(SYS_pidfd_open, number(0), 0);

	return fd < 0 ? -1 : syscall(SYS_pidfd_send_signal, fd, number(1), NULL, 0);
}

static long try_kcmp(void)
{
	return syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0);
}

/* large pieces of kernel */
static long try_keys(void)
{
	return syscall(SYS_add_key, "user", "garth-test", "x", 1, -2 /* process keyring */);
}

static long try_keyctl(void)
{
	return syscall(SYS_keyctl, 0 /* get id */, -4 /* user keyring */, 1);
}

static long try_request_key(void)
{
	long rc = syscall(SYS_request_key, "user", "garth-test", NULL, 0);

	return rc < 0 && errno == ENOKEY ? 0 : rc;
}

static long try_io_uring(void)
{
	char params[256] = "";

	return syscall(SYS_io_uring_setup, 4, params);
}

static long try_userfaultfd(void)
{
	return syscall(SYS_userfaultfd, 1 /* user mode only */);
}

static long try_fanotify(void)
{
	return syscall(SYS_fanotify_init, 0x200 /* report fid */, 0);
}

/* A map of one number, which asks for a capability of the whole machine where the kernel's setting says so.
 */
static long try_bpf(void)
{
	uint32_t attr[32] = { 2 /* array */, 4, 4, 1 };

	return syscall(SYS_bpf, 0 /* create a map */, attr, sizeof(attr));
}

static long try_perf(void)
{
	uint32_t attr[32] = { 1 /* software */, sizeof(attr), 0 /* its clock */ };

	attr[10] = 0x61; /* disabled, neither kernel nor hypervisor */
	return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}

static long try_personality(void)
{
	return personality((unsigned long)number(0)) < 0 ? -1 : 0;
}

static long try_sethostname(void)
{
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	return sethostname(name, strlen(name));
}

#ifdef __x86_64__
/* Below 4 GiB, where a 32-bit call can point to. */
static long int80(long nr, const char *a, const char *b)
{
	char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long rc = nr;

	snprintf(low, 4096, "%s", a);
	snprintf(low + 4096, 4096, "%s", b);
	__asm__ volatile("int $0x80"
			 : "+a"(rc)
			 : "b"(low), "c"(low + 4096), "d"(low + 4096), "S"(0L), "D"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
	if (rc < 0)
		errno = (int)-rc;
	return rc < 0 ? -1 : rc;
}

static long try_int80(void)
{
	return int80(20 /* getpid */, "", "");
}

static long try_int80_unshare(void)
{
	long rc = 310;

	__asm__ volatile("int $0x80"
			 : "+a"(rc)
			 : "b"((long)CLONE_NEWUSER)
			 : "memory", "r8", "r9", "r10", "r11");
	if (rc < 0)
		errno = (int)-rc;
	return rc < 0 ? -1 : 0;
}

static long try_x32(void)
{
	return syscall(0x40000000 + SYS_getpid);
}
#else
static long try_int80(void)
{
	errno = ENOSYS;
	return -1;
}
static long try_int80_unshare(void)
{
	errno = ENOSYS;
	return -1;
}
static long try_x32(void)
{
	errno = ENOSYS;
	return -1;
}
#endif

/* typing into the terminal on standard input; bits above the kernel's 32 must not help */
static long try_sti(void)
{
	return syscall(SYS_ioctl, 0, (unsigned long)TIOCSTI | (unsigned long)number(0) << 32, "#");
}

static long try_tioclinux(void)
{
	char what = 2;

	return syscall(SYS_ioctl, 0, (unsigned long)TIOCLINUX | (unsigned long)number(0) << 32, &what);
}

/* runs a copy of a program that has no name: memfd and execveat */
static long try_memfd(void)
{
	int in = open(text(0), O_RDONLY), out = (int)syscall(SYS_memfd_create, "x", 0);
	char chunk[65536];
	ssize_t n;

	if (in < 0 || out < 0)
		return -1;
	while ((n = read(in, chunk, sizeof(chunk))) > 0)
		if (write(out, chunk, (size_t)n) != n)
			return -1;
	syscall(SYS_execveat, out, "", args, environ, AT_EMPTY_PATH);
	return -1;
}

static long try_prlimit(void)
{
	struct rlimit l = { 0, 0 };

	return prlimit((pid_t)number(0), RLIMIT_NOFILE, &l, NULL);
}

/* shared memory of System V: made with a secret in it, read, removed */
static long try_shm_make(void)
{
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
	char *at = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (at == (void *)-1)
		return -1;
	snprintf(at, 4096, "%s", text(0));
	printf("%d\n", id);
	return 0;
}

static long try_shm_read(void)
{
	const char *at = shmat((int)number(0), NULL, SHM_RDONLY);

	if (at == (void *)-1)
		return -1;
	puts(at);
	return 0;
}

static long try_shm_remove(void)
{
	return shmctl((int)number(0), IPC_RMID, NULL);
}

/*
 * Calls whose arguments make no sense: the kernel says so, each in its own way, but for the filter the number
 * is enough. Where the two answers differ it was the filter. Nothing happens, whoever calls.
 */
#define BAD 1L /* an address that nobody has */
static const struct {
	const char *name;
	long nr, args[5];
} mistakes[] = {
	{ "mount", SYS_mount, { BAD, BAD, BAD, 0, BAD } },
	{ "umount2", SYS_umount2, { BAD, 0x10000 } },
	{ "pivot_root", SYS_pivot_root, { BAD, BAD } },
	{ "chroot", SYS_chroot, { BAD } },
	{ "move_mount", SYS_move_mount, { -1, BAD, -1, BAD, 0x100000 } },
	{ "open_tree", SYS_open_tree, { -1, BAD, 0x1000000 } },
	{ "fsopen", SYS_fsopen, { BAD, 0x100 } },
	{ "fsconfig", SYS_fsconfig, { -1, 99 } },
	{ "fsmount", SYS_fsmount, { -1, 0x100 } },
	{ "fspick", SYS_fspick, { -1, BAD, 0x100000 } },
	{ "mount_setattr", 442, { -1, BAD, 0x1000000, BAD, 32 } },
	{ "open_tree_attr", 467, { -1, BAD, 0x1000000, BAD, 32 } },
	{ "open_by_handle_at", SYS_open_by_handle_at, { -1, BAD } },
	{ "name_to_handle_at", SYS_name_to_handle_at, { -1, BAD, BAD, BAD, 0x1000000 } },
	{ "fanotify_init", SYS_fanotify_init, { 0x200, 0x7fffffff } },
	{ "setns", SYS_setns, { -1 } },
	/* each with a bit that the call does not know, or that does not go without another */
	{ "unshare-mnt", SYS_unshare, { CLONE_NEWNS | 1 } },
	{ "unshare-cgroup", SYS_unshare, { CLONE_NEWCGROUP | 1 } },
	{ "unshare-uts", SYS_unshare, { CLONE_NEWUTS | 1 } },
	{ "unshare-ipc", SYS_unshare, { CLONE_NEWIPC | 1 } },
	{ "unshare-user", SYS_unshare, { CLONE_NEWUSER | 1 } },
	{ "unshare-pid", SYS_unshare, { CLONE_NEWPID | 1 } },
	{ "unshare-net", SYS_unshare, { CLONE_NEWNET | 1 } },
	{ "unshare-time", SYS_unshare, { CLONE_NEWTIME | 1 } },
	{ "clone-mnt", SYS_clone, { CLONE_NEWNS | CLONE_THREAD } },
	{ "clone-cgroup", SYS_clone, { CLONE_NEWCGROUP | CLONE_THREAD } },
	{ "clone-uts", SYS_clone, { CLONE_NEWUTS | CLONE_THREAD } },
	{ "clone-ipc", SYS_clone, { CLONE_NEWIPC | CLONE_THREAD } },
	{ "clone-user", SYS_clone, { CLONE_NEWUSER | CLONE_THREAD } },
	{ "clone-pid", SYS_clone, { CLONE_NEWPID | CLONE_THREAD } },
	{ "clone-net", SYS_clone, { CLONE_NEWNET | CLONE_THREAD } },
	{ "add_key", SYS_add_key, { BAD, BAD } },
	{ "request_key", SYS_request_key, { BAD, BAD } },
	{ "keyctl", SYS_keyctl, { 9999 } },
	{ "bpf", SYS_bpf, { 9999, BAD, 1 << 20 } },
	{ "perf_event_open", SYS_perf_event_open, { BAD, 0, -1, -1, -1 } },
	{ "userfaultfd", SYS_userfaultfd, { 0x101 } },
	{ "io_uring_setup", SYS_io_uring_setup, { 4, BAD } },
	{ "io_uring_enter", SYS_io_uring_enter, { -1, 0, 0, 0x10000000 } },
	{ "io_uring_register", SYS_io_uring_register, { -1, 9999 } },
	{ "io_setup", SYS_io_setup, { 0, BAD } },
	{ "lease", SYS_fcntl, { -1, 1024 } },
	{ "delegation", SYS_fcntl, { -1, 1040, BAD } },
	{ "kcmp", SYS_kcmp, { 1L << 30, 1L << 30, 99 } },
	{ "kexec_load", SYS_kexec_load, { 0, 1 << 30, BAD, 0xfff0 } },
	{ "kexec_file_load", SYS_kexec_file_load, { -1, -1, 0, BAD, 0x10000 } },
	{ "init_module", SYS_init_module, { BAD, 1, BAD } },
	{ "finit_module", SYS_finit_module, { -1, BAD, 0x10000 } },
	{ "delete_module", SYS_delete_module, { BAD } },
	{ "reboot", SYS_reboot, { 0, 0, 0 } },
	{ "swapon", SYS_swapon, { BAD, 0x10000000 } },
	{ "swapoff", SYS_swapoff, { BAD } },
	{ "acct", SYS_acct, { BAD } },
	{ "quotactl", SYS_quotactl, { 0xff, BAD } },
	{ "quotactl_fd", 443, { -1, 0xff } },
	{ "settimeofday", SYS_settimeofday, { BAD, BAD } },
	{ "clock_settime", SYS_clock_settime, { 99, BAD } },
	{ "adjtimex", SYS_adjtimex, { BAD } },
	{ "clock_adjtime", SYS_clock_adjtime, { 99, BAD } },
	{ "sethostname", SYS_sethostname, { BAD, -1 } },
	{ "setdomainname", SYS_setdomainname, { BAD, -1 } },
	{ "syslog", SYS_syslog, { 99 } },
#ifdef __x86_64__
	{ "lookup_dcookie", SYS_lookup_dcookie, { 0, BAD } },
	{ "uselib", SYS_uselib, { BAD } },
	{ "nfsservctl", SYS_nfsservctl, { 99 } },
	{ "create_module", SYS_create_module, { BAD } },
	{ "iopl", SYS_iopl, { 99 } },
	{ "ioperm", SYS_ioperm, { -1, -1, 1 } },
#endif
};

/* All of them, or the one that is named: a line each, with what the kernel or the filter said. */
static long try_mistake(void)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const long *a = mistakes[i].args;

		if (nargs && strcmp(mistakes[i].name, text(0)))
			continue;
		printf("%s ", mistakes[i].name);
		printf("%s\n", syscall(mistakes[i].nr, a[0], a[1], a[2], a[3], a[4]) < 0
				       ? strerrorname_np(errno)
				       : "done");
	}
	return 0;
}

/* Waits, with something to read in its memory: prints its pid and where. */
static long be_victim(void)
{
	static char secret[256];

	snprintf(secret, sizeof(secret), "%s", text(0));
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	printf("%d %p\n", (int)getpid(), (void *)secret);
	fflush(stdout);
	alarm(120);
	pause();
	return 0;
}

static const struct {
	const char *name;
	long (*run)(void);
} attempts[] = {
	{ "unshare", try_unshare },
	{ "clone", try_clone },
	{ "clone3", try_clone3 },
	{ "setns", try_setns },
	{ "mount", try_mount },
	{ "bind", try_bind },
	{ "remount", try_remount },
	{ "umount", try_umount },
	{ "chroot", try_chroot },
	{ "pivot", try_pivot },
	{ "open_tree", try_open_tree },
	{ "fsopen", try_fsopen },
	{ "setattr", try_setattr },
	{ "handle", try_handle },
	{ "open_handle", try_open_handle },
	{ "ptrace", try_ptrace },
	{ "vm_read", try_vm_read },
	{ "mem", try_mem },
	{ "kill", try_kill },
	{ "getfd", try_getfd },
	{ "pidfd_kill", try_pidfd_kill },
	{ "kcmp", try_kcmp },
	{ "keys", try_keys },
	{ "keyctl", try_keyctl },
	{ "request_key", try_request_key },
	{ "io_uring", try_io_uring },
	{ "userfaultfd", try_userfaultfd },
	{ "fanotify", try_fanotify },
	{ "bpf", try_bpf },
	{ "perf", try_perf },
	{ "personality", try_personality },
	{ "sethostname", try_sethostname },
	{ "int80", try_int80 },
	{ "int80_unshare", try_int80_unshare },
	{ "x32", try_x32 },
	{ "sti", try_sti },
	{ "tioclinux", try_tioclinux },
	{ "memfd", try_memfd },
	{ "prlimit", try_prlimit },
	{ "shm_make", try_shm_make },
	{ "shm_read", try_shm_read },
	{ "shm_remove", try_shm_remove },
	{ "mistake", try_mistake },
	{ "victim", be_victim },
};

int main(int argc, char **argv)
{
	if (argc < 2)
		return 125;
	args = argv + 2;
	nargs = argc - 2;
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
		if (!strcmp(attempts[i].name, argv[1])) {
			long rc = attempts[i].run();

			printf("%s: %s\n", argv[1], rc < 0 ? strerror(errno) : "done");
			return rc < 0;
		}
	return 125;
}
