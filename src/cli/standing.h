/* How tasks relate to their targets and to each other, for ls and show (G11). What git was asked once about
 * two commits, the store remembers. */
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
	bool known; /* false: no target, or it is gone */
	struct divergence divergence;
	struct conflict_list conflicts;
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
/* "b, c: x, y" for every set of others that share their paths, in order: what a task conflicts with. `told`
 * tells which to leave out, by their index in conflicts; NULL leaves out none. */
void standing_conflict_lines(
	const struct task *t, const struct standing *s, const bool *told, struct strvec *ret);
void standing_json(const struct standing *s, json_t *o);

#endif
