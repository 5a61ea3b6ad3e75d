/* Makes the layer of configuration for a stage's task (task/own_config.h) from what the plan says about the stage. */
#ifndef PLAN_STAGE_CONFIG_H
#define PLAN_STAGE_CONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "config/config.h"
#include "plan/plan.h"

/* Writes JSON, which is also YAML. `user` is the user's own configuration. `ticket`: the files of a ticket are within those
 * of the task that asked for it, and it can have no tickets itself. */
void stage_config(const struct config *user, const struct plan_stage *s, bool ticket, struct buf *out);

#endif
