/*
 * Limits that the user sets for one task (`--limit NAME=VALUE`), kept in tasks/<id>/limits.yaml, one key a line. They
 * override the task file (own_config.h). NAME is a key below `limits`.
 *
 * Both functions return ERR_USAGE if a name or a value is invalid.
 */
#ifndef TASK_OWN_LIMITS_H
#define TASK_OWN_LIMITS_H

#include "base/err.h"
#include "base/strvec.h"
#include "config/config.h"

#define OWN_LIMITS "limits.yaml"

/* Applies them to c. */
int own_limits_try(struct config *c, const struct strvec *limits, struct err *e);
/* Changes them for the whole life of the task: all, or none if one is invalid. */
int own_limits_set(int task_dir, const struct strvec *limits, struct err *e);

#endif
