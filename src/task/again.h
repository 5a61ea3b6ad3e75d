/*
 * Remembers what a task ran, so that it can be resumed. tasks/<id>/again has the command, the command that
 * resumes it, and their options. tasks/<id>/task.yaml is the task file's text; its configuration keys apply
 * for the whole life of the task.
 */
#ifndef TASK_AGAIN_H
#define TASK_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

struct again {
	struct strvec argv;   /* as the user gave it, {session} not replaced */
	struct strvec resume; /* from the task file; empty if it has none */
	struct strvec env;    /* as for -e: NAME, or NAME=VALUE */
	char *agent;          /* NULL for none */
	struct strvec ports;  /* numbers */
	uint64_t timeout;     /* seconds; 0: none */
	bool weaker;          /* --allow-weaker */
	char *push;           /* the remote's branch to push to when done; NULL: none */
	char *cwd;            /* where it starts, relative to the workspace; "" is its top directory */
};

void again_release(struct again *a);
#define auto_again __attribute__((cleanup(again_release))) struct again

int again_save(int task_dir, const struct again *a, struct err *e);
/* ERR_NOTFOUND if the task has never run. */
int again_load(int task_dir, struct again *ret, struct err *e);

/* The name of the task's agent, on the heap: the one it was run with, or the one it was created for. NULL if
 * there is none. */
char *again_agent(int task_dir);
int again_keep_agent(int task_dir, const char *name, struct err *e);

/* The command line that resumes the task: from the task file, else from the agent (may be NULL), else the
 * first command. {session} and {answer} are replaced in each word; the word {options} is replaced by the
 * agent's options in the first command. */
void again_words(const struct again *a, const struct config_agent *agent, const char *session,
	const char *answer, struct strvec *ret);
/* Whether that command line has a place for the answer. If not, the answer is only in GARTH_ANSWER. */
bool again_takes_answer(const struct again *a, const struct config_agent *agent);
/* The first command, with {session} replaced. */
void again_first(const struct strvec *argv, const char *session, struct strvec *ret);

/* Applies the task's own layers to the user's configuration c: the repository's file as it was when the task was
 * made (repository_config.h), the task file, and limits that were changed for this task. Does nothing if there
 * are none, or task_dir is -1. */
int again_configure(struct config *c, int task_dir, struct err *e);
int again_keep_repository(int task_dir, const struct buf *text, struct err *e);
int again_keep_file(int task_dir, const char *text, size_t len, struct err *e);

/* Whether the command has succeeded and only the push after it has not. */
bool again_owes_push(int task_dir);
void again_owe_push(int task_dir, bool owes);

/* The last answer that was given to the command, on the heap; NULL if there is none. It is kept because the
 * run may be interrupted. */
char *again_answer(int task_dir);
int again_keep_answer(int task_dir, const char *text, struct err *e);

/* Limits are given as "NAME=VALUE"; NAME is a key below `limits`. again_try_limits applies them to c;
 * again_limit changes them for the whole life of the task. ERR_USAGE if a name or a value is invalid; then
 * none is changed for the task. */
int again_try_limits(struct config *c, const struct strvec *limits, struct err *e);
int again_limit(int task_dir, const struct strvec *limits, struct err *e);

#endif
