#include "task/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/archive.h"
#include "task/life.h"
#include "task/refs.h"
#include "task/remove.h"
#include "task/submodule_refs.h"
#include "task/task.h"

/* Finds the discarded task. An interrupted discard or undo of it is finished first. */
static int find_removed(struct context *c, const struct deed *d, struct task *ret, struct err *e)
{
	auto_task t = { 0 };
	bool gone = false;

	if (store_task_any(c->store, d->task_id, &t, e) < 0)
		return -1;
	if (!t.removed && !strcmp(t.state, STATE_DISCARDING)) {
		if (task_settle(c, &t, &gone, e) < 0)
			return -1;
		if (!gone)
			return err_set(e, ERR_BUSY, "task '%s' is in use by another command", d->task);
		task_release(&t);
		if (store_task_any(c->store, d->task_id, &t, e) < 0)
			return -1;
	}
	if (!t.removed)
		return err_set(e, ERR_EXISTS, "task '%s' is not discarded", d->task);
	*ret = t;
	t = (struct task){ 0 };
	return 0;
}

static int check_name(struct context *c, const struct task *t, struct err *e)
{
	auto_task other = { 0 };
	bool gone = false;

	if (store_task_by_name(c->store, t->project_id, t->name, &other, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	if (task_settle(c, &other, &gone, e) < 0 || gone)
		return gone ? 0 : -1;
	err_set(e, ERR_EXISTS, "there is another task '%s' by now", t->name);
	return err_hint(e, "garth discard %s", t->name);
}

/* If another task has its directory by now (one that had its name and was renamed), it gets another one. */
static int choose_place(struct context *c, struct task *t, struct err *e)
{
	auto_str place = NULL, workspace = NULL;
	auto_task other = { 0 };

	if (!*t->place)
		return 0;
	if (store_task_by_place(c->store, t->place, &other, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	if (store_task_place(c->store, t->project_id, t->name, &place, e) < 0)
		return -1;
	workspace = backend_of(t)->at_project ? xstrdup(t->workspace)
					      : home_path(&c->home, "%s/%s", backend_of(t)->place, place);
	if (store_task_set_place(c->store, t->id, place, workspace, e) < 0)
		return -1;
	free(t->place);
	free(t->workspace);
	t->place = steal_ptr(place);
	t->workspace = steal_ptr(workspace);
	return 0;
}

/* Whether the discard left the branch because a checkout had it. */
static bool kept_branch(struct context *c, const struct task *t, const char *place)
{
	auto_str mark = xasprintf("%s/%lld/" REMOVE_BRANCH_KEPT, place, (long long)t->id);

	return !faccessat(c->home.fd, mark, F_OK, AT_SYMLINK_NOFOLLOW);
}

static int check_branch(struct context *c, const struct task *t, const char *tip, struct err *e)
{
	auto_submodule_refs refs = { 0 };
	auto_project p = { 0 };
	auto_repo r = { 0 };

	if (store_project_by_id(c->store, t->project_id, &p, e) < 0 ||
		repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, &r, e) < 0 ||
		refs_check_free(&r, t, tip, kept_branch(c, t, "trash"), e) < 0)
		return -1;
	submodule_refs_load_removed(c, t, &refs);
	return submodule_refs_check_free(t, &refs, e);
}

static int emptied(const struct task *t, struct err *e)
{
	return err_set(
		e, ERR_NOTFOUND, "task '%s' cannot be restored: it is not in the trash any more", t->name);
}

/* Taking the lock excludes another undo, and the emptying of the trash. */
static int lock_trash(struct context *c, const struct task *t, int *ret_lock, struct err *e)
{
	auto_str name = xasprintf("trash/%lld", (long long)t->id);
	auto_fd dir = openat(c->home.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	/* it was unpacked from its archive, with the lock taken */
	if (*ret_lock >= 0)
		return 0;
	if (dir < 0)
		return errno == ENOENT ? emptied(t, e) : err_sys(e, "cannot open '%s'", name);
	if (lock_take(dir, "lock", false, ret_lock, e) < 0) {
		if (e->kind == ERR_BUSY)
			return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
		return e->sys == ENOENT ? emptied(t, e) : -1;
	}
	return faccessat(c->home.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ? emptied(t, e) : 0;
}

static int move_out(struct context *c, const struct task *t, struct err *e)
{
	auto_str from = xasprintf("trash/%lld", (long long)t->id),
		 to = xasprintf("tasks/%lld", (long long)t->id);

	return renameat(c->home.fd, from, c->home.fd, to) < 0
		       ? err_sys(e, "cannot move task '%s' out of the trash", t->name)
		       : 0;
}

static int finish(
	struct context *c, const struct deed *d, const struct task *t, const char *state, struct err *e)
{
	if (store_begin(c->store, e) < 0)
		return -1;
	if (!store_task_move(c->store, t->id, STATE_DISCARDING, state, e) &&
		!store_deed_undone(c->store, d->id, e) && !store_commit(c->store, e))
		return 0;
	store_rollback(c->store);
	return -1;
}

static int bring_back(
	struct context *c, const struct deed *d, struct task *t, const struct discarded *was, struct err *e)
{
	auto_submodule_refs refs = { 0 }, none = { 0 };
	auto_task_at at = { .ws.dir = -1 };
	struct err ignored = ERR_INIT;

	if (move_out(c, t, e) < 0)
		return -1;
	fault("undo-moved");
	if (task_open(c, t, &at, e) < 0 ||
		refs_restore(c, &at.repo, t, was->tip, kept_branch(c, t, "tasks"), e) < 0 ||
		submodule_refs_load(at.ws.dir, &refs, e) < 0 || submodule_refs_restore(t, &refs, e) < 0)
		return -1;
	fault("undo-refs");
	if (workspace_restore(&at.ws, e) < 0)
		return -1;
	fault("undo-placed");
	if (finish(c, d, t, was->state, e) < 0)
		return -1;
	unlinkat(at.ws.dir, "keep", 0);
	unlinkat(at.ws.dir, REMOVE_BRANCH_KEPT, 0);
	submodule_refs_save(at.ws.dir, &none, &ignored);
	write_file(at.ws.dir, TASK_BROUGHT_BACK, "", 0, 0600, &ignored);
	if (was->archived)
		archive_forget(c, t, at.ws.dir);
	fault("undo-stored");
	return 0;
}

/* Whether the merge was undone while the task could not be restored: then it is not merged. */
static bool is_unmerged(struct context *c, const struct deed *d, const struct discarded *was)
{
	struct err none = ERR_INIT;
	auto_deed m = { 0 };

	return was->merged && !strcmp(was->state, STATE_MERGED) &&
	       store_deed_of(c->store, d->task_id, "merge", &m, &none) < 0 && none.kind == ERR_NOTFOUND;
}

int task_undo_discard(struct context *c, const struct deed *d, struct err *e)
{
	auto_discarded was = { 0 };
	struct err ignored = ERR_INIT;
	auto_task t = { 0 };
	auto_lock lock = -1;

	if (discarded_read(d, &was, e) < 0 || find_removed(c, d, &t, e) < 0 || check_name(c, &t, e) < 0 ||
		archive_open(c, &t, &lock, e) < 0 || lock_trash(c, &t, &lock, e) < 0 ||
		check_branch(c, &t, was.tip, e) < 0 || choose_place(c, &t, e) < 0)
		return -1;
	if (store_task_restore(c->store, t.id, STATE_DISCARDING, e) < 0)
		return err_wrap(e, "task '%s'", t.name);
	free(t.state);
	t.state = xstrdup(STATE_DISCARDING);
	t.removed = 0;
	fault("undo-marked");
	if (is_unmerged(c, d, &was)) {
		free(was.state);
		was.state = xstrdup(STATE_DONE);
	}
	if (!bring_back(c, d, &t, &was, e))
		return 0;
	remove_finish(c, &t, &ignored);
	return -1;
}
