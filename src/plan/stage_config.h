/* Makes the layer of configuration for a stage's task (task/own_config.h) from what the plan says about the stage. */
#ifndef PLAN_STAGE_CONFIG_H
#define PLAN_STAGE_CONFIG_H

#include "base/buf.h"
#include "config/config.h"
#include "plan/job.h"

/* Writes JSON, which is also YAML. `user` is the user's own configuration. The files of a ticket are within those of the task
 * that asked for it, and it can have no tickets itself. */
void stage_config(const struct config *user, const struct stage_job *j, struct buf *out);

#endif
