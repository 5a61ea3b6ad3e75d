/*
 * Bringing a checkout of the user's from one commit to another. Nothing of the user's is overwritten or lost:
 * the new files are made beside, then each takes its place in one step, in which what stood there is moved
 * out, looked at, and put back if it is not what it was when it was found to be clean.
 *
 *	update_open     where things are
 *	update_check    takes index.lock; says which paths of the user's are in the way
 *	update_stage    the new index and the new files, beside; the plan
 *	update_swap     the files into their places
 *	update_index    the new index into its place
 *	update_revert   all of it back to how it was, after a failure; after a crash, with update_open alone
 *	update_close    removes what was beside, lets go of index.lock
 *
 * Beside is ADMIN/garth-merge:
 *
 *	index        the new index; after update_index the old one
 *	lock         is linked to ADMIN/index.lock, so that one is known to be ours
 *	plan         the edits (edit.h)
 *	marks        of the two indexes
 *	files/tree/  the new files by their paths; those that they replace, later
 *	files/gone/  the removed ones by their number
 *
 * Where the checkout is on another file system, files/ is TOP/.garth-merge.
 */
#ifndef MERGE_UPDATE_H
#define MERGE_UPDATE_H

#include <stdbool.h>

#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "merge/edit.h"
#include "merge/place.h"

struct update {
	const struct repo *repo;
	const struct place *place;
	struct edits edits;
	char *beside, *files, *index; /* paths */
	int top, admin, beside_fd, files_fd;
	bool locked;
};

#define UPDATE_INIT                                                                                          \
	{                                                                                                    \
		.top = -1, .admin = -1, .beside_fd = -1, .files_fd = -1                                      \
	}

int update_open(struct update *u, const struct repo *r, const struct place *p, struct err *e);
/* ERR_CONFLICT with the paths, ERR_BUSY where another git is at work in the checkout. */
int update_check(struct update *u, const char *branch, const char *from, const char *to,
	struct strvec *in_the_way, struct err *e);
int update_stage(struct update *u, struct err *e);
/* ERR_CONFLICT, with the path, where a file was changed meanwhile. */
int update_swap(struct update *u, struct strvec *in_the_way, struct err *e);
int update_index(struct update *u, struct err *e);
/* Paths that are neither as they were nor as they were to become stay as they are, and are named in `left`.
 */
void update_revert(struct update *u, struct strvec *left);
void update_close(struct update *u);
#define auto_update __attribute__((cleanup(update_close))) struct update

/* The parts: */

/* Which of the edits' paths are not as the old commit has them, or not free (check.c). index has the bytes of
 * the checkout's index, as of `when`. */
int check_paths(struct update *u, const struct buf *index, const struct stat *when, struct strvec *in_the_way,
	struct err *e);

/* The way back of update_swap (swap.c). */
void swap_back(struct update *u, struct strvec *left);
/* Exchanges two files; `spare` is a free name, for file systems that cannot do it in one step. -1 and errno.
 */
int swap_files(int a, const char *name_a, int b, const char *name_b, int spare_dir, const char *spare);

#endif
