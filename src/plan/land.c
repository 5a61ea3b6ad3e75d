#include "plan/land.h"

#include <string.h>

#include "base/alloc.h"
#include "git/reach.h"
#include "git/ref.h"
#include "merge/merge.h"
#include "plan/checks.h"
#include "runtime/run.h"
#include "sys/fault.h"
#include "task/life.h"
#include "task/task.h"

/* How often the merge is tried again because the user's branch has moved meanwhile. */
#define TRIES_MAX 5

static enum merge_kind kind_of(const struct config *c)
{
	return !strcmp(c->merge_strategy, "squash")   ? MERGE_SQUASH
	       : !strcmp(c->merge_strategy, "rebase") ? MERGE_REBASE
						      : MERGE_COMMIT;
}

/* Runs the plan's own checks on the result of the merge. A tree on which they have passed already is not checked again. */
static int check(struct stage_job *j, const char *commit, struct err *e)
{
	auto_checks_result r = { 0 };
	auto_repo repo = { 0 };

	if (!j->plan->nchecks)
		return 0;
	if (job_open_repo(j->c, j->row, &repo, e) < 0 || checks_run(j, &repo, commit, CHECKS_PLAN, &r, e) < 0)
		return -1;
	return r.passed ? 0
			: err_set(e, ERR_REFUSED,
				  "a check of the plan fails on the result of the merge: %.200s: %.150s",
				  r.failed.title, r.failed.why);
}

/* Nothing was published: the plan changed nothing. */
static bool has_nothing(const struct task *t)
{
	return !*t->published || !strcmp(t->published, t->base);
}

/* Whether the user's branch has moved since it was read. */
static bool has_moved(struct stage_job *j, const struct task *t, const char *old)
{
	struct err ignored = ERR_INIT;
	auto_repo repo = { 0 };
	char now[OID_SIZE];

	return !job_open_repo(j->c, j->row, &repo, &ignored) && !ref_read(&repo, t->target, now, &ignored) &&
	       strcmp(now, old) != 0;
}

/* *ret_moved: nothing was done, because the user's branch has moved meanwhile. */
static int merge_once(struct stage_job *j, struct task *t, bool *ret_moved, struct err *e)
{
	struct merge_spec s = { .kind = kind_of(&j->c->config), .dry_run = true };
	auto_merge_result look = { 0 }, r = { 0 };

	*ret_moved = false;
	if (merge_task(j->c, t, &s, &look, e) < 0)
		return -1;
	if (!look.nothing && check(j, look.new_oid, e) < 0)
		return -1;
	if (runtime_configure(j->c, t, e) < 0)
		return -1;
	fault("plan-land-looked");
	s.dry_run = false;
	s.onto = look.old;
	if (merge_task(j->c, t, &s, &r, e) < 0) {
		*ret_moved = e->kind == ERR_CONFLICT && has_moved(j, t, look.old);
		return -1;
	}
	stage_set(&j->row->merged, r.new_oid);
	fault("plan-landed");
	return 0;
}

/* Somebody may have moved the integration branch: work that is done must not be left out without a word. */
static int check_all_there(struct stage_job *j, struct err *e)
{
	auto_strvec tips = STRVEC_INIT, onto = STRVEC_INIT;
	auto_repo repo = { 0 };
	char now[OID_SIZE];
	size_t missing = 0;

	for (size_t i = 0; j->all && i < j->all->n; i++)
		if (stage_is(&j->all->v[i], STAGE_DONE) && *j->all->v[i].tip)
			strvec_push(&tips, j->all->v[i].tip);
	if (!tips.n)
		return 0;
	if (job_open_repo(j->c, j->row, &repo, e) < 0 || job_integration(j->c, j->row, &repo, now, e) < 0)
		return -1;
	strvec_push(&onto, now);
	if (reach_count(&repo, &tips, &onto, &missing, e) < 0)
		return -1;
	for (size_t i = 0; missing && i < j->all->n; i++) {
		const struct stage_row *s = &j->all->v[i];

		if (!stage_is(s, STAGE_DONE) || !*s->tip || reach_has(&repo, now, s->tip))
			continue;
		err_set(e, ERR_REFUSED,
			"the branch garth/%s was moved, and lacks the work of stage '%s' (%.12s), which is done",
			j->row->name, s->name, s->tip);
		return err_hint(e, "garth merge %s", s->task);
	}
	return 0;
}

static int merge(struct stage_job *j, struct task *t, struct err *e)
{
	bool moved = true;

	if (check_all_there(j, e) < 0)
		return -1;
	if (has_nothing(t)) {
		stage_set(&j->row->merged, t->base);
		return 0;
	}
	for (unsigned tries = 0; tries < TRIES_MAX && moved; tries++) {
		*e = (struct err)ERR_INIT;
		if (!merge_once(j, t, &moved, e))
			return 0;
	}
	return -1;
}

/* What cannot be removed stays, and is listed by `garth ls`. */
static void put_away(struct stage_job *j, struct task *t, bool came_with_merge)
{
	const struct discard_opts o = { .merged = came_with_merge };
	struct err ignored = ERR_INIT;
	auto_str trash = NULL;

	if (!t->removed && (!strcmp(t->state, STATE_MERGED) || !strcmp(t->state, STATE_CREATED) ||
				   !strcmp(t->state, STATE_DONE)))
		task_discard(j->c, t, &o, &trash, &ignored);
}

static void put_id_away(struct stage_job *j, int64_t id)
{
	struct err ignored = ERR_INIT;
	auto_task t = { 0 };

	if (id && !context_store(j->c, &ignored) && !task_find_id(j->c, id, &t, &ignored))
		put_away(j, &t, false);
}

static void put_stages_away(struct stage_job *j)
{
	for (size_t i = 0; j->all && i < j->all->n; i++) {
		const struct stage_row *s = &j->all->v[i];

		if (!stage_is(s, STAGE_DONE))
			continue;
		put_id_away(j, s->task_id);
		put_id_away(j, s->own_id);
	}
}

/* The removals belong to the merge, so that one undo takes all of it back. The merge may have been made by a runner that
 * was killed. */
static int put_all_away(struct stage_job *j, struct task *t, struct err *e)
{
	struct err none = ERR_INIT;
	auto_deed merge = { 0 };

	if (context_store(j->c, e) < 0)
		return -1;
	if (store_deed_of(j->c->store, t->id, "merge", &merge, &none) < 0)
		store_batch_begin(j->c->store);
	else if (store_batch_join(j->c->store, merge.id, e) < 0)
		return -1;
	put_stages_away(j);
	put_away(j, t, !has_nothing(t));
	if (j->c->store)
		store_batch_end(j->c->store);
	return 0;
}

static int find_task(struct stage_job *j, struct task *t, struct err *e)
{
	if (context_store(j->c, e) < 0 || store_task_any(j->c->store, j->row->task_id, t, e) < 0)
		return -1;
	return t->removed ? 0 : runtime_configure(j->c, t, e);
}

int plan_land_part(struct stage_job *j, struct err *e)
{
	auto_task t = { 0 };

	return find_task(j, &t, e) < 0 ? -1 : t.removed ? 0 : merge(j, &t, e);
}

int plan_land(struct stage_job *j, struct err *e)
{
	auto_task t = { 0 };
	int rc = 0;

	if (find_task(j, &t, e) < 0)
		return -1;
	/* it was put away before a crash */
	if (t.removed) {
		stage_set(&j->row->merged, *t.published ? t.published : t.base);
		return 0;
	}
	rc = merge(j, &t, e);
	if (!rc && !j->c->config.merge_keep)
		rc = put_all_away(j, &t, e);
	return rc;
}
