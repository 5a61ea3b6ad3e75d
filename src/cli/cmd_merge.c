#include <stdio.h>

#include "base/alloc.h"
#include "cli/cmd.h"
#include "cli/json.h"
#include "cli/rest.h"
#include "cli/say.h"
#include "cli/session.h"
#include "merge/merge.h"
#include "runtime/land.h"
#include "runtime/resolve.h"
#include "runtime/run.h"
#include "task/empty.h"
#include "task/life.h"

static const char *const kinds[] = {
	[MERGE_COMMIT] = "merge", [MERGE_SQUASH] = "squash", [MERGE_REBASE] = "rebase"
};

static int print_json(
	const struct task *t, const struct merge_spec *s, const struct merge_result *r, bool removed)
{
	return json_print(json_pack("{s:o, s:o, s:s, s:s, s:s, s:o, s:b, s:b, s:b, s:o, s:b}", "task",
		json_text(t->name), "target", json_branch(r->target), "strategy", kinds[s->kind], "old_tip",
		r->old, "new_tip", r->new_oid, "checkout", r->checkout ? json_text(r->checkout) : json_null(),
		"fast_forward", r->fast_forward, "up_to_date", r->nothing, "dry_run", s->dry_run, "state",
		removed ? json_string(STATE_MERGED) : json_text(t->state), "workspace_removed", removed));
}

static void tell(const struct task *t, const struct merge_spec *s, const struct merge_result *r)
{
	const char *target = r->target + strlen("refs/heads/");

	if (r->nothing)
		say_state("%s has all of task '%s' already", target, t->name);
	else if (s->dry_run)
		say_state("task '%s' can be merged into %s%s", t->name, target,
			r->fast_forward ? " (fast-forward)" : "");
	else if (say_is_heard())
		say_done("task '%s' is merged into %s (%.12s%s)%s%s", t->name, target, r->new_oid,
			r->fast_forward ? ", fast-forward" : "", r->checkout ? ", as is the checkout " : "",
			r->checkout ? r->checkout : "");
	if (!s->dry_run && life_is_running(t))
		say_state("task '%s' is %s: what it had published by now is merged", t->name, t->state);
}

static int choose(const struct config *c, bool squash, bool rebase, struct merge_spec *s, struct err *e)
{
	if (squash + rebase + s->no_ff > 1)
		return err_set(e, ERR_USAGE, "--squash, --rebase and --no-ff do not go together"),
		       err_hint(e, "garth merge --help");
	if (squash || (!rebase && !s->no_ff && !strcmp(c->merge_strategy, "squash")))
		s->kind = MERGE_SQUASH;
	else if (rebase || (!s->no_ff && !strcmp(c->merge_strategy, "rebase")))
		s->kind = MERGE_REBASE;
	else
		s->kind = MERGE_COMMIT;
	if (s->message && s->kind == MERGE_REBASE)
		return err_set(e, ERR_USAGE,
			       "-m has no meaning where commits are rebased: each keeps its own"),
		       err_hint(e, "garth merge --help");
	return 0;
}

static int fail(const struct merge_result *r, const struct err *e)
{
	return r->conflicts.n    ? say_error_list(e, "conflicts", json_conflicts(&r->conflicts))
	       : r->in_the_way.n ? say_error_list(e, "in_the_way", json_list(&r->in_the_way))
				 : say_error(e);
}

static int begin_resolution(struct context *c, struct task *t, const struct merge_spec *s, bool json)
{
	struct err e = ERR_INIT;
	auto_str name = NULL;

	if (resolve_begin(c, t, s, &name, &e) < 0)
		return say_error(&e);
	if (json)
		return json_print(
			json_pack("{s:o, s:o}", "task", json_text(t->name), "resolution", json_text(name)));
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
	auto_buf line = BUF_SMALL;

	if (r->removed && say_is_heard()) {
		say_state("its workspace is in the trash for %d days%s", TASK_TRASH_DAYS,
			r->merge.nothing ? "" : "; the merge can be taken back with it");
		say_hint("garth undo %s", r->in.name ? r->in.name : t->name);
	} else if (!r->removed && !rest_warn(c, t, "merged") && r->kept.kind != ERR_NONE) {
		say_warning("kept: %s", say_one_line(&line, r->kept.msg));
	}
}

int cmd_merge(int argc, char **argv)
{
	bool json = false, squash = false, rebase = false, resolve = false;
	struct land_spec land = { 0 };
	struct merge_spec *s = &land.merge;
	const struct opt opts[] = {
		{ 0, "squash", OPT_FLAG, &squash, NULL, "merge as one commit" },
		{ 0, "rebase", OPT_FLAG, &rebase, NULL, "put the commits on top of the target one by one" },
		{ 0, "no-ff", OPT_FLAG, &s->no_ff, NULL, "make a merge commit even if none is needed" },
		{ 0, "into", OPT_STR, &s->into, "BRANCH", "merge into another branch than the target",
			WORD_BRANCH },
		{ 'm', "message", OPT_STR, &s->message, "TEXT", "message of the commit", WORD_TEXT },
		{ 0, "resolve", OPT_FLAG, &resolve, NULL, "if it conflicts, make a task to solve it in" },
		{ 0, "continue", OPT_FLAG, &land.resolved, NULL, "merge what was solved in that task" },
		{ 0, "keep", OPT_FLAG, &land.keep, NULL, "keep the task and its workspace" },
		{ 0, "dry-run", OPT_FLAG, &s->dry_run, NULL, "only tell what would happen" },
		{ 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
		OPT_END,
	};
	struct cmd_line l = { "merge", opts, 1, 1, false, 0, 0 };
	auto_land_result r = { 0 };
	auto_context c = { .home.fd = -1 };
	struct err e = ERR_INIT;
	auto_task t = { 0 };

	CMD_PARSE(&l, argc, argv);
	if (context_open(&c, &e) < 0 || choose(&c.config, squash, rebase, s, &e) < 0 ||
		task_find(&c, argv[0], &t, &e) < 0 || empty_refuse(&t, &e) < 0)
		return say_error(&e);
	/* the task file may set the strategy */
	if ((runtime_configure(&c, &t, &e) < 0 && e.kind != ERR_NOTFOUND) ||
		choose(&c.config, squash, rebase, s, &e) < 0)
		return say_error(&e);
	if (resolve)
		return begin_resolution(&c, &t, s, json);
	land.keep |= c.config.merge_keep;
	if (land_task(&c, &t, &land, &r, &e) < 0)
		return fail(&r.merge, &e);
	if (r.removed)
		rest_tell_branch(&c, &t);
	if (r.in_removed)
		rest_tell_branch(&c, &r.in);
	if (json)
		print_json(&t, s, &r.merge, r.removed);
	else
		tell(&t, s, &r.merge);
	tell_rest(&c, &t, &r);
	return 0;
}
