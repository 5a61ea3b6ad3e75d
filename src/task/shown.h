/*
 * Remembers which of the user's refs a task is shown, and which it was shown before, in the file `shown` of
 * its directory, which nothing inside can reach. Its lines are
 *
 *	OID REFNAME      shown now, sorted by name
 *	OID ~REFNAME     shown before
 *
 * A long list of tags that are shown now is in a file of its own, `shown-tags`. All tasks have the same one, if they are
 * shown the same tags: a hard link to a list that is kept in the Garth home.
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
/* A long list of tags in it: this and its digest. */
#define SHOWN_LIST SHOWN_CACHE "/list-"
/* A list is long if it has as many bytes. git is as fast with shorter ones. */
#define SHOWN_LONG ((size_t)64 << 10)

struct shown {
	struct buf lines; /* "OID REFNAME", sorted by name */
	size_t tags;      /* where a long list of tags begins, with which the lines end; else their length */
	char digest[33];  /* of that list */
};
#define SHOWN_INIT                                                                                           \
	{                                                                                                    \
		.lines = BUF_INIT(SHOWN_MAX)                                                                 \
	}
void shown_release(struct shown *s);
#define auto_shown __attribute__((cleanup(shown_release))) struct shown
/* Finds the long list after the lines were added; its digest is computed. */
void shown_find_tags(struct shown *s);

/* The refs that the repository shows a task now, as ref_shown lists them. */
int shown_now(const struct context *c, const struct repo *r, const char *target, const char *also,
	struct shown *ret, struct err *e);
/* A digest, as hexadecimal digits. */
void shown_digest(const void *data, size_t len, char out[33]);

/* A short digest of what is shown now, for the store and for comparison. */
void shown_name(const struct shown *now, char out[35]);
/* Whether task->shown is such a digest; earlier versions had another form. */
bool shown_is_known(const struct task *t);

/* Whether the repository would show the task something else now; `also` as for ref_shown. Runs git only if
 * one of the places where git stores refs was changed since. */
bool shown_has_changed(struct context *c, const struct repo *r, const struct task *t, const char *also);

/* The lines, from the task's directory or from the trash; empty if there are none. */
int shown_read(const struct context *c, int64_t task, struct buf *ret, struct err *e);
/* The same without a long list of tags that are shown now. */
int shown_read_branches(const struct context *c, int64_t task, struct buf *ret, struct err *e);
/* Writes them into the task's directory: `now` is shown from now on; what was there becomes "shown before". */
int shown_write(const struct context *c, int64_t task, const struct shown *now, struct err *e);

/* The commits of branches: those shown now and those shown before. */
void shown_branches(const struct buf *lines, struct strvec *now, struct strvec *before);
/* All ids, of commits and of tags. */
void shown_ids(const struct buf *lines, struct strvec *ret);

#endif
