/* Makes a plan out of a draft: fills in values that stages take from the plan, the order of stages, the names of tasks. */
#ifndef PLAN_FINISH_H
#define PLAN_FINISH_H

#include "plan/rows.h"

/* Moves what it needs out of the draft. */
int plan_finish(struct plan_draft *d, const char *file, bool frozen, struct plan *ret, struct err *e);

/* Puts checks in the order of their kinds, then of the file. */
void plan_sort_checks(struct plan_check *v, size_t n);

/* Sets p->order and p->after, or says which stages wait for each other. */
int plan_sort(struct plan *p, struct err *e);

/* The value of p->digest; call it before plan_decide. On the heap. */
char *plan_digest(const struct plan *p);

/* The text of a stage in the file, without positions and without the decisions on `files`. `done`: also without the keys
 * that only matter while the stage runs. */
void plan_stage_text(const struct plan *p, const struct plan_stage *s, bool done, struct buf *out);

/* Adds a warning with its position, in the form of plan_error's messages. */
void plan_warn(struct plan *p, struct plan_place at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
