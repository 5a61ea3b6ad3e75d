/* J2 J6: connects in a jail without namespaces: only to the task's own sockets and to those that are listed.
 */
#include "supervisor_yard.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/un.h>

#include "base/alloc.h"

static uint16_t inet_port;

static socklen_t unix_address(const char *path, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	for (size_t i = 0; path[i] && i < sizeof(a->sun_path) - 1; i++)
		a->sun_path[i] = path[i];
	return sizeof(*a);
}

/* Each process has its own, so that tests can run in parallel. */
static socklen_t abstract_address(pid_t server, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(
				   a->sun_path + 1, sizeof(a->sun_path) - 1, "garth-unit-%d", server));
}

static int listen_unix(const struct sockaddr_un *a, socklen_t len, int type, int backlog)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)a, len), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

static int listen_path(const struct yard *y, const char *name, int type)
{
	struct sockaddr_un a;
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", y->scratch->path, name);
	return listen_unix(&a, unix_address(path, &a), type, 16);
}

static int listen_inet(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	inet_port = a.sin_port;
	return fd;
}

/* A process that sends back what it gets, on every listener. */
static pid_t start_echo(struct pollfd *fds, nfds_t n)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	for (nfds_t i = 0; pid && i < n; i++)
		close(fds[i].fd);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (poll(fds, n, -1) > 0)
		for (nfds_t i = 0; i < n; i++) {
			auto_fd fd = fds[i].revents ? accept(fds[i].fd, NULL, NULL) : -1;
			char text[8];
			ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));

			if (got > 0)
				(void)!write(fd, text, (size_t)got);
		}
	_exit(1);
}

struct street {
	struct yard y;
	pid_t echo;
};

static void street_init(struct street *st, const struct scratch *s)
{
	struct sockaddr_un a;
	struct pollfd fds[6] = { 0 };
	nfds_t n = 0;

	yard_init(&st->y, s);
	fds[n++].fd = listen_path(&st->y, "in/sock", SOCK_STREAM);
	fds[n++].fd = listen_path(&st->y, "in/packets", SOCK_SEQPACKET);
	fds[n++].fd = listen_path(&st->y, "ex/sock", SOCK_STREAM);
	fds[n++].fd = listen_path(&st->y, "ex/listed", SOCK_STREAM);
	fds[n++].fd = listen_unix(&a, abstract_address(getpid(), &a), SOCK_STREAM, 16);
	fds[n++].fd = listen_inet();
	assert_int_equal(symlinkat("../ex/sock", s->fd, "in/door"), 0);
	for (nfds_t i = 0; i < n; i++)
		fds[i].events = POLLIN;
	st->echo = start_echo(fds, n);
}

static void street_release(struct street *st)
{
	kill(st->echo, SIGKILL);
	exit_of(st->echo);
}

/* Data in both directions. */
static int talk(int fd)
{
	char text[4] = "";

	if (write(fd, "ping", 4) != 4 || read(fd, text, 4) != 4)
		return errno ? errno : 254;
	return memcmp(text, "ping", 4) ? 253 : 0;
}

static int dial(int family, int type, const void *to, socklen_t len)
{
	auto_fd fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, to, len) < 0)
		return errno;
	return talk(fd);
}

static int dial_path(const char *path, int type)
{
	struct sockaddr_un a;

	return dial(AF_UNIX, type, &a, unix_address(path, &a));
}

static int inside_absolute(const struct yard *y)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/sock", y->in);
	return dial_path(path, SOCK_STREAM);
}

static int inside_relative(const struct yard *y)
{
	return chdir(y->in) ? 254 : dial_path("./sock", SOCK_STREAM);
}

static int inside_not_waiting(const struct yard *y)
{
	struct sockaddr_un a;
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd p = { fd, POLLIN, 0 };
	char text[4];

	STEP(!chdir(y->in) && !connect(fd, (struct sockaddr *)&a, unix_address("sock", &a)));
	STEP(write(fd, "ping", 4) == 4 && poll(&p, 1, 10000) == 1 && read(fd, text, 4) == 4);
	return 0;
}

static int inside_packets(const struct yard *y)
{
	return chdir(y->in) ? 254 : dial_path("packets", SOCK_SEQPACKET);
}

static int inside_by_directory(const struct yard *y)
{
	struct err e = ERR_INIT;
	auto_fd dir = open(y->in, O_PATH | O_CLOEXEC), fd = -1;

	return sock_connect(dir, "sock", &fd, &e) < 0 ? e.sys : talk(fd);
}

/* An address that fills its field needs no NUL. */
static int inside_unterminated(const struct yard *y)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	memset(a.sun_path, '/', sizeof(a.sun_path));
	memcpy(a.sun_path, "./", 2);
	memcpy(a.sun_path + sizeof(a.sun_path) - 4, "sock", 4);
	return chdir(y->in) ? 254 : dial(AF_UNIX, SOCK_STREAM, &a, sizeof(a));
}

static int listed(const struct yard *y)
{
	return dial_path(y->listed, SOCK_STREAM);
}

static void *in_thread(void *arg)
{
	const struct yard *y = arg;

	return (void *)(intptr_t)inside_absolute(y);
}

/* The pid of the request is then a thread's. */
static int from_a_thread(const struct yard *y)
{
	pthread_t thread;
	void *rc;

	STEP(!pthread_create(&thread, NULL, in_thread, (void *)y) && !pthread_join(thread, &rc));
	return (int)(intptr_t)rc;
}

static int outside(const struct yard *y)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/sock", y->ex);
	return dial_path(path, SOCK_STREAM);
}

static int outside_by_link(const struct yard *y)
{
	return chdir(y->in) ? 254 : dial_path("door", SOCK_STREAM);
}

static int outside_by_dots(const struct yard *y)
{
	return chdir(y->in) ? 254 : dial_path("../ex/sock", SOCK_STREAM);
}

static int outside_by_cwd(const struct yard *y)
{
	return chdir(y->ex) ? 254 : dial_path("sock", SOCK_STREAM);
}

static int outside_by_fd(const struct yard *y)
{
	char path[64];

	if (chdir(y->ex) < 0)
		return 254;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", open("sock", O_PATH | O_CLOEXEC));
	return dial_path(path, SOCK_STREAM);
}

static int outside_by_directory(const struct yard *y)
{
	struct err e = ERR_INIT;
	auto_fd dir = open(y->ex, O_PATH | O_CLOEXEC), fd = -1;

	return sock_connect(dir, "sock", &fd, &e) < 0 ? e.sys : talk(fd);
}

static int to_abstract(const struct yard *y)
{
	struct sockaddr_un a;

	(void)y;
	return dial(AF_UNIX, SOCK_STREAM, &a, abstract_address(getppid(), &a));
}

static int to_inet(const struct yard *y)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = inet_port, .sin_addr = { htonl(INADDR_LOOPBACK) }
	};

	(void)y;
	return dial(AF_INET, SOCK_STREAM, &a, sizeof(a));
}

static int to_inet_not_waiting(const struct yard *y)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = inet_port, .sin_addr = { htonl(INADDR_LOOPBACK) }
	};
	auto_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd p = { fd, POLLOUT, 0 };
	int error = -1;
	socklen_t len = sizeof(error);

	(void)y;
	STEP(!connect(fd, (struct sockaddr *)&a, sizeof(a)) || errno == EINPROGRESS);
	STEP(poll(&p, 1, 10000) == 1 && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) && !error);
	STEP(!fcntl(fd, F_SETFL, 0));
	return talk(fd);
}

/* libc does this to find its own source address, and then disconnects. */
static int to_inet_and_back(const struct yard *y)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = inet_port, .sin_addr = { htonl(INADDR_LOOPBACK) }
	};
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	auto_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)y;
	STEP(!connect(fd, (struct sockaddr *)&a, sizeof(a)) && !connect(fd, &none, sizeof(none)));
	return 0;
}

static void own_and_listed_sockets(void **state)
{
	static attempt_fn *const good[] = { inside_absolute, inside_relative, inside_not_waiting,
		inside_packets, inside_by_directory, inside_unterminated, listed, from_a_thread };
	struct street st;

	street_init(&st, *state);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		print_message("own %zu\n", i);
		assert_int_equal(jailed(&st.y, good[i]), 0);
	}
	street_release(&st);
}

static void no_others(void **state)
{
	static const struct {
		attempt_fn *fn;
		int error;
	} bad[] = {
		{ outside, EACCES },
		{ outside_by_link, EACCES },
		{ outside_by_dots, EACCES },
		{ outside_by_cwd, EACCES },
		{ outside_by_fd, EACCES },
		{ outside_by_directory, EACCES },
		{ to_abstract, ECONNREFUSED },
		{ to_inet, EACCES },
	};
	struct street st;

	street_init(&st, *state);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		print_message("other %zu\n", i);
		assert_int_equal(bare(&st.y, bad[i].fn), 0);
		assert_int_equal(jailed(&st.y, bad[i].fn), bad[i].error);
	}
	street_release(&st);
}

static void the_hosts_network(void **state)
{
	struct street st;

	street_init(&st, *state);
	st.y.inet = true;
	assert_int_equal(jailed(&st.y, to_inet), ENETUNREACH);
	st.y.rules.inet = true;
	assert_int_equal(jailed(&st.y, to_inet), 0);
	assert_int_equal(jailed(&st.y, to_inet_not_waiting), 0);
	assert_int_equal(jailed(&st.y, to_inet_and_back), 0);
	/* and nothing else with it */
	assert_int_equal(jailed(&st.y, outside), EACCES);
	assert_int_equal(jailed(&st.y, to_abstract), ECONNREFUSED);
	street_release(&st);
}

static int wrong_arguments(const struct yard *y)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), file = open(y->in_file, O_RDWR | O_CLOEXEC);
	struct sockaddr_un a;
	socklen_t len;

	STEP(!chdir(y->in));
	len = unix_address("sock", &a);
	STEP(connect(fd, (struct sockaddr *)8, len) < 0 && errno == EFAULT);
	STEP(connect(fd, (struct sockaddr *)&a, (socklen_t)-1) < 0 && errno == EINVAL);
	STEP(connect(fd, (struct sockaddr *)&a, 4000) < 0 && errno == EINVAL);
	STEP(connect(fd, (struct sockaddr *)&a, len + 1) < 0 && errno == EINVAL);
	STEP(connect(fd, (struct sockaddr *)&a, 1) < 0 && errno == EINVAL);
	STEP(connect(fd, NULL, 0) < 0 && errno == EINVAL);
	STEP(connect(fd, (struct sockaddr *)&a, 2) < 0 && errno == ECONNREFUSED);
	STEP(connect(199, (struct sockaddr *)&a, len) < 0 && errno == EBADF);
	STEP(connect(file, (struct sockaddr *)&a, len) < 0 && errno == ENOTSOCK);
	len = unix_address("file", &a);
	STEP(connect(fd, (struct sockaddr *)&a, len) < 0 && errno == ECONNREFUSED);
	len = unix_address("nothing", &a);
	STEP(connect(fd, (struct sockaddr *)&a, len) < 0 && errno == ENOENT);
	a.sun_family = AF_INET;
	STEP(connect(fd, (struct sockaddr *)&a, len) < 0 && errno == EINVAL);
	return 0;
}

static void wrong_arguments_are_answered(void **state)
{
	struct street st;

	street_init(&st, *state);
	assert_int_equal(jailed(&st.y, wrong_arguments), 0);
	street_release(&st);
}

static atomic_int back;

/* A connect to a full queue waits. */
static void *wait_in_queue(void *arg)
{
	const struct yard *y = arg;
	char path[128];

	snprintf(path, sizeof(path), "%s/full", y->in);
	dial_path(path, SOCK_STREAM);
	atomic_fetch_add(&back, 1);
	return NULL;
}

static int go_on_meanwhile(const struct yard *y)
{
	pthread_t thread;

	for (int i = 0; i < 80; i++)
		STEP(!pthread_create(&thread, NULL, wait_in_queue, (void *)y));
	/* others are served, and so is a caller that comes too late to wait */
	for (int i = 0; i < 200; i++)
		STEP(!chmod(y->in_file, 0640));
	/* one is in the queue, those beyond 64 were told to try again: then all slots are in use */
	for (int i = 0; i < 3000 && atomic_load(&back) < 80 - 64 - 1; i++)
		usleep(10000);
	STEP(atomic_load(&back) >= 80 - 64 - 1);
	/* the others are killed with this one */
	return 0;
}

static int into_the_queue(const struct yard *y)
{
	struct sockaddr_un a;
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	STEP(!chdir(y->in));
	return connect(fd, (struct sockaddr *)&a, unix_address("full", &a)) < 0 ? errno : 0;
}

static void who_waits_holds_up_nobody(void **state)
{
	struct sockaddr_un a;
	struct yard y;
	char path[128];
	int fd, rc = EAGAIN;

	yard_init(&y, *state);
	snprintf(path, sizeof(path), "%s/full", y.in);
	fd = listen_unix(&a, unix_address(path, &a), SOCK_STREAM, 0);
	assert_int_equal(jailed(&y, go_on_meanwhile), 0);
	/* Their callers are gone, they are not: all slots are in use. */
	assert_int_equal(jailed(&y, into_the_queue), EAGAIN);
	/* Closing the queue ends those who wait in it. */
	close(fd);
	for (int i = 0; i < 500 && rc == EAGAIN; i++) {
		usleep(10000);
		rc = jailed(&y, into_the_queue);
	}
	assert_int_equal(rc, ECONNREFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(own_and_listed_sockets),
		scratch_test(no_others),
		scratch_test(the_hosts_network),
		scratch_test(wrong_arguments_are_answered),
		scratch_test(who_waits_holds_up_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
