/*
 * Stores a task's review in tasks/<id>/review: the file that the user edits, until its comments are sent, and the
 * commit that was last shown. It is a separate directory, because editors leave files beside the one that they edit.
 *
 *	review_dir_open(task_dir, &k, e)     ERR_BUSY: another command has the review open
 *	review_dir_read / review_dir_write / review_dir_remove
 *	review_dir_close(&k)
 */
#ifndef FEEDBACK_REVIEW_DIR_H
#define FEEDBACK_REVIEW_DIR_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/oid.h"

/* The file beneath the task's directory. Its ending tells editors what it is. */
#define REVIEW_FILE "review/review.diff"
#define KEPT_MAX    (130u << 20)

struct review_dir {
	int dir, lock;
};
#define REVIEW_DIR_INIT                                                                                      \
	{                                                                                                    \
		.dir = -1, .lock = -1                                                                        \
	}

int review_dir_open(int task_dir, struct review_dir *ret, struct err *e);
void review_dir_close(struct review_dir *k);
#define auto_review_dir __attribute__((cleanup(review_dir_close))) struct review_dir

/* ERR_NOTFOUND if there is none. */
int review_dir_read(const struct review_dir *k, struct buf *out, struct err *e);
int review_dir_write(const struct review_dir *k, const struct buf *text, struct err *e);
void review_dir_remove(const struct review_dir *k);
/* Whether a review with comments is kept. */
bool review_dir_has_comments(int task_dir);

/* The commit that the user has seen last; "" if none. */
void review_dir_shown(int task_dir, char out[OID_SIZE]);
int review_dir_set_shown(int task_dir, const char *tip, struct err *e);

#endif
