/* What a task has and what was just brought elsewhere has not. */
#ifndef CLI_REST_H
#define CLI_REST_H

#include "task/context.h"

/* Warns of files that differ from the branch. done: "merged", "pushed". A look, not a promise. */
void rest_warn(struct context *c, struct task *t, const char *done);

#endif
