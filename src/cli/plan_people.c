/* garth plan approve, reject, hold, release, retry, skip, cancel, merge: what a person can do to a plan. */
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "cli/plan_cmd.h"
#include "cli/plan_status.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "plan/check_walls.h"
#include "plan/land.h"
#include "plan/make.h"
#include "plan/people.h"
#include "plan/stage_life.h"
#include "sys/fd.h"
#include "sys/lock.h"

#define REASON_MAX (64u << 10)
/* How often a change is tried again, if somebody else changes the stage at the same moment. */
#define TRIES 20

struct change {
	const struct plan_line *line;
	int (*one)(struct context *c, struct stage_row *s, const struct plan_line *l, struct err *e);
	const char *done; /* "is approved" */
};

/* The runner writes to stages, too; then the stage is read again. */
static int change(struct context *c, const struct plan_row *row, const char *stage, const struct change *d,
	struct err *e)
{
	for (int i = 0; i < TRIES; i++) {
		auto_stage_row s = { 0 };

		*e = (struct err)ERR_INIT;
		if (context_store(c, e) < 0 || store_stage_by_name(c->store, row->id, stage, &s, e) < 0)
			return -1;
		if (!d->one(c, &s, d->line, e))
			return 0;
		if (e->kind != ERR_BUSY)
			return -1;
	}
	return -1;
}

static void tell(struct context *c, const struct plan_row *row)
{
	if (!plan_has_runner(c, row))
		say_state("nothing runs the plan now"), say_hint("garth plan resume %s", row->name);
}

static int each(const struct change *d, int words)
{
	const struct plan_line *l = d->line;
	auto_context c = { .home.fd = -1 };
	auto_plan_row row = { 0 };
	struct err e = ERR_INIT;

	if (context_open(&c, &e) < 0 || plan_find(&c, l->words[0], &row, &e) < 0)
		return say_error(&e);
	if (row.ended && strcmp(row.state, PLAN_FAILED) != 0)
		return err_set(&e, ERR_REFUSED, "the plan '%s' is over: it is %s", row.name, row.state),
		       say_error(&e);
	for (int i = 1; i < words; i++) {
		if (change(&c, &row, l->words[i], d, &e) < 0)
			return say_error(&e);
		say_done("stage '%s' %s", l->words[i], d->done);
	}
	tell(&c, &row);
	return 0;
}

static int approve(struct context *c, struct stage_row *s, const struct plan_line *l, struct err *e)
{
	return people_approve(c, s, l->tip, e);
}

int plan_cmd_approve(const struct plan_line *l)
{
	return each(&(struct change){ l, approve, "is approved" }, 2);
}

static int reject(struct context *c, struct stage_row *s, const struct plan_line *l, struct err *e)
{
	auto_buf reason = BUF_INIT(REASON_MAX);

	for (int i = 2; i < l->n; i++)
		buf_printf(&reason, "%s%s", i > 2 ? " " : "", l->words[i]);
	if (reason.overflow)
		return err_set(e, ERR_USAGE, "the reason is longer than %u bytes", REASON_MAX);
	return people_reject(c, s, reason.len ? buf_str(&reason) : "It has to be done again.", e);
}

int plan_cmd_reject(const struct plan_line *l)
{
	return each(&(struct change){ l, reject, "is rejected" }, 2);
}

static int hold(struct context *c, struct stage_row *s, const struct plan_line *l, struct err *e)
{
	(void)l;
	return people_hold(c, s, e);
}

int plan_cmd_hold(const struct plan_line *l)
{
	return each(&(struct change){ l, hold, "is held, as soon as it would go on" }, l->n);
}

static int release(struct context *c, struct stage_row *s, const struct plan_line *l, struct err *e)
{
	(void)l;
	return people_release(c, s, e);
}

int plan_cmd_release(const struct plan_line *l)
{
	return each(&(struct change){ l, release, "is released" }, l->n);
}

static int retry(struct context *c, struct stage_row *s, const struct plan_line *l, struct err *e)
{
	return people_retry(c, s, l->message, l->check, e);
}

int plan_cmd_retry(const struct plan_line *l)
{
	return each(&(struct change){ l, retry, "is tried again" }, 2);
}

static int skip(struct context *c, struct stage_row *s, const struct plan_line *l, struct err *e)
{
	return people_skip(c, s, l->satisfied, e);
}

int plan_cmd_skip(const struct plan_line *l)
{
	return each(&(struct change){ l, skip, "is skipped" }, l->n);
}

static int cancel(struct context *c, struct stage_row *s, const struct plan_line *l, struct err *e)
{
	(void)l;
	return people_cancel(c, s, e);
}

int plan_cmd_cancel(const struct plan_line *l)
{
	auto_context c = { .home.fd = -1 };
	auto_plan_row row = { 0 };
	struct err e = ERR_INIT;

	if (l->n > 1)
		return each(&(struct change){ l, cancel, "is cancelled" }, l->n);
	if (context_open(&c, &e) < 0 || plan_find(&c, l->words[0], &row, &e) < 0 ||
		people_cancel_plan(&c, &row, &e) < 0)
		return say_error(&e);
	say_done("plan '%s' is cancelled; its tasks are still there", row.name);
	say_hint("garth ls");
	return 0;
}

/* All stages have to be done, or left out by a person. */
static int check_over(const struct plan_row *row, const struct stage_row_list *l, struct err *e)
{
	if (!strcmp(row->state, PLAN_DONE))
		return 0;
	for (size_t i = 0; !row->ended && i < l->n; i++) {
		const struct stage_row *s = &l->v[i];

		if (stage_is(s, STAGE_FAILED)) {
			err_set(e, ERR_REFUSED, "the plan '%s' is not done: stage '%s' has failed", row->name,
				s->name);
			return err_hint(e, "garth plan skip %s %s", row->name, s->name);
		}
		if (!stage_is_over(s)) {
			err_set(e, ERR_REFUSED, "the plan '%s' is not done: stage '%s' is %s", row->name,
				s->name, s->state);
			return err_hint(e, "garth plan status %s", row->name);
		}
	}
	return row->ended ? err_set(e, ERR_REFUSED, "the plan '%s' is %s", row->name, row->state) : 0;
}

static int merge(struct context *c, struct plan_row *row, struct err *e)
{
	auto_stage_row_list stages = { 0 };
	auto_plan plan = { 0 };
	struct stage_job j = { .c = c, .plan = &plan, .row = row, .all = &stages };
	auto_str was = xstrdup(row->state), walls = NULL;
	auto_lock lock = -1;
	auto_fd dir = -1;

	if (plan_lock(c, row, &dir, &lock, e) < 0 || plan_open(c, row, &plan, e) < 0 ||
		store_stage_list(c->store, row->id, &stages, e) < 0 || check_over(row, &stages, e) < 0)
		return -1;
	j.walls = walls = check_walls_now(c, row);
	j.stage = &plan.stages[plan.nstages - 1];
	j.at = &stages.v[stages.n - 1];
	if (plan_land(&j, e) < 0 || context_store(c, e) < 0)
		return *e->hint ? -1 : err_hint(e, "garth merge --resolve %s", row->name);
	stage_set(&row->note, "");
	stage_set(&row->state, PLAN_DONE);
	row->ended = row->ended ? row->ended : time(NULL);
	return store_plan_write(c->store, row, was, e);
}

int plan_cmd_merge(const struct plan_line *l)
{
	auto_context c = { .home.fd = -1 };
	auto_plan_row row = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (context_open(&c, &e) < 0 || plan_find(&c, l->words[0], &row, &e) < 0)
		return say_error(&e);
	progress_begin("merging");
	rc = merge(&c, &row, &e);
	progress_end();
	if (rc < 0)
		return say_error(&e);
	if (l->json)
		return plan_status_print(&c, row.name, true, &e) < 0 ? say_error(&e) : 0;
	say_done("plan '%s' is merged into %s (%.12s)", row.name,
		strncmp(row.target, "refs/heads/", 11) ? row.target : row.target + 11, row.merged);
	say_hint("garth undo %s", row.name);
	return 0;
}
