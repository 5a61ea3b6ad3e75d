/*
 * Reports when running tasks end, without polling. While a task runs, its keeper holds the lock in the task's directory.
 * The kernel reports when the keeper's descriptor of it is closed, however the keeper ends.
 *
 *	auto_watch w = WATCH_INIT;
 *	watch_task(&w, c, t, false, &i, e)
 *	while (watch_is_running(&w, i))
 *		if (!watch_wait(&w, -1, &deadline))
 *			→ the deadline has passed
 *	task_find_id(…)               how it ended
 *
 * Add a task first and look at its state then, so that an end in between is not missed.
 */
#ifndef RUNTIME_WATCH_H
#define RUNTIME_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/deadline.h"
#include "base/err.h"
#include "task/context.h"
#include "task/task.h"

struct watch {
	int notify; /* inotify; -1: none, the locks are looked at every WATCH_MS */
	bool begun;
	int *locks;
	size_t n;
};
#define WATCH_INIT                                                                                           \
	{                                                                                                    \
		.notify = -1                                                                                 \
	}
void watch_close(struct watch *w);
#define auto_watch __attribute__((cleanup(watch_close))) struct watch

/* Watches one more task; with `log`, its log too. *ret is its number. */
int watch_task(
	struct watch *w, const struct context *c, const struct task *t, bool log, size_t *ret, struct err *e);
/* Watches a file, too: whenever somebody closes it who could write to it. Something that happens there is only reported by
 * watch_wait. */
void watch_file(struct watch *w, int dir, const char *name);
/* Reports the end of each run of a task, to a caller that looks at the task itself: nothing is kept for it. False if that is
 * not possible, or not yet, because nothing has ever run there. */
bool watch_end(struct watch *w, const struct context *c, int64_t task);
/* Whether a process works on the task. */
bool watch_is_running(const struct watch *w, size_t i);
/* Blocks until something has happened, which may be something else. False if the deadline (NULL: none) has
 * passed, or if nobody reads the descriptor `out` any more (-1: none). */
bool watch_wait(struct watch *w, int out, const struct deadline *d);

#endif
