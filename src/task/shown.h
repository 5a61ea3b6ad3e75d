/*
 * Remembers which of the user's refs a task is shown, and which it was shown before, in the file `shown` of
 * its directory, which nothing inside can reach. Its lines are
 *
 *	OID REFNAME      shown now, sorted by name
 *	OID ~REFNAME     shown before
 *
 * It tells which refs inside the agent has not changed, and which commits the agent may build on. The user's
 * own refs keep the tags alive; branches are pinned (refs.h), since people rewrite them.
 */
#ifndef TASK_SHOWN_H
#define TASK_SHOWN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "store/store.h"
#include "task/context.h"

#define SHOWN_MAX ((size_t)128 << 20)
/* Stands for a name that is not known: earlier versions stored only the ids. */
#define SHOWN_NAMELESS "refs/garth/shown"

/* A directory of the Garth home; what is in it can be made again. */
#define SHOWN_CACHE "cache"

/* The refs that the repository shows a task now, as ref_shown lists them. */
int shown_now(const struct context *c, const struct repo *r, const char *target, const char *also,
	struct buf *ret, struct err *e);

/* A short digest of what is shown now, for the store and for comparison. */
void shown_name(const struct buf *now, char out[35]);
/* Whether task->shown is such a digest; earlier versions had another form. */
bool shown_is_known(const struct task *t);

/* Whether the repository would show the task something else now; `also` as for ref_shown. Runs git only if
 * one of the places where git stores refs was changed since. */
bool shown_has_changed(struct context *c, const struct repo *r, const struct task *t, const char *also);

/* The file's lines, from the task's directory or from the trash; empty if there is no file. */
int shown_read(const struct context *c, int64_t task, struct buf *ret, struct err *e);
/* Writes the file into the task's directory: `now` is shown from now on; what the file had becomes "shown
 * before". */
int shown_write(const struct context *c, int64_t task, const struct buf *now, struct err *e);

/* The commits of branches: those shown now and those shown before. */
void shown_branches(const struct buf *lines, struct strvec *now, struct strvec *before);
/* All ids, of commits and of tags. */
void shown_ids(const struct buf *lines, struct strvec *ret);

#endif
