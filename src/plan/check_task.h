/*
 * Runs commands on a commit, in a throw-away task: a fresh copy of the commit with its set-up layer, behind the
 * stage's walls, without log-ins and without a gateway. Nothing that an agent left uncommitted or ignored is there.
 *
 *	struct check_task t = { .job = j, .commit = commit };
 *	check_task_run(&t, command, &out, &shown, &late, e)
 *	check_task_drop(&t)      after each command that must not see what the one before it did, and at the end
 *
 * All functions block. If the process dies, the next one that checks this stage removes what is left.
 */
#ifndef PLAN_CHECK_TASK_H
#define PLAN_CHECK_TASK_H

#include "base/err.h"
#include "base/strvec.h"
#include "plan/check_judge.h"
#include "plan/job.h"
#include "store/store.h"

/* How much is kept: of each stream, to be searched; of both together, to be shown to people. */
#define CHECK_STREAM_MAX (1u << 20)
#define CHECK_SHOWN_MAX  (16u << 10)

struct check_task {
	const struct stage_job *job;
	const char *commit;
	struct task task; /* id 0: not made yet */
};

/* argv is run in the directory cwd, relative to the repository's root ("" or NULL: the root). *shown gets the end of what
 * it printed. *ret_late: it took too long and was ended. */
struct check_command {
	char *const *argv;
	const char *cwd;
	uint64_t seconds;
	const char *stage; /* the variable STAGE_ID; NULL: it has none */
};
int check_task_run(struct check_task *t, const struct check_command *cmd, struct check_output *ret,
	struct buf *shown, bool *ret_late, struct err *e);
void check_task_drop(struct check_task *t);
/* Removes what is left of a check of this stage whose process died. */
int check_task_clear(const struct stage_job *j, struct err *e);
/* The same for all stages of a plan. The caller holds the plan's lock, and nothing checks. */
int check_task_clear_all(
	struct context *c, struct plan_row *p, const struct stage_row_list *stages, struct err *e);

#endif
