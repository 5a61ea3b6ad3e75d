/*
 * Going back to a snapshot (T3). Git inside does it, and the published branch moves along. A snapshot is taken before,
 * so that the rollback can itself be taken back.
 */
#ifndef HISTORY_ROLLBACK_H
#define HISTORY_ROLLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "inside/inside.h"
#include "workspace/review.h"

struct rollback_spec {
	bool full;        /* to the start: the base, and nothing beside it */
	int64_t snapshot; /* its number; 0 for none */
	const char *file; /* only this path, from the snapshot or (0) from the branch's tip */
	bool force;       /* what no snapshot holds goes too */
	bool undo;        /* of a rollback: no deed by itself */
};

/* *ret_before is the number of the snapshot that was taken before. *left stays where it is: what cannot stay
 * is a reason not to begin (ERR_REFUSED). */
int rollback(struct inside *in, const struct rollback_spec *s, int64_t *ret_before, struct review_left *left,
	struct err *e);

/* rollback_file.c: the same for one path. `from` is the snapshot that s names, if it names one. */
int rollback_file(struct inside *in, const struct rollback_spec *s, const struct snapshot *from,
	int64_t *ret_before, struct review_left *left, struct err *e);

/* Whether one of two paths is the other, or is in it. */
bool rollback_paths_meet(const char *a, const char *b);

/* The inside as the snapshot has it, but for what it could not hold; the published branch stays where it is.
 */
int rollback_restore(struct inside *in, int64_t snapshot, const struct review_left *left, struct err *e);
/* Moves the published branch to a commit that the shared repository has, on the user's word: recorded first,
 * compare-and-swap. */
int rollback_move_branch(struct inside *in, const char *commit, const char *by, struct err *e);

#endif
