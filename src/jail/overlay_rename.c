#include "jail/overlay_rename.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "jail/copy_up.h"
#include "jail/overlay_rename_parts.h"
#include "jail/seccomp_program.h"

/* Newer than some headers. */
#define WAIT_KILLABLE_RECV (1ul << 5)               /* since 5.19 */
#define NOTIF_SET_FLAGS    SECCOMP_IOW(4, uint64_t) /* since 6.6 */
#define SYNC_WAKE_UP       1ul

#define THREADS_MAX 16
#define IDLE_MAX    2
#define STACK       (512u << 10)

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int listener; /* -1: not yet */
	unsigned threads, idle;
	bool off, paused;
} help = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .listener = -1 };

static void answer(uint64_t id, int error)
{
	struct seccomp_notif_resp r = { .id = id, .error = error };

	if (!error)
		r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	while (ioctl(help.listener, SECCOMP_IOCTL_NOTIF_SEND, &r) < 0 && errno == EINTR)
		;
}

static int start_thread(void);

/* Whether this thread may work for long: another one is ready for the next calls. */
static bool begin_work(void)
{
	bool may = true;

	pthread_mutex_lock(&help.lock);
	help.idle--;
	if (help.paused || (!help.idle && (help.threads == THREADS_MAX || start_thread() < 0))) {
		help.idle++;
		may = false;
	}
	pthread_mutex_unlock(&help.lock);
	return may;
}

/* Whether this thread continues to take calls. */
static bool end_work(void)
{
	bool stays;

	pthread_mutex_lock(&help.lock);
	stays = help.idle < IDLE_MAX;
	if (stays)
		help.idle++;
	else
		help.threads--;
	pthread_mutex_unlock(&help.lock);
	return stays;
}

/* Waits while the task is paused. */
static bool goes_on(void *arg)
{
	const struct call *c = arg;

	pthread_mutex_lock(&help.lock);
	while (help.paused)
		pthread_cond_wait(&help.changed, &help.lock);
	pthread_mutex_unlock(&help.lock);
	return !caller_waits(c);
}

/* Returns whether this thread continues. */
static bool serve(const struct seccomp_notif *req)
{
	struct call c = { .listener = help.listener, .req = req };
	struct rename_call r;

	if (!rename_looks_hard(&c, &r) || !begin_work()) {
		answer(req->id, 0);
		return true;
	}
	answer(req->id, rename_prepare(&r, goes_on, &c));
	return end_work();
}

static bool await_listener(void)
{
	bool there;

	pthread_mutex_lock(&help.lock);
	while (help.listener < 0 && !help.off)
		pthread_cond_wait(&help.changed, &help.lock);
	there = !help.off;
	pthread_mutex_unlock(&help.lock);
	return there;
}

static void *run(void *arg)
{
	bool going = await_listener();

	(void)arg;
	prctl(PR_SET_NAME, "garth-rename");
	while (going) {
		struct seccomp_notif req = { 0 };

		if (!ioctl(help.listener, SECCOMP_IOCTL_NOTIF_RECV, &req))
			going = serve(&req);
		else if (errno != EINTR && errno != ENOENT)
			poll(NULL, 0, 10); /* never stop here: all renames inside would block */
	}
	return NULL;
}

/* Under the lock. A detached thread without signals. */
static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int rc;

	if (pthread_attr_init(&attr))
		return -1;
	sigfillset(&all);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc)
		return -1;
	help.threads++;
	help.idle++;
	return 0;
}

/* Pids from the kernel must be the same as those in /proc. */
static bool proc_is_own(void)
{
	char link[24] = "", own[24];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	return readlink("/proc/self", link, sizeof(link) - 1) > 0 && !strcmp(link, own);
}

/* mountinfo writes bytes that would end a word as three octal digits. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && strspn(s + 1, "01234567") >= 3) {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + s[3] - '0');
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Mount points in an overlay are for rules (cover.c). An interrupted copy is in the top directory of its mount. */
static void recover_below(const struct jail *j)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, at[PATH_MAX];
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		if (!strstr(line, " - overlay ") || sscanf(line, "%*s %*s %*s %*s %4095s", at) != 1)
			continue;
		unescape(at);
		if (path_within(at, j->ruled) && strcmp(at, j->ruled))
			copy_up_recover(at);
	}
	free(line);
	if (f)
		fclose(f);
}

static bool is_overlay(const struct jail_row *r)
{
	return r->kind == JAIL_OVERLAY || r->kind == JAIL_CACHE;
}

bool rename_helps(const struct jail *j)
{
	for (size_t i = 0; i < j->nrows; i++)
		if (is_overlay(&j->rows[i]))
			return !j->landlock_only;
	return false;
}

static void recover(const struct jail *j)
{
	for (size_t i = 0; i < j->nrows; i++)
		if (is_overlay(&j->rows[i]))
			copy_up_recover(j->rows[i].target);
	if (j->rules.n)
		recover_below(j);
}

void rename_help(const struct jail *j)
{
	struct sock_fprog program = { seccomp_renames_len, (struct sock_filter *)seccomp_renames };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE_RECV;
	long fd = -1;

	if (!rename_helps(j))
		return;
	recover(j);
	if (!proc_is_own())
		return;
	pthread_mutex_lock(&help.lock);
	/* before the filter, which would apply to it too: it renames */
	if (!start_thread())
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	/* the caller runs next on the same processor, which is faster */
	if (fd >= 0)
		ioctl((int)fd, NOTIF_SET_FLAGS, SYNC_WAKE_UP);
	help.listener = (int)fd;
	help.off = fd < 0;
	pthread_cond_broadcast(&help.changed);
	pthread_mutex_unlock(&help.lock);
}

void rename_help_pause(bool pause)
{
	pthread_mutex_lock(&help.lock);
	help.paused = pause;
	pthread_cond_broadcast(&help.changed);
	pthread_mutex_unlock(&help.lock);
}
