/* What the plan says of a stage, as a layer of the configuration of the stage's task (task/own_config.h). */
#ifndef PLAN_STAGE_CONFIG_H
#define PLAN_STAGE_CONFIG_H

#include "base/buf.h"
#include "config/config.h"
#include "plan/job.h"

/* JSON, which is YAML. `user` is the user's own configuration. A ticket's files are within those of the task that asked, and
 * it has no tickets itself. */
void stage_config(const struct config *user, const struct stage_job *j, struct buf *out);

#endif
