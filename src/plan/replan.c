#include "plan/replan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "git/ref.h"
#include "plan/finish.h"
#include "plan/make.h"
#include "plan/stage_life.h"
#include "sys/fault.h"
#include "task/stage_files.h"
#include "task/task.h"

struct replan {
	struct context *c;
	struct plan_row *row;
	struct plan *p, *old;
	struct stage_row_list was; /* the stages as they are */
	struct stage_row_list now; /* as they will be: id 0 for new ones */
	struct strvec *told;
};

static bool has_begun(const struct stage_row *s)
{
	return s->attempt || s->starting || s->task_id;
}

static bool says_the_same(const struct plan *p, const struct plan_stage *a, const struct plan *q,
	const struct plan_stage *b, bool done)
{
	auto_buf x = BUF_INIT(PLAN_FROZEN_MAX), y = BUF_INIT(PLAN_FROZEN_MAX);

	plan_stage_text(p, a, done, &x);
	plan_stage_text(q, b, done, &y);
	return !strcmp(buf_str(&x), buf_str(&y));
}

/* Moves the decided stage to the new plan; its dependencies become indexes of the new plan. */
static void keep_stage(struct plan_stage *new, struct plan_stage *old)
{
	struct plan_stage before = *new;

	*new = *old;
	*old = before;
	new->at = before.at;
	new->needs = before.needs;
	new->nneeds = before.nneeds;
	new->needs_at = before.needs_at;
	new->overlaps = NULL;
	new->noverlaps = 0;
	old->needs = NULL;
	old->needs_at = NULL;
	old->nneeds = 0;
}

static int refuse(const struct stage_row *s, const char *what, struct err *e)
{
	return err_set(e, ERR_REFUSED, "stage '%s' is %s: %s", s->name, s->state, what);
}

static int refuse_running(const struct replan *r, const struct stage_row *s, struct err *e)
{
	refuse(s, "it cannot be changed now", e);
	return stage_is(s, STAGE_RUNNING) ? err_hint(e, "garth plan cancel %s %s", r->row->name, s->name)
					  : -1;
}

/* Its agent finds the new text where it found the old one. */
static int send_back(struct replan *r, struct stage_row *s, struct err *e)
{
	auto_task t = { 0 };
	auto_str files = NULL, prompt = NULL;

	if (stage_is(s, STAGE_CANCELLED) || stage_is(s, STAGE_SKIPPED))
		return 0;
	if (stage_is(s, STAGE_RUNNING) || stage_is(s, STAGE_MERGING) || s->starting)
		return refuse_running(r, s, e);
	if (task_find_id(r->c, s->task_id, &t, e) < 0)
		return -1;
	if (task_is_busy(r->c, &t))
		return refuse_running(r, s, e);
	files = stage_files_inside(r->c, &t);
	prompt = xasprintf(
		"The plan was changed. Read the file %s/brief.md again: it says what this stage is to do now. Compare it with "
		"what you have done, correct your work, commit it, and end.\n",
		files);
	stage_set(&s->prompt, prompt);
	stage_set(&s->state, t.started ? STAGE_REWORK : STAGE_READY);
	stage_set(&s->note, "the plan was changed");
	s->crashes = s->failures = s->conflicts = s->waits = 0;
	s->slot = false;
	s->ended = 0;
	return 0;
}

static int change(struct replan *r, struct stage_row *s, struct err *e)
{
	if (stage_is(s, STAGE_DONE))
		return refuse(s, "its part of the plan cannot be changed any more", e);
	if (s->own_id)
		return refuse(
			s, "its conflict is being solved in another task, so it cannot be changed now", e);
	stage_set(&s->failed_tip, "");
	stage_set(&s->failure, "");
	stage_set(&s->approved, "");
	if (has_begun(s)) {
		strvec_pushf(r->told, "stage '%s' has a new text, and goes on with it", s->name);
		return send_back(r, s, e);
	}
	strvec_pushf(r->told, "stage '%s' has a new text", s->name);
	s->slot = false;
	if (stage_is(s, STAGE_HELD))
		stage_set(&s->back, STAGE_WAITING);
	else if (!stage_is_over(s) || stage_is(s, STAGE_FAILED))
		stage_set(&s->state, STAGE_WAITING);
	s->ended = stage_is_over(s) ? s->ended : 0;
	return 0;
}

static void add_row(struct replan *r, struct stage_row *s, size_t number)
{
	s->number = (int64_t)number;
	r->now.v[r->now.n++] = *s;
	*s = (struct stage_row){ 0 };
}

static void add_new(struct replan *r, size_t i)
{
	struct stage_row s = { .name = xstrdup(r->p->stages[i].id),
		.task = xstrdup(r->p->stages[i].task),
		.state = xstrdup(STAGE_WAITING) };

	strvec_pushf(r->told, "stage '%s' is new", s.name);
	add_row(r, &s, i);
}

static int take_stage(struct replan *r, size_t i, struct err *e)
{
	struct plan_stage *s = &r->p->stages[i];
	long k = plan_stage_find(r->old, s->id);
	struct stage_row *at;

	if (k < 0)
		return add_new(r, i), 0;
	at = &r->was.v[k];
	stage_set(&s->task, at->task);
	if (says_the_same(r->p, s, r->old, &r->old->stages[k], stage_is(at, STAGE_DONE)))
		keep_stage(s, &r->old->stages[k]);
	else if (change(r, at, e) < 0)
		return -1;
	add_row(r, at, i);
	return 0;
}

/* A row that has been used has no name any more. */
static int check_removed(struct replan *r, struct err *e)
{
	for (size_t i = 0; i < r->was.n; i++) {
		const struct stage_row *s = &r->was.v[i];

		if (!s->name)
			continue;
		if (stage_is(s, STAGE_DONE))
			return refuse(s, "it cannot be taken out of the plan", e);
		if (has_begun(s) && !stage_is_over(s)) {
			refuse(s, "it cannot be taken out of the plan now", e);
			return err_hint(e, "garth plan cancel %s %s", r->row->name, s->name);
		}
		strvec_pushf(r->told,
			s->task_id ? "stage '%s' is not in the plan any more; its task '%s' is still there"
				   : "stage '%s' is not in the plan any more",
			s->name, s->task);
	}
	return 0;
}

/* New stages get task names that no other stage has. */
static int check_tasks(const struct replan *r, struct err *e)
{
	for (size_t i = 0; i < r->now.n; i++) {
		auto_task t = { 0 };

		for (size_t k = 0; k < i; k++)
			if (!strcmp(r->now.v[k].task, r->now.v[i].task))
				return err_set(e, ERR_EXISTS,
					"stages '%s' and '%s' would have the same task '%s'",
					r->now.v[k].name, r->now.v[i].name, r->now.v[i].task);
		if (r->now.v[i].id)
			continue;
		if (!store_task_by_name(r->c->store, r->row->project_id, r->now.v[i].task, &t, e))
			return err_set(e, ERR_EXISTS,
				"there is a task '%s' already, and the plan needs the name",
				r->now.v[i].task);
		if (e->kind != ERR_NOTFOUND)
			return -1;
		*e = (struct err)ERR_INIT;
	}
	return 0;
}

static int check_plan(const struct replan *r, struct err *e)
{
	const struct plan_row *row = r->row;

	if (!strcmp(row->state, PLAN_CANCELLED) || *row->merged)
		return err_set(e, ERR_REFUSED, "the plan '%s' is over: it is %s", row->name,
			*row->merged ? "merged" : row->state);
	if (r->p->target && *row->target && strcmp(ref_short(row->target), ref_short(r->p->target)) != 0)
		return err_set(e, ERR_REFUSED, "the plan '%s' is for %s: it cannot get another target",
			row->name, ref_short(row->target));
	return 0;
}

static int write(struct replan *r, struct err *e)
{
	auto_buf frozen = BUF_INIT(PLAN_FROZEN_MAX);
	auto_str path = plan_file_path(r->p);
	struct plan_change change = { .file = path, .digest = r->p->digest, .state = PLAN_RUNNING };

	plan_freeze(r->p, &frozen);
	if (frozen.overflow)
		return err_set(e, ERR_CONFIG, "%s: the plan is too long", r->p->file);
	change.frozen = buf_str(&frozen);
	fault("plan-replan");
	return store_plan_change(r->c->store, r->row, &change, &r->now, e);
}

static int replan(struct replan *r, struct err *e)
{
	if (check_plan(r, e) < 0 || plan_open(r->c, r->row, r->old, e) < 0 ||
		store_stage_list(r->c->store, r->row->id, &r->was, e) < 0)
		return -1;
	r->now.v = xcalloc(r->p->nstages + 1, sizeof(*r->now.v));
	for (size_t i = 0; i < r->p->nstages; i++)
		if (take_stage(r, i, e) < 0)
			return -1;
	if (context_store(r->c, e) < 0 || check_removed(r, e) < 0 || check_tasks(r, e) < 0)
		return -1;
	return write(r, e);
}

int plan_replan(
	struct context *c, struct plan_row *row, struct plan *p, struct strvec *ret_told, struct err *e)
{
	auto_plan old = { 0 };
	struct replan r = { .c = c, .row = row, .p = p, .old = &old, .told = ret_told };
	int rc = replan(&r, e);

	stage_row_list_release(&r.was);
	stage_row_list_release(&r.now);
	return rc;
}
