/*
 * Discards many tasks at once (T6), for `garth cleanup` and the timers of `garth serve`. The rules are those
 * of task_discard: a task that runs, or has the only copy of its work, stays and is named in the report.
 *
 *	cleanup_tasks(c, &all, &(struct cleanup_opts){ .before = now - age }, &report)
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
	int64_t before; /* tasks without any change since then; CLEANUP_ALL: of any age */
	bool merged;    /* also merged tasks (merged.h), of any age */
	bool once;      /* with merged: only those that Garth merged and no undo restored */
	bool force;     /* also tasks that have the only copy of their work */
	bool look;      /* dry run: only report what would be removed */
};

struct cleanup_report {
	struct strvec removed; /* words that mean the tasks (lookup.h) */
	struct strvec kept;    /* names, */
	struct strvec why;     /* the reason for each of kept, from task_discard */
};
void cleanup_report_release(struct cleanup_report *r);
#define auto_cleanup_report __attribute__((cleanup(cleanup_report_release))) struct cleanup_report

/* Whether the task was neither changed nor run since then, and is not removed. Looks at the struct alone. */
bool cleanup_is_old(const struct task *t, int64_t before);
/* The same for the mark `stale`, with cleanup.stale_after. */
bool cleanup_is_stale(const struct context *c, const struct task *t);

/* Whether the task would be removed; if not, `why` gets the reason. */
bool cleanup_would_go(struct context *c, struct task *t, struct buf *why);
/* Settles the tasks of the list and discards those that are old enough. If one cannot be removed, the others
 * still are. One `garth undo` restores all of them that belong to one project. */
void cleanup_tasks(
	struct context *c, struct task_list *all, const struct cleanup_opts *o, struct cleanup_report *ret);

#endif
