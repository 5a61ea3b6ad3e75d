/*
 * Decides how a task ended: gives a verdict on its main command's run, after every process inside is dead.
 * The verdict does not rely on what the agent says. The store keeps both the command's exit code and the
 * verdict.
 *
 * A batch run fails if its exit code is not 0, if it leaves uncommitted changes (unless on_dirty is "keep"),
 * or if it has commits that are not published (T2). In an interactive session (session_kind), uncommitted
 * changes are kept and reported; Ctrl-C (130) is no failure, and neither is a shell's exit code, which is
 * that of the last command typed.
 *
 * What was left may be committed, published or removed later by `exec`, `publish` or `rollback`: then
 * task_judge_again withdraws the failure.
 */
#ifndef TASK_VERDICT_H
#define TASK_VERDICT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "task/run.h"

/* The verdicts. task_judge_again can withdraw those marked *. */
#define VERDICT_EXIT        "exit"        /* the command's exit code is not 0 */
#define VERDICT_TIMEOUT     "timeout"     /* it was stopped by its timeout */
#define VERDICT_PUSH        "push"        /* its commits could not be pushed */
#define VERDICT_UNCOMMITTED "uncommitted" /* * it left uncommitted files */
#define VERDICT_ELSEWHERE   "elsewhere"   /* * its commits are on another branch inside */
#define VERDICT_UNPUBLISHED "unpublished" /* * its last commits were refused, or the gateway died */
#define VERDICT_UNKNOWN     "unknown"     /* * it is not known what it left */
#define VERDICT_TICKETS     "tickets"     /* * tickets of it are neither merged nor given up */
#define VERDICT_KEPT        "kept"        /* no failure: it left uncommitted files, which are kept */

/* An empty file in tasks/<id>. It exists while the gateway publishes a task's last commits. If it is there
 * afterwards, they were refused, or the gateway died. */
#define TASK_UNPUBLISHED "unpublished"
void task_end_begin(const struct task_run *r);

/* What to do with a task that has succeeded, before it is marked done. fn returns 0, 1 if that may have
 * merged the task, or -1 if the task fails because of it. */
struct task_then {
	int (*fn)(struct context *c, struct task *t, const char *arg, struct err *e);
	const char *arg;
};

/* Decides on the verdict and writes it to the store. `then` may be NULL. `also` is an addition to the task's
 * note, or "". Returns the exit code for attached clients: the command's own; if that is 0 and the task
 * failed, 1; if the task has a question (question.h), 6, even with uncommitted files. */
int task_end(const struct task_run *r, int exit_code, enum run_end how, const char *also,
	const struct task_then *then, struct err *e);

/* Checks again what a stopped task's last run left behind, if it left anything, and withdraws the failure if
 * nothing is left. Call it after anything that may have changed that; otherwise it does nothing. Updates *t.
 * If the check fails, nothing changes. */
void task_judge_again(struct context *c, struct task *t);

/* All remarks on a task, for people: its note, its drafts, what it left. "" if there are none. The second one
 * names files on lines of their own (base/list_text.h). */
void task_say(const struct task *t, struct buf *out);
void task_say_list(const struct task *t, struct buf *out);

#endif
