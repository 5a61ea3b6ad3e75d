/* What a check's result depends on, as a digest: the commit's tree, the check with its set-up, and the walls. */
#ifndef PLAN_CHECK_KEY_H
#define PLAN_CHECK_KEY_H

#include <stdbool.h>

#include "plan/job.h"

/* Whether a check is another one for each stage: only then its command has the variable STAGE_ID. */
bool check_names_stage(const struct plan_stage *s, const struct plan_check *k);

/* What the user's configuration, without any task's own layers, and the environment say of the walls of checks; on the heap.
 * The layers are the files that tasks get beside their commit. */
char *check_walls(const struct config *c, const struct strvec *layers);
/* `s` is the stage that the check is of; NULL: it is the plan's. The walls are those of j. On the heap. */
char *check_key(
	const struct stage_job *j, const char *tree, const struct plan_check *k, const struct plan_stage *s);

#endif
