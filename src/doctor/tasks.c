/* Finds tasks that a process left half done, and sockets of keepers that died. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "doctor/parts.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/life.h"
#include "task/task.h"

static const char *const sockets[] = { "control", "ending", "gateway", "gate" };

static int settle(struct context *c, struct finding *f, struct err *e)
{
	auto_task t = { 0 };
	bool gone = false;

	if (store_task_by_id(c->store, f->task, &t, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	if (task_settle(c, &t, &gone, e) < 0)
		return -1;
	if (!gone && task_is_left(c, &t))
		return err_set(e, ERR_FAILED, "it is still %s", t.state);
	if (gone)
		finding_said(f, "removed");
	else
		finding_said(f, "now %s; its workspace is kept", t.state);
	return 0;
}

static void look_at_state(struct survey *s, const struct task *t, struct findings *out)
{
	struct finding *f;

	if (!task_is_left(s->c, t))
		return;
	if (life_is_running(t)) {
		f = finding_add(out, "keeper-gone", t->name, "its keeper is gone");
		finding_mend(f, settle, "mark it interrupted; its workspace is kept");
	} else if (!strcmp(t->state, STATE_CREATING)) {
		f = finding_add(out, "half-made", t->name, "was left half made");
		finding_mend(f, settle, "remove it; nothing ever ran in it");
	} else if (survey_rests(t)) {
		f = finding_add(out, "half-renamed", t->name, "was left half renamed");
		finding_mend(f, settle, "finish that");
	} else {
		f = finding_add(out, "half-discarded", t->name, "was left half discarded");
		finding_mend(f, settle, "finish that; the work that it had stays in the trash");
	}
	f->task = t->id;
}

/* The number of sockets in a task's directory; `remove` removes them. */
static size_t count_sockets(int dir, bool remove)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sockets); i++) {
		struct stat st;

		if (fstatat(dir, sockets[i], &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(st.st_mode))
			continue;
		n++;
		if (remove)
			unlinkat(dir, sockets[i], 0);
	}
	return n;
}

static int drop_sockets(struct context *c, struct finding *f, struct err *e)
{
	auto_fd dir = -1;
	auto_lock lock = -1;

	if (home_task_dir(&c->home, f->task, &dir, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	if (lock_take(dir, "lock", false, &lock, e) < 0)
		return -1;
	count_sockets(dir, true);
	return count_sockets(dir, false) ? err_set(e, ERR_FAILED, "cannot remove them") : 0;
}

/* A keeper takes the lock before it makes its sockets, and releases it after it has removed them. */
static void look_at_sockets(struct survey *s, const struct task *t, struct findings *out)
{
	struct err ignored = ERR_INIT;
	struct finding *f;
	auto_fd dir = -1;

	if (home_task_dir(&s->c->home, t->id, &dir, &ignored) < 0 || lock_is_held(dir, "lock") ||
		!count_sockets(dir, false) || lock_is_held(dir, "lock") || !count_sockets(dir, false))
		return;
	f = finding_add(out, "sockets", t->name, "sockets of a keeper that is gone");
	finding_mend(f, drop_sockets, "remove them");
	f->task = t->id;
}

int tasks_look(struct survey *s, struct findings *out, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < s->tasks.n; i++) {
		const struct task *t = &s->tasks.v[i];

		if (t->removed)
			continue;
		look_at_state(s, t, out);
		if (survey_rests(t))
			look_at_sockets(s, t, out);
	}
	return 0;
}
