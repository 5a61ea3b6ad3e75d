#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/gate_client.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/resolve.h"
#include "cli/say.h"
#include "cli/undo_list.h"
#include "merge/merge.h"
#include "sys/lock.h"
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

/* Takes one deed back, and what went with it. */
static int undo_one(struct context *c, struct deed *d, const struct kind **ret, struct err *e)
{
	*ret = find_kind(d, e);
	if (!*ret)
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

/* Whether more than one thing may be meant: by a name, in several projects; without one, outside of them
 * all. */
static bool is_ambiguous(const struct undo_list *l, const char *task)
{
	if (!task)
		return !l->project;
	for (size_t i = 1; i < l->n; i++)
		if (l->v[i].deeds[0].project_id != l->v[0].deeds[0].project_id)
			return true;
	return false;
}

static void print_list(const struct undo_list *l, bool numbered)
{
	int width = 7;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if ((int)strlen(l->v[i].project) > width)
			width = (int)strlen(l->v[i].project);
	for (size_t i = 0; i < l->n; i++) {
		auto_str what = undo_describe(&l->v[i]);
		char age[32];

		if (l->v[i].gone)
			continue;
		if (numbered)
			fprintf(stderr, "%3zu  ", ++n);
		fprintf(numbered ? stderr : stdout, "%-5s  %-*s  %s\n",
			say_age(l->v[i].deeds[0].created, age, sizeof(age)), width, l->v[i].project, what);
	}
}

/* On a terminal the user may choose; -1 where nobody does. */
static int choose(const struct undo_list *l, size_t *ret)
{
	char answer[32] = "";
	long n;

	if (!isatty(0) || !say_is_heard())
		return -1;
	print_list(l, true);
	fprintf(stderr, "the number of what is to be taken back, or nothing: ");
	if (!fgets(answer, sizeof(answer), stdin))
		fputc('\n', stderr);
	n = strtol(answer, NULL, 10);
	for (size_t i = 0; i < l->n && n > 0; i++)
		if (!l->v[i].gone && !--n)
			return *ret = i, 0;
	return -1;
}

/* Which of them is meant. */
static int pick(const struct undo_list *l, const char *task, size_t *ret, struct err *e)
{
	*ret = 0;
	if (!l->n)
		return task ? err_set(e, ERR_NOTFOUND, "there is nothing of task '%s' to take back", task)
			    : err_set(e, ERR_NOTFOUND, "there is nothing to take back");
	if (!is_ambiguous(l, task) || !choose(l, ret))
		return 0;
	if (!task)
		return err_set(e, ERR_REFUSED,
			       "the current directory is in no repository: which task is meant?"),
		       err_hint(e, "garth undo --list");
	err_set(e, ERR_REFUSED, "tasks named '%s' were in several projects: '%s', '%s'", task,
		l->v[0].project, l->v[l->n - 1].project);
	return err_hint(e, "cd '%s' && garth undo %s", l->v[0].path, task);
}

/* Two at once mean the same deed: who comes second does not take back one more. */
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

static int report_one(const struct deed *d, const struct kind *kind, bool json)
{
	if (json)
		return json_print(json_pack("{s:o, s:[o], s:s}", "task", json_text(d->task), "task_names",
			json_text(d->task), "undone", d->kind));
	if (!say_is_heard())
		return 0;
	say_done("the %s of task '%s' is taken back: %s", d->kind, d->task, kind->outcome);
	say_hint("garth %s %s", kind->next, d->task);
	return 0;
}

/* All that one command did, oldest first. One that cannot come back keeps no other. */
static int undo_many(struct context *c, struct undoable *u, bool json)
{
	auto_strvec done = STRVEC_INIT;
	struct err last = ERR_INIT;

	for (size_t i = u->n; i-- > 0;) {
		struct err e = ERR_INIT;
		const struct kind *kind;

		if (!undo_one(c, &u->deeds[i], &kind, &e)) {
			strvec_push(&done, u->deeds[i].task);
			continue;
		}
		if (last.kind != ERR_NONE)
			say_warning("%s", last.msg);
		last = e;
	}
	progress_end();
	if (json)
		json_print(json_pack("{s:o, s:o, s:s}", "task", done.n ? json_text(done.v[0]) : json_null(),
			"task_names", json_list(&done), "undone", u->deeds[0].kind));
	else if (done.n && say_is_heard())
		say_done("the removal of %zu tasks is taken back: they are out of the trash", done.n);
	if (last.kind != ERR_NONE)
		return say_error(&last);
	if (!json && say_is_heard())
		say_hint("garth ls");
	return 0;
}

static int undo(struct context *c, const char *task, bool look, bool json)
{
	auto_undo_list l = { 0 };
	const struct kind *kind;
	struct err e = ERR_INIT;
	auto_lock lock = -1;
	auto_str what = NULL;
	struct undoable *u;
	size_t i;
	int rc;

	if (undo_find(c, task, &l, &e) < 0 || pick(&l, task, &i, &e) < 0)
		return say_error(&e);
	u = &l.v[i];
	if (look) {
		json_t *o = json ? undo_json(u) : NULL;

		if (json)
			return json_object_set_new(o, "dry_run", json_true()), json_print(o);
		what = undo_describe(u);
		printf("%s\n", what);
		return 0;
	}
	if (lock_take(c->home.fd, "undo.lock", true, &lock, &e) < 0 || check_again(c, u, &e) < 0)
		return say_error(&e);
	progress_begin("taking it back");
	if (u->n > 1)
		return undo_many(c, u, json);
	rc = undo_one(c, &u->deeds[0], &kind, &e);
	progress_end();
	if (rc < 0) {
		if (!task && !*e.hint)
			err_hint(&e, "garth undo --list");
		return say_error(&e);
	}
	return report_one(&u->deeds[0], kind, json);
}

static int list(struct context *c, const char *task, bool json)
{
	auto_undo_list l = { 0 };
	struct err e = ERR_INIT;
	json_t *all;

	if (undo_find(c, task, &l, &e) < 0)
		return say_error(&e);
	if (!json) {
		print_list(&l, false);
		return 0;
	}
	all = json_array();
	for (size_t i = 0; i < l.n; i++)
		if (!l.v[i].gone)
			json_array_append_new(all, undo_json(&l.v[i]));
	return json_print(json_pack("{s:o}", "deeds", all));
}

int cmd_undo(int argc, char **argv)
{
	bool json = false, only_list = false, look = false;
	const struct opt opts[] = {
		{ 'l', "list", OPT_FLAG, &only_list, NULL, "tell what can be taken back, newest first" },
		{ 'n', "dry-run", OPT_FLAG, &look, NULL, "tell what would be taken back" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "undo", opts, 0, 1, false, 0, 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	const char *task;

	CMD_PARSE(&l, argc, argv);
	task = l.words ? argv[0] : NULL;
	if ((only_list || look ? context_open_to_look : context_open)(&c, &e) < 0)
		return say_error(&e);
	return only_list ? list(&c, task, json) : undo(&c, task, look, json);
}
