/*
 * The list of tasks, as `garth ls` shows it: loaded and sorted, as a table, as JSON, or on a screen that follows.
 *
 *	struct ls_view v = { 0 };
 *	ls_load(c, &query, &v, e)       → v.rows
 *	ls_table(c, &v, width, colours, &lines), ls_notes(c, &v, &notes), or ls_json(c, &v)
 *	ls_release(&v)
 *
 * Nothing here reads the files of a workspace.
 */
#ifndef CLI_LS_H
#define CLI_LS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "cli/task_relations.h"
#include "merge/overview.h"
#include "store/store.h"
#include "task/context.h"

/* What a task wants of the user, in the order in which they are listed. */
enum ls_attention {
	LS_BLOCKED,  /* it has a question */
	LS_FAILED,   /* it failed, was interrupted, or a limit paused it */
	LS_CONFLICT, /* its commits conflict with its target or with another task */
	LS_UNSEEN,   /* it is done, and the user has not looked at it */
	LS_RUNNING,  /* nothing: it runs */
	LS_IDLE,     /* nothing: it rests */
	LS_OVER,     /* it is merged, or removed */
};

struct ls_query {
	bool removed;         /* discarded and archived ones too */
	bool all_projects;    /* not only the project of the current directory */
	struct strvec states; /* only these: names of states, or "attention"; none for all */
	const char *agent;    /* only those of this agent or program; NULL for all */
	bool silent;          /* no progress line */
};

struct ls_row {
	const struct task *task;
	const struct overview *about;
	struct relations standing; /* borrows the conflicts of `about` */
	enum ls_attention attention;
	const struct task
		*plan; /* the plan's task, if this is one of its stages and both are listed; else NULL */
	bool is_plan;  /* a plan's own task */
	enum ls_attention group; /* a plan and its stages are listed together: the first reason among them */
};

struct ls_view {
	struct task_list tasks; /* oldest first */
	struct overview *about; /* of each task */
	struct ls_row *rows;    /* those that the query wants, attention first */
	size_t n;
	bool several;           /* tasks of several projects are listed, not only those of the current one */
	bool no_own;            /* the current project has no tasks, so all are listed */
	bool incomplete;        /* git had no time to answer everything */
	size_t elsewhere;       /* tasks of projects that are not listed and want attention */
	struct strvec warnings; /* tasks that could not be cleaned up after a crash */
};

/* ERR_USAGE if a word of `states` is no state. */
int ls_check(const struct ls_query *q, struct err *e);
/* The words for `states`; ends in NULL. */
extern const char *const ls_states[];
int ls_load(struct context *c, const struct ls_query *q, struct ls_view *ret, struct err *e);
void ls_release(struct ls_view *v);
#define auto_ls_view __attribute__((cleanup(ls_release))) struct ls_view

bool ls_wants_attention(const struct ls_row *r);
/* How many rows want attention, and how many run. */
void ls_count(const struct ls_view *v, size_t *ret_wanting, size_t *ret_running);

/* The lines of the table. width 0: as wide as it gets. */
void ls_table(struct context *c, const struct ls_view *v, size_t width, bool colours, struct strvec *ret);
/* What the table has no room for, one line each: files in conflict, disks that are nearly full. */
void ls_notes(const struct ls_view *v, struct strvec *ret);
json_t *ls_json(struct context *c, const struct ls_view *v);

/* Shows the list until the user quits; an exit code. */
int ls_watch(struct context *c, const struct ls_query *q, struct err *e);

#endif
