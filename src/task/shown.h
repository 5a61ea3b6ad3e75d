/*
 * What a task is shown of the user's refs, and was shown before: the file `shown` in its directory, which
 * nothing inside can reach. Its lines are
 *
 *	OID REFNAME      shown now, sorted by name
 *	OID ~REFNAME     shown before
 *
 * It tells which refs inside are as the agent found them, and which commits the agent may build on. The
 * user's own refs hold what is shown now, but for the branches among them, which people rewrite: those are
 * pinned (refs.h).
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
/* Instead of a name that is not known any more: an earlier version kept the ids alone. */
#define SHOWN_NAMELESS "refs/garth/shown"

/* A short name for what is shown now, for store and comparison. */
void shown_name(const struct buf *now, char out[35]);
/* Whether the task has such a name: an earlier version had another. */
bool shown_is_known(const struct task *t);

/* Whether the repository would show the task something else by now; `also` as for ref_shown. Where no place
 * that git has refs in was written to since, git is not asked. */
bool shown_has_changed(struct context *c, const struct repo *r, const struct task *t, const char *also);

/* The file's lines, out of the task's directory or the trash; nothing where there is no file. */
int shown_read(const struct context *c, int64_t task, struct buf *ret, struct err *e);
/* Writes it into the task's directory: `now` is shown from now on, and what the file says was shown before.
 */
int shown_write(const struct context *c, int64_t task, const struct buf *now, struct err *e);

/* The commits of branches, those that are shown now and those that were. */
void shown_branches(const struct buf *lines, struct strvec *now, struct strvec *before);
/* All ids, of commits and tags. */
void shown_ids(const struct buf *lines, struct strvec *ret);

#endif
