/*
 * Makes a task's workspace again. A mark is in the task's directory from before anything is made until it is
 * complete. What is found beside the mark is incomplete, or somebody worked in it since; it goes to the trash
 * before the workspace is made once more.
 *
 *	what is in the place moves into the task's directory, git forgets it      fault doctor-cleared
 *	the place is registered, what was moved comes back                        fault doctor-placed
 *	if nothing came back: the files of the branch's tip are checked out       fault doctor-filled
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "doctor/found.h"
#include "doctor/parts.h"
#include "git/ref.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/refs.h"
#include "task/task.h"
#include "workspace/layer_use.h"

/* The branch's tip; if the branch is gone, its last known tip. */
static int find_tip(const struct repo *r, const struct task *t, char tip[OID_SIZE], struct err *e)
{
	if (ref_read(r, t->branch, tip, e) < 0)
		return -1;
	if (!*tip)
		snprintf(tip, OID_SIZE, "%s", *t->published ? t->published : t->base);
	return ref_can_name(r, tip)
		       ? 0
		       : err_set(e, ERR_NOTFOUND, "the commit %.12s that it stood on is gone", tip);
}

static bool has(int dir, const char *name)
{
	return !faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool is_registered(const struct repo *r, const char *path)
{
	auto_worktree_list l = { 0 };
	struct err ignored = ERR_INIT;

	worktree_list(r, &l, &ignored);
	for (size_t i = 0; i < l.n; i++)
		if (!strcmp(l.v[i].path, path))
			return true;
	return false;
}

/* Never writes over a tree that is incomplete or that somebody may have worked in. */
static int trash_tree(struct context *c, struct task_at *at, struct finding *f, struct err *e)
{
	auto_str place = xasprintf("tasks/%lld", (long long)at->task->id), to = NULL;

	if (!has(at->ws.dir, "tree"))
		return 0;
	if (found_move(c, place, "tree", NULL, &to, e) < 0)
		return -1;
	finding_said(f, "what was there is in %s", to);
	return 0;
}

/* Empties the place; a worktree's files are in `tree` afterwards, if there are any. */
static int clear_place(struct context *c, struct task_at *at, struct finding *f, struct err *e)
{
	bool marked = has(at->ws.dir, REMAKE_MARK);
	struct stat st;

	/* git's record of that name may belong to another worktree by now */
	if (backend_of(at->task)->git_worktree && !is_registered(&at->repo, at->ws.host))
		unlinkat(at->ws.dir, "admin", 0), unlinkat(at->ws.dir, "host-index", 0);
	/* not a directory, so it is no worktree */
	if (at->ws.host && !lstat(at->ws.host, &st) && !S_ISDIR(st.st_mode)) {
		auto_str to = NULL;

		if (found_move(c, backend_of(at->task)->place, path_base(at->ws.host), NULL, &to, e) < 0)
			return -1;
		finding_said(f, "what was there is in %s", to);
	}
	if (workspace_remove(&at->ws, e) < 0 || (marked && trash_tree(c, at, f, e) < 0))
		return -1;
	fault("doctor-cleared");
	return 0;
}

/* From now on the task uses the base of the tip. */
static int set_layer(struct context *c, const struct repo *r, struct task *t, const char *tip, struct err *e)
{
	auto_ref_txn txn = REF_TXN_INIT;

	free(t->layer);
	t->layer = xstrdup(tip);
	if (store_task_update(c->store, t, e) < 0 || refs_keep(c, r, t, &txn, e) < 0)
		return -1;
	return ref_commit(r, &txn, e);
}

static int remake_place(struct context *c, struct task_at *at, struct finding *f, struct err *e)
{
	char tip[OID_SIZE];
	bool whole;

	if (find_tip(&at->repo, at->task, tip, e) < 0 || clear_place(c, at, f, e) < 0)
		return -1;
	whole = has(at->ws.dir, "tree");
	if (!whole && write_file(at->ws.dir, REMAKE_MARK, tip, strlen(tip), 0600, e) < 0)
		return -1;
	/* before the rest: as long as there is no upper directory, a second repair does this again */
	if (!backend_of(at->task)->on_host && !has(at->ws.dir, "upper") &&
		(set_layer(c, &at->repo, at->task, tip, e) < 0 || layers_drop_colliding(&at->ws, tip, e) < 0))
		return -1;
	if (workspace_restore(&at->ws, e) < 0)
		return -1;
	fault("doctor-placed");
	if (!whole && workspace_refill(&at->ws, tip, e) < 0)
		return -1;
	fault("doctor-filled");
	unlinkat(at->ws.dir, REMAKE_MARK, 0);
	return 0;
}

/* Makes the task like a new one at the tip. Its directory has nothing but the lock and the mark. */
static int make_all(struct context *c, struct task *t, int *lock, struct err *e)
{
	auto_project p = { 0 };
	auto_repo r = { 0 };
	auto_workspace ws = { .dir = -1 };
	auto_shown shown = SHOWN_INIT;
	struct task as_new = *t;
	char tip[OID_SIZE];

	if (store_project_by_id(c->store, t->project_id, &p, e) < 0 ||
		survey_repo(c, t->project_id, &r, e) < 0 || find_tip(&r, t, tip, e) < 0)
		return -1;
	repo_release(&r);
	if (repo_open(p.path, tip, &r, e) < 0 || shown_now(c, &r, t->target, NULL, &shown, e) < 0)
		return -1;
	as_new.base = as_new.layer = tip;
	if (workspace_open(&ws, &c->home, &r, &as_new, e) < 0 ||
		(*lock < 0 && lock_take(ws.dir, "lock", false, lock, e) < 0) ||
		write_file(ws.dir, REMAKE_ALL, tip, strlen(tip), 0600, e) < 0)
		return -1;
	/* recorded before the base is used, so that nobody prunes it meanwhile */
	if (refs_renew(c, &r, t, &shown, e) < 0 || refs_renewed(c, t, &shown, e) < 0 ||
		set_layer(c, &r, t, tip, e) < 0)
		return -1;
	as_new = *t;
	as_new.base = tip;
	if (workspace_create(&ws, &shown.lines, e) < 0 || workspace_published(&ws, tip, e) < 0)
		return -1;
	fault("doctor-filled");
	unlinkat(ws.dir, REMAKE_ALL, 0);
	return 0;
}

/* First moves what is left to the trash: the task's directory, and its files on the host. */
static int remake_all(struct context *c, struct task *t, struct finding *f, struct err *e)
{
	auto_str id = xasprintf("%lld", (long long)t->id), to = NULL, tree = NULL;
	auto_str host = workspace_host_dir(&c->home, t);
	const char *name = host ? path_base(host) : NULL;
	auto_repo r = { 0 };
	auto_lock lock = -1;

	if (survey_repo(c, t->project_id, &r, e) < 0)
		return -1;
	if (survey_is_there(c, "tasks", id) && found_move(c, "tasks", id, NULL, &to, e) < 0)
		return -1;
	if (name && survey_is_there(c, backend_of(t)->place, name) &&
		found_move(c, backend_of(t)->place, name, NULL, &tree, e) < 0)
		return -1;
	if (host && is_registered(&r, host) && worktree_forget(&r, host, e) < 0)
		return -1;
	fault("doctor-cleared");
	if (make_all(c, t, &lock, e) < 0)
		return -1;
	if (to || tree)
		finding_said(f, "what was left of it is in %s%s%s", to ? to : tree, to && tree ? " and " : "",
			to && tree ? tree : "");
	return 0;
}

/* Takes the lock, if the directory exists; somebody may have deleted it by hand. */
static int take_lock(struct context *c, const struct task *t, int *ret_dir, int *ret_lock, struct err *e)
{
	if (home_task_dir(&c->home, t->id, ret_dir, e) < 0)
		return e->kind == ERR_NOTFOUND || e->sys == ELOOP || e->sys == ENOTDIR ? 0 : -1;
	if (lock_take(*ret_dir, "lock", false, ret_lock, e) < 0)
		return e->kind == ERR_BUSY ? err_set(e, ERR_BUSY, "the task is in use") : -1;
	return 0;
}

int remake_mend(struct context *c, struct finding *f, struct err *e)
{
	auto_task t = { 0 };
	auto_task_at at = { .ws.dir = -1 };
	auto_fd dir = -1;
	auto_lock lock = -1;

	if (store_task_by_id(c->store, f->task, &t, e) < 0 || take_lock(c, &t, &dir, &lock, e) < 0)
		return -1;
	task_release(&t);
	if (store_task_by_id(c->store, f->task, &t, e) < 0)
		return -1;
	if (!survey_rests(&t))
		return err_set(e, ERR_BUSY, "the task is in use");
	if (dir < 0 || !has(dir, "git") || has(dir, REMAKE_ALL))
		return remake_all(c, &t, f, e);
	return task_open(c, &t, &at, e) < 0 ? -1 : remake_place(c, &at, f, e);
}
