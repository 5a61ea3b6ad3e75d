/* Messages about what is left of a task after a merge, a push or a removal. */
#ifndef CLI_REST_H
#define CLI_REST_H

#include <stdbool.h>

#include "task/context.h"

/* Warns about files that differ from the branch; returns whether there are any. done: "merged", "pushed". The
 * agent may change files at the same time, so this is no guarantee. */
bool rest_warn(struct context *c, struct task *t, const char *done);
/* Tells the user that the branch of a removed task is kept because it is checked out somewhere, and how to
 * delete it. */
void rest_tell_branch(struct context *c, const struct task *t);

#endif
