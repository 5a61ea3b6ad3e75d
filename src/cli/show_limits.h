/* A task's limits for `garth show`, and how much of each is used. */
#ifndef CLI_SHOW_LIMITS_H
#define CLI_SHOW_LIMITS_H

#include <jansson.h>
#include <stdbool.h>

#include "task/context.h"
#include "task/task.h"

struct limit_used {
	const char *key; /* as in the configuration, without "limits." */
	const char *what;
	bool size; /* in bytes */
	uint64_t used, limit;
};

#define LIMITS_SHOWN 5
struct limits_used {
	struct limit_used v[LIMITS_SHOWN];
};

/* What is published, and what is on disk. Applies the task file's settings to c's configuration. */
int limits_used(struct context *c, struct task_at *at, struct limits_used *ret, struct err *e);
void limits_show(const struct limits_used *l, const struct task *t);
/* {"max_disk": {"used": …, "limit": …}, …} */
json_t *limits_json(const struct limits_used *l);
/* Bytes on disk. */
uint64_t limits_disk(const struct limits_used *l);

#endif
