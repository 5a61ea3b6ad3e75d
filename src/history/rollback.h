/*
 * Rolls a task back to a snapshot (T3). git inside restores the files, and the published branch moves to the
 * same commit. A snapshot is taken first, so the rollback can be undone. Blocks.
 */
#ifndef HISTORY_ROLLBACK_H
#define HISTORY_ROLLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "inside/inside.h"
#include "workspace/review.h"

struct rollback_spec {
	bool full;        /* to the start: the base, and no other files */
	int64_t snapshot; /* its number; 0: none */
	const char *file; /* only this path, from the snapshot or, if that is 0, from the branch's tip */
	bool force;       /* go on even if files are lost that no snapshot can hold */
	bool undo;        /* this undoes a rollback: no deed is recorded */
};

/* *ret_before is the number of the snapshot that was taken first. *left are files that stay as they are; if
 * one cannot stay, nothing is changed (ERR_REFUSED). *stashed are paths of submodules whose uncommitted changes
 * are in their stash now. */
int rollback(struct inside *in, const struct rollback_spec *s, int64_t *ret_before, struct review_left *left,
	struct strvec *stashed, struct err *e);

/* rollback_file.c: rolls one path back. `from` is the snapshot that s names, if it names one. */
int rollback_file(struct inside *in, const struct rollback_spec *s, const struct snapshot *from,
	int64_t *ret_before, struct review_left *left, struct err *e);

/* Whether the paths are equal or one is a directory above the other. */
bool rollback_paths_meet(const char *a, const char *b);

/* Restores the inside to a snapshot, except for *left, which it could not hold. The published branch does not
 * move. */
int rollback_restore(struct inside *in, int64_t snapshot, const struct review_left *left, struct err *e);
/* Moves the published branch to a commit that the shared repository has, for the user. Recorded first;
 * compare-and-swap. */
int rollback_move_branch(struct inside *in, const char *commit, const char *by, struct err *e);

/* Files that Garth brought in (rollback_layers.c). rollback_find_layers lists the places of an overlay's layers
 * that the task has not changed, for `git clean` to leave alone; rollback_restore_layers restores the others,
 * except those that meet a path of `skip`. */
int rollback_find_layers(struct inside *in, struct strvec *unchanged, struct err *e);
int rollback_restore_layers(
	struct inside *in, const struct strvec *unchanged, const struct strvec *skip, struct err *e);

#endif
