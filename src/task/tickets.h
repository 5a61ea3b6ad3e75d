/*
 * The tickets of a task (store/ticket.h), as far as the task's own life is concerned. What a ticket is, and how it is run, is
 * in plan/tickets.h.
 *
 * A ticket is finished when its commit passed its checks, and merged when its task's branch has that commit, whoever merged
 * it. Nobody writes down that it was merged at the moment of the merge: tickets_settle finds out.
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

/* A file in the directory of a task that has tickets. Whoever moves the task's branch opens it for writing (tickets_tell):
 * the runner of the tickets watches it. */
#define TICKETS_FILE "tickets"

bool tickets_are_there(int task_dir);
void tickets_tell(int task_dir);

/* Moves finished tickets whose commit the task has published to `done`. git is asked for each; a caller that looks again and
 * again keeps the answers in *unmerged, which is empty at first (NULL: it does not). */
int tickets_settle(struct context *c, const struct repo *r, const struct task *t, struct strvec *unmerged,
	struct err *e);

/* Names those that are neither merged nor given up: "t1 (running), t2 (finished)". Nothing is added if there are none. */
int tickets_open(
	struct context *c, const struct repo *r, const struct task *t, struct buf *out, struct err *e);

/* With its task: ERR_REFUSED, with the names, if a ticket's task has work that no option gives up, or runs; else all of them
 * go to the trash. With o->look nothing is removed. */
struct discard_opts;
int tickets_discard(struct context *c, const struct task *t, const struct discard_opts *o, struct err *e);

/* ERR_REFUSED if the task is a ticket's: then the task that asked merges it. */
int tickets_refuse_merge(struct context *c, const struct task *t, struct err *e);

/* ERR_REFUSED if the task is a ticket's, or has tickets: their names, and what they are inside, are made of its name. */
int tickets_refuse_rename(struct context *c, const struct task *t, struct err *e);

/* Whether the task has ended its run to wait for its tickets, and is going to be resumed. */
bool tickets_waits(struct context *c, const struct task *t);
/* The question (task/question.h) of a task that has ended its run to wait for its tickets. */
#define TICKETS_QUESTION "It waits for its tickets. An answer resumes it before they are over."

/* The word for a ticket's state, for people and for agents. */
const char *ticket_state(const struct stage_row *s);

#endif
