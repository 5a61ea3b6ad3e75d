#include "task/rename.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/deadline.h"
#include "base/name.h"
#include "base/shell_word.h"
#include "git/ref.h"
#include "git/worktree.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/life.h"
#include "task/submodule_refs.h"
#include "task/task.h"
#include "workspace/base.h"

#define LEAVE_MS 2000

char *rename_old_name(const struct deed *d)
{
	json_t *o = json_loads(d->data, 0, NULL);
	const char *from = json_string_value(json_object_get(o, "from"));
	char *name = from ? xstrdup(from) : NULL;

	json_decref(o);
	return name;
}

/* Calls fn with the git directory of each checkout: the main one, and linked worktrees. */
typedef int checkout_fn(const char *admin, const char *path, void *arg, struct err *e);
static int each_checkout(const struct repo *r, checkout_fn *fn, void *arg, struct err *e)
{
	auto_worktree_list l = { 0 };

	if (worktree_list(r, &l, e) < 0 || fn(r->git_dir, r->main_top ? r->main_top : r->git_dir, arg, e) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++)
		if (fn(l.v[i].admin, l.v[i].path, arg, e) < 0)
			return -1;
	return 0;
}

/* At its end, a rebase or bisect returns to the branch by its name. */
static int check_checkout(const char *admin, const char *path, void *arg, struct err *e)
{
	const char *branch = arg;
	enum worktree_use use = worktree_use(admin, branch);
	auto_str place = shell_quoted(path);

	if (use != WORKTREE_REBASE && use != WORKTREE_BISECT)
		return 0;
	err_set(e, ERR_REFUSED, "a %s of %s is in progress in '%s'",
		use == WORKTREE_REBASE ? "rebase" : "bisect", ref_short(branch), path);
	return err_hint(e, "git -C %s status", place);
}

/* The same in the task's own repository. Only whether the files exist counts: the agent wrote them. */
static int check_inside(const struct task *t, int dir, struct err *e)
{
	static const char *const files[] = { "git/rebase-merge", "git/rebase-apply", "git/BISECT_LOG" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!faccessat(dir, files[i], F_OK, AT_SYMLINK_NOFOLLOW)) {
			err_set(e, ERR_REFUSED, "a rebase or bisect is in progress in task '%s'", t->name);
			return err_hint(e, "garth exec %s -- git status", t->name);
		}
	return 0;
}

static int check_branch(const struct repo *r, const struct task *t, const char *branch, struct err *e)
{
	char old[OID_SIZE], now[OID_SIZE];

	if (ref_read(r, t->branch, old, e) < 0 || ref_read(r, branch, now, e) < 0)
		return -1;
	if (!*old)
		return err_set(e, ERR_NOTFOUND, "the branch %s is gone", ref_short(t->branch)),
		       err_hint(e, "garth doctor --repair");
	if (*now)
		return err_set(e, ERR_EXISTS, "there is a branch '%s' already", ref_short(branch));
	return each_checkout(r, check_checkout, t->branch, e);
}

/* Calls fn with the user's repository of each submodule in which the task has a branch of its own. */
typedef int submodule_fn(const struct repo *r, const struct task *t, const char *arg, struct err *e);
static int each_submodule(
	struct context *c, struct task_at *at, submodule_fn *fn, const char *arg, struct err *e)
{
	auto_submodules s = { 0 };

	if (submodules_load(at->ws.dir, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		auto_repo r = { 0 };
		char now[OID_SIZE];
		bool own;

		if (!submodule_is_here(&s.v[i]))
			continue;
		if (submodule_repo(&at->ws, &s.v[i], &r, e) < 0) {
			if (e->kind != ERR_NOTFOUND)
				return -1;
			*e = (struct err)ERR_INIT;
			continue;
		}
		if (ref_read(&r, at->task->branch, now, e) < 0 ||
			submodule_refs_is_own(c, at->task, s.v[i].path, now, &own, e) < 0 ||
			(own && fn(&r, at->task, arg, e) < 0))
			return err_wrap(e, "submodule '%s'", s.v[i].path);
	}
	return 0;
}

static int check_submodule(const struct repo *r, const struct task *t, const char *branch, struct err *e)
{
	char now[OID_SIZE];

	if (ref_read(r, branch, now, e) < 0)
		return -1;
	if (*now)
		return err_set(e, ERR_EXISTS, "there is a branch '%s' already", ref_short(branch));
	return each_checkout(r, check_checkout, t->branch, e);
}

/* A keeper whose command has ended is about to exit: wait for it for a moment. */
static int take_lock(const struct task *t, int dir, int *ret, struct err *e)
{
	struct deadline leaving = deadline_in(LEAVE_MS);

	while (lock_take(dir, "lock", false, ret, e) < 0) {
		if (e->kind != ERR_BUSY)
			return -1;
		if (!deadline_sleep(&leaving, 10))
			return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
	}
	return 0;
}

/* Reads the row again, under the lock. */
static int read_again(struct context *c, struct task *t, struct err *e)
{
	auto_task now = { 0 };
	struct task old = *t;

	if (store_task_by_id(c->store, t->id, &now, e) < 0)
		return -1;
	if (strcmp(now.name, t->name) != 0 || strcmp(now.state, t->state) != 0)
		return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
	*t = now;
	now = old;
	return 0;
}

static int record(struct context *c, const struct task *t, const char *name, struct err *e)
{
	json_t *details = json_pack("{s:s, s:s}", "from", t->name, "to", name);
	auto_audit a = NULL;

	if (audit_open(c->home.fd, c->store, &a, e) < 0)
		return json_decref(details), -1;
	return audit_add(a, "rename", t, details, e);
}

static int add_deed(struct context *c, const struct task *t, const char *name, struct err *e)
{
	json_t *o = json_pack("{s:s, s:s}", "from", t->name, "to", name);
	char *data = json_dumps(o, JSON_COMPACT);
	int rc = store_deed_add(c->store, t->id, "rename", data, NULL, e);

	free(data);
	json_decref(o);
	return rc;
}

/* From here on the task has the new name: after a crash, task_settle does the rest. */
static int mark(struct context *c, struct task *t, const char *name, const char *branch,
	const struct deed *undone, struct err *e)
{
	if (store_begin(c->store, e) < 0)
		return -1;
	if (!store_task_rename(c->store, t->id, name, branch, backend_of(t)->has_git, e) &&
		!(undone ? store_deed_undone(c->store, undone->id, e) : add_deed(c, t, name, e)) &&
		!store_commit(c->store, e))
		return 0;
	store_rollback(c->store);
	return -1;
}

struct follow {
	const char *from, *to;
};

static int follow_checkout(const char *admin, const char *path, void *arg, struct err *e)
{
	const struct follow *f = arg;
	struct git g = { .dir = admin };

	(void)path;
	if (worktree_use(admin, f->from) != WORKTREE_HEAD)
		return 0;
	return git_do(&g, NULL, e, "symbolic-ref", "-m", "garth rename", "HEAD", f->to, NULL);
}

static int make_branch(const struct repo *r, const struct task *t, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	char old[OID_SIZE], now[OID_SIZE];

	if (ref_read(r, t->ref_was, old, e) < 0 || ref_read(r, t->branch, now, e) < 0)
		return -1;
	if (!*old || *now)
		return 0;
	ref_create(&txn, t->branch, old);
	return ref_commit(r, &txn, e);
}

/* If somebody has committed to the old branch after a crash, it stays. */
static int remove_branch(const struct repo *r, const struct task *t, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;
	char old[OID_SIZE], now[OID_SIZE];

	if (ref_read(r, t->ref_was, old, e) < 0 || ref_read(r, t->branch, now, e) < 0)
		return -1;
	if (!*old || strcmp(old, now) != 0)
		return 0;
	ref_remove(&txn, t->ref_was, old);
	return ref_commit(r, &txn, e);
}

/* A submodule's branch, in steps that are idempotent. */
static int rename_submodule(const struct repo *r, const struct task *t, const char *arg, struct err *e)
{
	struct follow f = { t->ref_was, t->branch };

	(void)arg;
	if (make_branch(r, t, e) < 0 || each_checkout(r, follow_checkout, &f, e) < 0)
		return -1;
	return remove_branch(r, t, e);
}

int rename_finish(struct context *c, struct task *t, struct err *e)
{
	struct follow f = { t->ref_was, t->branch };
	auto_task_at at = { .ws.dir = -1 };
	auto_lock lock = -1;

	if (!*t->ref_was)
		return 0;
	if (task_open(c, t, &at, e) < 0 || base_lock(&c->home, t->project_id, &lock, e) < 0 ||
		make_branch(&at.repo, t, e) < 0)
		return -1;
	fault("rename-made");
	if (each_checkout(&at.repo, follow_checkout, &f, e) < 0 ||
		workspace_renamed(&at.ws, t->ref_was, e) < 0)
		return -1;
	fault("rename-heads");
	if (each_submodule(c, &at, rename_submodule, NULL, e) < 0 || remove_branch(&at.repo, t, e) < 0)
		return -1;
	fault("rename-removed");
	if (store_task_renamed(c->store, t->id, false, e) < 0)
		return -1;
	t->ref_was[0] = '\0';
	return 0;
}

/* The branch could not be made; nothing else was done. */
static void take_back(struct context *c, const struct task *was, const struct deed *undone)
{
	struct err ignored = ERR_INIT;
	auto_deed d = { 0 };

	if (store_begin(c->store, &ignored) < 0)
		return;
	if (!store_task_rename(
		    c->store, was->id, was->name, was->branch, backend_of(was)->has_git, &ignored) &&
		!store_task_renamed(c->store, was->id, false, &ignored) &&
		(undone || (!store_deed_of(c->store, was->id, "rename", &d, &ignored) &&
				   !store_deed_undone(c->store, d.id, &ignored))) &&
		!store_commit(c->store, &ignored))
		return;
	store_rollback(c->store);
}

static int check_state(const struct task *t, const char *name, struct err *e)
{
	if (name_check_task(name, e) < 0)
		return err_wrap(e, "'%s'", name);
	if (!strcmp(name, t->name))
		return err_set(e, ERR_EXISTS, "task '%s' has that name", name);
	if (!strcmp(t->state, STATE_DISCARDING) || !strcmp(t->state, STATE_CREATING))
		return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
	if (life_is_running(t))
		return err_set(e, ERR_REFUSED, "task '%s' is %s, and its name is part of what runs inside",
			       t->name, t->state),
		       err_hint(e, "garth cancel %s", t->name);
	return 0;
}

/* With the lock held. */
static int rename_locked(struct context *c, struct task *t, const char *name, const char *branch,
	const struct deed *undone, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_task now = { 0 };

	if (task_open(c, t, &at, e) < 0 || check_inside(t, at.ws.dir, e) < 0 ||
		check_branch(&at.repo, t, branch, e) < 0 ||
		each_submodule(c, &at, check_submodule, branch, e) < 0 || record(c, t, name, e) < 0 ||
		mark(c, t, name, branch, undone, e) < 0)
		return -1;
	fault("rename-marked");
	if (store_task_by_id(c->store, t->id, &now, e) < 0)
		return -1;
	if (rename_finish(c, &now, e) < 0) {
		char made[OID_SIZE] = "";
		struct err ignored = ERR_INIT;

		/* otherwise it is finished later */
		if (!ref_read(&at.repo, branch, made, &ignored) && !*made)
			take_back(c, t, undone);
		return err_wrap(e, "cannot rename task '%s'", t->name);
	}
	task_at_close(&at);
	at = (struct task_at){ .ws.dir = -1 };
	task_release(t);
	*t = now;
	now = (struct task){ 0 };
	return 0;
}

int task_rename(struct context *c, struct task *t, const char *name, const struct deed *undone, struct err *e)
{
	auto_str branch = xasprintf("refs/heads/garth/%s", name);
	auto_fd dir = -1;
	auto_lock lock = -1;
	auto_task other = { 0 };

	if (check_state(t, name, e) < 0 || context_store(c, e) < 0)
		return -1;
	if (!store_task_by_name(c->store, t->project_id, name, &other, e))
		return err_set(e, ERR_EXISTS, "there is a task '%s' already", name);
	if (home_task_dir(&c->home, t->id, &dir, e) < 0 || take_lock(t, dir, &lock, e) < 0 ||
		read_again(c, t, e) < 0)
		return -1;
	return rename_locked(c, t, name, branch, undone, e);
}
