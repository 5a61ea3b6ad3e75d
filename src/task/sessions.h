/*
 * The sessions of a task (A3). An agent's session is $GARTH_SESSION inside; its children inherit it. All runs and
 * commands of a task share one, its main session; `garth run --in TASK` gives a second agent its own. A session id
 * that comes in a header can only choose among the task's own (G2).
 *
 * tasks/<id>/sessions has a line for each that is not a run's: "UUID main", "UUID own". The inside cannot see it.
 */
#ifndef TASK_SESSIONS_H
#define TASK_SESSIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"

#define SESSIONS_FILE "sessions"
#define SESSIONS_MAX  1000

/* The main session: that of its runs; before the first one, the one that commands have, which is made if there is
 * none. dir is the task's directory. */
int sessions_main(const struct task *t, int dir, char out[37], struct err *e);
/* Makes a session beside the main one. ERR_REFUSED if there are SESSIONS_MAX. */
int sessions_add(int dir, char out[37], struct err *e);
/* Whether the id is one of the task's. *ret_own: it is not the main one. */
bool sessions_has(const struct task *t, int dir, const char *id, bool *ret_own);

#endif
