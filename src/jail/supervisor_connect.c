#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <fcntl.h>
#include <unistd.h>

#include "jail/supervisor_parts.h"
#include "sys/fd.h"

/* How many connects may block at one time, and the stack of each thread. */
#define MAX_WAITING 64
#define STACK       (128u << 10)

/* One connect: everything that is needed to carry it out and to answer it. */
struct connect_job {
	uint64_t id;
	int listener; /* its own copy: the main thread may close the other */
	int sock;     /* a copy of the caller's socket */
	int pinned;   /* the unix socket to connect to, or -1 */
	socklen_t len;
	struct sockaddr_storage to;
};

static atomic_int waiting;

static void job_free(struct connect_job *d)
{
	fd_closep(&d->listener);
	fd_closep(&d->sock);
	fd_closep(&d->pinned);
	free(d);
}

static void *job_run(void *arg)
{
	struct connect_job *d = arg;
	int rc = connect(d->sock, (struct sockaddr *)&d->to, d->len) < 0 ? -errno : 0;

	supervisor_answer(d->listener, d->id, rc);
	job_free(d);
	atomic_fetch_sub(&waiting, 1);
	return NULL;
}

/* A detached thread without signals: those are for the main thread. */
static int start_thread(struct connect_job *d)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	rc = pthread_attr_init(&attr);
	if (rc)
		return -rc;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attr, job_run, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}

/* Takes ownership of d. Even a non-blocking socket gets a thread, because the caller can make it blocking at
 * any time. */
static int job_start(struct connect_job *d)
{
	int rc = -EAGAIN;

	if (atomic_fetch_add(&waiting, 1) < MAX_WAITING)
		rc = start_thread(d);
	if (!rc)
		return SUPERVISOR_LATER;
	atomic_fetch_sub(&waiting, 1);
	job_free(d);
	return rc;
}

static bool may_connect(const struct supervisor *s, int fd)
{
	char path[PATH_MAX];

	if (supervisor_where(fd, path) < 0)
		return false;
	for (const char *const *p = s->sockets; *p; p++)
		if (!strcmp(path, *p))
			return true;
	return supervisor_writable(s, path);
}

/* Pins the socket that a unix address names. Abstract ones are refused here: Landlock would do it for the
 * caller, but it does not restrict the supervisor. */
static int pin_socket(const struct call *c, const struct sockaddr_storage *to, socklen_t len)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)to;
	const size_t begin = offsetof(struct sockaddr_un, sun_path);
	char path[sizeof(un->sun_path) + 1] = "";
	auto_fd fd = -1;
	struct stat st;

	if (len < sizeof(un->sun_family) || len > sizeof(*un) || un->sun_family != AF_UNIX)
		return -EINVAL;
	if (len == begin || !un->sun_path[0])
		return -ECONNREFUSED;
	memcpy(path, un->sun_path, len - begin);
	fd = supervisor_pin(c, AT_FDCWD, path, 0);
	if (fd < 0)
		return fd_steal(&fd);
	if (!may_connect(c->s, fd))
		return -EACCES;
	return fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode) ? -ECONNREFUSED : fd_steal(&fd);
}

/* Fills in the address, depending on the domain of the caller's socket. */
static int judge(const struct call *c, struct connect_job *d)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&d->to;
	int domain;
	socklen_t size = sizeof(domain);

	if (getsockopt(d->sock, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0)
		return -errno;
	if (domain == AF_INET || domain == AF_INET6)
		return c->s->inet ? 0 : -ENETUNREACH;
	if (domain != AF_UNIX)
		return -EAFNOSUPPORT;
	d->pinned = pin_socket(c, &d->to, d->len);
	if (d->pinned < 0)
		return d->pinned;
	*un = (struct sockaddr_un){ .sun_family = AF_UNIX };
	supervisor_own_fd(d->pinned, un->sun_path);
	d->len = sizeof(*un);
	return 0;
}

static int dial_fill(const struct call *c, struct connect_job *d)
{
	int len = call_int(c, 2), rc;

	if (len < 0 || (size_t)len > sizeof(d->to))
		return -EINVAL;
	d->len = (socklen_t)len;
	rc = caller_read(c, call_arg(c, 1), &d->to, d->len);
	if (rc < 0)
		return rc;
	d->sock = caller_fd(c, call_int(c, 0));
	if (d->sock < 0)
		return d->sock;
	d->listener = fcntl(c->listener, F_DUPFD_CLOEXEC, 0);
	if (d->listener < 0)
		return -errno;
	rc = caller_waits(c);
	return rc < 0 ? rc : judge(c, d);
}

int supervisor_connect(const struct call *c)
{
	struct connect_job *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	d->id = c->req->id;
	d->listener = d->sock = d->pinned = -1;
	rc = dial_fill(c, d);
	if (rc < 0) {
		job_free(d);
		return rc;
	}
	return job_start(d);
}
