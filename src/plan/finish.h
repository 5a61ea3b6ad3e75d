/* Makes a plan of what a file says: values that come from the plan, stages' order, names of tasks. */
#ifndef PLAN_FINISH_H
#define PLAN_FINISH_H

#include "plan/rows.h"

/* Takes what it needs out of the draft. */
int plan_finish(struct plan_draft *d, const char *file, bool frozen, struct plan *ret, struct err *e);

/* Puts checks in the order of their kinds, then of the file. */
void plan_sort_checks(struct plan_check *v, size_t n);

/* Sets p->order and p->after, or says which stages wait for each other. */
int plan_sort(struct plan *p, struct err *e);

/* What p->digest is, before plan_decide; on the heap. */
char *plan_digest(const struct plan *p);

/* What the file says of a stage, without places and what was decided of `files`. `done`: without what only matters while it
 * is done. */
void plan_stage_text(const struct plan *p, const struct plan_stage *s, bool done, struct buf *out);

/* Adds a warning with a place, in the form of plan_error's messages. */
void plan_warn(struct plan *p, struct plan_place at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
