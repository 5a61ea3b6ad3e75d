/* Publishes commits of a task's submodules, each to the user's repository of that submodule, by the same steps and rules
 * as the task's own commits (publish.h). Blocks. */
#ifndef PUBLISH_SUBMODULES_H
#define PUBLISH_SUBMODULES_H

#include "publish/publish.h"

/* Publishes from the n-th submodule (submodules_load). tip NULL: git inside says which commit. pack: as for
 * publish_offered, -1 for none. ERR_USAGE if there is no such submodule in the task. */
int publish_submodule(struct publisher *pub, size_t n, const char *tip, const char *by, int pack,
	struct publish_result *ret, struct refusal *no, struct err *e);
/* Publishes all unpublished commits of the submodules, nested ones first, so that gitlinks can name them. After a failure
 * it continues with the others; the first error is returned, and *ret_failed (on the heap) is the path. */
int publish_submodules(
	struct publisher *pub, const char *by, char **ret_failed, struct refusal *no, struct err *e);

#endif
