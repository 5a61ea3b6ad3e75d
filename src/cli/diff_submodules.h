/* `garth diff` of a task's submodules: compares their files, or their published commits, with the commit that the
 * superproject names at the point where the task's branch left its target. */
#ifndef CLI_DIFF_SUBMODULES_H
#define CLI_DIFF_SUBMODULES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "task/task.h"

/* Appends to the file `to`: patches whose paths begin at the top of the workspace, or a table for each submodule.
 * `paths` are the user's, from the top of the workspace; empty: everything. */
int diff_submodules(struct task_at *at, bool stat, const struct strvec *paths, int to, struct err *e);
/* The same for published commits: from the commit that `fork` names to the one that `tip` names. */
int diff_submodules_published(struct task_at *at, const char *fork, const char *tip, bool stat,
	const struct strvec *paths, int to, struct err *e);
/* Adds lines "M libs/mod/file". */
int diff_submodules_names(struct task_at *at, struct strvec *ret, struct err *e);

#endif
