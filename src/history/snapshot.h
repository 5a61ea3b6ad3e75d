/*
 * Snapshots of a task (T3). A snapshot is the branch's tip, kept by a ref (task/refs.h). If the user asked
 * for it, or before something risky, it also has the state of the workspace: uncommitted and ignored files,
 * packed into tasks/<id>/snapshots/<number>.pack. These files are read from outside, beneath descriptors.
 * Both functions block.
 */
#ifndef HISTORY_SNAPSHOT_H
#define HISTORY_SNAPSHOT_H

#include <stdint.h>

#include "base/err.h"
#include "inside/inside.h"
#include "workspace/review.h"

/* *left are the files that the snapshot cannot hold. */
int snapshot_take(struct inside *in, const char *reason, const char *message, int64_t *ret_number,
	struct review_left *left, struct err *e);
/* Sends the objects of a snapshot's state into the task, as a pack. */
int snapshot_send_state(struct inside *in, int64_t number, struct err *e);

#endif
