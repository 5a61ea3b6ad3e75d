/* What is left over: of a task that was brought elsewhere, and of one that was removed. */
#ifndef CLI_REST_H
#define CLI_REST_H

#include <stdbool.h>

#include "task/context.h"

/* Warns of files that differ from the branch; whether there are any. done: "merged", "pushed". A look, not a
 * promise. */
bool rest_warn(struct context *c, struct task *t, const char *done);
/* Says that the branch of a task that was removed stays, where a checkout has it, and how it goes. */
void rest_tell_branch(struct context *c, const struct task *t);

#endif
