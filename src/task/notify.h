/*
 * Notifications: runs the user's program (notify.command) when a task needs attention.
 *
 * The program runs outside, as the user, from an argv and never through a shell, in "/", without input and
 * output. After NOTIFY_SECONDS it is killed with everything that it started. Its environment is this process'
 * own, and GARTH_TASK, GARTH_PROJECT, GARTH_STATE, GARTH_QUESTION, GARTH_NOTE and GARTH_MESSAGE. The question
 * and parts of the note are the agent's text: they are cleaned, put on one line and cut.
 *
 * A task has at most one notification in NOTIFY_SPACING seconds. Later ones wait, and are dropped if the task
 * has begun another run meanwhile: an agent that asks again and again cannot cause a storm.
 */
#ifndef TASK_NOTIFY_H
#define TASK_NOTIFY_H

#include <stdint.h>

#include "base/strvec.h"
#include "config/config.h"
#include "store/store.h"

#define NOTIFY_SECONDS  10
#define NOTIFY_SPACING  5
#define NOTIFY_TEXT_MAX 1000 /* bytes of each text */

/* The path of the program, on the heap. NULL if notify.command is not set, or names no program that can be
 * run; *ret_missing is then its name, else NULL. */
char *notify_program(const struct config *c, const char **ret_missing);

struct notify_job {
	const char *program;
	const struct config_notify *notify;
	const char *home; /* the Garth home */
	int64_t task, run;
	int task_dir;
};

enum notify_event {
	NOTIFY_NOTHING,
	NOTIFY_ENDED, /* the run has ended; how, is in the store */
	NOTIFY_LOST,  /* the keeper is gone and has not ended the run */
	NOTIFY_LIMIT, /* the task is near or over a limit; `why` says which */
};

/* Runs the program, unless notify.on leaves this out. Blocks until it has ended: up to NOTIFY_SPACING and
 * NOTIFY_SECONDS. This process must have no other children; it becomes a subreaper. */
void notify_send(const struct notify_job *j, enum notify_event event, const char *why);

/* For notify_send and for tests: what the program is told. Texts are "" if there is nothing to say. */
struct notice {
	const char *task, *project, *path, *state; /* path: of the project's checkout */
	const char *question, *note;
};
/* Appends the program's arguments and its environment. */
void notice_words(const struct notice *n, const struct strvec *command, struct strvec *ret);
void notice_env(const struct notice *n, char *const *own, struct strvec *ret);

#endif
