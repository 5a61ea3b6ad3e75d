#include "plan/people.h"

#include <string.h>
#include <time.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/deadline.h"
#include "plan/check_task.h"
#include "plan/make.h"
#include "plan/stage_life.h"
#include "runtime/control.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "sys/lock.h"
#include "task/task.h"
#include "task/tip.h"

/* How often a stage is read again because the runner has changed it. */
#define CANCEL_TRIES 20
/* How long a runner may take to end after its plan was cancelled. */
#define RUNNER_MS 3000

/* Records a person's decision before it takes effect. */
static int record(
	struct context *c, const struct stage_row *s, const char *what, const char *text, struct err *e)
{
	auto_audit log = NULL;
	auto_task t = { 0 };
	struct err none = ERR_INIT;

	if (context_store(c, e) < 0 || audit_open(c->home.fd, c->store, &log, e) < 0)
		return -1;
	if (s->task_id)
		store_task_any(c->store, s->task_id, &t, &none);
	return audit_add(log, what, t.id ? &t : NULL,
		json_pack("{s:o, s:o}", "stage", audit_text(s->task), "text", audit_text(text)), e);
}

static int move(struct context *c, struct stage_row *s, const char *to, const char *note, struct err *e)
{
	if (context_store(c, e) < 0 || stage_move(c->store, s, to, e, "%s", note) < 0)
		return -1;
	plan_wake(c, s->plan_id);
	return 0;
}

/* Writes a change of anything but the state. */
static int change(struct context *c, struct stage_row *s, struct err *e)
{
	if (context_store(c, e) < 0 || store_stage_write(c->store, s, e) < 0)
		return -1;
	plan_wake(c, s->plan_id);
	return 0;
}

static int refuse(const struct stage_row *s, const char *what, struct err *e)
{
	return err_set(e, ERR_REFUSED, "stage '%s' is %s: %s", s->name, s->state, what);
}

int people_approve(struct context *c, struct stage_row *s, const char *tip, struct err *e)
{
	bool before = !strcmp(s->gate, GATE_BEFORE);

	if (!stage_is(s, STAGE_APPROVAL))
		return refuse(s, "nothing waits for approval", e);
	if (tip && (before || !tip_is(s->tip, tip)))
		return err_set(e, ERR_CONFLICT, "stage '%s' is not at this commit any more", s->name);
	if (record(c, s, "plan-approve", before ? "" : s->tip, e) < 0)
		return -1;
	stage_set(&s->approved, before ? APPROVED_START : s->tip);
	s->queued = time(NULL);
	return move(c, s, before ? STAGE_READY : STAGE_QUEUED, "", e);
}

int people_reject(struct context *c, struct stage_row *s, const char *reason, struct err *e)
{
	auto_str prompt = xasprintf(
		"Your work was looked at, and is not accepted:\n\n%s\n\nCorrect it, commit, and end.\n",
		reason);

	if (!stage_is(s, STAGE_APPROVAL))
		return refuse(s, "nothing waits for approval", e);
	if (record(c, s, "plan-reject", reason, e) < 0)
		return -1;
	if (!strcmp(s->gate, GATE_BEFORE))
		return move(c, s, STAGE_CANCELLED, reason, e);
	stage_set(&s->prompt, prompt);
	return move(c, s, STAGE_REWORK, reason, e);
}

int people_hold(struct context *c, struct stage_row *s, struct err *e)
{
	if (stage_is_over(s) || stage_is(s, STAGE_HELD))
		return refuse(s, "it cannot be held", e);
	s->hold = true;
	return change(c, s, e);
}

int people_release(struct context *c, struct stage_row *s, struct err *e)
{
	if (!s->hold && !stage_is(s, STAGE_HELD))
		return refuse(s, "it is not held", e);
	s->hold = false;
	if (stage_is(s, STAGE_HELD))
		return move(c, s, s->back, "", e);
	return change(c, s, e);
}

/* Whether something has run in the stage's task, so that its conversation can go on. */
static bool has_run(struct context *c, const struct stage_row *s)
{
	struct err ignored = ERR_INIT;
	auto_task t = { 0 };

	return s->task_id && !context_store(c, &ignored) &&
	       !store_task_by_id(c->store, s->task_id, &t, &ignored) && t.started;
}

int people_retry(struct context *c, struct stage_row *s, const char *prompt, bool check, struct err *e)
{
	bool asking = stage_is(s, STAGE_ASKING);
	bool can = asking || stage_is(s, STAGE_FAILED) || stage_is(s, STAGE_CANCELLED) ||
		   stage_is(s, STAGE_SKIPPED) || stage_is(s, STAGE_CONFLICT);

	if (!can)
		return refuse(s, "there is nothing to try again", e);
	s->crashes = s->failures = s->conflicts = s->waits = 0;
	s->satisfied = s->hold = s->starting = false;
	stage_set(&s->failed_tip, "");
	stage_set(&s->failure, "");
	if (prompt)
		stage_set(&s->prompt, prompt);
	if (asking)
		return move(c, s, *s->back ? s->back : STAGE_REWORK, "", e);
	if (check || stage_is(s, STAGE_CONFLICT)) {
		if (!*s->tip || (!stage_is(s, STAGE_FAILED) && !stage_is(s, STAGE_CONFLICT)))
			return refuse(s, "it has no commit to check", e);
		s->queued = time(NULL);
		return move(c, s, stage_is(s, STAGE_FAILED) ? STAGE_CHECKING : STAGE_QUEUED, "", e);
	}
	if (stage_is(s, STAGE_SKIPPED))
		return move(c, s, STAGE_WAITING, "", e);
	return move(c, s,
		has_run(c, s)               ? STAGE_REWORK
		: stage_is(s, STAGE_FAILED) ? STAGE_READY
					    : STAGE_WAITING,
		"", e);
}

/* Ends what runs there, so that nothing more is published. The stage is over, so no further run can begin. */
static int end_task(struct context *c, const struct stage_row *s, struct err *e)
{
	auto_task t = { 0 };

	if (!s->task_id)
		return 0;
	if (plan_wait_start(c, s, e) < 0)
		return -1;
	if (task_find_id(c, s->task_id, &t, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	if (!task_is_busy(c, &t))
		return 0;
	if (!control_cancel(c, &t, e) || e->kind == ERR_REFUSED)
		return *e = (struct err)ERR_INIT, 0;
	return -1;
}

/* A command that was killed may have left its agent: a second one ends it. */
static int end_stage(struct context *c, struct stage_row *s, const char *state, struct err *e)
{
	if (stage_is(s, state))
		return change(c, s, e) < 0 ? -1 : end_task(c, s, e);
	if (!stage_life_allows(s->state, state))
		return refuse(s, "it is over", e);
	s->starting = false;
	if (move(c, s, state, "", e) < 0)
		return -1;
	fault("plan-stage-ended");
	return end_task(c, s, e);
}

int people_skip(struct context *c, struct stage_row *s, bool satisfied, struct err *e)
{
	if (record(c, s, "plan-skip", satisfied ? "satisfied" : "", e) < 0)
		return -1;
	s->satisfied = satisfied;
	return end_stage(c, s, STAGE_SKIPPED, e);
}

int people_cancel(struct context *c, struct stage_row *s, struct err *e)
{
	return end_stage(c, s, STAGE_CANCELLED, e);
}

/* *ret_again: the runner has changed the stage at the same moment, so it has to be read again. Also ends what an earlier
 * command, which was killed, did not end. */
static int cancel_rest(struct context *c, int64_t plan, bool *ret_again, struct err *e)
{
	auto_stage_row_list stages = { 0 };

	*ret_again = false;
	if (context_store(c, e) < 0 || store_stage_list(c->store, plan, &stages, e) < 0)
		return -1;
	for (size_t i = 0; i < stages.n; i++) {
		struct stage_row *s = &stages.v[i];
		int rc = 0;

		if (stage_is(s, STAGE_CANCELLED))
			rc = end_task(c, s, e);
		else if (!stage_is_over(s) && stage_life_allows(s->state, STAGE_CANCELLED))
			rc = people_cancel(c, s, e);
		if (rc < 0 && e->kind != ERR_BUSY)
			return -1;
		*ret_again |= rc < 0;
		*e = (struct err)ERR_INIT;
	}
	return 0;
}

/* For a runner that was killed, one of whose processes may still be ending. A runner that works does this itself. */
static void clear_checks(struct context *c, struct plan_row *p)
{
	struct err ignored = ERR_INIT;
	auto_stage_row_list stages = { 0 };
	struct deadline d = deadline_in(RUNNER_MS);
	auto_lock lock = -1;
	auto_fd dir = -1;

	while (plan_has_runner(c, p) && deadline_sleep(&d, 10))
		;
	if (!plan_lock(c, p, &dir, &lock, &ignored) && !context_store(c, &ignored) &&
		!store_stage_list(c->store, p->id, &stages, &ignored))
		check_task_clear_all(c, p, &stages, &ignored);
}

int people_cancel_plan(struct context *c, struct plan_row *p, struct err *e)
{
	auto_str was = xstrdup(p->state);
	bool again = true;

	if (p->ended && strcmp(p->state, PLAN_CANCELLED) != 0)
		return err_set(e, ERR_REFUSED, "the plan '%s' is over: it is %s", p->name, p->state);
	if (!p->ended) {
		stage_set(&p->state, PLAN_CANCELLED);
		p->ended = time(NULL);
		if (context_store(c, e) < 0 || store_plan_write(c->store, p, was, e) < 0)
			return -1;
	}
	fault("plan-cancelled");
	plan_wake(c, p->id);
	for (int i = 0; again && i < CANCEL_TRIES; i++)
		if (cancel_rest(c, p->id, &again, e) < 0)
			return -1;
	clear_checks(c, p);
	return again ? err_set(e, ERR_BUSY, "stages of the plan '%s' are still being changed", p->name) : 0;
}
