#include "runtime/undo.h"

#include <jansson.h>
#include <string.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "merge/merge.h"
#include "runtime/rename.h"
#include "runtime/resolve.h"
#include "runtime/rollback.h"
#include "sys/lock.h"
#include "task/life.h"
#include "task/remove.h"
#include "task/undo.h"

struct kind {
	const char *name;
	int (*undo)(struct context *c, const struct deed *d, struct err *e);
	enum undo_outcome outcome;
	/* used instead of `undo` if it has warnings */
	int (*undo_warning)(struct context *c, const struct deed *d, struct strvec *warnings, struct err *e);
};

/* The task is gone for good: a branch keeps its commits. */
static int undo_kept(struct context *c, const struct deed *d, struct strvec *warnings, struct err *e)
{
	auto_str branch = NULL;

	if (merge_undo_kept(c, d, &branch, e) < 0)
		return -1;
	strvec_pushf(warnings, "the commits of task '%s' stay on branch %s", d->task, branch);
	return 0;
}

static const struct kind kinds[] = {
	{ "discard", task_undo_discard, UNDO_TRASH },
	{ "archive", task_undo_discard, UNDO_ARCHIVE },
	{ "merge", merge_undo, UNDO_MERGE },
	{ "rollback", NULL, UNDO_ROLLBACK, rollback_undo },
	{ "rename", NULL, UNDO_RENAME, rename_undo },
};
static const struct kind merge_with_task = { "merge", merge_undo, UNDO_WITH_TASK };
static const struct kind merge_alone = { "merge", merge_undo, UNDO_TARGET };
static const struct kind merge_kept = { "merge", NULL, UNDO_TARGET, undo_kept };

static const struct kind *find_kind(const struct deed *d, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, d->kind))
			return &kinds[i];
	err_set(e, ERR_FAILED, "a %s cannot be taken back", d->kind);
	return NULL;
}

static int record(
	struct context *c, const struct deed *d, const char *event, const struct err *why, struct err *e)
{
	json_t *details = json_pack("{s:s, s:I}", "kind", d->kind, "deed", (json_int_t)d->id);
	auto_audit a = NULL;
	auto_task t = { 0 };

	if (why)
		json_object_set_new(details, "error", audit_text(why->msg));
	if (context_store(c, e) < 0 || store_task_any(c->store, d->task_id, &t, e) < 0 ||
		audit_open(c->home.fd, c->store, &a, e) < 0)
		return json_decref(details), -1;
	return audit_add(a, event, &t, details, e);
}

/* Records the undo, then does it. A failure is recorded too. */
static int take_back(
	struct context *c, const struct deed *d, const struct kind *k, struct strvec *warnings, struct err *e)
{
	struct err ignored = ERR_INIT;

	if (record(c, d, "undo", NULL, e) < 0)
		return -1;
	if ((k->undo ? k->undo(c, d, e) : k->undo_warning(c, d, warnings, e)) < 0) {
		record(c, d, "undo-failed", e, &ignored);
		return -1;
	}
	/* some kinds mark the deed as undone themselves, together with their last step */
	if (context_store(c, e) < 0 || (store_deed_undone(c->store, d->id, e) < 0 && e->kind != ERR_NOTFOUND))
		return -1;
	return 0;
}

/* Also restores the task whose conflict was solved in this one: it was removed with the same merge. */
static int restore_solved(struct context *c, const struct deed *merge, struct err *e)
{
	auto_discarded was = { 0 };
	struct err ignored = ERR_INIT;
	auto_deed d = { 0 };
	int64_t id;

	if (resolve_of(c, merge->task_id, &id, e) < 0)
		return -1;
	/* if it cannot be restored, that is no error */
	if (id && !store_deed_of(c->store, id, "discard", &d, e) && !discarded_read(&d, &was, e) &&
		!strcmp(was.state, STATE_MERGED))
		take_back(c, &d, &kinds[0], NULL, &ignored);
	return resolve_taken_back(c, merge->task_id, e);
}

/* A task that was removed because it was merged is restored, so its merge is undone too. `with` is
 * merge_with_task if the task was restored; otherwise it undoes only the merge. */
static int take_back_merge(struct context *c, struct deed *d, const struct kind *with, const struct kind **k,
	struct strvec *warnings, struct err *e)
{
	auto_discarded was = { 0 };
	auto_deed m = { 0 };

	if (!strcmp(d->kind, "merge"))
		return restore_solved(c, d, e);
	if (strcmp(d->kind, "discard") || discarded_read(d, &was, e) < 0 || !was.merged)
		return 0;
	if (store_deed_of(c->store, d->task_id, "merge", &m, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	if (take_back(c, &m, with, warnings, e) < 0)
		return with == &merge_with_task
			       ? err_wrap(e, "task '%s' is out of the trash, but its merge stays", d->task)
			       : -1;
	deed_release(d);
	*d = m;
	m = (struct deed){ 0 };
	*k = with;
	return restore_solved(c, d, e);
}

/* Whether the task could not be restored, but its merge can still be undone. */
static bool went_with_merge(struct context *c, const struct deed *d, const struct err *why)
{
	auto_discarded was = { 0 };
	struct err ignored = ERR_INIT;
	auto_deed m = { 0 };

	return (why->kind == ERR_NOTFOUND || why->kind == ERR_EXISTS) && !strcmp(d->kind, "discard") &&
	       !discarded_read(d, &was, &ignored) && was.merged && !context_store(c, &ignored) &&
	       !store_deed_of(c->store, d->task_id, "merge", &m, &ignored);
}

/* The deed names the task as it is called now. */
static void rename_deed(struct context *c, struct deed *d)
{
	struct err ignored = ERR_INIT;
	auto_task t = { 0 };

	if (context_store(c, &ignored) < 0 || store_task_any(c->store, d->task_id, &t, &ignored) < 0)
		return;
	free(d->task);
	d->task = steal_ptr(t.name);
}

int undo_deed(
	struct context *c, struct deed *d, enum undo_outcome *ret, struct strvec *warnings, struct err *e)
{
	const struct kind *k = find_kind(d, e);
	int rc;

	if (!k)
		return -1;
	if (!take_back(c, d, k, warnings, e)) {
		rc = take_back_merge(c, d, &merge_with_task, &k, warnings, e);
	} else if (went_with_merge(c, d, e)) {
		/* the task cannot be restored, because the trash is empty or its name is taken, but the merge
		 * is undone anyway; if the trash is empty, its branch is gone too */
		strvec_push(warnings, e->msg);
		rc = take_back_merge(
			c, d, e->kind == ERR_NOTFOUND ? &merge_kept : &merge_alone, &k, warnings, e);
	} else {
		return -1;
	}
	*ret = k->outcome;
	if (!rc && k->outcome == UNDO_RENAME)
		rename_deed(c, d);
	return rc;
}

/* If two commands undo the same deed at once, the second one must not undo the one before it. */
static int check_again(struct context *c, const struct undoable *u, struct err *e)
{
	for (size_t i = 0; i < u->n; i++) {
		auto_deed_list now = { 0 };
		bool open = false;

		if (store_deed_list(c->store, u->deeds[i].task, u->deeds[i].project_id, 500, &now, e) < 0)
			return -1;
		for (size_t j = 0; j < now.n; j++)
			open |= now.v[j].id == u->deeds[i].id;
		if (!open)
			return err_set(e, ERR_BUSY, "another command took the %s of task '%s' back",
				u->deeds[i].kind, u->deeds[i].task);
	}
	return 0;
}

int undo_begin(struct context *c, const struct undoable *u, int *ret_lock, struct err *e)
{
	auto_lock lock = -1;

	if (lock_take(c->home.fd, "undo.lock", true, &lock, e) < 0 || check_again(c, u, e) < 0)
		return -1;
	*ret_lock = lock;
	lock = -1;
	return 0;
}
