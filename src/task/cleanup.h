/*
 * Many tasks thrown away at once (T6): by `garth cleanup`, and by the timers of `garth serve`. Each goes as
 * task_discard lets it: what runs, and what has the only copy of its work, stays and is named.
 *
 *	cleanup_tasks(c, &all, &(struct cleanup_opts){ .before = now - age }, &report, e)
 */
#ifndef TASK_CLEANUP_H
#define TASK_CLEANUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/context.h"
#include "task/task.h"

#define CLEANUP_ALL INT64_MAX

struct cleanup_opts {
	int64_t before; /* those that nothing happened to since then; CLEANUP_ALL: whatever their age */
	bool merged;    /* and those that are merged (merged.h), whatever their age */
	bool once;      /* of these only those that Garth merged, and that nobody brought back */
	bool force;     /* the only copies of work, too */
	bool look;      /* only tell what would go */
};

struct cleanup_report {
	struct strvec removed; /* names */
	struct strvec kept;    /* names, */
	struct strvec why;     /* and for each the reason, as task_discard gives it */
};
void cleanup_report_release(struct cleanup_report *r);
#define auto_cleanup_report __attribute__((cleanup(cleanup_report_release))) struct cleanup_report

/* Whether it was neither changed nor run since then, and is not removed. Asks nobody. */
bool cleanup_is_old(const struct task *t, int64_t before);
/* The same for the mark `stale`: by cleanup.stale_after, now. */
bool cleanup_is_stale(const struct context *c, const struct task *t);

/* Whether the task would go; where not, why is what it says. */
bool cleanup_would_go(struct context *c, struct task *t, struct buf *why);
/* Settles and throws away those of the list that are old enough. One that cannot be removed keeps no other.
 * One undo takes back all of it that is of one project. */
void cleanup_tasks(
	struct context *c, struct task_list *all, const struct cleanup_opts *o, struct cleanup_report *ret);

#endif
