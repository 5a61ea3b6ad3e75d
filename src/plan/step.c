#include "plan/step.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "plan/beside.h"
#include "plan/check_stage.h"
#include "plan/land.h"
#include "plan/look.h"
#include "plan/merge_stage.h"
#include "plan/quota.h"
#include "plan/start.h"
#include "task/task.h"

static const struct stage_row *need(const struct stage_job *j, size_t i)
{
	return &j->all->v[j->stage->needs[i]];
}

static bool needs_are_met(const struct stage_job *j)
{
	for (size_t i = 0; i < j->stage->nneeds; i++)
		if (!stage_satisfies(need(j, i)))
			return false;
	return true;
}

static int move(struct stage_job *j, const char *to, bool *ret_moved, struct err *e)
{
	*ret_moved = true;
	return stage_move(j->c->store, j->at, to, e, "%s", "");
}

/* Whether a person wants it to stop here. */
static int hold(struct stage_job *j, bool *ret_moved, struct err *e)
{
	j->at->hold = false;
	stage_set(&j->at->back, j->at->state);
	return move(j, STAGE_HELD, ret_moved, e);
}

static int step_waiting(struct stage_job *j, bool *ret_moved, struct err *e)
{
	if (!needs_are_met(j))
		return 0;
	if (!(j->stage->approve & PLAN_APPROVE_BEFORE) || !strcmp(j->at->approved, APPROVED_START))
		return move(j, STAGE_READY, ret_moved, e);
	stage_set(&j->at->gate, GATE_BEFORE);
	*ret_moved = true;
	return stage_move(j->c->store, j->at, STAGE_APPROVAL, e, "it waits for approval to begin");
}

/* How many stages of this agent hold a slot in this plan. */
static size_t count_agent(const struct stage_job *j, const char *agent)
{
	struct err ignored = ERR_INIT;
	size_t n = 0;

	for (size_t i = 0; i < j->all->n; i++) {
		const struct stage_row *s = &j->all->v[i];
		const char *other;

		if (s->slot && !stage_is(s, STAGE_CHECKING) && s->id != j->at->id &&
			!stage_agent(&j->c->config, j->plan, &j->plan->stages[i], &other, &ignored) &&
			!strcmp(other, agent))
			n++;
	}
	return n;
}

/* Stages that may change the same files, in no order, come one after the other. */
static bool waits_for_another(const struct stage_job *j)
{
	return beside_blocker(j->plan, j->all, (size_t)(j->stage - j->plan->stages)) >= 0;
}

/* *ret: the stage can start; then it has got a slot. */
static int find_room(struct stage_job *j, const struct config_agent *a, bool *ret, struct err *e)
{
	*ret = false;
	/* a stage that was being started when a runner died has a slot already */
	if (waits_for_another(j))
		return 0;
	if (!j->at->slot && a && a->max_parallel && count_agent(j, a->name) >= a->max_parallel)
		return 0;
	return store_stage_take_slot(j->c->store, j->at, j->c->config.plan_max_running, ret, e);
}

static int step_ready(
	struct stage_job *j, struct step_room *room, enum stage_work *ret, bool *ret_moved, struct err *e)
{
	bool found = false;
	const char *agent;
	int64_t until;

	/* most stages wait here, so this is looked at very often */
	if (!j->at->slot && ((room->fail_fast && room->failed) || room->plan >= room->plan_max))
		return 0;
	if (stage_agent(&j->c->config, j->plan, j->stage, &agent, e) < 0 ||
		quota_until(j, agent, &until, e) < 0)
		return -1;
	if (until) {
		j->at->until = until;
		*ret_moved = true;
		return stage_move(
			j->c->store, j->at, STAGE_QUOTA, e, "the log-in of %s takes no more requests", agent);
	}
	if (find_room(j, config_agent_by_name(&j->c->config, agent), &found, e) < 0)
		return -1;
	*ret = found ? WORK_START : WORK_NONE;
	return 0;
}

/* Takes over the tip of its task's branch, if it has moved because somebody worked there. */
static int find_new_tip(struct stage_job *j, char **ret, struct err *e)
{
	auto_task t = { 0 };
	const char *tip;

	*ret = NULL;
	if (store_task_by_id(j->c->store, j->at->task_id, &t, e) < 0)
		return e->kind == ERR_NOTFOUND ? (*e = (struct err)ERR_INIT, 0) : -1;
	tip = *t.published ? t.published : t.base;
	if (strcmp(tip, j->at->tip) != 0)
		*ret = xstrdup(tip);
	return 0;
}

static int check_again(struct stage_job *j, const char *tip, bool *ret_moved, struct err *e)
{
	stage_set(&j->at->tip, tip);
	return move(j, STAGE_CHECKING, ret_moved, e);
}

static int step_approval(struct stage_job *j, bool *ret_moved, struct err *e)
{
	auto_str tip = NULL;

	if (strcmp(j->at->gate, GATE_AFTER) != 0)
		return 0;
	if (find_new_tip(j, &tip, e) < 0)
		return -1;
	return tip ? check_again(j, tip, ret_moved, e) : 0;
}

static bool is_next_to_merge(const struct stage_job *j)
{
	for (size_t i = 0; i < j->all->n; i++) {
		const struct stage_row *s = &j->all->v[i];

		if (stage_is(s, STAGE_QUEUED) && !s->hold &&
			(s->queued < j->at->queued ||
				(s->queued == j->at->queued && s->number < j->at->number)))
			return false;
	}
	return true;
}

/* A ticket is merged by the task that asked for it. */
static int step_queued(struct stage_job *j, struct step_room *room, bool *ret_moved, struct err *e)
{
	auto_str tip = NULL;

	if (find_new_tip(j, &tip, e) < 0)
		return -1;
	if (tip)
		return check_again(j, tip, ret_moved, e);
	if (j->row->tickets || room->merging || !is_next_to_merge(j))
		return 0;
	return move(j, STAGE_MERGING, ret_moved, e);
}

/* While the agent runs, it can ask for the checks of what it has published so far. */
static int step_running(struct stage_job *j, enum stage_work *ret, bool *ret_moved, struct err *e)
{
	if (stage_look(j, ret_moved, e) < 0)
		return -1;
	if (!*ret_moved && stage_is(j->at, STAGE_RUNNING) && stage_asks_for_checks(j))
		*ret = WORK_ASKED;
	return 0;
}

static int step_checking(struct stage_job *j, enum stage_work *ret, bool *ret_moved, struct err *e)
{
	bool known = false;

	if (checks_known(j, j->repo, j->at->tip, CHECKS_AFTER, &known, e) < 0)
		return -1;
	if (!known) {
		*ret = WORK_CHECK;
		return 0;
	}
	*ret_moved = true;
	return stage_check_known(j, e);
}

/* If the integration branch has the commit already, no process is needed. */
static int step_merging(struct stage_job *j, enum stage_work *ret, bool *ret_moved, struct err *e)
{
	char onto[OID_SIZE];

	if (job_integration(j->c, j->row, j->repo, onto, e) < 0)
		return -1;
	if (strcmp(onto, j->at->tip) != 0) {
		*ret = WORK_MERGE;
		return 0;
	}
	stage_set(&j->at->merged, onto);
	return move(j, STAGE_DONE, ret_moved, e);
}

static int step_conflict(struct stage_job *j, bool *ret_moved, struct err *e)
{
	auto_str tip = NULL;
	bool merged = false;

	if (stage_is_merged(j, &merged, e) < 0 || find_new_tip(j, &tip, e) < 0)
		return -1;
	if (merged)
		return move(j, STAGE_DONE, ret_moved, e);
	if (!tip)
		return 0;
	j->at->queued = time(NULL);
	return move(j, STAGE_QUEUED, ret_moved, e);
}

static int step_quota(struct stage_job *j, bool *ret_moved, struct err *e)
{
	return time(NULL) < j->at->until ? 0 : move(j, STAGE_READY, ret_moved, e);
}

static bool can_be_held(const struct stage_row *s)
{
	return stage_is(s, STAGE_WAITING) || stage_is(s, STAGE_READY) || stage_is(s, STAGE_APPROVAL) ||
	       stage_is(s, STAGE_QUEUED) || stage_is(s, STAGE_REWORK) || stage_is(s, STAGE_QUOTA) ||
	       stage_is(s, STAGE_CHECKING);
}

static int step(
	struct stage_job *j, struct step_room *room, enum stage_work *ret, bool *ret_moved, struct err *e)
{
	const struct stage_row *s = j->at;

	if (s->hold && can_be_held(s) && !s->starting)
		return hold(j, ret_moved, e);
	if (stage_is(s, STAGE_WAITING))
		return step_waiting(j, ret_moved, e);
	if (stage_is(s, STAGE_READY) || stage_is(s, STAGE_REWORK))
		return step_ready(j, room, ret, ret_moved, e);
	if (stage_is(s, STAGE_RUNNING) || stage_is(s, STAGE_ASKING))
		return step_running(j, ret, ret_moved, e);
	if (stage_is(s, STAGE_CHECKING))
		return step_checking(j, ret, ret_moved, e);
	if (stage_is(s, STAGE_APPROVAL))
		return step_approval(j, ret_moved, e);
	if (stage_is(s, STAGE_QUEUED))
		return step_queued(j, room, ret_moved, e);
	if (stage_is(s, STAGE_MERGING))
		return step_merging(j, ret, ret_moved, e);
	if (stage_is(s, STAGE_CONFLICT))
		return step_conflict(j, ret_moved, e);
	if (stage_is(s, STAGE_QUOTA))
		return step_quota(j, ret_moved, e);
	return 0;
}

void step_fail(struct stage_job *j, const char *why)
{
	struct err ignored = ERR_INIT;
	auto_stage_row now = { 0 };

	if (context_store(j->c, &ignored) < 0 ||
		store_stage_by_name(j->c->store, j->row->id, j->at->name, &now, &ignored) < 0 ||
		!stage_life_allows(now.state, STAGE_FAILED))
		return;
	now.starting = false;
	stage_move(j->c->store, &now, STAGE_FAILED, &ignored, "%s", why);
}

static void count(const struct stage_row *s, size_t *slots, size_t *merging)
{
	*slots = s->slot;
	*merging = stage_is(s, STAGE_MERGING);
}

int step_stage(struct stage_job *j, struct step_room *room, enum stage_work *ret_work,
	enum step_result *ret_result, struct err *e)
{
	size_t had_slots, slots, had_merging, merging;
	bool moved = false;

	*ret_work = WORK_NONE;
	*ret_result = STEP_STALE;
	if (context_store(j->c, e) < 0)
		return -1;
	count(j->at, &had_slots, &had_merging);
	if (!step(j, room, ret_work, &moved, e)) {
		count(j->at, &slots, &merging);
		room->plan += slots - had_slots;
		room->merging += merging - had_merging;
		room->failed |= stage_is(j->at, STAGE_FAILED);
		*ret_result = moved ? STEP_MOVED : STEP_NONE;
		return 0;
	}
	*ret_work = WORK_NONE;
	/* somebody else has changed the stage: look again */
	if (e->kind != ERR_BUSY) {
		step_fail(j, e->msg);
		room->failed = true;
	}
	*e = (struct err)ERR_INIT;
	return 0;
}

/* With merge: each. If it cannot be merged now, it is tried again after the next stage, and at the end. */
static int land_part(struct stage_job *j, struct err *e)
{
	struct err ignored = ERR_INIT;
	int rc = plan_land_part(j, e);

	if (context_store(j->c, &ignored) < 0)
		return -1;
	if (rc < 0)
		store_plan_note(j->c->store, j->row->id, 0, "not merged", e->msg, &ignored);
	else
		store_plan_write(j->c->store, j->row, PLAN_RUNNING, &ignored);
	return rc;
}

int step_do(struct stage_job *j, enum stage_work work, struct err *e)
{
	int rc = work == WORK_START   ? stage_start(j, e)
		 : work == WORK_ASKED ? stage_check_asked(j, e)
		 : work == WORK_CHECK ? stage_check(j, e)
		 : work == WORK_MERGE ? stage_merge(j, e)
				      : land_part(j, e);

	if (rc < 0 && e->kind != ERR_BUSY && work != WORK_LAND && work != WORK_ASKED)
		step_fail(j, e->msg);
	return rc;
}

bool step_wants_person(const struct stage_row *s)
{
	return stage_is(s, STAGE_APPROVAL) || stage_is(s, STAGE_ASKING) || stage_is(s, STAGE_CONFLICT) ||
	       stage_is(s, STAGE_HELD);
}

bool step_goes_on(const struct stage_job *j)
{
	const struct stage_row *s = j->at;

	if (stage_is_over(s) || step_wants_person(s))
		return false;
	/* whether that one goes on is decided when it is looked at itself */
	if ((stage_is(s, STAGE_READY) || stage_is(s, STAGE_REWORK)) && waits_for_another(j))
		return false;
	return !stage_is(s, STAGE_WAITING) || needs_are_met(j);
}
