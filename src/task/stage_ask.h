/*
 * `garth stage complete` inside: an agent asks, while it runs, whether its published commit passes the checks of its stage.
 * The gateway stores the question and wakes the plan's runner, which runs the checks and stores the answer. Both are files
 * in the task's directory, which nothing inside can see.
 *
 *	stage_ask_answered(dir, tip, &passed, &text)     the gateway, each time that it is asked
 *	stage_ask_put(c, t, dir, tip, &runner, e)        the gateway, if there is no answer
 *	stage_ask_pending(dir)                           the runner: the commit that is to be checked
 *	stage_ask_answer(dir, tip, passed, text, e)      the runner
 */
#ifndef TASK_STAGE_ASK_H
#define TASK_STAGE_ASK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* The directory of a plan's runner, beneath the Garth home. */
#define PLAN_DIR       "plans/%lld"
#define PLAN_LOCK_FILE "lock"
#define PLAN_WAKE_FILE "wake"

#define STAGE_ANSWER_MAX (64u << 10)

/* ERR_REFUSED if the task is not a stage. *ret_new: this was not asked before. *ret_runner: the plan has a runner. */
int stage_ask_put(struct context *c, const struct task *t, int task_dir, const char *tip, bool *ret_new,
	bool *ret_runner, struct err *e);
/* Whether there is an answer for this commit. */
bool stage_ask_answered(int task_dir, const char *tip, bool *ret_passed, struct buf *text);
/* On the heap; NULL if nothing is asked. */
char *stage_ask_pending(int task_dir);
/* Removes question and answer: the answer may be wrong for the next run. */
void stage_ask_forget(int task_dir);
int stage_ask_answer(int task_dir, const char *tip, bool passed, const char *text, struct err *e);

#endif
