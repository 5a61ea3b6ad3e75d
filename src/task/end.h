/*
 * How a task ends: the verdict over its main command's run, seen with Garth's own eyes when everything inside
 * is dead. The command's own exit code is one fact, the verdict another; the store keeps both.
 *
 * A batch run fails by its command's exit code, by uncommitted changes (unless on_dirty is "keep"), and by
 * commits that are not published (T2). In an interactive session (session_kind) uncommitted changes are kept
 * and named, a Ctrl-C (130) is no failure, and a shell's exit code, which is that of the last command typed,
 * is none either.
 *
 * What was left behind may be committed, published or removed later, by `exec`, `publish` or `rollback`: then
 * task_judge_again takes the failure back.
 */
#ifndef TASK_END_H
#define TASK_END_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "task/run.h"

/* The verdicts. Those that task_judge_again may take back are marked *. */
#define VERDICT_EXIT        "exit"        /* the command's own exit code */
#define VERDICT_TIMEOUT     "timeout"     /* its time was up */
#define VERDICT_PUSH        "push"        /* what it has done could not be pushed */
#define VERDICT_UNCOMMITTED "uncommitted" /* * files */
#define VERDICT_ELSEWHERE   "elsewhere"   /* * its commits are on another branch inside */
#define VERDICT_UNPUBLISHED "unpublished" /* * its last commits were refused, or the gateway died */
#define VERDICT_UNKNOWN     "unknown"     /* * what it left cannot be told */
#define VERDICT_KEPT        "kept"        /* no failure: what it left uncommitted is kept */

/* An empty file in tasks/<id> from when the gateway begins to publish a task's last commits until it has:
 * where it is found afterwards, they were refused, or the gateway died. */
#define TASK_UNPUBLISHED "unpublished"
void task_end_begin(const struct task_run *r);

/* What is to be done with a task that has succeeded, before it is told to be done: 0, 1 where it may be
 * merged by that, or -1 where it fails of it. */
struct task_then {
	int (*fn)(struct context *c, struct task *t, const char *arg, struct err *e);
	const char *arg;
};

/* `then` may be NULL. `also` is one more thing to be known of it, or "". Decides, tells the store, and gives
 * the exit code for those who wait: the command's own; where it succeeded and the task did not, 1, or 6 where
 * it asks (question.h), whatever lies around uncommitted. */
int task_end(const struct task_run *r, int exit_code, enum run_end how, const char *also,
	const struct task_then *then, struct err *e);

/* Looks again at what a stopped task's last run left behind, if it left anything: a failure for that is taken
 * back where there is nothing any more. Called after whatever may have changed that; does nothing otherwise.
 * t is brought up to date. Failing to look leaves things as they are. */
void task_judge_again(struct context *c, struct task *t);

/* All that is to be said of a task, for people: its note, its drafts, what it left. "" for nothing. */
void task_say(const struct task *t, struct buf *out);

#endif
