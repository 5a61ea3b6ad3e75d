#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/deadline.h"
#include "base/list_text.h"
#include "base/size.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "sys/tree.h"
#include "task/life.h"
#include "task/remove.h"
#include "task/submodule_refs.h"
#include "task/task.h"
#include "task/tickets.h"
#include "task/tip.h"
#include "workspace/space.h"

#define LEAVE_MS 2000

static const char *short_name(const char *ref)
{
	return strncmp(ref, "refs/heads/", 11) ? ref : ref + 11;
}

static void add(struct buf *list, size_t n, const char *one, const char *many)
{
	char count[COUNT_TEXT_MAX];

	if (n)
		buf_printf(list, "%s%s %s", list->len ? ", " : "", count_text(n, count), n == 1 ? one : many);
}

/* "2 changed files, 3 commits on garth/fix that are not in main, drafts in its repository (4 objects)" */
static void name_work(const struct task *t, const struct task_work *w, struct buf *out)
{
	const char *target = *t->target ? short_name(t->target) : t->base;
	char count[COUNT_TEXT_MAX];

	add(out, w->files.n, "changed file", "changed files");
	add(out, w->unmerged, "commit on ", "commits on ");
	if (w->unmerged)
		buf_printf(out, "%s that %s not in %s", short_name(t->branch),
			w->unmerged == 1 ? "is" : "are", target);
	if (w->drafts)
		buf_printf(out, "%sdrafts in its repository (%s object%s)", out->len ? ", " : "",
			count_text(w->drafts, count), w->drafts == 1 ? "" : "s");
}

/* Refuses if something would be lost that no option gives up. */
static int check_work(
	const struct task *t, const struct task_work *w, const struct discard_opts *o, struct err *e)
{
	bool files = w->files.n && !o->files, commits = (w->drafts || w->unmerged) && !o->drafts;
	auto_buf what = BUF_SMALL, first = BUF_SMALL;

	if (!files && !commits)
		return 0;
	name_work(t, w, &what);
	if (files)
		list_lines(&first, &w->files, 0, 5);
	err_set(e, ERR_REFUSED, "task '%s' has the only copy of its work: %s%s", t->name, buf_str(&what),
		buf_str(&first));
	return err_hint(e, "garth discard -%s%s %s", w->files.n ? "f" : "",
		w->drafts || w->unmerged ? "D" : "", t->name);
}

/* Refuses if the branch has moved since the user has seen it. */
static int check_tip(
	const struct task *t, const struct task_work *w, const struct discard_opts *o, struct err *e)
{
	if (!o->tip || tip_is(w->tip, o->tip))
		return 0;
	err_set(e, ERR_CONFLICT, "the branch of task '%s' has moved from %.12s to %.12s since it was read",
		t->name, o->tip, *w->tip ? w->tip : "nowhere");
	return err_hint(e, "garth diff --published %s", t->name);
}

/* If the task's directory is gone, its branch may be the only copy of its work. */
static int look_at_branch(struct context *c, struct task *t, struct task_work *w, struct err *e)
{
	auto_project p = { 0 };
	auto_repo r = { 0 };

	if (store_project_by_id(c->store, t->project_id, &p, e) < 0)
		return -1;
	if (repo_open_git_dir(p.git_dir, p.path, (unsigned)strlen(t->base) / 2, &r, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	return task_work_branch(c, &r, t, w, e);
}

static int look_at_work(struct context *c, struct task *t, struct task_work *w, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };

	if (!task_open(c, t, &at, e) && !task_work(c, &at, w, e))
		return 0;
	/* if the work cannot be determined, assume there is some */
	task_work_release(w);
	w->files = (struct strvec)STRVEC_INIT;
	w->drafts = 1;
	strvec_pushf(&w->files, "? %s", e->msg);
	return 0;
}

/* Another discard may be under way or finished: then the lock file is in the trash already. */
static int still_there(struct context *c, const struct task *t, struct err *e)
{
	auto_task now = { 0 };

	if (store_task_by_id(c->store, t->id, &now, e) < 0)
		return e->kind == ERR_NOTFOUND ? err_set(e, ERR_NOTFOUND, "there is no task '%s'", t->name)
					       : -1;
	/* task_settle found it interrupted, but could not write that to the store */
	if (!strcmp(t->state, STATE_INTERRUPTED) && life_is_running(&now))
		return err_set(e, ERR_FAILED, "how task '%s' ended cannot be written down: the disk is full",
			       t->name),
		       err_hint(e, "garth exec %s -- rm FILE", t->name);
	return strcmp(now.state, t->state)
		       ? err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name)
		       : 0;
}

/* A keeper whose command has ended is about to exit: wait for it for a moment. */
static int take_lock(struct context *c, const struct task *t, int dir, int *ret, struct err *e)
{
	struct deadline leaving = deadline_in(LEAVE_MS);

	while (lock_take(dir, "lock", false, ret, e) < 0) {
		if (e->kind != ERR_BUSY && e->sys != ENOENT)
			return -1;
		if (e->sys == ENOENT && still_there(c, t, e) < 0)
			return -1;
		if (!deadline_sleep(&leaving, 10))
			return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
	}
	return still_there(c, t, e);
}

/* Writes the audit line, before anything is done. */
static int record(struct context *c, const struct task *t, const struct task_work *w, bool kept,
	const char *kind, const struct discard_opts *o, struct err *e)
{
	json_t *details = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:b}", "branch", t->branch, "base",
		t->base, "tip", w->tip, "files", (json_int_t)w->files.n, "drafts", (json_int_t)w->drafts,
		"unmerged", (json_int_t)w->unmerged, "kept", kept, "with_merge", o->merged);
	auto_audit a = NULL;

	if (o->reason)
		json_object_set_new(details, "reason", audit_text(o->reason));
	if (audit_open(c->home.fd, c->store, &a, e) < 0)
		return json_decref(details), -1;
	return audit_add(a, kind, t, details, e);
}

static int add_deed(struct context *c, const struct task *t, const char *tip, const char *kind,
	const struct discard_opts *opts, struct err *e)
{
	auto_str trash = home_path(&c->home, "trash/%lld", (long long)t->id);
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:b}", "branch", t->branch, "tip", tip, "base",
		t->base, "state", t->state, "trash", audit_text(trash), "shown", t->shown, "merge",
		opts->merged);
	auto_str data = NULL;
	int rc;

	if (opts->reason)
		json_object_set_new(o, "reason", audit_text(opts->reason));
	data = json_dumps(o, JSON_COMPACT);
	rc = data ? store_deed_add(c->store, t->id, kind, data, NULL, e)
		  : err_set(e, ERR_FAILED, "cannot write down what is discarded");
	json_decref(o);
	return rc;
}

/* From here on the task counts as discarded: after a crash, task_settle finishes it. */
static int mark(struct context *c, struct task *t, const char *tip, bool kept, const char *kind,
	const struct discard_opts *o, struct err *e)
{
	if (store_begin(c->store, e) < 0)
		return -1;
	if ((!kept || !add_deed(c, t, tip, kind, o, e)) && !life_move(c->store, t, STATE_DISCARDING, e) &&
		!store_commit(c->store, e))
		return 0;
	store_rollback(c->store);
	return -1;
}

/* Writes down what the submodules' repositories have of the task, for remove_finish. If that cannot be found out, it
 * stays there, and garth doctor tells about it. */
static int note_submodules(struct context *c, struct task *t, bool *ret_any, struct err *e)
{
	auto_task_at at = { .ws.dir = -1 };
	auto_submodule_refs refs = { 0 };
	struct err ignored = ERR_INIT;

	*ret_any = false;
	if (task_open(c, t, &at, &ignored) < 0 || submodule_refs_find(c, &at, &refs, &ignored) < 0)
		return 0;
	*ret_any = refs.n;
	return submodule_refs_save(at.ws.dir, &refs, e);
}

static enum tree_next stop_at_file(const struct tree_entry *t, void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	return S_ISDIR(t->st.st_mode) && !t->closed ? TREE_ON : TREE_STOP;
}

/* Whether anything ever happened in the task: a conversation in its home, a question or a snapshot is work
 * too. */
static bool was_used(struct context *c, const struct task *t, int dir)
{
	auto_snapshot_list l = { 0 };
	struct err ignored = ERR_INIT;
	auto_fd home = dir < 0 ? -1 : open_beneath(dir, "home", O_RDONLY | O_DIRECTORY, 0);

	/* empty directories in the home are mount points */
	return t->started || store_snapshot_list(c->store, t->id, &l, &ignored) < 0 || l.n > 1 ||
	       (home >= 0 && tree_walk(home, stop_at_file, NULL, &ignored) < 0);
}

int task_discard(
	struct context *c, struct task *t, const struct discard_opts *o, char **ret_trash, struct err *e)
{
	const char *kind = o->archive ? "archive" : "discard";
	size_t removed = 0;
	auto_task_work w = { 0 };
	auto_fd dir = -1;
	auto_lock lock = -1;
	bool kept, any, tickets;

	space_use_reserve(&c->home);
	if (!strcmp(t->state, STATE_DISCARDING) || !strcmp(t->state, STATE_CREATING))
		return err_set(e, ERR_BUSY, "task '%s' is in use by another command", t->name);
	if (life_is_running(t))
		return err_set(e, ERR_REFUSED, "task '%s' is %s", t->name, t->state),
		       err_hint(e, "garth cancel %s", t->name);
	if (home_task_dir(&c->home, t->id, &dir, e) < 0) {
		if (e->kind != ERR_NOTFOUND)
			return -1;
	} else if (take_lock(c, t, dir, &lock, e) < 0) {
		return -1;
	}
	/* nothing is removed before it is known that all can be */
	tickets = dir >= 0 && tickets_are_there(dir);
	if (tickets && tickets_discard(c, t, o, true, e) < 0)
		return -1;
	if ((dir < 0 ? look_at_branch(c, t, &w, e) : look_at_work(c, t, &w, e)) < 0 ||
		check_tip(t, &w, o, e) < 0 || check_work(t, &w, o, e) < 0)
		return -1;
	if (o->look)
		return 0;
	if (tickets && tickets_discard(c, t, o, false, e) < 0)
		return -1;
	if (!*w.tip)
		snprintf(w.tip, sizeof(w.tip), "%s", *t->published ? t->published : t->base);
	/* ignored files need no option, but an agent's ignore file may hide work: keep them in the trash */
	if (note_submodules(c, t, &any, e) < 0)
		return -1;
	kept = any || o->archive || w.files.n || w.drafts || w.ignored || strcmp(w.tip, t->base) ||
	       was_used(c, t, dir);
	/* empty the trash first, so that this task is not in it yet */
	if (remove_trash(c, TASK_TRASH_DAYS * 24 * 3600, true, &removed, e) < 0 ||
		record(c, t, &w, kept, kind, o, e) < 0)
		return -1;
	/* the file `keep` may be left from an undo */
	if (dir >= 0 && !kept)
		unlinkat(dir, "keep", 0);
	if (mark(c, t, w.tip, kept, kind, o, e) < 0)
		return -1;
	fault("discard-marked");
	if (remove_finish(c, t, e) < 0)
		return -1;
	*ret_trash = kept ? home_path(&c->home, "trash/%lld", (long long)t->id) : NULL;
	return 0;
}
