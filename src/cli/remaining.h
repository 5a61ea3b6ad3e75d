/* Messages about what is left of a task after a merge, a push or a removal. */
#ifndef CLI_REMAINING_H
#define CLI_REMAINING_H

#include <stdbool.h>

#include "task/context.h"

/* Warns about files that differ from the branch; returns whether there are any. done: "merged", "pushed". The
 * agent may change files at the same time, so this is no guarantee. */
bool remaining_warn(struct context *c, struct task *t, const char *done);
/* Tells the user that the branch of a removed task is kept because it is checked out somewhere, and how to
 * delete it. The same for its branches in submodules' repositories, unless the task is archived. */
void remaining_tell_branch(struct context *c, const struct task *t);
/* Tells which of the branches in submodules' repositories are kept, and what to do. */
struct submodule_refs;
void remaining_tell_submodules(struct context *c, const struct task *t, const struct submodule_refs *refs);

#endif
