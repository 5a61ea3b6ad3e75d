/*
 * A task's life: one table of allowed moves between its states.
 *
 *	creating → created → running → done | failed | cancelled | interrupted | blocked → running …
 *	running ⇄ paused, with the same ends
 *	and from every resting state → merged (→ running …) and → discarding → discarded | archived
 *
 * "creating" and "discarding" are steps that a crash may leave behind; task_settle finishes them.
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
#define STATE_BLOCKED     "blocked" /* it asks: question.h */
#define STATE_DONE        "done"
#define STATE_FAILED      "failed"
#define STATE_CANCELLED   "cancelled"
#define STATE_INTERRUPTED "interrupted"
#define STATE_MERGED      "merged"
#define STATE_DISCARDING  "discarding"
#define STATE_DISCARDED   "discarded"
#define STATE_ARCHIVED    "archived"

/* Whether a main command is there, at work or standing still. */
bool life_is_running(const struct task *t);
bool life_allows(const char *from, const char *to);
/* Moves the task in the store and in the struct; ERR_REFUSED for a move that the table does not have. */
int life_move(struct store *s, struct task *t, const char *to, struct err *e);

#endif
