/* What the plan says of a stage, as a layer of the configuration of the stage's task (task/own_config.h). */
#ifndef PLAN_STAGE_CONFIG_H
#define PLAN_STAGE_CONFIG_H

#include "base/buf.h"
#include "plan/plan.h"

/* JSON, which is YAML. */
void stage_config(const struct plan_stage *s, struct buf *out);

#endif
