/*
 * The states of a stage and of a plan, and one table of the allowed changes between a stage's states.
 *
 *	waiting → [approval] → ready → running → checking → [approval] → queued → merging → done
 *
 * waiting stages that it needs are not done approval a person has to agree: to its start, or to the commit that was checked
 * ready it can start, when there is room running its agent works checking its commit is checked queued its commit passed,
 * and waits for its turn to be merged merging it is merged into the integration branch, which is checked first if that
 * makes another tree asking the agent has a question, or needs the user's permission for a path quota-until its model takes
 * no more requests until a certain time rework its agent is told next what is wrong, and continues conflict it cannot be
 * merged; a person has to solve the conflict held a person has stopped it for a while
 *
 * done, failed, skipped and cancelled are final; a person can let a stage in any of them but `done` try again.
 */
#ifndef PLAN_STAGE_LIFE_H
#define PLAN_STAGE_LIFE_H

#include <stdbool.h>

#include "base/err.h"
#include "store/plan.h"

/* What a stage waits for: approval of its start or of its commit; or, while `asking`, the user's permission for a path. */
#define GATE_BEFORE "before"
#define GATE_AFTER  "after"
#define GATE_PATH   "path"
/* The value of `approved` for a stage whose start was approved. */
#define APPROVED_START "start"

/* The states of a plan. */
#define PLAN_MAKING    "making"
#define PLAN_RUNNING   "running"
#define PLAN_DONE      "done"   /* all its stages are done; whether it is merged says plan_row.merged */
#define PLAN_FAILED    "failed" /* nothing can go on any more, and not all stages are done */
#define PLAN_CANCELLED "cancelled"

bool stage_is(const struct stage_row *s, const char *state);
/* Whether it is in a final state. */
bool stage_is_over(const struct stage_row *s);
/* Whether stages that need it can start. */
bool stage_satisfies(const struct stage_row *s);
bool stage_life_allows(const char *from, const char *to);

/* Changes the state in the store, and writes whatever else the caller has changed in the struct. The note is for people.
 * ERR_REFUSED if the table does not allow the change; ERR_BUSY if the row was changed meanwhile: then the struct must not
 * be used any more. */
int stage_move(struct store *s, struct stage_row *r, const char *to, struct err *e, const char *note, ...)
	__attribute__((format(printf, 5, 6)));

/* Replaces a text of the struct. */
void stage_set(char **text, const char *value);

#endif
