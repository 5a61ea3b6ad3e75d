/* What a task has and what was just brought elsewhere has not. */
#ifndef CLI_REST_H
#define CLI_REST_H

#include <stdbool.h>

#include "task/context.h"

/* Warns of files that differ from the branch; whether there are any. done: "merged", "pushed". A look, not a
 * promise. */
bool rest_warn(struct context *c, struct task *t, const char *done);

#endif
