#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/tree.h"
#include "task/archive.h"
#include "task/here.h"
#include "task/life.h"
#include "task/lookup.h"
#include "task/remove.h"
#include "task/suggest.h"
#include "task/rename.h"
#include "task/task.h"
#include "workspace/space.h"

bool task_is_busy(struct context *c, const struct task *t)
{
	auto_str lock = xasprintf("tasks/%lld/lock", (long long)t->id),
		 undo = xasprintf("trash/%lld/lock", (long long)t->id);

	return lock_is_held(c->home.fd, lock) || lock_is_held(c->home.fd, undo);
}

static bool needs_settling(const struct task *t)
{
	return !strcmp(t->state, STATE_CREATING) || life_is_running(t) ||
	       !strcmp(t->state, STATE_DISCARDING) || *t->ref_was;
}

/* A process writes the state to the store before it releases the lock. So a state that was read between two
 * checks that found the lock free is final. */
bool task_is_left(struct context *c, const struct task *t)
{
	auto_task now = { 0 };
	struct err ignored = ERR_INIT;

	return needs_settling(t) && !task_is_busy(c, t) &&
	       !store_task_by_id(c->store, t->id, &now, &ignored) && !strcmp(now.state, t->state) &&
	       !strcmp(now.ref_was, t->ref_was) && !task_is_busy(c, t);
}

/* If the store cannot be written (disk full), it is updated the next time; commands that only read work
 * anyway. */
static void interrupt(struct context *c, struct task *t)
{
	struct err e = ERR_INIT;

	if (!store_begin(c->store, &e) && !life_move(c->store, t, STATE_INTERRUPTED, &e) &&
		!store_run_abandon(c->store, t->id, &e) && !store_commit(c->store, &e))
		return;
	store_rollback(c->store);
	if (e.kind == ERR_BUSY)
		return;
	free(t->state);
	t->state = xstrdup(STATE_INTERRUPTED);
}

/* The row may be outdated: the process that held the lock may have finished before it was taken here. */
static int read_again(struct context *c, struct task *t, bool *ret_same, struct err *e)
{
	auto_task now = { 0 };

	if (store_task_by_id(c->store, t->id, &now, e) < 0)
		return -1;
	*ret_same = !strcmp(now.state, t->state) && !strcmp(now.ref_was, t->ref_was);
	if (!*ret_same) {
		struct task old = *t;

		*t = now;
		now = old;
	}
	return 0;
}

/* Takes the lock in the task's directory. An undo already holds it while the directory is in the trash, so
 * both places are tried. Without a directory there is no lock to take. */
static int lock_place(struct context *c, const struct task *t, int *ret_lock, struct err *e)
{
	static const char *const places[] = { "tasks", "trash", "tasks" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		auto_str name = xasprintf("%s/%lld", places[i], (long long)t->id);
		auto_fd dir = openat(c->home.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		if (dir >= 0)
			return lock_take(dir, "lock", false, ret_lock, e);
	}
	return 0;
}

int task_settle(struct context *c, struct task *t, bool *ret_gone, struct err *e)
{
	auto_lock lock = -1;
	bool same;

	*ret_gone = false;
	/* if this home is a copy, the original settles the task */
	if (!needs_settling(t) || c->home.copy_of)
		return 0;
	fault("settle");
	space_use_reserve(&c->home);
	if (task_is_busy(c, t))
		return 0;
	/* the lock separates two settlers: the second one finds the work done */
	if (lock_place(c, t, &lock, e) < 0)
		return e->kind == ERR_BUSY ? 0 : -1;
	if (read_again(c, t, &same, e) < 0) {
		*ret_gone = e->kind == ERR_NOTFOUND;
		return *ret_gone ? 0 : -1;
	}
	if (!same)
		return 0;
	if (life_is_running(t)) {
		interrupt(c, t);
		return 0;
	}
	if (strcmp(t->state, STATE_CREATING) != 0 && strcmp(t->state, STATE_DISCARDING) != 0)
		return rename_finish(c, t, e);
	*ret_gone = true;
	return remove_finish(c, t, e);
}

static bool is_in_trash(const struct context *c, int64_t id)
{
	auto_str name = xasprintf("trash/%lld", (long long)id);

	return !faccessat(c->home.fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Names the task that was probably meant: in a project, one of its own. */
static void suggest(struct context *c, const char *name, struct err *e)
{
	auto_strvec names = STRVEC_INIT, discarded = STRVEC_INIT;
	struct err ignored = ERR_INIT;
	auto_task_list all = { 0 };
	int64_t here = 0;

	if (store_task_list(c->store, true, &all, &ignored) < 0 || here_project(c, ".", &here, &ignored) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (here > 0 && all.v[i].project_id != here)
			continue;
		else if (!all.v[i].removed)
			strvec_push(&names, all.v[i].name);
		else if (is_in_trash(c, all.v[i].id) || archive_holds(c, all.v[i].id))
			strvec_push(&discarded, all.v[i].name);
	task_suggest(name, &names, &discarded, e);
}

/* A removed task can be restored for a while: say so. */
static int refuse_removed(struct context *c, const char *word, struct err *e)
{
	struct err ignored = ERR_INIT;
	auto_task_list all = { 0 };

	if (lookup_all(c, word, &all, &ignored) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		auto_deed d = { 0 };

		if (store_deed_last(c->store, all.v[i].name, all.v[i].project_id, &d, &ignored) < 0)
			continue;
		if ((!strcmp(d.kind, "discard") || !strcmp(d.kind, "archive")) &&
			(is_in_trash(c, d.task_id) || archive_holds(c, d.task_id)))
			return err_set(e, ERR_NOTFOUND, "there is no task '%s': it is %s", word,
				       strcmp(d.kind, "archive") ? "discarded" : "archived"),
			       err_hint(e, "garth undo %s", word);
	}
	if (!e->hint[0])
		suggest(c, word, e);
	return -1;
}

static int settle_found(struct context *c, const char *name, struct task *t, struct task *ret, struct err *e)
{
	bool gone;

	if (task_settle(c, t, &gone, e) < 0)
		return -1;
	if (gone)
		return err_set(e, ERR_NOTFOUND, "there is no task '%s'", name);
	*ret = *t;
	*t = (struct task){ 0 };
	return 0;
}

int task_find(struct context *c, const char *word, struct task *ret, struct err *e)
{
	auto_task t = { 0 };

	if (!lookup_row(c, word, &t, e) && !settle_found(c, word, &t, ret, e))
		return 0;
	return e->kind == ERR_NOTFOUND && !*e->hint ? refuse_removed(c, word, e) : -1;
}

int task_find_id(struct context *c, int64_t id, struct task *ret, struct err *e)
{
	auto_task t = { 0 };

	if (context_store(c, e) < 0 || store_task_by_id(c->store, id, &t, e) < 0)
		return -1;
	return settle_found(c, t.name, &t, ret, e);
}

int task_open(struct context *c, struct task *t, struct task_at *ret, struct err *e)
{
	auto_fd dir = -1;

	*ret = (struct task_at){ .task = t, .ws.dir = -1 };
	return home_task_dir(&c->home, t->id, &dir, e) < 0 ? -1 : task_open_again(c, t, ret, e);
}

int task_open_files(
	struct context *c, struct task *t, struct task_at *ret, struct err *ret_gone, struct err *e)
{
	struct err gone = ERR_INIT;
	auto_project p = { 0 };
	auto_fd dir = -1;

	if (!task_open(c, t, ret, e))
		return 0;
	gone = *e;
	*e = (struct err)ERR_INIT;
	if (gone.kind != ERR_NOTFOUND || home_task_dir(&c->home, t->id, &dir, e) < 0 ||
		store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return *e = gone, -1;
	repo_name(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, &ret->repo);
	if (ret_gone)
		*ret_gone = gone;
	if (!workspace_open(&ret->ws, &c->home, &ret->repo, t, e))
		return 0;
	task_at_close(ret);
	return -1;
}

int task_open_again(struct context *c, struct task *t, struct task_at *ret, struct err *e)
{
	auto_project p = { 0 };

	*ret = (struct task_at){ .task = t, .ws.dir = -1 };
	if (context_store(c, e) < 0 || store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return -1;
	if (repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, &ret->repo, e) < 0 ||
		workspace_open(&ret->ws, &c->home, &ret->repo, t, e) < 0) {
		task_at_close(ret);
		return -1;
	}
	return 0;
}

void task_at_close(struct task_at *a)
{
	workspace_close(&a->ws);
	repo_release(&a->repo);
}
