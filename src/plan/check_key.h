/* What a check's result depends on, as a digest: the commit's tree, the check with its set-up, and the walls. */
#ifndef PLAN_CHECK_KEY_H
#define PLAN_CHECK_KEY_H

#include <stdbool.h>

#include "plan/job.h"

/* Whether a check names its stage, and so differs from stage to stage: only then its command gets the variable STAGE_ID. */
bool check_names_stage(const struct plan_stage *s, const struct plan_check *k);

/* The walls of checks as the user's configuration (without any task's own layers) and the environment describe them; on the
 * heap. `layers` are the files that tasks get in addition to their commit. */
char *check_walls(const struct config *c, const struct strvec *layers);
/* `s` is the check's stage; NULL for a check of the plan. The walls are those of j. On the heap. */
char *check_key(
	const struct stage_job *j, const char *tree, const struct plan_check *k, const struct plan_stage *s);

#endif
