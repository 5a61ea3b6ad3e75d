#include <stdio.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/gate_client.h"
#include "cli/json.h"
#include "cli/resolve.h"
#include "cli/say.h"
#include "merge/merge.h"
#include "sys/lock.h"
#include "task/here.h"
#include "task/life.h"
#include "task/remove.h"
#include "task/undo.h"

static const struct kind {
	const char *name;
	int (*undo)(struct context *c, const struct deed *d, struct err *e);
	const char *outcome;
	const char *next; /* the command to look at it with */
} kinds[] = {
	{ "discard", task_undo_discard, "it is out of the trash, with all that was in it", "show" },
	{ "archive", task_undo_discard, "it is out of its archive, with all that was in it", "show" },
	{ "merge", merge_undo, "its target is as it was", "diff" },
	{ "rollback", rollback_undo, "it is as it was before", "diff" },
};
static const struct kind merge_with_task = { "merge", merge_undo,
	"its target is as it was, and it is out of the trash", "diff" };
static const struct kind merge_alone = { "merge", merge_undo, "its target is as it was", "audit" };

static int undo_kept(struct context *c, const struct deed *d, struct err *e)
{
	auto_str branch = NULL;

	if (merge_undo_kept(c, d, &branch, e) < 0)
		return -1;
	say_warning("the commits of task '%s' stay on branch %s", d->task, branch);
	return 0;
}
static const struct kind merge_kept = { "merge", undo_kept, "its target is as it was", "audit" };

static const struct kind *find_kind(const struct deed *d, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, d->kind))
			return &kinds[i];
	err_set(e, ERR_FAILED, "a %s cannot be taken back", d->kind);
	return NULL;
}

/* Two at once mean the same deed: who comes second does not take back one more. */
static int check_again(
	struct context *c, const char *task, int64_t project, const struct deed *d, struct err *e)
{
	auto_deed now = { 0 };

	if (store_deed_last(c->store, task, project, &now, e) < 0 && e->kind != ERR_NOTFOUND)
		return -1;
	return now.id == d->id ? 0
			       : err_set(e, ERR_BUSY, "another command took the %s of task '%s' back",
					 d->kind, d->task);
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

/* Recorded, then done; where it cannot be done, that is recorded too. */
static int take_back(struct context *c, const struct deed *d, const struct kind *k, struct err *e)
{
	struct err ignored = ERR_INIT;

	if (record(c, d, "undo", NULL, e) < 0)
		return -1;
	if (k->undo(c, d, e) < 0) {
		record(c, d, "undo-failed", e, &ignored);
		return -1;
	}
	/* some say so themselves, in the step that ends theirs */
	if (context_store(c, e) < 0 || (store_deed_undone(c->store, d->id, e) < 0 && e->kind != ERR_NOTFOUND))
		return -1;
	return 0;
}

/* The task whose conflict was solved in this one went with the merge, too. */
static int bring_back_solved(struct context *c, const struct deed *merge, struct err *e)
{
	auto_discarded was = { 0 };
	struct err ignored = ERR_INIT;
	auto_deed d = { 0 };
	int64_t id;

	if (resolve_of(c, merge->task_id, &id, e) < 0)
		return -1;
	/* one that cannot come back stays where it is */
	if (id && !store_deed_of(c->store, id, "discard", &d, e) && !discarded_read(&d, &was, e) &&
		!strcmp(was.state, STATE_MERGED))
		take_back(c, &d, &kinds[0], &ignored);
	return resolve_taken_back(c, merge->task_id, e);
}

/* A task that went because it was merged comes back because it is not: with is merge_with_task where it has
 * come back, and else what is done of the merge alone. */
static int take_back_merge(
	struct context *c, struct deed *d, const struct kind *with, const struct kind **k, struct err *e)
{
	auto_discarded was = { 0 };
	auto_deed m = { 0 };

	if (!strcmp(d->kind, "merge"))
		return bring_back_solved(c, d, e);
	if (strcmp(d->kind, "discard") || discarded_read(d, &was, e) < 0 || !was.merged)
		return 0;
	if (store_deed_of(c->store, d->task_id, "merge", &m, e) < 0)
		return e->kind == ERR_NOTFOUND ? 0 : -1;
	if (take_back(c, &m, with, e) < 0)
		return with == &merge_with_task
			       ? err_wrap(e, "task '%s' is out of the trash, but its merge stays", d->task)
			       : -1;
	deed_release(d);
	*d = m;
	m = (struct deed){ 0 };
	*k = with;
	return bring_back_solved(c, d, e);
}

/* Whether it failed because there is nothing to come back to, and a merge is left to be taken back. */
static bool went_with_merge(struct context *c, const struct deed *d, const struct err *why)
{
	auto_discarded was = { 0 };
	struct err ignored = ERR_INIT;
	auto_deed m = { 0 };

	return (why->kind == ERR_NOTFOUND || why->kind == ERR_EXISTS) && !strcmp(d->kind, "discard") &&
	       !discarded_read(d, &was, &ignored) && was.merged && !context_store(c, &ignored) &&
	       !store_deed_of(c->store, d->task_id, "merge", &m, &ignored);
}

static int undo(struct context *c, const char *task, struct deed *d, const struct kind **ret, struct err *e)
{
	auto_lock lock = -1;
	int64_t project = 0;

	/* without a task's name, the last deed in the project that the user stands in is meant; in none, of
	 * all */
	if (context_store(c, e) < 0 || (!task && here_project(c, ".", &project, e) < 0) ||
		store_deed_last(c->store, task, project, d, e) < 0)
		return -1;
	*ret = find_kind(d, e);
	if (!*ret || lock_take(c->home.fd, "undo.lock", true, &lock, e) < 0 ||
		check_again(c, task, project, d, e) < 0)
		return -1;
	if (!take_back(c, d, *ret, e))
		return take_back_merge(c, d, &merge_with_task, ret, e);
	/* a task that cannot come back, out of an emptied trash or under a name that is taken, keeps no merge
	 */
	if (!went_with_merge(c, d, e))
		return -1;
	say_warning("%s", e->msg);
	/* out of an emptied trash went its branch, too */
	return take_back_merge(c, d, e->kind == ERR_NOTFOUND ? &merge_kept : &merge_alone, ret, e);
}

int cmd_undo(int argc, char **argv)
{
	bool json = false;
	const struct opt opts[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "undo", opts, 0, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	const struct kind *kind;
	struct err e = ERR_INIT;
	auto_deed d = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (context_open(&c, &e) < 0 || undo(&c, l.words ? argv[0] : NULL, &d, &kind, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(json_pack("{s:o, s:s}", "task", json_text(d.task), "undone", d.kind));
	if (!say_is_heard())
		return 0;
	say_done("the %s of task '%s' is taken back: %s", d.kind, d.task, kind->outcome);
	say_hint("garth %s %s", kind->next, d.task);
	return 0;
}
