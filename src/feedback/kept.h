/*
 * What is kept of a task's reviews, in tasks/<id>/review: the file that the user edits, until its comments are sent,
 * and the commit that was last shown. A directory of its own, because editors leave files beside the one that they
 * edit.
 *
 *	kept_open(task_dir, &k, e)     ERR_BUSY: another command has the review open
 *	kept_read / kept_write / kept_remove
 *	kept_close(&k)
 */
#ifndef FEEDBACK_KEPT_H
#define FEEDBACK_KEPT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/oid.h"

/* The file beneath the task's directory. Its ending tells editors what it is. */
#define KEPT_FILE "review/review.diff"
#define KEPT_MAX  (130u << 20)

struct kept {
	int dir, lock;
};
#define KEPT_INIT                                                                                            \
	{                                                                                                    \
		.dir = -1, .lock = -1                                                                        \
	}

int kept_open(int task_dir, struct kept *ret, struct err *e);
void kept_close(struct kept *k);
#define auto_kept __attribute__((cleanup(kept_close))) struct kept

/* ERR_NOTFOUND if there is none. */
int kept_read(const struct kept *k, struct buf *out, struct err *e);
int kept_write(const struct kept *k, const struct buf *text, struct err *e);
void kept_remove(const struct kept *k);
/* Whether a review with comments is kept. */
bool kept_has_comments(int task_dir);

/* The commit that the user has seen last; "" if none. */
void kept_shown(int task_dir, char out[OID_SIZE]);
int kept_set_shown(int task_dir, const char *tip, struct err *e);

#endif
