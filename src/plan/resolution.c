#include "plan/resolution.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "merge/git_commands.h"
#include "runtime/resolve.h"
#include "sys/fault.h"
#include "task/task.h"

#define SUFFIX    ".resolve"
#define NAMES_MAX 1000
#define NOTE_MAX  900

/* Stages have no dot in their id, so no other stage has this name. An earlier attempt may still have it. */
static int find_name(struct stage_job *j, char **ret, struct err *e)
{
	int room = NAME_MAX_LEN - (int)strlen(SUFFIX "-1000");

	for (unsigned n = 1; n < NAMES_MAX; n++) {
		auto_str name = n == 1 ? xasprintf("%.*s" SUFFIX, room, j->at->task)
				       : xasprintf("%.*s" SUFFIX "-%u", room, j->at->task, n);
		auto_task t = { 0 };

		if (store_task_by_name(j->c->store, j->row->project_id, name, &t, e) < 0) {
			if (e->kind != ERR_NOTFOUND)
				return -1;
			*e = (struct err)ERR_INIT;
			*ret = steal_ptr(name);
			return 0;
		}
	}
	return err_set(e, ERR_EXISTS, "there are too many tasks for conflicts of '%s'", j->at->task);
}

int resolution_begin(struct stage_job *j, const char *files, struct err *e)
{
	auto_str name = NULL, prompt = xasprintf("They conflict in: %s\n", files);

	if (context_store(j->c, e) < 0 || find_name(j, &name, e) < 0)
		return -1;
	stage_set(&j->at->task, name);
	stage_set(&j->at->prompt, prompt);
	j->at->own_id = j->at->task_id;
	j->at->task_id = 0;
	j->at->crashes = j->at->failures = 0;
	return 0;
}

static int own_task(struct stage_job *j, struct task *ret, struct err *e)
{
	return context_store(j->c, e) < 0 ? -1 : store_task_any(j->c->store, j->at->own_id, ret, e);
}

int resolution_branch(struct stage_job *j, char **ret, struct err *e)
{
	auto_task own = { 0 };

	if (own_task(j, &own, e) < 0)
		return -1;
	*ret = xstrdup(own.branch);
	return 0;
}

bool resolution_is_against(const struct stage_job *j, size_t i)
{
	size_t own = (size_t)(j->stage - j->plan->stages);

	return i != own && j->all && i < j->all->n && stage_is(&j->all->v[i], STAGE_DONE) &&
	       !plan_is_after(j->plan, own, i);
}

void resolution_brief(const struct stage_job *j, bool first, struct buf *out)
{
	struct err ignored = ERR_INIT;
	auto_task own = { 0 };
	const char *branch;

	if (own_task(&(struct stage_job){ .c = j->c, .at = j->at }, &own, &ignored) < 0)
		return;
	branch = own.branch + strlen("refs/heads/");
	buf_printf(out,
		"\n## A conflict\n\nAll of the above is done already: it is on the branch %s, and its checks passed. It conflicts "
		"with what other stages of the plan have done meanwhile, which is on the branch garth/%s. ",
		branch, j->row->name);
	if (first)
		buf_addstr(out, j->at->prompt);
	buf_printf(out,
		"\nYou are on a branch of your own that begins at garth/%s. Merge the other one (`git merge %s`), keep what both sides are "
		"for, commit the merge, and end. Do nothing else. You may change what both sides may. The checks of all of these "
		"stages are made on the result. What the others were to do:\n",
		j->row->name, branch);
	for (size_t i = 0; i < j->plan->nstages; i++) {
		const struct plan_stage *s = &j->plan->stages[i];

		if (resolution_is_against(j, i))
			buf_printf(out, "\n### Stage %s: %s\n\n%s\n", s->id, s->name ? s->name : s->id,
				s->description ? s->description : "");
	}
}

int resolution_lacks(struct stage_job *j, const struct repo *r, bool *ret, struct err *e)
{
	auto_task own = { 0 };
	bool has = true;

	*ret = false;
	if (!j->at->own_id)
		return 0;
	if (own_task(j, &own, e) < 0 ||
		verb_is_ancestor(r, *own.published ? own.published : own.base, j->at->tip, &has, e) < 0)
		return -1;
	*ret = !has;
	return 0;
}

int resolution_merged(struct stage_job *j, const char *onto, struct err *e)
{
	auto_task own = { 0 }, in = { 0 };

	if (!j->at->own_id)
		return 0;
	if (own_task(j, &own, e) < 0 || store_task_any(j->c->store, j->at->task_id, &in, e) < 0)
		return -1;
	return own.removed ? 0 : resolve_merged(j->c, &own, &in, onto, e);
}

static int name_own_task(struct stage_job *j, struct err *e)
{
	auto_task own = { 0 };

	if (own_task(j, &own, e) < 0)
		return -1;
	stage_set(&j->at->task, own.name);
	stage_set(&j->at->tip, *own.published ? own.published : own.base);
	j->at->task_id = j->at->own_id;
	j->at->own_id = 0;
	return 0;
}

static void put_away(struct stage_job *j, int64_t task)
{
	const struct discard_opts o = {
		.files = true, .drafts = true, .reason = "it did not solve the conflict"
	};
	struct err ignored = ERR_INIT;
	auto_str trash = NULL;
	auto_task t = { 0 };

	if (!task_find_id(j->c, task, &t, &ignored))
		task_discard(j->c, &t, &o, &trash, &ignored);
}

int resolution_end(struct stage_job *j, const char *to, const char *note, struct err *e)
{
	int64_t tried = j->at->own_id ? j->at->task_id : 0;

	if (context_store(j->c, e) < 0 || (j->at->own_id && name_own_task(j, e) < 0) ||
		stage_move(j->c->store, j->at, to, e, "%s", note) < 0)
		return -1;
	fault("plan-resolution-end");
	if (tried)
		put_away(j, tried);
	return context_store(j->c, e);
}

void resolution_clear(struct stage_job *j)
{
	auto_str name = xasprintf("%s" SUFFIX, j->at->task);
	struct err ignored = ERR_INIT;
	auto_task left = { 0 };

	if (!j->at->own_id && stage_is(j->at, STAGE_CONFLICT) && !context_store(j->c, &ignored) &&
		!store_task_by_name(j->c->store, j->row->project_id, name, &left, &ignored))
		put_away(j, left.id);
}

int stage_give_up(struct stage_job *j, struct err *e, const char *note, ...)
{
	auto_str why = NULL;
	char text[NOTE_MAX];
	va_list ap;

	va_start(ap, note);
	vsnprintf(text, sizeof(text), note, ap);
	va_end(ap);
	if (!j->at->own_id)
		return resolution_end(j, STAGE_FAILED, text, e);
	why = xasprintf("the conflict was not solved: %s", text);
	return resolution_end(j, STAGE_CONFLICT, why, e);
}
