#include "plan/merge_stage.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "merge/git_commands.h"
#include "merge/merge.h"
#include "plan/check_stage.h"
#include "plan/check_task.h"
#include "plan/checks.h"
#include "plan/look.h"
#include "plan/resolution.h"
#include "plan/stage_brief.h"
#include "runtime/gateway_client.h"
#include "runtime/run.h"
#include "sys/fault.h"
#include "task/task.h"

#define PROMPT_MAX (64u << 10)
/* How often the agent is asked to solve a conflict before a person is asked. */
#define CONFLICTS_MAX 2
#define NAMES_SHOWN   5

/* What a merge works on. */
struct merging {
	struct stage_job *j;
	struct repo repo;
	struct task task;
	char onto[OID_SIZE]; /* where the integration branch is */
};

static int look(struct merging *m, bool *ret_merged, struct err *e)
{
	struct stage_job *j = m->j;

	if (job_integration(j->c, j->row, &m->repo, m->onto, e) < 0)
		return -1;
	return verb_is_ancestor(&m->repo, j->at->tip, m->onto, ret_merged, e);
}

static int done(struct merging *m, struct err *e)
{
	struct stage_row *s = m->j->at;

	if (resolution_merged(m->j, m->onto, e) < 0)
		return -1;
	stage_set(&s->merged, m->onto);
	if (stage_move(m->j->c->store, s, STAGE_DONE, e, "%s", "") < 0)
		return -1;
	fault("plan-stage-done");
	return 0;
}

/* Merges the integration branch into the stage's branch, so that the agent sees the work that its own did not fit with.
 * *ret: whether that worked; if not, there are conflicts. */
static bool sync_stage(struct merging *m)
{
	struct err ignored = ERR_INIT;
	json_t *answer = NULL;
	bool clean;

	if (gateway_ask(m->j->c, &m->task, "/user/v1/sync", json_pack("{s:b}", "merge", 1), &answer,
		    &ignored) < 0)
		return false;
	clean = !json_array_size(json_object_get(answer, "conflicts"));
	json_decref(answer);
	return clean;
}

/* The stage's work passes its checks, but not together with the work of others. */
static int does_not_fit(struct merging *m, const struct check_row *failed, struct err *e)
{
	struct stage_job *j = m->j;
	auto_buf text = BUF_INIT(PROMPT_MAX);
	bool synced = sync_stage(m);

	buf_printf(&text,
		"Your work passed its checks, but not together with what other stages of the plan have done meanwhile. "
		"Their work is %s.\n\n",
		synced ? "on your branch now" : "on the branch of the plan");
	stage_rework_prompt(j->at, failed, &text);
	return context_store(j->c, e) < 0 ? -1 : stage_failed(j, failed, buf_str(&text), e);
}

static void name_files(const struct strvec *files, struct buf *out)
{
	for (size_t i = 0; i < files->n && i < NAMES_SHOWN; i++)
		buf_printf(out, "%s%.80s", i ? ", " : "", files->v[i]);
	if (files->n > NAMES_SHOWN)
		buf_addstr(out, " …");
}

/* An agent's conversation can go on about a conflict; a script cannot. */
static bool agent_can_solve(const struct stage_job *j)
{
	return !j->stage->script && j->stage->on_conflict != PLAN_CONFLICT_HUMAN &&
	       j->at->conflicts <= CONFLICTS_MAX;
}

/* Whether a task is made for the conflict alone: with `resolver`, and if the stage's agent has tried in vain. */
static bool needs_resolution(const struct stage_job *j)
{
	return !j->at->own_id && (j->stage->on_conflict == PLAN_CONFLICT_RESOLVER || j->at->conflicts > 1);
}

/* The agent merges the integration branch into its own, in its own workspace, where it sees both sides. */
static int tell_agent(struct merging *m, const char *files, struct err *e)
{
	struct stage_job *j = m->j;
	auto_str prompt = xasprintf(
		"Your work passed its checks, but it conflicts with what other stages of the plan have done "
		"meanwhile, in: %s\n\nTheir work is on the branch garth/%s. Merge it (git merge garth/%s), keep "
		"what both sides are for, commit the merge, and end.\n",
		files, j->row->name, j->row->name);

	sync_stage(m);
	stage_set(&j->at->prompt, prompt);
	return context_store(j->c, e);
}

static int conflicts(struct merging *m, const struct strvec *files, struct err *e)
{
	struct stage_job *j = m->j;
	auto_buf names = BUF_INIT(1000), clean = BUF_SMALL;
	auto_str note = NULL;

	name_files(files, &names);
	clean_line(&clean, buf_str(&names));
	note = xasprintf("it conflicts with garth/%s in %s", j->row->name, buf_str(&clean));
	j->at->conflicts++;
	if (!agent_can_solve(j))
		return resolution_end(j, STAGE_CONFLICT, note, e);
	if ((needs_resolution(j) ? resolution_begin(j, buf_str(&clean), e)
				 : tell_agent(m, buf_str(&clean), e)) < 0)
		return -1;
	return stage_move(j->c->store, j->at, STAGE_REWORK, e, "%s", note);
}

static int cannot_merge(struct merging *m, const struct merge_result *r, struct err *e)
{
	struct stage_job *j = m->j;
	struct err why = *e;

	if (context_store(j->c, e) < 0)
		return -1;
	*e = (struct err)ERR_INIT;
	if (why.kind == ERR_CONFLICT && r->conflicts.n)
		return conflicts(m, &r->conflicts, e);
	/* somebody moved the integration branch meanwhile, has its lock, or has it checked out: the runner tries again */
	if (why.kind == ERR_CONFLICT || why.kind == ERR_BUSY) {
		if (stage_move(j->c->store, j->at, STAGE_QUEUED, e, "it is tried again: %.900s", why.msg) < 0)
			return -1;
		return err_set(e, ERR_BUSY, "%s", why.msg);
	}
	return stage_move(j->c->store, j->at, STAGE_FAILED, e, "%.900s", why.msg);
}

/* Runs the checks on the result of the merge, unless the stage was checked on the same tree. *ret_stop: the merge ends
 * here. */
static int check_merged(struct merging *m, const char *commit, bool *ret_stop, struct err *e)
{
	struct stage_job *j = m->j;
	auto_checks_result r = { 0 };

	if (checks_run(j, &m->repo, commit, CHECKS_MERGED, &r, e) < 0)
		return -1;
	fault("plan-merge-checked");
	*ret_stop = !r.passed;
	return r.passed ? 0 : does_not_fit(m, &r.failed, e);
}

static int merge_it(struct merging *m, struct err *e)
{
	struct stage_job *j = m->j;
	struct merge_spec s = { .kind = MERGE_COMMIT, .tip = j->at->tip, .onto = m->onto, .dry_run = true };
	auto_merge_result look_first = { 0 }, r = { 0 };
	bool stop = false, merged = false;

	if (merge_task(j->c, &m->task, &s, &look_first, e) < 0)
		return cannot_merge(m, &look_first, e);
	if (check_merged(m, look_first.new_oid, &stop, e) < 0 || stop)
		return stop ? 0 : -1;
	/* the checks ran in other tasks, with the configuration of those */
	if (runtime_configure(j->c, &m->task, e) < 0)
		return -1;
	s.dry_run = false;
	if (merge_task(j->c, &m->task, &s, &r, e) < 0)
		return cannot_merge(m, &r, e);
	fault("plan-merged");
	if (look(m, &merged, e) < 0 || context_store(j->c, e) < 0)
		return -1;
	return merged ? done(m, e)
		      : stage_move(j->c->store, j->at, STAGE_FAILED, e, "garth/%s does not have its commit",
				j->row->name);
}

static int run(struct merging *m, struct err *e)
{
	struct stage_job *j = m->j;
	bool merged = false;

	if (check_task_clear(j, e) < 0 || job_open_repo(j->c, j->row, &m->repo, e) < 0 ||
		look(m, &merged, e) < 0 || context_store(j->c, e) < 0)
		return -1;
	if (merged)
		return done(m, e);
	if (task_find_id(j->c, j->at->task_id, &m->task, e) < 0)
		return e->kind == ERR_NOTFOUND ? stage_is_gone(j, e) : -1;
	return runtime_configure(j->c, &m->task, e) < 0 ? -1 : merge_it(m, e);
}

int stage_merge(struct stage_job *j, struct err *e)
{
	struct merging m = { .j = j };
	int rc = run(&m, e);

	repo_release(&m.repo);
	task_release(&m.task);
	return rc;
}

int stage_is_merged(struct stage_job *j, bool *ret, struct err *e)
{
	struct merging m = { .j = j };
	int rc;

	*ret = false;
	if (!*j->at->tip)
		return 0;
	rc = job_open_repo(j->c, j->row, &m.repo, e) < 0 ? -1 : look(&m, ret, e);
	repo_release(&m.repo);
	if (!rc && *ret)
		stage_set(&j->at->merged, m.onto);
	return rc;
}
