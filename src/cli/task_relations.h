/* How tasks relate to their targets and to each other, for ls and show (G11). The store caches git's answers
 * about pairs of commits. */
#ifndef CLI_TASK_RELATIONS_H
#define CLI_TASK_RELATIONS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/strvec.h"
#include "merge/conflicts.h"
#include "merge/merge.h"
#include "store/store.h"
#include "task/context.h"

struct relations {
	bool known; /* false: there is no target, or it is gone */
	struct divergence divergence;
	struct conflict_list conflicts;
};

void relations_release(struct relations *s);
#define auto_relations __attribute__((cleanup(relations_release))) struct relations

/* all: the tasks to compare with. What cannot be found out stays unknown. */
void relations_find(
	struct context *c, const struct task *t, const struct task_list *all, struct relations *ret);
/* "synced", "ahead", "behind", "diverged", "unknown". */
const char *relations_word(const struct relations *s);
/* "+2 -1", "=" for synced, "" for unknown, in the caller's buffer. */
const char *relations_sign(const struct relations *s, char *out, size_t len);
/* "b, c: x, y" for each set of tasks that conflict about the same paths, in order. told[i]: leave out
 * conflict i; told may be NULL. */
void relations_conflict_lines(
	const struct task *t, const struct relations *s, const bool *told, struct strvec *ret);
void relations_json(const struct relations *s, json_t *o);

#endif
