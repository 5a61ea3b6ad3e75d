#include "task/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "git/ref.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/tree.h"
#include "task/life.h"
#include "task/refs.h"
#include "task/task.h"
#include "workspace/base.h"
#include "workspace/export.h"

/* tasks/<id>/keep marks that the directory holds work and goes to the trash. */
static bool has_work(const struct context *c, const struct task *t)
{
	auto_str keep = xasprintf("tasks/%lld/keep", (long long)t->id);

	return !faccessat(c->home.fd, keep, F_OK, 0);
}

static int move_files(struct context *c, const struct task *t, struct err *e)
{
	auto_str from = xasprintf("tasks/%lld", (long long)t->id);
	auto_str to = xasprintf("trash/%lld%s", (long long)t->id, has_work(c, t) ? "" : ".empty");

	/* overlayfs leaves a directory without permissions, which the user's own rm would stumble over */
	auto_str work = xasprintf("%s/work/work", from);
	fchmodat(c->home.fd, work, 0700, 0);
	if (renameat(c->home.fd, from, c->home.fd, to) < 0 && errno != ENOENT)
		return err_sys(e, "cannot move '%s' to the trash", from);
	utimensat(c->home.fd, to, NULL, AT_SYMLINK_NOFOLLOW);
	auto_str empty = xasprintf("trash/%lld.empty", (long long)t->id);
	/* twice: who comes too late may put a new lock there */
	return tree_remove(c->home.fd, empty, e) < 0 ? tree_remove(c->home.fd, empty, e) : 0;
}

static int prune_bases(struct context *c, const struct task *t, struct err *e)
{
	auto_task_list all = { 0 };
	auto_strvec used = STRVEC_INIT;
	auto_lock lock = -1;

	if (base_lock(&c->home, t->project_id, &lock, e) < 0 || store_task_list(c->store, false, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].project_id == t->project_id && *all.v[i].layer && all.v[i].id != t->id)
			strvec_push(&used, all.v[i].layer);
	return base_prune(&c->home, t->project_id, &used, e);
}

int remove_finish(struct context *c, struct task *t, struct err *e)
{
	bool half_made = !strcmp(t->state, STATE_CREATING);
	auto_task_at at = { .ws.dir = -1 };
	struct err ignored = ERR_INIT;

	/* a repository that is gone needs nothing taken out of it */
	if (!task_open_again(c, t, &at, e)) {
		if (workspace_remove(&at.ws, e) < 0 ||
			refs_drop(c, &at.repo, t, !half_made && has_work(c, t), e) < 0)
			return -1;
	} else if (e->kind != ERR_NOTFOUND) {
		return -1;
	}
	fault("discard-refs");
	if (move_files(c, t, e) < 0)
		return -1;
	fault("discard-moved");
	if ((half_made ? store_task_forget(c->store, t->id, e)
		       : store_task_remove(c->store, t->id, STATE_DISCARDED, e)) < 0)
		return -1;
	/* bases that are not needed any more are room to be had back, not part of the promise */
	prune_bases(c, t, &ignored);
	return 0;
}

/* The pin on a discarded task's base goes with its files. A repository that is gone has none. */
static void unpin(int trash, const char *name)
{
	auto_str keep = path_join(name, "keep"), ref = xasprintf("refs/garth/trash/%s", name);
	auto_buf git_dir = BUF_SMALL;
	auto_ref_txn txn = REF_TXN_INIT;
	struct err ignored = ERR_INIT;

	if (read_file(trash, keep, &git_dir, &ignored) < 0 || !git_dir.len)
		return;
	ref_remove(&txn, ref, NULL);
	ref_commit(&(struct repo){ .git_dir = git_dir.data }, &txn, &ignored);
}

int remove_old_trash(struct context *c, struct err *e)
{
	auto_fd trash = openat(c->home.fd, "trash", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int copy = trash < 0 ? -1 : dup(trash);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	time_t limit = time(NULL) - TASK_TRASH_DAYS * 24 * 3600;
	struct dirent *ent;
	int rc = 0;

	if (!d)
		return err_sys(e, "cannot read the trash");
	while (!rc && (ent = readdir(d))) {
		struct stat st;

		if (ent->d_name[0] == '.' || fstatat(trash, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			st.st_mtime >= limit)
			continue;
		unpin(trash, ent->d_name);
		rc = tree_remove(trash, ent->d_name, e);
	}
	closedir(d);
	return rc;
}

/* Says no where something would be lost that no option gives up. */
static int check_work(
	const struct task *t, const struct task_work *w, const struct discard_opts *o, struct err *e)
{
	bool files = w->files.n && !o->files, drafts = w->drafts && !o->drafts;
	auto_buf first = BUF_SMALL;

	if (!files && !drafts)
		return 0;
	for (size_t i = 0; files && i < w->files.n && i < 5; i++)
		buf_printf(&first, "\n  %s", w->files.v[i]);
	if (files && w->files.n > 5)
		buf_printf(&first, "\n  … and %zu more", w->files.n - 5);
	err_set(e, ERR_REFUSED, "task '%s' has the only copy of its work: %zu changed file%s%s%s", t->name,
		w->files.n, w->files.n == 1 ? "" : "s", w->drafts ? ", and drafts in its repository" : "",
		buf_str(&first));
	return err_hint(e, "garth discard -%s%s %s", w->files.n ? "f" : "", w->drafts ? "D" : "", t->name);
}

static int look_at_work(struct context *c, struct task *t, struct task_work *w, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };

	if (!task_open(c, t, &at, e) && !task_work(&at, w, e))
		return 0;
	/* what cannot be looked at may be all there is */
	task_work_release(w);
	*w = (struct task_work){ .drafts = 1 };
	strvec_pushf(&w->files, "? %s", e->msg);
	return 0;
}

/* `keep` says in which repository the base is pinned for the trash. */
static int mark_kept(struct context *c, const struct task *t, int dir, struct err *e)
{
	auto_project p = { 0 };

	if (store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return -1;
	return write_file(dir, "keep", p.git_dir, strlen(p.git_dir), 0600, e);
}

/* Another discard may have been faster, or be at its end: then the lock's file lies in the trash already. */
static int still_there(struct context *c, const struct task *t, struct err *e)
{
	auto_task now = { 0 };

	if (store_task_by_name(c->store, t->name, &now, e) < 0)
		return -1;
	if (now.id != t->id)
		return err_set(e, ERR_NOTFOUND, "there is no task '%s'", t->name);
	return strcmp(now.state, t->state)
		       ? err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name)
		       : 0;
}

/* A keeper that has told its command's end is about to leave: it is waited for, for a moment. */
static int take_lock(struct context *c, const struct task *t, int dir, int *ret, struct err *e)
{
	int tries = 0;

	while (lock_take(dir, "lock", false, ret, e) < 0) {
		if (e->kind != ERR_BUSY && e->sys != ENOENT)
			return -1;
		if (e->sys == ENOENT && still_there(c, t, e) < 0)
			return -1;
		if (++tries > 100)
			return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return still_there(c, t, e);
}

int task_discard(
	struct context *c, struct task *t, const struct discard_opts *o, char **ret_trash, struct err *e)
{
	auto_task_work w = { 0 };
	auto_fd dir = -1;
	bool kept;
	auto_lock lock = -1;

	if (!strcmp(t->state, STATE_DISCARDING) || !strcmp(t->state, STATE_CREATING))
		return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
	if (!strcmp(t->state, STATE_RUNNING))
		return err_set(e, ERR_REFUSED, "task '%s' is running", t->name),
		       err_hint(e, "garth cancel %s", t->name);
	if (home_task_dir(&c->home, t->id, &dir, e) < 0) {
		if (e->kind != ERR_NOTFOUND)
			return -1;
	} else if (take_lock(c, t, dir, &lock, e) < 0) {
		return -1;
	}
	if (dir >= 0 && (look_at_work(c, t, &w, e) < 0 || check_work(t, &w, o, e) < 0))
		return -1;
	/* ignored files need no option, but who knows what an ignore file of the agent's hides: the trash has
	 * them */
	kept = w.files.n || w.drafts || w.ignored;
	if (dir >= 0 && kept && mark_kept(c, t, dir, e) < 0)
		return -1;
	if (life_move(c->store, t, STATE_DISCARDING, e) < 0)
		return -1;
	fault("discard-marked");
	if (remove_finish(c, t, e) < 0)
		return -1;
	*ret_trash = kept ? home_path(&c->home, "trash/%lld", (long long)t->id) : NULL;
	return remove_old_trash(c, e);
}
