/* A task's limits, as `garth show` tells them: what it has used of each. */
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

/* What is published, and what is on disk. The task's own configuration is laid over c's. */
int limits_used(struct context *c, struct task_at *at, struct limits_used *ret, struct err *e);
void limits_show(const struct limits_used *l);
/* {"max_disk": {"used": …, "limit": …}, …} */
json_t *limits_json(const struct limits_used *l);
/* Bytes on disk. */
uint64_t limits_disk(const struct limits_used *l);

#endif
