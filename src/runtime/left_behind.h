/*
 * Uncommitted changes of the checkout that a task is started from. A task starts from a commit, so it does not have
 * them, unless the user asks for it (with_changes.h). git looks for them in a child process while the workspace is
 * made:
 *
 *	auto_left_behind left = LEFT_BEHIND_INIT;
 *	left_behind_watch(&left, &spec);
 *	task_create(c, &spec, &t, e);
 *	left_behind_read(&left, &t, &none, &paths);
 */
#ifndef RUNTIME_LEFT_BEHIND_H
#define RUNTIME_LEFT_BEHIND_H

#include "base/strvec.h"
#include "sys/worker.h"
#include "task/task.h"

struct left_behind {
	const char *dir;
	const struct repo *repo; /* while the search is started */
	int answer;              /* a file in memory */
	struct worker git;
	char *top; /* of the checkout; once the search is started */
};
#define LEFT_BEHIND_INIT                                                                                     \
	{                                                                                                    \
		.answer = -1, .git = WORKER_INIT                                                             \
	}

/* Lets task_create start the search as soon as it has checked the repository around spec->dir. Both must live
 * until task_create returns. */
void left_behind_watch(struct left_behind *w, struct task_spec *spec);
/* Waits for the search. The paths; none if git fails. `included` are files that the task has all the same. */
void left_behind_read(
	struct left_behind *w, const struct task *t, const struct strvec *included, struct strvec *ret);
void left_behind_release(struct left_behind *w);
#define auto_left_behind __attribute__((cleanup(left_behind_release))) struct left_behind

#endif
