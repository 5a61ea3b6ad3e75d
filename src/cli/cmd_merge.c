#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/each_task.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/remaining.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/show_tickets.h"
#include "merge/merge.h"
#include "runtime/land.h"
#include "runtime/resolve.h"
#include "runtime/run.h"
#include "task/empty.h"
#include "task/life.h"
#include "task/seen.h"
#include "task/tickets.h"

static const char *const kinds[] = {
	[MERGE_COMMIT] = "merge", [MERGE_SQUASH] = "squash", [MERGE_REBASE] = "rebase"
};

/* The command line. */
struct merge_opts {
	struct land_spec land;
	bool squash, rebase, resolve;
};

static json_t *submodules_json(const struct merge_result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->nsubmodules; i++)
		json_array_append_new(list,
			json_pack("{s:o, s:s, s:s, s:o}", "path", json_text(r->submodules[i].path), "old_tip",
				r->submodules[i].old, "new_tip", r->submodules[i].new_oid, "checkout",
				r->submodules[i].checkout ? json_text(r->submodules[i].checkout)
							  : json_null()));
	return list;
}

static json_t *as_json(
	const struct task *t, const struct merge_spec *s, const struct merge_result *r, bool removed)
{
	return json_pack("{s:o, s:o, s:s, s:s, s:s, s:o, s:b, s:b, s:b, s:o, s:b, s:o}", "task",
		json_text(t->name), "target", json_branch(r->target), "strategy", kinds[s->kind], "old_tip",
		r->old, "new_tip", r->new_oid, "checkout", r->checkout ? json_text(r->checkout) : json_null(),
		"fast_forward", r->fast_forward, "up_to_date", r->nothing, "dry_run", s->dry_run, "state",
		removed ? json_string(STATE_MERGED) : json_text(t->state), "workspace_removed", removed,
		"submodules_moved", submodules_json(r));
}

static void tell(const struct task *t, const struct merge_spec *s, const struct merge_result *r)
{
	const char *target = r->target + strlen("refs/heads/");

	if (r->nothing)
		say_state("%s has all of task '%s' already", target, t->name);
	else if (s->dry_run)
		say_state("task '%s' can be merged into %s%s", t->name, target,
			r->fast_forward ? " (fast-forward)" : "");
	else
		say_done("task '%s' is merged into %s (%.12s%s)%s%s", t->name, target, r->new_oid,
			r->fast_forward ? ", fast-forward" : "", r->checkout ? ", with the checkout " : "",
			r->checkout ? r->checkout : "");
	for (size_t i = 0; i < r->nsubmodules; i++)
		say_state("submodule %s %s at %.12s%s", r->submodules[i].path, s->dry_run ? "would be" : "is",
			r->submodules[i].new_oid, r->submodules[i].checkout ? ", with its files" : "");
	if (!s->dry_run && life_is_running(t))
		say_state("task '%s' is %s: what it had published by now is merged", t->name, t->state);
}

static int refuse_message(struct err *e)
{
	err_set(e, ERR_USAGE, "-m does not go with a rebase: each commit keeps its own message");
	return err_hint(e, "garth merge --help");
}

/* Checks what is wrong whatever the task and its configuration are. */
static int check_options(const struct merge_opts *o, int tasks, struct err *e)
{
	if (o->squash + o->rebase + o->land.merge.no_ff > 1)
		return err_set(e, ERR_USAGE, "--squash, --rebase and --no-ff do not go together"),
		       err_hint(e, "garth merge --help");
	if (o->rebase && o->land.merge.message)
		return refuse_message(e);
	if (tasks > 1 && (o->resolve || o->land.resolved))
		return err_set(e, ERR_USAGE, "--resolve and --continue take one task"),
		       err_hint(e, "garth merge --help");
	return 0;
}

static int choose(const struct config *c, bool squash, bool rebase, struct merge_spec *s, struct err *e)
{
	if (squash || (!rebase && !s->no_ff && !strcmp(c->merge_strategy, "squash")))
		s->kind = MERGE_SQUASH;
	else if (rebase || (!s->no_ff && !strcmp(c->merge_strategy, "rebase")))
		s->kind = MERGE_REBASE;
	else
		s->kind = MERGE_COMMIT;
	if (s->message && s->kind == MERGE_REBASE)
		return refuse_message(e);
	return 0;
}

/* The files because of which it failed. */
static json_t *lists(const struct merge_result *r)
{
	return r->conflicts.n    ? json_pack("{s:o}", "conflicts", json_conflicts(&r->conflicts))
	       : r->in_the_way.n ? json_pack("{s:o}", "in_the_way", json_list(&r->in_the_way))
				 : NULL;
}

static int begin_resolution(
	struct context *c, struct task *t, const struct merge_spec *s, json_t **ret, struct err *e)
{
	auto_str name = NULL;
	int rc;

	progress_begin("making a task for the conflict");
	rc = resolve_begin(c, t, s, &name, e);
	progress_end();
	if (rc < 0)
		return -1;
	*ret = json_pack("{s:o, s:o}", "task", json_text(t->name), "resolution", json_text(name));
	if (!say_is_json())
		printf("%s\n", name);
	say_done(
		"task '%s' has the conflict in its workspace: solve it, commit, then garth merge --continue %s",
		name, t->name);
	say_hint("garth shell %s", name);
	return 0;
}

/* Prints whether the task was removed, and what to do next. */
static void tell_rest(struct context *c, struct task *t, const struct land_result *r)
{
	if (r->removed && say_is_heard()) {
		say_state("its workspace is in the trash for %d days", TASK_TRASH_DAYS);
		say_hint("garth undo %s", r->in.name ? r->in.name : t->name);
	} else if (!r->removed && !remaining_warn(c, t, "merged") && r->kept.kind != ERR_NONE) {
		say_warning_text("kept: ", r->kept.msg);
	}
}

static int merge_one(struct context *c, struct task *t, void *data, json_t **ret, struct err *e)
{
	const struct merge_opts *o = data;
	struct land_spec land = o->land;
	auto_land_result r = { 0 };
	int rc;

	if (choose(&c->config, o->squash, o->rebase, &land.merge, e) < 0 || empty_refuse(t, e) < 0 ||
		tickets_refuse_merge(c, t, e) < 0)
		return -1;
	show_tickets_open(c, t);
	/* the task file may set the strategy */
	if ((runtime_configure(c, t, e) < 0 && e->kind != ERR_NOTFOUND) ||
		choose(&c->config, o->squash, o->rebase, &land.merge, e) < 0)
		return -1;
	if (o->resolve)
		return begin_resolution(c, t, &land.merge, ret, e);
	land.keep |= c->config.merge_keep;
	progress_begin("merging");
	rc = land_task(c, t, &land, &r, e);
	progress_end();
	if (rc < 0)
		return *ret = lists(&r.merge), -1;
	seen_mark(c, t);
	if (r.removed)
		remaining_tell_branch(c, t);
	if (r.in_removed)
		remaining_tell_branch(c, &r.in);
	*ret = as_json(t, &land.merge, &r.merge, r.removed);
	tell(t, &land.merge, &r.merge);
	tell_rest(c, t, &r);
	return 0;
}

int cmd_merge(int argc, char **argv)
{
	struct merge_opts o = { 0 };
	struct merge_spec *s = &o.land.merge;
	struct each_task m = { .one = merge_one, .data = &o, .done = "merged", .in_order = true };
	const struct opt opts[] = {
		{ 0, "squash", OPT_FLAG, &o.squash, NULL, "merge as one commit" },
		{ 0, "rebase", OPT_FLAG, &o.rebase, NULL, "put the commits on top of the target one by one" },
		{ 0, "no-ff", OPT_FLAG, &s->no_ff, NULL, "make a merge commit even if none is needed" },
		{ 0, "into", OPT_STR, &s->into, "BRANCH", "merge into another branch than the target",
			WORD_BRANCH },
		{ 'm', "message", OPT_STR, &s->message, "TEXT", "message of the commit", WORD_TEXT },
		{ 0, "tip", OPT_STR, &s->tip, "COMMIT", "merge only if the task's branch is at this commit",
			WORD_REVISION },
		{ 0, "resolve", OPT_FLAG, &o.resolve, NULL, "if it conflicts, make a task to solve it in" },
		{ 0, "continue", OPT_FLAG, &o.land.resolved, NULL, "merge what was solved in that task" },
		{ 0, "keep", OPT_FLAG, &o.land.keep, NULL, "keep the task and its workspace" },
		{ 0, "dry-run", OPT_FLAG, &s->dry_run, NULL, "only tell what would happen" },
		{ 0, "json", OPT_FLAG, &m.json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "merge", opts, 1, -1, false, 0, 0 };
	struct err e = ERR_INIT;

	CMD_PARSE(&l, argc, argv);
	if (check_options(&o, l.words, &e) < 0)
		return say_error(&e);
	return each_task_run(&m, argv, l.words);
}
