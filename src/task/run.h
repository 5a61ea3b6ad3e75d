/* Records the start and the end of a task's main command in the store. The keeper records the end. */
#ifndef TASK_RUN_H
#define TASK_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* How a main command ended. */
enum run_end { RUN_ENDED, RUN_CANCELLED, RUN_TIMED_OUT, RUN_ASKS };

/* Who watches a run: nobody a batch run, a person the other two. See session_kind. */
enum session_kind { SESSION_BATCH, SESSION_AGENT, SESSION_SHELL };

struct task_run {
	char *home; /* the Garth home, to open the store again after a fork */
	int64_t task, run;
	char session[37];
	enum session_kind kind;
};

/* The result of a run: the command's exit code, Garth's verdict (verdict.h; "" for none), and what was left
 * uncommitted, for people. */
struct run_outcome {
	enum run_end how;
	int exit_code;
	const char *verdict, *leftover;
};

/* A session is interactive if it has a terminal and its command talks to a person: a shell without a script
 * or -c, or a known agent without the option that makes it work unattended (claude -p, codex exec). */
enum session_kind session_kind(char *const *argv, bool terminal);

/* Makes a random UUID. */
void task_session_id(char out[37]);
/* Marks the task as running. argv is stored, too, as one line for people. */
int task_run_begin(struct context *c, struct task *t, const char *session, char *const *argv,
	struct task_run *ret, struct err *e);
/* Marks it as done, failed, cancelled or blocked. Opens its own store. */
int task_run_end(const struct task_run *r, const struct run_outcome *o, struct err *e);
void task_run_release(struct task_run *r);

#endif
