/*
 * What the tickets of a task (store/ticket.h) mean for the task's own life. What a ticket is, and how it is run:
 * plan/tickets.h.
 *
 * A ticket is finished when its commit has passed its checks, and merged when the branch of the task that asked has that
 * commit, whoever merged it. A merge is not recorded when it happens: tickets_settle finds out later.
 */
#ifndef TASK_TICKETS_H
#define TASK_TICKETS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "store/plan.h"
#include "task/context.h"

/* A file in the directory of a task that has tickets. The runner of the tickets watches it: after moving the task's branch,
 * call tickets_tell, which opens it for writing. */
#define TICKETS_FILE "tickets"

bool tickets_are_there(int task_dir);
void tickets_tell(int task_dir);

/* Moves finished tickets whose commit the task has published to `done`. It asks git about each; a caller that looks
 * repeatedly keeps the answers in *unmerged, which is empty at first (NULL: answers are not kept). */
int tickets_settle(struct context *c, const struct repo *r, const struct task *t, struct strvec *unmerged,
	struct err *e);

/* Names those that are neither merged nor given up: "t1 (running), t2 (finished)". Nothing is added if there are none. */
int tickets_open(
	struct context *c, const struct repo *r, const struct task *t, struct buf *out, struct err *e);

/* Called when the task is discarded. ERR_REFUSED, with the names, if the task of a ticket runs, or has work that no option
 * gives up; else all of them go to the trash, or to be packed if the task is. With `look` nothing is removed. */
struct discard_opts;
int tickets_discard(
	struct context *c, const struct task *t, const struct discard_opts *o, bool look, struct err *e);

/* Whether the task has ever had tickets; false if it cannot be looked at. */
bool tickets_had(struct context *c, const struct task *t);

/* ERR_REFUSED if the task belongs to a ticket: the task that asked for it has to merge it. */
int tickets_refuse_merge(struct context *c, const struct task *t, struct err *e);

/* ERR_REFUSED if the task belongs to a ticket, or has tickets: their names, and their refs inside, contain its name. */
int tickets_refuse_rename(struct context *c, const struct task *t, struct err *e);

/* Whether the task has ended its run to wait for its tickets, and is going to be resumed. */
bool tickets_waits(struct context *c, const struct task *t);

/* The word for a ticket's state, for people and for agents. */
const char *ticket_state(const struct stage_row *s);

#endif
