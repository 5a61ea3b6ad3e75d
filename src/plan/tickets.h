/*
 * Tickets: child tasks that the agent in a task asks for at run time (A6). A ticket is a stage (stage_life.h) that is added
 * while the plan runs: all tickets of a task form a plan without a file, whose integration branch is the task's branch. So
 * tickets are started, watched and checked as stages are. What differs:
 *
 *	A finished ticket is not merged by the runner. Its commit becomes the ref garth/TASK.ID inside the task, whose agent
 *	merges it (history/tickets.h). Until then its stage is `queued`; then it is `done` (task/tickets.h).
 *	The ticket's task has the walls, hosts, limits and rules of the task that asked (ticket_task.h).
 *
 * Requests come from the task's gateway, and a separate process answers each of them (ticket_request.h). The first request
 * starts the runner, which outlives the request and the task, and ends when nothing goes on (ticket_runner.h).
 */
#ifndef PLAN_TICKETS_H
#define PLAN_TICKETS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/strvec.h"
#include "git/repo.h"
#include "plan/plan.h"
#include "store/plan.h"
#include "store/ticket.h"
#include "task/context.h"
#include "task/task.h"

/* A task with its tickets. */
struct tickets {
	struct context *c;
	struct task task;
	struct task_at at;
	struct plan_row row; /* id 0: the task has no tickets yet */
	struct stage_row_list all;
	struct strvec asked;    /* what was asked for with each: JSON, a stage of a plan */
	struct strvec unmerged; /* of tickets_settle */
};
#define TICKETS_INIT                                                                                         \
	{                                                                                                    \
		.at.ws.dir = -1                                                                              \
	}
void tickets_release(struct tickets *t);
#define auto_tickets __attribute__((cleanup(tickets_release))) struct tickets

/* Opens the task, and c's configuration with the task's own layers. ERR_NOTFOUND. */
int tickets_find(struct context *c, int64_t task, struct tickets *ret, struct err *e);
/* Reads the rows again, after finding out which are merged. */
int tickets_load(struct tickets *t, struct err *e);

/* The plan whose stages they are; `more` is a ticket that is not in the store yet, or NULL. ERR_CONFIG if a request is not
 * a valid stage. */
int tickets_plan(
	struct context *c, const struct plan_row *row, const char *more, struct plan *ret, struct err *e);

/* The index of the ticket with this id; -1 if there is none. */
long tickets_index(const struct tickets *t, const char *id);
/* Finds out which tickets go on without their task: they run, or will run. One that waits for others goes on if those do.
 * `each` has all->n places. True if any ticket goes on. */
bool tickets_go_on(const struct stage_row_list *all, const struct plan *p, bool *each);

/* {"id","title","task","branch","state","note","tip","agent" …}; `full`: with what was asked for. */
json_t *ticket_json(const struct tickets *t, size_t i, bool full);

/* Cancels the tickets that are not over, because their task was cancelled; *ret is how many. */
int tickets_cancel(struct context *c, int64_t task, size_t *ret, struct err *e);

/* The user cancels one ticket, by its own task: the task that asked cannot try it again. *ret: it was one, and not over. */
int ticket_withdraw(struct context *c, int64_t task, bool *ret, struct err *e);
/* The user has resumed this task. If it is that of a ticket that was given up, the ticket goes on with this run. */
int ticket_resumed(struct context *c, int64_t task, struct err *e);

#endif
