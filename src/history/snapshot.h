/*
 * Snapshots of a task (T3). A snapshot is the branch's tip, which a ref keeps (task/refs.h), and, if somebody asked
 * for it or before something risky, the state of the workspace beyond it: uncommitted and ignored files, as a pack of
 * objects in tasks/<id>/snapshots/<number>.pack. The state is read from outside, beneath descriptors.
 */
#ifndef HISTORY_SNAPSHOT_H
#define HISTORY_SNAPSHOT_H

#include <stdint.h>

#include "base/err.h"
#include "inside/inside.h"
#include "workspace/review.h"

/* *left is what it cannot hold. */
int snapshot_take(struct inside *in, const char *reason, const char *message, int64_t *ret_number,
	struct review_left *left, struct err *e);
/* Sends the objects of a snapshot's kept state in, as a pack. */
int snapshot_send_state(struct inside *in, int64_t number, struct err *e);

#endif
