/*
 * Snapshots of a task and the way back to them (T3).
 *
 * A snapshot is the branch's tip, which a ref keeps (task/refs.h), and, where somebody asked or before
 * something risky, the state of the workspace beyond it: uncommitted and ignored files, as a pack of objects
 * in tasks/<id>/snapshots/<number>.pack. The state is read from outside, beneath descriptors.
 *
 * Going back is done by git inside, the published branch moves along, and before it a snapshot is taken, so
 * that it can itself be taken back.
 */
#ifndef HISTORY_HISTORY_H
#define HISTORY_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "inside/inside.h"
#include "workspace/review.h"

/* *left is what it cannot hold. */
int snapshot_take(struct inside *in, const char *reason, const char *message, int64_t *ret_number,
	struct review_left *left, struct err *e);

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

/* Sends the objects of a snapshot's kept state in, as a pack. */
int history_send_state(struct inside *in, int64_t number, struct err *e);
/* Whether one of two paths is the other, or is in it. */
bool history_paths_meet(const char *a, const char *b);

/* The inside as the snapshot has it, but for what it could not hold; the published branch stays where it is.
 */
int history_restore(struct inside *in, int64_t snapshot, const struct review_left *left, struct err *e);
/* Moves the published branch to a commit that the shared repository has, on the user's word: recorded first,
 * compare-and-swap. */
int history_move(struct inside *in, const char *commit, const char *by, struct err *e);

#endif
