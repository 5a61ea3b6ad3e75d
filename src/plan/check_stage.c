#include "plan/check_stage.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "plan/check_task.h"
#include "plan/resolution.h"
#include "plan/stage_brief.h"
#include "sys/fault.h"
#include "sys/fd.h"
#include "task/stage_ask.h"

#define PROMPT_MAX (64u << 10)

int stage_failed(struct stage_job *j, const struct check_row *failed, const char *prompt, struct err *e)
{
	struct stage_row *s = j->at;
	auto_str what = xasprintf("%.300s: %.300s", failed->title, failed->why);
	auto_buf text = BUF_INIT(PROMPT_MAX);
	bool same = !strcmp(s->failed_tip, s->tip) && !strcmp(s->failure, what);

	s->failures++;
	stage_set(&s->failed_tip, s->tip);
	stage_set(&s->failure, what);
	if (same)
		return stage_give_up(j, e, "%s; there was no new commit", what);
	if (s->failures > (int64_t)j->plan->retries.check)
		return stage_give_up(j, e, "%s", what);
	if (!prompt)
		stage_rework_prompt(s, failed, &text);
	stage_set(&s->prompt, prompt ? prompt : buf_str(&text));
	return stage_move(j->c->store, s, STAGE_REWORK, e, "%s", what);
}

static int passed(struct stage_job *j, struct err *e)
{
	struct stage_row *s = j->at;

	if (j->stage->approve & PLAN_APPROVE_AFTER && strcmp(s->approved, s->tip) != 0) {
		stage_set(&s->gate, GATE_AFTER);
		return stage_move(j->c->store, s, STAGE_APPROVAL, e, "its checks passed on %.12s", s->tip);
	}
	s->queued = time(NULL);
	return stage_move(j->c->store, s, STAGE_QUEUED, e, "%s", "");
}

/* In the task for a conflict, the stage's own work has to be merged. */
static int lacks_own_work(struct stage_job *j, struct err *e)
{
	auto_str branch = NULL, title = NULL;
	struct check_row failed = { .kind = (char *)"merge",
		.why = (char *)"that branch is not merged here",
		.output = (char *)"",
		.code = -1 };

	if (resolution_branch(j, &branch, e) < 0)
		return -1;
	title = xasprintf("git merge %s", branch + strlen("refs/heads/"));
	failed.title = title;
	return stage_failed(j, &failed, NULL, e);
}

static int check(struct stage_job *j, const struct repo *repo, struct err *e)
{
	auto_checks_result r = { 0 };
	bool lacks;

	if (resolution_lacks(j, repo, &lacks, e) < 0)
		return -1;
	if (lacks)
		return lacks_own_work(j, e);
	if (checks_run(j, repo, j->at->tip, CHECKS_AFTER, &r, e) < 0 || context_store(j->c, e) < 0)
		return -1;
	fault("plan-stage-checked");
	return r.passed ? passed(j, e) : stage_failed(j, &r.failed, NULL, e);
}

int stage_check(struct stage_job *j, struct err *e)
{
	auto_repo repo = { 0 };

	return check_task_clear(j, e) < 0 || job_open_repo(j->c, j->row, &repo, e) < 0 ? -1
										       : check(j, &repo, e);
}

int stage_check_known(struct stage_job *j, struct err *e)
{
	return check(j, j->repo, e);
}

bool stage_asks_for_checks(const struct stage_job *j)
{
	struct err ignored = ERR_INIT;
	auto_str tip = NULL;
	auto_fd dir = -1;

	if (home_task_dir(&j->c->home, j->at->task_id, &dir, &ignored) < 0)
		return false;
	tip = stage_ask_pending(dir);
	return tip != NULL;
}

static int answer(int dir, const char *tip, const struct checks_result *r, struct err *e)
{
	auto_buf text = BUF_INIT(STAGE_ANSWER_MAX), clean = BUF_INIT(STAGE_ANSWER_MAX);

	if (r->passed)
		buf_printf(&text, "passed: all checks of this stage, on commit %.12s", tip);
	else
		buf_printf(&text, "failed on commit %.12s: %s '%s': %s\n%s", tip, r->failed.kind,
			r->failed.title, r->failed.why, r->failed.output);
	if (text.len && text.data[text.len - 1] != '\n')
		buf_addch(&text, '\n');
	clean_text(&clean, buf_str(&text), text.len, false);
	return stage_ask_answer(dir, tip, r->passed, buf_str(&clean), e);
}

int stage_check_asked(struct stage_job *j, struct err *e)
{
	auto_checks_result r = { 0 };
	auto_repo repo = { 0 };
	auto_str tip = NULL;
	auto_fd dir = -1;

	if (home_task_dir(&j->c->home, j->at->task_id, &dir, e) < 0)
		return -1;
	tip = stage_ask_pending(dir);
	if (!tip)
		return 0;
	if (check_task_clear(j, e) < 0 || job_open_repo(j->c, j->row, &repo, e) < 0 ||
		checks_run(j, &repo, tip, CHECKS_AFTER, &r, e) < 0)
		return -1;
	return answer(dir, tip, &r, e);
}

int stage_check_before(struct stage_job *j, const char *base, bool *ret_failed, struct err *e)
{
	auto_checks_result r = { 0 };
	auto_repo repo = { 0 };

	*ret_failed = false;
	if (job_open_repo(j->c, j->row, &repo, e) < 0 ||
		checks_run(j, &repo, base, CHECKS_BEFORE, &r, e) < 0 || context_store(j->c, e) < 0)
		return -1;
	*ret_failed = !r.passed;
	return r.passed ? 0
			: stage_move(j->c->store, j->at, STAGE_FAILED, e, "before it began: %.300s: %.300s",
				  r.failed.title, r.failed.why);
}
