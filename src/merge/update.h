/*
 * Updates a checkout of the user from one commit to another without losing any of the user's files. The new
 * files are made in a directory beside it. Then each is put in place in one step, which moves the old file
 * out. That file is checked: if it is not the one that was found clean before, it is put back.
 *
 *	update_open     finds the paths
 *	update_check    takes index.lock; lists the user's files that are in the way
 *	update_stage    makes the new index, the new files and the plan, beside the checkout
 *	update_swap     puts the files in place
 *	update_index    puts the new index in place
 *	update_revert   undoes all of it after a failure; after a crash, with update_open alone
 *	update_close    removes the directory beside it and index.lock
 *
 * The directory is ADMIN/garth-merge:
 *
 *	index        the new index; after update_index the old one
 *	lock         hard link to ADMIN/index.lock, which shows that this lock is ours
 *	plan         the list of changes (edit.h)
 *	marks        of the two indexes
 *	files/tree/  the new files by their paths; later the files they have replaced
 *	files/gone/  the removed files by their number
 *
 * If the checkout is on another file system, files/ is TOP/.garth-merge.
 */
#ifndef MERGE_UPDATE_H
#define MERGE_UPDATE_H

#include <stdbool.h>

#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "merge/branch_checkout.h"
#include "merge/edit.h"

struct update {
	const struct repo *repo;
	const struct branch_checkout *place;
	struct edits edits;
	struct strvec lfs;            /* new files that have the content of an LFS pointer */
	char *beside, *files, *index; /* paths */
	int top, admin, beside_fd, files_fd;
	bool locked;
	bool folded; /* the user has a sparse index */
};

#define UPDATE_INIT                                                                                          \
	{                                                                                                    \
		.top = -1, .admin = -1, .beside_fd = -1, .files_fd = -1                                      \
	}

int update_open(struct update *u, const struct repo *r, const struct branch_checkout *p, struct err *e);
/* ERR_CONFLICT with the paths; ERR_BUSY if another git is working in the checkout. */
int update_check(struct update *u, const char *branch, const char *from, const char *to,
	struct strvec *in_the_way, struct err *e);
int update_stage(struct update *u, struct err *e);
/* ERR_CONFLICT, with the path, if a file was changed meanwhile. */
int update_swap(struct update *u, struct strvec *in_the_way, struct err *e);
int update_index(struct update *u, struct err *e);
/* A path that is neither the old file nor the new one stays as it is, and is listed in `left`. */
void update_revert(struct update *u, struct strvec *left);
void update_close(struct update *u);
#define auto_update __attribute__((cleanup(update_close))) struct update

/* The parts: */

/* Lists the paths of the edits that differ from the old commit, or that are not free (update_check.c). `index` is
 * the content of the checkout's index, `when` its stat data. */
int check_paths(struct update *u, const struct buf *index, const struct stat *when, struct strvec *in_the_way,
	struct err *e);

/* Undoes update_swap (swap.c). */
void swap_back(struct update *u, struct strvec *left);
/* Exchanges two files. `spare` is a free name, for file systems without an atomic exchange. -1 and errno. */
int swap_files(int a, const char *name_a, int b, const char *name_b, int spare_dir, const char *spare);

#endif
