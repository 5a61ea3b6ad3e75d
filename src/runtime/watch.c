#include "runtime/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fd.h"
#include "sys/lock.h"

/* if the user has no inotify instance left */
#define WATCH_MS 200

void watch_close(struct watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		fd_closep(&w->locks[i]);
	free(w->locks);
	fd_closep(&w->notify);
	*w = (struct watch)WATCH_INIT;
}

static void begin(struct watch *w)
{
	if (!w->begun)
		w->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	w->begun = true;
}

static void add(struct watch *w, int dir, const char *name, uint32_t mask)
{
	auto_str path = xasprintf("/proc/self/fd/%d%s%s", dir, *name ? "/" : "", name);

	if (w->notify >= 0 && inotify_add_watch(w->notify, path, mask) < 0) {
		fd_closep(&w->notify);
		w->notify = -1;
	}
}

int watch_task(
	struct watch *w, const struct context *c, const struct task *t, bool log, size_t *ret, struct err *e)
{
	auto_fd dir = -1;

	if (home_task_dir(&c->home, t->id, &dir, e) < 0)
		return -1;
	begin(w);
	w->locks = xrealloc(w->locks, w->n + 1, sizeof(*w->locks));
	/* Open for as long as it is watched: closing it would be reported too. */
	w->locks[w->n] = lock_open(dir, "lock");
	if (w->locks[w->n] < 0 && errno != ENOENT)
		return err_sys(e, "cannot open the lock of task '%s'", t->name);
	/* the directory reports what happens to the lock and to the log, which is renamed now and then */
	if (log)
		add(w, dir, "", IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_MOVED_TO);
	else if (w->locks[w->n] >= 0)
		add(w, dir, "lock", IN_CLOSE_WRITE);
	*ret = w->n++;
	return 0;
}

void watch_file(struct watch *w, int dir, const char *name)
{
	begin(w);
	add(w, dir, name, IN_CLOSE_WRITE);
}

bool watch_end(struct watch *w, const struct context *c, int64_t task)
{
	struct err ignored = ERR_INIT;
	auto_fd dir = -1;

	if (home_task_dir(&c->home, task, &dir, &ignored) < 0 || faccessat(dir, "lock", F_OK, 0) < 0)
		return false;
	begin(w);
	add(w, dir, "lock", IN_CLOSE_WRITE);
	return w->notify >= 0;
}

bool watch_is_running(const struct watch *w, size_t i)
{
	return lock_is_held_at(w->locks[i]);
}

bool watch_wait(struct watch *w, int out, const struct deadline *d)
{
	struct pollfd p[] = { { .fd = w->notify, .events = POLLIN }, { .fd = out } };
	int left = d ? deadline_left(d) : -1;
	char events[4096];

	if (d && !left)
		return false;
	if (w->notify < 0 && (left < 0 || left > WATCH_MS))
		left = WATCH_MS;
	if (poll(p, ARRAY_SIZE(p), left) < 0 && errno != EINTR)
		return false;
	while (w->notify >= 0 && read(w->notify, events, sizeof(events)) > 0)
		;
	return !(p[1].revents & (POLLERR | POLLHUP | POLLNVAL));
}
