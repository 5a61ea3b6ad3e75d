/*
 * A task's own layers of the configuration (config/config.h), kept in its directory for its whole life: the
 * repository's file as it was when the task was made (repository.yaml, repository_config.h), the task file
 * (task.yaml), what the plan says of the stage that the task is (stage.yaml; for a ticket, before that, what it says of the
 * task that asked: parent.yaml), and limits that were changed for this task (limits.yaml, own_limits.h). A later one overrides an earlier one.
 */
#ifndef TASK_OWN_CONFIG_H
#define TASK_OWN_CONFIG_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"

/* Applies them to the user's configuration c. Does nothing if there are none, or task_dir is -1. */
int own_config_apply(struct config *c, int task_dir, struct err *e);
int own_config_keep_repository(int task_dir, const struct buf *text, struct err *e);
int own_config_keep_taskfile(int task_dir, const char *text, size_t len, struct err *e);
/* A file of the user's: it can have every key of the configuration. */
int own_config_keep_stage(int task_dir, const char *text, size_t len, struct err *e);
/* tickets.yaml, of `garth run --tickets`: how many tickets the task may have, in digits. It goes over the task file. */
int own_config_keep_tickets(int task_dir, const char *n, struct err *e);
/* What it says, on the heap. */
char *own_tickets_text(const char *n);
/* For a ticket: copies those of the task that asked. The repository's file is that of its own commit. */
int own_config_keep_parents(int task_dir, int parent_dir, struct err *e);

#endif
