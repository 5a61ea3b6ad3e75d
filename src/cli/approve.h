/* Shows what a repository's file asks for, and asks the user to approve it (task/approval.h). */
#ifndef CLI_APPROVE_H
#define CLI_APPROVE_H

#include <stdio.h>

#include "config/config.h"
#include "task/context.h"

/* What is asked for, cleaned of characters that a terminal would not show as they are. */
void approve_show(FILE *out, const struct config *config);
/* Asks on the terminal. ERR_REFUSED if the answer is not yes, or there is no terminal. For task_spec.approve. */
int approve_on_terminal(struct context *c, int64_t project, const struct config *config, struct err *e);

#endif
