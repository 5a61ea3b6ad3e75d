/*
 * Runs a command in a task on this terminal: runtime/run.h starts it, terminal.h transports its streams. All
 * functions block until the command ends or the user detaches.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/terminal.h"
#include "runtime/run.h"

/* The keys that detach: those of --detach-keys, or NULL for the configured ones. Check them before a task is
 * made. */
int session_keys(const struct context *c, const char *asked, struct keys *ret, struct err *e);
#define SESSION_DETACH_KEYS(value)                                                                           \
	{                                                                                                    \
		0, "detach-keys", OPT_STR, value, "KEYS", "keys that detach (default: " KEYS_DEFAULT ")",    \
			WORD_TEXT                                                                            \
	}

/* Runs the task's main command. All of these functions set the terminal, its size and the warnings of *o
 * themselves. */
int session_run(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	struct terminal_result *ret, struct err *e);
/* Resumes a task that has ended, with the user's answer or NULL. */
int session_resume(struct context *c, struct task *t, const struct run_opts *o, const char *answer,
	struct terminal_result *ret, struct err *e);
/* Runs a command beside the main one, or in a stopped task. */
int session_exec(struct context *c, struct task *t, const struct run_opts *o, char *const *argv,
	struct terminal_result *ret, struct err *e);
/* Attaches to the running task's main command. */
int session_attach(struct context *c, struct task *t, const struct keys *keys, struct terminal_result *ret,
	struct err *e);

/* report.c: tells the user how it ended and what to do next. */
void session_report(struct context *c, const struct task *of, const struct terminal_result *r, bool quiet);

#endif
