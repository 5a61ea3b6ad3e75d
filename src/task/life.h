/*
 * The states of a task, and one table of the allowed changes between them.
 *
 *	creating → created → running → done | failed | cancelled | interrupted | blocked → running …
 *	running ⇄ paused, with the same ends
 *	and from every resting state → merged (→ running …) and → discarding → discarded | archived
 *
 * A crash may leave a task in "creating" or "discarding"; task_settle then finishes the step.
 */
#ifndef TASK_LIFE_H
#define TASK_LIFE_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"

#define STATE_CREATING    "creating"
#define STATE_CREATED     "created"
#define STATE_RUNNING     "running"
#define STATE_PAUSED      "paused"
#define STATE_BLOCKED     "blocked" /* it has a question: question.h */
#define STATE_DONE        "done"
#define STATE_FAILED      "failed"
#define STATE_CANCELLED   "cancelled"
#define STATE_INTERRUPTED "interrupted"
#define STATE_MERGED      "merged"
#define STATE_DISCARDING  "discarding"
#define STATE_DISCARDED   "discarded"
#define STATE_ARCHIVED    "archived"

/* Whether there is a main command, running or paused. */
bool life_is_running(const struct task *t);
bool life_allows(const char *from, const char *to);
/* Changes the state in the store and in the struct. ERR_REFUSED if the table does not allow it. */
int life_move(struct store *s, struct task *t, const char *to, struct err *e);

#endif
