/* What is done, and said, about a new task whose command could not be started. */
#ifndef RUNTIME_UNSTARTED_H
#define RUNTIME_UNSTARTED_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"
#include "task/context.h"

/* If the jail could not be entered, adds the reason to *e if the kernel is the reason. */
void unstarted_explain(struct err *e, bool weaker);
/* Discards a task in which nothing ever ran: it would block the next try with its name. */
void unstarted_drop(struct context *c, const struct task *t, const struct err *why);

#endif
