/* How tasks stand to their targets and to each other, for ls and show (G11): what git was asked once about
 * two commits, the store knows from then on. */
#ifndef CLI_STANDING_H
#define CLI_STANDING_H

#include <jansson.h>
#include <stdbool.h>

#include "base/strvec.h"
#include "merge/merge.h"
#include "store/store.h"
#include "task/context.h"

struct standing {
	bool known; /* false: no target, or it is gone */
	struct divergence divergence;
	struct strvec conflicts; /* "TASK: path, path" */
};

void standing_release(struct standing *s);
#define auto_standing __attribute__((cleanup(standing_release))) struct standing

/* all: the tasks to look for conflicts among. What cannot be found out stays unknown. */
void standing_find(
	struct context *c, const struct task *t, const struct task_list *all, struct standing *ret);
/* "synced", "ahead", "behind", "diverged", "unknown". */
const char *standing_word(const struct standing *s);
/* "+2 -1", "=" for synced, "" for unknown; a buffer of the caller's. */
const char *standing_sign(const struct standing *s, char *out, size_t len);
void standing_json(const struct standing *s, json_t *o);

#endif
