/* How tasks relate to their targets and to each other, for ls and show (G11). The store caches git's answers
 * about pairs of commits. */
#ifndef CLI_STANDING_H
#define CLI_STANDING_H

#include <jansson.h>
#include <stdbool.h>

#include "base/strvec.h"
#include "merge/conflicts.h"
#include "merge/merge.h"
#include "store/store.h"
#include "task/context.h"

struct standing {
	bool known; /* false: there is no target, or it is gone */
	struct divergence divergence;
	struct conflict_list conflicts;
};

void standing_release(struct standing *s);
#define auto_standing __attribute__((cleanup(standing_release))) struct standing

/* all: the tasks to compare with. What cannot be found out stays unknown. */
void standing_find(
	struct context *c, const struct task *t, const struct task_list *all, struct standing *ret);
/* "synced", "ahead", "behind", "diverged", "unknown". */
const char *standing_word(const struct standing *s);
/* "+2 -1", "=" for synced, "" for unknown, in the caller's buffer. */
const char *standing_sign(const struct standing *s, char *out, size_t len);
/* "b, c: x, y" for each set of tasks that conflict about the same paths, in order. told[i]: leave out
 * conflict i; told may be NULL. */
void standing_conflict_lines(
	const struct task *t, const struct standing *s, const bool *told, struct strvec *ret);
void standing_json(const struct standing *s, json_t *o);

#endif
