/* J6: what Landlock does not cover, in a jail without namespaces: calls that are refused altogether, and that
 * the supervisor survives its callers. Each attack works without the filter. */
#include "supervisor_yard.h"

#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <sys/un.h>

#include "base/alloc.h"

/* Callers that lie, and callers that die */

static int bad_pointers(const struct yard *y)
{
	char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end;
	size_t len = strlen(y->in_file) + 1;

	STEP(pages != MAP_FAILED && !munmap(pages + 2 * 4096, 4096));
	end = pages + 2 * 4096;
	/* a string that ends with the last page, and one that does not end there */
	memcpy(end - len, y->in_file, len);
	STEP(!chmod(end - len, 0640) && has_mode(y->in_file, 0640));
	end[-1] = 'x';
	STEP(chmod(end - len, 0600) < 0 && errno == EFAULT);
	memset(pages, 'x', 2 * 4096);
	STEP(chmod(pages, 0600) < 0 && errno == ENAMETOOLONG);
	STEP(chmod((char *)8, 0600) < 0 && errno == EFAULT);
	STEP(chmod((char *)-8, 0600) < 0 && errno == EFAULT);
	STEP(syscall(SYS_chmod, NULL, 0600) < 0 && errno == EFAULT);
	STEP(syscall(SYS_utimensat, AT_FDCWD, y->in_file, 8, 0) < 0 && errno == EFAULT);
	STEP(syscall(SYS_utimensat, AT_FDCWD, y->in_file, end - 8, 0) < 0 && errno == EFAULT);
	STEP(syscall(SYS_utimensat, AT_FDCWD, NULL, NULL, 0) < 0 && errno == EFAULT);
	STEP(syscall(SYS_utimensat, open_file(y, true, O_PATH), NULL, NULL, 0) < 0 && errno == EBADF);
	STEP(syscall(SYS_utimensat, open_file(y, false, O_PATH), NULL, NULL, AT_EMPTY_PATH) < 0);
	STEP(syscall(SYS_utime, NULL, NULL) < 0 && errno == EFAULT);
	STEP(syscall(SYS_utimes, NULL, NULL) < 0 && errno == EFAULT);
	return 0;
}

static void lies_are_answered(void **state)
{
	struct yard y;

	yard_init(&y, *state);
	assert_int_equal(jailed(&y, bad_pointers), 0);
}

/* A process that makes itself undumpable can still be inspected, so its calls can be judged. */
static int undumpable(const struct yard *y)
{
	struct stat st;

	STEP(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	STEP(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1);
	STEP(!chmod(y->in_file, 0640));
	STEP(!stat(y->in_file, &st) && (st.st_mode & 0777) == 0640);
	return 0;
}

static int hide(const struct scratch *s)
{
	struct yard y;

	/* a process that was root a moment ago is not dumpable either */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	yard_init(&y, s);
	return jailed(&y, undumpable);
}

static void nobody_hides(void **state)
{
	assert_int_equal(as_user(*state, hide), 0);
}

static int chmod_inside(const struct yard *y)
{
	return error_of(chmod(y->in_file, 0666));
}

static void a_killed_caller_does_no_harm(void **state)
{
	struct yard y;

	yard_init(&y, *state);
	for (int i = 0; i < 20; i++) {
		auto_fd listener = -1;
		pid_t pid = start_jailed(&y, chmod_inside, &listener);
		struct pollfd p = { listener, POLLIN, 0 };

		assert_int_equal(poll(&p, 1, 60000), 1);
		kill(pid, SIGKILL);
		if (i & 1)
			assert_int_equal(exit_of(pid), 128 + SIGKILL);
		serve_all(listener, &y.rules);
		if (!(i & 1))
			assert_int_equal(exit_of(pid), 128 + SIGKILL);
	}
	/* a caller that died before its call was read */
	assert_int_equal(jailed(&y, chmod_inside), 0);
}

/* Signal handlers that run while a call waits neither interrupt nor repeat it. */
static void ignore(int sig)
{
	(void)sig;
}

static int with_signals(const struct yard *y)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } };
	const struct sigaction action = { .sa_handler = ignore };

	STEP(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &often, NULL));
	for (int i = 0; i < 1000; i++)
		if (chmod(y->in_file, 0600 | (mode_t)(i & 7)) < 0)
			STEP(errno == EINTR);
	return 0;
}

static void signals_do_not_matter(void **state)
{
	struct yard y;

	yard_init(&y, *state);
	assert_int_equal(jailed(&y, with_signals), 0);
}

/* A second listener, asked before the first, would let its own calls through. */
static int own_listener(const struct yard *y)
{
	struct sock_filter all = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF };
	struct sock_fprog program = { 1, &all };

	(void)y;
	STEP(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0);
	STEP(errno == EBUSY);
	return 0;
}

static void nobody_else_stands_in(void **state)
{
	struct yard y;

	yard_init(&y, *state);
	assert_int_equal(jailed(&y, own_listener), 0);
}

/* Refused altogether */

static int make_shm(const struct yard *y)
{
	int id = shmget(IPC_PRIVATE, 4096, 0600);

	(void)y;
	return id < 0 ? errno : error_of(shmctl(id, IPC_RMID, NULL));
}

static int make_semaphore(const struct yard *y)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	(void)y;
	return id < 0 ? errno : error_of(semctl(id, 0, IPC_RMID));
}

static int change_owner(const struct yard *y)
{
	return error_of(chown(y->in_file, (uid_t)-1, getgid()));
}

static int change_owner_at(const struct yard *y)
{
	return error_of(fchownat(AT_FDCWD, y->in_file, (uid_t)-1, getgid(), AT_SYMLINK_NOFOLLOW));
}

static int change_owner_fd(const struct yard *y)
{
	return error_of(fchown(open_file(y, false, O_ACCMODE), (uid_t)-1, getgid()));
}

static int renice_parent(const struct yard *y)
{
	(void)y;
	return error_of(
		setpriority(PRIO_PROCESS, (id_t)getppid(), getpriority(PRIO_PROCESS, (id_t)getppid())));
}

static int move_parent(const struct yard *y)
{
	cpu_set_t set;

	(void)y;
	if (sched_getaffinity(getppid(), sizeof(set), &set) < 0)
		return 254;
	return error_of(sched_setaffinity(getppid(), sizeof(set), &set));
}

static int make_pair(const struct yard *y)
{
	int pair[2];

	(void)y;
	return error_of(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
}

static int make_datagram(const struct yard *y)
{
	(void)y;
	return error_of(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static int make_raw(const struct yard *y)
{
	(void)y;
	return error_of(socket(AF_UNIX, SOCK_RAW | SOCK_NONBLOCK, 0));
}

static int make_inet(const struct yard *y)
{
	(void)y;
	return error_of(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int bind_to(const char *path, size_t len)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(at.sun_path, path, len);
	return error_of(
		bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)));
}

static int bind_abstract(const struct yard *y)
{
	char name[40] = "";

	(void)y;
	return bind_to(name, 1 + (size_t)snprintf(name + 1, sizeof(name) - 1, "garth-test-%d", getpid()));
}

static int bind_to_no_name(const struct yard *y)
{
	(void)y;
	return bind_to("", 0);
}

static int bind_outside(const struct yard *y)
{
	char path[108];

	snprintf(path, sizeof(path), "%.80s/sock", y->ex);
	unlink(path);
	return bind_to(path, strlen(path) + 1);
}

static int open_mode_3(const struct yard *y)
{
	return error_of(open(y->ex_file, O_ACCMODE | O_CLOEXEC));
}

static int open_anew(const struct yard *y)
{
	struct open_how how = { .flags = O_ACCMODE };

	return error_of((int)syscall(SYS_openat2, AT_FDCWD, y->ex_file, &how, sizeof(how)));
}

static const struct {
	attempt_fn *fn;
	int error;
} refusals[] = {
	{ bind_abstract, EACCES },
	{ bind_to_no_name, EACCES },
	{ bind_outside, EACCES },
	{ open_mode_3, EACCES },
	{ open_anew, ENOSYS },
	{ make_shm, EPERM },
	{ make_semaphore, EPERM },
	{ change_owner, EPERM },
	{ change_owner_at, EPERM },
	{ change_owner_fd, EBADF },
	{ renice_parent, EPERM },
	{ move_parent, EPERM },
	{ make_pair, EPERM },
	{ make_datagram, EPERM },
	{ make_raw, EPERM },
	{ make_inet, EACCES },
};

static void refused_altogether(void **state)
{
	struct yard y;

	yard_init(&y, *state);
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		print_message("refusal %zu\n", i);
		assert_int_equal(bare(&y, refusals[i].fn), 0);
		assert_int_equal(jailed(&y, refusals[i].fn), refusals[i].error);
	}
}

/* Not every file system or machine has these: so without a control. */
static int attributes_and_queues(const struct yard *y)
{
	int file = open_file(y, true, O_RDWR), flags = 0;

	STEP(setxattr(y->in_file, "user.a", "b", 1, 0) < 0 && errno == ENOTSUP);
	STEP(lsetxattr(y->in_file, "user.a", "b", 1, 0) < 0 && errno == ENOTSUP);
	STEP(fsetxattr(file, "user.a", "b", 1, 0) < 0 && errno == ENOTSUP);
	STEP(removexattr(y->in_file, "user.a") < 0 && errno == ENOTSUP);
	STEP(syscall(463, AT_FDCWD, y->in_file, 0, "user.a", NULL, 0) < 0 && errno == ENOTSUP);
	STEP(ioctl(file, FS_IOC_SETFLAGS, &flags) < 0 && errno == ENOTTY);
	STEP(syscall(SYS_mq_open, "garth-unit", O_CREAT | O_RDWR, 0600, NULL) < 0 && errno == EPERM);
	STEP(syscall(SYS_msgget, IPC_PRIVATE, 0600) < 0 && errno == EPERM);
	STEP(syscall(SYS_ioprio_set, 1, getppid(), 2 << 13) < 0 && errno == EPERM);
	STEP(syscall(SYS_ioprio_set, 3, 0, 2 << 13) < 0 && errno == EPERM);
	STEP(setpriority(PRIO_USER, 0, 0) < 0 && errno == EPERM);
	return 0;
}

static int own_priority(const struct yard *y)
{
	struct sched_param p = { 0 };
	cpu_set_t set;
	int pair[2];

	(void)y;
	STEP(!setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)));
	STEP(!sched_getaffinity(0, sizeof(set), &set) && !sched_setaffinity(0, sizeof(set), &set));
	STEP(!sched_setscheduler(0, SCHED_OTHER, &p));
	STEP(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	STEP(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	return 0;
}

static void refused_and_left(void **state)
{
	struct yard y;

	yard_init(&y, *state);
	assert_int_equal(jailed(&y, attributes_and_queues), 0);
	assert_int_equal(jailed(&y, own_priority), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(lies_are_answered),
		scratch_test(nobody_hides),
		scratch_test(a_killed_caller_does_no_harm),
		scratch_test(signals_do_not_matter),
		scratch_test(nobody_else_stands_in),
		scratch_test(refused_altogether),
		scratch_test(refused_and_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
